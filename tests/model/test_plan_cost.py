"""What a whole plan costs: reading, checkpoints, and the GPUs that wait for either."""

from __future__ import annotations

from typing import Any

import pytest

from gpufeed.facts import load
from gpufeed.model.advise import recommend
from gpufeed.model.recommendation import Recommendation
from gpufeed.model.workload import Workload

#: 32 p5.48xlarge at USD 55.04 an hour each save 980 GB every 30 minutes for a month of 730 hours.
LLM = {
    "task": "pretraining",
    "instances": 32,
    "instance_type": "p5.48xlarge",
    "gpu_hour_price": 55.04,
    "preset": "llm-text",
    "dataset_bytes": 20e12,
    "objects": 200_000,
    "checkpoint_bytes": 980e9,
    "checkpoint_interval": 1800,
    "checkpoints_kept": 2,
    "region": "us-east-1",
    "run_hours": 730,
}


def plan(**other: Any) -> Recommendation:
    return recommend(Workload.from_mapping(LLM | other, load()), load())


def amounts(found: Recommendation) -> dict[str, float]:
    summed: dict[str, float] = {}
    for line in found.cost.lines:
        assert line.amount is not None, line.id
        summed[line.id] = summed.get(line.id, 0.0) + line.amount.value
    return summed


def test_a_file_system_for_the_checkpoints_alone_is_in_the_bill_of_the_plan() -> None:
    found = plan()
    assert (found.recommended, found.placements["checkpoints"].option) == ("s3-standard", "fsx-for-lustre")
    ordered, bill = found.placements["checkpoints"].configuration, amounts(found)
    assert ordered["storage_capacity_gib"] == 24_000
    assert ordered["throughput_mb_per_s_per_tib"] == 1000
    assert bill["checkpoint-own-storage"] == pytest.approx(24_000 * 0.600)
    share = found.option("fsx-for-lustre").stall.share
    assert share is not None
    assert bill["saving-gpu"] == pytest.approx(730 * share.value * 32 * 55.04)
    assert found.cost.total is not None
    assert found.cost.total.value == pytest.approx(sum(bill.values()))


def test_checkpoints_in_s3_are_paid_as_kept_bytes_and_puts() -> None:
    found = plan(instances=1, checkpoint_bytes=8.388608e9, checkpoint_interval=3600)
    assert found.placements["checkpoints"].option == "s3-standard"
    bill = amounts(found)
    # 2 × 8,388,608,000 bytes = 15.625 GiB for a month
    assert bill["checkpoint-storage"] == pytest.approx(15.625 * 0.023)
    # 8 ranks save 125 parts of 8 MiB each, and open and close: 1,016 PUTs, 730 times
    assert bill["checkpoint-puts"] == pytest.approx(8 * 127 * 730 * 0.005 / 1000)


def test_a_file_system_that_serves_the_reads_as_well_is_paid_once() -> None:
    found = plan(preset="image-classification", objects=200_000_000, interface="posix")
    assert found.recommended == found.placements["checkpoints"].option == "fsx-for-lustre"
    ids = [line.id for line in found.cost.lines]
    assert ids.count("own-storage") == 1
    assert [id_ for id_ in ids if id_.startswith("checkpoint-")] == []
    assert "saving-gpu" in ids


def test_without_a_checkpoint_size_the_bill_is_that_of_the_reads() -> None:
    found = plan(preset="image-classification", checkpoint_bytes=None)
    assert found.cost.lines == found.option(found.recommended).cost.lines
    assert found.cost.total == found.option(found.recommended).cost.total


def test_a_plan_with_an_unpriced_part_has_no_total() -> None:
    found = plan(region="ap-northeast-1")
    assert found.recommended == found.placements["checkpoints"].option == "fsx-for-lustre"
    assert found.cost.total is None
    assert found.cost.not_priced == ("own-storage",)
