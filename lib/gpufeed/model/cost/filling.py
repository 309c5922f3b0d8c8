"""Filling an option from the bucket, before the GPUs start or while they read: what either way costs."""

from __future__ import annotations

from collections.abc import Iterator

from gpufeed.facts import Facts
from gpufeed.model.cost.asked import copied_bytes, kept_by_s3_files
from gpufeed.model.cost.bill import Bill, bill_of
from gpufeed.model.cost.run import Run
from gpufeed.model.cost.sums import sum_of, weighed_sum
from gpufeed.model.cost.waiting import waiting
from gpufeed.model.frozen import changed
from gpufeed.model.fsx import GIB, Configuration
from gpufeed.model.recommendation import BEFORE, WHILE_READING, CostLine, FirstEpoch
from gpufeed.model.rules import EXPRESS, FSX, S3_FILES
from gpufeed.model.supply import lies_on


def filling(option: str, run: Run, first: FirstEpoch, facts: Facts, configuration: Configuration | None) -> FirstEpoch:
    """The first epoch with what either way of filling the option costs, and the way that the plan takes.

    Nothing is loaded before where the GPUs surely wait for nothing.  Otherwise the way that costs less at worst: the
    rates are the least certain figures of a plan.  Left out: the small instance that loads, and the calendar time.
    """
    if first.load_seconds is None or (first.waits_seconds is not None and first.waits_seconds.high == 0.0):
        return first
    bill = bill_of(run, facts)
    lines_before, lines_waiting = (
        tuple(filling_lines(way, option, bill, first, configuration)) for way in (BEFORE, WHILE_READING)
    )
    before, waits = weighed_sum(run.currency, lines_before), weighed_sum(run.currency, lines_waiting)
    waiting_is_cheaper = before is not None and waits is not None and waits.high <= before.high
    return changed(
        first,
        load_cost=sum_of(run.currency, lines_before),
        waits_cost=sum_of(run.currency, lines_waiting),
        way=WHILE_READING if waiting_is_cheaper else BEFORE,
    )


def filling_lines(
    way: str | None, option: str, bill: Bill, first: FirstEpoch, configuration: Configuration | None
) -> Iterator[CostLine]:
    """What one way of filling an option costs: its own storage until the GPUs start, or GPUs that wait.

    A file system is paid for whole from its first hour on; the storage of S3 Files and of a directory bucket fills
    evenly, and half of it is paid for on the mean.
    """
    if way == WHILE_READING:
        waits = first.waits_seconds
        line = waiting("first-epoch-gpu", bill.run, None if waits is None else waits.per(3600.0, "hour"))
        yield changed(line, at_most=True) if first.at_most else line
    if way != BEFORE or first.load_seconds is None:
        return
    months = first.load_seconds / 3600.0 / bill.facts.model.known("hours_per_month").value
    filled = lies_on(option, bill.run.mounted)
    if filled in (S3_FILES, EXPRESS):
        held = kept_by_s3_files(bill) if filled == S3_FILES else copied_bytes(bill.run)
        line = bill.line("loading-storage", "loading", filled, "storage", held * months / 2.0)
        yield changed(line, at_most=first.at_most)
    elif configuration is not None:
        held = months * (configuration.capacity_gib * GIB)
        yield bill.line("loading-storage", "loading", FSX, "storage", held, kind=configuration.name)
        if configuration.ordered_iops:
            ordered = months * configuration.ordered_iops
            yield bill.line("loading-metadata-iops", "loading", FSX, "metadata-iops", ordered, kind=configuration.name)
