"""FSx for Lustre file systems: those that would do, and one that is there beside the need."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from gpufeed.facts.messages import text
from gpufeed.facts.quantity import Quantity
from gpufeed.model.file_system import Compared, Comparison, Sized
from gpufeed.model.fsx import Configuration, Need
from gpufeed.present import words
from gpufeed.present.escape import visible
from gpufeed.present.tables.frame import table

if TYPE_CHECKING:
    import pandas as pd


def file_systems(sized: Sized) -> pd.DataFrame:
    """Every FSx for Lustre file system that would do, cheapest first; then the unpriced, those that lack something, and
    the types that are ruled out.
    """
    found, currency = sized.found, sized.currency
    groups = (("priced", found.priced), ("unpriced", found.unpriced), ("lacking", found.lacking))
    rows = [_file_system(one, group, currency) for group, ones in groups for one in ones]
    rows += [
        (out.name, text("fsx.verdict.ruled-out"), *["–"] * 5, words.sentences(*map(words.reason, out.reasons)))
        for out in found.ruled_out
    ]
    columns = ("configuration", "verdict", "read-rate", "write-rate", "opens", "size-set-by", "per-month", "reasons")
    return table(columns, rows)


def _file_system(one: Configuration, group: str, currency: str) -> tuple[str, ...]:
    return (
        settings(one),
        text(f"fsx.verdict.{group}"),
        words.quantity(one.read_bytes_per_s),
        words.quantity(one.write_bytes_per_s),
        opened(one),
        size_set_by(one),
        per_month(one, currency),
        words.sentences(*map(words.reason, (*one.lacks, *one.notes))) or "–",
    )


def settings(one: Configuration) -> str:
    """What to order: type, capacity, MB/s per TiB, metadata IOPS, EFA."""
    return text("present.list-separator").join(words.setting(name, value) for name, value in one.settings.items())


def opened(one: Configuration) -> str:
    """Files opened per second, and that they are assumed where AWS publishes no rate."""
    said = words.quantity(one.opens_per_s)
    if one.opens_per_s.basis != "assumed":
        return said
    return text("present.used-as", option=said, used_as=words.basis("assumed"))


def size_set_by(one: Configuration) -> str:
    """What decided the capacity, and how much it asks for."""
    what, asked = text(f"fsx.size-set-by.{one.size_set_by}"), one.asked_gib.get(one.size_set_by)
    return text("fsx.size-and-what-set-it", what=what, gib=words.number(asked)) if asked else what


def per_month(one: Configuration, currency: str) -> str:
    """The price; where metadata IOPS are ordered, storage and they apart as well."""
    storage, metadata = one.storage_per_month, one.metadata_per_month
    whole = words.priced(one.per_month, currency)
    if one.per_month is None or storage is None or metadata is None or not metadata.value:
        return whole
    parts = {"storage": words.priced(storage, currency), "metadata": words.priced(metadata, currency)}
    return text("fsx.per-month-in-parts", whole=whole, **parts)


def compared(comparison: Comparison) -> pd.DataFrame:
    """What a file system has beside what the job needs, trait by trait."""
    return table(("trait", "has", "needs", "verdict", "short-by", "reasons"), compared_rows(comparison))


def compared_rows(comparison: Comparison) -> list[tuple[str, ...]]:
    """The rows of :func:`compared`, without pandas."""
    return [
        (
            text(f"fsx.trait.{row.id}"),
            _trait(row, row.has),
            "–" if row.needs is None else _trait(row, row.needs),
            text(f"fsx.is.{row.verdict}"),
            "–" if row.short_by is None else _trait(row, row.short_by),
            words.reason(row.note) if row.note else "–",
        )
        for row in comparison.rows
    ]


def _trait(row: Compared, value: Quantity | bool | str | None) -> str:
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, Quantity):
        return words.gibibytes(value.value) if row.id == "capacity" else words.quantity(value)
    return words.yes_no(value)


def comparison_sentences(comparison: Comparison, currency: str) -> list[str]:
    """Whether it is enough, what binds, what to change, and what it costs then."""
    has = comparison.file_system
    enough = "unknown" if comparison.enough is None else "yes" if comparison.enough else "no"
    binds = text("present.none") if comparison.binds is None else text(f"fsx.trait.{comparison.binds}")
    said = [text(f"fsx.enough.{enough}", id=visible(has.id), region=visible(has.region), binds=binds)]
    said += [words.reason(change) for change in comparison.changes]
    if comparison.instead is not None:
        said.append(text("fsx.instead", configuration=settings(comparison.instead)))
    elif comparison.enough is False and not comparison.changes:
        said.append(text("fsx.nothing-would-do", region=visible(has.region)))
    now, then = (words.priced(price, currency) for price in (comparison.per_month_now, comparison.per_month_then))
    said.append(text("fsx.costs-now", now=now) if comparison.enough else text("fsx.costs", now=now, then=then))
    return said


def room(need: Need) -> str:
    """What it has to hold, and for a checkpoint that is still being exported where that may be under way."""
    data, more = words.gibibytes(need.holds_bytes), need.until_exported_bytes
    if not more:
        return data
    found = {"data": data, "more": words.gibibytes(more)}
    if math.isinf(need.exported_in_time_at):
        return text("fsx.room-until-exported", **found)
    return text("fsx.room-until-exported-below", rate=words.rate(need.exported_in_time_at), **found)


def left_out(sized: Sized) -> list[str]:
    """What the plan has elsewhere, and what a file system would need with it; nothing where it is sized for all."""
    if sized.left_out is None:
        return []
    need, place = sized.left_out.need_with_it, words.option(sized.left_out.option)
    amounts = {"data": room(need), "opens": words.per_second(need.rates["opens"], "opens")}
    amounts |= {name: words.rate(need.rates[name]) for name in ("read", "write")}
    return [text(f"fsx.left-out.{sized.left_out.role}", option=place, **amounts)]


def file_system_sentences(sized: Sized) -> list[str]:
    """What the table of file systems leaves out: what it is not sized for, and whether the Region has the types."""
    said = left_out(sized)
    said += [text("fsx.not-sized-for", trait=text(f"fsx.trait.{trait}")) for trait in sorted(sized.need.unknown)]
    if not sized.found.types_confirmed:
        said.append(text("fsx.types-not-confirmed", region=visible(sized.region)))
    return said
