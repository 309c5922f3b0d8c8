"""All of ``data/*.toml`` in memory: read once, checked while reading, looked up by name."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, lru_cache
from pathlib import Path
from statistics import median
from typing import Any, Generic, TypeVar

from gpufeed.facts.errors import InputError
from gpufeed.facts.fact import Fact, Where, parse_fact
from gpufeed.facts.known import entered, nearest
from gpufeed.facts.place import PRICES_VARIABLE, data_directory, own_prices, own_prices_are_named
from gpufeed.facts.prices import INSTANCES, Price, PriceKey, parse_price
from gpufeed.facts.quantity import Quantity
from gpufeed.facts.sources import Age, Source, parse_sources
from gpufeed.facts.toml_fault import toml_fault

T = TypeVar("T")

#: Files whose top-level tables are entries with facts; ``model.toml`` is one entry, the other two have their own shape.
_ENTRY_FILES = ("options", "fsx", "regions", "accelerators", "instances", "workloads", "utilisation", "rules")
_FACT_MARKS = frozenset({"value", "unit", "unknown", "source", "basis"})


class NoSuchName(KeyError):
    """A name that the catalogue does not have; ``nearest`` is the most similar one it has."""

    def __init__(self, place: str, name: str, names: Mapping[str, Any] | frozenset[str]) -> None:
        self.nearest = ", ".join(nearest(name, names))
        super().__init__(f"no {name!r} in {place}; nearest: {self.nearest}")


class Catalogue(dict[str, T], Generic[T]):
    """A mapping that names the nearest key when one is missing; nobody writes to it.

    A dict, because one evaluation of the model looks up several hundred facts.
    """

    __slots__ = ("id",)

    def __init__(self, catalogue_id: str, entries: dict[str, T]) -> None:
        super().__init__(entries)
        self.id = catalogue_id

    def __missing__(self, name: str) -> T:
        raise NoSuchName(self.id, name, self)


class Section(Catalogue[Fact]):
    """The facts of one entry (an option, an instance type …) by name; ``parts`` holds its sub-tables.

    ``workloads["mlperf-unet3d"].parts["H100"]["compute_seconds"]`` is a fact.  Not every entry has every fact: use
    :meth:`quantity` and :meth:`get_value` to read one that may be absent or unknown as None.  A name that no entry of
    the file has is a misspelling and raises NoSuchName.
    """

    __slots__ = ("_file_names", "_known", "parts")

    def __init__(
        self, section_id: str, facts: dict[str, Fact], parts: dict[str, Section], file_names: set[str]
    ) -> None:
        super().__init__(section_id, facts)
        self._known = {name: fact.quantity for name, fact in facts.items() if fact.quantity is not None}
        self.parts: Catalogue[Section] = Catalogue(section_id, parts)
        self._file_names = file_names

    def quantity(self, name: str) -> Quantity | None:
        """The number in base units, or None where it is absent or unknown."""
        found = self._known.get(name)
        if found is None:
            self._optional(name)
        return found

    def get_value(self, name: str) -> Any:
        """The text, tuple or bool, or None where it is absent or unknown."""
        fact = self._optional(name)
        return fact.value if fact else None

    def known(self, name: str) -> Quantity:
        """A number that has to be there.  Raises NoSuchName when it is absent or unknown."""
        try:
            return self._known[name]
        except KeyError:
            raise NoSuchName(self.id, name, self) from None

    def _optional(self, name: str) -> Fact | None:
        fact = self.get(name)
        if fact is None and name not in self._file_names:
            raise NoSuchName(self.id, name, frozenset(self._file_names))
        return fact

    def with_each(self, change: Callable[[Fact], Fact]) -> Section:
        """The same section with every fact changed, those of its parts too."""
        own = {name: change(fact) for name, fact in self.items()}
        parts = {name: part.with_each(change) for name, part in self.parts.items()}
        return Section(self.id, own, parts, self._file_names)

    def watched(self, seen: dict[str, Fact]) -> Section:
        """The same section; each fact that is looked up in it is also put into ``seen``."""
        parts = {name: part.watched(seen) for name, part in self.parts.items()}
        return _WatchedSection(self.id, self, parts, self._file_names, seen)

    def all_facts(self) -> Iterator[Fact]:
        """Its own facts, then those of its parts."""
        yield from self.values()
        for part in self.parts.values():
            yield from part.all_facts()


class _WatchedSection(Section):
    __slots__ = ("_seen",)

    def __init__(
        self,
        section_id: str,
        facts: dict[str, Fact],
        parts: dict[str, Section],
        file_names: set[str],
        seen: dict[str, Fact],
    ) -> None:
        super().__init__(section_id, facts, parts, file_names)
        self._seen = seen

    def __getitem__(self, name: str) -> Fact:
        fact = super().__getitem__(name)
        self._seen[fact.id] = fact
        return fact

    def get(self, name: str, default: Any = None) -> Any:
        try:
            return self[name]
        except NoSuchName:
            return default

    def quantity(self, name: str) -> Quantity | None:
        self._optional(name)
        return super().quantity(name)

    def known(self, name: str) -> Quantity:
        self._optional(name)
        return super().known(name)

    def _optional(self, name: str) -> Fact | None:
        fact = super()._optional(name)
        if fact is not None:
            self._seen[fact.id] = fact
        return fact


@dataclass(frozen=True, eq=False)
class Facts:
    """Everything in ``data/*.toml``.  All lookups are dictionary reads; nothing is parsed again.

    Equal only to themselves, so that what follows from facts alone can be kept with them (``lru_cache``).
    """

    sources: Catalogue[Source]
    options: Catalogue[Section]
    fsx: Catalogue[Section]
    regions: Catalogue[Section]
    accelerators: Catalogue[Section]
    instances: Catalogue[Section]
    workloads: Catalogue[Section]
    utilisation: Catalogue[Section]
    rules: Catalogue[Section]
    model: Section
    prices: tuple[Price, ...]
    _bands: dict[PriceKey, tuple[Price, ...]] = field(repr=False)
    refreshed: tuple[Price, ...] = ()  # those of ``prices`` that come from the user's own file

    def price_bands(self, option: str, item: str, region: str, configuration: str | None = None) -> tuple[Price, ...]:
        """The graduated rows of one price, lowest band first; empty where there is no row at all.

        A row without a configuration holds for every configuration that has no row of its own.
        """
        exact = self._bands.get((option, item, region, configuration))
        return exact if exact is not None else self._bands.get((option, item, region, None), ())

    def price(
        self, option: str, item: str, region: str, configuration: str | None = None, at: float | None = None
    ) -> Quantity | None:
        """The price, in currency per billing unit, of the band that holds amount ``at`` (default: the first band).

        None means "not priced": no row for this region, or a row that says it is unknown.
        """
        amount = 0.0 if at is None else at
        for row in self.price_bands(option, item, region, configuration):
            if row.band_from <= amount and (row.band_to is None or amount < row.band_to):
                return row.quantity
        return None

    def currency_of(self, region: str) -> str:
        """The currency of a Region's price list; a Region without an entry here is taken for one that bills in USD."""
        return str(self.regions[region].get_value("currency")) if region in self.regions else "USD"

    def price_elsewhere(
        self, option: str, item: str, region: str, configuration: str | None = None, at: float | None = None
    ) -> Quantity | None:
        """What other Regions ask that bill in the same currency: the least, the median and the most of their prices.

        For what has no price here.  ``assumed``: prices of Regions differ.  None where no such Region has one.
        """
        return _elsewhere(self, option, item, region, configuration, at)

    def instance_price_elsewhere(self, instance_type: str, region: str) -> Quantity | None:
        """As :meth:`price_elsewhere`, of one instance on demand."""
        return _instance_elsewhere(self, instance_type, region)

    @cached_property
    def priced_in(self) -> Mapping[tuple[str, str, str | None], Mapping[str, str]]:
        """The Regions that price an (option, item, configuration), each with its currency."""
        found: dict[tuple[str, str, str | None], dict[str, str]] = {}
        for row in self.prices:
            if row.quantity is not None:
                found.setdefault((row.option, row.item, row.configuration), {})[row.region] = row.currency
        return found

    def instance_price(self, instance_type: str, region: str) -> Quantity | None:
        """On-demand price of one instance in currency per hour; None where it is not known."""
        refreshed = self.price(INSTANCES, instance_type, region)
        if refreshed is not None:
            return refreshed
        regional = self.instances[instance_type].parts
        return regional[region].quantity("on_demand_price") if region in regional else None

    def capacity_block_price(self, instance_type: str, region: str) -> Fact | None:
        """What an hour of an instance asks in a Capacity Block; None where it is not known, or in another currency.

        Of which Region it is was not recorded, so it is for types of which no Region has a price on demand.
        """
        fact = self.instances[instance_type].get("capacity_block_price")
        return None if fact is None or fact.unit != f"{self.currency_of(region)}/hour" else fact

    def offers(self, region: str, instance_type: str) -> bool:
        """Whether a source lists the type in the Region, with a price or without; False says nothing either way."""
        return region in self.instances[instance_type].parts or bool(self.price_bands(INSTANCES, instance_type, region))

    def with_each(self, change: Callable[[Fact], Fact], change_price: Callable[[Price], Price]) -> Facts:
        """The same facts with every fact and every price row changed."""
        entries: dict[str, Any] = {
            name: Catalogue(name, {entry: section.with_each(change) for entry, section in getattr(self, name).items()})
            for name in _ENTRY_FILES
        }
        bands = {key: tuple(change_price(row) for row in rows) for key, rows in self._bands.items()}
        return replace(self, model=self.model.with_each(change), _bands=bands, **entries)

    def watched(self) -> WatchedFacts:
        """The same facts, which keep account of what is looked up in them."""
        seen: dict[str, Fact] = {}
        entries: dict[str, Any] = {
            name: Catalogue(name, {entry: section.watched(seen) for entry, section in getattr(self, name).items()})
            for name in _ENTRY_FILES
        }
        model = self.model.watched(seen)
        return WatchedFacts(
            sources=self.sources,
            model=model,
            prices=self.prices,
            _bands=self._bands,
            refreshed=self.refreshed,
            facts_seen=seen,
            **entries,
        )

    def all_facts(self) -> Iterator[Fact]:
        """Every fact of every file (price rows apart)."""
        for entries in self._entry_files().values():
            for section in entries:
                yield from section.all_facts()

    def as_of(self) -> dict[str, Age]:
        """Oldest and newest date per file.  Age is shown to people; it never fails anything."""
        ages = {
            file: Age.of(fact.as_of for section in entries for fact in section.all_facts() if fact.as_of)
            for file, entries in self._entry_files().items()
        }
        own = set(self.refreshed)
        ages["prices.toml"] = Age.of(price.as_of for price in self.prices if price.as_of and price not in own)
        if own:
            ages["refreshed prices.toml"] = Age.of(price.as_of for price in own if price.as_of)
        return ages

    def _entry_files(self) -> dict[str, list[Section]]:
        files = {f"{name}.toml": list(getattr(self, name).values()) for name in _ENTRY_FILES}
        return files | {"model.toml": [self.model]}


@dataclass(frozen=True, eq=False)
class WatchedFacts(Facts):
    """Facts that know which of them were looked up, by id: what a plan rests on."""

    facts_seen: dict[str, Fact] = field(default_factory=dict)
    prices_seen: dict[str, Price] = field(default_factory=dict)

    def price_bands(self, option: str, item: str, region: str, configuration: str | None = None) -> tuple[Price, ...]:
        bands = super().price_bands(option, item, region, configuration)
        self.prices_seen.update((price.id, price) for price in bands)
        return bands


@lru_cache(maxsize=256)  # it depends on the facts alone, and a search asks for it at every step
def _elsewhere(  # noqa: PLR0917 - as Facts.price_elsewhere has them
    facts: Facts, option: str, item: str, region: str, configuration: str | None, at: float | None
) -> Quantity | None:
    where = facts.priced_in.get((option, item, configuration)) or facts.priced_in.get((option, item, None), {})
    currency = facts.currency_of(region)
    there = [one for one, its_currency in where.items() if its_currency == currency and one != region]
    return _over([facts.price(option, item, one, configuration, at) for one in there])


@lru_cache(maxsize=64)  # likewise
def _instance_elsewhere(facts: Facts, instance_type: str, region: str) -> Quantity | None:
    currency = facts.currency_of(region)
    there = {*facts.instances[instance_type].parts, *facts.priced_in.get((INSTANCES, instance_type, None), {})}
    same = sorted(one for one in there - {region} if facts.currency_of(one) == currency)
    return _over([facts.instance_price(instance_type, one) for one in same])


def _over(prices: Iterable[Quantity | None]) -> Quantity | None:
    known = [price for price in prices if price is not None]
    if not known:
        return None
    middle = median(price.value for price in known)
    low, high = min(price.low for price in known), max(price.high for price in known)
    sources = frozenset().union(*(price.sources for price in known))
    return Quantity(low, middle, high, known[0].unit, "assumed", sources)


@cache
def load(*, to_refresh: bool = False) -> Facts:
    """The facts of this installation, and the user's own prices before the snapshot's, read once per process.

    Raises InputError for a file of prices that is named and not there, unless they are read ``to_refresh`` it.
    """
    own = own_prices()
    there = own is not None and os.path.exists(own)  # noqa: PTH110 — False where a folder is not ours
    if own is not None and not there and own_prices_are_named() and not to_refresh:
        raise InputError("facts.own-prices-missing", variable=PRICES_VARIABLE, file=entered(own))
    return read(data_directory(), own if there else None)


def read(directory: Path, own: Path | None = None) -> Facts:
    """Read and check all TOML files of a directory, and a file of refreshed prices: those replace the rows of the same
    option, item, Region and configuration.

    Raises InputError, naming file, key and remedy, at the first number that is uncited, undated, in an unknown unit,
    out of order or negative.
    """
    sources = parse_sources(_table(directory, "sources.toml"), "sources.toml")
    entries = {name: _entries(_table(directory, f"{name}.toml"), name, sources) for name in _ENTRY_FILES}
    names: set[str] = set()
    model = _section(_table(directory, "model.toml"), "model", Where("model.toml"), sources, names)
    prices = _prices(_table(directory, "prices.toml"), "prices.toml", sources)
    refreshed: tuple[Price, ...] = ()
    if own is not None:
        refreshed = _refreshed(own, sources)
        replaced = {row.key for row in refreshed}
        prices = (*(row for row in prices if row.key not in replaced), *refreshed)
    bands: dict[PriceKey, tuple[Price, ...]] = {}
    for row in sorted(prices, key=lambda price: price.band_from):
        bands[row.key] = (*bands.get(row.key, ()), row)
    return Facts(
        sources=Catalogue("sources", sources),
        model=model,
        prices=prices,
        _bands=bands,
        refreshed=refreshed,
        **entries,
    )


def _refreshed(own: Path, sources: dict[str, Source]) -> tuple[Price, ...]:
    """The rows of a user's own file; its sources join the others."""
    name = str(own)  # whole: the snapshot has a file of that name too
    try:
        table = _table(own.parent, name)
        sources |= parse_sources(table.pop("sources", {}), name)
        return _prices(table, name, sources)
    except (AttributeError, OSError, TypeError, UnicodeDecodeError):  # anybody may have written it
        raise InputError("facts.own-prices-unreadable", file=name) from None


def _table(directory: Path, file: str) -> dict[str, Any]:
    try:
        return tomllib.loads((directory / file).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError("facts.no-file", file=file, directory=directory) from None
    except tomllib.TOMLDecodeError as error:
        raise InputError("facts.bad-toml", file=file, **toml_fault(str(error))) from None


def _entries(table: dict[str, Any], name: str, sources: Mapping[str, Source]) -> Catalogue[Section]:
    file, names = f"{name}.toml", set[str]()
    sections = {}
    for entry, rows in table.items():
        if not isinstance(rows, dict) or _FACT_MARKS & rows.keys():
            raise InputError("facts.bare-value", file=file, key=entry)
        sections[entry] = _section(rows, f"{name}.{entry}", Where(file, entry), sources, names)
    return Catalogue(name, sections)


def _section(
    rows: dict[str, Any], section_id: str, where: Where, sources: Mapping[str, Source], names: set[str]
) -> Section:
    """``names`` collects the fact names of the whole file and is shared by all its sections."""
    facts: dict[str, Fact] = {}
    parts: dict[str, Section] = {}
    for name, row in rows.items():
        here = where.at(name)
        if not isinstance(row, dict):
            raise here.refuse("facts.bare-value")
        if _FACT_MARKS & row.keys():
            facts[name] = parse_fact(row, here, f"{section_id}.{name}", sources)
            names.add(name)
        else:
            parts[name] = _section(row, f"{section_id}.{name}", here, sources, names)
    return Section(section_id, facts, parts, names)


def _prices(table: dict[str, Any], file: str, sources: Mapping[str, Source]) -> tuple[Price, ...]:
    for key in table.keys() - {"price"}:
        raise InputError("facts.unknown-key", file=file, key="top level", unknown=key, allowed="price")
    return tuple(
        parse_price(row, Where(file, f"price {number} ({row.get('option')} {row.get('item')})"), sources)
        for number, row in enumerate(table.get("price", ()), start=1)
    )
