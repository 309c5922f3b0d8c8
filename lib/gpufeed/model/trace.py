"""Numbers that remember how they were made.

The model is plain arithmetic on floats, so to see where a figure comes from it is run once more on floats that keep
their name or the operation that made them.  Nothing in the model knows about it, and what is shown is by construction
what was computed.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from gpufeed.facts import Facts
from gpufeed.facts.fact import Fact
from gpufeed.facts.prices import Price
from gpufeed.facts.quantity import Quantity
from gpufeed.model.workload import NUMBERS, Workload, unit_of


@dataclass(frozen=True, slots=True, eq=False)
class Known:
    """A number with a name: a fact of ``data/``, or what was stated."""

    name: str
    quantity: Quantity
    fact: Fact | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Made:
    """A number made of others: ``operation`` is one of ``+ − × / ^`` or the name of a function."""

    operation: str
    operands: tuple[float, ...]


def origin(number: object) -> Known | Made | None:
    """Where a number comes from; None for a plain one."""
    return number.origin if isinstance(number, Remembering) else None


class Remembering:
    """Mixed into float and int: results of arithmetic remember their operands.  Equal to the plain number."""

    origin: Known | Made

    def __add__(self, other: Any) -> Any:
        return _made("+", float.__add__, self, other)

    def __radd__(self, other: Any) -> Any:
        return _made("+", float.__add__, other, self)

    def __sub__(self, other: Any) -> Any:
        return _made("−", float.__sub__, self, other)

    def __rsub__(self, other: Any) -> Any:
        return _made("−", float.__sub__, other, self)

    def __mul__(self, other: Any) -> Any:
        return _made("×", float.__mul__, self, other)

    def __rmul__(self, other: Any) -> Any:
        return _made("×", float.__mul__, other, self)

    def __truediv__(self, other: Any) -> Any:
        return _made("/", float.__truediv__, self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return _made("/", float.__truediv__, other, self)

    def __pow__(self, other: Any) -> Any:
        return _made("^", float.__pow__, self, other)

    def chosen(self, function: str, among: tuple[float, ...], value: float) -> Any:
        """What ``least`` or ``most`` took: all it was chosen among are remembered."""
        return _kept(_plain(value), Made(function, among))

    def __ceil__(self) -> Any:
        return _kept(math.ceil(_plain(self)), Made("ceil", (self,)))  # type: ignore[arg-type]  # a float or an int

    def __round__(self, digits: int | None = None) -> Any:
        rounded = round(_plain(self), digits) if digits is not None else round(_plain(self))
        return _kept(rounded, self.origin if rounded == self else Made("round", (self,)))  # type: ignore[arg-type]  # as above

    def __floor__(self) -> Any:
        return _kept(math.floor(_plain(self)), Made("floor", (self,)))  # type: ignore[arg-type]  # as above


class RememberingFloat(Remembering, float):  # type: ignore[misc]  # narrower than float's own overloads
    """A float that knows where it comes from."""


class RememberingInt(Remembering, int):  # type: ignore[misc]  # as above
    """A whole number that knows where it comes from."""


def _plain(number: Any) -> Any:
    return int(number) if isinstance(number, int) else float(number)


def _kept(number: float, where_from: Known | Made) -> Any:
    kept = RememberingInt(number) if isinstance(number, int) else RememberingFloat(number)
    kept.origin = where_from
    return kept


_NEUTRAL = {"+": 0.0, "−": 0.0, "×": 1.0, "/": 1.0}


def _made(operation: str, compute: Callable[[float, float], float], one: Any, other: Any) -> Any:
    """The result, which remembers; what adding nothing or multiplying by one leaves is the number itself."""
    if not isinstance(one, int | float) or not isinstance(other, int | float):
        return NotImplemented
    value = _computed(operation, compute, one, other)
    if operation == "×" and any(each == 0 and origin(each) is None for each in (one, other)):
        return value  # nothing of it is nothing, whatever it was
    if origin(other) is None and other == _NEUTRAL.get(operation):
        return one
    if operation in "+×" and origin(one) is None and one == _NEUTRAL[operation]:
        return other
    return _kept(value, Made(operation, (one, other)))


def _computed(operation: str, compute: Callable[[float, float], float], one: Any, other: Any) -> float:
    """Exactly what plain numbers give: whole ones stay whole."""
    a, b = _plain(one), _plain(other)
    if isinstance(a, int) and isinstance(b, int) and operation in "+−×":
        return int(a + b if operation == "+" else a - b if operation == "−" else a * b)
    return compute(float(a), float(b))


# ---- what goes in ----------------------------------------------------------------------------------------------------


def _remembered(quantity: Quantity, name: str, fact: Fact | None = None) -> Quantity:
    low, value, high, *_ = quantity
    ends = {"low": low, "high": high} if low != high else {}
    kept = {end: _kept(bound, Known(f"{name}_{end}", quantity.at(bound), fact)) for end, bound in ends.items()}
    return quantity._replace(value=_kept(value, Known(name, quantity, fact)), **kept)


def remembering_workload(workload: Workload, currency: str) -> Workload:
    """The same traits; each number knows its field."""
    stated = {name: getattr(workload, name) for name in NUMBERS if getattr(workload, name) is not None}
    kept: Any = {}
    for name, value in stated.items():
        kept[name] = _kept(value, Known(name, Quantity.exact(value, unit_of(name, currency))))
    return replace(workload, **kept)


def remembering_facts(facts: Facts) -> Facts:
    """The same facts; each number knows which fact or which price it is."""
    return facts.with_each(_fact, _price)


def _fact(fact: Fact) -> Fact:
    name = fact.id.rpartition(".")[2].replace("-", "_")  # a name in an equation
    if fact.quantity is not None:
        return replace(fact, quantity=_remembered(fact.quantity, name, fact))
    return replace(fact, value=_listed(fact.value, name, fact)) if isinstance(fact.value, tuple) else fact


def _listed(value: Any, name: str, fact: Fact) -> Any:
    """A list of numbers, or of lists of them: each number knows which list it is from."""
    if isinstance(value, tuple | list):
        return type(value)(_listed(one, name, fact) for one in value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    one = Quantity(value, value, value, "", fact.basis or "assumed", frozenset(fact.sources))
    return _kept(value, Known(name, one, fact))


def _price(row: Price) -> Price:
    if row.quantity is None:
        return row
    name = f"price_{row.option}_{row.item}".replace("-", "_")
    as_fact = Fact(
        f"prices.{name}", row.unit, quantity=row.quantity, sources=row.sources, as_of=row.as_of, note=row.note
    )
    return replace(
        row,
        quantity=_remembered(row.quantity, name, as_fact),
        band_from=_bound(row.band_from, f"{name}_from", row.quantity, as_fact),
        band_to=None if row.band_to is None else _bound(row.band_to, f"{name}_up_to", row.quantity, as_fact),
    )


def _bound(amount: float, name: str, price: Quantity, as_fact: Fact) -> float:
    """The bound of a graduated band, which rests on what the price rests on; from nothing on is no bound."""
    if not amount:
        return amount
    unit = as_fact.unit.removesuffix("-month")
    bound: float = _kept(
        amount, Known(name, Quantity(amount, amount, amount, unit, price.basis, price.sources), as_fact)
    )
    return bound
