"""What has changed since a decision record was made, as lines of text and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from gpufeed.facts.messages import text
from gpufeed.model.record import SECTIONS, Recheck
from gpufeed.present import words


def lines(found: Recheck) -> list[str]:
    """When and with what it was decided, then each change by name with old and new."""
    return list(_lines(found))


def _lines(found: Recheck) -> Iterator[str]:
    yield text("record.decided", made=found.made, then=found.version_then, now=found.version_now)
    yield text("record.answer-changed" if found.answer_changed else "record.answer-same")
    for section in SECTIONS:
        changes = [change for change in found.changes if change.section == section]
        if changes:
            yield text(f"record.section.{section}", count=words.count(len(changes)))
        for change in changes:
            yield "  " + text("record.change", name=change.name, then=value(change.then), now=value(change.now))
    if not found.changes:
        yield text("record.nothing")
    if found.not_kept:
        yield text("record.not-kept", sections=_listed(found.not_kept))


def document(found: Recheck) -> dict[str, Any]:
    """What ``gpufeed recheck --json`` prints."""
    return {
        "made": found.made,
        "gpufeed_version": {"then": found.version_then, "now": found.version_now},
        "changed": bool(found.changes),
        "answer_changed": found.answer_changed,
        "changes": {
            section: [
                {"name": change.name, "then": change.then, "now": change.now}
                for change in found.changes
                if change.section == section
            ]
            for section in SECTIONS
        },
        "not_kept": list(found.not_kept),
    }


def value(it: Any) -> str:
    """A value of a record as people read it: a number with unit, range and date, or what else it is.

    It comes from a file that anybody may have written, so nothing about it is taken for granted.
    """
    if it is None:
        return text("record.absent")
    if isinstance(it, Mapping):
        return _number(it) if "value" in it else _listed(f"{name}={value(part)}" for name, part in it.items())
    if isinstance(it, list):
        return _listed(value(part) for part in it)
    return f"{it:,.12g}" if _is_number(it) else str(it)


def _number(row: Mapping[str, Any]) -> str:
    """A figure, fact or price: the value, its range where it has one, and where it comes from."""
    unit = row["unit"] if isinstance(row.get("unit"), str) else ""
    bounds = [_in_unit(row.get(name), unit) for name in ("value", "low", "high")]
    shown, low, high = bounds
    if "low" in row and low != high:
        shown = text("present.value-and-range", value=shown, range=words.between(low, high))
    about = [str(part) for part in (row.get("basis"), row.get("as_of")) if part is not None]
    return f"{shown} [{_listed(about)}]" if about else shown


def _in_unit(number: Any, unit: str) -> str:
    return words.in_unit(number, unit) if _is_number(number) else value(number)


def _is_number(it: Any) -> bool:
    return isinstance(it, int | float) and not isinstance(it, bool)


def _listed(parts: Any) -> str:
    return text("present.list-separator").join(parts)
