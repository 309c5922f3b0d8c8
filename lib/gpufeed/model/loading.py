"""Loading from S3 into an option before the GPUs start: calendar time that no bill shows, at a rate that is assumed,
or that is known at its most.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from gpufeed.facts.quantity import Quantity
from gpufeed.model.job import Job
from gpufeed.model.recommendation import WHILE_READING, Caveat, OptionAnswer, Reason
from gpufeed.model.rules import EXPRESS, FSX, S3_FILES

Fit = Mapping[str, OptionAnswer]


def reasons(answer: OptionAnswer, job: Job) -> Iterator[Reason]:
    """Loading that takes, or may take, longer than the run itself."""
    first = answer.first_epoch
    load = first.loading
    if load is not None and load.high > _run_seconds(job):
        # Of an import AWS names the most per file system, of a copy the requests/s: they take at least so long.
        what = {S3_FILES: "import", EXPRESS: "copying"}.get(answer.lies_on, "loading")
        which = f"{what}-exceeds-run" if load.value > _run_seconds(job) else f"{what}-may-exceed-run"
        yield Reason(which, {"seconds": first.bound(load), "hours": Quantity.exact(job.run.hours, "hours")})


def ends_later(other: OptionAnswer, best: OptionAnswer, job: Job) -> bool:
    """Whether an option that loads for longer than the run ends later than another, and does not save enough for it.

    Enough is a share of what the GPUs of the run cost at full speed: those that wait would cost more than the time.
    In the middle: the rate of loading FSx for Lustre is too uncertain for its slow end to decide.
    """
    return ends_sooner_by(best, other, job) is not None and not _worth_the_time(other, best, job)


def ends_sooner_by(one: OptionAnswer, other: OptionAnswer, job: Job) -> Quantity | None:
    """Seconds by which the run ends sooner than on another option that loads for longer than it; None: it does not."""
    load, sooner = other.first_epoch.loading, _takes(other, job) - _takes(one, job)
    if load is None or load.value <= _run_seconds(job) or sooner <= 0.0:
        return None
    return Quantity.exact(sooner, "seconds", load.basis)


def _worth_the_time(other: OptionAnswer, best: OptionAnswer, job: Job) -> bool:
    mine, theirs, price = other.weighed, best.weighed, job.run.weighed_gpu_price
    if mine is None or theirs is None or price is None:
        return False
    enough = job.facts.model.known("ends_later_saves").value * price.value * job.run.training_hours
    return theirs.value - mine.value > enough


def _takes(answer: OptionAnswer, job: Job) -> float:
    """Seconds from the start of loading to the end of the run."""
    first, fed = answer.first_epoch, answer.fed
    training = job.run.training_hours * 3600.0
    reads = training if fed is None else training / fed.value if fed.value else float("inf")
    waits = first.waits_seconds if first.way == WHILE_READING else None
    before = first.loading
    return reads + _run_seconds(job) - training + sum(0.0 if it is None else it.value for it in (before, waits))


def _run_seconds(job: Job) -> float:
    return job.run.hours * 3600.0


def caveats(fit: Fit, reads: str, choose: Callable[[Fit], str] | None, job: Job) -> Iterator[Caveat]:
    """Loading that is longer than the run, and a choice that hangs on the assumed rate of loading FSx for Lustre.

    ``choose`` is None where not the reads by themselves have chosen.
    """
    for reason in reasons(fit[reads], job):
        grave = reason.id.endswith("-exceeds-run")
        yield Caveat(reason.id, {"option": reads} | dict(reason.parameters), grave=grave)
    load = fit[FSX].first_epoch.loading
    if load is None or choose is None:
        return
    fast, slow = choose(_loaded_in(fit, load.low)), choose(_loaded_in(fit, load.high))
    if fast != slow:
        seconds = _where_it_flips(fit, choose, load, fast)
        rate = Quantity.exact(_objects(job) / (seconds * _share_of_data(job)), "objects/s")
        said = {"option": fast, "other": slow, "seconds": load, "flips_at": Quantity.exact(seconds, "seconds")}
        yield Caveat("loading-rate-decides", said | {"rate": rate})


def _objects(job: Job) -> float:
    touched, whole = job.run.touched_bytes, job.run.dataset_bytes.value
    return job.run.objects if touched is None else job.run.objects * min(1.0, touched.value / whole)


def _share_of_data(job: Job) -> float:
    """What of the time of loading the data set takes beside the weights, taken to be its share of the bytes."""
    run = job.run
    if run.weights is None:
        return 1.0
    data = (run.touched_bytes or run.dataset_bytes).value
    return data / (data + run.weights.value)


def _loaded_in(fit: Fit, seconds: float) -> Fit:
    """The same options where FSx for Lustre loads in exactly so long.  Its price of an hour is taken at the middle."""
    answer = fit[FSX]
    first, cost = answer.first_epoch, answer.cost
    load, paid = first.load_seconds, first.load_cost
    beyond = cost.beyond_base
    if load is not None and paid is not None and beyond is not None:
        then = paid.value * seconds / load.value
        low, value, high = (all_ - part + then for all_, part in zip(beyond[:3], paid[:3], strict=True))
        cost = replace(cost, beyond_base=beyond._replace(low=low, value=value, high=high))
    first = replace(first, load_seconds=Quantity.exact(seconds, "seconds"))
    return {**fit, FSX: replace(answer, cost=cost, first_epoch=first)}


def _where_it_flips(fit: Fit, choose: Callable[[Fit], str], load: Quantity, fast: str) -> float:
    """The longest loading [s] within one percent with which the choice is still that of the fast end."""
    low, high = load.low, load.high
    while high > low * 1.01:
        middle = (low * high) ** 0.5
        if choose(_loaded_in(fit, middle)) == fast:
            low = middle
        else:
            high = middle
    return low
