"""``gpufeed fsx``: every file system that would do, or whether one that exists is enough."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from examples import FILE_SYSTEM

from gpufeed.cli import main
from gpufeed.facts.messages import Sentence
from gpufeed.observe.aws import file_systems
from gpufeed.observe.aws.file_systems import Found

HAS = replace(FILE_SYSTEM, capacity_gib=9600.0)
#: Rates are stated, so that no fact moves them.
JOB = """
task = "full-fine-tuning"
instances = 8
accelerator = "H100"
accelerators_per_instance = 2
samples_per_second_per_accelerator = 125
sample_bytes = 1e6
dataset_bytes = 5e12
objects = 5000
checkpoint_bytes = 1e12
checkpoint_interval = 3600
stall_tolerance = 0.5
region = "us-east-1"
"""


@pytest.fixture
def job(tmp_path: Path) -> str:
    file = tmp_path / "workload.toml"
    file.write_text(JOB, encoding="utf-8")
    return str(file)


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, Any, str]:
    code = main(["fsx", *arguments, "--json"])
    out, err = capsys.readouterr()
    return code, json.loads(out), err


def exists(monkeypatch: pytest.MonkeyPatch, found: Found) -> list[tuple[str, str | None]]:
    """AWS has this file system; gives the (id, Region) that was asked for."""
    asked = []

    def answer(id_: str, region: str | None) -> Found:
        asked.append((id_, region))
        return found

    monkeypatch.setattr(file_systems, "file_system", answer)
    return asked


def test_without_an_id_every_type_stands_side_by_side(job: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, document, err = run(capsys, job)
    assert (code, err) == (0, "")
    # 16 × 125 × 1 MB = 2 GB/s; 1 TB within half of an hour = 0.56 GB/s, 80 % of 0.69; 5 TB and two checkpoints are
    # 6,519 GiB.
    need = document["need"]
    assert need["holds_bytes"] == 7e12
    assert need["read_bytes_per_s"] == pytest.approx(2e9)
    assert need["write_bytes_per_s"] == pytest.approx(1e12 / 1800 / 0.80)
    assert [(one["type"], one["configuration"]["storage_capacity_gib"]) for one in document["priced"]] == [
        ("PERSISTENT_2-SSD-125", 16_800),  # 16,000 GiB for 2 GB/s: 2,436 USD
        ("PERSISTENT_2-SSD-1000", 7200),  # 6,519 GiB of data: 4,320 USD
    ]
    assert [one["per_month"]["total"]["value"] for one in document["priced"]] == pytest.approx([2436, 4320])
    assert all(one["per_month"]["total"] is None for one in document["unpriced"])
    assert {out["type"] for out in document["ruled_out"]} >= {"SCRATCH_2", "INTELLIGENT_TIERING"}
    assert document["currency"] == "USD"


def test_the_region_of_the_command_line_comes_before_that_of_the_file(
    job: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, document, _ = run(capsys, job, "--region", "cn-north-1")
    assert (code, document["region"], document["currency"], document["priced"]) == (0, "cn-north-1", "CNY", [])
    assert {one["configuration"]["deployment_type"] for one in document["unpriced"]} == {"PERSISTENT_1"}
    code = main(["fsx", job, "--region", "cn-nort-1"])
    assert code == 2 and "Nearest: cn-north-1" in capsys.readouterr().err


def test_a_file_system_is_compared_and_the_change_named(
    job: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = exists(monkeypatch, Found(HAS))
    code, document, err = run(capsys, job, "--file-system", HAS.id)
    assert (code, err, asked) == (0, "", [(HAS.id, "us-east-1")])
    assert (document["enough"], document["binds"]) == (False, "read")
    read = next(row for row in document["rows"] if row["trait"] == "read")
    assert (read["has"]["value"], read["short_by"]["value"]) == (pytest.approx(1.2e9), pytest.approx(0.8e9))
    # 16,800 GiB at 125 MB/s per TiB for 2,436 USD; 9,600 GiB at 1,000 would be 5,760 USD.
    assert [change["id"] for change in document["changes"]] == ["fsx-change-capacity"]
    assert document["per_month"]["now"]["value"] == pytest.approx(1392)
    assert document["per_month"]["then"]["value"] == pytest.approx(2436)
    assert document["file_system"]["links"][0]["repository"] == "s3://your-bucket/data/"


def test_the_region_stated_on_the_command_line_is_the_one_asked(
    job: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # A Region without facts here is no wrong input: AWS knows it, only its prices are not known.
    asked = exists(monkeypatch, Found(replace(HAS, region="eu-central-1", mb_per_s_per_tib=1000.0)))
    code, document, _ = run(capsys, job, "--file-system", HAS.id, "--region", "eu-central-1")
    assert (code, asked, document["enough"]) == (0, [(HAS.id, "eu-central-1")], True)
    assert document["per_month"] == {"now": None, "then": None}


@pytest.mark.parametrize("language", ["en", "zh_CN"])
def test_both_answers_in_words(
    job: str, language: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GPUFEED_LANGUAGE", language)
    exists(monkeypatch, Found(HAS, (Sentence("aws.quota-not-read", {"reason": "…"}),)))
    assert main(["fsx", job]) == 0
    out = capsys.readouterr().out
    assert "16,800 GiB" in out and "2,436" not in out  # three digits of money, as everywhere
    assert "2,440" in out
    assert main(["fsx", job, "--file-system", HAS.id]) == 0
    out, err = capsys.readouterr()
    assert "16,800 GiB" in out and HAS.id in out.splitlines()[0]
    assert err.count("\n") == 1


def test_it_begins_with_what_the_job_needs_and_names_the_order_it_lists_in(
    job: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["fsx", job]) == 0
    lines = capsys.readouterr().out.splitlines()
    # 5 TB and two checkpoints of 1 TB; 16 × 125 × 1 MB; saves of 1 TB in half an hour at 80 %.  Exports, at 875 MB/s of
    # 1.2 GB/s ordered, end within the hour from 1 TB / 3,600 s × 1,200 / 875 on.
    assert lines[:2] == [
        "To carry the training reads and the checkpoints of this job, FSx for Lustre in us-east-1 needs:",
        (
            "  capacity: 6,519 GiB, and 931 GiB more for what is still being exported to S3 unless a throughput of at "
            "least 381 MB/s is ordered"
        ),
    ]
    assert lines[2:4] == ["  read rate: 2 GB/s", "  write rate: 694 MB/s"]
    assert next(line for line in lines if line.startswith("Would do")) == "Would do, cheapest first:"


#: Saves of 980 GB that the GPUs wait for: a file system for 23,000 USD a month lets them wait less than one for 1,740.
SAVES = """
task = "pretraining"
instances = 32
instance_type = "p5.48xlarge"
preset = "llm-text"
model_parameters = 70e9
dataset_bytes = 20e12
objects = 200000
run_hours = 500
"""


@pytest.mark.parametrize(
    ("language", "heading"),
    [
        ("en", "Would do; first what the plan counts on, GPUs that wait included, then cheapest first:"),
        ("zh_CN", "可用：先列方案所取的（已计入等待的 GPU），其余从低价到高价："),
    ],
)
def test_what_the_plan_counts_on_is_not_called_the_cheapest(
    language: str, heading: str, job: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GPUFEED_LANGUAGE", language)
    Path(job).write_text(SAVES, encoding="utf-8")
    assert main(["fsx", job]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert heading in lines
    assert {
        "en": "! The plan has no file system: the training reads are on Amazon S3 Standard, the checkpoints on S3 "
        "Express One Zone (gpufeed recommend says why). What follows is for both on one.",
        "zh_CN": "! 方案没有用文件系统：训练读取在 Amazon S3 Standard，检查点在 S3 Express One Zone"
        "（原因见 gpufeed recommend）。以下是两者同在一个文件系统上的情形。",
    }[language] in lines
    own, cheapest = lines[lines.index(heading) + 1 :][:2]
    assert "38,400 GiB" in own and "23,000" in own and "12,000 GiB" in cheapest and "1,740" in cheapest


def test_without_credentials_it_is_one_sentence(
    job: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        monkeypatch.setenv(name, str(tmp_path / "none"))
    code, document, err = run(capsys, job, "--file-system", HAS.id)
    assert (code, document["error"]["id"], err.count("\n")) == (1, "aws.no-credentials", 1)


def test_what_is_no_id_is_wrong_input(job: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, document, _ = run(capsys, job, "--file-system", "my-file-system")
    assert (code, document["error"]["id"]) == (2, "aws.not-a-file-system-id")
