"""What a whole plan costs for the run: reading, where the checkpoints lie, and the GPUs that wait for either."""

from __future__ import annotations

from collections.abc import Mapping

from gpufeed.facts.quantity import Quantity
from gpufeed.model.cost import bill_of, sum_of, summed
from gpufeed.model.job import Job
from gpufeed.model.recommendation import Cost, CostLine, OptionAnswer, Recommendation, Saving


def plan_cost(reads: OptionAnswer, saves: Saving, job: Job) -> Cost:
    """The bill of the option the reads take, and what the option of the checkpoints adds to it.

    Where the size of a checkpoint is not known it adds nothing, and the bill is that of the reads alone; whoever shows
    it says so.  Left out beside what :mod:`gpufeed.model.cost` leaves out: the copies of key checkpoints and of the
    final model in S3, and work lost to failures.
    """
    bill = bill_of(job.run, job.facts)
    return summed(bill.run.currency, bill.months, (*reads.cost.lines, *saves.lines))


def storage_per_month(plan: Recommendation) -> tuple[Quantity | None, Mapping[tuple[str, str], Quantity | None]]:
    """(sum, each part by option and line) of what the storage of a plan costs a month, with what it then holds.

    Of all jobs together, since it is built for all of them: one bears its part of what they share, and has its own of
    the rest.  None is not priced.
    """
    kept = [line for line in plan.cost.lines if line.part in ("base", "storage")]
    per_month, jobs = plan.cost.months, plan.demand.jobs

    def of(lines: list[CostLine]) -> Quantity | None:
        total = sum_of(plan.currency, lines)
        return None if total is None else (total * jobs / per_month).named(f"{plan.currency}/month")

    rows = dict.fromkeys((str(line.option), line.id) for line in kept)
    return of(kept), {row: of([line for line in kept if (line.option, line.id) == row]) for row in rows}
