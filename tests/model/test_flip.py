"""Flip points against brute force: one trait scanned densely, everything else as it is."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import pairwise
from types import SimpleNamespace
from typing import Any, cast

import pytest

from gpufeed.facts import load
from gpufeed.facts.quantity import Quantity
from gpufeed.model.advise import Decision, decide, recommend
from gpufeed.model.flip import Sensitivity, _Search, flip_points, sensitivities
from gpufeed.model.flip_reasons import Beside, _turned, _why_spared, _why_worth
from gpufeed.model.flip_traits import SPAN, Trait, traits
from gpufeed.model.profile import PrefixProfile
from gpufeed.model.recommendation import FlipPoint, Reason, Recommendation
from gpufeed.model.workload import NUMBERS, Workload

IMAGES = {
    "task": "pretraining",
    "instances": 8,
    "instance_type": "p5.48xlarge",
    "preset": "image-classification",
    "dataset_bytes": 5e12,
    "objects": 50_000_000,
    "run_hours": 100.0,
    "region": "us-east-1",
}
LANGUAGE_MODEL = {
    "task": "pretraining",
    "instances": 64,
    "instance_type": "p5.48xlarge",
    "model_parameters": 70e9,
    "checkpoint_interval": 1800.0,
    "interface": "s3-api",
}
FILES = {
    "task": "full-fine-tuning",
    "instances": 4,
    "instance_type": "p4d.24xlarge",
    "preset": "mlperf-retinanet",
    "interface": "file-paths",
    "data_in_s3": True,
    "samples_per_second_per_accelerator": 700.0,
    "dataset_bytes": 2e12,
    "objects": 6_000_000,
}
# The smaller the model, the less there is to restore from the file system, and the more it reads: S3 comes and goes.
THERE_AND_BACK = {
    "task": "pretraining",
    "instances": 16,
    "accelerator": "H200",  # of no instance type, and so without a price
    "accelerators_per_instance": 8,
    "model_parameters": 2.79e9,
    "reads": "streaming",
    "request_bytes": 216_261.0,
    "workers_per_accelerator": 7,
    "checkpoint_interval": 91_230.0,
    "restore_target": 5.85,
}
# Without a price of its GPUs nothing says how near another option is: 95 to 109 kept checkpoints go elsewhere.
UNPRICED = {
    "task": "pretraining",
    "instances": 17,
    "instance_type": "g5.48xlarge",
    "region": "cn-north-1",
    "model_parameters": 75e9,
    "dataset_bytes": 40e12,
    "epochs": 5.0,
    "samples_per_second_per_accelerator": 0.44,
}


#: Of the dense scans: seven times as fine as the search's own grid.
STEP = 1.028
WORKLOADS = {
    "images": IMAGES,
    "language-model": LANGUAGE_MODEL,
    "files": FILES,
    "there-and-back": THERE_AND_BACK,
    "unpriced": UNPRICED,
}


def plan(traits: dict[str, Any]) -> Recommendation:
    return recommend(Workload.from_mapping(traits, load()), load())


@cache
def searched_through(name: str) -> tuple[Recommendation, dict[str, Sensitivity]]:
    found = plan(WORKLOADS[name])
    return found, {one.trait.name: one for one in sensitivities(found, load())}


def options(found: Recommendation) -> dict[str, str]:
    return {role: placed.option for role, placed in found.placements.items()}


def scanned(found: Recommendation, field: str, values: Iterator[float]) -> Iterator[tuple[float, dict[str, str]]]:
    """Where each role goes at each value, by asking for the whole plan again."""
    for value in values:
        stated: Any = int(value) if NUMBERS[field].whole else value
        other = replace(found.workload, **{field: stated})
        yield value, options(recommend(other, load()))


def first_changes(found: Recommendation, field: str, values: Iterator[float]) -> dict[str, tuple[float, str]]:
    now, first = options(found), dict[str, tuple[float, str]]()
    for value, there in scanned(found, field, values):
        for role, option in there.items():
            if option != now[role] and role not in first:
                first[role] = (value, option)
    return first


def ratios(start: float, bound: float, step: float) -> Iterator[float]:
    """From next to ``start`` to ``bound`` by one ratio."""
    count = math.ceil(abs(math.log(bound / start)) / math.log(step))
    for i in range(1, count + 1):
        yield start * (bound / start) ** (i / count)


def on_side(one: Sensitivity, *, above: bool) -> dict[str, tuple[float, str]]:
    """The flip of each role on one side."""
    return {f.role: (f.at, f.option) for f in one.flips if f.now and (f.at > f.now) is above}


@pytest.mark.parametrize(
    ("name", "field"),
    [
        ("images", "instances"),
        ("files", "instances"),
        ("images", "prefixes"),
        ("language-model", "accelerators_per_instance"),
        ("files", "accelerators_per_instance"),
        ("unpriced", "checkpoints_kept"),
    ],
)
def test_a_whole_number_flips_exactly_where_counting_says_so(name: str, field: str) -> None:
    found, each = searched_through(name)
    one = each[field]
    now = int(one.trait.now or 0)
    assert one.trait.low <= now <= one.trait.high
    up, down = range(now + 1, int(one.trait.high) + 1), range(now - 1, int(one.trait.low) - 1, -1)
    assert on_side(one, above=True) == first_changes(found, field, map(float, up))
    assert on_side(one, above=False) == first_changes(found, field, map(float, down))


@pytest.mark.parametrize(
    ("name", "field"),
    [
        ("images", "dataset_bytes"),
        ("images", "samples_per_second_per_accelerator"),
        ("language-model", "checkpoint_interval"),
        ("language-model", "model_parameters"),
        ("files", "samples_per_second_per_accelerator"),
        ("there-and-back", "model_parameters"),
        ("there-and-back", "restore_target"),
    ],
)
def test_a_real_number_flips_within_one_percent_of_where_a_dense_scan_says_so(name: str, field: str) -> None:
    found, each = searched_through(name)
    trait = each[field].trait
    assert trait.now is not None
    assert trait.low <= trait.now <= trait.high
    for above, bound in ((False, trait.low), (True, trait.high)):
        here = on_side(each[field], above=above)
        there = first_changes(found, field, ratios(trait.now, bound, STEP))
        assert here.keys() == there.keys()
        for role, (at, option) in here.items():
            value, same = there[role]
            assert option == same
            # Beyond the change by 1 % at most, as the scan is by a step at most.
            farther, at_most = (at / value, 1.01) if above else (value / at, 1.01)
            assert 1 / STEP <= farther <= at_most


def test_a_trait_that_is_not_monotone_gives_its_first_flip_and_not_a_later_one() -> None:
    found, each = searched_through("there-and-back")
    there = [option["training_reads"] for _, option in scanned(found, "model_parameters", ratios(2.79e9, 2.79e7, 1.05))]
    changes = [(a, b) for a, b in pairwise(there) if a != b]
    assert len(changes) >= 2  # it comes back, so that bisection from end to end could find any of them
    assert there[0] == found.recommended
    _, option = on_side(each["model_parameters"], above=False)["training_reads"]
    assert (found.recommended, option) == changes[0]


class Scripted(_Search):
    """A search over decisions that are given: where a role is elsewhere."""

    def __init__(self, now: int, elsewhere: set[int]) -> None:
        self._trait = Trait("instances", float(now), 1.0, 1024.0, True, "instances")
        self._now = cast("Decision", SimpleNamespace(options={"checkpoints": "here"}))
        self._elsewhere = elsewhere

    def _at(self, value: float) -> Decision:
        there = "there" if value in self._elsewhere else "here"
        return cast("Decision", SimpleNamespace(options={"checkpoints": there}))

    def _without_influence(self, before: Decision, first: tuple[float, Decision], bound: float) -> bool:
        return False

    def _stands_alike(self, one: Decision, other: Decision, *, clear: bool) -> bool:
        return one.options == other.options

    def _point(self, role: str, at: float, before: Decision, after: Decision) -> FlipPoint:
        return cast("FlipPoint", at)

    def nearest(self, bound: float) -> list[float]:
        now = self._trait.now
        assert now is not None
        return cast("list[float]", list(self._outwards(now, bound, self._now, {"checkpoints"})))


@pytest.mark.parametrize(
    ("now", "elsewhere", "bound", "nearest"),
    [
        (3, {5}, 1024, 5),  # up to eight each is tried
        (40, {4}, 1, 4),
        (10, {8}, 1, 8),
        (9, {6}, 1, 6),
        (58, {57}, 1, 57),  # and so each within the first step of a third, and in the step with the flip
        (40, {49}, 1024, 49),
        (35, {49, *range(52, 1025)}, 1024, 49),
        (100, {130, *range(170, 1025)}, 1024, 130),
        (64, set(range(128, 1025)), 1024, 128),
    ],
)
def test_no_whole_number_before_the_flip_changes_the_answer(
    now: int, elsewhere: set[int], bound: float, nearest: int
) -> None:
    assert Scripted(now, elsewhere).nearest(bound) == [nearest]


def test_a_rule_about_checkpoints_moves_the_checkpoints_and_not_the_reads() -> None:
    found = plan(LANGUAGE_MODEL | {"instances": 8, "checkpoint_interval": 3600.0})
    flips, searched = flip_points(found, load())
    points = [f for f in flips if f.trait == "checkpoint_interval"]
    assert {point.role for point in points} == {"checkpoints"}
    assert all((point.now, point.stated) == (3600.0, True) for point in points)
    assert searched["checkpoint_interval"] == (36.0, 360_000.0)
    # 64 × 10 parts of 8 MiB, each in 30 ms and 8 MiB at 20 MB/s, are 11.95 GB/s, of which 80 % are reached: 980 GB take
    # 102.5 s, which is 5 % of 2,051 s.
    # Below that the published rule turns to FSx for Lustre; 1.5 MB/s of reads stay where they cost cents.
    sooner = plan(LANGUAGE_MODEL | {"instances": 8, "checkpoint_interval": 2040.0})
    assert (found.rule.option, sooner.rule.option) == ("s3-standard", "fsx-for-lustre")
    reads = sooner.placements["training_reads"]
    assert (reads.option, reads.rule, reads.decided_by) == ("s3-standard", "fsx-for-lustre", "model")


def test_every_numeric_trait_of_the_plan_is_followed_also_those_left_at_their_defaults() -> None:
    _, each = searched_through("language-model")
    traits = {name: one.trait for name, one in each.items()}
    assert traits.keys() >= {
        "instances", "accelerators_per_instance", "run_hours", "dataset_bytes", "objects", "epochs", "sample_bytes",
        "samples_per_second_per_accelerator", "request_bytes", "workers_per_accelerator", "sequence_length",
        "requests_in_flight_per_worker", "prefixes", "model_parameters", "active_parameters", "checkpoint_bytes",
        "checkpoint_interval", "restore_target", "stall_tolerance",
    }  # fmt: skip
    assert traits["instances"].stated
    workers = traits["workers_per_accelerator"]
    assert (workers.now, workers.stated, workers.low, workers.high) == (8.0, False, 1.0, 8 * SPAN)
    assert (traits["restore_target"].now, traits["restore_target"].high) == (None, 86_400.0)
    # An instance has no more accelerators than it has, and no part of a model more parameters than the whole.
    assert traits["accelerators_per_instance"].high == 8
    assert traits["active_parameters"].high == 70e9


def test_a_restore_target_is_looked_for_also_where_none_was_stated() -> None:
    small = LANGUAGE_MODEL | {"instances": 8}
    found = plan(small)
    point = next(f for f in flip_points(found, load())[0] if f.trait == "restore_target" and f.role == "checkpoints")
    assert point.now is None
    late = plan(small | {"restore_target": point.at})
    soon_enough = plan(small | {"restore_target": point.at * 1.011})
    assert options(late)["checkpoints"] == point.option != options(found)["checkpoints"]
    assert options(soon_enough)["checkpoints"] == options(found)["checkpoints"]


def test_no_part_is_followed_beyond_its_whole() -> None:
    stated = IMAGES | {"sample_bytes": 1e5, "working_set_bytes": 2e6, "epochs": 2}
    followed = {trait.name: (trait.low, trait.high) for trait in traits(plan(stated), load(), None)}
    assert followed["sample_bytes"][1] == 2e6
    assert followed["working_set_bytes"] == (1e5, 2e8)
    assert followed["dataset_bytes"][0] == 5e12 / SPAN


def test_a_default_that_changes_the_answer_once_it_is_stated_flips_at_now() -> None:
    # Of data whose size is a guess nothing is taken to be read again; once it is stated, memory serves it.
    found = plan(IMAGES | {"dataset_bytes": None, "objects": None, "data_in_s3": True, "interface": "file-paths"})
    size = next(one for one in sensitivities(found, load()) if one.trait.name == "dataset_bytes")
    assert not size.trait.stated
    assert size.trait.now is not None
    stated = recommend(replace(found.workload, dataset_bytes=size.trait.now), load())
    changed = {role for role, option in options(stated).items() if option != options(found)[role]}
    assert "training_reads" in changed
    assert {flip.role for flip in size.flips if flip.at == size.trait.now} == changed


def test_a_flip_says_what_changes_at_it() -> None:
    found = plan(IMAGES)
    by_trait = {(f.trait, f.role): f for f in flip_points(found, load())[0]}
    size = by_trait["instances", "checkpoints"]
    # Up to 16 instances S3 comes first, from 17 on FSx for Lustre; the model keeps S3 for reads, the rule holds saves.
    assert (size.now, size.at, size.from_option, size.option) == (8.0, 17.0, "s3-standard", "fsx-for-lustre")
    assert size.reason.id == "flip-rule-ends"
    assert size.reason.parameters == {"rules": ("small-cluster",)}
    for f in by_trait.values():
        assert f.from_option == options(found)[f.role] != f.option


def test_a_profile_takes_the_place_of_size_and_number_of_the_objects() -> None:
    profile = PrefixProfile("images/")
    profile.add_many([f"images/{i}" for i in range(100)], [100_000] * 100)
    found = recommend(Workload.from_mapping(IMAGES, load()), load(), profile=profile)
    _, searched = flip_points(found, load(), profile=profile)
    assert not {"dataset_bytes", "objects"} & searched.keys()


def test_what_saves_less_than_the_least_saving_does_not_flip_back_as_cheaper() -> None:
    def side(old: float, new: float, to_save: float) -> Beside:
        old_cost, new_cost = (Quantity.exact(amount, "USD") for amount in (old, new))
        return Beside("s3-standard", "fsx-for-lustre", old_cost, new_cost, to_save, to_save, "USD")

    # The rule's option costs 1,000, the other saved 60 and then 10 of a run in which less than 50 counts as nothing.
    said = _why_worth(side(940, 1000, 50), side(990, 1000, 50))
    assert said is not None and (said.id, said.parameters["amount"]) == ("flip-saves-too-little", 50)
    # It was dearer, and is cheaper by 60.
    dearer = _why_worth(side(1000, 1010, 50), side(1000, 940, 50))
    assert dearer is not None and dearer.id == "flip-cost"
    # It was cheaper by 40 already, of which 50 were asked; then 30 are.
    enough = _why_worth(side(1000, 960, 50), side(1000, 960, 30))
    assert enough is not None and enough.id == "flip-saves-enough"
    shown = {name: enough.parameters[name].value for name in ("saved_before", "needed_before", "saved", "needed")}
    assert shown == {"saved_before": 40, "needed_before": 50, "saved": 40, "needed": 30}
    # Of two that are worth it the new one is dearer by 100 on both sides; setting up the old one is worth 90, then 110.
    unsaved = [replace(side(900, 1000, 500), set_up=-worth) for worth in (90, 110)]
    not_worth = _why_worth(*unsaved)
    assert not_worth is not None and not_worth.id == "flip-not-worth-setting-up"
    shown = {name: not_worth.parameters[name].value for name in ("saved_before", "needed_before", "saved", "needed")}
    assert shown == {"saved_before": 100, "needed_before": 90, "saved": 100, "needed": 110}
    # Nothing between the two is another.
    assert _why_worth(side(1000, 960, 30), side(1000, 960, 30)) is None


def test_what_was_cheaper_before_flips_by_what_it_saves_against_what_it_has_to() -> None:
    """Two LoRA jobs on p4d: a directory bucket brings the base model to all of them sooner, and has to be set up."""
    found = plan(
        {
            "task": "lora",
            "instances": 5,
            "instance_type": "p4d.24xlarge",
            "dataset_bytes": 78e9,
            "objects": 76_000,
            "run_hours": 12,
            "jobs": 2,
        }
    )
    [told] = [
        flip.reason
        for flip in flip_points(found, load())[0]
        if (flip.trait, flip.role, flip.option) == ("instances", "training_reads", "s3-express-one-zone")
    ]
    assert told.id == "flip-saves-enough"
    before, needed_before, saved, needed = (
        told.parameters[name].value for name in ("saved_before", "needed_before", "saved", "needed")
    )
    assert before < needed_before and saved > needed
    # 20 hours of one instance at USD 21.957642
    assert (needed_before, needed) == (pytest.approx(439.15284), pytest.approx(439.15284))


def test_the_dearer_one_is_taken_until_it_costs_more_than_what_it_spares() -> None:
    def side(s3: float, fsx: float, *, worth: float = 60.0) -> Beside:
        cost, other = Quantity.exact(s3, "USD"), Quantity(fsx, fsx, 1000, "USD")
        return Beside("fsx-for-lustre", "s3-standard", other, cost, -worth, worth + 1.0, "USD", set_up=-worth)

    def shown(reason: Reason | None) -> dict[str, float]:
        assert reason is not None
        return {name: reason.parameters[name].value for name in ("saved_before", "needed_before", "saved", "needed")}

    # S3 costs 70 more than a file system that is worth 60 to set up, then 50 more.
    taken = _why_spared(side(170, 100), side(150, 100))
    assert taken is not None and taken.id == "flip-not-worth-setting-up"
    assert shown(taken) == {"saved_before": 70, "needed_before": 60, "saved": 50, "needed": 60}
    # The other way round the file system is the new one.
    left = _why_spared(_turned(side(150, 100)), _turned(side(170, 100)))
    assert left is not None and left.id == "flip-saves-enough"
    assert shown(left) == {"saved_before": 50, "needed_before": 60, "saved": 70, "needed": 60}
    # On both sides it costs less than it spares, or more: that is not what turned.
    assert _why_spared(side(150, 100), side(140, 100)) is None
    assert _why_spared(side(170, 100), side(180, 100)) is None


@pytest.mark.parametrize("name", WORKLOADS)
def test_no_reason_of_a_flip_held_on_both_sides(name: str) -> None:
    """Of each flip that costs decide: what is said is true behind it, and was not true just before."""
    _, each = searched_through(name)
    for one in each.values():
        for flip in one.flips:
            if flip.reason.id == "flip-saves-enough":
                said = {key: value.value for key, value in flip.reason.parameters.items() if key.startswith(("s", "n"))}
                assert said["saved_before"] <= said["needed_before"] and said["saved"] > said["needed"]


def test_how_many_ranks_save_and_how_many_checkpoints_are_kept_are_followed_too() -> None:
    _, each = searched_through("language-model")
    writers, kept = each["checkpoint_writers"].trait, each["checkpoints_kept"].trait
    # Each of the 64 × 8 ranks saves its shard, and there are no more of them.
    assert (writers.now, writers.low, writers.high) == (512.0, 6.0, 512.0)
    assert (kept.now, kept.low, kept.high, kept.stated) == (2.0, 1.0, 200.0, False)


@pytest.mark.parametrize("name", WORKLOADS)
def test_what_is_not_judged_anew_is_as_it_would_be(name: str) -> None:
    facts, found = load(), plan(WORKLOADS[name])
    now = decide(found.workload, facts)
    for trait in traits(found, facts, None):
        for value in {trait.low, trait.high, trait.now or trait.high}:
            there = trait.set_to(value, found.workload)
            assert decide(there, facts, like=now) == decide(there, facts), (trait.name, value)
