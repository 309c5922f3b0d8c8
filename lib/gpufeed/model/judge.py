"""What one option is worth to a job on its own, and which one the model would take."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

from gpufeed.facts.catalogue import Section
from gpufeed.facts.quantity import Quantity
from gpufeed.model import checkpoint, epochs, formulas, fsx, limits, loading, paths, traffic
from gpufeed.model.any_price import cheaper_at_any_price, known_of
from gpufeed.model.cost import cost, filling
from gpufeed.model.file_system_need import need_of
from gpufeed.model.job import Job
from gpufeed.model.measurement import Measurement
from gpufeed.model.recommendation import CheckpointStall, OptionAnswer, Reason, Supply
from gpufeed.model.rules import EXPRESS, FSX, MOUNTPOINT, S3, S3_FILES, SYSTEMS, RuleAnswer, Traits
from gpufeed.model.saving_file_system import file_system_with_waiting
from gpufeed.model.supply import (
    BY_TIME,
    Bulk,
    Load,
    bulk,
    calibrated,
    lies_on,
    mountpoint_backing,
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
    bursts = traffic.bursts(given, large, job.traffic, job.facts, lies_on(option, job.load.operations))
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
        backed_by=mountpoint_backing(job.load.operations) if option == MOUNTPOINT else None,
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
    backing = lies_on(option, job.load.operations)
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


def cheapest(fit: Mapping[str, OptionAnswer], rule: RuleAnswer, job: Job) -> str:
    """The model's own choice for training reads: the rule's option, unless others are better beyond doubt.

    Of those the cheapest, with what it has to save for being a system that the plan does not have otherwise; or where
    not all have a price in any Region the one that feeds best, unless another is cheaper than that at any price.
    """
    best = best_of_rule(fit, rule)
    better = [
        other
        for option in SYSTEMS
        if (other := fit[option]).verdict != "ruled-out"
        and not against(other)
        and not loading.ends_later(other, best, job)
        and beats(other, best, job)
    ]
    costs = {
        other.option: other.weighed.value + setting_up(other.option, "", job)
        for other in better
        if other.weighed is not None
    }
    if len(costs) == len(better):
        return min(costs, key=costs.__getitem__, default=best.option)
    chosen = max(better, key=lambda other: 0.0 if other.fed is None else other.fed.value)
    for other in better:
        if beats_at_any_price(other, chosen, job):
            chosen = other
    return chosen.option


def best_of_rule(fit: Mapping[str, OptionAnswer], rule: RuleAnswer) -> OptionAnswer:
    """The rule's option, or where that is ruled out the first that it also allows.

    Where all of those are ruled out, the option with the least said against it: one that is known to be in the Region
    before one that may be, and a way onto S3 before others where the rule is for S3.  The rule's own only where no
    option is left at all.
    """
    allowed = (fit[option] for option in (rule.option, *rule.also_allowed) if fit[option].verdict != "ruled-out")
    able = (fit[option] for option in SYSTEMS if fit[option].verdict != "ruled-out")
    elsewhere = (FSX, EXPRESS) if rule.option == S3 else ()

    def rank(answer: OptionAnswer) -> tuple[int, bool, bool]:
        unknown = any(reason.id == "region-unknown" for reason in answer.reasons)
        return against(answer), unknown, answer.option in elsewhere

    return next(allowed, None) or min(able, key=rank, default=fit[rule.option])


#: Judged by cost, or a matter of asking or of a setting.
NOT_AGAINST = frozenset(
    {
        "starves",
        "over-request-limit",
        "parts-over-request-limit",
        "over-bucket-limit",
        "above-quota",
        "fsx-other-region",
        "s3-files-many-objects",
        "loading-exceeds-run",
        "loading-may-exceed-run",
        "import-exceeds-run",
        "import-may-exceed-run",
        "copying-exceeds-run",
        "copying-may-exceed-run",
        *fsx.SAID_WITH_THE_PLAN,
    }
)


#: The published rule's word on checkpoints; where they go the model weighs times and costs instead.
OF_CHECKPOINTS = frozenset({"not-for-frequent-checkpoints"})
#: Why an option is or is not the answer beside the others.
COMPARISONS = frozenset(
    {"slower", "dearer", "ends-sooner", "not-priced", "priced-elsewhere", "feeds", "limited-by", "fed-unknown"}
    | {"cheaper-not-taken", "cheaper-apart", "cheaper-in-place"}
)


#: Keeps checkpoints from an option.  A saver is another program than the loader: it may write files.
CANNOT_SAVE = frozenset(
    {"not-in-region", "backing-not-in-region", "bucket-in-other-region", "serves-no-files", "cannot-do-operation"}
)


def can_save(answer: OptionAnswer) -> bool:
    """Whether checkpoints can be written there, also where the loader could not read from it."""
    return not any(reason.id in CANNOT_SAVE for reason in answer.reasons)


def against(answer: OptionAnswer) -> int:
    """How many things are said against an option as the place of the training reads."""
    return sum(reason.id not in _HARMLESS for reason in answer.reasons)


_HARMLESS = NOT_AGAINST | OF_CHECKPOINTS


def least_saving(job: Job) -> float:
    """What a choice has to save to be one: a share of what the GPUs of the run cost; anything where that is unknown."""
    each_hour = job.run.weighed_gpu_price
    share = job.facts.model.known("least_saving").value
    return 0.0 if each_hour is None else share * each_hour.value * job.run.hours


def setting_up(option: str, reads: str, job: Job) -> float:
    """What it has to save for being a system or a mount that the plan does not have otherwise: S3 every plan has.

    A share of what the GPUs of the run cost, no less and no more than some hours of one instance: setting it up is some
    work however short the run, and no more for a larger cluster or a longer run.
    """
    each_hour = job.run.weighed_gpu_price
    if each_hour is None or option in (S3, reads):
        return 0.0
    model, one = job.facts.model, each_hour.value / job.load.nodes
    of_the_run = model.known("another_system").value * job.load.nodes * job.run.hours
    return max(least_worth(job), one * min(model.known("another_system_most").value / 3600.0, of_the_run))


def least_worth(job: Job) -> float:
    """What no change is worth less than, however short the run: somebody has to make it."""
    each_hour = job.run.weighed_gpu_price
    hours = job.facts.model.known("another_system_least").value / 3600.0
    return 0.0 if each_hour is None else hours * each_hour.value / job.load.nodes


def to_save(more: float, job: Job) -> float:
    """What a choice has to save that has ``more`` to be set up than another.

    Below 0 it may cost so much more, since it spares what would have to be set up.  There is no margin on top of that:
    one is asked for the trouble of a change, and S3, which every plan has, is none.
    """
    return more if more < 0.0 else least_saving(job) + more


def to_replace(other: str, best: OptionAnswer, job: Job) -> float:
    """What another option has to save to take the training reads from the rule's.

    A file system that is not wanted is not worth more than it costs.
    """
    least = to_save(setting_up(other, "", job) - setting_up(best.option, "", job), job)
    if any(reason.id == "parallel-file-system-not-wanted" for reason in best.reasons):
        return min(0.0, least)
    return least


def beats(other: OptionAnswer, best: OptionAnswer, job: Job) -> bool:
    """Cheaper in the middle, idle GPUs included, by what it has to save, and in the worst case not dearer.

    Without prices: cheaper at any price, or else fed better beyond doubt.
    """
    mine, theirs = other.weighed, best.weighed
    if mine is not None and theirs is not None:
        return cheaper_beyond_doubt(mine, theirs, to_replace(other.option, best, job))
    if beats_at_any_price(other, best, job):
        return True
    if other.fed is not None and best.fed is not None:
        return other.fed.low > best.fed.high
    return False


def beats_at_any_price(other: OptionAnswer, best: OptionAnswer, job: Job) -> bool:
    """Whether it is cheaper as the place of the reads whatever the prices are that no Region has."""
    if not may_be_set_up(other.option, best.option, job):
        return False
    mine, theirs = (known_of(one.cost.lines, one.cost.currency) for one in (other, best))
    return cheaper_at_any_price(mine, theirs, max(0.0, to_replace(other.option, best, job)))


def may_be_set_up(option: str, instead_of: str, job: Job, reads: str = S3) -> bool:
    """Whether one can tell what a system that the plan does not have is worth: not without a price of GPUs."""
    there = (S3, reads)
    return job.run.weighed_gpu_price is not None or option in there or instead_of not in there


def cheaper_beyond_doubt(mine: Quantity, theirs: Quantity, least: float) -> bool:
    """Cheaper by more than ``least`` in the middle, which may be below 0, and not dearer in the worst case."""
    return mine.value < theirs.value - least and mine.high <= theirs.high


def kept(cost: Quantity, chosen: Quantity, least: float, job: Job) -> Reason:
    """Why what would cost ``cost`` does not take the place of what was chosen."""
    if cost.value >= chosen.value:
        return Reason("kept-dearer")
    if cheaper_beyond_doubt(cost, chosen, 0.0):
        return Reason("kept-too-little", {"amount": least, "currency": job.run.currency})
    return Reason("kept-in-doubt")


def compared(answer: OptionAnswer, best: OptionAnswer, job: Job, *, together: bool = False) -> OptionAnswer:
    """Why this one is the answer, or by how much it is slower or dearer than the answer as the place of the reads.

    ``together``: the best was chosen for the checkpoints' sake.
    """
    if answer.option == best.option:
        return replace(answer, verdict="recommended", reasons=(*_praise(answer), *answer.reasons, *_unpriced(answer)))
    if answer.verdict == "ruled-out":
        return answer
    more: list[Reason] = []
    if answer.fed is not None and best.fed is not None and answer.fed.value < best.fed.value:
        more.append(Reason("slower", {"fed": answer.fed, "best": best.fed, "option": best.option}))
    sooner = loading.ends_sooner_by(answer, best, job)
    if sooner is not None:
        more.append(Reason("ends-sooner", {"seconds": sooner, "option": best.option}))
    more += _unpriced(answer)
    mine, theirs = answer.weighed, best.weighed
    if mine is not None and theirs is not None and mine.value > theirs.value:
        difference = mine.value - theirs.value
        more.append(Reason("dearer", {"amount": difference, "currency": answer.cost.currency, "option": best.option}))
    elif mine is not None and theirs is not None and mine.value < theirs.value and not against(answer):
        least = to_replace(answer.option, best, job)
        if loading.ends_later(answer, best, job):
            because = Reason("kept-ends-later")
        elif together and cheaper_beyond_doubt(mine, theirs, least):
            because = Reason("kept-together")
        else:
            because = kept(mine, theirs, least, job)
        found = {"cost": mine, "best": theirs, "option": best.option, "because": because}
        more.append(Reason("cheaper-not-taken", found))
    more += _in_place(answer, best, job)
    remarks = {"not-priced", "priced-elsewhere", "cheaper-not-taken", "cheaper-in-place", "ends-sooner"}
    verdict = "works-but" if answer.reasons or any(reason.id not in remarks for reason in more) else "works"
    return replace(answer, verdict=verdict, reasons=(*answer.reasons, *more))


def _in_place(answer: OptionAnswer, best: OptionAnswer, job: Job) -> Iterator[Reason]:
    """That a bucket of another Region would be cheaper to read in place, if its rate from there were known to do.

    What crosses is said for both: where it is no more in place, its price does not decide.
    """
    if against(answer) != 1 or not any(reason.id == "other-region" for reason in answer.reasons):
        return
    mine, theirs = answer.weighed, best.weighed
    if mine is not None and theirs is not None:
        cheaper = cheaper_beyond_doubt(mine, theirs, to_replace(answer.option, best, job))
    else:
        cheaper = beats_at_any_price(answer, best, job)
    if cheaper and not loading.ends_later(answer, best, job):
        cost, other = (known_of(one.cost.lines, one.cost.currency).amount for one in (answer, best))
        across, crosses = (_across(one) for one in (answer, best))
        found = {"option": best.option, "cost": cost, "best": other, "across": across, "best_across": crosses}
        yield Reason("cheaper-in-place", found)


def _across(answer: OptionAnswer) -> Quantity | None:
    """Bytes that leave the bucket's Region."""
    line = next((line for line in answer.cost.lines if line.id == "transfer"), None)
    return None if line is None or line.quantity is None else (line.quantity * fsx.GIB).named("bytes")


def _unpriced(answer: OptionAnswer) -> Iterator[Reason]:
    """What has no price here, and by what it is compared all the same."""
    if answer.cost_of_reads is not None:
        return
    parts = {"parts": answer.cost.not_priced}
    if answer.weighed is None:
        yield Reason("not-priced", parts)
    else:
        yield Reason("priced-elsewhere", parts | {"cost": answer.weighed})


def _praise(answer: OptionAnswer) -> Iterable[Reason]:
    if answer.fed is None:
        yield Reason("fed-unknown")
    elif answer.fed.value >= 1.0:
        yield Reason("feeds", {"fed": answer.fed})
    if answer.supply.limited_by is not None:
        yield Reason("limited-by", {"limit": answer.supply.limited_by, "bytes_per_s": answer.supply.read_bytes_per_s})
