"""Dataclasses that nobody changes, quick to make: one evaluation of the model makes a hundred and fifty of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from functools import lru_cache
from operator import attrgetter
from typing import Any, TypeVar, cast, dataclass_transform

T = TypeVar("T")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen(cls: type[T]) -> type[T]:
    """A dataclass with slots, equal and hashed by its fields; mypy refuses to set one of them.

    Python itself does not: a dataclass that it freezes takes four times as long to make.
    """
    return dataclass(slots=True, unsafe_hash=True)(cls)


def changed(one: T, **changes: Any) -> T:
    """``dataclasses.replace``, two to four times as fast: for what an evaluation does again and again.

    Raises KeyError for what is no field.
    """
    kind: Any = type(one)
    values_of, place = _fields(kind)
    values = list(values_of(one))
    for name, value in changes.items():
        values[place[name]] = value
    return cast("T", kind(*values))


@lru_cache(maxsize=64)
def _fields(kind: type[Any]) -> tuple[Callable[[Any], tuple[Any, ...]], Mapping[str, int]]:
    """(the values of all fields, the place of each)."""
    names = [found.name for found in fields(kind)]
    return attrgetter(*names), {name: place for place, name in enumerate(names)}
