"""Numbers as people read them: with a unit, three digits where they were worked out, all where they were counted."""

from __future__ import annotations

import math

from gpufeed.facts.messages import catalogue, language, text

_DECIMAL = ("bytes", "KB", "MB", "GB", "TB", "PB", "EB")
_BINARY = ("bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")
_RATES = tuple(f"{unit}/s" for unit in _DECIMAL)
#: Units of these that are words.
_WORDS = {"bytes": "unit.bytes", "bytes/s": "unit.bytes-per-second"}
_BITS = ("bit/s", "kbit/s", "Mbit/s", "Gbit/s", "Tbit/s", "Pbit/s")
_MINUTE, _HOUR, _DAY = 60, 3600, 86400
_LEAST_MONEY = 0.001


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
    """A whole number with all its digits: counts are exact.  A part of one, as on average, is never shown as 0."""
    if value is None:
        return text("present.unknown")
    if math.isinf(value):
        return "∞"
    return "<1" if 0 < value < 1 else f"{round(value):,}"


def size(value: float | None) -> str:
    """Bytes in decimal units: ``13.5 KB``."""
    return scaled(value, 1000, _DECIMAL)


def binary_size(value: float | None) -> str:
    """Bytes in binary units, where AWS counts and bills in them: ``1,200 GiB`` is a file system's capacity."""
    return scaled(value, 1024, _BINARY)


def gibibytes(value: float | None) -> str:
    """Bytes in GiB whatever their size, as FSx for Lustre counts capacity: ``4,800 GiB``."""
    return text("present.unknown") if value is None else f"{value / 2**30:,.0f} GiB"


def rate(value: float | None) -> str:
    """Bytes per second in decimal units: ``1.25 GB/s``."""
    return scaled(value, 1000, _RATES)


def network_rate(value: float | None) -> str:
    """Bytes and bits together, because network cards are sold in bits: ``1.25 GB/s (10 Gbit/s)``."""
    if value is None:
        return text("present.unknown")
    return text("present.bytes-and-bits", of_bytes=rate(value), of_bits=scaled(value * 8, 1000, _BITS))


def per_second(value: float | None, unit: str) -> str:
    """``unit`` is what is counted: requests, samples, tokens, objects."""
    return text("present.unknown") if value is None else counted(f"present.per-second.{unit}", number(value))


def counted(id_: str, shown: str) -> str:
    """A number with what it counts, which has a form of its own for one: ``1 request``, ``2 requests``."""
    one = f"{id_}.one"
    return text(one if shown == "1" and one in catalogue(language()) else id_, number=shown)


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
    """Three digits of an amount in its currency; None is "not priced", which is an answer and not 0.

    Amounts of a bill: below a tenth of a cent only that is said.  A price has all its digits (:func:`list_price`).
    """
    if value is None:
        return text("present.not-priced")
    shown = f"<{number(_LEAST_MONEY)}" if 0 < value < _LEAST_MONEY else number(_three_digits(value))
    return text(f"present.money.{currency}", amount=shown)


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


def _three_digits(value: float) -> float:
    return float(f"{value:.3g}")


def scaled(value: float | None, step: int, units: tuple[str, ...]) -> str:
    if value is None:
        return text("present.unknown")
    power = 0
    # 999.6 KB would print as "1,000 KB": what rounds up to the next unit is shown in it.
    while power < len(units) - 1 and value >= step * (0.9995 if step == 1000 else 1):
        value /= step
        power += 1
    unit = units[power]
    return counted(_WORDS[unit], number(value)) if unit in _WORDS else f"{number(value)} {unit}"
