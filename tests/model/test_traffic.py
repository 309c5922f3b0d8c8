"""Evaluation and the start of a job or an epoch, worked by hand."""

from __future__ import annotations

from typing import Any

import pytest
from examples import PHOTOS

from gpufeed.facts import load
from gpufeed.model.advise import recommend
from gpufeed.model.course import course
from gpufeed.model.file_system_need import need_of
from gpufeed.model.flip import flip_points
from gpufeed.model.job import Job, job_of
from gpufeed.model.recommendation import Bursts, Recommendation
from gpufeed.model.workload import Workload
from gpufeed.present import plain

EVALUATED = PHOTOS | {"evaluation_every": 3600, "evaluation_bytes": 3.2e10}


def plan(traits: dict[str, Any], **more: Any) -> Recommendation:
    return recommend(Workload.from_mapping(traits | more, load()), load())


def on(found: Recommendation, option: str) -> Bursts:
    return found.option(option).bursts


def warnings(found: Recommendation) -> set[str]:
    return {warning.id for warning in found.warnings}


def test_what_is_not_stated_is_not_there() -> None:
    found = plan(PHOTOS)
    assert found.traffic.evaluation is None
    assert found.traffic.starts.base_model_bytes is None and found.traffic.starts.first_batches_bytes is None
    assert on(found, "s3-standard").evaluation_seconds is None
    assert not {"default-evaluation-size", "evaluation-each-epoch"} & warnings(found)
    assert "evaluation-gpu" not in {line.id for line in found.cost.lines}
    lines = [line.strip() for line in plain.recommendation(found)]
    assert not any(line.startswith(("Evaluation:", "One evaluation", "GPUs waiting in evaluations")) for line in lines)


def test_an_evaluation_reads_three_times_as_fast_as_training() -> None:
    evaluation = plan(EVALUATED).traffic.evaluation
    assert evaluation is not None and evaluation.read_bytes_per_s is not None
    # A forward pass is 2 of 6 FLOPs: 960 MB/s, 9,600 GET/s of 100 KB; at least training's own 320 MB/s
    assert evaluation.read_bytes_per_s[:3] == pytest.approx((320e6, 960e6, 960e6))
    assert evaluation.read_requests_per_s is not None
    assert evaluation.read_requests_per_s.value == pytest.approx(9600)
    # 32 GB beside the 1,152 GB of an hour of training
    assert evaluation.share_of_reads is not None
    assert evaluation.share_of_reads.value == pytest.approx(32 / (32 + 1152))


def test_an_option_that_feeds_training_may_starve_an_evaluation() -> None:
    found = plan(EVALUATED)
    answer = found.option("s3-standard")
    assert answer.fed is not None and answer.fed.value == 1.0
    # 5,500 GET/s of 100 KB are 550 MB/s: 32 GB take 58.2 s instead of 33.3 s.
    bursts = answer.bursts
    assert bursts.evaluation_seconds is not None and bursts.evaluation_fed is not None
    assert bursts.evaluation_seconds.value == pytest.approx(32e9 / 550e6)
    assert bursts.evaluation_fed.value == pytest.approx(550 / 960)


def test_waiting_in_evaluations_is_paid_for() -> None:
    cost = plan(EVALUATED).option("s3-standard").cost
    line = next(line for line in cost.lines if line.id == "evaluation-gpu")
    # Within the 100 hours an evaluation of 33.3 s follows each hour of training, of which there are so 99.08.
    count = 100 / (1 + 32e9 / 960e6 / 3600)
    assert count == pytest.approx(99.0826, abs=1e-4)
    # Each takes 58.2 s instead of 33.3 s; four instances at 55.04 an hour
    hours = count * (32e9 / 550e6 - 32e9 / 960e6) / 3600
    assert line.quantity is not None and line.quantity.value == pytest.approx(hours)
    assert line.amount is not None and line.amount.value == pytest.approx(hours * 4 * 55.04)
    gets = next(line for line in cost.lines if line.id == "gets")
    # 3,200 GET/s while it trains, and 320,000 for each evaluation
    asked = count * (3200 * 3600 + 320_000)
    assert gets.quantity is not None and gets.quantity.value * 1000 == pytest.approx(asked)


# ---- evaluations take time -------------------------------------------------------------------------------------------


def job(traits: dict[str, Any], **more: Any) -> Job:
    return job_of(Workload.from_mapping(traits | more, load()), load(), None)[0]


def test_a_stated_length_of_the_run_has_its_evaluations_in_it() -> None:
    run = job(EVALUATED).run
    assert (run.hours, run.training_hours) == (100, pytest.approx(100 / (1 + 32e9 / 960e6 / 3600)))
    said = next(warning for warning in plan(EVALUATED).warnings if warning.id == "evaluations-within-run")
    assert said.parameters["training"].value == run.training_hours and said.parameters["hours"].value == 100
    assert said.parameters["seconds"].value == pytest.approx(32e9 / 960e6)


def test_beside_training_of_the_default_length_evaluations_come_on_top() -> None:
    found, run = plan(EVALUATED, run_hours=None), job(EVALUATED, run_hours=None).run
    # 168 hours of training, and 168 evaluations of 33.3 s
    assert run.training_hours == 168
    assert run.hours == pytest.approx(168 + 168 * 32e9 / 960e6 / 3600)
    assert run.hours == pytest.approx(169.556, abs=1e-3)
    assert "evaluations-beside-training" in warnings(found)
    # What is paid by the month is paid for all of it, and saves follow the training.
    fsx = found.option("fsx-for-lustre")
    storage = next(line for line in fsx.cost.lines if line.id == "own-storage").quantity
    gib = fsx.supply.configuration["storage_capacity_gib"]
    assert storage is not None and storage.value == pytest.approx(gib * run.hours / 730)
    steps = {step.id: step for step in course(found, load())}
    waits = sum(line.quantity.value for line in found.cost.lines if line.part == "idle-gpu" and line.quantity)
    trained = steps["train-and-evaluate"].seconds
    assert trained is not None and trained.value == pytest.approx((run.hours + waits) * 3600)


def test_epochs_are_epochs_of_training_and_evaluations_come_on_top() -> None:
    run = job(EVALUATED, run_hours=None, epochs=3).run
    # 3 TB at 320 MB/s are 2.604 hours, and so many evaluations
    assert run.training_hours == pytest.approx(3e12 / 320e6 / 3600)
    assert run.hours == pytest.approx(run.training_hours * (1 + 32e9 / 960e6 / 3600))


def test_a_run_without_evaluations_trains_all_the_time() -> None:
    run = job(PHOTOS).run
    assert run.training_hours == run.hours == 100
    assert not {"evaluations-within-run", "evaluations-beside-training"} & warnings(plan(PHOTOS))


def test_what_evaluations_read_again_is_not_read_of_the_data_set() -> None:
    """168 h at 320 MB/s are 193.536 TB of 1 PB; the 32 GB of an evaluation are the same each time."""
    large = {"dataset_bytes": 1e15, "objects": 10_000_000_000, "run_hours": None}
    asked = job(EVALUATED, **large)
    assert asked.passes.covered is not None and asked.passes.covered.value == pytest.approx(193.536e12)
    assert asked.passes.touched is not None and asked.passes.touched.value == pytest.approx(193.568e12)
    assert need_of(asked, saves=False).holds_bytes == pytest.approx(193.568e12)
    assert asked.run.read_bytes is not None
    assert asked.run.read_bytes.value == pytest.approx(193.536e12 + 168 * 32e9)
    found = plan(EVALUATED, **large)
    first = found.option("s3-standard").first_epoch
    assert first.part is not None and first.part.value == pytest.approx(193.536e12)
    assert first.seconds is not None and first.seconds.value == pytest.approx(168 * 3600)
    # Evaluations that read more than the data set do not make an epoch of it.
    more = plan(EVALUATED, **large, evaluation_bytes=1e13).option("s3-standard").first_epoch
    assert more.part is not None and more.part.value == pytest.approx(193.536e12)


def test_at_random_an_epoch_takes_as_long_as_it_is_large_and_the_run_covers_a_share() -> None:
    large = {"dataset_bytes": 1e15, "objects": 1000, "sample_bytes": 1e5, "reads": "random", "run_hours": None}
    found = plan(PHOTOS, **large)
    # 1 PB at 320 MB/s: 36.2 days, of which the week reads 19.4 %; all files are brought near.
    first = found.option("fsx-for-lustre").first_epoch
    assert found.option("fsx-for-lustre").supply.read_bytes_per_s is not None
    said = next(warning for warning in found.warnings if warning.id == "run-shorter-than-epoch-at-random")
    assert said.parameters["share"].value == pytest.approx(0.193536)
    assert job(PHOTOS, **large).passes.touched is None and first.part is None
    s3 = found.option("s3-standard")
    assert s3.fed is not None and s3.fed.value == 1.0 and s3.first_epoch.seconds is not None
    assert s3.first_epoch.seconds.value == pytest.approx(1e15 / 320e6)


def test_an_evaluation_longer_than_the_training_between_two_is_told() -> None:
    # 4 TB at 960 MB/s, as fast as the GPUs take them, are 4,167 s already.
    found = plan(EVALUATED, evaluation_bytes=4e12)
    said = next(warning for warning in found.warnings if warning.id == "evaluation-exceeds-interval")
    assert said.grave and said.parameters["every"].value == 3600
    assert said.parameters["seconds"] == on(found, found.recommended).evaluation_seconds
    assert "evaluation-exceeds-interval" not in warnings(plan(EVALUATED))


def test_without_an_interval_there_is_one_evaluation_after_each_epoch() -> None:
    found = plan(PHOTOS, evaluation_bytes=3.2e10)
    evaluation = found.traffic.evaluation
    assert evaluation is not None and evaluation.every is not None
    assert evaluation.every.value == pytest.approx(1e12 / 320e6)
    assert "evaluation-each-epoch" in warnings(found)


def test_without_a_size_an_evaluation_reads_a_share_of_the_data_set_as_imagenets() -> None:
    found = plan(PHOTOS, evaluation_every=3600)
    evaluation = found.traffic.evaluation
    assert evaluation is not None and evaluation.bytes[:3] == pytest.approx((1e9, 3.9e10, 1e11))
    assert evaluation.bytes.basis == "assumed" and "default-evaluation-size" in warnings(found)


def test_evaluation_is_followed_for_flips_where_it_was_stated_and_only_there() -> None:
    assert flip_points(plan(EVALUATED), load())[1]["evaluation_every"] == (36.0, 360_000.0)
    assert "evaluation_every" not in flip_points(plan(PHOTOS), load())[1]


@pytest.mark.parametrize("task", ["lora", "full-fine-tuning"])
def test_fine_tuning_starts_with_the_weights_on_every_instance(task: str) -> None:
    found = plan(PHOTOS, task=task, model_parameters=7e10)
    weights = found.traffic.starts.base_model_bytes
    # 2 bytes for each of 70 billion: once in all, by each of 4 instances, by each of 32 ranks
    assert weights is not None and weights[:3] == pytest.approx((1.4e11, 5.6e11, 4.48e12))
    # 32 ranks × 10 parts of 8 MiB under way: 30 ms + 8 MiB / 90 MB/s each; 5,500 GET/s × 8 MiB = 46.1 GB/s is more.
    rate = 32 * 10 * 8 * 2**20 / (0.03 + 8 * 2**20 / 90e6)
    seconds = on(found, "s3-standard").base_model_seconds
    # The slowest rank sets the end: whole reads reach 80 % of the rate.
    assert seconds is not None and seconds.value == pytest.approx(5.6e11 / (0.8 * rate))


def test_qlora_starts_with_the_quantised_weights_or_quantises_them_while_they_load() -> None:
    weights = plan(PHOTOS, task="qlora", model_parameters=7e10).traffic.starts.base_model_bytes
    # 0.5 bytes for each of 70 billion once in all, by each of 4 instances; 2 bytes by each of 32 ranks
    assert weights is not None and weights[:3] == pytest.approx((3.5e10, 1.4e11, 4.48e12))


def test_the_weights_of_somebodys_own_samples_are_not_guessed() -> None:
    own = {"task": "full-fine-tuning", "preset": None, "sample_bytes": 1e5, "samples_per_second_per_accelerator": 400}
    assert plan(PHOTOS, **own).traffic.starts.base_model_bytes is None


def test_pretraining_starts_from_nothing_unless_weights_are_stated() -> None:
    assert plan(PHOTOS, model_parameters=7e10).traffic.starts.base_model_bytes is None
    stated = plan(PHOTOS, base_model_bytes=1e11).traffic.starts.base_model_bytes
    assert stated is not None and stated.value == pytest.approx(4e11)


def test_at_the_start_all_workers_fetch_their_first_batch_at_once() -> None:
    found = plan(PHOTOS, batch_size=256)
    starts = found.traffic.starts
    # 32 accelerators × 100 workers × 256 samples of 100 KB; two batches each until the queues are full
    assert starts.first_batches_bytes is not None and starts.first_batches_bytes.value == pytest.approx(81.92e9)
    assert starts.queue_bytes is not None and starts.queue_bytes.value == pytest.approx(163.84e9)
    seconds = on(found, "s3-standard").first_batch_seconds
    assert seconds is not None and seconds.value == pytest.approx(81.92e9 / 550e6)


def test_mlperf_presets_have_a_batch_of_their_own() -> None:
    traits = {"task": "pretraining", "instances": 1, "instance_type": "p5.48xlarge", "preset": "mlperf-unet3d"}
    # 8 accelerators × 8 workers × 7 volumes of 146,600,628 bytes
    batches = plan(traits).traffic.starts.first_batches_bytes
    assert batches is not None and batches.value == pytest.approx(8 * 8 * 7 * 146_600_628)


def test_an_object_store_is_listed_page_by_page_and_a_file_system_at_an_unknown_rate() -> None:
    found = plan(PHOTOS)
    assert found.traffic.starts.list_requests.value == 10_000
    # 10,000 pages of 1,000 keys, 30 to 200 ms each, 100 in the middle
    listing = on(found, "s3-standard").listing_seconds
    assert listing is not None and listing[:3] == pytest.approx((300, 1000, 2000)) and listing.basis == "assumed"
    assert on(found, "fsx-for-lustre").listing_seconds is None
    # A mount is listed as fast as the bucket behind it, of a directory bucket a page in 1 to 9 ms, 4 in the middle.
    renames = plan(PHOTOS | {"file_operations": ["rename"], "interface": "file-paths"})
    mounted = on(renames, "mountpoint-s3").listing_seconds
    assert on(found, "mountpoint-s3").listing_seconds == listing
    assert mounted is not None and mounted[:3] == pytest.approx((10, 40, 90))
