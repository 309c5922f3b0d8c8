"""What would cost less than the job as it was stated: other settings of the job itself, and what each would save.

A plan takes the job as it is.  Here single settings are changed one by one, and those that matter are named.  It takes
a few evaluations' time, and is done when somebody looks.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from gpufeed.facts import Facts
from gpufeed.facts.quantity import Quantity
from gpufeed.model import copying
from gpufeed.model.advise import recommend
from gpufeed.model.checkpoint_plan import Lost, checkpoint_plan
from gpufeed.model.cost import bill_of, passes_over, sum_of
from gpufeed.model.fsx import GIB
from gpufeed.model.job import Job, job_of
from gpufeed.model.measurement import Measurement
from gpufeed.model.packing import in_shards, packing_cost
from gpufeed.model.paths import NAT, OTHER_REGION
from gpufeed.model.profile import PrefixProfile
from gpufeed.model.recommendation import Reason, Recommendation
from gpufeed.model.rules import EXPRESS, FSX, MOUNTPOINT, S3
from gpufeed.model.upload import MIB, upload_of_saves
from gpufeed.model.weigh import CANNOT_SAVE, least_worth, setting_up


@dataclass(frozen=True, slots=True)
class Alternative:
    """One change.  ``saves`` is for the run, in the plan's currency: None is not priced, or not known to save."""

    reason: Reason
    saves: float | None


def alternatives(
    plan: Recommendation,
    facts: Facts,
    *,
    profile: PrefixProfile | None = None,
    measurement: Measurement | None = None,
) -> tuple[Alternative, ...]:
    """What would save a share worth naming of what the run costs, what saves most first.

    The copy on the instances' own drives is named beside a file system in any case: what it costs is said.
    """
    job, _ = job_of(plan.workload, facts, profile)
    found = [
        *_other_mode(plan, job, profile, measurement),
        *_other_ways(plan, job, profile, measurement),
        *_same_region(plan, job),
        *_packed(plan, job, profile, measurement),
        *_larger_parts(plan, job),
        *_other_interval(plan, job, profile, measurement),
        *_memory_first(plan, job),
        *_as_objects(plan, job),
        *_copied_once(plan, job),
    ]
    return tuple(sorted(found, key=lambda one: -(one.saves or 0.0)))


def what_pays(plan: Recommendation, found: Iterable[Alternative]) -> tuple[Reason, ...]:
    """All there is to say: the alternatives, why others could not be judged, or that none was found."""
    reasons = (*(one.reason for one in found), *unjudged(plan))
    return reasons or (Reason("alternatives-none"),)


def unjudged(plan: Recommendation) -> tuple[Reason, ...]:
    """Why what other ways to save are worth is not known; nothing where all of them were judged."""
    if plan.demand.checkpoint_bytes is None:
        return (Reason("alternatives-without-checkpoint", {"field": ("checkpoint_bytes", "model_parameters")}),)
    if plan.gpu_hour_price is None:
        return (Reason("alternatives-without-gpu-price", {"field": ("gpu_hour_price",)}),)
    if plan.cost.total is None:
        return (Reason("alternatives-not-priced", {"parts": plan.cost.not_priced}),)
    return ()


def _worth_naming(saves: float, plan: Recommendation, job: Job) -> bool:
    """A share of what the run costs, and of what its GPUs cost, and no cents: they are no reason to change a job."""
    total, price, model = plan.cost.total, plan.gpu_hour_price, job.facts.model
    if total is None or price is None:
        return False
    of_gpus = model.known("least_saving").value * price.value * job.run.hours
    return saves > max(model.known("worth_naming").value * total.value, of_gpus, least_worth(job))


def _cheaper(
    changed: Mapping[str, Any],
    plan: Recommendation,
    job: Job,
    profile: PrefixProfile | None,
    measurement: Measurement | None,
    *,
    once: Quantity | None = None,
) -> tuple[Recommendation, dict[str, Any]] | None:
    """The whole plan once more with other traits, and what both cost; None where that saves too little or is not known.

    ``once`` is what the change itself costs.
    """
    traits: Any = changed
    other = recommend(replace(plan.workload, **traits), job.facts, profile=profile, measurement=measurement)
    now, then = plan.cost.total, other.cost.total
    if now is None or then is None:
        return None
    then = then if once is None else then.plus(once, plan.currency)
    saves = now.value - then.value
    if not _worth_naming(saves, plan, job):
        return None
    return other, {"now": now, "then": then, "saves": Quantity.exact(saves, plan.currency)}


def _other_mode(
    plan: Recommendation, job: Job, profile: PrefixProfile | None, measurement: Measurement | None
) -> Iterator[Alternative]:
    """Saving the other way."""
    mode = "sync" if plan.demand.checkpoint_mode == "async" else "async"
    if plan.demand.checkpoint_bytes is None:
        return
    found = _cheaper({"checkpoint_mode": mode}, plan, job, profile, measurement)
    if found is not None:
        other, costs = found
        placed = other.placements["checkpoints"].option
        said = {**costs, "option": placed, "stall": other.option(placed).stall.share}
        yield Alternative(Reason(f"instead-{mode}", said), costs["saves"].value)


#: What lies between instances and bucket, and what could lie there: (field, as stated, instead, id, source).
_WAYS = (
    ("network_path", NAT, "gateway-endpoint", "instead-gateway-endpoint", "s3-gateway-endpoint"),
    ("encryption", "sse-kms", "sse-kms-bucket-key", "instead-bucket-key", "s3-bucket-keys"),
)


def _ways(plan: Recommendation, job: Job) -> Iterator[tuple[str, Any, str, str]]:
    """Settings that cost less and change nothing else of the job: (field, instead, id, source)."""
    for name, stated, instead, id_, source in _WAYS:
        if getattr(plan.workload, name) == stated:
            yield name, instead, id_, source
    requests, stated_prefixes = plan.demand.read_requests_per_s, plan.workload.prefixes
    if requests is not None and stated_prefixes is not None:
        each = job.facts.options[S3].known("read_requests_per_prefix").value
        needed = math.ceil(requests.value * plan.demand.jobs / each)
        if needed > stated_prefixes:
            yield "prefixes", needed, "instead-more-prefixes", "s3-performance"


def _other_ways(
    plan: Recommendation, job: Job, profile: PrefixProfile | None, measurement: Measurement | None
) -> Iterator[Alternative]:
    """Each way to the bucket, each key or layout that costs less, and several of them at once.

    Those that pay one by one; and all there are where that saves more, since one may pay only once another is there.
    A gateway endpoint is free.  To use a bucket key, or another prefix, each object that exists is put again, for both
    only once.
    """

    def tried(settings: Mapping[str, Any], id_: str, source: str | None, said: Mapping[str, Any]) -> Alternative | None:
        once = _once_for(settings, job)
        found = None if once is None else _cheaper(settings, plan, job, profile, measurement, once=once)
        if found is None:
            return None
        other, costs = found
        return Alternative(Reason(id_, {**costs, **said, "option": other.recommended}, source), costs["saves"].value)

    settings: dict[str, Any] = {}
    pays: dict[str, Any] = {}
    best = 0.0
    for name, instead, id_, source in _ways(plan, job):
        settings[name] = instead
        one = tried({name: instead}, id_, source, {name: instead} if name == "prefixes" else {})
        if one is not None:
            pays[name], best = instead, max(best, one.saves or 0.0)
            yield one
    together = None
    for several in [pays] if pays == settings else [pays, settings]:
        if len(several) > 1:
            named = {"settings": tuple(f"{name} = {instead}" for name, instead in several.items())}
            found = tried(several, "instead-all-ways", None, named)
            saves = 0.0 if found is None else found.saves or 0.0
            if several is pays or _worth_naming(saves - best, plan, job):
                together, best = found, max(best, saves)
    if together is not None:
        yield together


def _once_for(names: Iterable[str], job: Job) -> Quantity | None:
    """What it costs to bring these settings about."""
    return Quantity.exact(0.0, job.run.currency) if set(names) <= {"network_path"} else _put_again(job)


def _packed(
    plan: Recommendation, job: Job, profile: PrefixProfile | None, measurement: Measurement | None
) -> Iterator[Alternative]:
    """Small objects packed into shards, which are read in far fewer requests; samples stay as they are.

    Equation: passes until it is paid for = passes of the run × what packing costs / what the run then costs less.
    """
    packed = in_shards(job, profile)
    once = None if packed is None else packing_cost(job, packed)
    passes = passes_over(job.run, job.run.read_bytes)
    if packed is None or once is None or passes is None:
        return
    changed = {name: getattr(packed, name) for name in ("dataset_bytes", "objects", "sample_bytes", "reads")}
    found = _cheaper(changed, plan, job, None, measurement, once=once)
    if found is None:
        return
    other, costs = found
    shards, passes = packed.objects or 1, passes.middle()
    said = {
        **costs,
        "objects": Quantity.exact(job.run.objects, "count"),
        "object_bytes": job.run.object_bytes,
        "shards": Quantity.exact(shards, "count"),
        "bytes": Quantity.exact(job.run.dataset_bytes.value / shards, "bytes"),
        "option": other.recommended,
    }
    if job.run.uploads:
        yield Alternative(Reason("instead-uploaded-in-shards", said, _SHARDS), costs["saves"].value)
        return
    said |= {
        "once": once,
        "passes": Quantity.exact(passes.value),
        "after": Quantity.exact(passes.value * once.value / (costs["saves"].value + once.value)),
        "kept": sum_of(plan.currency, (line for line in plan.cost.lines if line.part == "base")),
    }
    yield Alternative(Reason("instead-packed", said, _SHARDS), costs["saves"].value)


_SHARDS = "s3-data-loading-blog"


def _put_again(job: Job) -> Quantity | None:
    """A PUT of each object; of data that is not in S3 yet there is none to put again."""
    if job.run.uploads:
        return Quantity.exact(0.0, job.run.currency)
    puts = Quantity.exact(job.run.objects)
    return bill_of(job.run, job.facts).line("copy-puts", "requests", S3, "put", puts).amount


def _same_region(plan: Recommendation, job: Job) -> Iterator[Alternative]:
    """The data set copied once into the Region of the instances, where the run reads it across several times.

    Equation: saves = price across × (bytes across − data set) − a PUT for each object.  The price depends on both
    Regions, so without an own one the saving is not known, and the bytes are said.
    """
    line = next((line for line in plan.cost.lines if line.id == "transfer"), None)
    if plan.workload.network_path != OTHER_REGION or line is None or line.quantity is None:
        return
    once = job.run.dataset_bytes / GIB
    if line.quantity.value <= once.value:
        return
    puts, saves = _put_again(job), None
    if line.unit_price is not None and puts is not None:
        saves = line.unit_price.value * (line.quantity.value - once.value) - puts.value
        if not _worth_naming(saves, plan, job):
            return
    said = {
        "across": line.quantity.times(GIB, "bytes"),
        "bytes": job.run.dataset_bytes,
        "saves": None if saves is None else Quantity.exact(saves, plan.currency),
    }
    yield Alternative(Reason("instead-same-region", said), saves)


def _larger_parts(plan: Recommendation, job: Job) -> Iterator[Alternative]:
    """Fewer PUTs for each checkpoint: parts as large as keep every upload of a rank busy, up to a size that is ours.

    Equation: PUTs = saves × ranks × (bytes per rank / part + 2).  References: mountpoint-configuration, boto3-transfer.
    """
    facts, demand = job.facts, plan.demand
    puts = next((line.amount for line in plan.cost.lines if line.id == "checkpoint-puts"), None)
    placed = plan.placements["checkpoints"]
    now, option = upload_of_saves(demand, placed.lies_on, facts), placed.option
    if puts is None or now is None or option not in (S3, EXPRESS, MOUNTPOINT):
        return
    at_once = facts.model.known("checkpoint_parts_in_flight").value
    part = math.floor(min(facts.model.known("large_part_bytes").value, now.file_bytes / at_once) / MIB) * MIB
    if part <= now.part_bytes:
        return
    saves = puts.value * (1.0 - replace(now, part_bytes=part).requests / now.requests)
    if _worth_naming(saves, plan, job):
        found = {
            "part": Quantity.exact(part / MIB, "MiB"),
            "part_now": Quantity.exact(now.part_bytes / MIB, "MiB"),
            "part_bytes": Quantity.exact(part, "count"),
            "puts": puts,
            "saves": Quantity.exact(saves, plan.currency),
            "memory": Quantity.exact(part * at_once, "bytes"),
        }
        yield Alternative(Reason("larger-parts", found, "mountpoint-configuration"), saves)


def _other_interval(
    plan: Recommendation, job: Job, profile: PrefixProfile | None, measurement: Measurement | None
) -> Iterator[Alternative]:
    """The interval that wastes least on the option of the plan: what the plan saves that is made with it."""
    lost = checkpoint_plan(plan, job.facts).placed.lost
    if lost is None or plan.gpu_hour_price is None:
        return
    changed = replace(plan.workload, checkpoint_interval=lost.best_interval)
    other = recommend(changed, job.facts, profile=profile, measurement=measurement)
    then = checkpoint_plan(other, job.facts).placed.lost
    before, after = _with_lost(plan, lost, job), _with_lost(other, then, job)
    if then is None or before is None or after is None:
        return
    saves = before - after
    if _worth_naming(saves, plan, job):
        said = {
            "now_interval": Quantity.exact(plan.demand.checkpoint_interval, "seconds"),
            "interval": lost.best_interval,
            "now": lost.now.lost,
            "then": then.now.lost,
            "saves": Quantity.exact(saves, plan.currency),
        }
        id_ = "instead-interval"
        places = [(it.recommended, it.placements["checkpoints"].option) for it in (plan, other)]
        if places[0] != places[1]:
            id_ = "instead-interval-moves"
            said |= {"reads": other.recommended, "option": places[1][1], "other": places[0][1]}
        yield Alternative(Reason(id_, said, "daly-2006"), saves)


def _with_lost(plan: Recommendation, lost: Lost | None, job: Job) -> float | None:
    """What a plan costs with all that saves and failures lose; the bill knows of that the GPUs that wait for saves."""
    bill = sum_of(plan.currency, (line for line in plan.cost.lines if line.id != "saving-gpu"))
    if lost is None or bill is None or plan.gpu_hour_price is None:
        return None
    return float(bill.value + lost.now.lost.value * job.run.training_hours * plan.gpu_hour_price.value)


#: Keeps a saver of files from an option, and none that puts objects.
_OF_FILES = frozenset({"serves-no-files", "cannot-do-operation"})


def _as_objects(plan: Recommendation, job: Job) -> Iterator[Alternative]:
    """Checkpoints written through the S3 API by a program that reads files: the saver is another program, which renames
    no file and appends to none.
    """
    placed = plan.saving(plan.placements["checkpoints"].option)
    if placed.option in (S3, EXPRESS) or placed.total is None:
        return
    target, found = plan.workload.restore_target, []
    for option in (S3, EXPRESS):
        saving, answer = plan.saving(option), plan.option(option)
        restore = saving.stall.restore_seconds
        out = {reason.id for reason in answer.reasons} & CANNOT_SAVE - _OF_FILES
        late = saving.stall.fits_interval is False or (target and restore is not None and restore.value > target)
        if saving.total is not None and not out and not late:
            saves = placed.total.value - saving.total.value - setting_up(option, plan.recommended, job)
            found.append((saves, saving))
    saves, best = max(found, key=lambda one: one[0], default=(0.0, placed))
    if best is not placed and _worth_naming(saves, plan, job):
        said = {"option": best.option, "then": best.total, "other": placed.option, "now": placed.total}
        yield Alternative(Reason("instead-as-objects", said, "s3-connector-pytorch"), saves)


def _memory_first(plan: Recommendation, job: Job) -> Iterator[Alternative]:
    """Checkpoints in host memory first, at the interval that wastes least then: what less is lost, in GPU hours, than
    with the better of the stated interval and the one that wastes least on the option of the plan.
    """
    found, price = checkpoint_plan(plan, job.facts), plan.gpu_hour_price
    first, lost = found.memory_first, found.placed.lost
    if first is None or lost is None or first.fits is False or price is None:
        return
    now = min(lost.now.lost, lost.best.lost, key=lambda share: share.value)
    saves = (now.value - first.best.lost.value) * job.run.training_hours * price.value
    if _worth_naming(saves, plan, job):
        said = {
            "now": now,
            "then": first.best.lost,
            "interval": first.best_interval,
            "copy": first.copy_seconds,
            "needed": first.bytes_per_node,
            "memory": None if first.memory_per_node is None else Quantity.exact(first.memory_per_node, "bytes"),
            "saves": Quantity.exact(saves, plan.currency),
        }
        yield Alternative(Reason("instead-memory-first", said, "hyperpod-tiered-checkpointing"), saves)


def _copied_once(plan: Recommendation, job: Job) -> Iterator[Alternative]:
    """The data set on every instance's own drives, with its costs at most and least: beside a file system in any case,
    beside any other option where it pays even if the drives give no more than their published random reads.
    """
    copy, reads = plan.copy_once, plan.option(plan.recommended)
    if copy is None or not copy.fits or copy.seconds is None or copy.fed_at_least is None:
        return
    found = {
        "bytes": copy.bytes_per_node,
        "capacity": copy.capacity,
        "seconds": copy.seconds,
        "fed": copy.fed_at_least,
    } | copying.costs(copy, reads)
    cost, now = copy.cost_at_most, reads.cost.beyond_base
    saves = None if cost is None or now is None else max(0.0, now.value - cost.value)
    if reads.option == FSX:
        id_ = "instead-copy-once" if "cost" in found else "instead-copy-once-not-priced"
        yield Alternative(Reason(id_, found, "ec2-instance-specifications"), saves)
    elif saves is not None and _worth_naming(saves, plan, job):
        found["saves"] = Quantity.exact(saves, plan.currency)
        yield Alternative(Reason("instead-copy-once-saves", found, "ec2-instance-specifications"), saves)
