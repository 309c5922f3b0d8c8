"""The checkpoints of a job: who writes, what fails how often, restoring, keeping, and what cannot be done."""

from __future__ import annotations

import math
from typing import Any

import pytest

from gpufeed.facts import load
from gpufeed.facts.errors import InputError
from gpufeed.model.advise import recommend
from gpufeed.model.checkpoint_plan import CheckpointPlan, checkpoint_plan, curves
from gpufeed.model.clients import part_of_copies
from gpufeed.model.demand import demand
from gpufeed.model.retention import saves_in
from gpufeed.model.savers import abilities, lacking, through_mount
from gpufeed.model.workload import Workload

GIB = 2**30
OF_64 = {"instances": 64, "model_parameters": 70e9, "checkpoint_interval": 600}  # 512 GPUs, 980 GB
FILES = OF_64 | {"interface": "posix"}  # reads on FSx for Lustre


def plan(**traits: Any) -> CheckpointPlan:
    facts = load()
    least = {"task": "pretraining", "instances": 8, "instance_type": "p5.48xlarge", "region": "us-east-1"}
    return checkpoint_plan(recommend(Workload.from_mapping(least | traits, facts), facts), facts)


# ---- size and files --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["llama3-8b", "llama3-70b", "llama3-405b", "llama3-1t"])
def test_published_checkpoint_sizes_are_met_within_one_percent(name: str) -> None:
    published = load().model.parts["checkpoints"].parts[name]
    found = plan(model_parameters=published.known("parameters").value)
    assert found.size is not None
    assert found.size.value == pytest.approx(published.known("bytes").value, rel=0.01)


def test_the_checkpoint_of_berts_emulation_holds_fp32_weights_and_two_moments() -> None:
    # mlcommons/storage v0.5, bert.yaml: 4,034,713,312 bytes; 336 million parameters × 12 bytes.
    found = plan(model_parameters=336e6, optimizer="adamw-fp32")
    assert found.size is not None and found.size.value == pytest.approx(4_034_713_312, rel=0.01)


def test_sharded_ranks_write_one_file_each() -> None:
    found = plan(**OF_64)
    # 70e9 × 14 bytes / 512
    assert (found.writers, found.bytes_per_file) == (512, 70e9 * 14 / 512)


def test_one_rank_saves_the_adapters_of_lora_with_its_own_streams_only() -> None:
    found = plan(task="lora", model_parameters=8_030_261_248, lora_rank=16)
    assert found.writers == 1
    save = found.option("s3-standard").answer.stall.save_seconds
    # 2,621,440 per rank × 16 × 10 bytes = 419.43 MB over 10 parts at once, each in 30 ms and
    # 8 MiB at 20 MB/s, at 80 % of that; 64 ranks would take 0.05 s.
    assert save is not None and save.value == pytest.approx(419.4304e6 / 10 * (0.03 / 2**23 + 1 / 20e6) / 0.80)


def test_one_rank_writes_one_file_to_a_file_system_in_one_stream() -> None:
    save = plan(checkpoint_bytes=1e9, checkpoint_writers=1).option("s3-files").answer.stall.save_seconds
    # One stream of 100 MB/s (20–500), far below the 1 GiB/s of the file system: 10 s (2–50); of which 80 %
    # are reached (40–103).
    assert save is not None and save[:3] == (pytest.approx(2 / 1.03), pytest.approx(10 / 0.8), pytest.approx(50 / 0.4))


def test_the_card_of_one_node_carries_what_one_rank_saves() -> None:
    traits = {"instance_type": "p5.4xlarge", "checkpoint_bytes": 1e12}  # one GPU, 100 Gbit/s
    all_write = plan(**traits).option("s3-express-one-zone").answer.stall.save_seconds
    one_writes = plan(**traits, checkpoint_writers=1).option("s3-express-one-zone").answer.stall.save_seconds
    assert all_write is not None and one_writes is not None
    # 8 ranks × 10 parts, each in 4 ms and its bytes at 110 MB/s; one rank 10 of them; 80 % of either.  A file has
    # 10,000 parts at most: of 125 GB 12 MiB each, of 1 TB 96.
    assert all_write.value == pytest.approx(1e12 / 80 * (0.004 / (12 * 2**20) + 1 / 110e6) / 0.80)
    assert one_writes.value == pytest.approx(1e12 / 10 * (0.004 / (96 * 2**20) + 1 / 110e6) / 0.80)


def test_a_share_smaller_than_a_part_is_one_part() -> None:
    save = plan(checkpoint_bytes=64e6).option("s3-standard").answer.stall.save_seconds
    # 64 ranks with 1 MB each: 64 at once, not 512, and each takes 30 ms and 1 MB at 20 MB/s.
    assert save is not None and save.value == pytest.approx((0.03 + 1e6 / 20e6) / 0.80)


def test_more_ranks_than_accelerators_cannot_save() -> None:
    with pytest.raises(InputError) as refused:
        plan(checkpoint_writers=65)
    assert refused.value.message_id == "workload.more-writers-than-ranks"


def test_an_unknown_size_is_unknown_throughout() -> None:
    found = plan(preset="mlperf-unet3d")
    assert found.size is None and found.bytes_per_file is None and found.memory_first is None
    assert all(option.lost is None and option.retention is None for option in found.options)
    assert curves(found) == {}


# ---- failures --------------------------------------------------------------------------------------------------------


def test_each_definition_of_a_failure_stands_for_itself() -> None:
    found = {effect.definition.id: effect.definition.here.value / 3600 for effect in plan(**OF_64).failures}
    # Hours at the published size × GPUs there / 512 here.
    assert found == {
        "bloom-384-a100": pytest.approx(168 * 384 / 512),
        "llama3-16384-h100-unexpected": pytest.approx(3.093 * 16384 / 512),
        "llama3-16384-h100": pytest.approx(2.781 * 16384 / 512),
        "ft-hsdp-100000": pytest.approx(0.3 * 100_000 / 512),
        "rsc-1-node-rate": pytest.approx(24_000 / (6.5 * 64)),
        "opt-1024-a100": pytest.approx(8.8 * 2),
        "rsc-1024-a100": pytest.approx(7.9 * 2),
    }
    # They differ eight times over, which is why they are not averaged.
    assert max(found.values()) / min(found.values()) == pytest.approx(126 / 15.8)


def test_more_failures_ask_for_shorter_intervals_and_lose_more() -> None:
    effects = plan(**OF_64).failures
    intervals = [effect.best_interval for effect in effects]
    lost = [effect.lost.value for effect in effects if effect.lost is not None]
    assert intervals == sorted(intervals, key=lambda interval: -(interval or 0))
    assert lost == sorted(lost) and len(lost) == len(effects)


def test_what_is_lost_costs_its_share_of_the_gpus() -> None:
    lost = plan(**OF_64).option("s3-standard").lost
    assert lost is not None and lost.per_hour is not None
    assert lost.per_hour.value == pytest.approx(64 * 55.04 * lost.now.lost.value)


# ---- restore ---------------------------------------------------------------------------------------------------------


def test_shards_are_read_once_and_a_whole_file_by_every_node() -> None:
    sharded, whole = plan(**OF_64), plan(**OF_64, checkpoint_writers=1)
    restore, other = sharded.option("s3-standard").restore, whole.option("s3-standard").restore
    assert restore is not None and other is not None
    assert (restore.way, other.way) == ("shards", "everything")
    assert restore.everything.value == pytest.approx(64 * restore.shards.value)
    # 64 nodes × 8 ranks × 10 parts would be more than 5,500 a second under one prefix, were they not so large that they
    # last 5,120 / 5,500 s: (0.931 s − 30 ms) × 90 MB/s = 81.1 MB, so 78 MiB.  80 % of what they bring are reached.
    part = 78 * 2**20
    assert restore.seconds.value == pytest.approx(980e9 / (5120 * part / (0.03 + part / 90e6)) / 0.80)
    assert other.seconds == other.everything


@pytest.mark.parametrize(
    "traits",
    [
        {"task": "full-fine-tuning", "model_parameters": 7e9, "checkpoint_writers": 1, "restore_target": 120},
        {"task": "lora", "model_parameters": 70e9, "restore_target": 60, "checkpoints": "frequent"},
        {"task": "pretraining", "model_parameters": 70e9, "restore_target": 120},
    ],
)
def test_the_target_is_held_against_the_restore_that_this_job_does(traits: dict[str, Any]) -> None:
    found = plan(**traits, run_hours=48)
    for option in found.options:
        assert option.restore is not None
        assert option.restore.seconds == option.answer.stall.restore_seconds
    placed, said = found.placed.restore, found.plan.placements["checkpoints"].reasons
    assert placed is not None
    missed = {reason.id for reason in said} & {"restore-misses-target", "restore-may-miss-target"}
    assert bool(missed) == (placed.seconds.high > traits["restore_target"])


def test_the_file_system_is_sized_for_what_every_node_reads() -> None:
    found = plan(task="full-fine-tuning", model_parameters=7e9, checkpoint_writers=1, restore_target=120)
    fsx = found.option("fsx-for-lustre")
    # 8 nodes × 98 GB in 120 s, also where only 40 % of the provisioned rate is reached: 16.3 GB/s.
    rate = fsx.answer.supply.limits["file-system-throughput"]
    assert rate.value >= 8 * 98e9 / 120 / 0.40
    assert fsx.restore is not None and fsx.restore.seconds.high <= 120


def test_nothing_is_read_sooner_than_one_request_takes() -> None:
    found = plan(task="lora", instances=1, checkpoint_bytes=10e6, base_model_bytes=1.0).option("s3-standard").restore
    # 30 ms to the first byte, and 8 MiB of the one file at 90 MB/s.
    assert found is not None
    assert found.seconds.value == pytest.approx(0.030 + 2**23 / 90e6)


def test_an_adapter_is_restored_with_its_base_model_on_every_node() -> None:
    found = plan(task="qlora", model_parameters=8e9, lora_rank=16)
    restore, size = found.option("s3-standard").restore, found.size
    assert restore is not None and restore.base is not None and size is not None
    # 0.5 bytes per parameter of the 4-bit base, on 8 nodes, at the rate that brings the adapter.
    rate = size.value / restore.shards.value
    assert restore.base.value == pytest.approx(8 * 8e9 * 0.5 / rate)
    assert restore.seconds.value == pytest.approx(restore.everything.value + restore.base.value)


def test_a_stated_base_model_is_the_one_an_adapter_is_restored_with() -> None:
    half, whole = (
        plan(task="qlora", model_parameters=8e9, lora_rank=16, base_model_bytes=size).option("s3-standard").restore
        for size in (8e9, 16e9)
    )
    assert half is not None and half.base is not None and whole is not None and whole.base is not None
    assert whole.base.value == pytest.approx(2 * half.base.value)


# ---- keeping ---------------------------------------------------------------------------------------------------------


def test_keeping_and_saving_are_priced_on_every_option() -> None:
    kept = {option.option: option.retention for option in plan(**OF_64, checkpoints_kept=2).options}
    gib = 980e9 / GIB
    saves = 730 * 6  # a month of one every 10 minutes
    parts = math.ceil(980e9 / 512 / 2**23) + 2  # of 8 MiB, and two requests around them
    puts = 512 * parts * saves / 1000
    gets = 512 * 24 * saves / 1000  # a copy is read in its parts alone
    on_s3 = 512 * (24 + 2) * saves / 1000  # 980 GB / 512 ranks / 78 MiB = 23.4 parts
    expected = {
        "s3-standard": (2 * gib * 0.023, on_s3 * 0.005),
        "mountpoint-s3": (2 * gib * 0.023, on_s3 * 0.005),
        # Written there, read from there, and put into the bucket.
        "s3-express-one-zone": (
            2 * gib * (0.11 + 0.023),
            puts * 0.00113 + saves * gib * 0.0032 + gets * 0.00003 + saves * gib * 0.0006 + on_s3 * 0.005,
        ),
        # Its own storage and the bucket; written once, and an export is a read.
        "s3-files": (2 * gib * (0.3 + 0.023), saves * gib * (0.06 + 0.03) + puts * 0.005),
    }
    for option, (keeping, saving) in expected.items():
        found = kept[option]
        assert found is not None and found.keeping is not None and found.saving is not None and found.total is not None
        assert found.keeping.value == pytest.approx(keeping), option
        assert found.saving.value == pytest.approx(saving), option
        assert found.total.value == pytest.approx(keeping + saving), option
        assert found.gib_months.value == pytest.approx(2 * gib)


def test_an_own_discount_holds_for_checkpoints_too() -> None:
    full, reduced = plan(**FILES), plan(**FILES, storage_discount=0.25)
    for name in ("s3-standard", "s3-express-one-zone", "fsx-for-lustre", "s3-files"):
        before, after = full.option(name).retention, reduced.option(name).retention
        assert before is not None and before.total is not None and after is not None and after.total is not None
        assert after.total.value == pytest.approx(0.75 * before.total.value), name


def test_a_file_system_is_bought_in_steps() -> None:
    found = plan(**FILES, checkpoints_kept=2, checkpoint_mode="async").option("fsx-for-lustre")
    assert found.answer.supply.configuration["throughput_mb_per_s_per_tib"] == 1000
    assert found.retention is not None and found.retention.keeping is not None
    # Two checkpoints and one whose export takes longer than an interval are 2,738 GiB: a share at USD 0.600, or a file
    # system of its own with 4,800 GiB; and the two in S3.
    each = 980e9 / GIB
    assert found.retention.gib_months.value == pytest.approx(3 * each)
    assert found.retention.keeping[:3] == (
        pytest.approx(each * (3 * 0.600 + 2 * 0.023)),
        pytest.approx(each * (3 * 0.600 + 2 * 0.023)),
        pytest.approx(4800 * 0.600 + 2 * each * 0.023),
    )
    # An export takes 18 min 40 s, so that every second of 4,380 saves gets one: 512 ranks × (229 parts and 2 requests).
    assert found.retention.saving is not None
    assert found.retention.saving.value == pytest.approx(512 * 231 * 4380 / 2 * 0.005 / 1000)


@pytest.mark.parametrize(
    ("kept", "written", "lying"),
    # The copy is there 1,120 s after the save is written; saves begin every 1,800 s.
    [(1, 680.0, 1), (1, 681.0, 2), (1, None, 2), (2, 1800.0, 2), (2, None, 2), (3, None, 3)],
)
def test_one_that_is_kept_goes_for_the_next_once_its_copy_is_in_s3(
    kept: int, written: float | None, lying: int
) -> None:
    traits = {"task": "pretraining", "instances": 64, "instance_type": "p5.48xlarge", "model_parameters": 70e9}
    workload = Workload.from_mapping(traits | {"checkpoint_interval": 1800, "checkpoints_kept": kept}, load())
    ordered = {"storage_capacity_gib": 9600, "throughput_mb_per_s_per_tib": 125}  # 1,200 MB/s: 980 GB at 875 MB/s
    found = saves_in(730, workload, demand(workload, load()), load(), ordered, written=written)
    assert found is not None and found.lying.value == lying


def test_what_is_not_priced_is_named_and_has_no_total() -> None:
    found = plan(**FILES | {"region": "ap-northeast-1"}).option("fsx-for-lustre").retention
    assert found is not None
    assert (found.keeping, found.total, found.not_priced) == (None, None, ("checkpoint-own-storage",))


def test_a_file_is_never_cut_into_more_parts_than_s3_allows() -> None:
    found = plan(checkpoint_bytes=980e9, checkpoint_writers=1, checkpoint_interval=3600).option("s3-standard").retention
    assert found is not None and found.saving is not None
    # 980 GB are 116,825 parts of 8 MiB; S3 takes 10,000, so they have 94 MiB: 9,943, and 2 requests, × 730 saves.
    assert found.saving.value == pytest.approx(9_945 * 730 * 0.005 / 1000)


# ---- the way to S3 ---------------------------------------------------------------------------------------------------


def test_s3_files_exports_after_a_minute_of_quiet() -> None:
    moments = plan(**OF_64).option("s3-files").timeline
    assert moments.written is not None and moments.in_s3 is not None
    # Written at 80 % of 1 GiB/s; 980 GB at 2,700 MB/s take longer than 512 files at 800 a second.
    assert moments.in_s3.value == pytest.approx(980e9 / 2**30 / 0.80 + 60 + 980e9 / 2.7e9)


def test_a_lustre_export_that_takes_longer_than_the_interval_falls_behind() -> None:
    found = plan(**OF_64).option("fsx-for-lustre")
    # 980 GB at 875 MB/s: 18 min 40 s against 10 minutes.
    assert found.timeline.export is not None and found.timeline.export.value == pytest.approx(980e9 / 875e6)
    assert "export-falls-behind" in [reason.id for reason in found.but]
    hourly = plan(**OF_64 | {"checkpoint_interval": 3600}).option("fsx-for-lustre")
    assert "export-falls-behind" not in [reason.id for reason in hourly.but]


def test_a_file_system_for_asynchronous_saves_is_sized_by_the_slowest_published_save() -> None:
    """What is not written when the next save begins stops every GPU."""
    answer = plan(**OF_64, checkpoint_mode="async").option("fsx-for-lustre").answer
    # 980 GB in 600 s at 40 % of what is provisioned: 4,083 MB/s, so 4,800 GiB at 1,000 MB/s per TiB.
    assert answer.supply.configuration["storage_capacity_gib"] == 4800
    save = answer.stall.save_seconds
    assert save is not None and save.high == pytest.approx(980e9 / (4.8e9 * 0.4)) and save.high < 600
    assert answer.stall.beyond_seconds is not None and answer.stall.beyond_seconds.high == 0


def test_a_save_that_only_just_fits_its_interval_is_told_to_leave_a_margin() -> None:
    found = plan(**OF_64 | {"checkpoint_interval": 20}, checkpoint_mode="async").option("s3-standard")
    assert found.answer.stall.fits_interval is True
    assert found.answer.stall.beyond_seconds is not None and found.answer.stall.beyond_seconds.value == 0
    assert "save-may-exceed-interval" in [reason.id for reason in found.but]
    # The interval that is advised leaves it, also at the slowest save.
    save = found.answer.stall.save_seconds
    assert found.lost is not None and save is not None and found.lost.best_interval >= save.high


def test_what_is_written_to_s3_is_in_s3() -> None:
    moments = plan(**OF_64).option("s3-standard").timeline
    assert moments.in_s3 == moments.written and moments.export is None


def test_a_directory_bucket_is_copied_as_fast_as_s3_takes_it() -> None:
    found = plan(**OF_64)
    express, s3 = found.option("s3-express-one-zone").timeline, found.option("s3-standard").timeline
    assert express.written is not None and express.in_s3 is not None and s3.written is not None
    assert express.in_s3.value == pytest.approx(express.written.value + s3.written.value)


def test_the_time_of_that_copy_is_of_the_requests_that_are_billed_and_of_the_part_that_its_script_sets() -> None:
    """9.4 TB from 4,096 ranks, 2.29 GB each: 18 parts of 128 MiB and two requests, 81,920 / 3,500 s, 80 % reached.

    In the 8 MiB of the save it would be 276 requests each, 1,130,496 / 3,500 s = 323 s.
    """
    size = 671e9 * 14
    found = plan(
        task="pretraining",
        instances=512,
        instance_type="p5en.48xlarge",
        checkpoint_bytes=size,
        checkpoint_interval=3600,
        checkpoint_mode="async",
        interface="s3-api",
        run_hours=10,
    )
    moments = found.option("s3-express-one-zone").timeline
    assert moments.in_s3 is not None and moments.written is not None
    assert moments.in_s3.value - moments.written.value == pytest.approx(81_920 / 3500 / 0.8)
    billed = {line.id: line.quantity for line in found.plan.saving("s3-express-one-zone").lines}
    puts, gets = billed["checkpoint-copy-puts"], billed["checkpoint-copy-gets"]
    assert puts is not None and puts.value * 1000 == pytest.approx(10 * 81_920)
    assert gets is not None and gets.value * 1000 == pytest.approx(10 * 4096 * 18)
    assert part_of_copies(found.plan, load()) == 128 * 2**20


# ---- what a tier cannot do -------------------------------------------------------------------------------------------


#: Random reads out of four large files by a program that wants paths: everything goes through Mountpoint.
THROUGH_A_MOUNT: dict[str, Any] = {
    "instances": 16,
    "model_parameters": 13e9,
    "interface": "file-paths",
    "reads": "random",
    "request_bytes": 8192,
    "dataset_bytes": 8e12,
    "objects": 4,
    "checkpoint_interval": 1800,
}


def test_checkpoints_behind_mountpoint_say_which_savers_can_write_there() -> None:
    found = plan(**THROUGH_A_MOUNT)
    placed = found.plan.placements["checkpoints"]
    assert (placed.option, placed.backed_by) == ("mountpoint-s3", "s3-standard")
    said = {reason.id: reason for reason in placed.reasons if reason.id.startswith("mount-")}
    assert said["mount-takes-savers"].parameters == {"savers": ("pytorch-save",)}
    assert said["mount-refuses-savers"].parameters == {"savers": ("pytorch-dcp-files",), "operations": ("rename",)}
    assert said["mount-refuses-savers"].source == "mountpoint-semantics"
    assert "mount-renames-no-directory" in said
    assert said["mount-savers-unknown"].parameters == {"savers": ("pytorch-lightning",)}
    # Beside the others it is no place that simply works for 128 ranks that each save a shard; for one rank it is.
    assert [reason.id for reason in found.option("mountpoint-s3").but] == ["mount-refuses-savers"]
    alone = plan(**THROUGH_A_MOUNT | {"task": "lora"}).option("mountpoint-s3")
    assert (alone.verdict, alone.but) == ("recommended", ())


def test_no_other_place_of_checkpoints_speaks_of_mounts() -> None:
    for traits in ({"file_operations": ["append"]}, {"interface": "s3-api"}):
        placed = plan(**THROUGH_A_MOUNT | traits).plan.placements["checkpoints"]
        assert placed.option != "mountpoint-s3"
        assert not [reason.id for reason in placed.reasons if reason.id.startswith("mount-")]


def test_a_mounted_directory_bucket_takes_what_renames_a_file_and_nothing_that_renames_a_directory() -> None:
    said = {reason.id: reason.parameters for reason in through_mount("s3-express-one-zone", load())}
    assert list(said) == ["mount-takes-savers", "mount-renames-no-directory", "mount-savers-unknown"]
    assert said["mount-takes-savers"] == {"savers": ("pytorch-save", "pytorch-dcp-files")}


def test_a_temporary_file_cannot_be_renamed_on_a_mounted_general_purpose_bucket() -> None:
    rename = frozenset({"rename"})
    assert load().model.parts["savers"].get_value("pytorch-dcp-files") == ("rename",)
    found = {(ability.option, ability.backing): lacking(ability, rename) for ability in abilities(load())}
    assert found == {
        ("s3-standard", None): ("rename",),
        ("fsx-for-lustre", None): (),
        ("s3-express-one-zone", None): (),
        ("s3-files", None): (),
        ("mountpoint-s3", "s3-standard"): ("rename",),
        ("mountpoint-s3", "s3-express-one-zone"): (),
    }


def test_an_operation_a_saver_needs_rules_an_option_out_for_checkpoints() -> None:
    found = plan(file_operations=["hard-link"], interface="file-paths")
    out = {option.option: [reason.id for reason in option.cannot] for option in found.options if option.cannot}
    assert "cannot-do-operation" in out["s3-files"] and "cannot-do-operation" in out["mountpoint-s3"]
    assert all(found.option(name).verdict == "ruled-out" for name in out)
    assert found.placed.option == "fsx-for-lustre" and found.placed.verdict == "recommended"


def test_a_file_larger_than_mountpoint_writes_is_caught() -> None:
    # 80,000 MiB = 83.9 GB with the default parts.
    assert not plan(checkpoint_bytes=83e9, checkpoint_writers=1).option("mountpoint-s3").cannot
    caught = plan(checkpoint_bytes=84e9, checkpoint_writers=1).option("mountpoint-s3").cannot
    assert [reason.id for reason in caught] == ["larger-than-mount-writes"]
    assert not plan(checkpoint_bytes=84e9).option("mountpoint-s3").cannot


# ---- host memory first -----------------------------------------------------------------------------------------------


def test_host_memory_holds_a_nodes_share_and_its_neighbours() -> None:
    found = plan(**OF_64, host_memory_bytes=2e12).memory_first
    assert found is not None
    assert found.bytes_per_node.value == pytest.approx(2 * 980e9 / 64)
    assert found.copy_seconds.value == pytest.approx(980e9 / (512 * 20e9))
    assert found.fits is True
    small = plan(**OF_64, host_memory_bytes=30e9).memory_first
    assert small is not None and small.fits is False
    # A p5.48xlarge has 2,048 GiB and 8 drives of 3.8 TB; without a type neither is known.
    published = plan(**OF_64).memory_first
    assert published is not None
    assert (published.memory_per_node, published.fits) == (2048 * GIB, True)
    assert (published.drives_per_node, published.drives_hold) == (8 * 3800e9, True)
    traits = {"instance_type": None, "accelerator": "H100", "accelerators_per_instance": 8}
    unknown = plan(**OF_64 | traits).memory_first
    assert unknown is not None
    assert (unknown.memory_per_node, unknown.fits, unknown.drives_hold) == (None, None, None)


def test_every_option_has_a_curve_over_the_same_intervals() -> None:
    found = plan(**OF_64)
    assert len(curves(found)) == 5
    assert len({tuple(interval for interval, _ in points) for points in curves(found).values()}) == 1


# ---- Mountpoint in front of a directory bucket -----------------------------------------------------------------------

RENAMES = {"task": "full-fine-tuning", "model_parameters": 13e9, "interface": "file-paths", "checkpoint_interval": 300}


def test_what_a_mount_writes_to_a_directory_bucket_is_in_s3_when_it_has_been_copied() -> None:
    found = plan(**RENAMES, file_operations=["rename"])
    mount, express, plain = (found.option(name) for name in ("mountpoint-s3", "s3-express-one-zone", "s3-standard"))
    assert mount.timeline == express.timeline
    assert mount.timeline.release == "s3-express-one-zone"
    written, copied = mount.timeline.written, plain.timeline.written
    assert written is not None and copied is not None and mount.timeline.in_s3 is not None
    assert mount.timeline.in_s3.value == pytest.approx(written.value + copied.value)
    # On a general purpose bucket nothing has to be copied; in this zone there is no other.
    direct = plan(**RENAMES, zone="use1-az1").option("mountpoint-s3").timeline
    assert direct.release == "at-once" and direct.in_s3 == direct.written


def test_a_mount_that_can_append_writes_each_file_one_part_after_another() -> None:
    # 182 GB from 64 ranks, each with one part of 8 MiB under way: 4 ms + 8,388,608 B / 110 MB/s = 80.26 ms for each,
    # so 104.5 MB/s a rank, 6.69 GB/s; a save reaches 80 % of that: 34.0 s.  With ten parts a rank it was 3.4 s.
    part = 8 * 2**20
    found = plan(**RENAMES, file_operations=["append"])
    saved = found.option("mountpoint-s3").answer.stall.save_seconds
    assert saved is not None
    assert (
        saved.value
        == pytest.approx(182e9 / (64 * part / (0.004 + part / 110e6) * 0.8))
        == pytest.approx(34.0, abs=0.02)
    )
    # A client of the bucket itself uploads parts side by side as ever.
    directly = found.option("s3-express-one-zone").answer.stall.save_seconds
    assert directly is not None and directly.value == pytest.approx(saved.value / 10)
