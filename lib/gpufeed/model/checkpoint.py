"""Saving and restoring: how long it takes on an option, and what of that the GPUs wait for."""

from __future__ import annotations

from gpufeed.facts import Facts
from gpufeed.facts.quantity import Quantity, least
from gpufeed.model import formulas
from gpufeed.model.demand import stall_tolerance
from gpufeed.model.failures import by_definition
from gpufeed.model.recommendation import CheckpointStall, Demand
from gpufeed.model.supply import Bulk
from gpufeed.model.traffic import step_seconds
from gpufeed.model.workload import Workload

_ALL_THE_TIME = Quantity.exact(1.0)


def stall(
    demand: Demand, write: Quantity | None, bulk: Bulk | None, facts: Facts, *, step: Quantity | None = None
) -> CheckpointStall:
    """What saving to an option with this write rate [bytes/s] costs, and how long a restore by large reads takes.

    A synchronous save stops the GPUs until it is written; an asynchronous one only for the copy to host memory, but
    must be written before the next begins: what it takes beyond the interval, the GPUs wait as well.  The share cannot
    be more than all of the time, and no asynchronous interval is advised that a slow save could not be written in, nor
    any that is shorter than a training ``step``.
    """
    size, interval = demand.checkpoint_bytes, demand.checkpoint_interval
    if size is None or write is None:
        return CheckpointStall(None, None, interval, None, None, None, None, None, None)
    save = transfer(size, write, facts)
    waits, blocks, beyond, shortest = save, save, None, 0.0 if step is None else step.value
    if demand.checkpoint_mode == "async":
        blocks, beyond = host_copy(demand, size, facts), _beyond(save, interval)
        shortest = max(shortest, save.high)
        waits = blocks.plus(beyond, "seconds")
    failure = demand.mean_time_to_failure
    best = None if failure is None else max(shortest, formulas.daly_interval(blocks.value, failure.value))
    return CheckpointStall(
        save_seconds=save,
        stall_seconds=waits,
        interval=interval,
        best_interval=best,
        share=least(waits.per(interval, "share"), _ALL_THE_TIME),
        restore_seconds=None if bulk is None else _restore(demand, size, bulk, facts),
        fits_interval=save.value <= interval,
        blocks_seconds=blocks,
        beyond_seconds=beyond,
    )


def _restore(demand: Demand, size: Quantity, bulk: Bulk, facts: Facts) -> Quantity:
    assert demand.restore_bytes is not None  # noqa: S101 - known where the size of the checkpoint is
    return bulk.seconds(demand.restore_bytes, size.value / demand.checkpoint_writers, facts)


def daly_of(stalled: CheckpointStall, demand: Demand) -> float | None:
    """The interval by Daly's formula alone [s], whether or not a slow save is written in it.  References: daly-2006."""
    blocks, failure = stalled.blocks_seconds, demand.mean_time_to_failure
    return None if blocks is None or failure is None else formulas.daly_interval(blocks.value, failure.value)


def best_intervals(demand: Demand, stalled: CheckpointStall, workload: Workload, facts: Facts) -> Quantity | None:
    """The interval that wastes least [s], over the published times between failures; None where it is not known.

    Each publication counts something else as a failure: low and high are those of the most and of the fewest failures.
    References: daly-2006, rsc-reliability.
    """
    best, blocks, save = stalled.best_interval, stalled.blocks_seconds, stalled.save_seconds
    if best is None or blocks is None or save is None:
        return None
    step = step_seconds(workload, demand, facts)
    shortest = max(save.high if demand.checkpoint_mode == "async" else 0.0, 0.0 if step is None else step.value)
    means = [definition.here for definition in by_definition(workload, demand, facts)]
    found = [best, *(max(shortest, formulas.daly_interval(blocks.value, mean.value)) for mean in means)]
    sources = frozenset().union(*(mean.sources for mean in means))
    return Quantity(min(found), best, max(found), "seconds", "assumed", sources)


def outpaced(stalled: CheckpointStall, demand: Demand) -> bool:
    """Whether failures come so often that at no interval more than half of the time is training that counts.

    A save that stops the GPUs for no less than the interval that wastes least; or one that takes as long to be written
    as it takes until something fails: then at most 1 / e × 1 / (e - 1) counts, 21 %.
    """
    best, blocks, save, failure = (
        stalled.best_interval,
        stalled.blocks_seconds,
        stalled.save_seconds,
        demand.mean_time_to_failure,
    )
    if best is None or blocks is None or save is None or failure is None:
        return False
    return blocks.value >= best or (demand.checkpoint_mode == "async" and save.value >= failure.value)


def transfer(size: Quantity, rate: Quantity, facts: Facts) -> Quantity:
    """Seconds until the slowest rank has written or read its part.

    Parameters: bytes, what the option gives [bytes/s].
    Equation: bytes / (rate × share of it that a whole save or restore reaches).
    References: mlperf-storage-checkpoints-v3.0, fsx-gds-blog, megatron-scaling-paper.
    """
    return formulas.whole_checkpoint_seconds(size, rate, facts.model.known("checkpoint_rate_share"))


def host_copy(demand: Demand, size: Quantity, facts: Facts) -> Quantity:
    """Seconds until a checkpoint is in host memory: each rank that saves copies its share.

    Equation: bytes / (GPU-to-host rate × ranks that save).
    """
    return size.per(facts.model.known("host_copy_per_accelerator") * demand.checkpoint_writers, "seconds")


def _beyond(save: Quantity, interval: float) -> Quantity:
    """What of a save reaches into the next interval [s]."""
    low, value, high = (max(0.0, bound - interval) for bound in (save.low, save.value, save.high))
    return Quantity(low, value, high, "seconds", save.basis, save.sources)


def frequent(workload: Workload, on_s3: CheckpointStall, facts: Facts) -> tuple[bool, bool, float | None]:
    """(checkpoints are frequent, restore must be fast, the interval below which they are frequent).

    "Frequent" has no number in the published rule.  A stated word is used as it is; else the interval, stated or
    assumed, is judged on S3, which the rule would use if they were rare: a synchronous save that takes more than the
    tolerated share of the interval, or an asynchronous one that is not written before the next begins.  A restore from
    S3 that misses the stated target makes restore "fast".
    """
    fast = (
        workload.restore_target is not None
        and on_s3.restore_seconds is not None
        and on_s3.restore_seconds.value > workload.restore_target
    )
    if workload.checkpoints is not None:
        return workload.checkpoints == "frequent", fast, None
    if on_s3.save_seconds is None:
        return False, fast, None
    flips_at = on_s3.save_seconds.value
    if (workload.checkpoint_mode or "sync") == "sync":
        flips_at /= stall_tolerance(workload, facts).value
    return on_s3.interval < flips_at, fast, flips_at
