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
from gpufeed.present import words

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
        ("delete.copies.fsx-for-lustre", "during"),
        ("export.fsx-for-lustre", "after"),
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
    copies = by_id["delete.copies.fsx-for-lustre"].parameters
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
    assert [step.id for step in course(found, FACTS)] == [
        "train",
        "save",
        "delete.copies.s3-standard",
        "delete.scratch",
    ]


def test_what_is_not_known_has_no_time() -> None:
    found = plan(UNET | {"preset": "image-generation", "model_parameters": None})
    by_id = {step.id: step for step in course(found, FACTS)}
    assert found.demand.read_bytes_per_s is None or found.demand.checkpoint_bytes is None
    assert ("save" in by_id) is (found.demand.checkpoint_bytes is not None)


# ---- a directory bucket, reached directly or through Mountpoint, lies in one zone -----------------------------------

#: A saver that renames what it wrote: through Mountpoint only a directory bucket can do that.
RENAMES: dict[str, Any] = {
    "task": "full-fine-tuning",
    "instances": 8,
    "instance_type": "p5.48xlarge",
    "model_parameters": 13e9,
    "dataset_bytes": 1e11,
    "checkpoint_interval": 300,
    "interface": "file-paths",
    "file_operations": ["rename"],
    "data_in_s3": True,
    "run_hours": 200,
    "region": "us-east-1",
}


def test_what_is_saved_through_a_mount_on_a_directory_bucket_is_copied_before_that_is_deleted() -> None:
    found = plan(RENAMES)
    placed = found.placements["checkpoints"]
    assert (placed.option, placed.lies_on) == ("mountpoint-s3", "s3-express-one-zone")
    by_id = {step.id: step for step in course(found, FACTS)}
    ids = list(by_id)
    assert "save" not in ids
    assert ids.index("export.s3-express-one-zone") < ids.index("delete.s3-express-one-zone")
    # 182 GB in 640 parts of 8 MiB at once.  To Express each takes 4 ms + 8,388,608 B / 110 MB/s = 80.26 ms, to S3
    # 30 ms + 8,388,608 B / 20 MB/s = 449.43 ms; a save reaches 80 % of the rate: 3.40 s, and 19.04 s for the copy.
    written, copied = (
        182e9 / (640 * 8388608 / each * 0.8) for each in (0.004 + 8388608 / 110e6, 0.03 + 8388608 / 20e6)
    )
    assert (written, copied) == (pytest.approx(3.401, abs=1e-3), pytest.approx(19.045, abs=1e-3))
    save = by_id["save-and-copy"]
    assert save.seconds is not None and save.seconds.value == pytest.approx(written)
    assert save.parameters["in_s3"].value == pytest.approx(written + copied)
    # Every save is copied, not one in so many as out of a file system: 200 h × 12 an hour.
    assert by_id["delete.copies.s3-express-one-zone"].parameters["bytes"].value == pytest.approx(2400 * 182e9)
    assert {line.id for line in found.cost.lines} >= {"checkpoint-copy-puts", "checkpoint-copy-storage"}


def test_reads_on_a_directory_bucket_have_their_data_copied_into_it_first() -> None:
    many = {"preset": "image-classification", "instances": 1, "model_parameters": 1e9, "checkpoint_interval": 1800}
    many |= {"dataset_bytes": 3e12, "objects": 1000, "epochs": 3, "run_hours": None}
    found = plan(RENAMES, **many, avoid_parallel_file_system=True)
    reads = found.placements["training_reads"]
    assert (reads.option, reads.lies_on) == ("mountpoint-s3", "s3-express-one-zone")
    assert "copy-puts" in {line.id for line in found.cost.lines}
    before = [step.id for step in course(found, FACTS) if step.when == "before"]
    assert before == ["create.s3-express-one-zone", "bring-in-with-weights.s3-express-one-zone"]


@pytest.mark.parametrize(
    ("language", "names"),
    [("en", ("file system", "utomatic export", "FSx")), ("zh_CN", ("文件系统", "自动导出", "FSx"))],
)
def test_only_a_plan_with_a_file_system_is_told_about_its_export(
    language: str, names: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GPUFEED_LANGUAGE", language)
    frequent = RENAMES | {"task": "pretraining", "instances": 32, "model_parameters": 70e9, "checkpoint_interval": 600}
    found = plan(frequent, file_operations=[], interface="s3-api", objects=8000, dataset_bytes=2e12, run_hours=240)
    used = {placed.option for placed in found.placements.values()}
    assert "s3-express-one-zone" in used and "fsx-for-lustre" not in used
    sentences = [words.step(step) for step in course(found, FACTS)]
    assert [one for one in sentences if any(name in one for name in names)] == []


def test_what_is_done_while_the_job_runs_is_not_among_the_steps_after_it() -> None:
    for job in (UNET, RENAMES):
        steps = [step for step in course(plan(job), FACTS) if step.id.startswith("delete.copies")]
        assert [step.when for step in steps] == ["during"]
