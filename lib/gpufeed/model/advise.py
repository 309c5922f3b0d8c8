"""From a workload to a plan: the published rule, the model and a measurement side by side, per data role."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from gpufeed.facts import Facts
from gpufeed.facts.quantity import Quantity
from gpufeed.model import checkpoint, formulas, fsx
from gpufeed.model.cost import Run, cost
from gpufeed.model.demand import demand as demand_of
from gpufeed.model.demand import stall_tolerance
from gpufeed.model.measurement import Measurement
from gpufeed.model.profile import PrefixProfile
from gpufeed.model.recommendation import (
    Caveat,
    Demand,
    OptionAnswer,
    Placement,
    Reason,
    Recommendation,
    Supply,
)
from gpufeed.model.rules import (
    EXPRESS,
    FSX,
    MOUNTPOINT,
    NVME,
    S3,
    S3_FILES,
    SYSTEMS,
    RuleAnswer,
    Traits,
    published_rule,
    traits_of,
)
from gpufeed.model.supply import Load, mountpoint_backing, small_threshold, supply
from gpufeed.model.workload import Workload

DEFAULT_REGION = "us-east-1"


@dataclass(frozen=True, slots=True)
class _Job:
    """Everything about the job that the options are judged by."""

    workload: Workload
    facts: Facts
    region: str
    demand: Demand
    load: Load  # training reads
    bulk: Load  # checkpoints: large parts, all ranks at once
    run: Run


def recommend(
    workload: Workload,
    facts: Facts,
    *,
    profile: PrefixProfile | None = None,
    measurement: Measurement | None = None,
) -> Recommendation:
    """The plan for one workload.  ``profile`` replaces the stated layout; ``measurement`` decides where it may.

    The model overrides the published rule only where its choice is cheaper both in the middle and in the worst case,
    idle GPUs included.  A measurement overrides the model only when it was sustained, cold, not limited by the client,
    and taken on the same option, object sizes and number of nodes.
    """
    job, warnings = _job(workload, facts, profile)
    judged = {option: _judge(option, job, measurement) for option in SYSTEMS}
    frequent, fast_restore, flips_at = checkpoint.frequent(workload, judged[S3].stall, facts)
    if flips_at is not None:
        warnings.append(Caveat("frequency-derived", {"frequent": frequent, "interval": flips_at}))
    traits = traits_of(
        workload,
        job.demand.accelerators,
        facts,
        frequent=frequent,
        fast_restore=fast_restore,
        many_small_files=_many_small_files(job, judged[S3]),
    )
    rule = published_rule(traits, facts)
    fit = {option: _fitness(answer, traits, job) for option, answer in judged.items()}
    model = _cheapest(fit, rule)
    used_as = _used_as(measurement, model, job)
    reads = model
    answers = tuple(_compared(fit[option], fit[reads], option == reads) for option in SYSTEMS)
    placements = {
        "dataset": _simple("dataset", S3, "durable-base"),
        "training_reads": _training_reads(reads, rule, fit, used_as=used_as, measurement=measurement, job=job),
        "checkpoints": _checkpoints(rule, fit, frequent or fast_restore, job),
        "key_checkpoints": _simple("key_checkpoints", S3, "durable-base", "sync-key-checkpoints"),
        "scratch": _scratch(reads, job),
    }
    return Recommendation(
        workload=workload,
        region=job.region,
        currency=job.run.currency,
        rule=rule,
        demand=job.demand,
        options=answers,
        placements=placements,
        fed=fit[reads].fed,
        gpu_hour_price=job.run.gpu_hour_price,
        warnings=(*job.demand.warnings, *warnings, *_measurement_warnings(measurement, used_as)),
    )


def _job(workload: Workload, facts: Facts, profile: PrefixProfile | None) -> tuple[_Job, list[Caveat]]:
    asked = demand_of(workload, facts, profile)
    warnings: list[Caveat] = []
    region = workload.region or DEFAULT_REGION
    if workload.region is None:
        warnings.append(Caveat("default-region", {"region": region}))
    part = facts.model.known("part_bytes")
    object_bytes = asked.object_bytes or part
    request_bytes = asked.request_bytes or part
    if asked.object_bytes is None:
        warnings.append(Caveat("no-object-size", {"bytes": part.value}))
    s3_network, file_network, efa_network = _network(workload, facts)
    if s3_network is None:
        warnings.append(Caveat("network-unknown"))
    load = Load(
        nodes=workload.instances,
        request_bytes=request_bytes,
        object_bytes=object_bytes,
        in_flight=asked.in_flight,
        writers=asked.accelerators * facts.model.known("checkpoint_parts_in_flight").value,
        prefixes=asked.prefixes,
        s3_network=s3_network,
        file_network=file_network,
        efa_network=efa_network,
        operations=frozenset(workload.file_operations),
    )
    bulk = replace(load, request_bytes=part, object_bytes=part * 2.0, in_flight=load.writers)
    run = _run(workload, asked, facts, region=region, profile=profile, warnings=warnings)
    return _Job(workload, facts, region, asked, load, bulk, run), warnings


def _network(workload: Workload, facts: Facts) -> tuple[Quantity | None, Quantity | None, Quantity | None]:
    """bytes/s of one node towards S3, towards a file system, and over EFA towards FSx for Lustre; None: not known."""
    if workload.instance_type is None:
        return None, None, None
    instance = facts.instances[workload.instance_type]
    total = instance.quantity("total_network")
    # A type is taken to reach FSx for Lustre over EFA only where a source names it.
    by_efa = workload.instance_type in (facts.options[FSX].get_value("gds_clients") or ())
    return (
        instance.quantity("s3_network") or total,
        instance.quantity("ena_network") or total,
        total if by_efa else None,
    )


def _run(
    workload: Workload,
    asked: Demand,
    facts: Facts,
    *,
    region: str,
    profile: PrefixProfile | None,
    warnings: list[Caveat],
) -> Run:
    hours = workload.run_hours
    if hours is None:
        default = facts.model.known("run_hours")
        hours = default.value / 3600.0
        warnings.append(Caveat("default-run-hours", {"hours": hours}))
    dataset = _dataset_bytes(workload, asked, facts, profile, warnings)
    object_bytes = asked.object_bytes or facts.model.known("part_bytes")
    objects = workload.objects or max(1.0, dataset.value / object_bytes.value)
    if profile is not None and profile.objects:
        objects = profile.objects
    seconds = hours * 3600.0
    price = None
    if workload.instance_type is not None:
        each = facts.instance_price(workload.instance_type, region)
        price = None if each is None else (each * workload.instances).named("per hour")
    if price is None:
        warnings.append(Caveat("gpu-not-priced", {"region": region}))
    return Run(
        region=region,
        currency=facts.regions[region].get_value("currency"),
        hours=hours,
        dataset_bytes=dataset,
        objects=float(objects),
        object_bytes=object_bytes,
        read_bytes=None if asked.read_bytes_per_s is None else asked.read_bytes_per_s * seconds,
        requests=None if asked.read_requests_per_s is None else asked.read_requests_per_s * seconds,
        gpu_hour_price=price,
        operations=frozenset(workload.file_operations),
    )


def _dataset_bytes(
    workload: Workload, asked: Demand, facts: Facts, profile: PrefixProfile | None, warnings: list[Caveat]
) -> Quantity:
    if profile is not None and profile.objects:
        return Quantity.exact(float(profile.bytes), "bytes", "measured")
    if workload.dataset_bytes is not None:
        return Quantity.exact(workload.dataset_bytes, "bytes")
    if workload.objects is not None and asked.object_bytes is not None:
        return (asked.object_bytes * workload.objects).named("bytes")
    lora = workload.task in ("lora", "qlora")
    default = (facts.workloads["lora"] if lora else facts.model).known("dataset_bytes")
    warnings.append(Caveat("default-dataset", {"bytes": default.value}))
    return default


def _judge(option: str, job: _Job, measurement: Measurement | None) -> OptionAnswer:
    """Supply, how fed, stall and cost of one option; what it is worth against the others comes later."""
    configuration = _configuration(job) if option == FSX else None
    if option == FSX and configuration is None:
        given = Supply(option, {}, None, None, None)
        restore = None
    else:
        given = supply(option, job.load, job.facts, configuration)
        restore = supply(option, job.bulk, job.facts, configuration).read_bytes_per_s
    given = _measured_supply(given, job, measurement)
    fed = None
    if given.read_bytes_per_s is not None and job.demand.read_bytes_per_s is not None:
        fed = formulas.fed(given.read_bytes_per_s, job.demand.read_bytes_per_s)
    return OptionAnswer(
        option=option,
        verdict="works",
        reasons=(),
        supply=given,
        fed=fed,
        stall=checkpoint.stall(job.demand, given.write_bytes_per_s, restore, job.facts),
        cost=cost(option, job.run, fed, job.facts, configuration),
    )


def _configuration(job: _Job) -> fsx.Configuration | None:
    """The cheapest file system that holds the data and meets the demand; None where the region has none."""
    read = job.demand.read_bytes_per_s
    write = job.demand.checkpoint_write_bytes_per_s
    opens = job.demand.read_requests_per_s if job.load.opens_an_object else None
    rate = 0.0 if read is None else read.value
    need = fsx.Need(
        holds_bytes=job.run.dataset_bytes.value,
        read_bytes_per_s=rate,
        write_bytes_per_s=0.0 if write is None else write.value,
        opens_per_s=0.0 if opens is None else opens.value,
        efa=job.load.efa_network is not None and rate > job.facts.options[FSX].known("efa_above").value,
    )
    return fsx.cheapest(need, job.region, job.facts)


def _measured_supply(given: Supply, job: _Job, measurement: Measurement | None) -> Supply:
    """A deciding measurement replaces the model's rate; any other on the same option replaces the request time."""
    if measurement is None:
        return given
    used_as = measurement.used_as(given.option, job.load.object_bytes.value, job.load.nodes)
    rate = measurement.read_bytes_per_s
    if used_as != "decision" or rate is None:
        return given
    return replace(given, read_bytes_per_s=Quantity.exact(rate, "bytes/s", "measured"), limited_by="measured")


def _many_small_files(job: _Job, on_s3: OptionAnswer) -> bool:
    """Small: below the size where waiting is half of the time.  Many: requests, not bytes, starve the GPUs."""
    size = job.demand.object_bytes
    starved = on_s3.fed is not None and on_s3.fed.value < 1.0
    by_requests = on_s3.supply.limited_by in ("request-latency", "request-limit")
    return size is not None and size.value < small_threshold(S3, job.facts).value and starved and by_requests


def _fitness(answer: OptionAnswer, traits: Traits, job: _Job) -> OptionAnswer:
    """Rule an option out for what it cannot do, and say what it does badly."""
    option, facts = answer.option, job.facts
    out: list[Reason] = []
    but: list[Reason] = []
    chosen = facts.options[option]
    available = facts.regions[job.region].get_value(option)
    if available is False or (option == FSX and answer.supply.read_bytes_per_s is None):
        out.append(Reason("not-in-region", {"region": job.region}, _source(facts.regions[job.region], option)))
    elif available is None:
        but.append(Reason("region-unknown", {"region": job.region}))
    if traits.wants_files and not set(chosen.get_value("interfaces")) & {"posix", "file-paths"}:
        out.append(Reason("serves-no-files", {}, _source(chosen, "interfaces")))
    operations = _operations(option, traits, facts)
    cannot = sorted(traits.operations - operations)
    out += [Reason("cannot-do-operation", {"operation": name}, _source(chosen, "operations")) for name in cannot]
    if traits.object_interface and option not in (S3, EXPRESS):
        but.append(Reason("not-the-s3-api"))
    if option in (S3_FILES, MOUNTPOINT) and traits.complex_posix:
        but.append(Reason("not-for-complex-posix", {}, "aws-china-summit-2026"))
    if option != FSX and (traits.frequent or traits.fast_restore):
        but.append(Reason("not-for-frequent-checkpoints", {}, "aws-china-summit-2026"))
    if option == FSX and traits.avoid_parallel:
        but.append(Reason("parallel-file-system-not-wanted"))
    if answer.fed is not None and answer.fed.value < 1.0:
        but.append(Reason("starves", {"fed": answer.fed, "limit": answer.supply.limited_by}))
    verdict = "ruled-out" if out else "works-but" if but else "works"
    return replace(answer, verdict=verdict, reasons=(*out, *but))


def _operations(option: str, traits: Traits, facts: Facts) -> frozenset[str]:
    """What an option can do; Mountpoint is backed by Express where renames or appends are needed."""
    section = facts.options[option]
    if option == MOUNTPOINT and traits.operations:
        return frozenset(section.parts[EXPRESS].get_value("operations_with_flags"))
    return frozenset(section.get_value("operations") or ())


def _source(section: Any, name: str) -> str | None:
    fact = section.get(name)
    return fact.sources[0] if fact is not None and fact.sources else None


def _cheapest(fit: Mapping[str, OptionAnswer], rule: RuleAnswer) -> str:
    """The model's own choice for training reads; the rule's option unless another is better beyond doubt."""
    chosen = _best_of_rule(fit, rule)
    best = fit[chosen]
    for option in SYSTEMS:
        other = fit[option]
        if other.verdict == "ruled-out" or (other.verdict == "works-but" and not _only_starves(other)):
            continue
        if best.verdict == "ruled-out" or _beats(other, best):
            best = other
    return best.option


def _best_of_rule(fit: Mapping[str, OptionAnswer], rule: RuleAnswer) -> str:
    """The rule's option, or where that is ruled out the first that it also allows."""
    open_ones = [option for option in (rule.option, *rule.also_allowed) if fit[option].verdict != "ruled-out"]
    return open_ones[0] if open_ones else rule.option


def _only_starves(answer: OptionAnswer) -> bool:
    return all(reason.id == "starves" for reason in answer.reasons)


def _beats(other: OptionAnswer, best: OptionAnswer) -> bool:
    """Cheaper in the middle and in the worst case, idle GPUs included; without prices, only fed better beyond doubt."""
    mine, theirs = other.cost.beyond_base, best.cost.beyond_base
    if mine is not None and theirs is not None:
        return mine.value < theirs.value and mine.high <= theirs.high
    if other.fed is not None and best.fed is not None:
        return other.fed.low > best.fed.high
    return False


def _compared(answer: OptionAnswer, best: OptionAnswer, is_best: bool) -> OptionAnswer:
    """Why this one is the answer, or by how much it is slower or dearer than the answer."""
    if is_best:
        return replace(answer, verdict="recommended", reasons=(*_praise(answer), *answer.reasons))
    if answer.verdict == "ruled-out":
        return answer
    more: list[Reason] = []
    if answer.fed is not None and best.fed is not None and answer.fed.value < best.fed.value:
        more.append(Reason("slower", {"fed": answer.fed, "best": best.fed, "option": best.option}))
    mine, theirs = answer.cost.beyond_base, best.cost.beyond_base
    if mine is None:
        more.append(Reason("not-priced", {"parts": answer.cost.not_priced}))
    elif theirs is not None and mine.value > theirs.value:
        difference = mine.value - theirs.value
        more.append(Reason("dearer", {"amount": difference, "currency": answer.cost.currency, "option": best.option}))
    verdict = "works-but" if answer.reasons or any(reason.id != "not-priced" for reason in more) else "works"
    return replace(answer, verdict=verdict, reasons=(*answer.reasons, *more))


def _praise(answer: OptionAnswer) -> Iterable[Reason]:
    if answer.fed is None:
        yield Reason("fed-unknown")
    elif answer.fed.value >= 1.0:
        yield Reason("feeds", {"fed": answer.fed})
    if answer.supply.limited_by is not None:
        yield Reason("limited-by", {"limit": answer.supply.limited_by, "bytes_per_s": answer.supply.read_bytes_per_s})


def _simple(role: str, option: str, *reasons: str) -> Placement:
    return Placement(
        role, option, None, {}, "rule", option, option, reasons=tuple(Reason(reason) for reason in reasons)
    )


def _backing(option: str, job: _Job) -> str | None:
    if option == MOUNTPOINT:
        return mountpoint_backing(job.load.operations)
    return S3 if option in (FSX, S3_FILES) else None


def _used_as(measurement: Measurement | None, option: str, job: _Job) -> str | None:
    if measurement is None or measurement.read_bytes_per_s is None:
        return None
    return measurement.used_as(option, job.load.object_bytes.value, job.load.nodes)


def _training_reads(
    option: str,
    rule: RuleAnswer,
    fit: Mapping[str, OptionAnswer],
    *,
    used_as: str | None,
    measurement: Measurement | None,
    job: _Job,
) -> Placement:
    decided_by = "rule" if option == rule.option else "model"
    if used_as == "decision":
        decided_by = "measured"
    reasons = [Reason(f"rule-{rule.verdict}", {"option": rule.option})]
    if option != rule.option:
        reasons.append(Reason("model-beats-rule", {"option": option, "rule": rule.option}))
    return Placement(
        role="training_reads",
        option=option,
        backed_by=_backing(option, job),
        configuration=fit[option].supply.configuration,
        decided_by=decided_by,
        rule=rule.option,
        model=option if job.demand.read_bytes_per_s is not None else None,
        measured=None if measurement is None else measurement.conditions.option,
        measured_used_as=used_as,
        reasons=tuple(reasons),
    )


def _checkpoints(rule: RuleAnswer, fit: Mapping[str, OptionAnswer], frequent: bool, job: _Job) -> Placement:
    """Where frequent saves go.  The rule: frequent or fast to restore → FSx for Lustre, rare → S3 can hold them.

    The model keeps S3 while saving there costs no more than the tolerated share; otherwise it takes the option that can
    hold them and stalls least.
    """
    by_rule = FSX if frequent or rule.option == FSX or "posix" in rule.rules else S3
    if fit[by_rule].verdict == "ruled-out":
        by_rule = S3
    tolerance = stall_tolerance(job.workload, job.facts).value
    model: str | None = None
    if fit[by_rule].stall.share is not None:
        model = by_rule
        if not _saves_well(fit[by_rule], tolerance, job):
            able = [option for option in SYSTEMS if _can_hold_checkpoints(fit[option])]
            timed = [(share.value, option) for option in able if (share := fit[option].stall.share) is not None]
            model = min(timed)[1] if timed else by_rule
    option = model or by_rule
    stall = fit[option].stall
    reasons = [Reason("checkpoints-frequent" if frequent else "checkpoints-rare")]
    if stall.share is not None:
        reasons.append(Reason("stall-share", {"share": stall.share, "interval": stall.interval}))
    if stall.best_interval is not None:
        reasons.append(Reason("best-interval", {"interval": stall.best_interval}))
    configuration = fit[option].supply.configuration
    return Placement(
        role="checkpoints",
        option=option,
        backed_by=_backing(option, job),
        configuration=configuration,
        decided_by="rule" if option == by_rule else "model",
        rule=by_rule,
        model=model,
        reasons=tuple(reasons),
        mode=job.demand.checkpoint_mode,
        interval=stall.interval,
    )


def _can_hold_checkpoints(answer: OptionAnswer) -> bool:
    """Not ruled out, and nothing said against it that bears on saving."""
    harmless = {"starves", "not-for-frequent-checkpoints", "region-unknown"}
    return answer.verdict != "ruled-out" and all(reason.id in harmless for reason in answer.reasons)


def _saves_well(answer: OptionAnswer, tolerance: float, job: _Job) -> bool:
    stall = answer.stall
    in_time = stall.fits_interval is not False
    target = job.workload.restore_target
    restores = target is None or stall.restore_seconds is None or stall.restore_seconds.value <= target
    return in_time and restores and stall.share is not None and stall.share.value <= tolerance


def _scratch(reads: str, job: _Job) -> Placement:
    """Caches and intermediates: the instance's own NVMe where it has some, else the file system in use."""
    instance = job.facts.instances[job.workload.instance_type] if job.workload.instance_type else None
    has_nvme = instance is not None and instance.quantity("nvme_drives") is not None
    option = NVME if has_nvme or reads != FSX else FSX
    reason = "nvme-in-instance" if has_nvme else "nvme-unknown" if option == NVME else "scratch-on-file-system"
    placed = _simple("scratch", option, "temporary", reason)
    return replace(placed, delete_when="job-ends")


def _measurement_warnings(measurement: Measurement | None, used_as: str | None) -> list[Caveat]:
    if measurement is None:
        return []
    return [Caveat(f"measurement-{used_as or 'shown-only'}")]
