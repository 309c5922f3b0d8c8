"""What failures and saving cost a run: goodput over the checkpoint interval, and the interval that wastes least."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from gpufeed.facts import Facts
from gpufeed.facts.quantity import Quantity
from gpufeed.model import formulas
from gpufeed.model.recommendation import CheckpointStall, Demand
from gpufeed.model.traffic import step_seconds
from gpufeed.model.workload import Workload

_LARGEST_EXPONENT = 700.0  # e^700 is the last that a float holds


class Shares(NamedTuple):
    """Where the time of a run goes.  The four add up to 1."""

    goodput: float  # training that counts
    saving: float  # GPUs stopped by saves
    rework: float  # training that a failure undid, done again
    restart: float  # from a failure until training goes on


@dataclass(frozen=True, slots=True)
class Losses:
    """What saving and failing cost one job on one option.  Times in seconds."""

    blocks: Quantity  # what each save stops the GPUs for
    lag: Quantity | None  # async: how long a save is no use yet, because it is still being written
    recovery: Quantity  # from a failure until training goes on: restart and restore
    mean_time_to_failure: Quantity
    step: Quantity | None = None  # of training; None: not known

    def shortest_interval(self) -> float:
        """A step, and an asynchronous save has to be written before the next begins, at its slowest too."""
        return max(0.0 if self.lag is None else self.lag.high, 0.0 if self.step is None else self.step.value)


@dataclass(frozen=True, slots=True)
class Goodput:
    """The shares of a run at one interval, each with its range."""

    interval: float
    goodput: Quantity
    saving: Quantity
    rework: Quantity
    restart: Quantity

    @property
    def lost(self) -> Quantity:
        """The share of a run that is no training that counts: all three losses."""
        kept = self.goodput
        return Quantity(1.0 - kept.high, 1.0 - kept.value, 1.0 - kept.low, "share", kept.basis, kept.sources)


def shares(interval: float, blocks: float, lag: float, recovery: float, mean_time_to_failure: float) -> Shares:
    """Where the time goes when a save follows every ``interval`` seconds of training.

    Assumptions: failures come independently (exponentially distributed), also while saving, restarting and restoring.
    What was trained since the last whole save is done again; a save that is still being written does not count.
    Equation: the wall time of one interval is W = M × e^(R/M) × (e^((T + C)/M) − 1); goodput = T / W, saving = C / W,
    restart = 1 − e^(−R/M), rework is the rest.  For M much longer than T: about C/T + T/2M + R/M is lost.
    References: daly-2006.
    """
    mean, wait = mean_time_to_failure, recovery + lag
    period = (interval + blocks) / mean
    undisturbed = math.exp(-wait / mean)
    useful = undisturbed * period / math.expm1(min(period, _LARGEST_EXPONENT))
    after_failures = 1.0 - undisturbed
    restart = after_failures * recovery / wait if wait else 0.0
    goodput, saving = (useful * part / (interval + blocks) for part in (interval, blocks))
    return Shares(goodput, saving, 1.0 - goodput - saving - restart, restart)


def goodput(losses: Losses, interval: float) -> Goodput:
    """The shares at one interval.  Best: the quickest saves and the rarest failures; worst: the other way round.

    What of an asynchronous save reaches into the next interval stops the GPUs as well.
    """

    def at(save: float, lag: float, recovery: float, mean: float) -> Shares:
        return shares(interval, save + max(0.0, lag - interval), lag, recovery, mean)

    lag = losses.lag or Quantity.exact(0.0)
    save, recovery, mean = losses.blocks, losses.recovery, losses.mean_time_to_failure
    best = at(save.low, lag.low, recovery.low, mean.high)
    middle = at(save.value, lag.value, recovery.value, mean.value)
    worst = at(save.high, lag.high, recovery.high, mean.low)
    basis = (save + recovery + mean).basis
    sources = save.sources | recovery.sources | mean.sources | {"daly-2006"}
    parts = (
        Quantity(min(found), found[1], max(found), "share", basis, sources)
        for found in zip(best, middle, worst, strict=True)
    )
    return Goodput(interval, *parts)


def best_interval(losses: Losses) -> float:
    """The interval that wastes least, no shorter than a step, or than an asynchronous save may take to write.

    A little longer costs little; a little too short, and the GPUs wait for each save.
    """
    daly = formulas.daly_interval(losses.blocks.value, losses.mean_time_to_failure.value)
    return max(daly, losses.shortest_interval())


def losses_of(workload: Workload, demand: Demand, stall: CheckpointStall, facts: Facts) -> Losses | None:
    """What a job loses with saves on one option; None where a part is not known."""
    mean, restore = demand.mean_time_to_failure, stall.restore_seconds
    if stall.blocks_seconds is None or restore is None or mean is None:
        return None
    recovery = facts.model.known("restart_overhead").plus(restore, "seconds")
    step = step_seconds(workload, demand, facts)
    lag = stall.save_seconds if demand.checkpoint_mode == "async" else None
    return Losses(stall.blocks_seconds, lag, recovery, mean, step)


def intervals(centres: Sequence[float], points: int = 41) -> list[float]:
    """Intervals to draw a curve over, evenly spaced on a logarithmic axis a decade around ``centres`` [s]."""
    low, high = min(centres) / 10.0, max(centres) * 10.0
    step = (high / low) ** (1.0 / (points - 1))
    return [low * step**index for index in range(points)]
