"""The shell: exit codes, one JSON object on standard output, one sentence on standard error."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from gpufeed.cli import main

LEAST = 'task = "pretraining"\ninstances = 8\ninstance_type = "p5.48xlarge"\n'
OPTIONS = {"s3-standard", "s3-express-one-zone", "fsx-for-lustre", "s3-files", "mountpoint-s3"}


@pytest.fixture
def workload(tmp_path: Path) -> Path:
    file = tmp_path / "workload.toml"
    file.write_text(LEAST, encoding="utf-8")
    return file


def answer(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, dict[str, Any], str]:
    code = main(arguments)
    out, err = capsys.readouterr()
    document: dict[str, Any] = json.loads(out)
    return code, document, err


def test_recommend_prints_the_keys_of_the_contract(workload: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, document, err = answer(capsys, "recommend", str(workload), "--json")
    assert (code, err) == (0, "")
    assert {
        "recommended",
        "rule",
        "placements",
        "options",
        "demand",
        "flip_points",
        "searched",
        "warnings",
        "facts_as_of",
        "currency",
    } <= document.keys()
    assert {"option", "also_allowed", "rules", "verdict"} <= document["rule"].keys()
    assert list(document["placements"]) == ["dataset", "training_reads", "checkpoints", "key_checkpoints", "scratch"]
    for placed in document["placements"].values():
        assert {"option", "backed_by", "configuration", "decided_by", "opinions"} <= placed.keys()
        assert {"rule", "model", "measured"} == placed["opinions"].keys()
    assert {"mode", "interval"} <= document["placements"]["checkpoints"].keys()
    assert document["placements"]["scratch"]["delete_when"] == "when the job ends"
    assert {option["option"] for option in document["options"]} == OPTIONS
    for option in document["options"]:
        assert {
            "option",
            "verdict",
            "reasons",
            "read_bytes_per_s",
            "limited_by",
            "fed",
            "checkpoint_stall",
            "cost",
        } <= option.keys()
        assert all({"id", "text", "source"} == reason.keys() for reason in option["reasons"])
        for line in option["cost"]["lines"]:
            assert {
                "id",
                "text",
                "part",
                "quantity",
                "unit",
                "unit_price",
                "amount",
                "by_capacity_block",
                "sources",
            } == line.keys()
    assert {
        "read_bytes_per_s",
        "read_requests_per_s",
        "samples_per_s",
        "tokens_per_s_per_accelerator",
        "checkpoint_bytes",
        "checkpoint_write_bytes_per_s",
        "restore_bytes_per_s",
        "mean_time_to_failure",
    } <= document["demand"].keys()
    assert document["demand"]["read_bytes_per_s"].keys() == {"low", "value", "high"}
    assert document["recommended"] == document["placements"]["training_reads"]["option"]


def test_explain_adds_how_each_figure_comes_about(workload: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, document, _ = answer(capsys, "recommend", str(workload), "--json", "--explain")
    steps = {step["id"]: step for step in document["steps"]}
    asked = steps["demand.read_bytes_per_s"]
    assert asked["result"] == document["demand"]["read_bytes_per_s"]
    assert asked["equation"]
    assert {"name", "figure", "fact", "value", "unit", "basis", "sources", "as_of", "note"} == asked["inputs"][0].keys()
    assert main(["recommend", str(workload), "--explain"]) == 0
    said = capsys.readouterr().out
    assert "What would change the answer" in said
    assert "Read rate the GPUs ask for: " in said


def test_what_is_not_known_is_null(workload: Path, capsys: pytest.CaptureFixture[str]) -> None:
    workload.write_text(LEAST + 'preset = "video"\n', encoding="utf-8")
    _, document, _ = answer(capsys, "recommend", str(workload), "--json")
    assert document["demand"]["read_bytes_per_s"] is None
    assert document["fed"] is None
    assert all(option["fed"] is None for option in document["options"])


@pytest.mark.parametrize("language", ["en", "zh_CN"])
def test_the_plan_in_words(
    workload: Path, language: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GPUFEED_LANGUAGE", language)
    assert main(["recommend", str(workload)]) == 0
    first = capsys.readouterr().out.splitlines()[0]
    assert first.startswith({"en": "Training reads: ", "zh_CN": "训练读取："}[language])


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("task = ", "is not valid TOML"),
        ('task = "lora"\ninstances = 1\ninstance_type = "p5.48xlarg"\n', "Nearest: p5.48xlarge"),
        ('task = "lora"\ninstances = -1\ninstance_type = "p5.48xlarge"\n', "instances = -1 is out of range"),
        ('task = "lora"\ninstnces = 1\n', "Nearest: instances"),
    ],
)
def test_wrong_input_is_exit_2_and_one_sentence(
    workload: Path, content: str, sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    workload.write_text(content, encoding="utf-8")
    code, document, err = answer(capsys, "recommend", str(workload), "--json")
    assert code == 2
    assert sentence in err and err.count("\n") == 1
    assert document["error"]["text"] + "\n" == err


def test_a_file_that_is_not_there_is_exit_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = answer(capsys, "recommend", str(tmp_path / "none.toml"), "--json")
    assert (code, err.count("\n")) == (2, 1)


@pytest.mark.parametrize("content", [b"[1, 2]", b"{", b"\xff\xfe", b"{}", b'{"objects": "many"}', b"[" * 100_000])
def test_a_profile_that_is_none_is_exit_2(
    workload: Path, tmp_path: Path, content: bytes, capsys: pytest.CaptureFixture[str]
) -> None:
    profile = tmp_path / "profile.json"
    profile.write_bytes(content)
    code, _, err = answer(capsys, "recommend", str(workload), "--profile", str(profile), "--json")
    assert (code, err.count("\n")) == (2, 1)


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["recomend"],
        ["scan"],
        ["scan", "s3://b/p", "--concurrency", "many"],
        ["scan", "https://b/p"],
        ["scan", "s3://b/p", "--concurrency", "0"],
        ["scan", "s3://b/p", "--limit", "-1"],
        ["scan", "s3://b/p", "--endpoint-url", "not an address"],
        ["probe", "s3://b/p", "--concurrency", "1;2"],
        ["probe", "s3://b/p", "--seconds", "-1"],
    ],
)
def test_wrong_arguments_are_exit_2_and_one_sentence(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)


def test_scan_and_recommend_speak_to_each_other(
    demo_server: Any,
    workload: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in demo_server.environment().items():
        monkeypatch.setenv(name, value)
    code, document, _ = answer(capsys, "scan", f"s3://{demo_server.bucket}/images/", "--json")
    assert code == 0 and document["complete"] is True
    assert document["listing"]["cost"] is None  # only AWS charges AWS's prices
    assert {"problem", "threshold_bytes", "share_of_objects", "share_of_bytes", "reason"} <= document[
        "small_files"
    ].keys()
    assert {row["option"] for row in document["per_option"]} == OPTIONS
    profile = tmp_path / "profile.json"
    profile.write_text(json.dumps(document), encoding="utf-8")
    workload.write_text(LEAST + 'preset = "image-classification"\n', encoding="utf-8")
    code, plan, _ = answer(capsys, "recommend", str(workload), "--profile", str(profile), "--json")
    assert code == 0
    assert plan["demand"]["object_bytes"]["value"] == pytest.approx(
        document["bytes"] / (document["objects"] - document["zero_byte_objects"])
    )


def test_a_limit_is_exit_0_and_says_why_it_is_partial(
    demo_environment: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    code, document, err = answer(capsys, "scan", f"s3://{demo_environment.bucket}/images/", "--limit", "10", "--json")
    assert (code, document["complete"]) == (0, False)
    assert document["incomplete_because"] in err


@pytest.mark.usefixtures("demo_environment")
def test_a_bucket_that_does_not_exist_is_exit_1(capsys: pytest.CaptureFixture[str]) -> None:
    code, document, err = answer(capsys, "scan", "s3://no-such-bucket-here/", "--json")
    assert (code, document["complete"], document["objects"]) == (1, False, None)
    assert document["incomplete_because"] in err


def test_no_traceback_where_the_reader_goes_away(workload: Path) -> None:
    command = [sys.executable, "-m", "gpufeed", "recommend", str(workload), "--json"]
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, text=True, check=False, timeout=60)
    os.close(write)
    assert done.returncode == 1 and "Traceback" not in done.stderr
