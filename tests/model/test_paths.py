"""The way to the bucket, its keys and its zone, worked by hand from the facts."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gpufeed.facts import load
from gpufeed.facts.errors import InputError
from gpufeed.facts.quantity import Quantity
from gpufeed.model import zones
from gpufeed.model.advise import recommend
from gpufeed.model.fsx import GIB
from gpufeed.model.paths import kms_requests
from gpufeed.model.recommendation import Recommendation
from gpufeed.model.supply import Load, supply
from gpufeed.model.workload import Workload

CASES = Path(__file__).parents[1] / "cases"
PHOTOS = Load(
    nodes=64,
    request_bytes=Quantity.exact(100_000.0, "bytes"),
    object_bytes=Quantity.exact(100_000.0, "bytes"),
    in_flight=100_000,
    writers=64,
    prefixes=100,
    s3_network=None,
    file_network=None,
    efa_network=None,
)


def workload(**traits: Any) -> Workload:
    # One object per sample: 64 × 8 accelerators × 20 samples/s = 10,240 GET/s of 100 KB, 1.024 GB/s
    photos = {
        "task": "pretraining",
        "instances": 64,
        "instance_type": "p5.48xlarge",
        "preset": "image-classification",
        "samples_per_second_per_accelerator": 20,
        "dataset_bytes": 1e11,
        "objects": 1_000_000,
        "run_hours": 100,
        "region": "us-east-1",
    }
    return Workload.from_mapping(photos | traits, load())


def plan(**traits: Any) -> Recommendation:
    return recommend(workload(**traits), load())


def reasons(found: Recommendation, option: str) -> set[str]:
    return {reason.id for reason in found.option(option).reasons}


def warnings(found: Recommendation) -> set[str]:
    return {warning.id for warning in found.warnings}


def test_one_nat_gateway_is_a_ceiling_for_all_instances_together() -> None:
    limits = plan(network_path="nat").option("s3-standard").supply.limits
    # 5 Gbit/s, growing to 100
    assert (limits["nat-bandwidth"].low, limits["nat-bandwidth"].value) == (0.625e9, 12.5e9)
    assert "nat-bandwidth" in plan(network_path="nat").option("mountpoint-s3").supply.limits
    # A file system is reached inside the VPC.
    assert "nat-bandwidth" not in plan(network_path="nat").option("fsx-for-lustre").supply.limits


def test_a_gateway_endpoint_has_no_ceiling_and_no_price() -> None:
    stated, silent = plan(network_path="gateway-endpoint"), plan()
    assert stated.option("s3-standard").supply.limits == silent.option("s3-standard").supply.limits
    assert stated.option("s3-standard").cost == silent.option("s3-standard").cost
    assert warnings(stated) == warnings(silent)


def test_what_passes_a_nat_gateway_is_charged_per_gib() -> None:
    found = plan(network_path="nat")
    transfer = found.option("s3-standard").cost.transfer
    assert transfer is not None
    # 100 h × 1.024 GB/s at 0.045 per GiB
    assert transfer.value == pytest.approx(360_000 * 1.024e9 / GIB * 0.045)
    filled_inside_aws = found.option("fsx-for-lustre").cost.transfer
    assert filled_inside_aws is not None and filled_inside_aws.value == 0.0
    assert "nat" in warnings(found)


def test_a_nat_price_without_a_source_is_not_priced() -> None:
    found = plan(network_path="nat", region="eu-central-1").option("s3-standard").cost
    assert found.transfer is None and found.total is None and "transfer" in found.not_priced


@pytest.mark.parametrize(
    ("region", "encryption", "low", "allowed"),
    [
        ("us-east-1", "sse-kms", 50_000, 100_000),
        ("us-east-2", "sse-kms", 10_000, 20_000),
        ("eu-north-1", "sse-kms", 5_500, 10_000),
        ("eu-north-1", "sse-kms-bucket-key", 5_500 / 0.03, 10_000 / 0.01),
    ],
)
def test_kms_allows_as_many_requests_as_its_quota_in_the_region(
    region: str, encryption: str, low: float, allowed: float
) -> None:
    found = kms_requests(workload(encryption=encryption), region, load())
    assert found is not None
    assert (found.low, found.value) == (pytest.approx(low), pytest.approx(allowed))


def test_without_kms_nothing_is_asked_of_it() -> None:
    assert kms_requests(workload(encryption="sse-s3"), "us-east-1", load()) is None
    cost = plan(encryption="sse-s3").option("s3-standard").cost.kms
    assert cost is not None and cost.value == 0.0


def test_kms_binds_where_there_are_prefixes_enough() -> None:
    asked = Quantity.exact(10_000.0, "requests/s")
    given = supply("s3-standard", replace(PHOTOS, kms_requests=asked), load())
    # 100 prefixes give 550,000 GET/s, KMS 10,000 × 100 KB = 1 GB/s
    assert given.limited_by == "kms-requests"
    assert given.read_bytes_per_s is not None and given.read_bytes_per_s.value == pytest.approx(1e9)
    # A directory bucket always uses a bucket key.
    assert "kms-requests" not in supply("s3-express-one-zone", replace(PHOTOS, kms_requests=asked), load()).limits


def test_each_part_of_a_checkpoint_asks_kms() -> None:
    asked = Quantity.exact(1_000.0, "requests/s")
    given = supply("s3-standard", replace(PHOTOS, writers=8000, kms_requests=asked), load())
    assert given.write_bytes_per_s is not None and given.write_bytes_per_s.value == pytest.approx(1000 * 8 * 2**20)


def test_each_get_is_a_request_to_kms_in_the_bill() -> None:
    every, bucket_key = plan(encryption="sse-kms"), plan(encryption="sse-kms-bucket-key")
    cost, less = every.option("s3-standard").cost.kms, bucket_key.option("s3-standard").cost.kms
    # 100 h × 10,240 GET/s at 0.03 per 10,000
    assert cost is not None and cost.value == pytest.approx(360_000 * 10_240 * 0.03 / 10_000)
    assert less is not None and less.value == pytest.approx(cost.value / 100)
    filled_once = every.option("fsx-for-lustre").cost.kms
    assert filled_once is not None and filled_once.value == pytest.approx(1_000_000 * 0.03 / 10_000)
    assert "kms-per-request" in warnings(every) and "kms-per-request" not in warnings(bucket_key)


def test_the_verdict_carries_that_the_bucket_is_in_another_region() -> None:
    found = plan(network_path="other-region", instances=8)
    s3 = found.option("s3-standard")
    assert s3.verdict != "works" and "other-region" in reasons(found, "s3-standard")
    assert s3.cost.transfer is None and "transfer" in s3.cost.not_priced
    assert "other-region" not in reasons(found, "fsx-for-lustre")
    assert "path-other-region" in warnings(found)


def test_s3_files_is_ruled_out_for_a_bucket_of_another_region() -> None:
    # Its bucket has to be in its own Region; FSx links there, but is not told what changes.
    job = {"interface": "file-paths", "data_in_s3": True, "instances": 8}
    near, far = plan(**job), plan(**job, network_path="other-region")
    assert near.option("s3-files").verdict != "ruled-out"
    files = far.option("s3-files")
    assert files.verdict == "ruled-out" and "bucket-in-other-region" in reasons(far, "s3-files")
    assert "s3-files" not in {place.option for place in far.placements.values()}
    assert "fsx-other-region" in reasons(far, "fsx-for-lustre")
    assert far.option("fsx-for-lustre").verdict != "ruled-out"
    assert "fsx-other-region" not in reasons(near, "fsx-for-lustre")
    # To run an import task is a setting: the file system feeds better beyond doubt than a mount of that bucket.
    hungry = job | {"dataset_bytes": 1e12, "samples_per_second_per_accelerator": 1000}
    assert plan(**hungry, network_path="other-region").recommended == "fsx-for-lustre"


#: 70 billion parameters: 200 saves of 980 GB.
ACROSS = {
    "preset": "llm-text",
    "samples_per_second_per_accelerator": None,
    "model_parameters": 70e9,
    "dataset_bytes": 5e12,
    "objects": 50_000,
    "run_hours": 200,
    "checkpoint_interval": 3600,
}


def test_a_bucket_of_another_region_that_costs_less_read_in_place_is_said_to_if_it_feeds_the_gpus() -> None:
    found = plan(**ACROSS, network_path="other-region")
    assert found.recommended == "fsx-for-lustre"
    said = next(r for r in found.option("s3-standard").reasons if r.id == "cheaper-in-place").parameters
    # The run reads less than the data set once: as much crosses either way, and its price does not decide.
    assert said["option"] == "fsx-for-lustre" and said["across"].value == pytest.approx(said["best_across"].value)
    assert said["across"].value == pytest.approx(1.156e12, rel=1e-3) and said["cost"].value < said["best"].value
    known = sum(line.amount.value for line in found.option("s3-standard").cost.lines if line.amount is not None)
    assert said["cost"].value == pytest.approx(known)
    # How it feeds from there has no source: no answer by itself.  In ten epochs ten times as much crosses.
    assert "other-region" in reasons(found, "s3-standard") and found.option("s3-standard").verdict == "works-but"
    again = plan(**ACROSS | {"dataset_bytes": 1e11, "objects": 1000, "epochs": 10}, network_path="other-region")
    assert again.recommended == "fsx-for-lustre" and "cheaper-in-place" not in reasons(again, "s3-standard")
    assert "cheaper-in-place" not in reasons(plan(**ACROSS), "s3-standard")


def test_saves_that_cross_regions_are_named_with_their_bytes_and_what_a_gib_costs() -> None:
    found = plan(**ACROSS, network_path="other-region")
    told = next(warning for warning in found.warnings if warning.id == "saves-other-region")
    assert told.parameters["option"] == found.placements["checkpoints"].option
    assert told.parameters["across"].value == pytest.approx(200 * 70e9 * 14) and told.parameters["price"] is None
    assert not {"saves-other-region", "path-other-region"} & warnings(plan(**ACROSS))
    # Without a size of the checkpoint the bytes are not known, and said not to be.
    unknown = plan(network_path="other-region")
    told = next(warning for warning in unknown.warnings if warning.id == "saves-other-region")
    assert unknown.demand.checkpoint_bytes is None and told.parameters["across"] is None


def test_that_rates_are_upper_bounds_is_said_first_where_the_bucket_is_read_in_place() -> None:
    for instances, option, grave in ((8, "s3-standard", True), (64, "fsx-for-lustre", False)):
        found = plan(**ACROSS | {"instances": instances}, network_path="other-region")
        told = next(warning for warning in found.warnings if warning.id == "path-other-region")
        assert (found.recommended, told.grave) == (option, grave)


def test_an_unknown_way_is_said() -> None:
    assert "path-unknown" in warnings(plan(network_path="unknown"))


def test_workers_that_ask_for_more_than_a_prefix_gives() -> None:  # case 052
    case = json.loads((CASES / "052" / "input.json").read_text())
    expected = json.loads((CASES / "052" / "expected.json").read_text())
    found = plan(
        instances=case["workers"] // 8,
        samples_per_second_per_accelerator=case["GET_per_s_each"],
        prefixes=case["prefixes"],
    )
    over = next(reason for reason in found.option("s3-standard").reasons if reason.id == "over-request-limit")
    assert over.parameters["requests"].value == expected["demand_GET_per_s"]
    assert over.parameters["allowed"].value == case["limit_GET_per_s_per_prefix"]
    assert round(over.parameters["factor"], 2) == expected["over_limit_factor"]
    assert over.parameters["prefixes"] == 2
    assert "over-request-limit" not in reasons(plan(prefixes=2), "s3-standard")


def test_large_objects_over_the_limit_are_read_in_larger_ranges() -> None:
    found = plan(dataset_bytes=1e15, objects=1_000_000, sample_bytes=1e9)
    assert "parts-over-request-limit" in reasons(found, "s3-standard")


def test_all_workers_begin_at_once() -> None:
    # 1 GET/s on each of 8 accelerators, but 8 × 100 workers begin together: 800 / (30 ms + 100 KB / 90 MB/s)
    few = {"instances": 1, "samples_per_second_per_accelerator": 1, "interface": "s3-api"}
    found = plan(**few, workers_per_accelerator=100)
    assert found.recommended == "s3-standard"
    burst = next(warning for warning in found.warnings if warning.id == "start-burst").parameters
    assert burst["requests"].value == pytest.approx(800 / (0.03 + 100_000 / 90e6))
    assert burst["allowed"].value == 5500
    assert "start-burst" not in warnings(plan(**few, workers_per_accelerator=10))


@pytest.mark.parametrize(
    ("instances", "efa", "said"),
    [(128, True, set()), (129, True, {"efa-connections"}), (1250, None, {"fsx-efa-in-parts"})],
)
def test_a_file_system_takes_1024_efa_connections(instances: int, efa: bool | None, said: set[str]) -> None:
    # 8 interfaces on each p5.48xlarge: 128 × 8 = 1,024; with one on each of 1,250 they are too many for one file system
    found = plan(instances=instances, dataset_bytes=1e14, interface="posix")  # 100 MB per sample: 2 GB/s each
    assert found.option("fsx-for-lustre").supply.configuration.get("efa") is efa
    of_efa = {"efa-connections", "fsx-efa-in-parts"}
    assert reasons(found, "fsx-for-lustre") & of_efa == said
    assert found.recommended == "fsx-for-lustre" and warnings(found) & of_efa == said


@pytest.mark.parametrize(
    ("zone", "against"), [("use1-az4", False), ("use1-az1", True), ("use1-dfw2-az1", True), (None, False)]
)
def test_express_is_looked_for_in_the_zone_of_the_instances(zone: str | None, against: bool) -> None:
    assert ("express-not-in-zone" in reasons(plan(zone=zone), "s3-express-one-zone")) is against
    # What Mountpoint renames and appends to lies on a directory bucket as well, and only that.
    mounted = plan(zone=zone, file_operations=["rename"], interface="file-paths")
    assert ("express-not-in-zone" in reasons(mounted, "mountpoint-s3")) is against
    assert "express-not-in-zone" not in reasons(plan(zone=zone), "mountpoint-s3")


@pytest.mark.parametrize(
    ("zone", "region", "begin"),
    [
        ("usw2-az1", "us-east-1", "use1"),  # of another Region
        ("usw2-az1", None, "use1"),  # the Region that is taken where none is stated
        ("us-east-1a", "us-east-1", "use1"),  # a name: another place in each account
        ("use1-az", "us-east-1", "use1"),
        ("use1-az1", "us-gov-west-1", "usgw1"),
        ("nonsense", "ap-northeast-1", "apne1"),
        ("use1-az1x", "us-east-1", "use1"),
        ("use1-az0", "us-east-1", "use1"),
        ("use1-az01", "us-east-1", "use1"),
        ("usgw1-az100", "us-gov-west-1", "usgw1"),
        ("use1-dfw2-az0", "us-east-1", "use1"),
    ],
)
def test_what_cannot_be_a_zone_id_of_the_region_is_refused(zone: str, region: str | None, begin: str) -> None:
    with pytest.raises(InputError) as refused:
        plan(zone=zone, region=region)
    assert refused.value.message_id == "workload.not-a-zone"
    assert f"zone = {zone} is not a zone ID of {region or 'us-east-1'}: those begin with {begin}-" in str(refused.value)


LISTED = "AWS lists for us-east-1: use1-az1, use1-az2, use1-az3, use1-az4, use1-az5, use1-az6 (read 2026-12-01)."


@pytest.mark.parametrize(
    ("language", "sentence"),
    [
        (
            "en",
            "zone = use1-az99 is none of the zones that " + LISTED + " aws ec2 describe-availability-zones shows yours "
            "as its ZoneId; where it is newer than that list, leave zone out.",
        ),
        (
            "zh_CN",
            (
                "zone = use1-az99 不在 AWS 为 us-east-1 列出的可用区之中：use1-az1, use1-az2, use1-az3, use1-az4, "
                "use1-az5, use1-az6（读取于 2026-12-01）。用 aws ec2 describe-availability-zones 查询您的 ZoneId；"
                "若它比该列表更新，请不要填写 zone。"
            ),
        ),
    ],
)
def test_a_zone_that_aws_does_not_list_is_refused_with_those_that_it_does(
    language: str, sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GPUFEED_LANGUAGE", language)
    with pytest.raises(InputError) as refused:
        plan(zone="use1-az99", region="us-east-1")
    assert refused.value.message_id == "workload.no-such-zone"
    assert str(refused.value) == sentence


@pytest.mark.parametrize(
    ("zone", "region", "accepted"),
    [
        ("cac1-az4", "ca-central-1", True),
        ("cac1-az3", "ca-central-1", False),  # the list leaves it out
        ("use1-dfw2-az1", "us-east-1", True),  # a Local Zone, of which there is no list
        ("usgw1-az9", "us-gov-west-1", True),  # the list is of commercial Regions
        ("cnn1-az4", "cn-north-1", True),
    ],
)
def test_a_zone_is_held_against_the_list_of_its_region_where_there_is_one(
    zone: str, region: str, accepted: bool
) -> None:
    if accepted:
        assert plan(zone=zone, region=region).workload.zone == zone
        return
    with pytest.raises(InputError, match=f"zone = {zone} is none of the zones"):
        plan(zone=zone, region=region)


def test_the_zone_ids_of_a_region_begin_as_those_that_are_published() -> None:
    begun = {zones.prefix(region) for region in load().regions}
    assert len(begun) == len(load().regions)
    assert {zone.split("-")[0] for zone in load().options["s3-express-one-zone"].get_value("zones")} <= begun


def test_a_file_system_belongs_in_the_zone_of_the_instances() -> None:
    found = plan(zone="use1-az1", interface="posix")
    assert found.recommended == "fsx-for-lustre"
    told = next(warning for warning in found.warnings if warning.id == "fsx-zone").parameters
    assert told["zone"] == "use1-az1" and told["price"].value == 0.01
    assert "fsx-zone" not in warnings(plan(interface="posix"))
