"""Saves that come faster than they are copied to S3: said on top, in the timeline, and weighed in the choice."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest
from examples import SAVES_OFTEN

from gpufeed.facts import load
from gpufeed.facts.quantity import Quantity
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


def test_sparing_a_system_is_no_reason_for_saves_without_a_copy() -> None:
    """Two g5.12xlarge at USD 83.48 save 5.6 TB twice an hour; reads on FSx for Lustre, which exports one save in 4."""
    found = recommend(
        Workload.from_mapping(
            {
                "task": "full-fine-tuning",
                "instances": 2,
                "instance_type": "g5.12xlarge",
                "gpu_hour_price": 83.48,
                "preset": "video",
                "dataset_bytes": 1.6e12,
                "objects": 129_000,
                "model_parameters": 4e8,
                "checkpoint_bytes": 5.56e12,
                "run_hours": 1.1,
                "region": "us-east-1",
            },
            FACTS,
        ),
        FACTS,
    )
    assert found.recommended == "fsx-for-lustre"
    fsx, express = (found.saving(name).total for name in ("fsx-for-lustre", "s3-express-one-zone"))
    assert fsx is not None and express is not None
    # A directory bucket is a second system, worth an hour of one instance; with that it would be the dearer one.
    assert express.value < fsx.value < express.value + 83.48
    placed = found.placements["checkpoints"]
    assert (placed.rule, placed.option) == ("fsx-for-lustre", "s3-express-one-zone")
    [behind] = [one for one in placed.reasons if one.id == "saving-rule-falls-behind"]
    assert behind.parameters["because"].parameters["every"] == 4


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
    export = export_seconds("fsx-for-lustre", found.configuration, plan().demand, FACTS)
    assert export is not None and export.value < 3800 < export.high
    [reason] = [one for one in found.reasons if one.id == "export-may-fall-behind"]
    assert reason.parameters == {"seconds": export, "interval": 3800}
    slow = plan(checkpoint_interval=math.ceil(export.high)).placements["checkpoints"]
    assert "export-may-fall-behind" not in [one.id for one in slow.reasons]


def test_the_queue_of_a_short_run_holds_its_saves_alone() -> None:
    # In half an hour two saves, in a quarter one: 3,760 s.
    [warning] = [one for one in plan(run_hours=0.25).warnings if one.id.startswith("export-falls-behind")]
    assert warning.parameters["queue"].value == pytest.approx(EXPORT)


def test_a_save_that_a_run_has_not_finished_waits_whole() -> None:
    # 0.3 hours are 1,080 s: a save after 900 s and the last one, both kept and both in the queue.
    [warning] = [one for one in plan(run_hours=0.3).warnings if one.id.startswith("export-falls-behind")]
    assert warning.parameters["queue"].value == pytest.approx(2 * EXPORT)


def test_jobs_that_share_a_file_system_share_its_export() -> None:
    alone, three = plan(), plan(jobs=3)
    one, all_ = (
        export_seconds(
            "fsx-for-lustre", {"storage_capacity_gib": 9600, "throughput_mb_per_s_per_tib": 125}, found, FACTS
        )
        for found in (alone.demand, three.demand)
    )
    assert one is not None and all_ is not None
    assert (one.value, all_.value) == pytest.approx((EXPORT, 3 * EXPORT))


def test_no_more_is_kept_in_s3_than_is_exported() -> None:
    # Of 12 saves in three hours one in five is exported: 2.4.  In one hour, of four the last alone.
    for hours, copies in ((3, 2), (1, 1)):
        found = plan(run_hours=hours)
        [kept] = [line for line in found.saving("fsx-for-lustre").lines if line.id == "checkpoint-storage"]
        assert found.placements["checkpoints"].option == "fsx-for-lustre"
        assert kept.quantity is not None
        assert kept.quantity.value == pytest.approx(copies * 3.29e12 / 2**30 * hours / 730)


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


# ---- how export scales -----------------------------------------------------------------------------------------------


def exported_in(capacity_gib: float, per_tib: float) -> Quantity:
    """Seconds for 1 TB in one file out of a file system of this size."""
    demand = replace(plan().demand, checkpoint_bytes=Quantity.exact(1e12, "bytes"), checkpoint_writers=1)
    settings = {"storage_capacity_gib": capacity_gib, "throughput_mb_per_s_per_tib": per_tib}
    found = export_seconds("fsx-for-lustre", settings, demand, FACTS)
    assert found is not None
    return found


def test_export_is_as_measured_on_the_file_systems_it_was_measured_on() -> None:
    # 4,800 GiB at 250 and 9,600 GiB at 125 were ordered with 1,200 MB/s: 875 and 922 MB/s; 293 the slowest run.
    for size in ((4800, 250), (9600, 125)):
        found = exported_in(*size)
        assert found[:3] == pytest.approx((1e12 / 922e6, 1e12 / 875e6, 1e12 / 293e6))
    # 4,800 GiB at 125, 600 MB/s, gave 293; half of the others' are 437.5 and 461.
    assert exported_in(4800, 125)[:3] == pytest.approx((1e12 / 461e6, 1e12 / 437.5e6, 1e12 / 293e6))


def test_export_of_another_size_is_assumed_and_no_faster_in_the_middle() -> None:
    # 67,200 GiB at 1,000: 67,200 MB/s, 56 times 1,200.  The range reaches to as many times 922 MB/s, 51.6 GB/s.
    large = exported_in(67_200, 1000)
    assert large[:3] == pytest.approx((1e12 / (56 * 922e6), 1e12 / 875e6, 1e12 / 293e6))
    # 1,200 GiB at 125: 150 MB/s, an eighth of 1,200 and a quarter of 600.
    small = exported_in(1200, 125)
    assert small[:3] == pytest.approx((8e12 / 922e6, 8e12 / 875e6, 4e12 / 293e6))
    assert (large.basis, small.basis) == ("assumed", "assumed")


def test_a_choice_that_hangs_on_how_export_scales_says_so() -> None:
    found = recommend(Workload.from_mapping(SAVES_OFTEN, FACTS), FACTS)
    placed, on_fsx = found.placements["checkpoints"], found.saving("fsx-for-lustre").supply.configuration
    assert (placed.rule, placed.option) == ("fsx-for-lustre", "s3-express-one-zone")
    assert (on_fsx["storage_capacity_gib"], on_fsx["throughput_mb_per_s_per_tib"]) == (67_200, 1000)
    [told] = [one for one in found.warnings if one.id == "fsx-export-unmeasured"]
    # 980 GB / 875 MB/s = 1,120 s; at 56 × 922 MB/s 19 s, which keeps up with saves each 600 s.
    assert told.parameters["seconds"][:3] == pytest.approx((980e9 / (56 * 922e6), 1120, 980e9 / 293e6))
    assert told.parameters["provisioned"].value == pytest.approx(67.2e9)
    # Saves that each end of the range keeps up with, 980 GB / 293 MB/s = 3,345 s, leave nothing to say.
    rare = recommend(Workload.from_mapping(SAVES_OFTEN | {"checkpoint_interval": 3600}, FACTS), FACTS)
    assert "fsx-export-unmeasured" not in [one.id for one in rare.warnings]
