"""A number with its range, its unit, and where it came from."""

from __future__ import annotations

from dataclasses import dataclass, replace

# Strongest first.  A formula is as good as its weakest input, so a result takes the last of its inputs' bases.
BASES = ("stated", "measured", "published", "assumed")
_RANK = {basis: rank for rank, basis in enumerate(BASES)}
_NOTHING: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Quantity:
    """A non-negative number in a base unit (bytes, seconds, bytes/s, currency …) with low and high bounds.

    Arithmetic carries the bounds (interval arithmetic), the source ids and the weakest basis along, so the result of a
    formula still knows what it rests on.  The unit of a product is not guessed: name it with :meth:`named`.
    """

    low: float
    value: float
    high: float
    unit: str = ""
    basis: str = "stated"
    sources: frozenset[str] = _NOTHING

    @classmethod
    def exact(cls, value: float, unit: str = "", basis: str = "stated") -> Quantity:
        return cls(value, value, value, unit, basis)

    def named(self, unit: str) -> Quantity:
        """The same number under its unit's name."""
        return Quantity(self.low, self.value, self.high, unit, self.basis, self.sources)

    def _with(self, other: Quantity, low: float, value: float, high: float) -> Quantity:
        basis = self.basis if _RANK[self.basis] >= _RANK[other.basis] else other.basis
        sources = self.sources | other.sources if other.sources else self.sources
        return Quantity(low, value, high, "", basis, sources)

    def __add__(self, other: Quantity | float) -> Quantity:
        o = _quantity(other)
        return self._with(o, self.low + o.low, self.value + o.value, self.high + o.high)

    __radd__ = __add__

    def __mul__(self, other: Quantity | float) -> Quantity:
        o = _quantity(other)
        return self._with(o, self.low * o.low, self.value * o.value, self.high * o.high)

    __rmul__ = __mul__

    def __truediv__(self, other: Quantity | float) -> Quantity:
        o = _quantity(other)
        return self._with(o, _divide(self.low, o.high), _divide(self.value, o.value), _divide(self.high, o.low))

    def __rtruediv__(self, other: float) -> Quantity:
        return _quantity(other) / self

    def to_json(self) -> dict[str, float | None]:
        """``{low, value, high}``; what is unbounded is null, because JSON has no infinity."""
        return {
            name: (number if number < float("inf") else None)
            for name, number in (("low", self.low), ("value", self.value), ("high", self.high))
        }


def _quantity(number: Quantity | float) -> Quantity:
    return number if isinstance(number, Quantity) else Quantity(number, number, number)


def _divide(above: float, below: float) -> float:
    if below:
        return above / below
    return float("inf") if above else 0.0


def least(*quantities: Quantity) -> Quantity:
    """The smallest of several, bound by bound: the sources of all are kept, since each could have been the limit."""
    first, *rest = quantities
    for other in rest:
        first = first._with(
            other, min(first.low, other.low), min(first.value, other.value), min(first.high, other.high)
        )
    return replace(first, unit=quantities[0].unit)


def most(*quantities: Quantity) -> Quantity:
    """The largest of several, bound by bound."""
    first, *rest = quantities
    for other in rest:
        first = first._with(
            other, max(first.low, other.low), max(first.value, other.value), max(first.high, other.high)
        )
    return replace(first, unit=quantities[0].unit)
