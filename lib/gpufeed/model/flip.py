"""Flip points: the smallest change of one trait that changes where a data role goes, and why it does."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from gpufeed.facts import Facts
from gpufeed.facts.quantity import Quantity
from gpufeed.model import loading
from gpufeed.model import workload as entered
from gpufeed.model.advise import Decision, decide, plan_of
from gpufeed.model.demand import preset_of, stall_tolerance
from gpufeed.model.frozen import frozen
from gpufeed.model.job import Job, job_of
from gpufeed.model.judge import (
    COMPARISONS,
    NOT_AGAINST,
    best_of_rule,
    cheaper_beyond_doubt,
    least_saving,
    setting_up,
    to_replace,
)
from gpufeed.model.measurement import Measurement
from gpufeed.model.placements import late, waiting_for_export
from gpufeed.model.profile import PrefixProfile
from gpufeed.model.recommendation import CheckpointStall, Evaluation, FlipPoint, OptionAnswer, Reason, Recommendation
from gpufeed.model.retention import kept_checkpoints
from gpufeed.model.workload import Workload

#: How far each trait is followed, as a factor of its value now, and how many steps that takes per factor of ten.
SPAN = 100.0
STEPS_PER_DECADE = 8
#: A cluster of any size is followed at least this far: beyond the last threshold of the published rule.
MOST_INSTANCES = 1024
#: Whole numbers up to this one are followed one by one, and so are the first step and the one with the flip, where
#: they have no more than so many.
FEW, FEW_IN_A_STEP = 8, 50
#: How close the bisection of a real number comes to the flip.
CLOSE = 1.01
#: A restore target that was not stated is looked for from this long down to a second.
LONGEST_RESTORE = 86_400.0


@dataclass(frozen=True, slots=True)
class Trait:
    """A trait that is varied alone: what it is now (None: nothing until it is stated) and where it is followed."""

    name: str
    now: float | None
    low: float
    high: float
    stated: bool
    unit: str

    @property
    def whole(self) -> bool:
        return entered.NUMBERS[self.name].whole

    def set_to(self, value: float, workload: Workload) -> Workload:
        number: Any = int(value) if self.whole else value
        if self.name == "checkpoint_interval":  # a stated word would hide the interval
            return replace(workload, checkpoint_interval=number, checkpoints=None)
        return replace(workload, **{self.name: number})


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """How far one trait can move: its flips on either side, nearest first, within the range that was followed."""

    trait: Trait
    flips: tuple[FlipPoint, ...]

    @property
    def below(self) -> FlipPoint | None:
        """The nearest flip at or below the value now; None where there is none down to ``trait.low``."""
        return self._on_side(-1)

    @property
    def above(self) -> FlipPoint | None:
        return self._on_side(1)

    @property
    def factor(self) -> float:
        """How many times more or less it takes to the nearest flip; infinite where there is none."""
        ratios = [max(flip.at / flip.now, flip.now / flip.at) for flip in self.flips if flip.now is not None]
        return min(ratios, default=math.inf)

    def _on_side(self, side: int) -> FlipPoint | None:
        now = math.inf if self.trait.now is None else self.trait.now
        return next((flip for flip in self.flips if (flip.at - now) * side > 0 or flip.at == now), None)


def sensitivities(
    plan: Recommendation,
    facts: Facts,
    *,
    profile: PrefixProfile | None = None,
    measurement: Measurement | None = None,
) -> Iterator[Sensitivity]:
    """For each trait in turn, the nearest flip on either side of each role.

    A search over whole evaluations, one trait at a time, everything else as it is: outwards from its value now in
    ``STEPS_PER_DECADE`` equal ratios per factor of ten, as far as ``SPAN`` times more and less or the bounds of the
    field; then bisection, to one percent or to the whole number, with ``at`` on the far side.  Traits need not be
    monotone; only an answer that changes and changes back between two neighbours of that grid (a factor of 1.33) is
    not seen.  Of whole numbers every one is tried up to ``FEW``, in the first step and in the step with the flip: a
    file system grows in steps, so that an answer may change and change back within a few instances.

    A trait left at its default is followed from there; where stating that very value already changes the answer,
    because an assumed range then becomes a number, the flip is ``at`` now.
    """
    now = decide(plan.workload, facts, profile=profile, measurement=measurement)
    for trait in traits(plan, facts, profile):
        flips = _Search(trait, now, profile).flips()
        start = trait.high if trait.now is None else trait.now
        yield Sensitivity(trait, tuple(sorted(flips, key=lambda flip: abs(flip.at - start))))


def flip_points(
    plan: Recommendation,
    facts: Facts,
    *,
    profile: PrefixProfile | None = None,
    measurement: Measurement | None = None,
) -> tuple[list[FlipPoint], dict[str, tuple[float, float]]]:
    """All flips of :func:`sensitivities`, and the range in which each trait was followed."""
    each = list(sensitivities(plan, facts, profile=profile, measurement=measurement))
    flips = [flip for sensitivity in each for flip in sensitivity.flips]
    return flips, {one.trait.name: (one.trait.low, one.trait.high) for one in each}


#: A value, and what is decided there.
_Tried = tuple[float, Decision]


class _Search:
    """The flips of one trait.

    What is decided is kept for its value now and the far ends alone: all of a scan would keep the garbage collector
    busy.
    """

    def __init__(self, trait: Trait, now: Decision, profile: PrefixProfile | None) -> None:
        self._trait, self._now, self._profile = trait, now, profile
        self._kept: dict[float, Decision] = {}
        # Stating a default may change the answer, since its assumed range is gone then.
        self._as_it_is = trait.now is not None and trait.set_to(trait.now, now.job.workload) == now.job.workload
        if trait.now is not None and self._as_it_is:
            self._kept[trait.now] = now

    def flips(self) -> Iterator[FlipPoint]:
        trait, now = self._trait, self._now
        waiting = set(now.options)
        if trait.now is None:
            yield from self._outwards(trait.high, trait.low, now, waiting)
            return
        if not self._as_it_is:
            as_stated = self._kept[trait.now] = self._at(trait.now)
            for role in self._changed(as_stated, waiting):
                waiting.discard(role)
                yield self._point(role, trait.now, now, as_stated)
        for bound in (trait.low, trait.high):
            yield from self._outwards(trait.now, bound, now, set(waiting))

    def _outwards(self, start: float, bound: float, before: Decision, waiting: set[str]) -> Iterator[FlipPoint]:
        """The first change of each waiting role from ``start``, where ``before`` is decided, to the bound."""
        last, values = start, iter(_grid(start, bound, self._trait.whole))
        if self._trait.now is None:  # then the start has itself to be tried: "not stated" comes before it
            here = self._at(start)
            yield from self._found(waiting, (start, before), (start, here))
            before = here
        first = True
        for value in values:
            here = self._at(value)
            yield from self._found(waiting, (last, before), (value, here))
            if not waiting or (first and self._without_influence(before, (value, here), bound)):
                return
            last, before, first = value, here, False

    def _found(self, waiting: set[str], near: _Tried, far: _Tried) -> Iterator[FlipPoint]:
        """The flips of the waiting roles in (near, far]; they wait no longer."""
        between: dict[float, Decision] = {}  # roles that flip in one step mostly flip at one value
        for role in self._changed(far[1], waiting):
            waiting.discard(role)
            yield self._narrowed(role, near, far, between)

    def _without_influence(self, before: Decision, first: _Tried, bound: float) -> bool:
        """Whether the trait decides nothing here: all that does is the same at the start, the first step and beyond.

        Beyond is the bound, and half way to it.
        """
        value, here = first
        decides = _deciding(here)
        if _deciding(before) != decides:
            return False
        there = self._kept[bound] = self._at(bound)
        middle = math.sqrt(value * bound)
        half_way = float(round(middle)) if self._trait.whole else middle
        return decides == _deciding(there) == _deciding(self._at(half_way))

    def _narrowed(self, role: str, near: _Tried, far: _Tried, between: dict[float, Decision]) -> FlipPoint:
        """Narrow (near, far] down to the value nearest to ``near`` where the role's option is another one.

        What is decided on the way is kept in ``between``.
        """
        option, whole = self._now.options[role], self._trait.whole
        (inside, before), (outside, after) = near, far
        side = 1.0 if outside > inside else -1.0
        each = whole and abs(outside - inside) <= FEW_IN_A_STEP
        while abs(outside - inside) > 1 if whole else max(inside, outside) / min(inside, outside) > CLOSE:
            middle = float(round((inside + outside) / 2)) if whole else math.sqrt(inside * outside)
            middle = inside + side if each else middle
            if middle not in between:
                between[middle] = self._at(middle)
            here = between[middle]
            if here.options[role] == option:
                inside, before = middle, here
            else:
                outside, after = middle, here
        return self._point(role, outside, before, after)

    def _point(self, role: str, at: float, before: Decision, after: Decision) -> FlipPoint:
        trait = self._trait
        return FlipPoint(
            trait=trait.name,
            now=trait.now,
            at=at,
            role=role,
            option=after.options[role],
            from_option=self._now.options[role],
            reason=why(role, before, after),
            stated=trait.stated,
            unit=trait.unit,
        )

    def _changed(self, here: Decision, waiting: set[str]) -> list[str]:
        now = self._now.options
        return sorted(role for role, option in here.options.items() if role in waiting and option != now[role])

    def _at(self, value: float) -> Decision:
        if value in self._kept:
            return self._kept[value]
        now = self._now
        workload = self._trait.set_to(value, now.job.workload)
        return decide(workload, now.job.facts, profile=self._profile, measurement=now.measurement, like=now)


def _deciding(decision: Decision) -> tuple[Any, ...]:
    """All that decides: what is merely shown, such as how much more an option gives than is asked, may differ."""
    whole, run = decision.whole, decision.job.run
    fit = {name: _weighed(answer) for name, answer in decision.fit.items()}
    target = decision.job.workload.restore_target
    saves = {name: (saving.weighed, *_timed(saving.stall, target)) for name, saving in whole.saves.items()}
    # What a choice has to save to be one follows from price and hours.
    needed = run.weighed_gpu_price, run.hours
    return decision.rule, decision.options, needed, fit, _weighed(whole.answer), saves


def _timed(stall: CheckpointStall, target: float | None) -> tuple[Any, ...]:
    return stall.save_seconds, stall.share, None if target is None else stall.restore_seconds


def _weighed(answer: OptionAnswer) -> tuple[Any, ...]:
    said = [reason.id for reason in answer.reasons]
    return answer.verdict, said, answer.weighed, answer.fed, answer.first_epoch.loading


def _grid(start: float, bound: float, whole: bool) -> Iterator[float]:
    """From next to ``start`` to ``bound``, in equal ratios; whole numbers each once, and few of them one by one."""
    side, round_ = (1.0, math.ceil) if bound > start else (-1.0, math.floor)
    factor = 10.0 ** (side / STEPS_PER_DECADE)
    one_by_one = start * factor if abs(start * factor - start) <= FEW_IN_A_STEP else start
    value = start
    while value != bound:
        following = value * factor
        if whole:
            each = max(value, value + side) <= FEW or (one_by_one - value) * side > 0
            following = value + side if each else float(round_(following))
        value = min(following, bound) if side > 0 else max(following, bound)
        yield value


# ---- why -------------------------------------------------------------------------------------------------------------


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
    if role == "checkpoints":
        return _why_checkpoints(old, new, (one, before.job), (other, after.job))
    found = [next((r for r in p.placements[role].reasons if r.id == "cheaper-together"), None) for p in (one, other)]
    for here, there, because in ((1, 0, "flip-together"), (0, 1, "flip-apart")):
        whole = found[here]
        if whole is not None and found[there] is None:
            return Reason(because, whole.parameters)
    by_worth = _why_worth(_reads_beside(old, new, before), _reads_beside(old, new, after))
    if by_worth is not None:
        return by_worth
    left = [best_of_rule(side.fit, side.rule).option for side in (before, after)]
    return _why_rule_or_costs(left[0] != left[1], (one, other), _reads_beside(old, new, after))


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
    comparisons = NOT_AGAINST | COMPARISONS
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


def _reads_beside(old: str, new: str, side: Decision) -> Beside:
    was, becomes, job = side.fit[old], side.fit[new], side.job
    return Beside(
        *(old, new, was.weighed, becomes.weighed),
        for_new=to_replace(new, was, job),
        for_old=to_replace(old, becomes, job),
        currency=job.run.currency,
        old_fed=was.fed,
        new_fed=becomes.fed,
        new_ends_later=loading.ends_later(becomes, was, job),
        old_ends_later=loading.ends_later(was, becomes, job),
    )


def _saves_beside(old: str, new: str, plan: Recommendation, job: Job) -> Beside:
    set_up = setting_up(new, plan.recommended, job) - setting_up(old, plan.recommended, job)
    return Beside(
        *(old, new, plan.saving(old).weighed, plan.saving(new).weighed),
        for_new=least_saving(job) + set_up,
        for_old=least_saving(job) - set_up,
        currency=plan.currency,
        set_up=set_up,
    )


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
        return _why_worth(*sides) or _why_rule_or_costs(
            one.placements["checkpoints"].rule != other.placements["checkpoints"].rule, (one, other), sides[1]
        )
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
        return Reason("flip-fed", fed)
    costs: dict[str, Any] = {"option": after.new, "cost": mine, "other": after.old, "other_cost": theirs}
    for later, sooner, option in (
        (before.new_ends_later, after.new_ends_later, after.new),
        (after.old_ends_later, before.old_ends_later, after.old),
    ):
        if later and not sooner:
            return Reason("flip-ends-sooner" if option == after.new else "flip-ends-later", costs)
    if cheaper_beyond_doubt(mine, theirs, after.for_new):
        if not cheaper_beyond_doubt(mine_before, theirs_before, 0.0):
            return Reason("flip-cost", costs)
        if not cheaper_beyond_doubt(mine_before, theirs_before, before.for_new):
            return Reason("flip-saves-enough", costs | _amounts(before, after, before.for_new, after.for_new))
    if cheaper_beyond_doubt(theirs_before, mine_before, before.for_old):
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


def _turned(it: Beside) -> Beside:
    """The same seen from the old option."""
    return replace(it, old_cost=it.new_cost, new_cost=it.old_cost, set_up=-it.set_up)


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


# ---- what is varied --------------------------------------------------------------------------------------------------


def traits(plan: Recommendation, facts: Facts, profile: PrefixProfile | None) -> list[Trait]:
    """Every numeric trait that this plan has a value for, stated or by default, in the order of the form."""
    workload = plan.workload
    found = []
    for name, default in _values(plan, facts, profile).items():
        stated = getattr(workload, name)
        now = default if stated is None else float(stated)
        if now is None and name != "restore_target":
            continue
        low, high = _bounds(name, now, plan, facts)
        found.append(Trait(name, now, low, high, stated is not None, entered.unit_of(name, plan.currency)))
    return found


def _values(plan: Recommendation, facts: Facts, profile: PrefixProfile | None) -> dict[str, float | None]:
    """What each trait is taken to be where it was not stated."""
    workload, demand, model = plan.workload, plan.demand, facts.model
    job, _ = job_of(workload, facts, profile)
    samples, read = demand.samples_per_s, demand.read_bytes_per_s
    values: dict[str, float | None] = {
        "instances": float(workload.instances),
        "jobs": float(demand.jobs),
        "accelerators_per_instance": demand.accelerators / workload.instances,
        "run_hours": job.run.hours,
        "gpu_hour_price": plan.gpu_hour_price and plan.gpu_hour_price.value / workload.instances,
        # Not stated, nothing is taken to be read again; this many passes the run would make.
        "epochs": None if read is None else read.value * job.run.training_hours * 3600.0 / job.passes.bytes.value,
        "samples_per_second_per_accelerator": None if samples is None else samples.value / demand.accelerators,
        "sample_bytes": None if samples is None or read is None else read.value / samples.value,
        "request_bytes": _largest_read(plan, facts),
        "workers_per_accelerator": model.known("workers_per_accelerator").value,
        "requests_in_flight_per_worker": model.known("requests_in_flight_per_worker").value,
        "prefixes": float(demand.prefixes),
        **_evaluation_values(plan.traffic.evaluation),
        "checkpoint_interval": demand.checkpoint_interval,
        "checkpoint_bytes": demand.checkpoint_bytes and demand.checkpoint_bytes.value,
        "checkpoint_writers": demand.checkpoint_bytes and float(demand.checkpoint_writers),
        "checkpoints_kept": demand.checkpoint_bytes and kept_checkpoints(workload, facts).value,
        "restore_target": None,
        "stall_tolerance": stall_tolerance(workload, facts).value,
        "working_set_bytes": None,
        "host_memory_bytes": None,
    }
    if profile is None or not profile.objects:  # a profile takes the place of both
        values |= {"dataset_bytes": job.run.dataset_bytes.value, "objects": float(round(job.run.objects))}
    return values | _model_values(plan, facts)


def _largest_read(plan: Recommendation, facts: Facts) -> float | None:
    """What is read at once where nothing was stated: of an object that is read in parts, one that is no remainder."""
    read, whole = plan.demand.request_bytes, plan.demand.object_bytes
    if read is None or whole is None or plan.workload.reads == "random" or read.value >= whole.value:
        return read and read.value
    return facts.model.known("part_bytes").value


def _evaluation_values(evaluation: Evaluation | None) -> dict[str, float | None]:
    """Nothing where no evaluation was stated.  Batch size and base model decide nothing, and are not followed."""
    if evaluation is None or evaluation.every is None:
        return {}
    return {"evaluation_every": evaluation.every.value, "evaluation_bytes": evaluation.bytes.value}


def _model_values(plan: Recommendation, facts: Facts) -> dict[str, float | None]:
    """Size and sequence of the model, where the demand or the checkpoint depends on them."""
    workload = plan.workload
    section = facts.workloads[preset_of(workload)]
    size, sequence = section.quantity("model_parameters"), section.quantity("sequence_length")
    parameters = workload.model_parameters or (size and size.value)
    values: dict[str, float | None] = {"model_parameters": parameters}
    if sequence is not None:
        values |= {"active_parameters": workload.active_parameters or parameters, "sequence_length": sequence.value}
    if workload.task in ("lora", "qlora"):
        values["lora_rank"] = facts.workloads["lora"].known("lora_rank").value
    return values


def _bounds(name: str, now: float | None, plan: Recommendation, facts: Facts) -> tuple[float, float]:
    """SPAN on either side, as far as the field and the other fields allow."""
    workload, allowed = plan.workload, entered.NUMBERS[name]
    least, most = allowed.least, allowed.most
    if now is None:
        return 1.0, LONGEST_RESTORE
    low, high = now / SPAN, now * SPAN
    if name == "instances":
        high = max(high, MOST_INSTANCES)
    if name == "accelerators_per_instance" and workload.instance_type is not None:
        most = facts.instances[workload.instance_type].known("accelerators").value
    if name == "checkpoint_writers":
        most = float(plan.demand.accelerators)  # no more ranks can save than there are
    if name == "active_parameters":
        most = workload.model_parameters or now
    if name == "model_parameters" and workload.active_parameters is not None:
        least = workload.active_parameters
    # A part is never larger than the whole, and no object smaller than a byte.
    if name in ("objects", "sample_bytes", "working_set_bytes") and workload.dataset_bytes is not None:
        most = min(most, workload.dataset_bytes)
    if name == "sample_bytes" and workload.working_set_bytes is not None:
        most = min(most, workload.working_set_bytes)
    if name == "working_set_bytes" and workload.sample_bytes is not None:
        least = max(least, workload.sample_bytes)
    if name == "dataset_bytes":
        parts = (workload.objects, workload.sample_bytes, workload.working_set_bytes)
        least = max(least, *(part for part in parts if part is not None), 0.0)
    if allowed.whole:
        low, high = float(math.ceil(low)), float(math.floor(high))
    return max(low, least), min(high, most)
