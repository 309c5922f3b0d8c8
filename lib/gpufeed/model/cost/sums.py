"""The sums over the lines of a bill."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from gpufeed.facts.quantity import Quantity
from gpufeed.model.recommendation import Cost, CostLine

#: What the lines of a bill are summed by.
PARTS = ("base", "storage", "requests", "transfer", "kms", "idle-gpu", "loading")
_NOTHING = Quantity(0.0, 0.0, 0.0)


def summed(currency: str, months: float, lines: tuple[CostLine, ...]) -> Cost:
    """The sums over a bill.  A sum over a line without an amount is None: half a total would look like a whole one."""
    of_part: dict[str, list[Quantity | None]] = {part: [] for part in PARTS}
    for line in lines:
        of_part[line.part].append(line.amount)
    base, own, requests, transfer, kms, idle, loading = (_sum(currency, amounts) for amounts in of_part.values())
    storage, beyond = _sum(currency, (base, own)), _sum(currency, (own, requests, transfer, kms, loading, idle))
    return Cost(
        currency=currency,
        storage_per_month=None if storage is None else storage.per(months, f"{currency}/month"),
        storage=storage,
        requests=requests,
        idle_gpu=idle,
        total=_sum(currency, (beyond, base)),
        beyond_base=beyond,
        transfer=transfer,
        kms=kms,
        loading=loading,
        months=months,
        not_priced=tuple(dict.fromkeys(line.id for line in lines if line.amount is None)),
        lines=lines,
        elsewhere=None if beyond is not None else weighed_sum(currency, (it for it in lines if it.part != "base")),
    )


def sum_of(currency: str, lines: Iterable[CostLine]) -> Quantity | None:
    """What lines come to; None where one is without an amount."""
    return _sum(currency, (line.amount for line in lines))


def weighed_sum(currency: str, lines: Iterable[CostLine]) -> Quantity | None:
    """What lines come to where those without a price here count by the prices of other Regions."""
    return _sum(currency, (line.weighed for line in lines))


def _sum(currency: str, amounts: Iterable[Quantity | None]) -> Quantity | None:
    """Nothing is added to nothing: a part without lines costs 0."""
    total = _nothing(currency)
    for amount in amounts:
        if amount is None:
            return None
        if amount.high:
            total = total.plus(amount, currency) if total.high else amount
    return total if total.unit == currency else total.named(currency)


@lru_cache(maxsize=8)
def _nothing(currency: str) -> Quantity:
    return _NOTHING.named(currency)
