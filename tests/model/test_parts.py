"""Under which key prefixes, and in which parts, a checkpoint is saved to a bucket and read again.  Worked by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from examples import SAVES_LARGE, SAVES_MANY, SAVES_OFTEN

from gpufeed.facts import load
from gpufeed.facts.quantity import Quantity
from gpufeed.model.advise import recommend
from gpufeed.model.job import job_of
from gpufeed.model.recommendation import Reason, Recommendation
from gpufeed.model.supply import supply
from gpufeed.model.workload import Workload

MIB = 2**20


def plan(traits: dict[str, Any], **more: Any) -> Recommendation:
    return recommend(Workload.from_mapping(traits | more, load()), load())


def said(found: Recommendation) -> dict[str, Reason]:
    return {reason.id: reason for reason in found.placements["checkpoints"].reasons}


# ---- prefixes --------------------------------------------------------------------------------------------------------


def test_a_restore_is_not_spread_over_the_prefixes_of_the_data() -> None:
    """5.67 TB through S3 Files, whose reads of the bucket are of 8 MiB: 5,500 GET/s, of which 80 % are reached."""
    for prefixes in (1, 16, 1000):
        restore = plan(SAVES_LARGE, prefixes=prefixes).saving("s3-files").stall.restore_seconds
        assert restore is not None and restore.value == pytest.approx(5.67e12 / (5500 * 8 * MIB * 0.8))
        # Under ten prefixes at the best, of which 103 % are reached, and 40 % of what one gives at the worst.
        assert restore.low == pytest.approx(5.67e12 / (10 * 5500 * 8 * MIB * 1.03))
        assert restore.high == pytest.approx(5.67e12 / (5500 * 8 * MIB * 0.4))


def test_the_weights_that_a_job_starts_from_are_not_either() -> None:
    """16 instances read 140 GB each at once, in 1,280 parts that last as long as 5,500 GET/s of one prefix let them.

    (1,280 / 5,500 s − 30 ms) × 90 MB/s = 18.2 MB, in whole MiB 18; 80 % of what they bring are reached.
    """
    job = {"task": "lora", "model_parameters": 70e9, "instances": 16, "instance_type": "p5.48xlarge", "run_hours": 24}
    once, spread = (plan(job, prefixes=prefixes).option("s3-standard").bursts for prefixes in (1, 16))
    part = 18 * MIB
    assert once.base_model_seconds is not None and once.base_model_seconds == spread.base_model_seconds
    assert once.base_model_seconds.value == pytest.approx(16 * 140e9 / (1280 * part / (0.03 + part / 90e6)) / 0.8)


def test_the_reads_are_spread_over_them() -> None:
    limits = [plan(SAVES_LARGE, prefixes=count).option("s3-standard").supply.limits for count in (1, 16)]
    assert limits[1]["request-limit"].value == pytest.approx(16 * limits[0]["request-limit"].value)


# ---- parts -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("traits", "mib"),
    [
        # 32 ranks × 10 parts of 8 MiB are 711 PUT/s and 2,600 GET/s: what clients have by themselves is enough.
        ({"instances": 4, "checkpoint_bytes": 980e9}, 8),
        # 2,560 parts, saving: (2,560 / 3,500 s − 30 ms) × 20 MB/s = 14.0 MB; restoring: (2,560 / 5,500 s − 30 ms) × 90
        # MB/s = 39.2 MB, which ten of each rank's 3.83 GB are as well.
        ({"instances": 32, "checkpoint_bytes": 980e9}, 38),
        # Ten of 78.1 MB a rank are 7.8 MB: a restore does not get the 39.2 MB.  256 ranks save in seven parts and two
        # requests around them, 2,304 / 3,500 s = 0.66 s; in six the bytes take 30 ms + 13.0 MB / 20 MB/s = 0.68 s.
        ({"instances": 32, "checkpoint_bytes": 20e9}, 11),
        # 4,096 ranks of 27.3 MB: three requests each for a whole file, 12,288 / 3,500 s, are the fewest there are.
        ({"instances": 512, "checkpoint_bytes": 112e9}, 27),
        # Ranks of 2 MB save one part each, whatever its size.
        ({"instances": 32, "checkpoint_bytes": 512e6}, 8),
        # (20,480 / 3,500 s − 30 ms) × 20 MB/s = 116.4 MB for saves, 332 MB for restores: memory is taken for 128 MiB.
        ({"instances": 256, "checkpoint_bytes": 5.67e12}, 128),
        # One rank saves with ten parts: PUTs are few.  980 GB have to be 10,000 parts at most.
        ({"instances": 4, "checkpoint_bytes": 980e9, "checkpoint_writers": 1}, 94),
    ],
)
def test_a_part_is_as_large_as_keeps_requests_from_being_the_limit(traits: dict[str, Any], mib: int) -> None:
    part = plan({"task": "pretraining", "instance_type": "p5.48xlarge"} | traits).demand.checkpoint_part_bytes
    assert part is not None and part.value == mib * MIB


def test_a_slow_network_or_gateway_asks_for_no_larger_parts_than_it_carries() -> None:
    many = {"task": "pretraining", "instance_type": "p5.48xlarge", "instances": 256, "checkpoint_bytes": 5.67e12}
    # A NAT gateway lets 100 Gbit/s through: 12.5 GB/s are 1,490 requests/s of 8 MiB.
    part = plan(many, network_path="nat").demand.checkpoint_part_bytes
    assert part is not None and part.value == 8 * MIB


def test_the_same_prefix_takes_as_much_more_as_parts_are_larger() -> None:
    """20,480 parts of 128 MiB, each in 30 ms and 134.2 MB at 20 MB/s, 80 % of that: 17.4 s, not the 241 s of 8 MiB.

    So S3 holds the checkpoints, at 405B on 256 instances; a restore at 5,500 GET/s takes 9.6 s of 120 s.
    """
    found = plan(SAVES_LARGE)
    on_s3, part = found.saving("s3-standard"), 128 * MIB
    stall = on_s3.stall
    assert stall.save_seconds is not None and stall.restore_seconds is not None
    assert stall.save_seconds.value == pytest.approx(5.67e12 / (20_480 * part / (0.03 + part / 20e6)) / 0.8)
    assert stall.restore_seconds.value == pytest.approx(5.67e12 / (5500 * part) / 0.8)
    assert found.placements["checkpoints"].option == "s3-standard"
    # 360 saves of 2,048 files: 21 parts of 128 MiB, and two requests around them, at USD 0.005 for 1,000
    puts = next(line for line in on_s3.lines if line.id == "checkpoint-puts")
    assert puts.amount is not None and puts.amount.value == pytest.approx(360 * 2048 * (21 + 2) * 0.005 / 1000)


def test_the_plan_says_the_part_with_what_it_changes_and_what_is_still_the_limit() -> None:
    found = said(plan(SAVES_LARGE))
    parts = found["saves-in-parts"].parameters
    assert (parts["part"].value, parts["default"].value, parts["part_bytes"].value) == (128, 8, 128 * MIB)
    # 2.77 GB a rank: 331 parts of 8 MiB, or 21 of 128 MiB, and two requests around them: 29.1 and 421 GB/s
    assert parts["write_before"].value == pytest.approx(3500 * 5.67e12 / 2048 / (331 + 2))
    assert parts["write_rate"].value == pytest.approx(3500 * 5.67e12 / 2048 / (21 + 2))
    assert parts["read_rate"].value == pytest.approx(5500 * 128 * MIB)
    assert parts["memory"].value == 10 * 128 * MIB
    assert "save-held-by-requests" not in found
    assert found["restore-held-by-requests"].parameters["rate"].value == pytest.approx(5500 * 128 * MIB)
    # Where parts are as clients make them nothing is said, and elsewhere than on S3 neither.
    few = said(plan(SAVES_LARGE, instances=4, checkpoint_bytes=980e9, restore_target=None))
    assert "saves-in-parts" not in few


def test_a_save_that_its_requests_limit_all_the_same_is_said_to_be() -> None:
    """8,000 ranks save 14 TB: of 128 MiB, the largest part, 14 and two requests around them, 128,000 / 3,500 s."""
    job = SAVES_LARGE | {"instances": 1000, "checkpoint_bytes": 14e12}
    found = said(plan(job))
    assert found["save-held-by-requests"].parameters["rate"].value == pytest.approx(14e12 / (128_000 / 3500))
    assert "restore-held-by-requests" not in found


#: 8 billion parameters on 512 p5: 4,096 ranks of 27.3 MB.
MANY_RANKS = {
    "task": "pretraining",
    "instances": 512,
    "instance_type": "p5.48xlarge",
    "model_parameters": 8e9,
    "checkpoint_mode": "async",
    "interface": "s3-api",
}


def test_what_opens_and_closes_an_upload_counts_towards_the_requests_that_s3_takes() -> None:
    """A file in one part is three requests: 4,096 × 3 / 3,500 s = 3.51 s, of which 80 % are reached; 40 at the least.

    In parts of 24 MiB it would be two parts and two requests: 16,384 / 3,500 s = 4.68 s.
    """
    save = plan(MANY_RANKS).saving("s3-standard").stall.save_seconds
    assert save is not None and save.value == pytest.approx(12_288 / 3500 / 0.8)
    assert save.high == pytest.approx(12_288 / 3500 / 0.4)


def test_and_towards_those_that_kms_allows() -> None:
    """Where it allows 1,000 S3 requests/s, 112 GB in 12,288 of them are 9.11 GB/s."""
    job, _ = job_of(plan(MANY_RANKS).workload, load(), None)
    of_keys = replace(job.load, kms_requests=Quantity.exact(1000.0, "requests/s"))
    written = supply("s3-standard", of_keys, load()).write_bytes_per_s
    assert written is not None and written.value == pytest.approx(112e9 / 12_288 * 1000)


def test_and_towards_those_of_a_directory_bucket() -> None:
    """27.3 MB are two parts of 14 MiB and two requests: 16,384 for the bucket's 100,000 PUT/s, 80 % of that reached."""
    save = plan(MANY_RANKS).saving("s3-express-one-zone").stall.save_seconds
    assert save is not None and save.value == pytest.approx(16_384 / 100_000 / 0.8)


# ---- parts in a directory bucket -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("traits", "mib"),
    [
        # 256 ranks of 457 parts of 8 MiB: requests last 1.2 s, their bytes 45.7 × (4 ms + 8.39 MB / 110 MB/s) = 3.7 s.
        ({"instances": 32, "checkpoint_bytes": 980e9}, 8),
        # 2.77 GB a rank: in 123 parts requests last 125 × 2,048 / 100,000 s = 2.56 s, and so do 277 MB / 110 MB/s and
        # 12 times 4 ms.  Restoring, (20,480 / 200,000 s − 4 ms) × 150 MB/s = 14.8 MB would do.
        ({"instances": 256, "checkpoint_bytes": 5.67e12}, 22),
        # 27.3 MB a rank: in two parts requests last 0.164 s, in one the bytes 0.253 s, in three the requests 0.205 s.
        ({"instances": 512, "checkpoint_bytes": 112e9}, 14),
        # 346.8 MB a rank: in four parts requests last 0.98 s, in three the bytes 1.06 s, in five the requests 1.15 s.
        (SAVES_MANY, 83),
        # Half of the requests: in three parts they last 1.64 s, in two the bytes 1.58 s, but of 166 MiB; 128 are most.
        (SAVES_MANY | {"jobs": 2}, 128),
    ],
)
def test_so_are_those_of_a_directory_bucket_by_its_own_requests_and_rates(traits: dict[str, Any], mib: int) -> None:
    part = plan({"task": "pretraining", "instance_type": "p5.48xlarge"} | traits).demand.checkpoint_part_bytes_express
    assert part is not None and part.value == mib * MIB


def test_kms_is_not_asked_for_the_parts_of_a_directory_bucket() -> None:
    keys, none = plan(SAVES_MANY, encryption="sse-kms").demand, plan(SAVES_MANY).demand
    assert keys.checkpoint_part_bytes_express == none.checkpoint_part_bytes_express


def test_a_directory_bucket_is_saved_to_and_restored_from_in_them() -> None:
    """16,384 ranks in four parts and two requests: 0.98 s at 100,000 PUT/s, 80 % of that: 1.23 s, not the 9 s of 8 MiB.

    A restore is no shorter than one request: 4 ms and 83 MiB at 150 MB/s; 200,000 of them a second would take 0.41 s.
    """
    found = plan(SAVES_MANY)
    saving = found.saving("s3-express-one-zone")
    save, restore = saving.stall.save_seconds, saving.stall.restore_seconds
    assert save is not None and save.value == pytest.approx(6 * 16_384 / 100_000 / 0.8)
    assert save[0:3:2] == pytest.approx((max(0.98304 / 2, 0.004 + 83 * MIB / 110e6) / 1.03, 0.98304 / 0.4), rel=0.01)
    assert restore is not None and restore.value == pytest.approx(0.004 + 83 * MIB / 150e6)
    assert found.placements["checkpoints"].option == "s3-express-one-zone"
    # The plan at an interval of 440 s orders no file system of USD 3.2 million either.
    assert plan(SAVES_MANY, checkpoint_interval=440).placements["checkpoints"].option == "s3-express-one-zone"


def test_and_billed_in_them() -> None:
    """Of 1,300 hours at 2,048 × USD 55.04 a save of 1.23 s each 560 s takes 0.22 %: USD 321,547, not 2.36 million."""
    saves, gib = 1300 * 3600 / 560, 405.85e9 * 14 / 2**30
    amounts = {line.id: line.amount for line in plan(SAVES_MANY).saving("s3-express-one-zone").lines}
    expected = {
        "checkpoint-puts": saves * 16_384 * (4 + 2) * 0.00113 / 1000,
        "checkpoint-upload": saves * gib * 0.0032,
        "saving-gpu": 1300 * 2048 * 55.04 * (6 * 16_384 / 100_000 / 0.8) / 560,
        # Copies are in the part that is chosen for S3, 128 MiB: three of a rank.
        "checkpoint-copy-gets": saves * 16_384 * 3 * 0.00003 / 1000,
        "checkpoint-copy-puts": saves * 16_384 * (3 + 2) * 0.005 / 1000,
    }
    for name, amount in expected.items():
        found = amounts[name]
        assert found is not None and found.value == pytest.approx(amount), name
    assert expected["saving-gpu"] == pytest.approx(321_547, abs=1)


def test_a_plan_says_the_part_of_a_directory_bucket_and_what_is_still_the_limit() -> None:
    found = said(plan(SAVES_MANY))
    of_a_rank = 405.85e9 * 14 / 16_384
    parts = found["saves-in-parts-of-bucket"].parameters
    assert (parts["part"].value, parts["default"].value, parts["part_bytes"].value) == (83, 8, 83 * MIB)
    assert (parts["write_requests"].value, parts["read_requests"].value) == (100_000, 200_000)
    # 42 parts of 8 MiB, or four of 83 MiB, and two requests around them
    assert parts["write_before"].value == pytest.approx(100_000 * of_a_rank / 44)
    assert parts["write_rate"].value == pytest.approx(100_000 * of_a_rank / 6)
    assert (parts["read_before"].value, parts["read_rate"].value) == (200_000 * 8 * MIB, 200_000 * 83 * MIB)
    # All four parts are under way at once, and are all that a rank holds.
    assert parts["memory"].value == pytest.approx(of_a_rank)
    held = found["save-held-by-requests-of-bucket"].parameters
    assert held["rate"].value == pytest.approx(100_000 * of_a_rank / 6)
    assert held["raised"].value == 200_000
    # One part lasts longer than the requests of a restore.
    assert "restore-held-by-requests-of-bucket" not in found
    assert "saves-in-parts" not in found


def test_a_restore_from_a_directory_bucket_that_its_requests_limit_is_said_to_be() -> None:
    """Of five jobs each has 40,000 GET/s, which of 128 MiB last 1.32 s; one takes 0.90 s.

    2,048 ranks save with 20,000 PUT/s: 23 × 2,048 / 20,000 s = 2.36 s; their bytes last 2.067 × 1.22 s = 2.53 s.
    """
    found = plan(SAVES_MANY, jobs=5, checkpoint_writers=2048)
    restore = found.saving("s3-express-one-zone").stall.restore_seconds
    assert restore is not None and restore.value == pytest.approx(405.85e9 * 14 / (40_000 * 128 * MIB) / 0.8)
    assert found.placements["checkpoints"].option == "s3-express-one-zone"
    assert "save-held-by-requests-of-bucket" not in said(found)
    held = said(found)["restore-held-by-requests-of-bucket"].parameters
    assert (held["rate"].value, held["raised"].value) == (40_000 * 128 * MIB, 2_000_000)


# ---- prefixes that would do ------------------------------------------------------------------------------------------

#: The same where no directory buckets are: a file system takes the saves that one prefix of S3 would hold up.
ON_LUSTRE = SAVES_MANY | {"region": "eu-central-1"}


def test_where_a_file_system_is_taken_over_one_key_prefix_it_says_how_many_would_do() -> None:
    """346.8 MB a rank are three parts of 128 MiB and two requests: 243 GB/s of 3,500 PUT/s.

    All of a rank's parts are under way at once, each in 30 ms and 128 MiB at 20 MB/s: 843 GB/s, 3.47 times as much.
    """
    of_a_rank = 405.85e9 * 14 / 16_384
    found = plan(ON_LUSTRE)
    assert found.placements["checkpoints"].option == "fsx-for-lustre"
    hint = said(found)["saving-under-one-prefix"].parameters
    assert (hint["option"], hint["part"].value, hint["prefixes"]) == ("fsx-for-lustre", 128, 4)
    assert hint["rate"].value == pytest.approx(3500 * of_a_rank / 5)
    assert hint["reached"].value == pytest.approx(16_384 * of_a_rank / (0.03 + 128 * MIB / 20e6))
    given = found.saving("fsx-for-lustre").supply.write_bytes_per_s
    assert given is not None and hint["given"].value == given.value
    assert "jobs-under-one-prefix" not in said(found)


def test_the_checkpoints_of_several_jobs_are_said_to_lie_under_it_together() -> None:
    found = said(plan(ON_LUSTRE, jobs=2))
    # Half of 243 GB/s, and as much as before to be reached: 6.94
    assert found["saving-under-one-prefix"].parameters["prefixes"] == 7
    assert found["jobs-under-one-prefix"].parameters == {"jobs": 2}


def test_where_a_restore_is_too_slow_from_under_one_prefix_it_says_how_many_would_do() -> None:
    """5,500 GET/s of 128 MiB, 80 % of that, are 9.62 s, and under two prefixes 4.81 s of 8 s."""
    job = ON_LUSTRE | {"instances": 256, "restore_target": 8, "checkpoint_mode": "async"}
    found = plan(job)
    assert found.placements["checkpoints"].option == "fsx-for-lustre"
    hint = said(found)["restoring-under-one-prefix"].parameters
    seconds = 405.85e9 * 14 / (5500 * 128 * MIB) / 0.8
    assert hint["seconds"].value == pytest.approx(seconds) and hint["then"].value == pytest.approx(seconds / 2)
    assert (hint["rate"].value, hint["interval"], hint["prefixes"]) == (5500 * 128 * MIB, 8, 2)
    # An asynchronous save is as good there.
    assert "saving-under-one-prefix" not in said(found)


@pytest.mark.parametrize(
    "more",
    [
        {"interface": "posix"},  # S3 cannot hold the files
        {"checkpoint_mode": "async"},  # saves go to S3
        # 32 ranks have too few parts under way for 3,500 PUT/s.
        {"instances": 4, "checkpoint_bytes": 980e9},
    ],
)
def test_no_prefixes_are_named_where_they_are_not_why_s3_lost(more: dict[str, Any]) -> None:
    found = said(plan(ON_LUSTRE | more))
    assert not found.keys() & {"saving-under-one-prefix", "restoring-under-one-prefix", "jobs-under-one-prefix"}


# ---- saves that only just fit ----------------------------------------------------------------------------------------


def test_a_save_that_outlasts_its_interval_at_its_slow_end_is_said_to() -> None:
    """980 GB from 256 ranks in parts of 38 MiB: 50.4 GB/s, 80 % of it reached, 40 at least: 24.3 s, 48.6 at most."""
    job = SAVES_OFTEN | {"checkpoint_mode": "async", "checkpoints": "rare"}
    part = 38 * MIB
    slowest = 980e9 / (2560 * part / (0.03 + part / 20e6) * 0.4)
    found = plan(job, checkpoint_interval=30)
    assert found.placements["checkpoints"].option == "s3-standard"
    assert slowest == pytest.approx(48.57, abs=0.01)
    reason = said(found)["save-may-exceed-interval"].parameters
    assert reason["seconds"] == pytest.approx(slowest - 30) and reason["interval"] == 30
    [caveat] = [one.parameters for one in found.warnings if one.id == "save-may-outlast-interval"]
    assert caveat["option"] == "s3-standard" and caveat["interval"] == 30
    assert caveat["seconds"].value == pytest.approx(slowest / 2)
    assert caveat["slowest"].value == pytest.approx(slowest)
    assert caveat["beyond"].value == pytest.approx(slowest - 30)
    assert caveat["cost"] == found.saving("s3-standard").total


def test_one_that_fits_at_its_slowest_too_or_stops_the_gpus_anyway_is_not() -> None:
    job = SAVES_OFTEN | {"checkpoints": "rare"}
    for more in ({"checkpoint_mode": "async", "checkpoint_interval": 49}, {"checkpoint_interval": 30}):
        found = plan(job, **more)
        assert "save-may-exceed-interval" not in said(found)
        assert "save-may-outlast-interval" not in [one.id for one in found.warnings]
