"""Which of two options is better: what is said against each, what setting it up is worth, and what it has to save."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from gpufeed.facts.quantity import Quantity
from gpufeed.model import fsx, loading
from gpufeed.model.any_price import cheaper_at_any_price, known_of
from gpufeed.model.job import Job
from gpufeed.model.paths import crossing
from gpufeed.model.recommendation import OptionAnswer, Reason
from gpufeed.model.rules import EXPRESS, FSX, S3, SYSTEMS, RuleAnswer


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
        across, crosses = (crossing(one.cost.lines, "transfer")[1] for one in (answer, best))
        found = {"option": best.option, "cost": cost, "best": other, "across": across, "best_across": crosses}
        yield Reason("cheaper-in-place", found)


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
