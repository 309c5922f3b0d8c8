"""What one option is worth to a job on its own."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from gpufeed.facts.catalogue import Section
from gpufeed.facts.quantity import Quantity
from gpufeed.model import checkpoint, epochs, formulas, fsx, limits, loading, paths, traffic
from gpufeed.model.cost import cost, filling
from gpufeed.model.file_system_need import need_of
from gpufeed.model.job import Job
from gpufeed.model.measurement import Measurement
from gpufeed.model.recommendation import CheckpointStall, OptionAnswer, Reason, Supply
from gpufeed.model.rules import EXPRESS, FSX, MOUNTPOINT, S3, S3_FILES, Traits
from gpufeed.model.saving_file_system import file_system_with_waiting
from gpufeed.model.supply import (
    BY_TIME,
    Bulk,
    Load,
    bulk,
    calibrated,
    lies_on,
    served_by,
    small_threshold,
    supply,
)


class Judged(NamedTuple):
    """One option on its own, and what it gives to large reads, such as a restore; None: it gives nothing."""

    answer: OptionAnswer
    large: Bulk | None


def judge(option: str, job: Job, measurement: Measurement | None, *, saves: bool = False) -> Judged:
    """Supply, how fed, stall and cost of one option; what it is worth against the others comes later.

    A file system is sized for the training reads, and with ``saves`` to hold the checkpoints as well.
    """
    if option != FSX:
        return _judged(option, job, measurement, None)
    sizes = [
        _judged(FSX, job, measurement, _configuration(job, share, saves=saves))
        for share in epochs.shares_to_size_for(job.passes)
    ]
    return min(sizes, key=lambda one: math.inf if one.answer.weighed is None else one.answer.weighed.value)


def reads_alike(one: Job, other: Job) -> bool:
    """Whether two jobs differ in their checkpoints at most, so that all but saving and restoring is judged the same."""
    mine, its = one.demand, other.demand
    return (
        (one.region, one.load, one.bulk, one.run) == (other.region, other.load, other.bulk, other.run)
        and (one.passes, one.traffic) == (other.passes, other.traffic)
        and (mine.read_bytes_per_s, mine.accelerators) == (its.read_bytes_per_s, its.accelerators)
        and (one.workload.reads, one.workload.instance_type) == (other.workload.reads, other.workload.instance_type)
    )


def with_saves_of(judged: Judged, job: Job) -> Judged:
    """What was judged for a job whose reads are alike, with the saves and restores of this one."""
    answer, large = judged
    return Judged(replace(answer, stall=_stall(answer.supply, large, job)), large)


def _stall(given: Supply, large: Bulk | None, job: Job) -> CheckpointStall:
    step = traffic.step_seconds(job.workload, job.demand, job.facts)
    return checkpoint.stall(job.demand, given.write_bytes_per_s, large, job.facts, step=step)


def _judged(option: str, job: Job, measurement: Measurement | None, configuration: fsx.Configuration | None) -> Judged:
    if option == FSX and configuration is None:
        given = Supply(option, {}, None, None, None)
        large = None
    else:
        given = supply(option, job.load, job.facts, configuration)
        large = bulk(option, job.bulk, job.facts, configuration)
    given = _measured_supply(given, job, measurement)
    own = None
    if given.read_bytes_per_s is not None and job.demand.read_bytes_per_s is not None:
        own = formulas.fed(given.read_bytes_per_s, job.demand.read_bytes_per_s)
    later = epochs.later_epochs(given, own, job.demand, job.passes, facts=job.facts, configuration=configuration)
    fed = epochs.fed_over_run(own, later, job.passes)
    # What memory spares of requests to S3 itself is not deducted: its price should not decide against plain S3.
    bursts = traffic.bursts(given, large, job.traffic, job.facts, lies_on(option, job.load.mounted))
    own_storage = option == S3_FILES and served_by(option, job.load, job.facts) == S3_FILES
    run = job.run.read_less(epochs.share_read(later, job.passes)) if own_storage else job.run
    first = epochs.first_epoch(
        given,
        own,
        job.demand,
        job.passes,
        job.load,
        facts=job.facts,
        configuration=configuration,
        run_seconds=job.run.training_hours * 3600.0,
        weights=job.run.weights,
        bulk=None if large is None else large.rate,
    )
    first = filling(option, run, first, job.facts, configuration)
    waited = {"evaluation_fed": bursts.evaluation_fed, "weights_seconds": bursts.base_model_seconds}
    answer = OptionAnswer(
        option=option,
        verdict="works",
        reasons=() if configuration is None else fsx.said_with_the_plan(configuration),
        supply=given,
        fed=own if later is None else later.fed,
        stall=_stall(given, large, job),
        cost=cost(option, run, fed, job.facts, configuration, first=first, **waited),
        first_epoch=first,
        later_epochs=later,
        bursts=bursts,
        backed_by=job.load.mounted if option == MOUNTPOINT else None,
    )
    return Judged(answer, large)


def _configuration(job: Job, share: float, *, saves: bool) -> fsx.Configuration | None:
    """The cheapest file system that holds the data and serves this share of the reads; None where the region has none.

    The GPUs that wait at the start for weights count with its price, and with ``saves`` those that wait for them.  The
    first epoch is no reason for a faster one: it is brought in before.
    """
    return file_system_with_waiting(need_of(job, share, saves=saves), job, saves=saves)


def used_for(measurement: Measurement, option: str, load: Load) -> str:
    """What a measurement may be for a question about this option and load: "decision", "calibration", "shown-only"."""
    network = load.file_network if option in (FSX, S3_FILES) else load.s3_network
    return measurement.used_as(
        option,
        load.object_bytes.value,
        load.nodes * load.jobs,
        in_flight=in_flight(load),
        network_bytes_per_s=None if network is None else network.value,
    )


def in_flight(load: Load) -> float:
    """Reads under way at once, all jobs together."""
    each = load.in_flight
    return (each.value if isinstance(each, Quantity) else each) * load.jobs


def _measured_supply(given: Supply, job: Job, measurement: Measurement | None) -> Supply:
    """A deciding measurement replaces the model's rate; any other on the same option replaces the request time.

    A rate that took more requests in flight than the job has is no more than those requests bring.
    """
    if measurement is None or given.read_bytes_per_s is None:
        return given
    use, alone = used_for(measurement, given.option, job.load), measurement.least_queued
    if use == "shown-only":
        return given
    scaled = given if alone is None else calibrated(given, job.load, *alone, job.facts)
    rate, had = measurement.read_bytes_per_s, measurement.in_flight
    if use != "decision" or rate is None:
        return scaled
    limits = {"measured": job.load.share_of(Quantity.exact(rate, "bytes/s", "measured"))}
    if alone is not None and had is not None and had > in_flight(job.load):
        limits |= {name: limit for name, limit in scaled.limits.items() if name in BY_TIME}
    limited_by = min(limits, key=lambda name: limits[name].value)
    return replace(given, read_bytes_per_s=limits[limited_by], limited_by=limited_by)


def many_small_files(job: Job, on_s3: OptionAnswer) -> bool:
    """Small: below the size where waiting is half of the time.  Many: requests, not bytes, starve the GPUs."""
    size = job.demand.object_bytes
    starved = on_s3.fed is not None and on_s3.fed.value < 1.0
    # What binds by the model: a measured rate says how much, not why.
    limits = on_s3.supply.limits
    by_requests = min(limits, key=lambda name: limits[name].value) in (
        "request-latency",
        "request-limit",
        "kms-requests",
    )
    return size is not None and size.value < small_threshold(S3, job.facts).value and starved and by_requests


def fitness(answer: OptionAnswer, traits: Traits, job: Job, *, rewritten: bool = False) -> OptionAnswer:
    """Rule an option out for what it cannot do, and say what it does badly.

    A loader that speaks the S3 API alone cannot read files; with ``rewritten`` that is only said against the option.
    """
    option, facts = answer.option, job.facts
    out: list[Reason] = []
    but: list[Reason] = []
    chosen = facts.options[option]
    region = facts.regions[job.region]
    available = region.get_value(option)
    backing = lies_on(option, job.load.mounted)
    if available is False or (option == FSX and answer.supply.read_bytes_per_s is None):
        out.append(Reason("not-in-region", {"region": job.region}, _source(region, option)))
    elif region.get_value(backing) is False:
        out.append(Reason("backing-not-in-region", {"option": backing, "region": job.region}, _source(region, backing)))
    elif available is None:
        but.append(Reason("region-unknown", {"region": job.region}))
    elif region.get_value(backing) is None:
        but.append(Reason("backing-region-unknown", {"option": backing, "region": job.region}))
    out += paths.bars(option, job.workload, facts)
    if traits.wants_files and not set(chosen.get_value("interfaces")) & {"posix", "file-paths"}:
        out.append(Reason("serves-no-files", {}, _source(chosen, "interfaces")))
    out += _cannot_do(chosen, traits)
    if traits.object_interface and option not in (S3, EXPRESS):
        (but if rewritten else out).append(Reason("not-the-s3-api", {}, _source(chosen, "interfaces")))
    if option in (S3_FILES, MOUNTPOINT) and traits.complex_posix:
        but.append(Reason("not-for-complex-posix", {}, "aws-china-summit-2026"))
    if option != FSX and (traits.frequent or traits.fast_restore):
        but.append(Reason("not-for-frequent-checkpoints", {}, "aws-china-summit-2026"))
    but += limits.reasons(option, job)
    if option == FSX and traits.avoid_parallel:
        but.append(Reason("parallel-file-system-not-wanted"))
    capacity, quota = answer.supply.configuration.get("storage_capacity_gib"), chosen.quantity("quota_capacity")
    if capacity is not None and quota is not None and capacity > quota.value / fsx.GIB:
        but.append(Reason("above-quota", {"capacity": capacity, "quota": quota.value / fsx.GIB}))
    but += answer.reasons
    but += loading.reasons(answer, job)
    but += paths.reasons(option, job.workload, job.load, facts)
    over = paths.over_request_limit(option, job.load, job.demand, facts)
    if over is not None:
        but.append(over)
    if answer.fed is not None and answer.fed.value < 1.0:
        but.append(Reason("starves", {"fed": answer.fed, "limit": answer.supply.limited_by}))
    verdict = "ruled-out" if out else "works-but" if but else "works"
    return answer if verdict == "works" else replace(answer, verdict=verdict, reasons=(*out, *but))


def _cannot_do(chosen: Section, traits: Traits) -> Iterator[Reason]:
    """What is asked for and an option has not; Mountpoint is backed by Express where renames or appends are needed."""
    if not traits.operations:
        return
    backed = chosen.parts.get(EXPRESS)
    able = chosen.get_value("operations") if backed is None else backed.get_value("operations_with_flags")
    for name in sorted(traits.operations.difference(able or ())):
        yield Reason("cannot-do-operation", {"operation": name}, _source(chosen, "operations"))


def _source(section: Section, name: str) -> str | None:
    fact = section.get(name)
    return fact.sources[0] if fact is not None and fact.sources else None
