"""Why the checkpoints go where they go: how often, how long, what it costs, and how the clients write them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from gpufeed.facts.quantity import Quantity, least
from gpufeed.model import fsx
from gpufeed.model.checkpoint import best_intervals, daly_of, outpaced, transfer
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
from gpufeed.model.frozen import changed
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
from gpufeed.model.rules import EXPRESS, FSX, MOUNTPOINT, S3, RuleAnswer
from gpufeed.model.savers import through_mount
from gpufeed.model.saving_file_system import WAITING
from gpufeed.model.supply import bulk, lies_on, requests_of_saves, supply
from gpufeed.model.traffic import step_seconds
from gpufeed.model.upload import MIB, upload_of_saves
from gpufeed.model.weigh import can_save, cheaper_beyond_doubt, to_save


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
    option, by_rule, _, beside = choice
    saving = savings[option]
    yield from _how_often(rule, savings[S3].stall, job)
    if beside:
        yield Reason("checkpoints-beside-reads", {"option": by_rule})
    if option == MOUNTPOINT:
        yield from through_mount(job.load.mounted, job.facts)
    yield from _timing(saving.stall, job)
    yield from waiting_for_export(saving, job)
    yield from _may_wait_for_export(saving, job)
    yield from _where_each_is_copied(savings, fit, option, job)
    yield from _worth(savings, fit, option, by_rule, reads=reads, job=job)
    yield from _in_parts(saving, job)
    if can_save(fit[S3]):
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

    Equation: rate = requests/s × bytes of a part; of a save, bytes of a file / requests of its upload.
    """
    place = lies_on(saving.option, job.load.mounted)
    own, chosen, before = upload_of_saves(job.demand, None, job.facts), job.load.parts_on(place), job.load.bytes_per_put
    if own is None or chosen is None or before is None or chosen.part.value <= own.part_bytes:
        return
    part, at_once = chosen.part, job.facts.model.known("checkpoint_parts_in_flight").middle()
    found: dict[str, Any] = {
        "part": (part / MIB).named("MiB"),
        "default": Quantity.exact(own.part_bytes / MIB, "MiB"),
        "part_bytes": part.named("count"),
        "memory": least((part * at_once).named("bytes"), Quantity.exact(own.file_bytes, "bytes")),
    }
    moved = {"write": (chosen.each_request, before), "read": (part, part.at(own.part_bytes))}
    for way, (now, then) in moved.items():
        found[f"{way}_requests"] = each = _requests(way, place, job)
        found |= {f"{way}_rate": _in_bytes(each, now), f"{way}_before": _in_bytes(each, then)}
    of, source = ("-of-bucket", "s3-express-performance") if place == EXPRESS else ("", "s3-performance")
    yield Reason(f"saves-in-parts{of}", found, source)
    held = next((way for way in ("write", "read") if _held_to(found[f"{way}_rate"], way, place, saving, job)), None)
    if held is not None:
        limit: dict[str, Any] = {"rate": found[f"{held}_rate"]}
        if place == EXPRESS:
            allowed = requests_of_saves(held, place, job.facts)
            limit["raised"] = allowed.at(allowed.high).named("requests/s")
        yield Reason(f"{'save' if held == 'write' else 'restore'}-held-by-requests{of}", limit, source)


def _requests(way: str, place: str, job: Job) -> Quantity:
    """Requests/s that a bucket takes of this job: S3 under one key prefix, or as many as are assumed by default."""
    return job.load.share_of(requests_of_saves(way, place, job.facts).middle().named("requests/s"))


def _in_bytes(requests: Quantity, part: Quantity) -> Quantity:
    return (requests * part.middle()).named("bytes/s")


def _held_to(limit: Quantity, way: str, place: str, saving: Saving, job: Job) -> bool:
    """Whether it is this limit that a save or a restore is held to, but for the last digit.

    A restore in few large parts may take as long as one of them does, whatever is allowed.
    """
    if way == "write":
        save = saving.supply.write_bytes_per_s
        return save is not None and save.value >= limit.value * _ALL_BUT_DIGITS
    rate, restored = bulk(place, job.bulk, job.facts).rate, job.demand.restore_bytes
    taken = saving.stall.restore_seconds
    if restored is None or taken is None or rate.value < limit.value * _ALL_BUT_DIGITS:
        return False
    return transfer(restored, rate, job.facts).value >= taken.value * _ALL_BUT_DIGITS


_ALL_BUT_DIGITS = 1 - 1e-9


def _under_one_prefix(option: str, savings: Mapping[str, Saving], job: Job) -> Iterator[Reason]:
    """That the requests of one key prefix hold S3 to less than what was taken, and how many prefixes would do.

    Of a save, those that are as fast as the option, or with which something else limits S3, in the same parts; of a
    restore, those with which it meets its target.
    Equations: prefixes = rate / (PUT requests/s of one prefix × bytes of a file / requests of its upload); prefixes =
    seconds of the restore / target.
    """
    parts, on_s3, taken = job.load.on_s3, savings[S3], savings[option]
    if parts is None or lies_on(option, job.load.mounted) == S3:
        return
    found: dict[str, Any] = {"option": option, "part": (parts.part / MIB).named("MiB")}
    one, given = _in_bytes(_requests("write", S3, job), parts.each_request), taken.supply.write_bytes_per_s
    target, restore = job.workload.restore_target, on_s3.stall.restore_seconds
    said: list[tuple[str, dict[str, Any], int]] = []
    if given is not None and _waits_more(on_s3.stall, taken.stall) and _held_to(one, "write", S3, on_s3, job):
        spread = changed(job.load, saved_under=math.ceil(given.value / one.value))
        reached = least(given, supply(S3, spread, job.facts).write_bytes_per_s or given).middle()
        of_save = {"rate": one, "reached": reached, "given": given.middle()}
        said.append(("saving", of_save, math.ceil(reached.value / one.value * _ALL_BUT_DIGITS)))
    if target is not None and restore is not None and restore.value > target:
        of_one, prefixes = _in_bytes(_requests("read", S3, job), parts.part), math.ceil(restore.value / target)
        then = _restore_under(prefixes, job)
        if then is not None and then.value <= target and _held_to(of_one, "read", S3, on_s3, job):
            said.append(("restoring", {"rate": of_one, "seconds": restore, "then": then, "interval": target}, prefixes))
    for what, more, prefixes in said:
        if prefixes > 1:
            yield Reason(f"{what}-under-one-prefix", found | more | {"prefixes": prefixes}, "s3-performance")
    if said and job.load.jobs > 1:
        yield Reason("jobs-under-one-prefix", {"jobs": job.load.jobs}, "s3-performance")


def _waits_more(on_s3: CheckpointStall, taken: CheckpointStall) -> bool:
    """Whether GPUs wait longer for saves to S3 than where they go, or a save there does not end before the next."""
    if on_s3.share is None or taken.share is None:
        return False
    return on_s3.share.value > taken.share.value or (on_s3.fits_interval is False and taken.fits_interval is True)


def _restore_under(prefixes: int, job: Job) -> Quantity | None:
    """Seconds of a restore from S3 where a checkpoint lies under so many key prefixes."""
    size, restored = job.demand.checkpoint_bytes, job.demand.restore_bytes
    if size is None or restored is None:
        return None
    spread = changed(job.bulk, prefixes=prefixes, possible_prefixes=None)
    each = size.value / job.demand.checkpoint_writers
    return bulk(S3, spread, job.facts).seconds(restored, each, job.facts)


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
