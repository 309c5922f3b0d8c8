"""The weights that a job starts from: GPUs wait for them, and they lie where it reads.  Worked by hand."""

from __future__ import annotations

import math
from typing import Any

import pytest

from gpufeed.facts import load
from gpufeed.model.advise import recommend
from gpufeed.model.course import course
from gpufeed.model.file_system_need import need_of, need_of_saves
from gpufeed.model.job import Job, job_of
from gpufeed.model.recommendation import CostLine, Recommendation
from gpufeed.model.workload import Workload

FACTS = load()
PART = 8 * 2**20
LORA: dict[str, Any] = {
    "task": "lora",
    "instances": 16,
    "instance_type": "p5.48xlarge",
    "model_parameters": 405e9,
    "dataset_bytes": 20e9,
    "interface": "posix",
    "run_hours": 24,
}
#: 2 bytes for each parameter, read by each of 16 instances.
ONCE, READ = 810e9, 16 * 810e9
EACH_HOUR = 16 * 55.04


def job(**more: Any) -> Job:
    return job_of(Workload.from_mapping(LORA | more, FACTS), FACTS, None)[0]


def plan(**more: Any) -> Recommendation:
    return recommend(Workload.from_mapping(LORA | more, FACTS), FACTS)


def line(found: Recommendation, option: str, id_: str) -> CostLine:
    return next(line for line in found.option(option).cost.lines if line.id == id_)


def value(found: Recommendation, option: str, id_: str) -> float:
    quantity = line(found, option, id_).quantity
    assert quantity is not None
    return quantity.value


def test_a_file_system_is_as_large_as_waiting_for_weights_makes_it_pay() -> None:
    """The GPUs wait 12.96 TB / (0.80 × capacity × 1 MB/s), each hour for USD 880.64; a GiB costs 0.60 × 24 / 730.

    12,000 GiB: 236.7 + 330.2 = 566.9
    14,400 GiB: 284.1 + 275.2 = 559.3
    16,800 GiB: 331.4 + 235.9 = 567.3
    At 125 MB/s per TiB the least is at sqrt(3,962,880 × 8 / 0.00477) = 81,549 GiB, and costs 777.
    """
    found = plan()
    system = found.option("fsx-for-lustre").supply.configuration
    assert (system["storage_capacity_gib"], system["throughput_mb_per_s_per_tib"]) == (14_400, 1000)
    hours = READ / (0.80 * 14.4e9) / 3600
    assert value(found, "fsx-for-lustre", "weights-gpu") == pytest.approx(hours)
    waits = line(found, "fsx-for-lustre", "weights-gpu")
    assert waits.part == "idle-gpu" and waits.amount is not None
    assert waits.amount.value == pytest.approx(hours * EACH_HOUR) == pytest.approx(275.2, abs=0.05)
    assert waits in found.cost.lines


def test_asynchronous_saves_keep_nobody_waiting_and_weights_do() -> None:
    system = plan(checkpoint_mode="async").option("fsx-for-lustre").supply.configuration
    assert (system["storage_capacity_gib"], system["throughput_mb_per_s_per_tib"]) == (14_400, 1000)


def test_gpus_without_a_price_buy_no_larger_file_system() -> None:
    unpriced = {"instance_type": None, "accelerator": "H100", "accelerators_per_instance": 8}
    unpriced |= {"checkpoint_bytes": 1e6}
    found = plan(**unpriced)
    # 810 GB of weights and 20 GB of data at least, and no rate that asks for more
    assert found.option("fsx-for-lustre").supply.configuration["storage_capacity_gib"] == 1200
    assert line(found, "fsx-for-lustre", "weights-gpu").amount is None


def test_a_file_system_for_the_reads_alone_says_why_it_is_not_the_cheapest() -> None:
    """16 instances read 140 GB of weights each, 2.24 TB in all.

    4,800 GiB: 94.7 + 142.7 = 237.4; 7,200 GiB: 142.0 + 95.1 = 237.2; 9,600 GiB: 189.4 + 71.3 = 260.7
    Saves every two minutes of 700 GB would wait for their export, and go elsewhere.
    """
    found = plan(
        task="full-fine-tuning",
        interface="file-paths",
        data_in_s3=False,
        base_model_bytes=140e9,
        dataset_bytes=1e12,
        objects=50_000_000,
        sample_bytes=2e4,
        samples_per_second_per_accelerator=100,
        checkpoint_bytes=7e11,
        checkpoint_interval=120,
        checkpoint_mode="async",
    )
    reads = found.placements["training_reads"]
    assert (reads.option, found.placements["checkpoints"].option) == ("fsx-for-lustre", "mountpoint-s3")
    assert reads.configuration["storage_capacity_gib"] == 7200
    said = next(reason for reason in reads.reasons if reason.id == "reads-file-system-pays")
    # 256 MB/s at 125 MB/s per TiB are 2,048 GiB, and 12,800 opens/s ask for 6,400 metadata IOPS.
    assert said.parameters == {"configuration": "PERSISTENT_2-SSD-125", "gib": 2400}


def test_weights_have_room_beside_the_data_and_none_where_checkpoints_lie_alone() -> None:
    with_weights, without = job(), job(task="pretraining", checkpoint_bytes=1e9, preset="lora")
    data = with_weights.passes.touched
    assert data is not None and without.run.weights is None
    assert need_of(with_weights, saves=False).holds_bytes == pytest.approx(data.high + ONCE)
    size = with_weights.demand.checkpoint_bytes
    kept = FACTS.model.known("checkpoints_kept").value
    assert size is not None and need_of_saves(with_weights).holds_bytes == pytest.approx(size.value * kept)


def test_weights_are_loaded_with_the_data_before_the_gpus_start() -> None:
    first = plan().option("fsx-for-lustre").first_epoch
    # At 1.05 GB/s, which few large files come at whatever their number
    data = job().passes.touched
    assert first.load_seconds is not None and data is not None and first.way == "before"
    assert first.load_seconds.value > ONCE / 1.05e9
    assert first.load_seconds.value == pytest.approx(ONCE / 1.05e9 + data.value / _hydrated(job()))


def _hydrated(of: Job) -> float:
    return min(1.05e9, 750 * of.load.object_bytes.value)


def test_every_instance_asks_s3_for_them_in_parts() -> None:
    found, trained = plan(), job().run.requests
    assert trained is not None
    gets = trained.value + READ / ONCE * math.ceil(ONCE / PART)  # each copy in whole parts
    assert value(found, "s3-standard", "gets") * 1000 == pytest.approx(gets)
    once = (ONCE + 20e9) / 2**30 * 24 / 730
    assert value(found, "s3-express-one-zone", "own-storage") == pytest.approx(once)
    assert value(found, "s3-express-one-zone", "copy-upload") == pytest.approx((ONCE + 20e9) / 2**30)
    read = job().run.read_bytes
    assert read is not None
    assert value(found, "s3-express-one-zone", "retrieval") == pytest.approx((READ + read.value) / 2**30)


def test_through_nat_all_instances_pay_for_them_and_out_of_another_region_a_file_system_once() -> None:
    read, data = job().run.read_bytes, job().passes.touched
    assert read is not None and data is not None
    through = plan(network_path="nat")
    assert value(through, "s3-standard", "transfer") == pytest.approx((READ + read.value) / 2**30)
    away = plan(network_path="other-region")
    assert value(away, "fsx-for-lustre", "transfer") == pytest.approx((ONCE + data.value) / 2**30)


def test_s3_files_reads_them_from_the_bucket_and_imports_small_samples_alone() -> None:
    small = {"interface": "file-paths", "data_in_s3": True, "objects": 1_000_000}
    found = plan(**small)
    gets = READ / ONCE * math.ceil(ONCE / PART)
    assert value(found, "s3-files", "gets") * 1000 == pytest.approx(gets)
    # 4 KiB of metadata for each of them
    assert value(found, "s3-files", "metadata-reads") == pytest.approx(gets * 4096 / 2**30)
    assert value(found, "s3-files", "own-storage") == pytest.approx(20e9 / 2**30 * 24 / 730)
    through = plan(**small, network_path="nat")
    assert value(through, "s3-files", "transfer") == pytest.approx(READ / 2**30)


def test_the_timeline_has_the_start_before_the_training() -> None:
    found = plan()
    steps = {step.id: step for step in course(found, FACTS)}
    started, trained = steps["weights"].seconds, steps["train"].seconds
    assert list(steps).index("weights") < list(steps).index("train")
    assert started is not None and started.value == pytest.approx(READ / (0.80 * 14.4e9))
    saves = line(found, "fsx-for-lustre", "idle-gpu")
    of_saves = next(one for one in found.cost.lines if one.id == "saving-gpu").quantity
    assert trained is not None and saves.quantity is not None and of_saves is not None
    assert trained.value == pytest.approx((24 + of_saves.value) * 3600)
    assert steps["bring-in-with-weights.fsx-for-lustre"].parameters["weights"].value == ONCE


def test_training_from_nothing_has_no_line_and_no_step_of_it() -> None:
    found = plan(task="pretraining", checkpoint_bytes=1e9)
    assert all(one.id != "weights-gpu" for answer in found.options for one in answer.cost.lines)
    assert "weights" not in {step.id for step in course(found, FACTS)}
