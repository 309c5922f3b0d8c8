"""Sentences of a plan: reasons, warnings, steps and flip points, with what they name said as people read it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from gpufeed.facts.messages import text
from gpufeed.facts.quantity import Quantity
from gpufeed.model import recommendation as said
from gpufeed.model.caution import ANSWERED_BY
from gpufeed.model.course import Step
from gpufeed.model.epochs import HOST_MEMORY
from gpufeed.model.workload import NUMBERS
from gpufeed.present.words.names import limit, option, role, rule, task, trait, yes_no
from gpufeed.present.words.numbers import duration, money, number, rate, share, size
from gpufeed.present.words.units import quantity, trait_value


def sentences(*parts: str) -> str:
    """One line of text: each part ends with one full stop."""
    stops = (".", "。", "!", "?", "！", "？")
    end = text("present.full-stop")
    gap = " " if end == "." else ""  # a Chinese stop brings its own space
    return gap.join(part if part.endswith(stops) else f"{part}{end}" for part in parts if part)


def served_by(later: said.LaterEpochs) -> str:
    """What later epochs are read from, and how much of them still from the storage where memory fills node by node."""
    source = option(later.served_by)
    if later.served_by != HOST_MEMORY or not later.asked_again.high:
        return source
    return text("epochs.served-in-part", served_by=source, asked_again=quantity(later.asked_again))


def reason(it: said.Reason, field: Callable[[str], str] | None = None) -> str:
    """Why.  What to state instead, where something is missing, stands in it; ``field`` as for :func:`warning`."""
    to_state = {"field": named_fields(it.parameters["field"], field)} if "field" in it.parameters else {}
    return text(f"reason.{it.id}", **shown(it.parameters) | to_state)


def warning(it: said.Caveat, field: Callable[[str], str] | None = None) -> str:
    """What the reader must know, and where something was not stated, how to state it.

    ``field`` names a field where people type it; without one it is named as a document has it, with its unit.
    """
    said_ = text(f"warning.{it.id}", **shown(it.parameters))
    fields = ANSWERED_BY.get(it.id)
    if fields is None:
        return said_
    return text("warning.to-state", warning=said_, fields=named_fields(fields, field))


def named_fields(names: Iterable[str], field: Callable[[str], str] | None) -> str:
    return text("present.list-separator").join(map(field or in_document, names))


#: Units of fields whose name says more than a unit of the catalogue does.
_WRITTEN = {"samples/s": "samples-per-second", "currency/hour": "price"}


def in_document(name: str) -> str:
    """A field as a document states it, and what to write: ``checkpoint_interval (seconds)``."""
    how = written(NUMBERS[name].unit) if name in NUMBERS else text(f"written.{name}")
    return text("written.field", field=name, written=how)


def in_form(name: str) -> str:
    """A field by its label, with the unit of the label."""
    return text("written.in-form", field=trait(name))


def written(unit: str) -> str:
    """What to write for a number in this unit."""
    return text(f"written.{_WRITTEN.get(unit, unit)}")


def step(it: Step) -> str:
    """One step of the course of a run."""
    return text(f"course.{it.id}", **shown(it.parameters))


def flip_point(point: said.FlipPoint) -> str:
    """What moves where, at which change of which trait, and why."""
    said_of = {
        "role": role(point.role),
        "from_option": option(point.from_option),
        "option": option(point.option),
        "trait": text(f"trait.{point.trait}"),
        "at": trait_value(point.at, point.unit),
    }
    if point.at == point.now:
        return sentences(text("flip.once-stated", **said_of), reason(point.reason))
    now = text("flip.not-stated") if point.now is None else trait_value(point.now, point.unit)
    if not point.stated and point.now is not None:
        now = text("flip.by-default", value=now)
    return sentences(text("flip.point", now=now, **said_of), reason(point.reason))


def setting(name: str, value: Any) -> str:
    """One setting of a configuration: ``storage capacity 2,400 GiB``."""
    return text(f"setting.{name}", **shown({"value": value}))


def shown(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters of a sentence as text.  An amount has its currency beside it; :func:`_parameter` says all else."""
    currency = parameters.get("currency", "")
    return {
        name: money(value, currency) if name == "amount" and currency else _parameter(name, value)
        for name, value in parameters.items()
    }


def _listed(said: Callable[[str], str]) -> Callable[[Iterable[str]], str]:
    """Each id of a list by its name; "none" for a list without any."""
    return lambda ids: text("present.list-separator").join(map(said, ids)) or text("present.none")


#: How a value is said that does not say it itself: ids by what they name, bare numbers by what they count.
_NAMED: Mapping[str, Callable[[Any], str]] = {
    **dict.fromkeys(("option", "other", "reads", "for_both", "rule"), option),
    **dict.fromkeys(("options", "gone", "left", "unconfirmed"), _listed(option)),
    "parts": _listed(lambda part: text(f"cost.{part}")),
    "rules": _listed(lambda id_: text("flip.rule-cited", sentence=rule(id_).rstrip(text("present.full-stop")), id=id_)),
    "savers": _listed(lambda saver: text(f"saver.{saver}")),
    "triggers": _listed(lambda id_: text(f"trigger.{id_}")),
    "limit": limit,
    "task": task,
    "trait": lambda name: text(f"trait.{name}"),
    "bytes": size,
    "bytes_per_s": rate,
    **dict.fromkeys(("seconds", "interval"), duration),
    "share": share,
}


def _parameter(name: str, value: Any) -> str:
    """A quantity, a reason, yes or no and nothing say what they are; other values go by the table, then as they are."""
    match value:
        case None:  # what is not known, and what has no price
            return text("present.not-priced" if name.endswith(("cost", "price")) else "present.unknown")
        case Quantity():
            return quantity(value)
        case said.Reason():
            return reason(value).rstrip(text("present.full-stop"))
        case bool():
            return yes_no(value)
        case _ if name in _NAMED:
            return _NAMED[name](value)
        case int() | float():
            return number(value)
        case tuple() | list() | frozenset():
            return text("present.list-separator").join(map(str, value))
    return str(value)
