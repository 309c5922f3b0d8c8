"""A number with its range, its unit, and where it came from."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

# Strongest first.  A formula is as good as its weakest input, so a result takes the last of its inputs' bases.
BASES = ("stated", "measured", "published", "assumed")
_RANK = {basis: rank for rank, basis in enumerate(BASES)}
_NOTHING: frozenset[str] = frozenset()
_new = tuple.__new__  # faster than the class's own, which names its arguments
_of_all = lru_cache(maxsize=4096)(frozenset.union)  # few sets of sources meet again and again


class Quantity(NamedTuple):
    """A non-negative number in a base unit (bytes, seconds, bytes/s, currency …) with low and high bounds.

    Arithmetic carries the bounds (interval arithmetic), the source ids and the weakest basis along, so the result of a
    formula still knows what it rests on.  The unit of a product is not guessed: name it with :meth:`named`.

    A NamedTuple because one evaluation of the model makes several hundred of them within a millisecond; its operators
    are arithmetic, not those of a tuple.
    """

    low: float
    value: float
    high: float
    unit: str = ""
    basis: str = "stated"
    sources: frozenset[str] = _NOTHING

    @classmethod
    def exact(cls, value: float, unit: str = "", basis: str = "stated") -> Quantity:
        return _new(cls, (value, value, value, unit, basis, _NOTHING))

    def named(self, unit: str) -> Quantity:
        """The same number under its unit's name."""
        low, value, high, _, basis, sources = self
        return _new(Quantity, (low, value, high, unit, basis, sources))

    def times(self, other: Quantity | float, unit: str) -> Quantity:
        """``(self * other).named(unit)``, made at once: most of what an evaluation makes is named."""
        low, value, high, _, basis, sources = self
        if not isinstance(other, Quantity):
            return _new(Quantity, (low * other, value * other, high * other, unit, basis, sources))
        its_low, its_value, its_high, _, its_basis, its_sources = other
        return _of_both(low * its_low, value * its_value, high * its_high, basis, its_basis, sources, its_sources, unit)

    def per(self, other: Quantity | float, unit: str) -> Quantity:
        """``(self / other).named(unit)``, likewise."""
        low, value, high, _, basis, sources = self
        if not isinstance(other, Quantity):
            if other:
                return _new(Quantity, (low / other, value / other, high / other, unit, basis, sources))
            return (self / other).named(unit)
        its_low, its_value, its_high, _, its_basis, its_sources = other
        if not its_low:
            return (self / other).named(unit)
        bounds = low / its_high, value / its_value, high / its_low
        return _of_both(*bounds, basis, its_basis, sources, its_sources, unit)

    def plus(self, other: Quantity | float, unit: str) -> Quantity:
        """``(self + other).named(unit)``, likewise."""
        low, value, high, _, basis, sources = self
        if not isinstance(other, Quantity):
            return _new(Quantity, (low + other, value + other, high + other, unit, basis, sources))
        its_low, its_value, its_high, _, its_basis, its_sources = other
        return _of_both(low + its_low, value + its_value, high + its_high, basis, its_basis, sources, its_sources, unit)

    def middle(self) -> Quantity:
        """The same number without its range: where it stands above and below a fraction, only one may range."""
        return self.at(self.value)

    def at_least(self) -> Quantity:
        """The same number where a source names a rate only at its most: how much longer it may take is not known."""
        return self._replace(high=float("inf"))

    def at(self, bound: float) -> Quantity:
        """One number that rests on the same."""
        _, _, _, unit, basis, sources = self
        return _new(Quantity, (bound, bound, bound, unit, basis, sources))

    def bounded(self, low: float, value: float, high: float, unit: str) -> Quantity:
        """Other numbers that rest on the same."""
        return _new(Quantity, (low, value, high, unit, self[4], self[5]))

    def __add__(self, other: Quantity | float) -> Quantity:  # type: ignore[override]  # a sum, not a longer tuple
        low, value, high, _, basis, sources = self
        if not isinstance(other, Quantity):
            return _new(Quantity, (low + other, value + other, high + other, "", basis, sources))
        its_low, its_value, its_high, _, its_basis, its_sources = other
        return _of_both(low + its_low, value + its_value, high + its_high, basis, its_basis, sources, its_sources)

    def __radd__(self, other: float) -> Quantity:
        return self + other

    def __mul__(self, other: Quantity | float) -> Quantity:  # type: ignore[override]  # a product, not a repetition
        low, value, high, _, basis, sources = self
        if not isinstance(other, Quantity):
            return _new(Quantity, (low * other, value * other, high * other, "", basis, sources))
        its_low, its_value, its_high, _, its_basis, its_sources = other
        return _of_both(low * its_low, value * its_value, high * its_high, basis, its_basis, sources, its_sources)

    def __rmul__(self, other: float) -> Quantity:  # type: ignore[override]  # as above
        return self * other

    def __truediv__(self, other: Quantity | float) -> Quantity:
        low, value, high, _, basis, sources = self
        if not isinstance(other, Quantity):
            if other:
                return _new(Quantity, (low / other, value / other, high / other, "", basis, sources))
            return _new(Quantity, (_divide(low, 0), _divide(value, 0), _divide(high, 0), "", basis, sources))
        its_low, its_value, its_high, _, its_basis, its_sources = other
        if its_low:  # then none of its bounds is 0
            low, value, high = low / its_high, value / its_value, high / its_low
        else:
            low, value, high = _divide(low, its_high), _divide(value, its_value), _divide(high, its_low)
        return _of_both(low, value, high, basis, its_basis, sources, its_sources)

    def __rtruediv__(self, other: float) -> Quantity:
        low, value, high, _, basis, sources = self
        return _new(Quantity, (_divide(other, high), _divide(other, value), _divide(other, low), "", basis, sources))

    def to_json(self) -> dict[str, float | None]:
        """``{low, value, high}``; what is unbounded is null, because JSON has no infinity."""
        return {
            name: (number if number < float("inf") else None)
            for name, number in (("low", self.low), ("value", self.value), ("high", self.high))
        }


def _of_both(  # noqa: PLR0917 - called several hundred times an evaluation, and names cost time
    low: float,
    value: float,
    high: float,
    basis: str,
    its_basis: str,
    sources: frozenset[str],
    its_sources: frozenset[str],
    unit: str = "",
) -> Quantity:
    """What was made of two: it rests on the weaker basis and on the sources of both."""
    if basis != its_basis and _RANK[basis] < _RANK[its_basis]:
        basis = its_basis
    if its_sources is not sources:
        sources = _of_all(sources, its_sources)
    return _new(Quantity, (low, value, high, unit, basis, sources))


def _divide(above: float, below: float) -> float:
    if below:
        return above / below
    return float("inf") if above else 0.0


def least(*quantities: Quantity) -> Quantity:
    """The smallest of several, bound by bound: the sources of all are kept, since each could have been the limit."""
    return _bound_by_bound(quantities, "least", smaller=True)


def most(*quantities: Quantity) -> Quantity:
    """The largest of several, bound by bound."""
    return _bound_by_bound(quantities, "most", smaller=False)


def _bound_by_bound(quantities: tuple[Quantity, ...], name: str, *, smaller: bool) -> Quantity:
    low, value, high, unit, basis, sources = quantities[0]
    plain = type(value) is float
    for its_low, its_value, its_high, _, its_basis, its_sources in quantities[1:]:
        if (its_low < low) is smaller:
            low = its_low
        if (its_value < value) is smaller:
            value = its_value
        if (its_high < high) is smaller:
            high = its_high
        plain = plain and type(its_value) is float
        if its_basis != basis and _RANK[its_basis] > _RANK[basis]:
            basis = its_basis
        if its_sources is not sources:
            sources = _of_all(sources, its_sources)
    if not plain:
        value = _chosen(name, tuple(one.value for one in quantities), value)
    return _new(Quantity, (low, value, high, unit, basis, sources))


def _chosen(name: str, values: tuple[float, ...], value: float) -> float:
    """The value that was chosen; where one of them remembers how it was made (model/trace.py), this remembers too."""
    remembering = next((one for one in values if hasattr(one, "chosen")), None)
    return value if remembering is None else remembering.chosen(name, values, value)
