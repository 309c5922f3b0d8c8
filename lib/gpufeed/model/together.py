"""Reads and checkpoints of one plan together: a system that serves both is set up, and a file system paid for, once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from gpufeed.facts.quantity import Quantity
from gpufeed.model import loading
from gpufeed.model.checkpoint_choice import Choice, choose_for_checkpoints, each_is_copied
from gpufeed.model.epochs import shares_to_size_for
from gpufeed.model.file_system_need import need_of, need_of_saves
from gpufeed.model.frozen import frozen
from gpufeed.model.fsx import said_with_the_plan
from gpufeed.model.job import Job
from gpufeed.model.plan_cost import plan_cost
from gpufeed.model.recommendation import Cost, OptionAnswer, Placement, Reason, Saving
from gpufeed.model.rules import EXPRESS, FSX, MOUNTPOINT, S3, S3_FILES, RuleAnswer
from gpufeed.model.saving import savings
from gpufeed.model.saving_file_system import unpriced_with_waiting
from gpufeed.model.weigh import (
    against,
    best_of_rule,
    cheaper_beyond_doubt,
    cheapest,
    compared,
    kept,
    least_saving,
    setting_up,
    to_save,
)

Fit = Mapping[str, OptionAnswer]


class Shared(NamedTuple):
    """A file system for both, worked out only where it is weighed: judged, and then with what is said of it."""

    judged: Callable[[], OptionAnswer]
    fitted: Callable[[OptionAnswer], OptionAnswer]


@frozen
class Together:
    """One place for the reads, the place for the checkpoints that goes with it, and the bill of both.

    ``answer`` is the option of the reads as the plan has it: a file system that holds the checkpoints as well is
    larger than one for the reads alone.  ``instead_of`` is what the reads by themselves would have chosen.
    """

    reads: str
    answer: OptionAnswer
    saves: Mapping[str, Saving]
    placed: Choice
    job: Job
    instead_of: Together | None = None

    @property
    def cost(self) -> Cost:
        return plan_cost(self.answer, self.saves[self.placed.option], self.job)

    @property
    def weighed(self) -> Quantity | None:
        return self.cost.weighed

    @property
    def each_copied(self) -> bool:
        """Whether each save gets a copy that lasts."""
        return each_is_copied(self.saves[self.placed.option], self.job)


def together(fit: Fit, shared: Shared, rule: RuleAnswer, *, job: Job) -> Together:
    """The reads' own choice, unless with the checkpoints one system for both costs less as a whole.

    ``shared`` judges a file system for both, which is paid once.  Each other option costs the checkpoints the same
    wherever the reads are, but spares setting up a second system where the reads are on it, too.  The rule's option for
    the reads gives way only to what is cheaper beyond doubt, as a whole as by the reads alone, and each system that one
    plan has and the other has not is worth its setting up.
    """
    alone = plan_with(cheapest(fit, rule, job), fit, shared, rule=rule, job=job)
    if alone.reads == FSX:
        return alone
    chosen, ruled = alone, best_of_rule(fit, rule).option == FSX
    if not _no_place_for_reads(FSX, alone, fit, job) and not _never(alone, fit, job, ruled=ruled):
        both = plan_with(FSX, fit, shared, rule=rule, job=job, known=alone.saves)
        better = better_plan(alone, both, job) if ruled else not better_plan(both, alone, job)
        if both.placed.option == FSX and not better:
            chosen = replace(both, instead_of=alone)
    for option in (EXPRESS, S3_FILES, MOUNTPOINT) if alone.reads != S3 else ():
        if option == alone.reads or _no_place_for_reads(option, alone, fit, job):
            continue
        both = plan_with(option, fit, shared, rule=rule, job=job, known=alone.saves)
        if both.placed.option == option and better_plan(both, chosen, job):
            chosen = replace(both, instead_of=alone)
    return chosen


def explained(reads: Placement, chosen: Together, job: Job) -> Placement:
    """The placement of the reads, with what they would have chosen by themselves."""
    other = chosen.instead_of
    if other is None or other.weighed is None or chosen.weighed is None:
        return reads
    found = {"option": other.reads} | _beside(other, chosen, job)
    return replace(reads, reasons=(*reads.reasons, Reason("cheaper-together", found)))


def _beside(other: Together, chosen: Together, job: Job) -> dict[str, Any]:
    """What the plan by the reads alone costs, what the chosen one does, and why it was not taken."""
    mine, theirs = other.weighed, chosen.weighed
    found: dict[str, Any] = {"other": other.placed.option, "for_both": chosen.reads, "cost": mine, "both": theirs}
    if mine is not None and theirs is not None:
        found["because"] = kept(mine, theirs, _least(other, chosen, job), job)
    return found


def in_plan(fit: Fit, chosen: Together) -> dict[str, OptionAnswer]:
    """The options as the plan has them: a file system that holds the checkpoints too, and its own stall."""
    reads, alone = chosen.reads, fit[chosen.reads]
    shown = {**fit, reads: chosen.answer}
    if chosen.answer is not alone:
        shown[reads] = replace(
            chosen.answer,
            without_checkpoints=alone.cost.beyond_base,
            without_checkpoints_elsewhere=alone.cost.elsewhere,
        )
    shown[FSX] = replace(shown[FSX], stall=chosen.saves[FSX].stall)
    return shown


def ordered(chosen: Together) -> tuple[Reason, ...]:
    """What is said of the file system that the plan orders; nothing where it orders none."""
    job, saves = chosen.job, chosen.placed.option == FSX
    if chosen.reads == FSX:
        needs = [need_of(job, share, saves=saves) for share in shares_to_size_for(job.passes)]
        settings = chosen.answer.supply.configuration
        return (*chosen.answer.reasons, *unpriced_with_waiting(settings, needs, job, saves=saves))
    own = chosen.saves[FSX].own
    if own is None or not saves:
        return ()
    return (*said_with_the_plan(own), *unpriced_with_waiting(own.settings, [need_of_saves(job)], job, weights=False))


def against_the_rest(answer: OptionAnswer, chosen: Together, best: OptionAnswer, job: Job) -> OptionAnswer:
    """One option beside the answer, by what each costs as the place of the reads alone, and beside the whole plan."""
    other = chosen.instead_of
    if other is None or other.reads != answer.option or other.weighed is None or chosen.weighed is None:
        return compared(answer, best, job, together=other is not None)
    found = {"option": chosen.reads} | _beside(other, chosen, job)
    return replace(answer, verdict="works-but", reasons=(*answer.reasons, Reason("cheaper-apart", found)))


def plan_with(
    reads: str, fit: Fit, shared: Shared, *, rule: RuleAnswer, job: Job, known: Mapping[str, Saving] | None = None
) -> Together:
    """The plan with the reads on one option; ``known``: what saving costs with the reads on another."""
    both = shared.judged() if reads == FSX else None
    saves = savings(fit, both, job, known)
    placed = choose_for_checkpoints(rule, fit, saves, reads=reads, job=job)
    answer = shared.fitted(both) if both is not None and placed.option == FSX else fit[reads]
    return Together(reads, answer, saves, placed, job)


def _no_place_for_reads(option: str, alone: Together, fit: Fit, job: Job) -> bool:
    """Whether an option is none for the reads, whatever it costs."""
    reads = fit[option]
    return reads.verdict == "ruled-out" or bool(against(reads)) or loading.ends_later(reads, alone.answer, job)


def _never(alone: Together, fit: Fit, job: Job, *, ruled: bool) -> bool:
    """Whether a file system for both cannot change the choice, without judging it.

    It costs no less than one for the reads alone, and in the middle no less than what saving on one for the checkpoints
    alone does, which has the least sum of price and waiting GPUs.
    """
    least, whole = fit[FSX].cost.weighed, alone.weighed
    if least is None or whole is None or job.demand.checkpoint_bytes is None:
        return True
    saving = alone.saves[FSX]
    of_saves = 0.0 if saving.own is None or saving.weighed is None else saving.weighed.value
    if ruled:
        least_of_both = least_saving(job) + _systems(alone, job)
        return whole.high < of_saves - least_of_both or cheaper_beyond_doubt(whole, least, least_of_both)
    return whole.value - to_save(setting_up(FSX, "", job) - _systems(alone, job), job) <= max(least.value, of_saves)


def better_plan(one: Together, other: Together, job: Job, *, more: float = 0.0) -> bool:
    """Cheaper as a whole beyond doubt, by what its systems, and ``more``, have to be worth."""
    mine, theirs = one.weighed, other.weighed
    if mine is None or theirs is None:
        return False
    return cheaper_beyond_doubt(mine, theirs, _least(one, other, job, more))


def _least(one: Together, other: Together, job: Job, besides: float = 0.0) -> float:
    """What the one has to save to take the place of the other; to spare a system is no reason where saves last less."""
    more = _systems(one, job) - _systems(other, job) + besides
    gives_less = other.each_copied and not one.each_copied
    return to_save(max(0.0, more) if gives_less else more, job)


def _systems(plan: Together, job: Job) -> float:
    """What the systems of a plan beside S3 have to be worth."""
    return sum(setting_up(option, "", job) for option in {plan.reads, plan.placed.option})
