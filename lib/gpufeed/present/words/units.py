"""Numbers whose unit travels with them: quantities with their ranges, prices, and the stated traits of a workload."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from functools import partial

from gpufeed.facts.messages import text
from gpufeed.facts.quantity import Quantity
from gpufeed.facts.sources import Source
from gpufeed.facts.units import UNITS
from gpufeed.present.words.numbers import count, counted, duration, money, number, per_second, rate, scaled, share, size

_OPERATIONS = ("FLOP", "kFLOP", "MFLOP", "GFLOP", "TFLOP", "PFLOP")
_PARAMETERS = ("", "K", "M", "B", "T")  # as models are called: 70 B
_HOUR = 3600
_LEAST_AMOUNT = 0.000001
# What one machine may read from any storage: outside of it something is wrong, or very much better than today.
_ORDINARY = {"bytes/s": (1e5, 1e11), "requests/s": (1.0, 1e6)}
_PLURAL = re.compile(r"(?<=[A-Za-z]{2})s\b")
_ONE_NUMBER = re.compile(r"^([^\d<>]*)([<>]?\d[\d.,]*)(\D*)$")

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
    "FLOP": lambda value: scaled(value, 1000, _OPERATIONS),
    "FLOP/s": lambda value: scaled(value, 1000, tuple(f"{unit}/s" for unit in _OPERATIONS)),
    "requests/s": partial(per_second, unit="requests"),
    "samples/s": partial(per_second, unit="samples"),
    "tokens/s": partial(per_second, unit="tokens"),
    "objects/s": partial(per_second, unit="objects"),
    "opens/s": partial(per_second, unit="opens"),
}


def _amount(value: float) -> str:
    """What is billed; below a millionth of its unit only that is said."""
    return f"<{_LEAST_AMOUNT:f}" if 0 < value < _LEAST_AMOUNT else number(value)


#: How a billing unit is said: the id of its sentence, and how what it counts is written.
_BILLED: Mapping[str, tuple[str, Callable[[float], str]]] = {
    "GiB-month": ("GiB-month", _amount),
    "GiB": ("GiB", _amount),
    "1000 requests": ("thousand-requests", lambda thousands: count(thousands * 1000)),
    "IOPS-month": ("IOPS-month", _amount),
    "hour": ("hour", _amount),
    "(MB/s)-month": ("throughput-month", _amount),
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
    "MB/s per TiB": "rate-per-tib",
    "GiB per TiB": "capacity-per-tib",
}


def in_unit(value: float | None, unit: str) -> str:
    """A number of the model in its base unit, or in the unit it is billed by, as people read it."""
    if unit == "failures per node-second" and value is not None:
        return text("unit.failures-per-node-days", number=number(value * UNITS["failures per 1000 node-days"].divisor))
    if unit in _BILLED and value is not None:
        id_, written = _BILLED[unit]
        return counted(f"billed.{id_}", written(value))
    if unit in _NAMED and value is not None:
        return counted(f"unit.{_NAMED[unit]}", number(value))
    currency, _, per = unit.partition("/")
    if per in _BILLED and unit not in _BY_UNIT and value is not None:
        return text(f"billed-per.{_BILLED[per][0]}", money=text(f"present.money.{currency}", amount=number(value)))
    return _BY_UNIT[unit](value) if unit in _BY_UNIT else f"{number(value)} {unit}".strip()


def quantity(q: Quantity | None, unknown: str = "present.unknown") -> str:
    """The value, and the range where there is one: ``1.2 GB/s (0.8–2 GB/s)``."""
    if q is None:
        return text(unknown)
    value, low, high = (in_unit(number_, q.unit) for number_ in (q.value, q.low, q.high))
    if _only_least(q):
        least = _or_more(low)
        return least if low == value else text("present.value-and-range", value=value, range=least)
    return value if low == high else text("present.value-and-range", value=value, range=between(low, high))


def quantity_range(q: Quantity | None, unknown: str = "present.unknown") -> str:
    """The range alone: ``low–high``; one number where both ends read the same."""
    if q is None:
        return text(unknown)
    low, high = in_unit(q.low, q.unit), in_unit(q.high, q.unit)
    if _only_least(q):
        return _or_more(low)
    return low if low == high else between(low, high)


def _only_least(q: Quantity) -> bool:
    """It has a value, but nobody knows how much more it may be."""
    return math.isinf(q.high) and math.isfinite(q.value) and q.low > 0.0


def _or_more(low: str) -> str:
    """``at least USD 2``; ``USD <0.001 or more``, where that is less than is shown: at least less would be nothing."""
    return text("present.or-more" if "<" in low else "present.at-least", value=low)


def between(low: str, high: str) -> str:
    """``low–high``, with the unit said once where both have the same: ``10–100 MB/s``, ``USD 3–5``."""
    first, last = _ONE_NUMBER.match(low), _ONE_NUMBER.match(high)
    # From one request to five is one unit, too.
    if first and last and first[1] == last[1] and _PLURAL.sub("", first[3]) == _PLURAL.sub("", last[3]):
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
    """A price with all its digits: ``USD 21.957642``, ``USD 0.00003``; a discount leaves none of a float's own."""
    value, low, high = (
        text(f"present.money.{currency}", amount=f"{Decimal(f'{bound:.12g}'):,f}")
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


def trait_value(value: float, unit: str) -> str:
    """A number of the workload as people read it, in the unit of its field."""
    return _STATED[unit](value) if unit in _STATED else in_unit(value, unit)


def _whole_or_not(value: float) -> str:
    return count(value) if value == round(value) else number(value)


#: Where a stated number reads otherwise than one that was worked out.
_STATED: Mapping[str, Callable[[float], str]] = {
    "hours": lambda hours: text("trait.hours", number=number(hours)),
    "parameters": lambda value: scaled(value, 1000, _PARAMETERS).rstrip(),
    **dict.fromkeys(("count", "tokens", "samples"), _whole_or_not),
}
