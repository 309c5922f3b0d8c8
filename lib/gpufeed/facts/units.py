"""The units a number in ``data/`` may be written in, and the base unit each one is turned into.

Inside the code there are bytes, seconds, bytes/s and the price list's currency.  Decimal (MB) and binary (MiB) sizes
have different names and are never mixed.  Two kinds of unit stay as they are written, because the formula that uses
them is AWS's own billing or sizing rule: prices per billing unit, and what FSx for Lustre gives per TiB (``fsx.toml``).
"""

from __future__ import annotations

from typing import NamedTuple


class Unit(NamedTuple):
    """``number in base = number × multiplier / divisor``.  Dividing keeps 30 ms exactly 0.03 s."""

    base: str
    multiplier: int = 1
    divisor: int = 1

    def to_base(self, number: float) -> float:
        return number * self.multiplier / self.divisor


_SIZES = {
    "bytes": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12,
    "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40,
}  # fmt: skip

#: Kinds of fact that are not a number.
NON_NUMERIC = {"text": str, "list": list, "bool": bool}

#: What a price is per.  AWS bills a storage "GB" as 2^30 bytes, so it is written GiB here.
BILLING_UNITS = frozenset(
    {
        "GiB-month", "GiB", "1000 requests", "1000000 objects", "1000000 objects-month",
        "IOPS-month", "(MB/s)-month", "hour",
    }
)  # fmt: skip
CURRENCIES = frozenset({"USD", "CNY"})

UNITS: dict[str, Unit] = {
    **{name: Unit("bytes", factor) for name, factor in _SIZES.items()},
    **{f"{name}/s": Unit("bytes/s", factor) for name, factor in _SIZES.items()},
    "Gbit/s": Unit("bytes/s", 10**9, 8),
    "Tbit/s": Unit("bytes/s", 10**12, 8),
    "seconds": Unit("seconds"),
    "ms": Unit("seconds", 1, 1000),
    "minutes": Unit("seconds", 60),
    "hours": Unit("seconds", 3600),
    "days": Unit("seconds", 86400),
    "hours/month": Unit("hours/month"),
    "requests/s": Unit("requests/s"),
    "IOPS": Unit("requests/s"),
    "objects/s": Unit("objects/s"),
    "samples/s": Unit("samples/s"),
    "TFLOP/s": Unit("FLOP/s", 10**12),
    "share": Unit("share"),
    "%": Unit("share", 1, 100),
    "ratio": Unit("ratio"),
    "count": Unit("count"),
    "instances": Unit("instances"),
    "GPUs": Unit("GPUs"),
    "bytes/parameter": Unit("bytes/parameter"),
    "bytes/token": Unit("bytes/token"),
    "failures per 1000 node-days": Unit("failures per node-second", 1, 1000 * 86400),
    "operations per IOPS": Unit("operations per IOPS"),
    # FSx for Lustre: MB/s = StorageCapacity in GiB / 1000 × MB/s per TiB.
    "MB/s per TiB": Unit("MB/s per TiB"),
    "GiB per TiB": Unit("GiB per TiB"),
    **{f"{currency}/{per}": Unit(f"{currency}/{per}") for currency in CURRENCIES for per in BILLING_UNITS},
}
