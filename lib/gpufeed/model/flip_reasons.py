"""Why a role goes elsewhere beyond a flip point: what is different on its two sides."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from gpufeed.facts.quantity import Quantity
from gpufeed.model import loading
from gpufeed.model.advise import Decision, plan_of
from gpufeed.model.checkpoint_choice import late, saves_at_any_price
from gpufeed.model.checkpoint_reasons import waiting_for_export
from gpufeed.model.demand import stall_tolerance
from gpufeed.model.frozen import frozen
from gpufeed.model.job import Job
from gpufeed.model.recommendation import OptionAnswer, Reason, Recommendation
from gpufeed.model.rules import EXPRESS, MOUNTPOINT
from gpufeed.model.weigh import (
    COMPARISONS,
    NOT_AGAINST,
    OF_CHECKPOINTS,
    beats_at_any_price,
    best_of_rule,
    cheaper_beyond_doubt,
    kept,
    setting_up,
    to_replace,
    to_save,
)


def why(role: str, before: Decision, after: Decision) -> Reason:
    """What is different on the two sides of a flip: the first of these that is, in the order in which they decide.

    A rule that fires or stops firing; what is said against an option on one side alone; for checkpoints the limit that
    a save, a restore or an export crosses; then the cost, or where there are no prices how fed the GPUs are.  Nothing
    is named that holds on both sides.
    """
    one, other = plan_of(before), plan_of(after)
    old, new = one.placements[role].option, other.placements[role].option
    if role == "scratch":
        return Reason("flip-follows-reads", {"option": other.recommended})
    if other.placements[role].rule == new != one.placements[role].rule:
        return _why_rule(one, other)
    lost = _newly_against(one.option(old), other.option(old))
    if lost is not None:
        return Reason("flip-loses", {"option": old, "because": lost})
    won = _newly_against(other.option(new), one.option(new))
    if won is not None:
        return Reason("flip-wins", {"option": new, "because": won})
    by_mount = _why_mounts(role, before, after)
    if by_mount is not None:
        return by_mount
    if role == "checkpoints":
        return _why_checkpoints(old, new, (one, before.job), (other, after.job))
    found = [next((r for r in p.placements[role].reasons if r.id == "cheaper-together"), None) for p in (one, other)]
    for here, there, because in ((1, 0, "flip-together"), (0, 1, "flip-apart")):
        whole = found[here]
        if whole is not None and found[there] is None:
            return Reason(because, whole.parameters)
    beside = _reads_beside(old, new, before), _reads_beside(old, new, after)
    by_worth = _why_spared(*beside) or _why_worth(*beside)
    if by_worth is not None:
        return by_worth
    left = [best_of_rule(side.fit, side.rule).option for side in (before, after)]
    return _why_rule_or_costs(left[0] != left[1], (one, other), beside[1])


def _why_mounts(role: str, before: Decision, after: Decision) -> Reason | None:
    """That another bucket is mounted beyond the flip, and what the plan with the one before it costs then."""
    now, then, other = before.job.load.mounted, after.job.load.mounted, after.other_mount
    if now == then or other is None or MOUNTPOINT not in (before.options[role], after.options[role]):
        return None
    mine, theirs = after.whole.weighed, other.weighed
    if mine is None or theirs is None:
        return None
    found: dict[str, Any] = {"option": then, "other": now, "cost": mine, "other_cost": theirs}
    if then == EXPRESS:
        return Reason("flip-mounts", found)
    because = kept(theirs, mine, to_save(setting_up(EXPRESS, "", after.job), after.job), after.job)
    return Reason("flip-mounts-no-more", found | {"because": because})


#: Rules that say something of an answer and never choose it.
_REMARKS = frozenset({"durable-base", "temporary", "reference-architecture", "s3-needs-a-second-look"})


def _why_rule(before: Recommendation, after: Recommendation) -> Reason:
    fired = tuple(rule for rule in after.rule.rules if rule not in before.rule.rules and rule not in _REMARKS)
    ended = tuple(rule for rule in before.rule.rules if rule not in after.rule.rules and rule not in _REMARKS)
    if fired:
        return Reason("flip-rule-fires", {"rules": fired})
    if ended:
        return Reason("flip-rule-ends", {"rules": ended})
    changed = tuple(sorted(set(before.rule.triggers) ^ set(after.rule.triggers)))
    return Reason("flip-rule-turns", {"triggers": changed})


def _newly_against(before: OptionAnswer, after: OptionAnswer) -> Reason | None:
    """What is said against an option after, and was not before."""
    said = {(reason.id, str(reason.parameters.get("operation"))) for reason in before.reasons}
    comparisons = NOT_AGAINST | COMPARISONS | OF_CHECKPOINTS
    new = (r for r in after.reasons if r.id not in comparisons)
    return next((r for r in new if (r.id, str(r.parameters.get("operation"))) not in said), None)


@frozen
class Beside:
    """The options of the two sides of a flip as one side sees them: what each costs, and what the new one has to save
    to take the place of the old one, and the old one that of the new one.
    """

    old: str
    new: str
    old_cost: Quantity | None
    new_cost: Quantity | None
    for_new: float
    for_old: float
    currency: str
    set_up: float = 0.0  # what the new one has to save more than the old one for being set up
    old_fed: Quantity | None = None
    new_fed: Quantity | None = None
    new_ends_later: bool = False
    old_ends_later: bool = False
    new_at_any_price: bool = False  # the new one is cheaper whatever the prices are that no Region has
    old_at_any_price: bool = False


def _reads_beside(old: str, new: str, side: Decision) -> Beside:
    was, becomes, job = side.fit[old], side.fit[new], side.job
    return Beside(
        *(old, new, was.weighed, becomes.weighed),
        for_new=to_replace(new, was, job),
        for_old=to_replace(old, becomes, job),
        currency=job.run.currency,
        set_up=setting_up(new, "", job) - setting_up(old, "", job),
        old_fed=was.fed,
        new_fed=becomes.fed,
        new_ends_later=loading.ends_later(becomes, was, job),
        old_ends_later=loading.ends_later(was, becomes, job),
        new_at_any_price=beats_at_any_price(becomes, was, job),
        old_at_any_price=beats_at_any_price(was, becomes, job),
    )


def _saves_beside(old: str, new: str, plan: Recommendation, job: Job) -> Beside:
    set_up = setting_up(new, plan.recommended, job) - setting_up(old, plan.recommended, job)
    saves = {one.option: one for one in plan.savings}
    return Beside(
        *(old, new, plan.saving(old).weighed, plan.saving(new).weighed),
        for_new=to_save(set_up, job),
        for_old=to_save(-set_up, job),
        currency=plan.currency,
        set_up=set_up,
        new_at_any_price=saves_at_any_price(new, old, saves, reads=plan.recommended, job=job),
        old_at_any_price=saves_at_any_price(old, new, saves, reads=plan.recommended, job=job),
    )


def _why_at_any_price(before: Beside, after: Beside) -> Reason | None:
    """Where not all is priced: what is cheaper at any price on one side alone."""
    found = {"option": after.new, "other": after.old}
    if after.new_at_any_price and not before.new_at_any_price:
        return Reason("flip-at-any-price", found)
    if before.old_at_any_price and not after.old_at_any_price:
        return Reason("flip-price-may-decide", found)
    return None


_Side = tuple[Recommendation, Job]


def _why_checkpoints(old: str, new: str, before: _Side, after: _Side) -> Reason:
    (one, job_before), (other, job_after) = before, after
    stall, facts = other.saving(old).stall, job_after.facts
    late_now, late_before = late(stall, job_after), late(one.saving(old).stall, job_before)
    if late_now is not None and late_before is None:
        told = "flip-interval" if late_now.id == "save-exceeds-interval" else "flip-restore"
        return Reason(told, {"option": old, **late_now.parameters})
    was_late = late(one.saving(new).stall, job_before)
    if was_late is not None and late(other.saving(new).stall, job_after) is None:
        return Reason("flip-wins", {"option": new, "because": was_late})
    behind = [next(waiting_for_export(plan.saving(old), job), None) for plan, job in (before, after)]
    if behind[1] is not None and behind[0] is None:
        return Reason("flip-loses", {"option": old, "because": behind[1]})
    behind = [next(waiting_for_export(plan.saving(new), job), None) for plan, job in (before, after)]
    if behind[0] is not None and behind[1] is None:
        return Reason("flip-wins", {"option": new, "because": behind[0]})
    if one.recommended != other.recommended and other.recommended == new:
        return Reason("flip-follows-reads", {"option": new})
    beside = [
        next((r for r in plan.placements["checkpoints"].reasons if r.id == "checkpoints-beside-reads"), None)
        for plan in (one, other)
    ]
    if beside[1] is not None and beside[0] is None:
        return Reason("flip-beside-reads", beside[1].parameters)
    sides = _saves_beside(old, new, one, job_before), _saves_beside(old, new, other, job_after)
    if sides[1].new_cost is not None and sides[1].old_cost is not None:
        return (
            _why_spared(*sides)
            or _why_worth(*sides)
            or _why_rule_or_costs(
                one.placements["checkpoints"].rule != other.placements["checkpoints"].rule, (one, other), sides[1]
            )
        )
    if (by_any_price := _why_at_any_price(*sides)) is not None:
        return by_any_price
    tolerated = [stall_tolerance(plan.workload, facts) for plan in (one, other)]
    share, earlier = stall.share, one.saving(old).stall.share
    within = earlier is None or earlier.value <= tolerated[0].value
    if share is not None and share.value > tolerated[1].value and within:
        return Reason("flip-stall", {"option": old, "share": share, "tolerance": tolerated[1]})
    shares = {"option": new, "share": other.saving(new).stall.share, "other": old, "other_share": share}
    return Reason("flip-stalls-less", shares)


def _why_worth(before: Beside, after: Beside) -> Reason | None:
    """Which of the two is worth more, and what of it was not so before; None where what is weighed is no other.

    An option takes the place of the one that the rule or the other roles ask for only where it is cheaper in the middle
    and in the worst case, and by enough.
    """
    mine, theirs = after.new_cost, after.old_cost
    mine_before, theirs_before = before.new_cost, before.old_cost
    if mine is None or theirs is None or mine_before is None or theirs_before is None:
        fed = {"option": after.new, "fed": after.new_fed, "other": after.old, "other_fed": after.old_fed}
        return _why_at_any_price(before, after) or Reason("flip-fed", fed)
    costs: dict[str, Any] = {"option": after.new, "cost": mine, "other": after.old, "other_cost": theirs}
    for later, sooner, option in (
        (before.new_ends_later, after.new_ends_later, after.new),
        (after.old_ends_later, before.old_ends_later, after.old),
    ):
        if later and not sooner:
            return Reason("flip-ends-sooner" if option == after.new else "flip-ends-later", costs)
    # What is dearer may be taken, too (:func:`_why_spared`).
    if mine.value < theirs.value and cheaper_beyond_doubt(mine, theirs, after.for_new):
        if not cheaper_beyond_doubt(mine_before, theirs_before, 0.0):
            return Reason("flip-cost", costs)
        if not cheaper_beyond_doubt(mine_before, theirs_before, before.for_new):
            return Reason("flip-saves-enough", costs | _amounts(before, after, before.for_new, after.for_new))
    if theirs_before.value < mine_before.value and cheaper_beyond_doubt(theirs_before, mine_before, before.for_old):
        if not cheaper_beyond_doubt(theirs, mine, 0.0):
            return Reason("flip-no-doubt-left", costs)
        if not cheaper_beyond_doubt(theirs, mine, after.for_old):
            return Reason("flip-saves-too-little", costs | {"amount": after.for_old, "currency": after.currency})
    # Of several that are worth it the least sum is taken, with what setting up each is worth.
    if mine.value + after.set_up >= theirs.value or mine_before.value + before.set_up < theirs_before.value:
        return None
    if (mine.value < theirs.value) != (mine_before.value < theirs_before.value):
        return Reason("flip-cheaper-in-the-middle", costs)
    if mine.value < theirs.value:
        return Reason("flip-saves-enough", costs | _amounts(before, after, before.set_up, after.set_up))
    turned = _turned(before), _turned(after)
    return Reason("flip-not-worth-setting-up", costs | _amounts(*turned, turned[0].set_up, turned[1].set_up))


def _why_spared(before: Beside, after: Beside) -> Reason | None:
    """Where the dearer of the two is taken for the system that it spares on one side, and is too dear on the other."""
    was, then = _turned(before), _turned(after)
    costs: dict[str, Any] = {
        "option": after.new,
        "cost": after.new_cost,
        "other": after.old,
        "other_cost": after.old_cost,
    }
    if _spares(after) and _costs_too_much(before):
        amounts = _amounts(was, then, -before.for_new, -after.for_new)
        return Reason("flip-not-worth-setting-up", costs | amounts)
    if _spares(was) and _costs_too_much(then):
        return Reason("flip-saves-enough", costs | _amounts(before, after, -was.for_new, -then.for_new))
    return None


def _spares(it: Beside) -> bool:
    """Whether the new option is dearer, and worth it: setting up the old one would cost more."""
    mine, theirs = it.new_cost, it.old_cost
    if mine is None or theirs is None or mine.value < theirs.value:
        return False
    return cheaper_beyond_doubt(mine, theirs, it.for_new)


def _costs_too_much(it: Beside) -> bool:
    return it.new_cost is not None and it.old_cost is not None and it.new_cost.value >= it.old_cost.value - it.for_new


def _turned(it: Beside) -> Beside:
    """The same seen from the old option."""
    return replace(
        it, old_cost=it.new_cost, new_cost=it.old_cost, for_new=it.for_old, for_old=it.for_new, set_up=-it.set_up
    )


def _amounts(before: Beside, after: Beside, needed_before: float, needed: float) -> dict[str, Any]:
    """What the new option saves in the middle, and what it has to save, on the two sides."""
    saved = [
        0.0 if it.old_cost is None or it.new_cost is None else it.old_cost.value - it.new_cost.value
        for it in (before, after)
    ]
    money = {"saved_before": saved[0], "needed_before": needed_before, "saved": saved[1], "needed": needed}
    return {name: Quantity.exact(amount, after.currency) for name, amount in money.items()}


def _why_rule_or_costs(asks_for_another: bool, sides: tuple[Recommendation, Recommendation], after: Beside) -> Reason:
    """Where neither option has newly become the better one of the two: what the published rule asks for, or leaves,
    is another, or the choice among several is.
    """
    (before, then), found = sides, {"option": after.new, "cost": after.new_cost}
    ruled = ((plan.rule.rules, plan.rule.triggers) for plan in (before, then))
    if asks_for_another and next(ruled) != next(ruled):
        return _why_rule(before, then)
    return Reason("flip-weighed", found | {"other": after.old, "other_cost": after.old_cost})
