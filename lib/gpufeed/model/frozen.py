"""Dataclasses that nobody changes, quick to make: one evaluation of the model makes a hundred and fifty of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeVar, dataclass_transform

T = TypeVar("T")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen(cls: type[T]) -> type[T]:
    """A dataclass with slots, equal and hashed by its fields; mypy refuses to set one of them.

    Python itself does not: a dataclass that it freezes takes four times as long to make.
    """
    return dataclass(slots=True, unsafe_hash=True)(cls)
