"""What has changed since a decision record was made, as lines of text and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from string import Formatter
from typing import Any

from gpufeed.facts.messages import catalogue, language, text
from gpufeed.model.record import SECTIONS, Change, Recheck
from gpufeed.model.workload import NUMBERS
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
            then, now = (_shown(section, change.name, it) for it in (change.then, change.now))
            if then == now:
                now = text("record.by-less", shown=now)
            yield "  " + text("record.change", name=name(change), then=then, now=now)
            if (section, change.name) == ("answer", "rule.rules"):
                yield from _sentences("rule", change)
            elif change.name.endswith(".reasons") or section == "flips":
                yield from _sentences("reason", change)
    if not found.changes:
        yield text("record.nothing")
    for id_, used in (("no-longer-used", found.no_longer_used), ("newly-used", found.newly_used)):
        counted = [
            text(f"record.used.{section}", count=words.count(len(names))) for section, names in used.items() if names
        ]
        if counted:
            yield text(f"record.{id_}", used=_listed(counted))
    if found.not_kept:
        yield text("record.not-kept", sections=_listed(found.not_kept))


def _shown(section: str, name_: str, it: Any) -> str:
    """A value by the section that it stands in, a bare number by its name."""
    if section == "flips":
        return _flip(name_.partition(".")[0], it)
    unit = UNITS.get(name_.rpartition(".")[2])
    if unit is not None and _is_number(it):
        return words.in_unit(it, unit)
    return _answer(it) if section in ("answer", "checkpoints") else value(it)


#: Units of the numbers that a record has without one, by the last part of their name.
UNITS = {
    **dict.fromkeys(("interval", "best_interval", "young", "daly"), "seconds"),
    **dict.fromkeys(("bytes_per_file", "memory_per_node", "drives_per_node"), "bytes"),
}


def name(change: Change) -> str:
    """The name of a value in words where it has one, and always as the record has it."""
    said = _answer_name(change.name) if change.section in ("answer", "checkpoints") else None
    if change.section == "figures":
        said = _figure_name(change.name)
    return change.name if said is None else text("record.named", said=said, id=change.name)


def _answer_name(id_: str) -> str | None:
    """A value of the answer by the data role or the option it is of, and what it says of it."""
    known = catalogue(language())
    owner, _, rest = id_.partition(".")
    whose = known.get(f"role.{owner}") or known.get(f"option.{owner}") or known.get(f"answer-of.{owner}")
    what = known.get(f"answer.{rest.partition('.')[0]}") or known.get(f"answer.{rest.rpartition('.')[2]}")
    return whose if what is None or whose is None else text("record.of", whose=whose, what=what)


def _figure_name(id_: str) -> str | None:
    """A figure of the plan, or of an option of it."""
    *before, figure = id_.removeprefix("options.").split(".", 1) if id_.startswith("options.") else (id_,)
    try:
        what, whose = words.figure(figure), [words.option(option) for option in before]
    except KeyError:  # of another version, or of nobody's
        return None
    if what == figure:
        return None
    return text("record.of", whose=whose[0], what=what) if whose else what


def _answer(it: Any) -> str:
    """An option, a verdict or who decided, in words; anything else as it is."""
    if not isinstance(it, str):
        return value(it)
    known = catalogue(language())
    return known.get(f"option.{it}") or known.get(f"verdict.{it}") or known.get(f"decided-by.{it}") or it


def _flip(trait: str, it: Any) -> str:
    """From which value of a trait what is better; or how far was searched, from where to where."""
    if isinstance(it, list) and len(it) == 2:
        return words.between(*(_of_trait(trait, end) for end in it))
    if not isinstance(it, Mapping) or not {"at", "option"} <= it.keys():
        return value(it)
    return text("record.flip", at=_of_trait(trait, it["at"]), option=_answer(it["option"]))


def _of_trait(trait: str, it: Any) -> str:
    if trait not in NUMBERS or not _is_number(it):
        return value(it)
    # A price is in the currency of the plan, which a flip does not name.
    return words.number(it) if trait == "gpu_hour_price" else words.trait_value(it, NUMBERS[trait].unit)


def _without_values(kind: str, id_: str) -> str | None:
    """The sentence of a rule or reason.  A record keeps no values of a reason: dots stand for them."""
    sentence = catalogue(language()).get(f"{kind}.{id_}")
    if sentence is None:
        return None
    values = dict.fromkeys((name for _, name, _, _ in Formatter().parse(sentence) if name), "…")
    return text(f"{kind}.{id_}", **values)


def _sentences(kind: str, change: Change) -> Iterator[str]:
    """Each published rule, or reason, that did not hold then, and each that no longer does."""
    then, now = _ids(change.then), _ids(change.now)
    for mark, ids in (("+", [it for it in now if it not in then]), ("−", [it for it in then if it not in now])):
        for id_ in ids:
            if sentence := _without_values(kind, str(id_)):
                yield f"    {mark} {text('panel.rule', id=id_, sentence=sentence)}"


def _ids(it: Any) -> list[Any]:
    """What a list names, or why a flip point is one."""
    if isinstance(it, Mapping):
        return [it["because"]] if "because" in it else []
    return it if isinstance(it, list) else []


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
        "no_longer_used": {section: list(names) for section, names in found.no_longer_used.items()},
        "newly_used": {section: list(names) for section, names in found.newly_used.items()},
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
    basis = row.get("basis")
    said = catalogue(language()).get(f"basis.{basis}", basis)
    about = [str(part) for part in (said, row.get("as_of")) if part is not None]
    return text("record.about", shown=shown, about=_listed(about)) if about else shown


def _in_unit(number: Any, unit: str) -> str:
    return words.in_unit(number, unit) if _is_number(number) else value(number)


def _is_number(it: Any) -> bool:
    return isinstance(it, int | float) and not isinstance(it, bool)


def _listed(parts: Any) -> str:
    return text("present.list-separator").join(parts)
