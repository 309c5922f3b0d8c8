"""Charts and tables of checkpoints: what they write, in both languages, and for every mode."""

from __future__ import annotations

import re
from html import unescape
from typing import Any

import pytest

from gpufeed.facts import load
from gpufeed.model.advise import recommend
from gpufeed.model.checkpoint_plan import CheckpointPlan, checkpoint_plan
from gpufeed.model.release import Export
from gpufeed.model.workload import Workload
from gpufeed.present import charts, tables


def plan(**traits: Any) -> CheckpointPlan:
    facts = load()
    least = {"task": "pretraining", "instances": 64, "instance_type": "p5.48xlarge", "region": "us-east-1"}
    job = least | {"model_parameters": 70e9, "checkpoint_interval": 600} | traits
    return checkpoint_plan(recommend(Workload.from_mapping(job, facts), facts), facts)


def texts(drawing: charts.Drawing) -> list[str]:
    found = re.findall(r"<text[^>]*>(.*?)</text>", drawing.svg)
    return [unescape(part) for written in found for part in re.split(r"<[^>]*>", written) if part]


def test_goodput_is_drawn_over_the_interval_with_the_stated_one() -> None:
    drawing = charts.goodput_over_interval(plan())
    written = texts(drawing)
    assert {"Goodput over the checkpoint interval", "stated: 10 min", "10 h", "90 %", "99 %", "FSx for Lustre"} <= set(
        written
    )
    assert list(drawing.table.columns)[:3] == ["Option", "Goodput", "Lost"]


def test_one_save_is_followed_until_it_is_in_s3() -> None:
    written = texts(charts.save_timeline(plan(checkpoint_mode="async")))
    assert "One save of 980 GB, from its beginning" in written
    # 980 GB / (512 × 20 GB/s); written by 5,120 parts of 78 MiB, each in 30 ms and 78 MiB at 20 MB/s, of which 80 % are
    # reached: 980 GB / (101.7 GB/s × 0.8) = 12.1 s.
    assert "GPUs wait 95.7 ms · in S3 after 12.1 s" in written
    assert {"GPUs go on", "written", "in Amazon S3"} <= set(written)


def test_failures_are_drawn_side_by_side() -> None:
    written = texts(charts.time_between_failures(plan()))
    assert "Time between failures of 512 GPUs" in written
    assert {"Llama 3: all interruptions", "3 d 17 h", "RSC: failed jobs", "15 h 48 min"} <= set(written)
    assert len(charts.time_between_failures(plan()).table) == 7


def test_a_job_without_a_size_draws_and_lists_what_is_unknown() -> None:
    unknown = plan(preset="mlperf-unet3d", model_parameters=None)
    assert unknown.size is None
    for draw in (charts.goodput_over_interval, charts.save_timeline, charts.time_between_failures):
        assert draw(unknown).svg
    assert tables.goodput(unknown)["Goodput"].unique().tolist() == ["unknown"]
    assert tables.retention(unknown)["Per month"].unique().tolist() == ["unknown"]
    assert tables.restores(unknown)["This job"].unique().tolist() == ["unknown"]


def test_the_tables_say_what_is_against_an_option() -> None:
    said = tables.saves(plan(checkpoints="frequent")).set_index("Option")["What is against it"]
    behind = "longer than the interval of 10 min: the queue never empties unless only one save in 2 is exported"
    # Which of its file systems the figures are of, where it is another than that of the reads
    [lustre] = [name for name in said.index if "FSx for Lustre" in name]
    own = plan().plan.saving("fsx-for-lustre").supply.configuration["storage_capacity_gib"]
    assert lustre.endswith(f"({own:,.0f} GiB)")
    assert behind in said[lustre]
    assert "The published rule does not place frequent checkpoints" in said["Amazon S3 Standard"]


def test_what_reaches_into_the_next_interval_is_said_of_the_chosen_option() -> None:
    late = plan(checkpoint_mode="async", checkpoint_interval=20, interface="s3-api", avoid_parallel_file_system=True)
    beyond = late.placed.answer.stall.beyond_seconds
    assert beyond is not None
    said = " ".join(tables.checkpoint_sentences(late))
    assert ("reach into the next" in said) == (beyond.value > 0)


def test_a_mount_renames_nothing_on_a_general_purpose_bucket() -> None:
    found = tables.file_operations(plan(file_operations=["rename"]), load()).set_index("Option")
    dcp = found["PyTorch DCP as files (temporary file, then rename)"]
    assert dcp["Mountpoint for Amazon S3, backed by Amazon S3 Standard"] == "no"
    assert dcp["Mountpoint for Amazon S3, backed by S3 Express One Zone"] == "yes"
    assert dcp["Amazon S3 Standard"] == "objects only"
    lacks = found["This job needs, not there"]
    assert lacks["Mountpoint for Amazon S3, backed by Amazon S3 Standard"] == "rename"
    assert lacks["FSx for Lustre"] == "–"


def test_the_gate_is_said_in_sentences() -> None:
    assert tables.gate(Export("SUCCEEDED", 0, 512, 512)) == [
        "May be released: the export task succeeded, nothing waits for export, and the counts match."
    ]
    assert len(tables.gate(Export())) == 4


@pytest.mark.parametrize(("memory", "said"), [(None, ": it fits."), (1e12, ": it fits."), (1e9, ": it does not fit.")])
def test_host_memory_first_says_whether_it_fits(memory: float | None, said: str) -> None:
    assert said in tables.memory_first(plan(host_memory_bytes=memory).memory_first)[1]


def test_host_memory_first_asks_for_the_memory_of_a_machine_it_does_not_know() -> None:
    other = {"instance_type": None, "accelerator": "H100", "accelerators_per_instance": 8}
    said = tables.memory_first(plan(**other).memory_first)
    assert "host_memory_bytes (bytes)" in said[1]
    assert "(unknown per node)" in said[-1]


def test_everything_is_said_in_chinese(chinese: None) -> None:
    found = plan(checkpoint_mode="async")
    assert "512 个 GPU 的故障间隔" in texts(charts.time_between_failures(found))
    assert tables.checkpoint_sentences(found)[0] == "一个检查点为 980 GB。"
    assert "不得释放：" in tables.gate(Export())
    assert "托管分层检查点" in " ".join(tables.memory_first(found.memory_first))
