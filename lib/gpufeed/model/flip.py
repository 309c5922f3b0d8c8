"""Flip points: the smallest change of one trait that changes where a data role goes, and why it does."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import Any

from gpufeed.facts import Facts
from gpufeed.model.advise import Decision, decide
from gpufeed.model.checkpoint_choice import late
from gpufeed.model.flip_reasons import why
from gpufeed.model.flip_traits import Trait, traits
from gpufeed.model.measurement import Measurement
from gpufeed.model.profile import PrefixProfile
from gpufeed.model.recommendation import CheckpointStall, FlipPoint, OptionAnswer, Recommendation, Saving
from gpufeed.model.rules import FSX
from gpufeed.model.supply import lies_on

#: How many steps a trait is followed in per factor of ten.
STEPS_PER_DECADE = 8
#: How many of them are taken at once where no option changes places across them; else half as many, and so on.
STEPS_AT_ONCE = 8
#: Of more than two, only where every other option costs so many times more or less than what is chosen.
CLEAR_BY = 1.1
#: Whole numbers up to this one are followed one by one, and so are the first step and the one with the flip, where
#: they have no more than so many.
FEW, FEW_IN_A_STEP = 8, 50
#: How close the bisection of a real number comes to the flip.
CLOSE = 1.01


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
    not seen, or within some steps of it across which no option changes places with another, nor comes near to what is
    chosen (``STEPS_AT_ONCE``; of 1,160 flips of random jobs four, of one job, were found farther away).  Of whole
    numbers every one is tried up to ``FEW``, in the first step and in the step with the flip: a file system grows in
    steps, so that an answer may change and change back within a few instances.

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
        near = start, before
        if self._trait.now is None:  # then the start has itself to be tried: "not stated" comes before it
            here = start, self._at(start)
            yield from self._found(waiting, near, here)
            near = here
        values = _grid(start, bound, self._trait.whole)
        for first in islice(values, 1):
            here = first, self._at(first)
            yield from self._found(waiting, near, here)
            if not waiting or self._without_influence(near[1], here, bound):
                return
            near = here
        while waiting and (steps := list(islice(values, STEPS_AT_ONCE))):
            for here in self._steps(near[1], steps, self._at(steps[-1])):
                yield from self._found(waiting, near, here)
                near = here
                if not waiting:
                    return

    def _steps(self, before: Decision, values: list[float], last: Decision) -> Iterator[_Tried]:
        """What is decided at the next values, at ``last`` of them alone where nothing changes places on the way to it.

        Of whole numbers that are tried one by one none is left out.
        """
        one_by_one = self._trait.whole and any(abs(a - b) <= 1 for a, b in pairwise(values))
        many = len(values) > 2
        if len(values) > 1 and (one_by_one or not self._stands_alike(before, last, clear=many)):
            half = len(values) // 2
            middle = self._at(values[half - 1])
            yield from self._steps(before, values[:half], middle)
            yield from self._steps(middle, values[half:], last)
        else:
            yield values[-1], last

    def _stands_alike(self, one: Decision, other: Decision, *, clear: bool) -> bool:
        """Not where what is chosen has no price: nothing says then how near another option is.

        ``clear``: nor where one is near.
        """
        least = CLEAR_BY if clear else 1.0
        return all(_lead(side) >= least for side in (one, other)) and _standing(one) == _standing(other)

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
    mounts = decision.job.load.mounted, None if decision.other_mount is None else decision.other_mount.weighed
    return decision.rule, decision.options, needed, fit, _weighed(whole.answer), saves, mounts


def _standing(decision: Decision) -> tuple[Any, ...]:
    """Which rule fires, what is said, and which option comes before which: any amount may differ.

    Not what is ordered of a file system that was chosen: it grows in steps, and what it does with it.
    """
    rule, whole = decision.rule, decision.whole
    chosen = decision.fit[whole.reads], whole.saves[whole.placed.option]
    ordered = [one.supply.configuration for one in chosen if one.option == FSX]
    said = {name: (answer.verdict, [it.id for it in answer.reasons]) for name, answer in decision.fit.items()}
    in_time = {name: late(saving.stall, decision.job) is None for name, saving in whole.saves.items()}
    order = [_by_cost(options) for options in (decision.fit, whole.saves)]
    mounted = decision.job.load.mounted
    return decision.options, rule, said, in_time, order, ordered, whole.instead_of is None, mounted


def _lead(decision: Decision) -> float:
    """How many times more or less than what is chosen the option costs that comes nearest; 0 where that has no price.

    A mount is not held against the bucket behind it: it never costs less.
    """
    whole, lead, mounted = decision.whole, math.inf, decision.job.load.mounted
    roles: list[tuple[Mapping[str, OptionAnswer | Saving], str]] = [(decision.fit, whole.reads)]
    if decision.job.demand.checkpoint_bytes is not None:
        roles.append((whole.saves, whole.placed.option))
    for options, chosen in roles:
        mine = options[chosen].weighed
        if mine is None:
            return 0.0
        bucket = lies_on(chosen, mounted)
        for theirs in (option.weighed for name, option in options.items() if lies_on(name, mounted) != bucket):
            for one, other in () if theirs is None else ((mine.value, theirs.value), (mine.high, theirs.high)):
                less, more = min(one, other), max(one, other)
                if less > 0.0:
                    lead = min(lead, more / less)
    return lead


def _by_cost(options: Mapping[str, OptionAnswer | Saving]) -> list[list[str]]:
    """The options from the cheapest to the dearest, in the middle and at worst."""
    costs = {name: cost for name, option in options.items() if (cost := option.weighed) is not None}
    return [sorted(costs, key=lambda name: costs[name].value), sorted(costs, key=lambda name: costs[name].high)]


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
            following = max(following, FEW) if value > FEW else following
        value = min(following, bound) if side > 0 else max(following, bound)
        yield value
