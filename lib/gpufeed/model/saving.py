"""What each option stalls and costs as the place of the checkpoints, waiting GPUs included."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from gpufeed.facts.quantity import Quantity
from gpufeed.model import checkpoint
from gpufeed.model.cost import Bill, bill_of, sum_of, waiting, weighed_sum
from gpufeed.model.fsx import Configuration
from gpufeed.model.job import Job
from gpufeed.model.recommendation import CheckpointStall, Cost, CostLine, OptionAnswer, Saving, Supply
from gpufeed.model.retention import Saves, exported, own_file_system, saves_in, saving_lines
from gpufeed.model.rules import FSX, MOUNTPOINT, SYSTEMS
from gpufeed.model.saving_file_system import file_system_for_saves
from gpufeed.model.supply import bulk, supply
from gpufeed.model.traffic import step_seconds


def savings(
    fit: Mapping[str, OptionAnswer],
    shared: OptionAnswer | None,
    job: Job,
    known: Mapping[str, Saving] | None = None,
) -> dict[str, Saving]:
    """Every option as the place of the checkpoints.

    ``shared`` is the file system that serves the training reads and holds the checkpoints as well; None where the reads
    are elsewhere, so that a file system would hold the checkpoints alone.  ``known`` is the same of the job with its
    reads elsewhere: only the file system is another then.
    Left out: the copies of key checkpoints in S3, which every plan has, and work lost to failures.
    """
    bill = bill_of(job.run, job.facts)
    made = _made(job)
    found: dict[str, Saving] = {} if known is None else {**known}
    for option in SYSTEMS if known is None else (FSX,):
        answer = shared if option == FSX and shared is not None else fit[option]
        if made is None:
            found[option] = Saving(option, answer.supply, answer.stall, (), None)
        elif option == MOUNTPOINT and answer.stall.share == found[job.run.mounted].stall.share:
            # A way onto a bucket: the same requests and the same rate cost the same.
            backing = found[job.run.mounted]
            found[option] = replace(backing, option=option, supply=answer.supply, stall=answer.stall)
        elif option != FSX:
            lines = saving_lines(option, made, bill, job.run.mounted, {})
            found[option] = _saving(option, answer.supply, answer.stall, lines, bill)
        elif answer is shared:
            found[option] = _shared(answer, fit[FSX].cost, bill, job)
        else:
            found[option] = _on_its_own(answer, bill, job)
    return found


def _made(job: Job, exporting: Mapping[str, Any] | None = None) -> Saves | None:
    return saves_in(job.run.training_hours, job.workload, job.demand, job.facts, exporting)


def _exported(settings: Mapping[str, Any], bill: Bill, job: Job) -> Iterable[CostLine]:
    """What a file system with these settings exports of the saves of the run."""
    made = _made(job, settings)
    return () if made is None else exported(made, bill)


def _on_its_own(reads: OptionAnswer, bill: Bill, job: Job) -> Saving:
    """A file system for the checkpoints alone."""
    own = file_system_for_saves(job)
    if own is None:
        return Saving(FSX, reads.supply, reads.stall, (), None)
    given = supply(FSX, job.load, job.facts, own)
    large = bulk(FSX, job.bulk, job.facts, own)
    step = step_seconds(job.workload, job.demand, job.facts)
    stall = checkpoint.stall(job.demand, given.write_bytes_per_s, large, job.facts, step=step)
    lines = (own_file_system(own, bill), *_exported(own.settings, bill, job))
    return _saving(FSX, given, stall, lines, bill, own=own)


def _shared(both: OptionAnswer, reads: Cost, bill: Bill, job: Job) -> Saving:
    """The file system of the reads.  It is paid whole and once, so saving there costs what it is dearer by."""
    lines, currency = _exported(both.supply.configuration, bill, job), bill.run.currency
    saving = _saving(FSX, both.supply, both.stall, lines, bill)
    room = _dearer(_paid_for(reads, sum_of), _paid_for(both.cost, sum_of))
    total = None if room is None or saving.total is None else saving.total.plus(room, currency)
    elsewhere = None
    if total is None:
        about = _dearer(_paid_for(reads, weighed_sum), _paid_for(both.cost, weighed_sum))
        elsewhere = None if about is None or saving.weighed is None else saving.weighed.plus(about, currency)
    return replace(saving, room=room, total=total, elsewhere=elsewhere)


def _dearer(alone: Quantity | None, both: Quantity | None) -> Quantity | None:
    """By what the one costs more.  What takes longest to load alone may load sooner with room for more: the bounds can
    turn round.
    """
    if alone is None or both is None:
        return None
    more = [max(0.0, with_it - without) for without, with_it in zip(alone[:3], both[:3], strict=True)]
    return both.bounded(min(more), more[1], max(more), both.unit)


def _paid_for(cost: Cost, sum_: Callable[[str, Iterable[CostLine]], Quantity | None]) -> Quantity | None:
    """What a file system itself costs, for the run and while it is filled before."""
    return sum_(cost.currency, (line for line in cost.lines if line.part in ("storage", "loading")))


def _saving(
    option: str,
    given: Supply,
    stall: CheckpointStall,
    kept: Iterable[CostLine],
    bill: Bill,
    *,
    own: Configuration | None = None,
) -> Saving:
    waits = waiting("saving-gpu", bill.run, None if stall.share is None else stall.share * bill.run.training_hours)
    lines = (*kept, waits)
    total, currency = sum_of(bill.run.currency, lines), bill.run.currency
    elsewhere = weighed_sum(currency, lines) if total is None else None
    return Saving(option, given, stall, lines, total, own=own, elsewhere=elsewhere)
