"""Why the checkpoints go where they go: how often, how long, what it costs, and how the clients write them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from gpufeed.facts.quantity import Quantity
from gpufeed.model import fsx
from gpufeed.model.checkpoint import best_intervals, daly_of, outpaced
from gpufeed.model.checkpoint_choice import (
    Choice,
    each_is_copied,
    in_time,
    known_of_saving,
    late,
    more_to_set_up,
    saves_at_any_price,
    totals_of,
)
from gpufeed.model.demand import stall_tolerance
from gpufeed.model.epochs import shares_to_size_for
from gpufeed.model.file_system_need import by_price, need_of, need_of_saves
from gpufeed.model.job import Job
from gpufeed.model.recommendation import CheckpointStall, OptionAnswer, Reason, Saving
from gpufeed.model.release import (
    Backlog,
    backlog,
    export_seconds,
    falling_behind,
    provisioned_throughput,
)
from gpufeed.model.retention import kept_of
from gpufeed.model.rules import FSX, MOUNTPOINT, S3, RuleAnswer
from gpufeed.model.savers import through_mount
from gpufeed.model.saving_file_system import WAITING
from gpufeed.model.supply import bulk, lies_on, mountpoint_backing
from gpufeed.model.traffic import step_seconds
from gpufeed.model.upload import MIB, upload_of_saves
from gpufeed.model.weigh import cheaper_beyond_doubt, to_save


def why(
    choice: Choice,
    rule: RuleAnswer,
    fit: Mapping[str, OptionAnswer],
    savings: Mapping[str, Saving],
    *,
    reads: str,
    job: Job,
) -> Iterator[Reason]:
    """All that is said of where the checkpoints go, in the order of its weight."""
    option, by_rule, model, beside = choice
    saving = savings[option]
    yield from _how_often(rule, savings[S3].stall, job)
    if beside:
        yield Reason("checkpoints-beside-reads", {"option": by_rule})
    if option == MOUNTPOINT:
        yield from through_mount(mountpoint_backing(job.load.operations), job.facts)
    yield from _timing(saving.stall, job)
    yield from waiting_for_export(saving, job)
    yield from _may_wait_for_export(saving, job)
    yield from _where_each_is_copied(savings, fit, option, job)
    yield from _worth(savings, fit, option, by_rule, reads=reads, job=job)
    yield from _in_parts(saving, job)
    if option == model != by_rule:
        yield from _under_one_prefix(option, savings, job)
    if option == FSX:
        yield from _sized_for(saving, job)


def _how_often(rule: RuleAnswer, on_s3: CheckpointStall, job: Job) -> Iterator[Reason]:
    """What the published rule asks of checkpoints, and how the job answers it."""
    target, restore = job.workload.restore_target, on_s3.restore_seconds
    timed: dict[str, Any] = {"seconds": restore, "interval": target}
    fast = "fast-restore" in rule.triggers
    often = "frequent-checkpoints" in rule.triggers
    if often or not fast:
        word = "checkpoints-frequent" if often else "checkpoints-rare"
        stated = job.workload.checkpoints is not None or job.workload.checkpoint_interval is not None
        yield Reason(word) if stated else Reason(f"{word}-assumed", {"interval": on_s3.interval})
    if fast:
        yield Reason("restore-fast", timed)
    elif target is None:
        yield Reason("restore-any-time")
    elif restore is not None:
        yield Reason("restore-not-fast", timed)


def _timing(stall: CheckpointStall, job: Job) -> Iterator[Reason]:
    if stall.share is None:
        yield Reason("checkpoint-size-unknown")
        return
    yield Reason("stall-share", {"share": stall.share, "interval": stall.interval})
    if stall.save_seconds is not None and stall.fits_interval is False:
        yield Reason("save-exceeds-interval", {"seconds": stall.save_seconds, "interval": stall.interval})
    elif stall.may_reach_beyond is not None:
        yield Reason("save-may-exceed-interval", {"seconds": stall.may_reach_beyond, "interval": stall.interval})
    target, restore = job.workload.restore_target, stall.restore_seconds
    if target is not None and restore is not None and restore.high > target:
        found = {"seconds": restore, "interval": target}
        yield Reason("restore-misses-target" if restore.value > target else "restore-may-miss-target", found)
    yield from _best_interval(stall, job)


def _best_interval(stall: CheckpointStall, job: Job) -> Iterator[Reason]:
    """The interval that wastes least, where one does, and what keeps it from being Daly's."""
    best, by_formula = best_intervals(job.demand, stall, job.workload, job.facts), daly_of(stall, job.demand)
    if best is None or by_formula is None or stall.save_seconds is None:
        return
    step, daly = step_seconds(job.workload, job.demand, job.facts), Quantity.exact(by_formula, "seconds")
    if outpaced(stall, job.demand):
        yield Reason("saves-outpaced", {"seconds": stall.save_seconds, "failure": job.demand.mean_time_to_failure})
        return
    if step is not None and by_formula < step.value == best.value:
        yield Reason("best-interval-by-step", {"daly": daly, "step": step.middle()})
    elif by_formula < best.value:
        slowest = Quantity.exact(stall.save_seconds.high, "seconds")
        yield Reason("best-interval-by-slowest-save", {"interval": best, "daly": daly, "slowest": slowest})
    else:
        yield Reason("best-interval", {"interval": best})
    if step is None and best.low < job.facts.model.known("long_step").value:
        yield Reason("best-interval-step-unknown", {"field": ("batch_size", "samples_per_second_per_accelerator")})


def waiting_for_export(saving: Saving, job: Job) -> Iterator[Reason]:
    found = exports_behind(saving.option, saving.supply.configuration, job)
    if found is not None:
        yield falling_behind(found.export, found.interval, found.every)


def _may_wait_for_export(saving: Saving, job: Job) -> Iterator[Reason]:
    """Exports that keep up in the middle, and not at their slow end."""
    export = export_seconds(saving.option, saving.supply.configuration, job.demand, job.facts)
    if export is not None and export.value <= job.demand.checkpoint_interval < export.high:
        yield Reason("export-may-fall-behind", {"seconds": export, "interval": job.demand.checkpoint_interval})


def _where_each_is_copied(
    savings: Mapping[str, Saving], fit: Mapping[str, OptionAnswer], option: str, job: Job
) -> Iterator[Reason]:
    """Beside an option whose export falls behind: the cheapest where each save gets a copy that lasts."""
    if each_is_copied(savings[option], job):
        return
    totals = totals_of(in_time(option, fit, savings, job), savings)
    copied = {name: total for name, total in totals.items() if each_is_copied(savings[name], job)}
    if copied:
        other = min(copied, key=lambda name: copied[name].value)
        yield Reason("saving-with-each-copied", {"option": other, "cost": copied[other]})


def exports_behind(option: str, settings: Mapping[str, Any], job: Job) -> Backlog | None:
    """What waits for its copy in S3 where saves come faster than they are exported."""
    kept = kept_of(job.run.training_hours, job.workload, job.demand, job.facts)
    return backlog(option, settings, job.demand, kept=kept, facts=job.facts)


def _worth(
    savings: Mapping[str, Saving],
    fit: Mapping[str, OptionAnswer],
    option: str,
    by_rule: str,
    *,
    reads: str,
    job: Job,
) -> Iterator[Reason]:
    """What saving there costs for the run, beside it the rule's option, and why one that costs less was not taken."""
    mine, theirs = savings[option].weighed, savings[by_rule].weighed
    if mine is None or not totals_of(in_time(option, fit, savings, job), savings):
        if option != by_rule:
            yield from _without_prices(savings, option, by_rule, reads=reads, job=job)
        return
    if any(saving.total is None and saving.weighed is not None for saving in savings.values()):
        yield Reason("saving-priced-elsewhere", {"region": job.region})
    yield Reason("saving-costs", {"cost": mine})
    if option != by_rule:
        too_late = late(savings[by_rule].stall, job)
        if too_late is not None:
            yield Reason("saving-rule-is-late", {"option": by_rule, "because": too_late})
        elif theirs is not None and (behind := list(waiting_for_export(savings[by_rule], job))):
            yield Reason("saving-rule-falls-behind", {"option": by_rule, "cost": theirs, "because": behind[0]})
        elif theirs is not None:
            yield Reason("saving-on-rules-option", {"option": by_rule, "cost": theirs})
    able = in_time(option, fit, savings, job)
    cheaper = {name: total for name, total in totals_of(able, savings).items() if total.value < mine.value}
    if not cheaper:
        return
    other = min(cheaper, key=lambda name: cheaper[name].value)
    found: dict[str, Any] = {"option": other, "cost": cheaper[other]}
    if cheaper_beyond_doubt(cheaper[other], mine, 0.0):
        gives_less = each_is_copied(savings[option], job) and not each_is_copied(savings[other], job)
        amount = to_save(more_to_set_up(other, option, reads=reads, gives_less=gives_less, job=job), job)
        yield Reason("saving-too-little", found | {"amount": amount, "currency": job.run.currency})
    else:
        yield Reason("saving-cheaper-in-doubt", found)


def _without_prices(
    savings: Mapping[str, Saving], option: str, by_rule: str, *, reads: str, job: Job
) -> Iterator[Reason]:
    """Why the rule's option was not taken where not all is priced."""
    ruled = savings[by_rule]
    if late(savings[option].stall, job) is not None:
        yield Reason("saving-none-in-time", {"option": by_rule})
    elif (too_late := late(ruled.stall, job)) is not None:
        yield Reason("saving-rule-is-late", {"option": by_rule, "because": too_late})
    elif saves_at_any_price(option, by_rule, savings, reads=reads, job=job):
        mine, theirs = known_of_saving(savings[option], job), known_of_saving(ruled, job)
        found = {"option": by_rule, "cost": mine.amount, "other_cost": theirs.amount}
        yield Reason("saving-cheaper-at-any-price", found | {"parts": theirs.parts})
    elif ruled.stall.share is not None:
        tolerance = stall_tolerance(job.workload, job.facts)
        found = {"option": by_rule, "share": ruled.stall.share, "tolerance": tolerance}
        yield Reason("saving-rule-stalls-more", found)


def _in_parts(saving: Saving, job: Job) -> Iterator[Reason]:
    """In which parts a bucket is written and read, where the clients' own would hold a save or a restore to too little.

    Equation: rate of one prefix = requests/s × bytes of a part; of a save, bytes of a file / requests of its upload.
    """
    part, own = job.demand.checkpoint_part_bytes, upload_of_saves(job.demand, None, job.facts)
    chosen, before = job.load.on_s3, job.load.bytes_per_put
    if part is None or own is None or chosen is None or before is None:
        return
    if part.value <= own.part_bytes or lies_on(saving.option, job.load.operations) != S3:
        return
    at_once = job.facts.model.known("checkpoint_parts_in_flight").middle()
    found: dict[str, Any] = {
        "part": (part / MIB).named("MiB"),
        "default": Quantity.exact(own.part_bytes / MIB, "MiB"),
        "part_bytes": part.named("count"),
        "memory": (part * at_once).named("bytes"),
    }
    moved = {"write": (chosen.each_request, before), "read": (part, part.at(own.part_bytes))}
    for way, (now, then) in moved.items():
        found[f"{way}_requests"] = each = _of_one_prefix(way, job)
        found |= {f"{way}_rate": _in_bytes(each, now), f"{way}_before": _in_bytes(each, then)}
    yield Reason("saves-in-parts", found, "s3-performance")
    save, restore = saving.supply.write_bytes_per_s, bulk(S3, job.bulk, job.facts).rate
    if save is not None and _reaches(save, found["write_rate"]):
        yield Reason("save-held-by-requests", {"rate": found["write_rate"]}, "s3-performance")
    elif _reaches(restore, found["read_rate"]):
        yield Reason("restore-held-by-requests", {"rate": found["read_rate"]}, "s3-performance")


def _of_one_prefix(way: str, job: Job) -> Quantity:
    """Requests/s that S3 takes of this job under one key prefix, or under as many as are assumed by default."""
    each = job.facts.options[S3].known(f"{way}_requests_per_prefix") * job.facts.model.known("prefixes").value
    return job.load.share_of(each.named("requests/s"))


def _in_bytes(requests: Quantity, part: Quantity) -> Quantity:
    return (requests * part.middle()).named("bytes/s")


def _reaches(rate: Quantity, limit: Quantity) -> bool:
    """Whether it is this limit that a rate is held to, but for the last digit."""
    return rate.value >= limit.value * (1 - 1e-9)


def _under_one_prefix(option: str, savings: Mapping[str, Saving], job: Job) -> Iterator[Reason]:
    """That S3 is held to the requests of one key prefix for a save, where that bound it and another option was taken.

    Equations: prefixes = rate of the option / (PUT requests/s of one prefix × bytes of a file / requests of its
    upload); larger parts = that rate / PUT requests/s of one prefix.
    """
    on_s3, taken, parts = savings[S3].supply.write_bytes_per_s, savings[option].supply.write_bytes_per_s, job.load.on_s3
    if on_s3 is None or taken is None or parts is None or lies_on(option, job.load.operations) == S3:
        return
    part = parts.sent
    each = _of_one_prefix("write", job)
    one = _in_bytes(each, parts.each_request)
    if not _reaches(on_s3, one) or taken.value <= one.value:
        return
    found = {
        "option": option,
        "prefixes": math.ceil(taken.value / one.value),
        "rate": one,
        "part": (part.middle() / MIB).named("MiB"),
        "larger": Quantity.exact(math.ceil(taken.value / each.value / MIB), "MiB"),
    }
    yield Reason("saving-under-one-prefix", found, "s3-performance")


def _sized_for(saving: Saving, job: Job) -> Iterator[Reason]:
    """By which end of what published saves reach a file system was sized, and whether it is larger than it must be."""
    reached, own = job.facts.model.known("checkpoint_rate_share"), saving.own
    if job.demand.checkpoint_bytes is None:
        return
    need, efa = need_of(job) if own is None else need_of_saves(job), "efa" in saving.supply.configuration
    less = {bound.what for bound in need.carried(efa=efa).bounds}
    yield from (note for note in fsx.carried_less(need, efa=efa) if note.id != fsx.CARRIED_LESS["read"])
    if need.holds_at(provisioned_throughput(saving.supply.configuration)) > need.holds_bytes:
        yield fsx.until_exported(need)
    by_slowest = {"share": reached.low}
    if "write" not in less and job.demand.checkpoint_mode == "async":
        yield Reason("saves-sized-by-slowest", by_slowest, "megatron-scaling-paper")
    elif "write" not in less and by_price(job):
        yield Reason("saves-sized-by-price", by_slowest, "megatron-scaling-paper")
    elif "write" not in less:
        tolerance = stall_tolerance(job.workload, job.facts)
        sized = {"share": reached.value, "tolerance": tolerance}
        yield Reason("saves-sized-by-middle", sized, "mlperf-storage-checkpoints-v3.0")
    target, restore = job.workload.restore_target, saving.stall.restore_seconds
    if target is not None and restore is not None and "restore" not in less:
        by_clients = "-rate" if restore.high > target else ""
        yield Reason(f"restore-sized-by-slowest{by_clients}", by_slowest, "megatron-scaling-paper")
    if own is not None:
        if own.size_set_by == WAITING:
            yield Reason("larger-file-system-pays")
        yield from (note for note in own.notes if note.id == "above-quota")
        return
    needs = [need_of(job, share) for share in shares_to_size_for(job.passes)]
    cheapest = [found for need in needs if (found := fsx.cheapest(need, job.region, job.facts)) is not None]
    if cheapest and all(one.settings != saving.supply.configuration for one in cheapest):
        would_do = {"configuration": cheapest[0].name, "gib": cheapest[0].capacity_gib}
        yield Reason("dearer-file-system-pays", would_do)
