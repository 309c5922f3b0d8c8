"""One cited number (or text, list, yes/no) of ``data/``, read strictly: what is not cited is refused."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from gpufeed.facts.errors import InputError
from gpufeed.facts.known import nearest_or_none
from gpufeed.facts.quantity import Quantity
from gpufeed.facts.sources import Source, is_date
from gpufeed.facts.units import NON_NUMERIC, UNITS

FACT_BASES = ("published", "measured", "assumed")
FACT_KEYS = frozenset({"value", "low", "high", "unit", "basis", "source", "as_of", "note", "unknown"})


class Published(NamedTuple):
    """The number and unit as the source writes them."""

    value: float
    unit: str


@dataclass(frozen=True, slots=True)
class Fact:
    """A cited fact.

    ``quantity`` is the number in base units (bytes, seconds …) with range, basis and source ids; ``value`` the content
    of a fact that is not a number.  Both are None for an unknown fact, whose ``note`` says why and how to find it.
    """

    id: str
    unit: str
    published: Published | None = None
    quantity: Quantity | None = None
    value: Any = None
    basis: str | None = None
    sources: tuple[str, ...] = ()
    as_of: str | None = None
    note: str = ""

    @property
    def unknown(self) -> bool:
        return self.quantity is None and self.value is None


@dataclass(frozen=True, slots=True)
class Where:
    """The file and dotted key being read, for a message that says what to mend."""

    file: str
    key: str = ""

    def at(self, name: str) -> Where:
        return Where(self.file, f"{self.key}.{name}" if self.key else name)

    def refuse(self, message_id: str, **parameters: Any) -> InputError:
        return InputError(message_id, file=self.file, key=self.key, **parameters)


class Citation(NamedTuple):
    """What every number in ``data/`` has to say of itself: source ids, basis, and date."""

    sources: tuple[str, ...]
    basis: str
    as_of: str


def parse_fact(row: Mapping[str, Any], where: Where, fact_id: str, sources: Mapping[str, Source]) -> Fact:
    """A fact from its TOML table.  Raises InputError that names the file, the key and the remedy."""
    for key in row:
        if key not in FACT_KEYS:
            raise where.refuse("facts.unknown-key", unknown=key, allowed=", ".join(sorted(FACT_KEYS)))
    unit = row.get("unit")
    if unit not in UNITS and unit not in NON_NUMERIC:
        raise where.refuse("facts.unknown-unit", unit=unit, nearest=nearest_or_none(unit, [*UNITS, *NON_NUMERIC]))
    note = row.get("note", "")
    if row.get("unknown"):
        if not note or "value" in row:
            raise where.refuse("facts.unknown-without-note")
        return Fact(fact_id, unit, note=note)
    citation = parse_citation(row, where, sources)
    if unit in NON_NUMERIC:
        value = row.get("value")
        if not isinstance(value, NON_NUMERIC[unit]) or "low" in row or "high" in row:
            raise where.refuse("facts.wrong-type", unit=unit)
        value = tuple(value) if isinstance(value, list) else value
        return Fact(fact_id, unit, None, None, value, citation.basis, citation.sources, citation.as_of, note)
    quantity = parse_quantity(row, unit, citation, where)
    published = Published(row["value"], unit)
    return Fact(fact_id, unit, published, quantity, None, citation.basis, citation.sources, citation.as_of, note)


def parse_citation(row: Mapping[str, Any], where: Where, sources: Mapping[str, Source]) -> Citation:
    """Basis, source ids and date.  A row without its own ``as_of`` has the date of its first source."""
    basis = row.get("basis")
    if basis not in FACT_BASES:
        raise where.refuse("facts.unknown-basis", basis=basis, allowed=", ".join(FACT_BASES))
    cited = row.get("source")
    ids = tuple(cited) if isinstance(cited, list) else (cited,) if cited else ()
    if not ids:
        raise where.refuse("facts.no-source")
    for source_id in ids:
        if source_id not in sources:
            raise where.refuse("facts.unknown-source", source=source_id, nearest=nearest_or_none(source_id, sources))
    as_of = row.get("as_of", sources[ids[0]].as_of)
    if not is_date(as_of):
        raise where.refuse("facts.bad-date", date=as_of)
    return Citation(ids, basis, as_of)


def parse_quantity(row: Mapping[str, Any], unit: str, citation: Citation, where: Where) -> Quantity:
    """``low``, ``value``, ``high`` in base units; a bound that is not given is the value."""
    value: Any = row.get("value")
    numbers = (row.get("low", value), value, row.get("high", value))
    for number in numbers:
        if isinstance(number, bool) or not isinstance(number, int | float) or not math.isfinite(number):
            raise where.refuse("facts.wrong-type", unit=unit)
        if number < 0:
            raise where.refuse("facts.negative", number=number)
    low, value, high = numbers
    if not low <= value <= high:
        raise where.refuse("facts.out-of-order", low=low, value=value, high=high)
    to = UNITS[unit]
    bounds = (to.to_base(low), to.to_base(value), to.to_base(high))
    return Quantity(*bounds, to.base, citation.basis, frozenset(citation.sources))
