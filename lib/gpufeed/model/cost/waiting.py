"""GPUs that wait: for reads, in evaluations, at the start for weights; hours × what the cluster costs an hour."""

from __future__ import annotations

from collections.abc import Iterator

from gpufeed.facts.quantity import Quantity
from gpufeed.model import formulas
from gpufeed.model.cost.run import Run
from gpufeed.model.recommendation import CostLine
from gpufeed.model.traffic import waiting_hours


def waiting(line_id: str, run: Run, hours: Quantity | None) -> CostLine:
    """Hours in which the GPUs wait × what the cluster costs an hour.  No such hour costs nothing, at any price."""
    amount, elsewhere, price = None, None, run.gpu_hour_price
    if hours is not None and hours.high == 0.0:
        amount = hours.named(run.currency)
    elif hours is not None and price is not None:
        amount = hours.times(price, run.currency)
    elif hours is not None and run.gpu_price_elsewhere is not None:
        elsewhere = hours.times(run.gpu_price_elsewhere, run.currency)
    block = run.by_capacity_block
    return CostLine(
        line_id, "idle-gpu", "hour", hours and hours.named("hour"), price, amount, elsewhere, by_capacity_block=block
    )


def idle(run: Run, fed: Quantity | None) -> CostLine:
    """GPUs that wait for their samples all through the training."""
    return waiting("idle-gpu", run, None if fed is None else formulas.idle_hours(run.training_hours, fed))


def in_evaluations(run: Run, fed: Quantity | None) -> Iterator[CostLine]:
    """GPUs that wait for what evaluations read, where there are any."""
    if run.evaluation is not None:
        yield waiting("evaluation-gpu", run, waiting_hours(run.training_hours, run.evaluation, fed))


def for_weights(run: Run, seconds: Quantity | None) -> Iterator[CostLine]:
    """GPUs that wait at the start until the weights are on all instances.

    Assumption: once a run.  What a start after a failure reads again is left out, as the work that a failure loses is.
    """
    if run.weights_read is not None:
        yield waiting("weights-gpu", run, None if seconds is None else seconds / 3600.0)
