"""The course of a run, from creating its storage to deleting it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from gpufeed.facts import load
from gpufeed.model.advise import recommend
from gpufeed.model.course import course
from gpufeed.model.recommendation import Recommendation
from gpufeed.model.workload import Workload

FACTS = load()
UNET: dict[str, Any] = {
    "task": "pretraining",
    "instances": 8,
    "instance_type": "p5.48xlarge",
    "preset": "mlperf-unet3d",
    "model_parameters": 3e7,
    "dataset_bytes": 5e12,
    "objects": 34_000,
    "checkpoint_interval": 3600,
    "interface": "file-paths",
    "run_hours": 48,
}


def plan(stated: dict[str, Any], **more: Any) -> Recommendation:
    return recommend(Workload.from_mapping(stated | more, FACTS), FACTS)


def test_a_file_system_is_created_and_filled_before_the_gpus_are_paid_for_and_deleted_after() -> None:
    found = plan(UNET, data_in_s3=False)
    assert {found.placements[role].option for role in ("training_reads", "checkpoints")} == {"fsx-for-lustre"}
    steps = course(found, FACTS)
    assert [(step.id, step.when) for step in steps] == [
        ("upload", "before"),
        ("create.fsx-for-lustre", "before"),
        ("bring-in.fsx-for-lustre", "before"),
        ("train", "during"),
        ("save", "during"),
        ("export.fsx-for-lustre", "after"),
        ("delete.copies", "after"),
        ("delete.fsx-for-lustre", "after"),
        ("delete.scratch", "after"),
    ]
    by_id = {step.id: step for step in steps}
    assert by_id["upload"].seconds is None and by_id["create.fsx-for-lustre"].seconds is None  # no source says
    # 5 TB at what the first epoch is read through at
    rate = found.option("fsx-for-lustre").first_epoch.read_bytes_per_s
    hydrate = by_id["bring-in.fsx-for-lustre"].seconds
    assert rate is not None and hydrate is not None
    assert hydrate.value == pytest.approx(5e12 / rate.value)
    # 48 saves of 3e7 × 14 bytes, of which the default are kept
    copies = by_id["delete.copies"].parameters
    kept = FACTS.model.known("checkpoints_kept").value
    assert (copies["bytes"].value, copies["billed"].value) == (pytest.approx(48 * 4.2e8), pytest.approx(kept * 4.2e8))
    # 48 h and the hours in which GPUs wait for reads and saves, as they are on the bill
    waits = [line.quantity.value for line in found.cost.lines if line.part == "idle-gpu" and line.quantity]
    trained = by_id["train"].seconds
    assert trained is not None and len(waits) == 2
    assert trained.value == pytest.approx((48 + sum(waits)) * 3600)
    assert by_id["save"].seconds == found.option("fsx-for-lustre").stall.save_seconds


def test_a_file_system_of_the_data_alone_has_nothing_to_prove_before_it_is_deleted() -> None:
    found = plan(UNET, checkpoint_bytes=1e6, interface="s3-api")
    placements = found.placements | {
        "training_reads": replace(found.placements["training_reads"], option="fsx-for-lustre"),
        "checkpoints": replace(found.placements["checkpoints"], option="s3-standard"),
    }
    ids = [step.id for step in course(replace(found, placements=placements), FACTS)]
    assert "delete.fsx-for-lustre-data-alone" in ids
    assert "delete.fsx-for-lustre" not in ids and "export.fsx-for-lustre" not in ids


def test_nothing_is_created_where_everything_lies_in_s3() -> None:
    found = plan(UNET, interface="s3-api", samples_per_second_per_accelerator=0.1, checkpoints="rare")
    assert {found.placements[role].option for role in ("training_reads", "checkpoints")} == {"s3-standard"}
    assert [step.id for step in course(found, FACTS)] == ["train", "save", "delete.scratch"]


def test_what_is_not_known_has_no_time() -> None:
    found = plan(UNET | {"preset": "image-generation", "model_parameters": None})
    by_id = {step.id: step for step in course(found, FACTS)}
    assert found.demand.read_bytes_per_s is None or found.demand.checkpoint_bytes is None
    assert ("save" in by_id) is (found.demand.checkpoint_bytes is not None)
