"""Several equal jobs on one storage, worked by hand."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import pytest
from examples import PHOTOS, SAVES_OFTEN

from gpufeed.facts import load
from gpufeed.facts.place import data_directory
from gpufeed.facts.quantity import Quantity
from gpufeed.model.advise import recommend
from gpufeed.model.checkpoint_plan import checkpoint_plan
from gpufeed.model.cost import SHARED
from gpufeed.model.file_system import sized
from gpufeed.model.recommendation import CostLine, OptionAnswer, Recommendation
from gpufeed.model.workload import Workload
from gpufeed.present.contract import recommendation as as_json

JOB = {**PHOTOS, "prefixes": None, "run_hours": 90, "checkpoint_bytes": 1e12, "checkpoint_interval": 1800}


def plan(**traits: Any) -> Recommendation:
    return recommend(Workload.from_mapping(JOB | traits, load()), load())


def read_rate(answer: OptionAnswer) -> Quantity:
    assert answer.supply.read_bytes_per_s is not None
    return answer.supply.read_bytes_per_s


def test_jobs_share_the_requests_of_a_prefix_and_not_their_own_connections() -> None:
    alone, three = plan().option("s3-standard"), plan(jobs=3).option("s3-standard")
    # 5,500 GET/s of 100 KB for all, a third of them for each: 1,833 of 3,200 GET/s
    assert (alone.supply.limited_by, three.supply.limited_by) == ("request-limit", "request-limit")
    assert read_rate(three).value == pytest.approx(5500 / 3 * 100_000)
    assert alone.fed is not None and alone.fed.value == 1.0
    assert three.fed is not None and three.fed.value == pytest.approx(5500 / 3 / 3200)
    assert three.supply.limits["request-latency"] == alone.supply.limits["request-latency"]
    assert three.supply.limits["network-card"] == alone.supply.limits["network-card"]


def test_what_all_jobs_ask_for_is_said_and_measured_against_the_request_limit() -> None:
    found = plan(jobs=3)
    told = {warning.id: warning.parameters for warning in found.warnings}
    assert told["jobs-at-once"]["rate"].value == pytest.approx(3 * 320e6)
    # 9,600 GET/s are 1.75 times what one prefix gives.
    over = next(r for r in found.option("s3-standard").reasons if r.id == "over-request-limit").parameters
    assert over["requests"].value == pytest.approx(9600)
    assert over["prefixes"] == 2
    document = as_json(found, load(), [], {})["demand"]
    assert (document["jobs"], document["read_requests_per_s"]["value"]) == (3, pytest.approx(3200))
    assert document["all_jobs"]["read_requests_per_s"]["value"] == pytest.approx(9600)
    alone = plan()
    assert "jobs-at-once" not in {warning.id for warning in alone.warnings}
    assert as_json(alone, load(), [], {})["demand"]["all_jobs"] is None


def test_a_file_system_is_sized_for_all_jobs_and_each_pays_its_part() -> None:
    need = sized(Workload.from_mapping(JOB | {"jobs": 3, "stall_tolerance": 0.05}, load()), load()).need
    # The data set once, two checkpoints of each; 1 TB in 5 % of 1,800 s for each of three, at 80 % of what is ordered.
    assert need.holds_bytes == pytest.approx(1e12 + 3 * 2e12)
    assert need.read_bytes_per_s == pytest.approx(3 * 320e6)
    assert need.write_bytes_per_s == pytest.approx(3 * 1e12 / 90 / 0.8)
    assert need.opens_per_s == pytest.approx(9600)
    assert need.clients == 12
    fsx = plan(jobs=3).option("fsx-for-lustre")
    capacity = fsx.supply.configuration["storage_capacity_gib"]
    storage = next(line for line in fsx.cost.lines if line.id == "own-storage")
    assert storage.quantity is not None
    assert storage.quantity.value == pytest.approx(capacity * 90 / 730 / 3)
    # Each saves into its share of the file system in the time that is tolerated.
    assert fsx.stall.save_seconds is not None and fsx.stall.save_seconds.value <= 90


def lines(found: Iterable[CostLine]) -> dict[str, float]:
    return {line.id: line.quantity.value for line in found if line.quantity is not None}


def test_every_line_of_a_bill_says_whether_jobs_share_it() -> None:
    """Each message of a line has its entry, and each entry its message; ``whole-plan`` is no line."""
    catalogue = "\n".join(path.read_text("utf-8") for path in (data_directory() / "messages" / "en").glob("*.po"))
    named = set(re.findall(r'^msgid "cost\.([a-z-]+)"', catalogue, re.MULTILINE))
    assert set(SHARED) == {name for name in named if name != "whole-plan"}


def test_ten_jobs_upload_their_data_set_once() -> None:
    alone, ten = (
        lines(plan(jobs=jobs, objects=10_000_000, data_in_s3=False, encryption="sse-kms").cost.lines)
        for jobs in (1, 10)
    )
    # 10,000,000 objects of 100 KB, a PUT each: 10,000 thousand, a tenth of them for each job, and so the calls to KMS.
    assert (alone["upload-puts"], ten["upload-puts"]) == pytest.approx((10_000, 1_000))
    assert (alone["upload-kms"], ten["upload-kms"]) == pytest.approx((10_000, 1_000))
    assert ten["base-storage"] == pytest.approx(alone["base-storage"] / 10)


def test_each_job_keeps_its_own_checkpoints_wherever_they_are() -> None:
    alone, ten = plan(), plan(jobs=10)
    for option in ("s3-standard", "s3-express-one-zone", "s3-files"):
        mine, shared = (lines(found.saving(option).lines) for found in (alone, ten))
        kept = "checkpoint-own-storage" if option == "s3-files" else "checkpoint-storage"
        # Two of 1 TB for 90 of 730 hours
        assert mine[kept] == shared[kept] == pytest.approx(2e12 / 2**30 * 90 / 730)
        # 180 saves of 32 ranks in parts of 8 MiB, 3,726 of them; elsewhere than on S3 always.  Of the requests/s of
        # one prefix ten jobs have a tenth each, 550 GET/s, so that parts of 48 MiB are needed there, 621 of them:
        # (320 / 550 s − 30 ms) × 90 MB/s = 49.7 MB.
        assert mine["checkpoint-puts"] == pytest.approx(180 * 32 * (3726 + 2) / 1000)
        parts = 621 if option == "s3-standard" else 3726
        assert shared["checkpoint-puts"] == pytest.approx(180 * 32 * (parts + 2) / 1000)


def test_the_panel_shows_a_job_its_part_of_the_file_system_as_the_plan_does() -> None:
    found = recommend(Workload.from_mapping(SAVES_OFTEN | {"data_in_s3": True, "jobs": 4}, load()), load())
    own = found.saving("fsx-for-lustre").own
    shown = checkpoint_plan(found, load()).option("fsx-for-lustre").retention
    assert own is not None and shown is not None and shown.keeping is not None
    # A quarter of the file system at 0.60, and this job's two checkpoints of 980 GB in the bucket at 0.023
    month = own.capacity_gib * 0.600 / 4 + 2 * 980e9 / 2**30 * 0.023
    assert shown.keeping.value == pytest.approx(month)
    billed = next(line for line in found.saving("fsx-for-lustre").lines if line.id == "checkpoint-file-system")
    assert billed.amount is not None
    assert billed.amount.value == pytest.approx(own.capacity_gib * 0.600 / 4 * 240 / 730)


def test_saving_at_the_same_moment_takes_each_job_longer() -> None:
    alone, three = plan().option("s3-standard").stall, plan(jobs=3).option("s3-standard").stall
    # 32 ranks × 10 parts of 8 MiB, each in 30 ms and 8 MiB at 20 MB/s, = 5.97 GB/s: less than a third of
    # 3,500 PUT/s × 8 MiB = 29.4 GB/s,
    # and a whole save reaches 80 % ...
    assert alone.save_seconds is not None and three.save_seconds is not None
    assert alone.save_seconds.value == pytest.approx(1e12 / (32 * 10 * 2**23 / (0.03 + 2**23 / 20e6)) / 0.8)
    # A third of the GET/s is too few for their restores in parts of 8 MiB: (320 / 1,833 s − 30 ms) × 90 MB/s = 13.0 MB.
    part = 13 * 2**20
    assert three.save_seconds.value == pytest.approx(1e12 / (32 * 10 * part / (0.03 + part / 20e6)) / 0.8)
    # Of 1,000 jobs each has 3.5 PUT/s.  Parts of 128 MiB are the largest that are taken to fit into memory: 233 for the
    # 31.25 GB of each of 32 ranks, and two requests around them.
    many = plan(jobs=1000).option("s3-standard").stall.save_seconds
    assert many is not None and many.value == pytest.approx(32 * (233 + 2) / 3.5 / 0.8)


def test_the_rule_counts_all_instances_that_read_from_the_storage() -> None:
    # Up to 16 instances S3 comes first; 5 jobs of 4 are 20.
    rare = {"checkpoint_interval": 100_000}
    assert plan(jobs=4, **rare).rule.option == "s3-standard"
    assert plan(jobs=5, **rare).rule.option == "fsx-for-lustre"
