"""What lies in S3 Standard, which asks less for a GiB from so many on: a line for each graduated band."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from gpufeed.facts import Facts
from gpufeed.facts.quantity import Quantity
from gpufeed.model.cost.bill import SHARED, Bill
from gpufeed.model.fsx import GIB
from gpufeed.model.recommendation import CostLine
from gpufeed.model.rules import S3


@lru_cache(maxsize=16)  # the bill of every option has the data set in it
def stored(bill: Bill, line_id: str, part: str, held: Quantity, above: Quantity | None = None) -> tuple[CostLine, ...]:
    """``held`` bytes in S3 Standard for the run, one line for each graduated band that they reach.

    A band is a monthly amount: from ``held`` that lies in it, for as many months as the run lasts.  What lies there
    already (``above``, at its middle) fills the bands before.  What several jobs hold, each its own, goes on top
    together, and each bears its part; a line that they share holds that of all of them already.
    """
    jobs = 1 if SHARED[line_id] else bill.run.jobs
    of_all = held if jobs == 1 else held * jobs
    below = 0.0 if above is None else above.value
    return tuple(
        bill.line(line_id, part, S3, "storage", in_band / jobs * bill.months, at=from_gib)
        for from_gib, in_band in _in_bands(of_all, below, bill.run.region, bill.facts)
    )


def _in_bands(held: Quantity, below: float, region: str, facts: Facts) -> Iterator[tuple[float, Quantity]]:
    """(where it begins [GiB], what of ``held`` lies in it) of each graduated band reached, on top of what is ``below``;
    of the first one in any case.
    """
    rows = facts.price_bands(S3, "storage", region)
    if not rows:
        yield 0.0, held
    for row in rows:
        low, high = row.band_from * GIB, None if row.band_to is None else row.band_to * GIB
        if (low < below + held.high or low <= below) and (high is None or below < high):
            yield row.band_from, _between(held, below, low, high)


def _between(held: Quantity, below: float, low: float, high: float | None) -> Quantity:
    """What of ``held``, which lies on top of ``below``, is between two bounds."""
    if low <= below and (high is None or below + held.high <= high):
        return held

    def within(amount: float) -> float:
        top = below + amount
        return max(0.0, (top if high is None else min(top, high)) - max(below, low))

    return Quantity(within(held.low), within(held.value), within(held.high), "", held.basis, held.sources)
