"""What decides an answer unseen is said: a default, a benchmark's own threshold, what counts as a failure."""

from __future__ import annotations

import math
from typing import Any

import pytest

from gpufeed.facts import load
from gpufeed.model.advise import recommend
from gpufeed.model.job import job_of
from gpufeed.model.recommendation import Recommendation
from gpufeed.model.workload import Workload

FACTS = load()
VIDEO: dict[str, Any] = {
    "task": "pretraining",
    "instances": 32,
    "instance_type": "p5.48xlarge",
    "preset": "video",
    "sample_bytes": 5e6,
    "samples_per_second_per_accelerator": 12,
    "dataset_bytes": 200e12,
    "objects": 40_000_000,
    "interface": "any",
    "run_hours": 240,
}
#: A step of 6,000 images at 100 images/s: 60 s.
STEPS: dict[str, Any] = {
    "task": "pretraining",
    "instances": 100,
    "instance_type": "p5.48xlarge",
    "preset": "image-classification",
    "samples_per_second_per_accelerator": 100,
    "batch_size": 6000,
    "model_parameters": 3e8,
    "run_hours": 200,
}
UNET = {"task": "pretraining", "instances": 8, "instance_type": "p5.48xlarge", "preset": "mlperf-unet3d"}


def plan(stated: dict[str, Any], **more: Any) -> Recommendation:
    return recommend(Workload.from_mapping(stated | more, FACTS), FACTS)


def told(found: Recommendation, id_: str) -> dict[str, Any] | None:
    return next((dict(warning.parameters) for warning in found.warnings if warning.id == id_), None)


def test_the_range_of_the_assumed_prefixes_is_that_of_what_s3_gives() -> None:
    # 5 MB a GET: 5,500/s of one prefix are 27.5 GB/s, of ten 275 GB/s
    limit = plan(VIDEO).option("s3-standard").supply.limits["request-limit"]
    assert (limit.low, limit.value, limit.high) == (27.5e9, 27.5e9, 275e9)
    stated = plan(VIDEO, prefixes=1).option("s3-standard").supply.limits["request-limit"]
    assert (stated.low, stated.value, stated.high) == (27.5e9, 27.5e9, 27.5e9)


def test_prefixes_that_nobody_stated_are_told_where_they_are_too_few() -> None:
    # 30 samples/s on 256 accelerators are 7,680 GET/s, of 5,500
    found = told(plan(VIDEO, samples_per_second_per_accelerator=30), "default-prefixes")
    assert found is not None
    assert "s3-standard" in found["options"]
    assert (found["requests"].low, found["requests"].high) == (5500, 55_000)
    assert told(plan(VIDEO, samples_per_second_per_accelerator=30, prefixes=1), "default-prefixes") is None
    # 12 samples/s are 3,072 GET/s: one prefix is enough
    assert told(plan(VIDEO), "default-prefixes") is None


def test_of_a_demand_that_nobody_knows_no_prefix_is_said_to_fall_short() -> None:
    # No published run says how fast a g5 trains on audio.
    found = plan({"task": "pretraining", "preset": "audio", "instances": 4, "instance_type": "g5.48xlarge"})
    assert found.demand.read_bytes_per_s is None
    said = told(found, "default-prefixes-of-unknown-demand")
    assert said is not None and "s3-standard" in said["options"]
    assert told(found, "default-prefixes") is None


@pytest.mark.parametrize(
    ("own", "said"),
    [
        ({}, "benchmark-in-doubt"),  # one file system's disks: 25 % without, 100 % with what is cached
        ({"samples_per_second_per_accelerator": 0.1}, "benchmark-met"),
        ({"samples_per_second_per_accelerator": 1e6, "avoid_parallel_file_system": True}, "benchmark-missed"),
    ],
)
def test_a_benchmark_asks_for_its_own_utilisation(own: dict[str, Any], said: str) -> None:
    found = plan(UNET | {"dataset_bytes": 5e12, "objects": 34_000, "interface": "file-paths", "run_hours": 48}, **own)
    reasons = {reason.id: reason.parameters for reason in found.placements["training_reads"].reasons}
    assert [id_ for id_ in reasons if id_.startswith("benchmark-")] == [said]
    assert reasons[said]["threshold"].value == 0.9
    assert reasons[said]["fed"] == found.fed


def test_a_job_that_is_no_benchmark_has_no_threshold() -> None:
    reasons = [reason.id for reason in plan(VIDEO).placements["training_reads"].reasons]
    assert not any(id_.startswith("benchmark-") for id_ in reasons)


def test_the_best_interval_is_the_range_of_the_failure_definitions() -> None:
    found = plan(VIDEO, model_parameters=5e9, checkpoint_interval=3600)
    said = next(r for r in found.placements["checkpoints"].reasons if r.id == "best-interval").parameters["interval"]
    stall = found.option(found.placements["checkpoints"].option).stall
    assert said.value == stall.best_interval
    # T ≈ sqrt(2 × C × M) while C is short: the ends differ as the roots of the times between failures do.
    # Of 256 accelerators the fewest failures are one in M = 1 / (32 × node rate), the most those of Llama 3 on 16,384
    # GPUs or of another row; each is in the table of failures, with the interval it makes.
    from gpufeed.model.checkpoint_plan import checkpoint_plan

    of_each = [one.best_interval for one in checkpoint_plan(found, FACTS).failures]
    assert (said.low, said.high) == pytest.approx((min(of_each), max(of_each)))
    assert said.low < said.value < said.high


def test_files_that_are_read_in_parts_are_opened_too() -> None:
    # unet3d: 64 H100 × 7 samples / 0.323 s = 1,387 files/s of 147 MB each
    from gpufeed.model.file_system import need_of

    job, _ = job_of(Workload.from_mapping(UNET, FACTS), FACTS, None)
    assert not job.load.opens_an_object
    assert need_of(job).opens_per_s == pytest.approx(64 * 7 / 0.323)


@pytest.mark.parametrize(
    ("instance_type", "gigabits"), [("g5.xlarge", 2.5), ("g5.12xlarge", 40), ("g6.xlarge", 2.5), ("g6e.xlarge", 2.5)]
)
def test_the_network_card_of_small_gpu_instances_is_a_ceiling(instance_type: str, gigabits: float) -> None:
    found = plan({"task": "lora", "instances": 2, "instance_type": instance_type})
    card = FACTS.instances[instance_type].known("s3_network")
    assert card.value == gigabits * 1e9 / 8
    # Two cards, of which published reads reach 91.2 %.
    assert found.option("s3-standard").supply.limits["network-card"].value == pytest.approx(2 * card.value * 0.912)
    assert told(found, "network-unknown") is None


def test_uploading_the_data_set_is_on_the_bill_where_it_is_not_in_s3() -> None:
    def puts(data_in_s3: bool) -> list[float]:
        found = plan(VIDEO, objects=170_000_000, data_in_s3=data_in_s3, prefixes=1)
        return [line.amount.value for line in found.cost.lines if line.id == "upload-puts" and line.amount]

    # 170,000,000 PUTs × USD 0.005 / 1,000
    assert puts(data_in_s3=False) == pytest.approx([850.0])
    assert puts(data_in_s3=True) == []


SHARDS: dict[str, Any] = {
    "task": "pretraining",
    "instances": 1,
    "instance_type": "p5.48xlarge",
    "preset": "image-classification",
    "dataset_bytes": 5e11,
    "objects": 4000,
}


def test_shards_that_would_be_taken_for_samples_are_asked_about_before_the_answer() -> None:
    found = told(plan(SHARDS), "objects-taken-for-samples")
    # 500 GB / 4,000 = 125 MB, where a published image has 115 KB: 1,087 times as much
    assert found is not None and found["factor"] == pytest.approx(125e6 / 115e3)
    assert next(warning for warning in plan(SHARDS).warnings if warning.id == "objects-taken-for-samples").grave
    assert told(plan(SHARDS, sample_bytes=115_000), "objects-taken-for-samples") is None
    assert told(plan(SHARDS, objects=4_000_000), "objects-taken-for-samples") is None  # 125 KB each
    assert told(plan(UNET), "objects-taken-for-samples") is None


def test_an_interval_that_is_shorter_than_a_training_step_is_said_first() -> None:
    told = [one for one in plan(STEPS, checkpoint_interval=10).warnings if one.id == "doubt-interval-below-step"]
    assert [(one.parameters["interval"], one.parameters["step"].value, one.grave) for one in told] == [(10, 60, True)]
    for fits in ({"checkpoint_interval": 60}, {"checkpoint_interval": 10, "batch_size": 1000}, {}):
        assert not [one for one in plan(STEPS, **fits).warnings if one.id == "doubt-interval-below-step"]


def test_no_interval_is_advised_that_is_shorter_than_a_training_step() -> None:
    found = plan(STEPS, batch_size=60_000)
    [said] = [one for one in found.placements["checkpoints"].reasons if one.id.startswith("best-interval")]
    # 60,000 images at 100 images/s
    assert said.id == "best-interval-by-step" and said.parameters["step"].value == 600
    assert 0 < said.parameters["daly"].value < 600
    assert found.saving(found.placements["checkpoints"].option).stall.best_interval == 600
    # Without a batch size the step is not known, and where the interval is short that is said.
    short = {"task": "pretraining", "instances": 20_000, "instance_type": "p5.48xlarge", "model_parameters": 1e9}
    told = [one.id for one in plan(short, run_hours=200).placements["checkpoints"].reasons]
    assert told[told.index("best-interval") + 1] == "best-interval-step-unknown"
    long = [one.id for one in plan(STEPS, batch_size=1000).placements["checkpoints"].reasons]
    assert "best-interval" in long and "best-interval-step-unknown" not in long


def test_failures_that_outpace_saves_are_said_before_the_plan() -> None:
    # 6 PB, asynchronously: it is not written before something fails.
    many = {"task": "pretraining", "instances": 20_000, "instance_type": "p5.48xlarge", "checkpoint_mode": "async"}
    found = plan(many, checkpoint_bytes=6e15, checkpoint_interval=3600, run_hours=200)
    [told] = [one for one in found.warnings if one.id == "saves-outpaced"]
    assert told.grave and told.parameters["seconds"].value > told.parameters["failure"].value
    ids = {one.id for one in found.placements["checkpoints"].reasons}
    assert "saves-outpaced" in ids and not {one for one in ids if one.startswith("best-interval")}


HUGE: dict[str, Any] = {
    "task": "pretraining",
    "instances": 10_000,
    "instance_type": "p5.48xlarge",
    "model_parameters": 1.18e12,
    "checkpoint_mode": "async",
    "checkpoint_interval": 900.0,
}


def test_an_interval_that_loses_far_more_than_another_is_said_first() -> None:
    found = plan(HUGE)
    said = told(found, "interval-loses")
    assert said is not None and "interval-loses" in {it.id for it in found.warnings if it.grave}
    # A failure each 1,329 s; 600 s until the job is back, 28.0 s of restore, 114.3 s of a save not yet written.
    mean, out = 864_000 / 650, 600 + 27.97354 + 114.28571
    for interval, lost in ((900.0, said["lost"]), (228.5714, said["then"])):
        useful = math.exp(-out / mean) * interval / mean / math.expm1((interval + 0.010325) / mean)
        assert lost.value == pytest.approx(1 - useful, rel=1e-5)
    assert said["best"].value == pytest.approx(228.57143)  # as long as the slowest save
    # At four minutes there is not much to gain.
    assert told(plan(HUGE, checkpoint_interval=240.0), "interval-loses") is None


def test_a_wish_that_leaves_gpus_waiting_is_priced_beside_the_plan() -> None:
    job = UNET | {"dataset_bytes": 40e12, "epochs": 200.0, "interface": "file-paths", "prefixes": 1}
    found = plan(job, avoid_parallel_file_system=True)
    said = told(found, "wish-costs")
    without, here = found.option("fsx-for-lustre"), found.option(found.recommended)
    assert said == {
        "option": "fsx-for-lustre",
        "fed": without.fed,
        "cost": without.cost.beyond_base,
        "other": found.recommended,
        "other_fed": here.fed,
        "other_cost": here.cost.beyond_base,
    }
    assert told(plan(job), "wish-costs") is None


def test_a_slow_end_of_saves_that_stops_the_gpus_for_more_than_is_tolerated_is_grave() -> None:
    # A save takes up to 228.6 s: 48.6 s into the next one after 180 s, 27 %; after 225 s it is 1.6 %.
    for interval, grave in ((180.0, True), (225.0, False)):
        found = plan(HUGE, checkpoint_interval=interval)
        warning = next(it for it in found.warnings if it.id == "save-may-outlast-interval")
        assert warning.grave is grave


def test_a_gateway_that_costs_more_than_a_change_is_grave() -> None:
    job = {"task": "pretraining", "instances": 6, "instance_type": "p5.48xlarge", "network_path": "nat"}
    images = job | {"preset": "image-classification", "dataset_bytes": 10e12, "objects": 5000, "sample_bytes": 115e3}
    found = plan(images, interface="s3-api", prefixes=64, run_hours=336)
    assert next(it for it in found.warnings if it.id == "nat").grave
    # Saves once a day and some tokens: USD 61, of 55,480 for the GPUs.
    rare = plan(job | {"model_parameters": 8e9, "checkpoint_interval": 86_400.0})
    assert not next(it for it in rare.warnings if it.id == "nat").grave
