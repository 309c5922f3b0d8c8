"""Small-file verdicts, worked by hand."""

from __future__ import annotations

import pytest

from gpufeed.facts import load
from gpufeed.model.advise import recommend
from gpufeed.model.profile import PrefixProfile
from gpufeed.model.small_files import OptionVerdict, SmallFiles, shard_plan, small_files
from gpufeed.model.workload import Workload


def prefix(objects: int, size: int) -> PrefixProfile:
    profile = PrefixProfile()
    for start in range(0, objects, 1000):
        keys = [f"images/{number}.jpg" for number in range(start, min(start + 1000, objects))]
        profile.add_many(keys, [size] * len(keys), ["STANDARD"] * len(keys))
    return profile


def verdict(profile: PrefixProfile, concurrency: float = 16) -> SmallFiles:
    found = small_files(profile, load(), concurrency=concurrency, region="us-east-1")
    assert found is not None
    return found


def test_twenty_thousand_small_images_are_a_problem_on_s3() -> None:
    found = verdict(prefix(20_000, 30_000))
    headline = found.headline
    assert headline.problem and headline.reason == "mostly-waiting"
    assert headline.threshold_bytes.value == pytest.approx(0.03 * 90e6)  # 2.7 MB
    assert (found.share_of_objects, found.share_of_bytes) == (1.0, 1.0)
    # 20,000 × (30 ms + 30,000 / 90 MB/s) / 16 in flight
    assert headline.epoch_seconds is not None
    assert headline.epoch_seconds.value == pytest.approx(20_000 * (0.03 + 30_000 / 90e6) / 16)
    assert headline.request_cost is not None and headline.request_cost.value == pytest.approx(0.008)


def test_reading_through_mountpoint_pays_for_opening_each_file_as_well() -> None:
    """20,000 GETs at 0.0004, and for each file a LIST at 0.005 and a HEAD at 0.0004 per 1,000: 0.008 + 0.1 + 0.008."""
    found = verdict(prefix(20_000, 30_000))
    [cost] = [one.request_cost for one in found.per_option if one.option == "mountpoint-s3"]
    assert cost is not None and cost[:3] == pytest.approx((0.008, 0.116, 0.008 + 7.2 * 0.1 + 4.5 * 0.008))


def test_a_mount_of_a_job_that_renames_is_priced_as_the_directory_bucket_behind_it() -> None:
    """As on S3 Express One Zone, and for each of 20,000 files a LIST and a HEAD there."""
    job = {"task": "pretraining", "instances": 1, "instance_type": "p5.48xlarge", "file_operations": ["rename"]}
    facts = load()
    plan = recommend(Workload.from_mapping(job, facts), facts)
    found = small_files(prefix(20_000, 30_000), facts, concurrency=16, region="us-east-1", plan=plan)
    assert found is not None
    [mount] = [one.request_cost for one in found.per_option if one.option == "mountpoint-s3"]
    [express] = [one.request_cost for one in found.per_option if one.option == "s3-express-one-zone"]
    prices = {item: facts.price("s3-express-one-zone", item, "us-east-1") for item in ("get", "list")}
    assert mount is not None and express is not None and prices["get"] is not None and prices["list"] is not None
    assert mount.value == pytest.approx(express.value + 20 * (prices["get"].value + prices["list"].value))


def test_ten_small_files_are_too_few_to_matter() -> None:
    headline = verdict(prefix(10, 1000)).headline
    assert not headline.problem and headline.reason == "too-few-to-matter"


def test_large_shards_are_no_problem() -> None:
    headline = verdict(prefix(100, 256_000_000)).headline
    assert not headline.problem and headline.reason == "large-enough"
    assert headline.requests == 100 * 31  # ceil(256,000,000 / 8 MiB)


def test_with_a_workload_a_problem_is_gpus_that_are_not_fed_by_requests() -> None:
    profile = prefix(20_000, 30_000)
    traits = {"task": "pretraining", "instances": 1, "instance_type": "p5.48xlarge", "preset": "image-classification"}
    hungry = recommend(Workload.from_mapping(traits, load()), load(), profile=profile)
    found = small_files(profile, load(), concurrency=1, region="us-east-1", plan=hungry)
    assert found is not None
    assert found.headline.problem and found.headline.reason == "requests-bind"
    # 8 GPUs × 8 workers; 64 / 30.33 ms = 2,110 of the 14,286 images/s asked for
    assert found.concurrency == 64
    modest = traits | {"samples_per_second_per_accelerator": 100}
    fed = recommend(Workload.from_mapping(modest, load()), load(), profile=profile)
    again = small_files(profile, load(), concurrency=1, region="us-east-1", plan=fed)
    assert again is not None and not again.headline.problem and again.headline.reason == "fed"


def test_nothing_of_a_known_size_gives_no_verdict() -> None:
    assert small_files(PrefixProfile(), load(), concurrency=16, region="us-east-1") is None


def test_shards_have_the_advised_size_when_there_is_enough_data() -> None:
    plan = shard_plan(prefix(20_000, 3_000_000), load(), readers=64)
    assert plan is not None
    # 60 GB: at most 256 MB each → 235 shards of 255.3 MB
    assert plan.shards == 235
    assert plan.shard_bytes == pytest.approx(60e9 / 235)
    assert plan.requests_after == 235 * 31


def test_every_reader_has_a_shard_where_the_set_is_smaller() -> None:
    plan = shard_plan(prefix(20_000, 30_000), load(), readers=64)
    assert plan is not None and plan.shards == 64  # 600 MB / 64 = 9.375 MB each
    assert plan.shard_bytes == pytest.approx(9_375_000)
    assert plan.requests_after == 128  # each in two parts of 8 MiB


def test_shards_are_never_small_files_themselves() -> None:
    plan = shard_plan(prefix(3_000, 30_000), load(), readers=512)
    # 90 MB for 512 readers would be 176 KB each; small is below 2.7 MB → 34 shards
    assert plan is not None and plan.shards == 34


def test_no_verdict_on_what_a_region_does_not_have() -> None:
    found = small_files(prefix(20_000, 30_000), load(), concurrency=64, region="cn-north-1")
    assert found is not None
    express = next(verdict for verdict in found.per_option if verdict.option == "s3-express-one-zone")
    assert (express.problem, express.reason, express.epoch_seconds) == (False, "not-in-region", None)


def test_s3_files_waits_for_s3_where_files_are_above_its_import_threshold() -> None:
    found = small_files(prefix(200_000, 300_000), load(), concurrency=64, region="us-east-1")
    assert found is not None
    by_option = {verdict.option: verdict for verdict in found.per_option}
    # 300 kB is streamed from S3: as small there as on S3 itself (30 ms × 90 MB/s = 2.7 MB).
    assert by_option["s3-files"].problem and by_option["s3-files"].threshold_bytes.value == pytest.approx(2.7e6)
    # 200,000 GETs, each with a metadata read of 4 KiB at 0.03 USD per GiB
    cost = by_option["s3-files"].request_cost
    assert cost is not None and cost.value == pytest.approx(200 * 0.0004 + 200_000 * 4096 / 2**30 * 0.03)


def with_way(profile: PrefixProfile, **way: str) -> dict[str, OptionVerdict]:
    traits = {"task": "pretraining", "instances": 64, "instance_type": "p5.48xlarge", "preset": "image-classification",
              "region": "us-east-1", "prefixes": 1000, "samples_per_second_per_accelerator": 1000}  # fmt: skip
    plan = recommend(Workload.from_mapping(traits | way, load()), load(), profile=profile)
    found = small_files(profile, load(), concurrency=1, region="us-east-1", plan=plan)
    assert found is not None
    return {verdict.option: verdict for verdict in found.per_option}


def test_a_stated_nat_gateway_bounds_an_epoch_and_is_paid_for() -> None:
    # 200,000 × 3 MB = 600 GB; 4,096 in flight of 63.3 ms each would read 194 GB/s, one gateway passes 12.5 GB/s.
    profile = prefix(200_000, 3_000_000)
    plain, nat = with_way(profile), with_way(profile, network_path="nat")
    assert plain["s3-standard"].limited_by == "request-latency"
    assert nat["s3-standard"].limited_by == "nat-bandwidth"
    assert (nat["s3-standard"].problem, nat["s3-standard"].reason) == (False, "bytes-bind")
    seconds = nat["s3-standard"].epoch_seconds
    assert seconds is not None and seconds.value == pytest.approx(600e9 / 12.5e9)
    cost = nat["s3-standard"].request_cost
    # 200,000 GETs at 0.0004 per 1,000, and 558.8 GiB at 0.045
    assert cost is not None and cost.value == pytest.approx(200 * 0.0004 + 600e9 / 2**30 * 0.045)
    # A file system is filled inside AWS, and read in the VPC.
    assert nat["fsx-for-lustre"].request_cost == plain["fsx-for-lustre"].request_cost


def test_one_kms_call_per_object_has_a_quota_and_a_price_of_its_own() -> None:
    profile = prefix(200_000, 300_000)
    plain, kms = with_way(profile), with_way(profile, encryption="sse-kms")
    # us-east-1 allows 100,000 calls/s; 4,096 reads of 33.3 ms ask for 122,880.
    assert (plain["s3-standard"].limited_by, kms["s3-standard"].limited_by) == ("request-latency", "kms-requests")
    assert kms["s3-standard"].reason == "requests-bind"
    seconds, cost = kms["s3-standard"].epoch_seconds, kms["s3-standard"].request_cost
    assert seconds is not None and seconds.value == pytest.approx(200_000 / 100_000)
    # 200,000 GETs at 0.0004 and as many calls at 0.003 per 1,000
    assert cost is not None and cost.value == pytest.approx(200 * (0.0004 + 0.003))
    # A directory bucket always uses a bucket key.
    assert kms["s3-express-one-zone"] == plain["s3-express-one-zone"]


def test_one_pass_is_counted_by_the_sizes_and_not_by_their_mean() -> None:
    mixed = prefix(10_000, 1000)
    mixed.add_many(["images/large.tar"], [100_000_000_000])
    s3 = next(one for one in verdict(mixed).per_option if one.option == "s3-standard")
    # 10,000 and the 11,921 parts of 8 MiB of the large one; by the mean of 10 MB it would be two for each.
    assert s3.request_cost is not None and s3.request_cost.value == pytest.approx(21_921 * 0.0004 / 1000)
