"""Prices as people and programs read them: what is in force, how old it is, and what a refresh changed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date
from typing import Any, NamedTuple

from gpufeed.facts import Facts, Price, Quantity
from gpufeed.facts.messages import catalogue, language, text
from gpufeed.facts.prices import INSTANCES
from gpufeed.facts.sources import days_old
from gpufeed.observe.aws.price_list import Change, Missing, Refreshed, Wanted, wanted
from gpufeed.present import contract, words


def lines(region: str, facts: Facts, today: date) -> Iterator[str]:
    """Every price of a Region with its date and age, then by name what has none."""
    rows = [row for row in in_region(region, facts) if row.quantity is not None]
    instances = [name for name in facts.instances if not facts.price_bands(INSTANCES, name, region)]
    listed = {name: each for name in instances if (each := facts.instance_price(name, region)) is not None}
    if not rows and not listed:
        yield text("prices.none-in-region", region=region)
    for row in rows:
        yield _line(row, facts, today)
    for instance, each in listed.items():
        yield _instance(instance, each, region, facts, today)
    unpriced = not_priced(region, facts)
    if unpriced:
        yield text("prices.unpriced-heading", region=region, count=words.count(len(unpriced)))
    for one in unpriced:
        yield text("prices.unpriced", name=name(one) + _band(one))
    for option in not_there(region, facts):
        yield text("prices.not-there", region=region, option=words.option(option))
    if facts.refreshed:
        yield text("prices.own-first")


class Unpriced(NamedTuple):
    """What an answer may need and a Region has no price of: all of it, or one band of a month's amount."""

    option: str
    item: str
    configuration: str | None
    unit: str = ""
    band_from: float = 0.0
    band_to: float | None = None


def not_priced(region: str, facts: Facts) -> list[Unpriced]:
    """What some Region has a price of, or a refresh looks for, and this one has none of; instances last."""
    bands = {
        Unpriced(row.option, row.item, row.configuration, row.unit, row.band_from, row.band_to): None
        for row in in_region(region, facts)
        if row.quantity is None
    }
    priced: list[Price | Wanted] = [*facts.prices, *wanted(facts)]
    known = (Unpriced(row.option, row.item, row.configuration) for row in priced)
    others = {
        one: None
        for one in known
        if one.option != INSTANCES and not facts.price_bands(one.option, one.item, region, one.configuration)
    }
    instances = [
        Unpriced(INSTANCES, each, None)
        for each in facts.instances
        if not facts.price_bands(INSTANCES, each, region) and facts.instance_price(each, region) is None
    ]
    absent = not_there(region, facts)
    return [one for one in (*bands, *others, *instances) if one.option not in absent]


def not_there(region: str, facts: Facts) -> list[str]:
    """The systems that a source says the Region does not have; what is not confirmed is none of them."""
    said = facts.regions[region]
    return [option for option in facts.options if option in said and said[option].value is False]


def in_region(region: str, facts: Facts) -> list[Price]:
    """Every price row of a Region, the user's own included."""
    return [row for row in facts.prices if row.region == region]


def document(region: str, facts: Facts, today: date) -> dict[str, Any]:
    """What ``gpufeed prices --json`` prints."""
    return {
        "region": region,
        "prices": [_row(row, facts, today) for row in in_region(region, facts)],
        "instances": {name: _number(facts.instance_price(name, region)) for name in facts.instances},
        "not_priced": [_key(one) for one in not_priced(region, facts)],
        "not_there": not_there(region, facts),
        "facts_as_of": contract.ages(facts),
    }


def refreshed_lines(found: Refreshed, changed: Sequence[Change], place: str) -> Iterator[str]:
    """What a refresh brought: where it is kept, what is another price than before, and what was not found."""
    yield text("prices.written", count=words.count(len(found.prices)), region=found.region, path=place)
    for change in changed:
        yield text(
            "prices.changed",
            name=name(change.now),
            was=_price(change.was),
            now=_price(change.now),
        )
    for missing in found.missing:
        yield text("prices.missing", name=name(missing), why=text(f"prices.why.{missing.why}"))


def refreshed_document(found: Refreshed, changed: Sequence[Change], place: str) -> dict[str, Any]:
    """What ``gpufeed prices --refresh --json`` prints."""
    return {
        "region": found.region,
        "written": place,
        "found": len(found.prices),
        "as_of": {source.id: source.as_of for source in found.sources},
        "changed": [
            {
                **_key(change.now),
                "was": None if change.was is None or change.was.quantity is None else change.was.quantity.value,
                "now": None if change.now.quantity is None else change.now.quantity.value,
                "unit": change.now.unit,
                "currency": change.now.currency,
            }
            for change in changed
        ],
        "missing": [
            {"option": it.option, "item": it.item, "configuration": it.configuration, "why": it.why}
            for it in found.missing
        ],
    }


def name(row: Price | Missing | Unpriced) -> str:
    """What is priced: ``FSx for Lustre PERSISTENT_2-SSD-125, storage``; an instance by its type alone."""
    if row.option == INSTANCES:
        return row.item
    # A file of one's own may price what has no name here.
    said = catalogue(language())
    system = said.get(f"option.{row.option}") or said.get(f"price-of.{row.option}", row.option)
    item = said.get(f"price-item.{row.item}", row.item)
    if row.configuration is None:
        return text("prices.name", system=system, item=item)
    return text("prices.name-of-type", system=system, item=item, configuration=row.configuration)


def _line(row: Price, facts: Facts, today: date) -> str:
    dated = _dated(row.as_of, row.sources, facts, today)
    return text("prices.line", name=name(row) + _band(row), price=_price(row), dated=dated)


def _band(row: Price | Unpriced) -> str:
    """Which part of a month's amount a graduated price is for."""
    said = {"amount": words.in_unit(row.band_from, row.unit), "end": words.in_unit(row.band_to, row.unit)}
    if not row.band_from:
        return "" if row.band_to is None else text("prices.up-to", amount=said["end"])
    return text("prices.from" if row.band_to is None else "prices.between", **said)


def _instance(name_: str, each: Quantity, region: str, facts: Facts, today: date) -> str:
    """The snapshot's price of an instance: a fact of the instance, and no row of the price list."""
    fact = facts.instances[name_].parts[region]["on_demand_price"]
    money = words.list_price(each, each.unit.partition("/")[0])
    dated = _dated(fact.as_of, fact.sources, facts, today)
    return text("prices.line", name=name_, price=text("present.per-hour", money=money), dated=dated)


def _dated(as_of: str | None, sources: Sequence[str], facts: Facts, today: date) -> str:
    age = days_old(as_of, today)
    if age is not None:
        return text("prices.dated", as_of=as_of, days=words.count(age))
    return text("prices.undated", retrieved=max(facts.sources[id_].retrieved for id_ in sources))


def _price(row: Price | None) -> str:
    if row is None or row.quantity is None:
        return text("present.not-priced")
    if row.option == INSTANCES:
        return text("present.per-hour", money=words.list_price(row.quantity, row.currency))
    return words.unit_price(row.quantity, row.unit, row.currency)


def _key(row: Price | Unpriced) -> dict[str, Any]:
    return {"option": row.option, "item": row.item, "configuration": row.configuration, "band_from": row.band_from}


def _row(row: Price, facts: Facts, today: date) -> dict[str, Any]:
    return {
        **_key(row),
        "band_to": row.band_to,
        "price": _number(row.quantity),
        "unit": row.unit,
        "currency": row.currency,
        "as_of": row.as_of,
        "age_days": days_old(row.as_of, today),
        "sources": list(row.sources),
        "refreshed": row in facts.refreshed,
        "note": row.note,
    }


def _number(price: Quantity | None) -> dict[str, float | None] | None:
    return None if price is None else price.to_json()
