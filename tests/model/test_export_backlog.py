"""Saves that come faster than they are copied to S3: said on top, in the timeline, and weighed in the choice."""

from __future__ import annotations

import math
from typing import Any

import pytest

from gpufeed.facts import load
from gpufeed.model.advise import recommend
from gpufeed.model.course import Step, course
from gpufeed.model.recommendation import Recommendation
from gpufeed.model.release import export_seconds
from gpufeed.model.workload import Workload

FACTS = load()
#: 235e9 × 14 bytes = 3.29 TB every 15 minutes, in 256 files; renames rule out both kinds of bucket.
MOE: dict[str, Any] = {
    "task": "pretraining",
    "instances": 32,
    "instance_type": "p6-b200.48xlarge",
    "model_parameters": 235e9,
    "active_parameters": 22e9,
    "sequence_length": 4096,
    "precision": "fp8",
    "dataset_bytes": 20e12,
    "objects": 75_000,
    "checkpoint_mode": "async",
    "checkpoint_interval": 900,
    "interface": "file-paths",
    "file_operations": ["rename"],
    "run_hours": 500,
    "region": "us-east-1",
}
EXPORT = 3.29e12 / 875e6  # 3,760 s, at the rate of the one published run


def plan(**more: Any) -> Recommendation:
    return recommend(Workload.from_mapping(MOE | more, FACTS), FACTS)


def steps(found: Recommendation) -> dict[str, Step]:
    return {step.id: step for step in course(found, FACTS)}


def test_a_queue_that_never_empties_is_said_before_the_plan() -> None:
    found = plan()
    placed = found.placements["checkpoints"]
    assert placed.option == "fsx-for-lustre"
    [warning] = [one for one in found.warnings if one.id == "export-falls-behind-fsx-for-lustre"]
    assert warning.grave
    said = warning.parameters
    # 3,760 s of export against 900 s: one save in ceil(4.18) = 5; of 2 kept saves the queue takes 2 × 3,760 s.
    assert said["export"].value == pytest.approx(EXPORT) and said["every"] == 5
    assert said["queue"].value == pytest.approx(2 * EXPORT)
    # The copy before the last is at most five intervals and one export old.
    assert said["oldest"].value == pytest.approx(5 * 900 + EXPORT)
    assert "export-falls-behind" in [reason.id for reason in placed.reasons]


def test_it_stays_the_answer_only_while_no_place_that_copies_each_save_costs_about_as_little() -> None:
    found = plan()
    [other] = [one for one in found.placements["checkpoints"].reasons if one.id == "saving-with-each-copied"]
    assert other.parameters["option"] == "mountpoint-s3"
    fsx, mount = (found.saving(name).total for name in ("fsx-for-lustre", "mountpoint-s3"))
    assert fsx is not None and mount is not None and mount.value > 3 * fsx.value
    # Through the S3 API plain S3 is there too.  It is a little dearer than the rule's file system, as it was before
    # exports were looked at, and now wins: each save that is written there lasts.
    cheap = plan(interface="any", file_operations=[]).placements["checkpoints"]
    assert (cheap.rule, cheap.option, cheap.decided_by) == ("fsx-for-lustre", "s3-standard", "model")
    assert "saving-rule-falls-behind" in [reason.id for reason in cheap.reasons]


def test_the_timeline_says_what_the_queue_takes_after_the_last_step() -> None:
    behind = steps(plan())
    assert "save" not in behind and behind["save-behind"].parameters["every"] == 5
    last = behind["export-behind"]
    assert last.when == "after" and last.seconds is not None
    assert last.seconds.value == pytest.approx(2 * EXPORT)


def test_an_export_that_keeps_up_is_no_backlog() -> None:
    found = plan(checkpoint_interval=3800)
    assert [one.id for one in found.warnings if one.id.startswith("export-falls-behind")] == []
    assert {"save", "export.fsx-for-lustre"} <= steps(found).keys()


def test_an_export_that_keeps_up_but_at_its_slow_end_is_said_to() -> None:
    found = plan(checkpoint_interval=3800).placements["checkpoints"]
    export = export_seconds("fsx-for-lustre", plan().demand, FACTS)
    assert export is not None and export.value < 3800 < export.high
    [reason] = [one for one in found.reasons if one.id == "export-may-fall-behind"]
    assert reason.parameters == {"seconds": export, "interval": 3800}
    slow = plan(checkpoint_interval=math.ceil(export.high)).placements["checkpoints"]
    assert "export-may-fall-behind" not in [one.id for one in slow.reasons]


def test_the_queue_of_a_short_run_holds_its_saves_alone() -> None:
    # In half an hour two saves, in a quarter one: 3,760 s.
    [warning] = [one for one in plan(run_hours=0.25).warnings if one.id.startswith("export-falls-behind")]
    assert warning.parameters["queue"].value == pytest.approx(EXPORT)


def test_the_interval_of_an_asynchronous_save_is_named_for_what_sets_it() -> None:
    found = plan()
    [reason] = [one for one in found.placements["checkpoints"].reasons if one.id.startswith("best-interval")]
    assert reason.id == "best-interval-by-slowest-save"
    # The slowest published save reaches 40 % of what the file system writes at least.
    rate = found.saving("fsx-for-lustre").supply.write_bytes_per_s
    assert rate is not None and reason.parameters["slowest"].value == pytest.approx(3.29e12 / (0.4 * rate.low))
    assert reason.parameters["interval"].value == reason.parameters["slowest"].value > reason.parameters["daly"].value
    synchronous = plan(checkpoint_mode="sync").placements["checkpoints"].reasons
    assert [one.id for one in synchronous if one.id.startswith("best-interval")] == ["best-interval"]
