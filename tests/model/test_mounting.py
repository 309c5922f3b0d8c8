"""Which bucket is mounted where the file operations of a job leave both open, worked by hand."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest

from gpufeed.facts import load
from gpufeed.model.advise import decide, recommend
from gpufeed.model.flip_reasons import why
from gpufeed.model.loading import ends_later
from gpufeed.model.measurement import Conditions, Measurement, Record
from gpufeed.model.recommendation import Recommendation
from gpufeed.model.rules import EXPRESS, MOUNTPOINT, S3, S3_FILES
from gpufeed.model.together import better_plan
from gpufeed.model.weigh import setting_up
from gpufeed.model.workload import Workload

FACTS = load()
#: 128 H100 that read 40 TB of large files by path, in 8 MiB parts, under one prefix.
UNET: dict[str, Any] = {
    "task": "pretraining",
    "instances": 16,
    "instance_type": "p5.48xlarge",
    "preset": "mlperf-unet3d",
    "dataset_bytes": 40e12,
    "epochs": 200,
    "interface": "file-paths",
    "avoid_parallel_file_system": True,
    "prefixes": 1,
    "checkpoint_bytes": 1.5e9,
    "checkpoint_writers": 1,
    "checkpoint_interval": 3600,
}


def plan(**more: Any) -> Recommendation:
    return recommend(Workload.from_mapping(UNET | more, FACTS), FACTS)


def said(found: Recommendation, role: str = "training_reads") -> dict[str, Any]:
    return {reason.id: reason.parameters for reason in found.placements[role].reasons}


def test_a_directory_bucket_is_mounted_where_the_plan_is_cheaper_for_it() -> None:
    """1,024 readers × 8.14 MB / (4 ms + 54.3 ms) = 143 GB/s of 407: 35 %.  One prefix gives 5,500 GET/s × 8.14 MB.

    200 × 40 TB take 5.46 h at 407 GB/s, and 10.07 h more at 35 %: USD 8,867 of 128 GPUs at USD 880.64.  7.45 million
    GiB retrieved are USD 4,470, LISTs and HEADs of opened files 274, the copy 127, storage 37, GETs 29, saves 3.
    """
    found = plan()
    reads, saves = found.placements["training_reads"], found.placements["checkpoints"]
    assert [(placed.option, placed.lies_on) for placed in (reads, saves)] == [(MOUNTPOINT, EXPRESS)] * 2
    assert found.fed is not None and found.fed.value == pytest.approx(143.06 / 406.67, rel=1e-4)
    assert found.option(MOUNTPOINT).supply.limited_by == "request-latency"
    assert found.cost.total is not None and found.cost.total.value == pytest.approx(13_809, abs=1)
    because = said(found)
    assert because["directory-bucket-feeds"]["other_fed"].value == pytest.approx(
        5_500 * 8.144479e6 / 406.67e9, rel=1e-4
    )
    assert because["directory-bucket-cheaper"]["cost"] == found.cost.weighed
    assert because["directory-bucket-cheaper"]["other_cost"].value == pytest.approx(39_407, abs=1)
    assert (because["directory-bucket-cheaper"]["option"], because["directory-bucket-cheaper"]["other"]) == (
        S3_FILES,
        S3_FILES,
    )
    # A job that renames files has the same plan, and no choice to tell of.
    renaming = plan(file_operations=["rename"])
    assert renaming.cost.total == found.cost.total and "directory-bucket-cheaper" not in said(renaming)


def test_the_bucket_by_default_stays_where_nothing_is_gained_or_the_other_is_none() -> None:
    mounts = {
        "no zone of a directory bucket": plan(zone="use1-az1"),
        "another Region without it": plan(region="eu-central-1"),
        "all of it is fed": plan(samples_per_second_per_accelerator=1),
        "the bucket itself": plan(interface="s3-api"),
    }
    assert {case: found.mounted for case, found in mounts.items()} == dict.fromkeys(mounts, S3)


def test_a_measured_mount_is_taken_to_be_on_what_is_mounted_by_default() -> None:
    record = Record(op="read", bytes_per_s=4e10, requests=1000, nodes=16)
    measured = Measurement("s3bench", "ok", (record,), conditions=Conditions(option=MOUNTPOINT))
    workload = Workload.from_mapping(UNET, FACTS)
    assert recommend(workload, FACTS, measurement=measured).mounted == S3
    elsewhere = replace(measured, conditions=Conditions(option=S3_FILES))
    assert recommend(workload, FACTS, measurement=elsewhere).mounted == EXPRESS


def test_a_flip_to_another_mount_is_told_by_what_is_mounted() -> None:
    """GPUs at USD 10.50 an hour are not worth what a directory bucket costs at worst, at USD 55 they are."""
    cheap, dear = (
        decide(Workload.from_mapping(UNET | {"gpu_hour_price": each}, FACTS), FACTS) for each in (10.5, 55.04)
    )
    assert [one.options["training_reads"] for one in (cheap, dear)] == [S3_FILES, MOUNTPOINT]
    wins, ends = why("training_reads", cheap, dear), why("training_reads", dear, cheap)
    assert (wins.id, wins.parameters["option"], wins.parameters["other"]) == ("flip-mounts", EXPRESS, S3)
    assert dear.other_mount is not None and wins.parameters["cost"] == dear.whole.weighed
    assert wins.parameters["other_cost"] == dear.other_mount.weighed
    assert (ends.id, ends.parameters["option"], ends.parameters["other"]) == ("flip-mounts-no-more", S3, EXPRESS)
    assert ends.parameters["because"].id == "kept-in-doubt"


def test_asking_to_rename_files_never_makes_a_plan_cheaper() -> None:
    """Beyond doubt, and by what a choice that sets up a bucket has to save: no less is claimed of any choice."""
    some, mounted = random.Random(12), 0
    for _ in range(200):
        traits = UNET | {
            "instances": some.choice((1, 4, 16, 17, 64, 600)),
            "instance_type": some.choice(("p5.48xlarge", "p5en.48xlarge", "g6.12xlarge")),
            "preset": some.choice(("mlperf-unet3d", "image-classification", "llm-text")),
            "dataset_bytes": 10 ** some.uniform(11, 14.5),
            "epochs": some.choice((1, 3, 50, 200)),
            "prefixes": some.choice((1, 4, 32)),
            "checkpoint_bytes": 10 ** some.uniform(9, 12.5),
            "checkpoint_writers": some.choice((1, None)),
            "checkpoint_interval": some.choice((300, 1800, 20_000)),
            "avoid_parallel_file_system": some.choice((True, False)),
        }
        traits = {name: value for name, value in traits.items() if value is not None}
        free, bound = (
            decide(Workload.from_mapping(traits | more, FACTS), FACTS) for more in ({}, {"file_operations": ["rename"]})
        )
        mounted += free.job.load.mounted == EXPRESS
        cheaper = better_plan(bound.whole, free.whole, free.job, more=setting_up(EXPRESS, "", free.job))
        assert not cheaper or ends_later(bound.whole.answer, free.whole.answer, free.job), traits
    assert mounted > 20  # so that the choice is among what was tried
