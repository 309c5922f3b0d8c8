"""What a whole plan costs for the run: reading, where the checkpoints lie, and the GPUs that wait for either."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from gpufeed.model.cost import bill_of, summed, waiting
from gpufeed.model.job import Job
from gpufeed.model.recommendation import Cost, CostLine, OptionAnswer
from gpufeed.model.retention import saves_in, saving_lines
from gpufeed.model.rules import FSX


def plan_cost(reads: OptionAnswer, saves: OptionAnswer, job: Job) -> Cost:
    """The bill of the option the reads take, and what the option of the checkpoints adds to it.

    Where the size of a checkpoint is not known it adds nothing, and the bill is that of the reads alone; whoever shows
    it says so.  Left out beside what :mod:`gpufeed.model.cost` leaves out: the copies of key checkpoints and of the
    final model in S3, and work lost to failures.
    """
    bill = bill_of(job.run, job.facts)
    lines = (*reads.cost.lines, *_saving(reads, saves, job))
    return summed(bill.run.currency, bill.months, lines)


def _saving(reads: OptionAnswer, saves: OptionAnswer, job: Job) -> Iterator[CostLine]:
    """A file system is paid whole, and once: it has room for checkpoints where it serves the reads as well."""
    run, stall = job.run, saves.stall.share
    made = saves_in(run.hours, job.workload, job.demand, job.facts)
    if made is None:
        return
    if saves.option != FSX:
        yield from saving_lines(saves.option, made, bill_of(run, job.facts), run.operations, {})
    elif reads.option != FSX:
        for line in saves.cost.lines:
            if line.part == "storage":
                yield replace(line, id=f"checkpoint-{line.id}")
    yield waiting("saving-gpu", run, None if stall is None else stall * run.hours)
