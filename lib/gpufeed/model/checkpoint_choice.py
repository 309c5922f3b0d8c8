"""Which option holds the checkpoints: the opinions of the published rule and of the model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from gpufeed.facts.quantity import Quantity
from gpufeed.model.any_price import Known, cheaper_at_any_price, known_of
from gpufeed.model.demand import stall_tolerance
from gpufeed.model.job import Job
from gpufeed.model.recommendation import CheckpointStall, OptionAnswer, Reason, Saving
from gpufeed.model.release import (
    exported_every,
)
from gpufeed.model.rules import EXPRESS, FSX, MOUNTPOINT, S3, S3_FILES, SYSTEMS, RuleAnswer
from gpufeed.model.weigh import against, can_save, cheaper_beyond_doubt, may_be_set_up, setting_up, to_save


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
    able = in_time(preferred, fit, savings, job)
    totals = totals_of(able, savings)
    if not able:
        return _least_late(preferred, _able(preferred, fit, job), savings, job)
    if not totals:
        by_time = _stalling_least(preferred, able, savings, job)
        return _cheaper_at_any_price(by_time, able, savings, reads=reads, job=job)
    to_set_up = {name: setting_up(name, reads, job) for name in totals}

    def in_all(name: str) -> float:
        return totals[name].value + to_set_up[name]

    copied = [name for name in totals if each_is_copied(savings[name], job)]

    def better(name: str, known: str) -> bool:
        gives_less = known in copied and name not in copied
        more = more_to_set_up(name, known, reads=reads, gives_less=gives_less, job=job)
        return cheaper_beyond_doubt(totals[name], totals[known], to_save(more, job))

    def best_of(names: Iterable[str], known: str) -> str:
        """What is cheaper than ``known`` beyond doubt, the cheapest of those; else ``known``."""
        return min((name for name in names if better(name, known)), key=in_all, default=known)

    lasting = copied or list(totals)
    chosen = best_of(lasting, preferred if preferred in lasting else min(lasting, key=in_all))
    return best_of(totals, chosen)


def more_to_set_up(name: str, known: str, *, reads: str, gives_less: bool, job: Job) -> float:
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


def in_time(preferred: str, fit: Mapping[str, OptionAnswer], savings: Mapping[str, Saving], job: Job) -> list[str]:
    return [name for name in _able(preferred, fit, job) if late(savings[name].stall, job) is None]


def totals_of(names: list[str], savings: Mapping[str, Saving]) -> dict[str, Quantity]:
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
    mine, theirs = (known_of_saving(savings[each], job) for each in (name, other))
    return cheaper_at_any_price(mine, theirs, least)


def known_of_saving(saving: Saving, job: Job) -> Known:
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


def each_is_copied(saving: Saving, job: Job) -> bool:
    """Whether each save gets a copy that lasts before the next one waits for its own."""
    return exported_every(saving.option, saving.supply.configuration, job.demand, job.facts) == 1


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
