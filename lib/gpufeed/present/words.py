"""Numbers and ids as people read them, in the language in force.

Inside the code there are bytes, seconds, shares and plain ids; this module is the border where they become "1.2 GB/s",
"3 h 20 min" or "Amazon S3".  What is not known is said in words, never shown as 0.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from functools import partial
from typing import Any

from gpufeed.facts.messages import catalogue, language, text
from gpufeed.facts.quantity import Quantity
from gpufeed.facts.sources import Source
from gpufeed.model import recommendation as said
from gpufeed.model.caution import ANSWERED_BY
from gpufeed.model.course import Step
from gpufeed.model.workload import NUMBERS

_DECIMAL = ("bytes", "KB", "MB", "GB", "TB", "PB", "EB")
_BINARY = ("bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")
_BITS = ("bit/s", "kbit/s", "Mbit/s", "Gbit/s", "Tbit/s", "Pbit/s")
_OPERATIONS = ("FLOP", "kFLOP", "MFLOP", "GFLOP", "TFLOP", "PFLOP")
_PARAMETERS = ("", "K", "M", "B", "T")  # as models are called: 70 B
_MINUTE, _HOUR, _DAY = 60, 3600, 86400
# What one machine may read from any storage: outside of it something is wrong, or very much better than today.
_ORDINARY = {"bytes/s": (1e5, 1e11), "requests/s": (1.0, 1e6)}
_ONE_NUMBER = re.compile(r"^(\D*)(\d[\d.,]*)(\D*)$")


# ---- numbers ---------------------------------------------------------------------------------------------------------


def number(value: float | None) -> str:
    """Three significant digits, or all before the point of a larger number: ``0.0123``, ``1.25``, ``12,500``."""
    if value is None:
        return text("present.unknown")
    if math.isinf(value):
        return "∞"
    if value == 0:
        return "0"
    decimals = max(2 - math.floor(math.log10(abs(value))), 0)
    shown = f"{round(value, decimals):,.{decimals}f}"
    return shown.rstrip("0").rstrip(".") if "." in shown else shown


def count(value: float | None) -> str:
    """A whole number with all its digits: counts are exact."""
    return text("present.unknown") if value is None else f"{round(value):,}"


def size(value: float | None) -> str:
    """Bytes in decimal units: ``13.5 KB``."""
    return _scaled(value, 1000, _DECIMAL)


def binary_size(value: float | None) -> str:
    """Bytes in binary units, where AWS counts and bills in them: ``1,200 GiB`` is a file system's capacity."""
    return _scaled(value, 1024, _BINARY)


def gibibytes(value: float | None) -> str:
    """Bytes in GiB whatever their size, as FSx for Lustre counts capacity: ``4,800 GiB``."""
    return text("present.unknown") if value is None else f"{value / 2**30:,.0f} GiB"


def rate(value: float | None) -> str:
    """Bytes per second in decimal units: ``1.25 GB/s``."""
    return text("present.unknown") if value is None else f"{size(value)}/s"


def network_rate(value: float | None) -> str:
    """Bytes and bits together, because network cards are sold in bits: ``1.25 GB/s (10 Gbit/s)``."""
    if value is None:
        return text("present.unknown")
    return text("present.bytes-and-bits", of_bytes=rate(value), of_bits=_scaled(value * 8, 1000, _BITS))


def per_second(value: float | None, unit: str) -> str:
    """``unit`` is what is counted: requests, samples, tokens, objects."""
    return text("present.unknown") if value is None else text(f"present.per-second.{unit}", number=number(value))


def duration(seconds: float | None) -> str:
    """The two largest units that matter: ``35 ms``, ``12.5 s``, ``3 min 20 s``, ``5 h 10 min``, ``12 d 3 h``."""
    if seconds is None:
        return text("present.unknown")
    if math.isinf(seconds):
        return text("present.never-ends")
    if 0 < seconds < 1:
        return text("present.milliseconds", number=number(seconds * 1000))
    if seconds < _MINUTE:
        return text("present.seconds", number=number(seconds))
    for unit, smaller, name, id_ in (
        (_DAY, _HOUR, "days", "days-hours"),
        (_HOUR, _MINUTE, "hours", "hours-minutes"),
        (_MINUTE, 1, "minutes", "minutes-seconds"),
    ):
        if seconds >= unit:
            whole, rest = divmod(round(seconds / smaller), unit // smaller)
            return (
                text(f"present.{id_}", whole=f"{whole:,}", rest=rest)
                if rest
                else text(f"present.{name}", whole=f"{whole:,}")
            )
    raise AssertionError("unreachable")  # pragma: no cover — every number of seconds is in one class above


def money(value: float | None, currency: str) -> str:
    """Three digits of an amount in its currency; None is "not priced", which is an answer and not 0."""
    if value is None:
        return text("present.not-priced")
    return text(f"present.money.{currency}", amount=number(_three_digits(value)))


def _three_digits(value: float) -> float:
    return float(f"{value:.3g}")


def share(value: float | None) -> str:
    """0–1 as a percentage.  Less than everything is never rounded up to 100 %, more than nothing never down to 0 %."""
    if value is None:
        return text("present.unknown")
    percent = value * 100
    whole = f"{percent:.1f}" if 0 < percent < 10 else f"{percent:.0f}"
    if percent > 0 and float(whole) == 0:
        whole = "<0.1"
    elif percent < 100 <= float(whole):
        whole = ">99"
    return text("present.percent", number=whole.removesuffix(".0"))


_BY_UNIT: Mapping[str, Callable[[float | None], str]] = {
    "bytes": size,
    "bytes/s": rate,
    "seconds": duration,
    "hours": lambda hours: duration(None if hours is None else hours * _HOUR),
    "share": share,
    "count": count,
    "USD": lambda amount: money(amount, "USD"),
    "CNY": lambda amount: money(amount, "CNY"),
    "USD/hour": lambda amount: text("present.per-hour", money=money(amount, "USD")),
    "CNY/hour": lambda amount: text("present.per-hour", money=money(amount, "CNY")),
    "USD/month": lambda amount: text("present.per-month", money=money(amount, "USD")),
    "CNY/month": lambda amount: text("present.per-month", money=money(amount, "CNY")),
    "FLOP": lambda value: _scaled(value, 1000, _OPERATIONS),
    "FLOP/s": lambda value: _scaled(value, 1000, tuple(f"{unit}/s" for unit in _OPERATIONS)),
    "requests/s": partial(per_second, unit="requests"),
    "samples/s": partial(per_second, unit="samples"),
    "tokens/s": partial(per_second, unit="tokens"),
    "objects/s": partial(per_second, unit="objects"),
    "opens/s": partial(per_second, unit="opens"),
}


#: How a billing unit is said: the id of its sentence, and how what it counts is written.
_BILLED: Mapping[str, tuple[str, Callable[[float], str]]] = {
    "GiB-month": ("GiB-month", number),
    "GiB": ("GiB", number),
    "1000 requests": ("thousand-requests", lambda thousands: count(thousands * 1000)),
    "IOPS-month": ("IOPS-month", number),
    "hour": ("hour", number),
    "(MB/s)-month": ("throughput-month", number),
    "1000000 objects": ("million-objects", lambda millions: count(millions * 1e6)),
}


#: Units that a sentence names: its id.
_NAMED: Mapping[str, str] = {
    "requests": "requests",
    "ratio": "ratio",
    "instances": "instances",
    "GPUs": "gpus",
    "hours/month": "hours-per-month",
    "bytes/parameter": "bytes-per-parameter",
    "bytes/token": "bytes-per-token",
    "operations per IOPS": "operations-per-iops",
    "failures per node-second": "failures-per-node-second",
    "MB/s per TiB": "rate-per-tib",
    "GiB per TiB": "capacity-per-tib",
}


def in_unit(value: float | None, unit: str) -> str:
    """A number of the model in its base unit, or in the unit it is billed by, as people read it."""
    if unit in _BILLED and value is not None:
        id_, written = _BILLED[unit]
        return text(f"billed.{id_}", number=written(value))
    if unit in _NAMED and value is not None:
        return text(f"unit.{_NAMED[unit]}", number=number(value))
    currency, _, per = unit.partition("/")
    if per in _BILLED and unit not in _BY_UNIT and value is not None:
        return text(f"billed-per.{_BILLED[per][0]}", money=text(f"present.money.{currency}", amount=number(value)))
    return _BY_UNIT[unit](value) if unit in _BY_UNIT else f"{number(value)} {unit}".strip()


def quantity(q: Quantity | None, unknown: str = "present.unknown") -> str:
    """The value, and the range where there is one: ``1.2 GB/s (0.8–2 GB/s)``."""
    if q is None:
        return text(unknown)
    value, low, high = (in_unit(number_, q.unit) for number_ in (q.value, q.low, q.high))
    return value if low == high else text("present.value-and-range", value=value, range=between(low, high))


def quantity_range(q: Quantity | None, unknown: str = "present.unknown") -> str:
    """The range alone: ``low–high``; one number where both ends read the same."""
    if q is None:
        return text(unknown)
    low, high = in_unit(q.low, q.unit), in_unit(q.high, q.unit)
    return low if low == high else between(low, high)


def between(low: str, high: str) -> str:
    """``low–high``, with the unit said once where both have the same: ``10–100 MB/s``, ``USD 3–5``."""
    first, last = _ONE_NUMBER.match(low), _ONE_NUMBER.match(high)
    if first and last and first.group(1, 3) == last.group(1, 3):
        before, number_, after = last.groups()
        return f"{before}{first.group(2)}–{number_}{after}"
    return f"{low}–{high}"


def unit_price(price: Quantity | None, unit: str, currency: str) -> str:
    """``USD 0.023 per GiB-month``; None is "not priced"."""
    if price is None:
        return text("present.not-priced")
    return text(f"billed-per.{_BILLED[unit][0]}", money=list_price(price, currency))


def priced(amount: Quantity | None, currency: str) -> str:
    """An amount of money with its range, in its currency; None is "not priced"."""
    return quantity(amount and amount.named(currency), "present.not-priced")


def list_price(price: Quantity, currency: str) -> str:
    """A price with all its digits: ``USD 21.957642``, ``USD 0.00003``."""
    value, low, high = (
        text(f"present.money.{currency}", amount=f"{Decimal(repr(bound)):,f}".removesuffix(".0"))
        for bound in (price.value, price.low, price.high)
    )
    return value if low == high else text("present.value-and-range", value=value, range=between(low, high))


def cited(q: Quantity | None, sources: Mapping[str, Source]) -> str:
    """The sources of a number, each with its date."""
    if q is None or not q.sources:
        return text("present.none")
    dated = (f"{id_} {sources[id_].as_of}" if id_ in sources else id_ for id_ in sorted(q.sources))
    return text("present.list-separator").join(dated)


def bucketed(value: float | None, unit: str = "bytes/s") -> str:
    """The class of a measured number, wide enough for any machine: ``100 KB/s–100 GB/s``.

    Stored notebooks print measurements through this, so a stopped server changes them and a fast machine does not.
    """
    if value is None:
        return text("present.nothing-measured")
    low, high = _ORDINARY[unit]
    if value < low:
        return text("present.below", limit=in_unit(low, unit))
    return (
        text("present.above", limit=in_unit(high, unit))
        if value > high
        else between(in_unit(low, unit), in_unit(high, unit))
    )


def sentences(*parts: str) -> str:
    """One line of text: each part ends with one full stop."""
    stops = (".", "。", "!", "?", "！", "？")
    end = text("present.full-stop")
    gap = " " if end == "." else ""  # a Chinese stop brings its own space
    return gap.join(part if part.endswith(stops) else f"{part}{end}" for part in parts if part)


def _scaled(value: float | None, step: int, units: tuple[str, ...]) -> str:
    if value is None:
        return text("present.unknown")
    power = 0
    # 999.6 KB would print as "1,000 KB": what rounds up to the next unit is shown in it.
    while power < len(units) - 1 and value >= step * (0.9995 if step == 1000 else 1):
        value /= step
        power += 1
    return f"{number(value)} {units[power]}"


# ---- ids that have a name or a sentence ------------------------------------------------------------------------------


def option(id_: str | None) -> str:
    return text(f"option.{id_}") if id_ else text("present.none")


def on_bucket(option_id: str, backed_by: str | None) -> str:
    """The option, and what backs it where it is a way onto a bucket."""
    if not backed_by or backed_by == option_id:
        return option(option_id)
    return text("present.backed-by", option=option(option_id), backing=option(backed_by))


def system(answer: said.OptionAnswer) -> str:
    """One of the five systems, as it is named beside its figures."""
    return on_bucket(answer.option, answer.backed_by)


def role(id_: str) -> str:
    return text(f"role.{id_}")


def yes_no(answer: bool | None) -> str:
    """A condition that holds, does not, or is not known."""
    return text("present.unknown" if answer is None else "present.yes" if answer else "present.no")


def limit(id_: str | None) -> str:
    """What an option's rate is limited by."""
    return text(f"limit.{id_}") if id_ else text("present.unknown")


def setting(name: str, value: Any) -> str:
    """One setting of a configuration: ``storage capacity 2,400 GiB``."""
    return text(f"setting.{name}", **shown({"value": value}))


def verdict(id_: str) -> str:
    return text(f"verdict.{id_}")


def decided_by(id_: str) -> str:
    return text(f"decided-by.{id_}")


def measured(placed: said.Placement) -> str:
    """What a measurement says of a data role, and what it was good for."""
    if not placed.measured_used_as:
        return text("present.nothing-measured")
    on = option(placed.measured) if placed.measured else text("present.no-option")
    return text("present.used-as", option=on, used_as=text(f"used-as.{placed.measured_used_as}"))


def rule(id_: str) -> str:
    """The sentence of a published rule."""
    return text(f"rule.{id_}")


def gap(id_: str) -> str:
    """What the published rule leaves open, and how it was settled here."""
    return text(f"rule.gap.{id_}")


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


def figure(name: str) -> str:
    """What a figure of the plan is called; one that has no name of its own here keeps its id."""
    said_as = catalogue(language())
    *_, group, last = ("", *name.split("."))
    if group == "limits":
        return text("figure-of.limit", limit=limit(last))
    if name.startswith("cost.lines."):
        what, _, again = last.partition("-")  # lines of one name are graduated bands, counted on
        said = text(f"figure-of-line.{what}", line=text(f"cost.{group}"))
        return text("figure-of.band", figure=said, number=again) if again else said
    return said_as.get(f"figure.{name}", name)


def basis(id_: str) -> str:
    """Where a number comes from, by mark and word: published, measured, stated, assumed or derived."""
    return text(f"basis.{id_}")


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


def trait_value(value: float, unit: str) -> str:
    """A number of the workload as people read it, in the unit of its field."""
    return _STATED[unit](value) if unit in _STATED else in_unit(value, unit)


def _whole_or_not(value: float) -> str:
    return count(value) if value == round(value) else number(value)


#: Where a stated number reads otherwise than one that was worked out.
_STATED: Mapping[str, Callable[[float], str]] = {
    "hours": lambda hours: text("trait.hours", number=number(hours)),
    "parameters": lambda value: _scaled(value, 1000, _PARAMETERS).rstrip(),
    **dict.fromkeys(("count", "tokens", "samples"), _whole_or_not),
}


def trait(name: str) -> str:
    """The label of a workload field."""
    return text(f"field.{name}")


def shown(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters of a sentence as text: quantities with their units, numbers by what their names say they are."""
    currency = parameters.get("currency", "")
    return {
        name: money(value, currency) if name == "amount" and currency else _parameter(name, value)
        for name, value in parameters.items()
    }


#: Where None says that something has no price, and not that it is unknown.
_MONEY = frozenset({"cost", "other_cost", "price"})
_BY_NAME: Mapping[str, Callable[[Any], str]] = {
    "bytes": size,
    "bytes_per_s": rate,
    "interval": duration,
    "seconds": duration,
    "share": share,
    "fed": share,
    "best": share,
    "option": option,
    "trait": lambda name: text(f"trait.{name}"),
    "rule": option,
    "other": option,
    "limit": limit,
}


def region(id_: str) -> str:
    """Id and name of a Region, id first so that typing it finds it in a list: ``eu-central-1 · Europe (Frankfurt)``."""
    return text("present.named-region", region=id_, name=text(f"region.{id_}"))


def _parameter(name: str, value: Any) -> str:
    if name == "parts":
        return text("present.list-separator").join(text(f"cost.{part}") for part in value)
    if name in {"gone", "left", "unconfirmed", "options"}:
        return text("present.list-separator").join(option(id_) for id_ in value) or text("present.none")
    if value is None:
        return text("present.not-priced" if name in _MONEY else "present.unknown")
    if isinstance(value, Quantity):
        return quantity(value)
    if isinstance(value, said.Reason):
        return reason(value).rstrip(text("present.full-stop"))
    if isinstance(value, bool):
        return yes_no(value)
    if name in _BY_NAME:
        return _BY_NAME[name](value)
    if isinstance(value, int | float):
        return number(value)
    if isinstance(value, tuple | list | frozenset):
        return text("present.list-separator").join(str(item) for item in value)
    return str(value)
