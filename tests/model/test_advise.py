"""Whole plans: who decides, what is ruled out, and why."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from gpufeed.facts import load
from gpufeed.model.advise import recommend
from gpufeed.model.measurement import Conditions, Measurement, Record
from gpufeed.model.recommendation import Recommendation
from gpufeed.model.study import Study
from gpufeed.model.workload import Workload

#: bytes/s into S3: 10 parts of 8 MiB from each of 64 ranks, each in 30 ms and 8 MiB at 20 MB/s
OF_64_RANKS = 64 * 10 * 2**23 / (0.03 + 2**23 / 20e6)


def workload(**traits: Any) -> Workload:
    least = {"task": "pretraining", "instances": 8, "instance_type": "p5.48xlarge"}
    return Workload.from_mapping(least | traits, load())


def plan(measurement: Measurement | None = None, **traits: Any) -> Recommendation:
    return recommend(workload(**traits), load(), measurement=measurement)


def reasons(found: Recommendation, option: str) -> set[str]:
    return {reason.id for reason in found.option(option).reasons}


def test_a_small_lora_job_streams_from_s3_and_scratches_on_nvme() -> None:  # case 056
    found = plan(
        task="lora", instances=1, dataset_bytes=2e9, objects=40, checkpoint_interval=1800, checkpoint_bytes=80e6
    )
    assert found.recommended == "s3-standard"
    assert found.placements["checkpoints"].option == "s3-standard"
    assert found.placements["scratch"].option == "instance-nvme"
    dearer = next(r for r in found.option("fsx-for-lustre").reasons if r.id == "dearer")
    # 1,200 GiB at 0.145 for 168 of 730 hours; S3 reads cost next to nothing.  The 16.06 GB of weights come at 80 % of
    # 150 MB/s in 133.8 s, and from S3 at 80 % of 8 ranks × 10 parts of 8 MiB in 123.2 ms each, 5.447 GB/s, in 3.7 s.
    waits = (16.06e9 / 120e6 - 16.06e9 / (0.8 * 80 * 2**23 / (0.03 + 2**23 / 90e6))) / 3600 * 55.04
    assert waits == pytest.approx(1.99, abs=0.005)
    assert dearer.parameters["amount"] == pytest.approx(174 * 168 / 730 + waits, abs=0.01)


def test_the_model_beats_the_rule_where_it_is_cheaper_in_the_middle_and_at_worst() -> None:
    found = plan(instances=24, instance_type="p4d.24xlarge", interface="any", checkpoints="rare")
    # Text tokens ask for so little that S3 feeds every GPU even at its slowest.
    assert found.rule.option == "fsx-for-lustre"
    assert found.recommended == "s3-standard"
    reads = found.placements["training_reads"]
    assert (reads.decided_by, reads.rule, reads.model) == ("model", "fsx-for-lustre", "s3-standard")
    assert found.fed is not None and found.fed.low == 1.0


def test_an_own_price_of_an_hour_prices_the_idle_gpus_and_is_called_the_users_own() -> None:
    """40 a GPU-hour instance instead of 55.04 on demand: 8 × 40, and every idle hour at that."""
    starved = {"preset": "image-classification", "dataset_bytes": 1e11, "objects": 1_000_000, "run_hours": 100}
    listed, own = plan(**starved), plan(**starved, gpu_hour_price=40)
    assert own.gpu_hour_price is not None and own.gpu_hour_price[:3] == (320, 320, 320)
    idle, cheaper = (found.option("s3-standard").cost.idle_gpu for found in (listed, own))
    assert idle is not None and cheaper is not None and idle.value > 0
    assert cheaper.value == pytest.approx(idle.value * 40 / 55.04, rel=1e-12)
    assert "own-gpu-price" in [warning.id for warning in own.warnings]


def test_an_own_price_in_china_is_in_its_currency_and_prices_what_has_no_list_price() -> None:
    china = {"region": "cn-north-1", "preset": "image-classification"}
    assert "gpu-not-priced" in [warning.id for warning in plan(**china).warnings]
    found = plan(**china, gpu_hour_price=300)
    own = next(warning for warning in found.warnings if warning.id == "own-gpu-price")
    assert own.parameters["price"].unit == "CNY/hour" and found.currency == "CNY"
    assert found.gpu_hour_price is not None and found.gpu_hour_price.value == 2400
    assert found.option("s3-standard").cost.idle_gpu is not None
    assert found.option("s3-standard").cost.not_priced == ("base-storage", "gets", "lists")


def test_an_own_discount_lowers_every_line_but_the_gpus_and_is_called_the_users_own() -> None:
    """20 % off: 0.8 of storage, requests and transfer; the idle GPUs as before."""
    traits = {"preset": "image-classification", "dataset_bytes": 1e11, "objects": 1_000_000, "run_hours": 100}
    listed, own = plan(**traits), plan(**traits, storage_discount=0.2)
    for option in ("s3-standard", "fsx-for-lustre", "s3-files"):
        pairs = zip(listed.option(option).cost.lines, own.option(option).cost.lines, strict=True)
        for before, after in pairs:
            assert before.amount is not None and after.amount is not None
            share = 1.0 if before.id == "idle-gpu" else 0.8
            assert after.amount.value == pytest.approx(before.amount.value * share, rel=1e-12), before.id
    said = next(warning for warning in own.warnings if warning.id == "own-discount")
    assert said.parameters == {"share": 0.2}


def test_a_saving_that_is_nothing_beside_what_the_gpus_cost_does_not_replace_the_rule() -> None:
    """S3 Files is cheaper by a tenth of a cent (its lookups cost less), of a run whose GPUs cost USD 74,000."""
    found = plan(interface="file-paths", data_in_s3=True, checkpoints="rare", checkpoint_bytes=1e9)
    mountpoint, files = (found.option(name).cost.beyond_base for name in ("mountpoint-s3", "s3-files"))
    assert mountpoint is not None and files is not None and files.value < mountpoint.value < files.value + 0.01
    assert (found.rule.option, found.recommended) == ("mountpoint-s3", "mountpoint-s3")


def test_opening_many_small_files_makes_mountpoint_dearer_than_s3_files() -> None:
    """1,000,000 images of 100 KB: each open is a LIST at the price of 12 GETs, beside 100 KB at 0.03 per GiB."""
    found = plan(
        instances=1,
        preset="image-classification",
        samples_per_second_per_accelerator=150,
        dataset_bytes=1e11,
        objects=1_000_000,
        interface="file-paths",
        file_operations=["rename"],
        avoid_parallel_file_system=True,
    )
    assert found.recommended == "s3-files"
    assert "dearer" in reasons(found, "mountpoint-s3")


def test_a_program_that_needs_files_rules_object_stores_out() -> None:
    found = plan(interface="posix", file_operations=["hard-link"])
    assert found.recommended == "fsx-for-lustre"
    assert found.option("s3-standard").verdict == "ruled-out"
    assert "serves-no-files" in reasons(found, "s3-express-one-zone")
    assert "cannot-do-operation" in reasons(found, "s3-files")


def test_rename_rules_mountpoint_onto_a_directory_bucket() -> None:
    found = plan(interface="file-paths", data_in_s3=True, file_operations=["rename"])
    assert found.rule.option == "s3-files" and found.rule.also_allowed == ()
    assert "cannot-do-operation" not in reasons(found, "mountpoint-s3")


def test_express_does_not_exist_in_china_and_s3_files_is_not_known_to() -> None:
    found = plan(region="cn-north-1", interface="any")
    assert found.option("s3-express-one-zone").verdict == "ruled-out"
    assert "region-unknown" in reasons(found, "s3-files")
    assert found.currency == "CNY"
    assert all(answer.cost.total is None for answer in found.options)


@pytest.mark.parametrize(
    ("interval", "frequent"),
    # 980 GB at 80 % of 64 ranks × 10 parts of 8 MiB, each in 30 ms and 8 MiB at 20 MB/s: 102.5 s, 5 % of 2,051 s.
    [(2040.0, True), (2060.0, False)],
)
def test_frequent_is_derived_from_the_stall_on_s3(interval: float, frequent: bool) -> None:
    found = plan(model_parameters=70e9, checkpoint_interval=interval, interface="s3-api")
    assert ("frequent-checkpoints" in found.rule.rules) is frequent
    warning = next(w for w in found.warnings if w.id.startswith("frequency-derived"))
    assert warning.parameters["interval"] == pytest.approx(980e9 / (0.80 * OF_64_RANKS) / 0.05)


def test_what_counts_as_frequent_at_an_interval_that_nobody_stated_says_so() -> None:
    # 70e9 × 14 bytes: frequent below 2,051 s, and 30 minutes are assumed; 8e9 × 14 bytes below 234 s.
    for parameters, word in ((70e9, "frequent"), (8e9, "rare")):
        assumed = plan(model_parameters=parameters).placements["checkpoints"].reasons[0]
        assert (assumed.id, assumed.parameters) == (f"checkpoints-{word}-assumed", {"interval": 1800.0})
        stated = plan(model_parameters=parameters, checkpoint_interval=1800).placements["checkpoints"].reasons[0]
        assert (stated.id, stated.parameters) == (f"checkpoints-{word}", {})


def test_a_restore_that_s3_misses_makes_restore_fast() -> None:
    slow, quick = plan(checkpoint_bytes=1e12, restore_target=3600), plan(checkpoint_bytes=1e12, restore_target=1)
    assert "fast-restore" not in slow.rule.triggers
    assert "fast-restore" in quick.rule.triggers


def test_an_asynchronous_save_stops_the_gpus_for_the_copy_to_host_memory_only() -> None:
    found = plan(checkpoint_bytes=1e12, checkpoint_interval=3600, checkpoint_mode="async")
    stall = found.option("s3-standard").stall
    # 1 TB / (64 × 20 GB/s)
    assert stall.stall_seconds is not None and stall.stall_seconds.value == pytest.approx(1e12 / (64 * 20e9))
    assert stall.fits_interval is True


def test_an_asynchronous_save_longer_than_its_interval_stops_the_gpus_for_the_rest() -> None:
    found = plan(checkpoint_bytes=1e12, checkpoint_interval=100, checkpoint_mode="async")
    stall = found.option("s3-standard").stall
    # Written in 1 TB / (80 % of 64 × 10 parts) = 104.6 s, so 4.6 s reach into the next interval; 0.78 s to copy.
    save, copy = 1e12 / (0.80 * OF_64_RANKS), 1e12 / (64 * 20e9)
    assert stall.fits_interval is False
    assert stall.stall_seconds is not None and stall.stall_seconds.value == pytest.approx(copy + save - 100)
    assert stall.share is not None and stall.share.value == pytest.approx((copy + save - 100) / 100)


def test_the_best_asynchronous_interval_leaves_time_to_write() -> None:
    found = plan(instances=1000, checkpoint_bytes=1e15, checkpoint_interval=3600, checkpoint_mode="async")
    stall = found.option("s3-files").stall
    # 1 PB at 40 % of 1 GiB/s, the least a whole save reaches: none shorter is advised, whatever the copy costs.
    assert stall.best_interval == pytest.approx(1e15 / 2**30 / 0.4)


def test_saving_never_takes_more_than_all_of_the_time() -> None:
    found = plan(checkpoint_bytes=1e12, checkpoint_interval=60)
    share = found.option("s3-standard").stall.share
    # At best 25 parts at once, each in 9 ms and 8 MiB at 45 MB/s, and 103 % of that, as published saves reach.
    assert share is not None and share[:3] == (
        pytest.approx(1e12 / (64 * 25 * 2**23 / (0.009 + 2**23 / 45e6) * 1.03) / 60),
        1.0,
        1.0,
    )


def test_a_file_system_has_room_for_two_checkpoints_beside_the_data() -> None:
    traits = {"dataset_bytes": 1e12, "objects": 4000, "checkpoints": "rare", "interface": "posix"}
    small, large = plan(checkpoint_bytes=1e9, **traits), plan(checkpoint_bytes=1e12, **traits)
    # 1 TB and 2 GB are 933 GiB; 1 TB and 2 TB are 2,794 GiB.
    assert small.option("fsx-for-lustre").supply.configuration["storage_capacity_gib"] == 1200
    assert large.option("fsx-for-lustre").supply.configuration["storage_capacity_gib"] >= 4800


def test_a_file_system_is_sized_to_restore_in_time() -> None:
    rare = {"checkpoints": "rare", "checkpoint_interval": 36_000, "interface": "posix"}
    found = plan(checkpoint_bytes=1e12, restore_target=20, **rare)
    placed = found.placements["checkpoints"]
    # 1 TB in 20 s is 50 GB/s, which the slowest restore reaches of 125 GB/s (40 %): above 10 GB/s over EFA, in servers
    # of 4,800 GiB → 129,600 GiB at 1,000 MB/s per TiB.
    assert (placed.option, placed.configuration["storage_capacity_gib"]) == ("fsx-for-lustre", 129_600)
    assert placed.configuration["efa"] is True
    restore = found.option("fsx-for-lustre").stall.restore_seconds
    assert restore is not None and restore.value == pytest.approx(1e12 / (0.80 * 129.6e9))
    said = [reason.id for reason in placed.reasons]
    # At their slow end 64 × 8 ranks with few reads under way take longer, whatever the file system.
    assert restore.high > 20 and "restore-sized-by-slowest-rate" in said
    assert "restore-misses-target" not in said


def test_a_restore_that_misses_its_target_at_its_slowest_only_is_said_to() -> None:
    # 1 TB from S3 at 64 × 10 parts of 8 MiB: 640 × 8 MiB / (30 ms + 8 MiB / 90 MB/s) = 43.58 GB/s, of which 80 % are
    # reached: 28.7 s, and at the slowest 40 %: twice that and more.
    found = plan(checkpoint_bytes=1e12, restore_target=60, checkpoints="rare", checkpoint_interval=36_000)
    restore = found.option("s3-standard").stall.restore_seconds
    assert restore is not None and restore.value == pytest.approx(1e12 / 43.58e9 / 0.80, rel=1e-3)
    assert restore.high > 60
    placed = found.placements["checkpoints"]
    assert placed.option == "s3-standard"
    assert "restore-may-miss-target" in [reason.id for reason in placed.reasons]


def test_a_restore_and_a_save_that_no_option_makes_in_time_are_said() -> None:
    # g5.48xlarge: 8 × 12.5 GB/s of network for 100 TB, so no option saves or restores within a minute.
    late = {"instance_type": "g5.48xlarge", "checkpoint_bytes": 1e14, "restore_target": 60, "checkpoint_interval": 60}
    found = plan(checkpoint_mode="async", **late)
    placed = found.placements["checkpoints"]
    said = [reason.id for reason in placed.reasons]
    assert "restore-misses-target" in said and "save-exceeds-interval" in said
    # What is taken comes nearest: no other option that could take them is over by fewer times.
    over = {
        one.option: max(one.stall.save_seconds.value, one.stall.restore_seconds.value) / 60 for one in found.savings
    }  # type: ignore[union-attr]  # both are known
    assert over[placed.option] == min(over.values())
    assert not {"saving-rule-is-late", "saving-cheaper-at-any-price"} & set(said)
    first = [caveat.id for caveat in found.warnings if caveat.grave]
    assert first[:2] == ["nothing-in-time", "saves-stall-async"]


def test_saves_that_stop_the_gpus_for_more_than_is_tolerated_are_said_before_the_answer() -> None:
    # 14 TB of 512 ranks a minute: S3 Express, the cheapest, keeps the GPUs waiting more than half of the time.
    often = {"instances": 64, "instance_type": "p5.48xlarge", "checkpoint_bytes": 14e12}
    found = plan(**often, checkpoint_interval=60)
    stall = found.saving(found.placements["checkpoints"].option).stall
    told = next(caveat for caveat in found.warnings if caveat.id == "saves-stall-sync")
    assert told.grave and stall.share is not None and told.parameters["share"] == stall.share
    assert stall.share.value > told.parameters["tolerance"].value == 0.05
    rarely = plan(**often, checkpoint_interval=3600)
    assert not any(caveat.id == "saves-stall-sync" for caveat in rarely.warnings)


@pytest.mark.parametrize(
    ("traits", "option"),
    [
        ({"data_in_s3": True}, "mountpoint-s3"),
        ({"data_in_s3": True, "file_operations": ["rename"]}, "s3-files"),
    ],
)
def test_a_program_that_wants_files_checkpoints_to_s3_through_files(traits: dict[str, Any], option: str) -> None:
    found = plan(interface="file-paths", checkpoints="rare", checkpoint_bytes=1e9, **traits)
    placed = found.placements["checkpoints"]
    assert (placed.option, placed.backed_by, placed.decided_by) == (option, "s3-standard", "rule")


@pytest.mark.parametrize(
    ("traits", "said"),
    [
        ({"checkpoints": "rare"}, ["checkpoints-rare", "restore-any-time"]),
        ({"checkpoints": "frequent"}, ["checkpoints-frequent", "restore-any-time"]),
        # 64 × 10 parts of 8 MiB: 640 × 8 MiB / (30 ms + 8 MiB / 90 MB/s) = 43.58 GB/s, of which 80 % are reached.
        ({"checkpoints": "rare", "restore_target": 60}, ["checkpoints-rare", "restore-not-fast"]),
        ({"checkpoints": "rare", "restore_target": 25}, ["restore-fast"]),
        ({"checkpoints": "frequent", "restore_target": 25}, ["checkpoints-frequent", "restore-fast"]),
    ],
)
def test_how_often_and_how_fast_are_said_each_by_itself(traits: dict[str, Any], said: list[str]) -> None:
    placed = plan(checkpoint_bytes=1e12, checkpoint_interval=36_000, **traits).placements["checkpoints"]
    found = {reason.id: reason.parameters for reason in placed.reasons}
    assert list(found)[: len(said)] == said
    if "restore_target" in traits:
        timed = found[said[-1]]
        assert timed["seconds"].value == pytest.approx(1e12 / 43.58e9 / 0.80, rel=1e-3)
        assert timed["interval"] == traits["restore_target"]


def test_no_system_is_ordered_for_checkpoints_alone_whose_size_is_not_known() -> None:
    files = {"interface": "file-paths", "data_in_s3": True, "file_operations": ["rename"]}
    found = plan(**IMAGES | files, host_memory_bytes=1e9)
    placed = found.placements["checkpoints"]
    # The rule keeps them on S3 behind S3 Files; the model reads from a file system, and puts them beside what it reads.
    assert (found.recommended, placed.option, placed.rule, placed.model, placed.decided_by) == (
        "fsx-for-lustre", "fsx-for-lustre", "s3-files", "fsx-for-lustre", "model"
    )  # fmt: skip
    assert "checkpoints-beside-reads" in [reason.id for reason in placed.reasons]
    # Frequent ones the rule decides.
    often = plan(**IMAGES | {"interface": "s3-api", "checkpoints": "frequent"}).placements["checkpoints"]
    assert (often.option, often.decided_by) == (often.rule, "rule")


def test_checkpoints_follow_the_reads_onto_a_file_system_that_the_model_chose() -> None:
    photos = IMAGES | {"interface": "file-paths", "data_in_s3": True, "checkpoint_bytes": 1e9, "checkpoints": "rare"}
    found = plan(**photos, host_memory_bytes=1e9)  # nothing is found in memory again
    placed = found.placements["checkpoints"]
    assert found.recommended == "fsx-for-lustre"
    # The rule keeps them on S3 behind S3 Files; a file system is there anyway.
    assert (placed.rule, placed.model, placed.decided_by) == ("s3-files", "fsx-for-lustre", "model")


def test_mountpoint_that_must_rename_does_not_exist_where_express_does_not() -> None:
    found = plan(
        region="cn-north-1",
        interface="file-paths",
        file_operations=["rename"],
        avoid_parallel_file_system=True,
        data_in_s3=False,
    )
    assert found.option("mountpoint-s3").verdict == "ruled-out"
    assert "backing-not-in-region" in reasons(found, "mountpoint-s3")
    # The rule's S3 serves no files; of the two that are left, FSx for Lustre is known to be there.
    assert found.rule.option == "s3-standard"
    assert found.recommended == "fsx-for-lustre"


def test_a_mountpoint_on_a_directory_bucket_names_its_zone() -> None:
    found = plan(
        instances=1,
        preset="image-classification",
        samples_per_second_per_accelerator=10,
        dataset_bytes=1e11,
        objects=1000,  # of 100 MB: 8 GB/s, which S3 Files does not give one client, and few files to open
        interface="file-paths",
        file_operations=["rename"],
        avoid_parallel_file_system=True,
        host_memory_bytes=1e9,  # nothing is found in memory again
    )
    reads = found.placements["training_reads"]
    assert (reads.option, reads.backed_by) == ("mountpoint-s3", "s3-express-one-zone")
    assert "express-zone" in [warning.id for warning in found.warnings]


def measured(rate: float, **conditions: Any) -> Measurement:
    record = Record(
        op="read",
        bytes_per_s=rate,
        object_bytes=100_000.0,
        seconds=60.0,
        nodes=8,
        cache="cold",
        sustained=True,
        errors=0,
        throttled=0,
    )
    return Measurement("gpufeed", "ok", (record,), "storage", conditions=Conditions(**conditions))


IMAGES = {
    "preset": "image-classification",
    "samples_per_second_per_accelerator": 1000,
    "dataset_bytes": 1e12,
    "objects": 10_000_000,
    "interface": "s3-api",
}


def test_a_sustained_cold_measurement_on_the_same_option_decides() -> None:
    # The model gives S3 550 MB/s of the 6.4 GB/s asked for; eight nodes measured 6.5 GB/s.
    assert plan(**IMAGES).recommended == "s3-express-one-zone"
    found = plan(measured(6.5e9, option="s3-standard"), **IMAGES)
    reads = found.placements["training_reads"]
    assert (reads.option, reads.decided_by, reads.measured_used_as) == ("s3-standard", "measured", "decision")
    assert found.option("s3-standard").supply.limited_by == "measured"


def test_a_measured_rate_does_not_hide_that_requests_starve_the_gpus() -> None:
    before, after = plan(**IMAGES), plan(measured(550e6, option="s3-standard"), **IMAGES)
    assert "many-small-files" in before.rule.triggers
    assert after.rule == before.rule


def test_this_machines_own_memory_is_shown_only() -> None:
    found = plan(measured(6.5e9, option="s3-standard", same_machine=True), **IMAGES)
    reads = found.placements["training_reads"]
    assert (reads.option, reads.measured_used_as) == ("s3-express-one-zone", "shown-only")
    assert "measurement-shown-only" in [warning.id for warning in found.warnings]


def test_a_measurement_that_the_client_limited_calibrates_at_most() -> None:
    limited = replace(measured(6.5e9, option="s3-standard"), limited_by="client")
    found = plan(limited, **IMAGES)
    assert found.placements["training_reads"].measured_used_as == "calibration"
    assert found.recommended == "s3-express-one-zone"


@pytest.mark.parametrize(
    ("target", "option"),
    [("s3://b/p", "s3-standard"), ("s3://b--use1-az4--x-s3/p/", "s3-express-one-zone"), ("/data", None), (None, None)],
)
def test_the_address_of_the_target_tells_the_option(target: str | None, option: str | None) -> None:
    found = Measurement("warp", "ok", (Record(op="read", bytes_per_s=1.0, target=target),))
    assert found.option == option


def test_a_measurement_of_an_option_that_is_ruled_out_decides_nothing() -> None:
    # The program speaks the S3 API alone: a file system is no place for its reads, however fast one was.
    found = plan(measured(6.5e9, option="fsx-for-lustre"), **IMAGES)
    reads = found.placements["training_reads"]
    assert found.option("fsx-for-lustre").verdict == "ruled-out"
    assert (reads.decided_by, reads.measured_used_as) == ("model", "shown-only")


def test_a_measurement_of_an_option_that_is_not_known_is_shown_only() -> None:
    assert plan(measured(6.5e9), **IMAGES).placements["training_reads"].measured_used_as == "shown-only"


def test_a_calibration_replaces_the_time_of_a_request() -> None:
    step = Record(
        op="read", bytes_per_s=1e8, request_bytes=100_000.0, concurrency=1, p50=0.0622, seconds=5.0, cache="cold"
    )
    slow = Measurement("gpufeed", "ok", (step,), "storage", conditions=Conditions(option="s3-express-one-zone"))
    before, after = plan(**IMAGES), plan(slow, **IMAGES)
    # Modelled 4 ms + 100,000 / 150 MB/s = 4.667 ms, measured 62.2 ms: every request is taken to be 13.3 times slower.
    ratio = (0.004 + 100_000 / 150e6) / 0.0622
    express = after.option("s3-express-one-zone").supply.limits["request-latency"]
    modelled = before.option("s3-express-one-zone").supply.limits["request-latency"]
    assert express.value == pytest.approx(modelled.value * ratio)
    assert express.basis == "measured"


PICTURES = {
    "task": "full-fine-tuning",
    "instances": 1,
    "instance_type": "p5.48xlarge",
    "preset": "own-samples",
    "sample_bytes": 2e6,
    "samples_per_second_per_accelerator": 100,
    "objects": 1_000_000,
    "dataset_bytes": 2e12,
    "interface": "s3-api",
    "prefixes": 10,
}


def probed(concurrency: int, *, limited_by: str) -> Measurement:
    """What ``concurrency`` requests of 2 MB bring where each takes 52 ms."""
    record = Record(
        op="read",
        bytes_per_s=concurrency * 2e6 / 0.052,
        object_bytes=2e6,
        concurrency=concurrency,
        p50=0.052,
        seconds=120.0,
        nodes=1,
        cache="cold",
        sustained=True,
    )
    return Measurement("gpufeed", "ok", (record,), limited_by, conditions=Conditions(option="s3-standard"))


@pytest.mark.parametrize(
    ("concurrency", "limited_by", "use", "limit"),
    [
        (4, "unknown", "calibration", "request-latency"),  # 154 MB/s are those of four requests
        (256, "storage", "decision", "request-latency"),  # 9.8 GB/s took four times the requests of the job
        (64, "unknown", "decision", "measured"),
    ],
)
def test_a_measured_rate_is_that_of_the_requests_in_flight(
    concurrency: int, limited_by: str, use: str, limit: str
) -> None:
    found = plan(probed(concurrency, limited_by=limited_by), **PICTURES)
    s3 = found.option("s3-standard").supply
    assert found.placements["training_reads"].measured_used_as == use
    # 8 GPUs × 8 workers × 2 MB / 52 ms, each time
    assert (s3.limited_by, s3.read_bytes_per_s and s3.read_bytes_per_s.value) == (
        limit,
        pytest.approx(64 * 2e6 / 0.052),
    )


def test_a_study_is_read_back_as_it_was_written() -> None:
    study = Study(workload=workload(**IMAGES))
    study.measurement = measured(6.5e9, option="s3-standard")
    study.recommend(load())
    again = Study.from_json(study.to_json(), load())
    assert again.workload == study.workload
    assert again.measurements == study.measurements
    assert again.recommendation == study.recommendation


def test_every_rule_sentence_parameter_is_a_plain_value() -> None:
    # Reasons travel as ids and parameters; a sentence is rendered from them in either language.
    found = plan(**IMAGES)
    assert {answer.verdict for answer in found.options} <= {"recommended", "works", "works-but", "ruled-out"}
    assert sum(answer.verdict == "recommended" for answer in found.options) == 1


def test_an_answer_that_leaves_gpus_waiting_says_so_first() -> None:
    starved = plan(
        interface="s3-api", preset="image-classification", instances=64, dataset_bytes=5e12, objects=50_000_000
    )
    assert starved.fed is not None and starved.fed.value < 1.0
    assert starved.warnings[0].id == "not-fed-in-full"
    assert starved.warnings[0].parameters["option"] == starved.recommended
    fed = plan(model_parameters=70e9)
    assert "not-fed-in-full" not in [warning.id for warning in fed.warnings]


# ---- Regions and limits ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("region", ["cn-north-1", "cn-northwest-1"])
def test_a_plan_for_china_says_what_is_not_there_and_what_remains(region: str) -> None:
    found = plan(region=region, interface="posix")
    said = {warning.id: warning.parameters for warning in found.warnings}
    assert said["region-without"] == {
        "region": region,
        "gone": ("s3-express-one-zone",),
        "left": ("s3-standard", "fsx-for-lustre", "mountpoint-s3"),
        "unconfirmed": ("s3-files",),
    }
    assert said["fsx-types-in-region"]["types"] == ("PERSISTENT_1",)
    configuration = found.option("fsx-for-lustre").supply.configuration
    assert configuration["deployment_type"] == "PERSISTENT_1" and "efa" not in configuration
    assert "metadata_iops" not in configuration


def test_a_region_that_has_all_of_them_is_not_remarked_upon() -> None:
    said = {warning.id for warning in plan(region="us-east-1").warnings}
    assert not said & {"region-without", "fsx-types-in-region"}


def test_s3_files_says_when_a_bucket_or_a_cluster_is_beyond_its_limits() -> None:
    assert "s3-files-many-objects" not in reasons(plan(objects=12_000_000, dataset_bytes=1e12), "s3-files")
    assert "s3-files-many-objects" in reasons(plan(objects=12_000_001, dataset_bytes=1e12), "s3-files")
    assert "s3-files-connections" not in reasons(plan(instances=25_000), "s3-files")
    assert "s3-files-connections" in reasons(plan(instances=25_001), "s3-files")


def test_s3_files_in_a_plan_asks_for_versioning() -> None:
    found = plan(instances=1, interface="file-paths", file_operations=["rename"], avoid_parallel_file_system=True)
    uses = "s3-files" in {placed.option for placed in found.placements.values()}
    assert uses == ("s3-files-versioning" in {warning.id for warning in found.warnings})
    assert uses
