"""Saves that somebody watched: case 050, three public threads."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gpufeed.facts import load
from gpufeed.facts.errors import InputError
from gpufeed.model.observed_save import judge_save
from gpufeed.present import tables

CASE = Path(__file__).parents[1] / "cases" / "050"
ONE, TWO, THREE = json.loads((CASE / "input.json").read_text())
FIRST, SECOND, THIRD = json.loads((CASE / "expected.json").read_text())


def test_case_050_one_stream_to_s3_while_the_gpus_wait() -> None:
    found = judge_save(load(), seconds=ONE["seconds"], bytes=ONE["checkpoint_bytes"])
    assert found.bytes_per_s is not None and round(found.bytes_per_s / 1e6, 1) == FIRST["MB_per_s"] == 10.8
    assert found.gpu_wait_seconds == FIRST["gpu_wait_min"] * 60 == 1200
    assert found.cause == "single-stream"
    said = " ".join(tables.observed_save(found))
    assert "parallel multipart upload" in said and "in the background" in said


def test_case_050_not_the_disk() -> None:
    size = TWO["params"] * TWO["bytes_per_param"]
    found = judge_save(load(), seconds=TWO["seconds"], bytes=size, floor_bytes_per_s=TWO["disk_MB_per_s"] * 1e6)
    assert found.bytes == SECOND["bytes"] == 96e9
    assert found.bytes_per_s is not None and round(found.bytes_per_s / 1e6, 1) == SECOND["MB_per_s"] == 243.7
    assert found.floor_seconds is not None and round(found.floor_seconds, 1) == SECOND["floor_s_at_disk_speed"] == 43.6
    assert found.share_of_floor is not None and round(found.share_of_floor, 2) == 0.11
    assert found.cause == "not-the-disk"


def test_case_050_without_bytes_they_are_asked_for() -> None:
    found = judge_save(load(), seconds=THREE["seconds"])
    assert (found.cause, found.bytes_per_s, found.floor_seconds) == ("ask-bytes", None, None)
    assert "how many bytes" in tables.observed_save(found)[-1]
    assert THIRD["verdict"] == "cannot size without bytes: ask"


def test_none_of_the_three_buys_a_faster_tier() -> None:
    facts = load()
    for found in (
        judge_save(facts, seconds=1200, bytes=13e9),
        judge_save(facts, seconds=393.86, bytes=96e9, floor_bytes_per_s=2.2e9),
    ):
        said = " ".join(tables.observed_save(found))
        assert "faster tier would not have changed it" in said or "faster tier is not what is missing" in said


@pytest.mark.parametrize(
    ("seconds", "cause"),
    # 100 GB at a floor of 1 GB/s: 100 s.  Half of it is 200 s.
    [(99, "above-the-floor"), (100, "near-the-floor"), (200, "near-the-floor"), (201, "not-the-disk")],
)
def test_a_known_rate_tells_the_storage_from_everything_else(seconds: float, cause: str) -> None:
    assert judge_save(load(), seconds=seconds, bytes=100e9, floor_bytes_per_s=1e9).cause == cause


def test_without_a_known_rate_more_than_one_stream_is_left_open() -> None:
    # One stream to S3 brings at most 45 MB/s.
    assert judge_save(load(), seconds=1, bytes=45e6).cause == "single-stream"
    assert judge_save(load(), seconds=1, bytes=46e6).cause == "ask-floor"


def test_the_gpus_did_not_wait_for_an_asynchronous_save() -> None:
    assert judge_save(load(), seconds=100, bytes=1e9, mode="async").gpu_wait_seconds is None


@pytest.mark.parametrize("wrong", [{"seconds": 0}, {"seconds": 1, "bytes": -1}, {"seconds": 1, "floor_bytes_per_s": 0}])
def test_numbers_no_save_can_have_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(InputError) as refused:
        judge_save(load(), **wrong)  # type: ignore[arg-type]  # one row of a table
    assert refused.value.message_id == "observed.not-positive"
