"""What a whole plan costs for the run: reading, where the checkpoints lie, and the GPUs that wait for either."""

from __future__ import annotations

from gpufeed.model.cost import bill_of, summed
from gpufeed.model.job import Job
from gpufeed.model.recommendation import Cost, OptionAnswer, Saving


def plan_cost(reads: OptionAnswer, saves: Saving, job: Job) -> Cost:
    """The bill of the option the reads take, and what the option of the checkpoints adds to it.

    Where the size of a checkpoint is not known it adds nothing, and the bill is that of the reads alone; whoever shows
    it says so.  Left out beside what :mod:`gpufeed.model.cost` leaves out: the copies of key checkpoints and of the
    final model in S3, and work lost to failures.
    """
    bill = bill_of(job.run, job.facts)
    return summed(bill.run.currency, bill.months, (*reads.cost.lines, *saves.lines))
