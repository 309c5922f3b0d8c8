"""Price rows: keyed by option, item, configuration and region, in graduated bands, in the price list's currency."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from gpufeed.facts.fact import FACT_KEYS, Where, parse_citation, parse_quantity
from gpufeed.facts.known import nearest_or_none
from gpufeed.facts.quantity import Quantity
from gpufeed.facts.sources import Source
from gpufeed.facts.units import BILLING_UNITS, CURRENCIES

_TEXTS = ("option", "item", "region", "currency", "unit")
_KEYS = FACT_KEYS | {*_TEXTS, "configuration", "band_from", "band_to"}


#: (option, item, Region, configuration): what a price is the price of.
PriceKey = tuple[str, str, str, str | None]
#: The option under which instances are priced, each type an item.
INSTANCES = "ec2"


@dataclass(frozen=True, slots=True)
class Price:
    """One row.  ``quantity`` is in ``currency/unit`` and None where the price is not known ("not priced").

    ``band_from`` and ``band_to`` bound the monthly amount, in billing units, that this row prices; ``band_to`` is None
    for the last band.
    """

    option: str
    item: str
    region: str
    currency: str
    unit: str
    quantity: Quantity | None
    configuration: str | None = None
    band_from: float = 0.0
    band_to: float | None = None
    sources: tuple[str, ...] = ()
    as_of: str | None = None
    note: str = ""

    @property
    def id(self) -> str:
        """What is priced, and from which monthly amount on: ``s3-standard.storage.us-east-1.from-51200``."""
        parts = [self.option, self.item, self.configuration, self.region]
        if self.band_from:
            parts.append(f"from-{self.band_from:g}")
        return ".".join(part for part in parts if part)

    @property
    def key(self) -> PriceKey:
        return self.option, self.item, self.region, self.configuration


def parse_price(row: Mapping[str, Any], where: Where, sources: Mapping[str, Source]) -> Price:
    """Raises InputError that names the row and the remedy."""
    for key in row:
        if key not in _KEYS:
            raise where.refuse("facts.unknown-key", unknown=key, allowed=", ".join(sorted(_KEYS)))
    for key in _TEXTS:
        if not isinstance(row.get(key), str):
            raise where.refuse("facts.price-incomplete", missing=key)
    if row["unit"] not in BILLING_UNITS:
        raise where.refuse("facts.unknown-unit", unit=row["unit"], nearest=nearest_or_none(row["unit"], BILLING_UNITS))
    if row["currency"] not in CURRENCIES:
        raise where.refuse("facts.unknown-currency", currency=row["currency"], allowed=", ".join(sorted(CURRENCIES)))
    band_from, band_to = row.get("band_from", 0), row.get("band_to")
    if band_from < 0 or (band_to is not None and band_to <= band_from):
        raise where.refuse("facts.bad-band", low=band_from, high=band_to)
    common: dict[str, Any] = {key: row[key] for key in _TEXTS} | {
        "configuration": row.get("configuration"),
        "band_from": float(band_from),
        "band_to": None if band_to is None else float(band_to),
        "note": row.get("note", ""),
    }
    if row.get("unknown"):
        if not common["note"] or "value" in row:
            raise where.refuse("facts.unknown-without-note")
        return Price(quantity=None, **common)
    citation = parse_citation(row, where, sources)
    quantity = parse_quantity(row, f"{row['currency']}/{row['unit']}", citation, where)
    return Price(quantity=quantity, sources=citation.sources, as_of=citation.as_of, **common)


def as_toml(rows: Iterable[Price], sources: Iterable[Source], about: str) -> str:
    """A file of one's own prices: ``about`` as a comment, the sources, and one table for each row."""
    written = [f"# {line}\n" for line in about.splitlines()]
    for source in sources:
        fields = {name: value for name, value in asdict(source).items() if value and name != "id"}
        written += [f"\n[sources.{json.dumps(source.id)}]\n", *_pairs(fields)]
    for row in rows:
        names = (*_TEXTS, "configuration", "band_from", "band_to", "as_of", "note")
        fields = {name: value for name in names if (value := getattr(row, name)) not in (None, "")}
        if row.quantity is None:
            fields["unknown"] = True
        else:
            low, value, high, _, basis, _ = row.quantity
            fields |= {"low": low, "value": value, "high": high, "basis": basis, "source": list(row.sources)}
        written += ["\n[[price]]\n", *_pairs(fields)]
    return "".join(written)


def _pairs(fields: Mapping[str, Any]) -> Iterable[str]:
    """JSON's strings, numbers, booleans and lists of them are TOML's as well."""
    return (f"{name} = {json.dumps(value, ensure_ascii=False)}\n" for name, value in fields.items())
