"""The course of a run: what happens before its GPUs are paid for, while they are, and after."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from gpufeed.facts import Facts
from gpufeed.facts.quantity import Quantity
from gpufeed.model.checkpoint_reasons import exports_behind
from gpufeed.model.job import Job, job_of
from gpufeed.model.profile import PrefixProfile
from gpufeed.model.recommendation import WHILE_READING, Recommendation
from gpufeed.model.release import Timeline, timeline
from gpufeed.model.retention import saves_in
from gpufeed.model.rules import EXPRESS, FSX, S3, S3_FILES
from gpufeed.model.traffic import evaluating

BEFORE, DURING, AFTER = "before", "during", "after"
#: What has to be created, and given back in the end.
_CREATED = (FSX, EXPRESS, S3_FILES)


@dataclass(frozen=True, slots=True)
class Step:
    """Message ``course.<id>`` with these parameters.  ``when``: before, during or after the GPUs are paid for.

    ``seconds`` is None where no source says how long it takes.
    """

    id: str
    when: str
    seconds: Quantity | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)

    @property
    def timed(self) -> bool:
        """Deleting is not waited for, and what comes as it is read is part of training."""
        return not self.id.startswith(("delete.", "as-read."))


def course(plan: Recommendation, facts: Facts, profile: PrefixProfile | None = None) -> tuple[Step, ...]:
    """The steps of a plan in their order: create, bring in, train, save, export, prove, release and delete."""
    job, _ = job_of(plan.workload, facts, profile)
    return (*_before(plan, job), *_during(plan, job), *_after(plan, job))


def _before(plan: Recommendation, job: Job) -> Iterator[Step]:
    """Storage stands and holds the data before the GPUs are paid for, in their zone where it lives in one."""
    if plan.workload.data_in_s3 is False:
        yield Step("upload", BEFORE, None, {"bytes": job.run.dataset_bytes})
    for option in _CREATED:
        if option in _used(plan):
            yield Step(f"create.{option}", BEFORE)
    place = plan.placements["training_reads"].lies_on
    first = plan.option(plan.recommended).first_epoch
    seconds = first.bound(first.loading)
    if place != EXPRESS and seconds is None:
        return
    loaded = job.passes.touched if place == FSX and job.passes.touched is not None else job.run.dataset_bytes
    found = {"bytes": loaded}
    if job.run.weights is None or place == S3_FILES:  # which reads large files from the bucket
        yield Step(f"bring-in.{place}", BEFORE, seconds, found)
    else:
        yield Step(f"bring-in-with-weights.{place}", BEFORE, seconds, found | {"weights": job.run.weights})


def _used(plan: Recommendation) -> set[str]:
    """The options that the working data lies on."""
    working = (plan.placements["training_reads"], plan.placements["checkpoints"])
    return {option for placed in working for option in (placed.option, placed.backed_by) if option is not None}


def _during(plan: Recommendation, job: Job) -> Iterator[Step]:
    """The weights, training with what it waits for reads and saves, and each save on its way to S3."""
    yield from _as_read(plan)
    if job.run.weights_read is not None:
        started = plan.option(plan.recommended).bursts.base_model_seconds
        yield Step("weights", DURING, started, {"bytes": job.run.weights_read})
    waits = [line.quantity for line in plan.cost.lines if line.part == "idle-gpu" and line.id != "weights-gpu"]
    hours = Quantity.exact(job.run.hours)
    for waited in waits:
        if waited is not None:
            hours = hours + waited
    seconds = None if None in waits else hours.times(3600.0, "seconds")
    evaluation = evaluating(job.run.evaluation)
    if evaluation is None:
        yield Step("train", DURING, seconds, {"fed": plan.fed})
    else:
        yield Step("train-and-evaluate", DURING, seconds, {"fed": plan.fed, "evaluation": evaluation})
    moments = _moments(plan, job.facts)
    if moments.written is not None:
        found = {"interval": plan.demand.checkpoint_interval, "waits": moments.gpus_continue, "in_s3": moments.in_s3}
        more = {} if moments.every == 1 else {"every": moments.every, "export": moments.export}
        by_hand = plan.placements["checkpoints"].lies_on == EXPRESS
        id_ = "save-and-copy" if by_hand else "save-behind" if more else "save"
        yield Step(id_, DURING, moments.written, found | more)
    yield from _copies(plan, job)


def _as_read(plan: Recommendation) -> Iterator[Step]:
    """That nothing is loaded before, where the first read of each file brings it into what stands before the bucket."""
    first = plan.option(plan.recommended).first_epoch
    if first.load_seconds is None or first.loading is not None:
        return
    if first.way == WHILE_READING:
        yield Step("as-read.waiting", DURING, None, {"waits": first.bound(first.waits_seconds)})
    else:
        yield Step("as-read.in-time", DURING)


def _copies(plan: Recommendation, job: Job) -> Iterator[Step]:
    """What saves leave beyond what is kept, and the bill has: nothing deletes it by itself."""
    placed = plan.placements["checkpoints"]
    place = placed.lies_on
    exporting = placed.configuration if place == FSX else None
    made = saves_in(job.run.training_hours, job.workload, job.demand, job.facts, exporting)
    if made is not None and made.copies > made.kept.value:
        left = {"bytes": made.size.times(made.copies, "bytes"), "billed": made.kept_in_s3_bytes.named("bytes")}
        yield Step(f"delete.copies.{place}", DURING, None, left)


def _moments(plan: Recommendation, facts: Facts) -> Timeline:
    placed = plan.placements["checkpoints"]
    stall, on_s3 = plan.option(placed.option).stall, plan.option(S3).stall
    return timeline(placed.lies_on, placed.configuration, plan.demand, stall=stall, s3=on_s3, facts=facts)


def _after(plan: Recommendation, job: Job) -> Iterator[Step]:
    """The last save reaches S3, that is proven, and what was created is given back."""
    placed = plan.placements["checkpoints"]
    place = placed.lies_on
    moments, behind = _moments(plan, job.facts), exports_behind(place, placed.configuration, job)
    if behind is not None:
        yield Step("export-behind", AFTER, behind.queue, {"every": behind.every, "in_s3": moments.in_s3})
    elif place in _CREATED:
        yield Step(f"export.{place}", AFTER, moments.in_s3)
    for created in _CREATED:
        if created in _used(plan):
            # What holds the data set alone has nothing that is to be proven first.
            data_alone = created == FSX != place
            yield Step(f"delete.{created}{'-data-alone' if data_alone else ''}", AFTER)
    yield Step("delete.scratch", AFTER)
