"""Flip points: the smallest change of one trait that changes where a data role goes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial

from gpufeed.facts import Facts
from gpufeed.model.advise import recommend
from gpufeed.model.measurement import Measurement
from gpufeed.model.profile import PrefixProfile
from gpufeed.model.recommendation import FlipPoint, Recommendation
from gpufeed.model.workload import Workload

ROLES = ("training_reads", "checkpoints")
#: One step of the search outwards, and how close the bisection comes to the flip.
STEP = 1.5
CLOSE = 1.01


@dataclass(frozen=True, slots=True)
class _Trait:
    """A trait that is varied alone: its value now, the bounds of the search, and the workload with another value."""

    name: str
    now: float
    low: float
    high: float
    whole: bool
    set_to: Callable[[float], Workload]


def flip_points(
    plan: Recommendation,
    facts: Facts,
    *,
    profile: PrefixProfile | None = None,
    measurement: Measurement | None = None,
) -> tuple[list[FlipPoint], dict[str, tuple[float, float]]]:
    """The nearest flip on either side of each trait and role, and the range that was searched for each trait.

    A search over whole evaluations: outwards by half as much again each time, then bisection to one percent (whole
    numbers exactly).  A flip that lies between two steps and flips back is not seen; what was searched is returned.
    """
    found: list[FlipPoint] = []
    searched: dict[str, tuple[float, float]] = {}

    now = {role: plan.placements[role].option for role in ROLES}

    def options_at(trait: _Trait, value: float) -> Mapping[str, str]:
        other = recommend(trait.set_to(value), facts, profile=profile, measurement=measurement)
        return {role: other.placements[role].option for role in ROLES}

    for trait in _traits(plan, profile):
        searched[trait.name] = (trait.low, trait.high)
        for factor in (1 / STEP, STEP):
            found += _on_one_side(trait, factor, now, partial(options_at, trait))
    return found, searched


#: The option of each role with the trait at some value.
_OptionsAt = Callable[[float], Mapping[str, str]]


def _on_one_side(trait: _Trait, factor: float, now: Mapping[str, str], options_at: _OptionsAt) -> Iterator[FlipPoint]:
    waiting = dict(now)
    before = trait.now
    for value in _outwards(trait, factor):
        options = options_at(value)
        for role in [role for role in waiting if options[role] != waiting[role]]:
            same = waiting.pop(role)
            at = _bisect(before, value, trait.whole, partial(_keeps, options_at, role, same))
            yield FlipPoint(trait.name, trait.now, at, role, options_at(at)[role])
        if not waiting:
            return
        before = value


def _keeps(options_at: _OptionsAt, role: str, option: str, value: float) -> bool:
    return options_at(value)[role] == option


def _outwards(trait: _Trait, factor: float) -> Iterator[float]:
    bound = trait.low if factor < 1 else trait.high
    value = trait.now
    while value != bound:
        following = value * factor
        if trait.whole:
            following = math.floor(following) if factor < 1 else math.ceil(following)
        value = max(following, bound) if factor < 1 else min(following, bound)
        yield value


def _bisect(inside: float, outside: float, whole: bool, still_same: Callable[[float], bool]) -> float:
    """Narrow (inside, outside] down to the value nearest to ``inside`` where the option is another one."""
    while abs(outside - inside) > 1 if whole else max(inside, outside) / min(inside, outside) > CLOSE:
        middle = float(round((inside + outside) / 2)) if whole else math.sqrt(inside * outside)
        if still_same(middle):
            inside = middle
        else:
            outside = middle
    return outside


def _traits(plan: Recommendation, profile: PrefixProfile | None) -> Iterator[_Trait]:
    workload, demand = plan.workload, plan.demand

    def varied(field: str) -> Callable[[float], Workload]:
        return lambda value: replace(workload, **{field: value})  # type: ignore[arg-type]  # each named field is a float

    yield _Trait("instances", workload.instances, 1, 4096, True, lambda n: replace(workload, instances=int(n)))
    yield _Trait(
        "checkpoint_interval",
        demand.checkpoint_interval,
        10.0,
        86_400.0,
        False,
        # A stated word would hide the interval.
        lambda seconds: replace(workload, checkpoint_interval=seconds, checkpoints=None),
    )
    if workload.run_hours is not None:
        yield _Trait("run_hours", workload.run_hours, 1.0, 8_760.0, False, varied("run_hours"))
    if workload.dataset_bytes is not None and profile is None:
        yield _Trait("dataset_bytes", workload.dataset_bytes, 1e9, 1e16, False, varied("dataset_bytes"))
    if workload.objects is not None and workload.dataset_bytes is not None and profile is None:
        yield _Trait("objects", workload.objects, 1, 1e10, True, lambda n: replace(workload, objects=int(n)))
    if workload.samples_per_second_per_accelerator is not None:
        rate = workload.samples_per_second_per_accelerator
        field = "samples_per_second_per_accelerator"
        yield _Trait(field, rate, rate / 100, rate * 100, False, varied(field))
    workers = workload.workers_per_accelerator
    if workers is not None:
        field = "workers_per_accelerator"
        yield _Trait(field, workers, 1, 1024, True, lambda n: replace(workload, workers_per_accelerator=int(n)))
