"""The answer of ``gpufeed recommend`` in a handful of lines: before all else, or alone with ``--short``."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpufeed.cli import main
from gpufeed.facts import load
from gpufeed.model.advise import recommend
from gpufeed.model.workload import Workload
from gpufeed.present import plain

FACTS = load()
#: Rates and sizes are stated: the GPUs of eight nodes read 64 × 125 × 1 MB = 8 GB/s.
ON_LUSTRE = """
task = "full-fine-tuning"
instances = 8
instance_type = "p5.48xlarge"
samples_per_second_per_accelerator = 125
sample_bytes = 1e6
dataset_bytes = 5e12
objects = 5000
interface = "posix"
checkpoint_bytes = 1e12
checkpoint_interval = 3600
stall_tolerance = 0.5
run_hours = 730
region = "us-east-1"
"""
# A month of 5 TB in S3, 107; of 14,400 GiB × 0.6, 8,640; GETs, 0.24; while it is loaded, 15.7 (2.85–34.2); copies of
# checkpoints in S3, 42.8 (21.4–107); PUTs, 436; GPUs that wait for 730 saves, 7,750 (6,020–34,900).
EXPECTED = {
    "en": [
        "Training reads: FSx for Lustre (published rule), GPUs fed 100 %",
        "Checkpoints: FSx for Lustre (published rule), time that GPUs wait for saves 2.4 % (1.9–11 %)",
        "To order: FSx for Lustre, PERSISTENT_2, SSD, 14,400 GiB, 1,000 MB/s per TiB, 12,000 metadata IOPS, EFA",
        "Cost of the run with this plan, GPUs that wait included: USD 17,000 (USD 15,200–44,200)",
        "Warnings that put this answer in doubt: none; others to know: 4",
    ],
    "zh_CN": [
        "训练读取：FSx for Lustre（公开规则），GPU 喂饱程度 100%",
        "检查点：FSx for Lustre（公开规则），GPU 等待保存的时间占比 2.4%（1.9–11%）",
        "要订购：FSx for Lustre，PERSISTENT_2、SSD、14,400 GiB、每 TiB 1,000 MB/s、12,000 元数据 IOPS、EFA",
        "采用此方案运行的费用（含等待的 GPU）：17,000 美元（15,200–44,200 美元）",
        "使此答案存疑的警告：无；其他须知：4 条",
    ],
}


@pytest.fixture
def job(tmp_path: Path) -> Path:
    path = tmp_path / "job.toml"
    path.write_text(ON_LUSTRE, encoding="utf-8")
    return path


@pytest.mark.parametrize("language", EXPECTED)
def test_the_answer_comes_first_and_alone_where_that_is_asked(
    language: str, job: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GPUFEED_LANGUAGE", language)
    assert main(["recommend", str(job), "--short"]) == 0
    assert capsys.readouterr() == ("\n".join(EXPECTED[language]) + "\n", "")
    assert main(["recommend", str(job)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[:6] == [*EXPECTED[language], ""] and len(lines) > 60
    # The heading of the bill alone stands twice.
    assert [line for line in EXPECTED[language] if line in lines[6:]] == [EXPECTED[language][3]]


def answer(**traits: object) -> list[str]:
    job = {"task": "pretraining", "instances": 64, "instance_type": "p5.48xlarge"} | traits
    return plain.short(recommend(Workload.from_mapping(job, FACTS), FACTS))


def test_nothing_is_ordered_where_no_file_system_is_needed() -> None:
    one = {"instances": 1, "interface": "s3-api", "samples_per_second_per_accelerator": 12.5, "sample_bytes": 1e6}
    sizes = {"dataset_bytes": 1e12, "objects": 1000, "checkpoint_bytes": 1e9, "checkpoint_interval": 3600}
    found = answer(task="full-fine-tuning", run_hours=24, **one, **sizes)
    assert found[:2] == [
        "Training reads: Amazon S3 Standard (published rule), GPUs fed 100 %",
        "Checkpoints: Amazon S3 Standard (published rule), time that GPUs wait for saves <0.1 %",
    ]
    assert found[2].startswith("Cost of the run with this plan, GPUs that wait included: USD ") and len(found) == 4


def test_what_is_not_known_is_said_and_never_zero() -> None:
    # The samples/s of the preset video are not published, the size of a checkpoint is not stated.
    found = answer(preset="video", interface="posix", region="eu-north-1")
    assert found[0] == "Training reads: FSx for Lustre (published rule), GPUs fed unknown"
    assert found[1] == "Checkpoints: FSx for Lustre (published rule), time that GPUs wait for saves unknown"
    assert found[2].startswith("To order: FSx for Lustre, PERSISTENT_1, SSD, 1,200 GiB")
    assert found[3] == (
        "Cost of the run with this plan, GPUs that wait included, without checkpoints, whose size is not known: "
        "not priced"
    )


def test_what_puts_the_answer_in_doubt_stands_with_it() -> None:
    job = {"preset": "llm-text", "model_parameters": 70e9, "checkpoint_interval": 300, "interface": "posix"}
    plan = recommend(
        Workload.from_mapping(
            {"task": "pretraining", "instances": 64, "instance_type": "p5.48xlarge", "region": "cn-north-1"} | job,
            FACTS,
        ),
        FACTS,
    )
    grave = [warning.id for warning in plan.warnings if warning.grave]
    assert grave == ["export-falls-behind-fsx-for-lustre", "nothing-priced"]
    found = plain.short(plan)
    at = found.index(f"Warnings that put this answer in doubt: 2; others to know: {len(plan.warnings) - 2}")
    assert [line[:48] for line in found[at + 1 :]] == [
        "! FSx for Lustre cannot bring every checkpoint t",
        "! No option has all its prices for cn-north-1, a",
    ]
    assert found[at - 1] == "Cost of the run with this plan, GPUs that wait included: not priced"


def test_a_mount_names_the_bucket_behind_it() -> None:
    job = {"preset": "llm-text", "model_parameters": 7e9, "dataset_bytes": 2e13, "objects": 20_000}
    found = answer(**job, checkpoint_interval=3600, interface="file-paths", file_operations=["rename"])
    assert found[:2] == [
        "Training reads: S3 Files (published rule), GPUs fed 100 %",
        (
            "Checkpoints: Mountpoint for Amazon S3, backed by S3 Express One Zone (model), "
            "time that GPUs wait for saves <0.1 %"
        ),
    ]


@pytest.mark.parametrize("other", ["--json", "--explain"])
def test_short_stands_alone(other: str, job: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["recommend", str(job), "--short", other]) == 2
    assert capsys.readouterr().err == ("--short prints the answer alone: leave out --explain and --json, or --short.\n")
