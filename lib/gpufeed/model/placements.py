"""Where each data role goes: the rule's, the model's and a measurement's opinion, and which of them decided."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from gpufeed.facts.quantity import Quantity
from gpufeed.model import fsx
from gpufeed.model.any_price import Known, cheaper_at_any_price, known_of
from gpufeed.model.checkpoint import best_intervals, daly_of, outpaced
from gpufeed.model.demand import stall_tolerance
from gpufeed.model.epochs import shares_to_size_for
from gpufeed.model.file_system_need import by_price, need_of, need_of_saves
from gpufeed.model.job import Job
from gpufeed.model.judge import (
    against,
    beats_at_any_price,
    best_of_rule,
    can_save,
    cheaper_beyond_doubt,
    may_be_set_up,
    setting_up,
    to_save,
    used_for,
)
from gpufeed.model.measurement import Measurement
from gpufeed.model.recommendation import CheckpointStall, OptionAnswer, Placement, Reason, Saving
from gpufeed.model.release import (
    Backlog,
    backlog,
    export_seconds,
    exported_every,
    falling_behind,
    provisioned_throughput,
)
from gpufeed.model.retention import kept_of
from gpufeed.model.rules import EXPRESS, FSX, MOUNTPOINT, NVME, S3, S3_FILES, SYSTEMS, RuleAnswer
from gpufeed.model.savers import through_mount
from gpufeed.model.saving_file_system import WAITING
from gpufeed.model.supply import bulk, lies_on, mountpoint_backing
from gpufeed.model.traffic import step_seconds
from gpufeed.model.upload import MIB, upload_of_saves


def simple(role: str, option: str, *reasons: str, delete_when: str | None = None) -> Placement:
    said = tuple(Reason(reason) for reason in reasons)
    return Placement(role, option, None, {}, "rule", option, option, reasons=said, delete_when=delete_when)


def _backing(option: str, job: Job) -> str | None:
    if option == MOUNTPOINT:
        return mountpoint_backing(job.load.operations)
    return S3 if option in (FSX, S3_FILES) else None


def used_as(measurement: Measurement | None, reads: str, fit: Mapping[str, OptionAnswer], job: Job) -> str | None:
    """What a measurement was good for: of the option it was taken on, or where that is not known of the chosen one.

    One of an option that is ruled out decides nothing.
    """
    if measurement is None or measurement.read_bytes_per_s is None:
        return None
    taken_on = measurement.option or reads
    if taken_on in fit and fit[taken_on].verdict == "ruled-out":
        return "shown-only"
    return used_for(measurement, taken_on, job.load)


def training_reads(
    option: str,
    rule: RuleAnswer,
    fit: Mapping[str, OptionAnswer],
    *,
    used_as: str | None,
    measurement: Measurement | None,
    together: bool,
    job: Job,
) -> Placement:
    """Where the reads go; ``together``: for the checkpoints' sake, which is explained elsewhere."""
    decided_by = "rule" if option == rule.option else "model"
    if used_as == "decision":
        decided_by = "measured"
    reasons = [Reason(f"rule-{rule.verdict}", {"option": rule.option})]
    if used_as == "decision" and measurement is not None:
        reasons.append(Reason("measured-decides", {"option": measurement.option}))
    elif option != rule.option:
        reasons += _instead_of_the_rule(option, rule, fit, together=together, job=job)
    return Placement(
        role="training_reads",
        option=option,
        backed_by=_backing(option, job),
        configuration=fit[option].supply.configuration,
        decided_by=decided_by,
        rule=rule.option,
        model=option if job.demand.read_bytes_per_s is not None or decided_by == "model" else None,
        measured=None if measurement is None else measurement.option,
        measured_used_as=used_as,
        reasons=tuple(reasons),
    )


def _instead_of_the_rule(
    option: str, rule: RuleAnswer, fit: Mapping[str, OptionAnswer], *, together: bool, job: Job
) -> Iterator[Reason]:
    """Why the reads are not on the rule's option: what rules it out, and what is better than what the rule leaves."""
    base = best_of_rule(fit, rule)
    mine, theirs = fit[option], base
    if base.option != rule.option and fit[rule.option].reasons:
        because = fit[rule.option].reasons[0]
        yield Reason("model-rule-cannot", {"rule": rule.option, "because": because})
    if option == base.option or together:
        return
    found: dict[str, Any] = {"option": option, "other": base.option}
    if mine.weighed is not None and theirs.weighed is not None:
        found |= {"cost": mine.weighed, "other_cost": theirs.weighed}
        if mine.weighed.value < theirs.weighed.value:
            yield Reason("model-cheaper", found)
        else:
            worth = setting_up(base.option, "", job) - setting_up(option, "", job)
            yield Reason("model-spares-setting-up", found | {"amount": worth, "currency": job.run.currency})
    elif beats_at_any_price(mine, theirs, job):
        known = [known_of(one.cost.lines, one.cost.currency) for one in (mine, theirs)]
        found |= {"cost": known[0].amount, "other_cost": known[1].amount, "parts": known[1].parts}
        yield Reason("model-cheaper-at-any-price", found)
    else:
        yield Reason("model-feeds-better", found | {"fed": mine.fed, "other_fed": theirs.fed})


class Choice(NamedTuple):
    """Where the checkpoints go, and the opinions of the rule and of the model; None: it has none."""

    option: str
    rule: str
    model: str | None
    beside_reads: bool  # their size is not known, and no system is ordered for them alone


def choose_for_checkpoints(
    rule: RuleAnswer,
    fit: Mapping[str, OptionAnswer],
    savings: Mapping[str, Saving],
    *,
    reads: str,
    job: Job,
) -> Choice:
    """Where the checkpoints go.  The rule: frequent or fast to restore → FSx for Lustre, rare → S3 can hold them.

    Rare ones go on the rule's file system for the reads too, unless the job was said to speak the S3 API alone.

    A program that wants files saves as files too: the rule's S3 then stands behind one of the ways onto a bucket, and
    the model prefers the one the reads take.  The model's own choice decides where it differs (:func:`_by_model`).

    Where their size is not known no system is ordered for rare ones alone: they go where the reads are, if they can.
    """
    frequent = bool({"frequent-checkpoints", "fast-restore"} & set(rule.triggers))
    as_files = all(reason.id != "not-the-s3-api" for reason in fit[FSX].reasons)
    by_rule = FSX if frequent or "posix" in rule.rules or (rule.option == FSX and as_files) else S3
    preferred = by_rule
    if not can_save(fit[by_rule]):
        by_rule = _way_onto_s3(rule, fit)
        preferred = reads if _nothing_against(fit[reads]) else by_rule
    model = _by_model(preferred, fit, savings, reads=reads, job=job)
    beside = model is None and not frequent and "posix" not in rule.rules and by_rule not in (S3, reads)
    beside = beside and _nothing_against(fit[reads])
    model = reads if beside else model
    return Choice(model or by_rule, by_rule, model, beside)


def checkpoints(
    choice: Choice,
    rule: RuleAnswer,
    fit: Mapping[str, OptionAnswer],
    savings: Mapping[str, Saving],
    *,
    reads: str,
    job: Job,
) -> Placement:
    """The placement of the checkpoints, with its reasons."""
    option, by_rule, model, beside = choice
    stall = savings[option].stall
    return Placement(
        role="checkpoints",
        option=option,
        backed_by=_backing(option, job),
        configuration=savings[option].supply.configuration,
        decided_by="rule" if option == by_rule else "model",
        rule=by_rule,
        model=model,
        reasons=(
            *_how_often(rule, savings[S3].stall, job),
            *((Reason("checkpoints-beside-reads", {"option": by_rule}),) if beside else ()),
            *(through_mount(_backing(option, job) or S3, job.facts) if option == MOUNTPOINT else ()),
            *_timing(stall, job),
            *waiting_for_export(savings[option], job),
            *_may_wait_for_export(savings[option], job),
            *_where_each_is_copied(savings, fit, option, job),
            *_worth(savings, fit, option, by_rule, reads=reads, job=job),
            *_in_parts(savings[option], job),
            *(_under_one_prefix(option, savings, job) if option == model != by_rule else ()),
            *(_sized_for(savings[option], job) if option == FSX else ()),
        ),
        mode=job.demand.checkpoint_mode,
        interval=stall.interval,
    )


def _by_model(
    preferred: str, fit: Mapping[str, OptionAnswer], savings: Mapping[str, Saving], *, reads: str, job: Job
) -> str | None:
    """The model's choice among the options that can do the job's file operations; None where it has no opinion.

    Out are those that are late; where all are, it takes the one that is late by least.  Of the others it takes the
    one whose storage, requests and waiting GPUs cost least, as long as that beats ``preferred`` beyond doubt; a system
    that the plan does not have otherwise has to be worth its setting up.  An option whose export falls behind is
    preferred to nothing: not every save there gets a copy that lasts, so it has to beat those where each does beyond
    doubt, by its bill alone.  That bill has the copies that it makes: which saves get one, and what it costs where each
    does, is said beside it.
    Where one of them is not priced it keeps ``preferred`` while that stalls no more than is tolerated, and else takes
    the one that stalls least; unless another is cheaper than that at any price.
    """
    if savings[preferred].stall.share is None:
        return None
    in_time = _in_time(preferred, fit, savings, job)
    totals = _totals(in_time, savings)
    if not in_time:
        return _least_late(preferred, _able(preferred, fit, job), savings, job)
    if not totals:
        by_time = _stalling_least(preferred, in_time, savings, job)
        return _cheaper_at_any_price(by_time, in_time, savings, reads=reads, job=job)
    to_set_up = {name: setting_up(name, reads, job) for name in totals}

    def in_all(name: str) -> float:
        return totals[name].value + to_set_up[name]

    copied = [name for name in totals if each_is_copied(savings[name], job)]

    def better(name: str, known: str) -> bool:
        gives_less = known in copied and name not in copied
        more = _more_to_set_up(name, known, reads=reads, gives_less=gives_less, job=job)
        return cheaper_beyond_doubt(totals[name], totals[known], to_save(more, job))

    def best_of(names: Iterable[str], known: str) -> str:
        """What is cheaper than ``known`` beyond doubt, the cheapest of those; else ``known``."""
        return min((name for name in names if better(name, known)), key=in_all, default=known)

    lasting = copied or list(totals)
    chosen = best_of(lasting, preferred if preferred in lasting else min(lasting, key=in_all))
    return best_of(totals, chosen)


def _more_to_set_up(name: str, known: str, *, reads: str, gives_less: bool, job: Job) -> float:
    """What setting up one option is worth more than another.  That it spares some is no reason where it gives less."""
    more = setting_up(name, reads, job) - setting_up(known, reads, job)
    return max(0.0, more) if gives_less else more


def _able(preferred: str, fit: Mapping[str, OptionAnswer], job: Job) -> list[str]:
    """Options that can write the files, and against which nothing is said that bears on saving."""
    most = job.facts.options[MOUNTPOINT].known("maximum_written_object").value
    able = [name for name in SYSTEMS if can_save(fit[name])]
    size = job.demand.checkpoint_bytes
    if size is not None and size.value / job.demand.checkpoint_writers > most:
        able = [name for name in able if name != MOUNTPOINT]
    return [name for name in able if name == preferred or _nothing_against(fit[name])]


def _in_time(preferred: str, fit: Mapping[str, OptionAnswer], savings: Mapping[str, Saving], job: Job) -> list[str]:
    return [name for name in _able(preferred, fit, job) if late(savings[name].stall, job) is None]


def _totals(names: list[str], savings: Mapping[str, Saving]) -> dict[str, Quantity]:
    """What each costs; nothing where one of them is priced in no Region: it might be the cheapest."""
    totals = {name: total for name in names if (total := savings[name].weighed) is not None}
    return totals if len(totals) == len(names) else {}


def _stalling_least(preferred: str, among: list[str], savings: Mapping[str, Saving], job: Job) -> str:
    """By times alone: ``preferred`` while it stalls no more than is tolerated, else the one that stalls least."""
    tolerance = stall_tolerance(job.workload, job.facts).value
    timed = {
        name: (stall.share.value, stall.save_seconds.value)
        for name in among
        if (stall := savings[name].stall).share is not None and stall.save_seconds is not None
    }
    if not timed or (preferred in timed and timed[preferred][0] <= tolerance):
        return preferred
    return min(timed, key=timed.__getitem__)


def _least_late(preferred: str, among: list[str], savings: Mapping[str, Saving], job: Job) -> str:
    """Where nothing is in time, what comes nearest: by how many times it is over the interval or the target."""

    def over(name: str) -> tuple[float, bool]:
        stall, target = savings[name].stall, job.workload.restore_target
        save = 0.0 if stall.save_seconds is None else stall.save_seconds.value / stall.interval
        restore = 0.0 if target is None or stall.restore_seconds is None else stall.restore_seconds.value / target
        return max(save, restore), name != preferred

    return min(among, key=over, default=preferred)


def _cheaper_at_any_price(known: str, among: list[str], savings: Mapping[str, Saving], *, reads: str, job: Job) -> str:
    """What is cheaper than ``known`` whatever the prices are that no Region has; else ``known``."""
    chosen = known
    for name in among:
        copied = each_is_copied(savings[name], job) or not each_is_copied(savings[chosen], job)
        if copied and saves_at_any_price(name, chosen, savings, reads=reads, job=job):
            chosen = name
    return chosen


def saves_at_any_price(name: str, other: str, savings: Mapping[str, Saving], *, reads: str, job: Job) -> bool:
    """Whether saving is cheaper there than on another option whatever the prices are that no Region has."""
    if name == other or not may_be_set_up(name, other, job, reads):
        return False
    least = to_save(setting_up(name, reads, job) - setting_up(other, reads, job), job)
    mine, theirs = (_known(savings[each], job) for each in (name, other))
    return cheaper_at_any_price(mine, theirs, least)


def _known(saving: Saving, job: Job) -> Known:
    """What is priced of saving there; a file system that the reads share costs more, by what is not known."""
    known = known_of(saving.lines, job.run.currency)
    if saving.option != FSX or saving.own is not None:
        return known
    if saving.room is None:
        return known._replace(unpriced={**known.unpriced, (FSX, "checkpoint-file-system"): None})
    return known._replace(amount=(known.amount + saving.room).named(job.run.currency))


def late(stall: CheckpointStall, job: Job) -> Reason | None:
    """What disqualifies an option, whatever it costs: a save into the next, or a restore beyond its target."""
    if stall.save_seconds is not None and stall.fits_interval is False:
        return Reason("save-exceeds-interval", {"seconds": stall.save_seconds, "interval": stall.interval})
    target, restore = job.workload.restore_target, stall.restore_seconds
    if target is not None and restore is not None and restore.value > target:
        return Reason("restore-misses-target", {"seconds": restore, "interval": target})
    return None


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
    if mine is None or not _totals(_in_time(option, fit, savings, job), savings):
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
    in_time = _in_time(option, fit, savings, job)
    cheaper = {name: total for name, total in _totals(in_time, savings).items() if total.value < mine.value}
    if not cheaper:
        return
    other = min(cheaper, key=lambda name: cheaper[name].value)
    found: dict[str, Any] = {"option": other, "cost": cheaper[other]}
    if cheaper_beyond_doubt(cheaper[other], mine, 0.0):
        gives_less = each_is_copied(savings[option], job) and not each_is_copied(savings[other], job)
        amount = to_save(_more_to_set_up(other, option, reads=reads, gives_less=gives_less, job=job), job)
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
        mine, theirs = _known(savings[option], job), _known(ruled, job)
        found = {"option": by_rule, "cost": mine.amount, "other_cost": theirs.amount}
        yield Reason("saving-cheaper-at-any-price", found | {"parts": theirs.parts})
    elif ruled.stall.share is not None:
        tolerance = stall_tolerance(job.workload, job.facts)
        found = {"option": by_rule, "share": ruled.stall.share, "tolerance": tolerance}
        yield Reason("saving-rule-stalls-more", found)


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


def each_is_copied(saving: Saving, job: Job) -> bool:
    """Whether each save gets a copy that lasts before the next one waits for its own."""
    return exported_every(saving.option, saving.supply.configuration, job.demand, job.facts) == 1


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
    totals = _totals(_in_time(option, fit, savings, job), savings)
    copied = {name: total for name, total in totals.items() if each_is_copied(savings[name], job)}
    if copied:
        other = min(copied, key=lambda name: copied[name].value)
        yield Reason("saving-with-each-copied", {"option": other, "cost": copied[other]})


def exports_behind(option: str, settings: Mapping[str, Any], job: Job) -> Backlog | None:
    """What waits for its copy in S3 where saves come faster than they are exported."""
    kept = kept_of(job.run.training_hours, job.workload, job.demand, job.facts)
    return backlog(option, settings, job.demand, kept=kept, facts=job.facts)


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


def _way_onto_s3(rule: RuleAnswer, fit: Mapping[str, OptionAnswer]) -> str:
    """The way to keep checkpoints on S3 that the rule takes, or the one with the least said against it."""
    ways = (S3_FILES, MOUNTPOINT)
    able = [option for option in (*ways, FSX, EXPRESS) if can_save(fit[option])]
    named = [option for option in (rule.option, *rule.also_allowed) if option in ways and option in able]
    others = sorted(able, key=lambda option: against(fit[option]))
    return [*named, *others, S3][0]


def _nothing_against(answer: OptionAnswer) -> bool:
    """Not ruled out, and nothing said against it that bears on saving."""
    return can_save(answer) and not against(answer)


def scratch(reads: str, job: Job) -> Placement:
    """Caches and intermediates: the instance's own NVMe where it has some, else the file system in use."""
    instance = job.facts.instances[job.workload.instance_type] if job.workload.instance_type else None
    has_nvme = instance is not None and instance.quantity("nvme_drives") is not None
    option = NVME if has_nvme or reads != FSX else FSX
    reason = "nvme-in-instance" if has_nvme else "nvme-unknown" if option == NVME else "scratch-on-file-system"
    return simple("scratch", option, "temporary", reason, delete_when="job-ends")
