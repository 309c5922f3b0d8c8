"""Where a number comes from, and how old that is."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from typing import Any

from gpufeed.facts.errors import InputError

UNDATED = "undated"
_DATE = re.compile(r"\d{4}(-(0[1-9]|1[0-2])(-(0[1-9]|[12]\d|3[01]))?)?")
_KEYS = {"title", "url", "as_of", "retrieved", "confidence", "note"}


@dataclass(frozen=True, slots=True)
class Source:
    """A page, price list, file or measurement that facts cite.

    ``as_of`` is the date of what it says (``undated`` where the copy carries none), ``retrieved`` when it was read, and
    ``confidence`` a letter A–D explained at the top of ``data/sources.toml``.
    """

    id: str
    title: str
    url: str | None
    as_of: str
    retrieved: str
    confidence: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Age:
    """How old the facts of one file are: oldest and newest date (None when there is none), and how many are undated."""

    oldest: str | None
    newest: str | None
    undated: int

    @classmethod
    def of(cls, dates: Iterable[str]) -> Age:
        all_dates = list(dates)
        known = sorted(date for date in all_dates if date != UNDATED)
        return cls(known[0] if known else None, known[-1] if known else None, len(all_dates) - len(known))


def is_date(text: object) -> bool:
    """A day, a month, a year, or ``undated``."""
    return isinstance(text, str) and (text == UNDATED or _DATE.fullmatch(text) is not None)


def days_old(as_of: str | None, today: date) -> int | None:
    """Days since a date; of a month or a year since its first day, so the age is never understated.  None: undated."""
    if as_of is None or as_of == UNDATED:
        return None
    year, month, day = (*map(int, as_of.split("-")), 1, 1)[:3]
    return (today - date(year, month, day)).days


def parse_sources(table: dict[str, Any], file: str) -> dict[str, Source]:
    """``data/sources.toml``.  Raises InputError naming the source and what is wrong with it."""
    sources = {}
    for source_id, row in table.items():
        if not isinstance(row, dict):
            raise InputError("facts.bare-value", file=file, key=source_id)
        for key in row.keys() - _KEYS:
            raise InputError("facts.unknown-key", file=file, key=source_id, unknown=key, allowed=_names(_KEYS))
        for key in ("title", "as_of", "retrieved", "confidence"):
            if key not in row:
                raise InputError("facts.source-incomplete", file=file, key=source_id, missing=key)
        for key in ("as_of", "retrieved"):
            if not is_date(row[key]):
                raise InputError("facts.bad-date", file=file, key=source_id, date=row[key])
        if row["confidence"] not in ("A", "B", "C", "D"):
            raise InputError("facts.bad-confidence", file=file, key=source_id, confidence=row["confidence"])
        if not row.get("url") and not row.get("note"):
            raise InputError("facts.source-incomplete", file=file, key=source_id, missing="url")
        sources[source_id] = Source(source_id, url=row.get("url"), **{k: v for k, v in row.items() if k != "url"})
    return sources


def _names(names: Iterable[str]) -> str:
    return ", ".join(sorted(names))
