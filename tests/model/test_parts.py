"""Under which key prefixes, and in which parts, a checkpoint is saved to S3 and read again.  Worked by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from examples import SAVES_LARGE, SAVES_OFTEN

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


def test_and_towards_those_of_a_directory_bucket_which_are_in_parts_of_8_mib() -> None:
    """27.3 MB are four parts of 8 MiB, the last a short one, and two requests: 24,576 for the bucket's PUT/s."""
    save = plan(MANY_RANKS).saving("s3-express-one-zone").stall.save_seconds
    allowed = load().options["s3-express-one-zone"].known("write_requests_per_bucket").value
    assert save is not None and save.value == pytest.approx(24_576 / allowed / 0.8)


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
