"""Plans in Regions of which little is known: used where a source confirms it, said where none does, never made up."""

from __future__ import annotations

from typing import Any

import pytest

from gpufeed.facts import load
from gpufeed.facts.errors import InputError
from gpufeed.model.advise import recommend
from gpufeed.model.fsx import Need, cheapest, configurations
from gpufeed.model.profile import PrefixProfile
from gpufeed.model.recommendation import Recommendation
from gpufeed.model.small_files import small_files
from gpufeed.model.workload import Workload
from gpufeed.present import plain, words


def plan(region: str, **traits: Any) -> Recommendation:
    least = {"task": "pretraining", "instances": 8, "instance_type": "p5.48xlarge", "region": region}
    return recommend(Workload.from_mapping(least | traits, load()), load())


def said(found: Recommendation) -> dict[str, Any]:
    return {warning.id: warning.parameters for warning in found.warnings}


def reasons(found: Recommendation, option: str) -> list[str]:
    return [reason.id for reason in found.option(option).reasons]


@pytest.mark.parametrize("region", list(load().regions))
def test_every_region_has_a_plan(region: str) -> None:
    found = plan(region)
    assert found.region == region
    # Small text tokens from 8 machines: S3, wherever one is.
    assert found.recommended == "s3-standard"


@pytest.mark.parametrize(("typed", "nearest"), [("eu-centra-1", "eu-central-1"), ("ap-southeast-22", "ap-southeast-2")])
def test_a_misspelt_region_is_refused_with_the_nearest(typed: str, nearest: str) -> None:
    with pytest.raises(InputError) as refused:
        plan(typed)
    assert str(refused.value.parameters["instead"]) == f"Nearest: {nearest}."


def test_what_is_not_known_to_be_offered_works_but_and_is_never_ruled_out() -> None:
    found = plan("eu-central-1")
    assert found.option("s3-express-one-zone").verdict == "works-but"
    assert "region-unknown" in reasons(found, "s3-express-one-zone")
    assert "region-unknown" not in reasons(found, "s3-files")
    assert plan("us-gov-west-1").option("s3-express-one-zone").verdict == "ruled-out"


def test_mountpoint_on_a_bucket_that_may_not_be_there_says_so() -> None:
    files = {"interface": "file-paths", "file_operations": ["rename"]}  # renames need a directory bucket
    assert "backing-region-unknown" in reasons(plan("eu-central-1", **files), "mountpoint-s3")
    assert "backing-region-unknown" not in reasons(plan("eu-west-1", **files), "mountpoint-s3")


def test_a_plan_on_what_no_source_confirms_says_so_before_all_else() -> None:
    found = plan("sa-west-1")
    grave = [warning for warning in found.warnings if warning.grave]
    assert [warning.id for warning in grave] == ["region-unconfirmed"]
    assert grave[0].parameters == {"region": "sa-west-1", "unconfirmed": ("s3-standard",)}
    assert "region-unconfirmed" not in said(plan("eu-central-1"))


def test_prices_without_a_source_are_named_with_the_way_to_them_and_totals_are_none() -> None:
    found = plan("eu-central-1")
    # S3 Standard and PERSISTENT_2 at 250 MB/s per TiB have prices there; Express and S3 Files have none.
    assert said(found)["region-priced-elsewhere"] == {
        "region": "eu-central-1",
        "options": ("s3-express-one-zone", "s3-files"),
    }
    assert found.option("s3-express-one-zone").cost.total is None
    assert found.cost.total is None  # GPUs that wait have no price
    assert {"region-not-priced", "region-priced-elsewhere"}.isdisjoint(said(plan("us-east-1")))
    # What cannot be used is not missed: GovCloud has no Express.
    assert "s3-express-one-zone" not in said(plan("us-gov-west-1"))["region-priced-elsewhere"]["options"]
    # China bills in another currency: no price of another Region tells.
    in_china = said(plan("cn-north-1"))["region-not-priced"]
    assert in_china["options"] == ("s3-standard", "fsx-for-lustre", "s3-files", "mountpoint-s3")


def test_an_own_rate_completes_the_cost_where_storage_has_prices() -> None:
    found = plan("eu-central-1", gpu_hour_price=60, dataset_bytes=10 * 2**40, run_hours=730)
    # 10 TiB for the 730 hours of a month: 10,240 GiB-months at 0.0245.
    base = found.cost.lines[0]
    assert base.amount is not None and base.amount.value == pytest.approx(250.88)
    assert found.cost.total is not None
    assert {"gpu-not-priced", "gpu-priced-elsewhere"}.isdisjoint(said(found))
    # A price of one's own says nothing of whether the Region has the instances.
    assert "instance-not-confirmed" in said(found)


def test_storage_beyond_the_band_that_has_a_price_is_not_priced() -> None:
    within = plan("eu-west-1", dataset_bytes=10 * 2**40, run_hours=730).option("s3-standard").cost
    assert within.storage is not None and within.storage.value == pytest.approx(10_240 * 0.023)
    beyond = plan("eu-west-1", dataset_bytes=60 * 2**40, run_hours=730).option("s3-standard").cost
    amounts = [None if line.amount is None else line.amount.value for line in beyond.lines if line.part == "base"]
    # 60 TiB are 61,440 GiB: 51,200 at 0.023, and 10,240 above them.
    assert amounts == [pytest.approx(1177.6), None]
    assert beyond.storage is None


def test_an_instance_type_of_which_no_source_says_that_it_is_offered_is_named_once() -> None:
    found = plan("ap-southeast-4")
    assert [w.parameters for w in found.warnings if w.id == "instance-not-confirmed"] == [
        {"region": "ap-southeast-4", "instance": "p5.48xlarge"}
    ]
    assert "instance-not-confirmed" not in said(plan("us-east-1"))


def test_an_instance_type_that_is_offered_at_an_unknown_price_is_said_to_be_unpriced_and_no_more() -> None:
    china = said(plan("cn-north-1", instance_type="p5e.48xlarge"))  # a Capacity Block has its price in USD
    assert china["gpu-not-priced"] == {"region": "cn-north-1"}
    assert "instance-not-confirmed" not in said(plan("us-west-2", instance_type="p5e.48xlarge"))


@pytest.mark.parametrize(
    ("instance", "each"), [("trn2.48xlarge", 35.7608), ("p5e.48xlarge", 47.76), ("p6e-gb200.36xlarge", 42.328)]
)
def test_gpus_that_no_region_sells_on_demand_wait_at_the_price_of_a_capacity_block(instance: str, each: float) -> None:
    hungry = {"samples_per_second_per_accelerator": 1e6, "interface": "s3-api", "dataset_bytes": 1e12, "objects": 1000}
    found = plan("us-east-2", instance_type=instance, preset="image-classification", **hungry)
    # 8 instances, an hour.
    assert found.gpu_hour_price is not None and found.gpu_hour_price.value == pytest.approx(8 * each)
    assert found.gpu_hour_price.sources == frozenset({"ec2-capacity-blocks"})
    told = said(found)["gpu-priced-by-capacity-block"]
    assert (told["price"].value, told["as_of"]) == (each, "2026-08-01")
    assert {"gpu-not-priced", "gpu-priced-elsewhere", "own-gpu-price"}.isdisjoint(said(found))
    [idle] = [line for line in found.cost.lines if line.id == "idle-gpu"]
    assert idle.by_capacity_block and idle.amount is not None and idle.quantity is not None
    assert idle.amount.value == pytest.approx(idle.quantity.value * 8 * each) and idle.amount.value > 0.0
    assert not any(line.by_capacity_block for line in found.cost.lines if line.part != "idle-gpu")
    assert words.cost_line(idle) == "idle GPUs, at the price of a Capacity Block"
    printed = "\n".join(plain.recommendation(found))
    assert "idle GPUs, at the price of a Capacity Block" in printed and "asked on 2026-08-01" in printed


def test_a_price_on_demand_or_of_ones_own_comes_before_that_of_a_capacity_block() -> None:
    # p5.48xlarge is sold on demand, also where it has no price in the Region; trn2 at the price that was stated.
    for traits in (
        {"region": "us-east-1"},
        {"region": "eu-west-3"},
        {"instance_type": "trn2.48xlarge", "gpu_hour_price": 30},
    ):
        found = plan(**{"region": "us-east-1"} | traits)
        assert "gpu-priced-by-capacity-block" not in said(found)
        assert not any(line.by_capacity_block for line in found.cost.lines)


def test_an_instance_type_with_a_price_elsewhere_compares_by_it_and_bills_nothing() -> None:
    found = plan("eu-west-3", run_hours=730)
    price = said(found)["gpu-priced-elsewhere"]["price"]
    # 8 instances: 55.04 is the least of the on-demand prices here, 66.048 the median, 75.9552 the most.
    assert tuple(price[:3]) == pytest.approx((8 * 55.04, 8 * 66.048, 8 * 75.9552))
    assert found.gpu_hour_price is None
    assert found.least_saving == pytest.approx(730 * 8 * 66.048 * load().model.known("least_saving").value)


@pytest.mark.parametrize(
    ("region", "each"), [("us-west-2", 55.04), ("us-east-2", 55.04), ("ap-northeast-1", 68.8), ("ap-south-1", 66.048)]
)
def test_where_the_instance_has_a_price_the_waiting_gpus_have_one(region: str, each: float) -> None:
    found = plan(region)
    # 8 instances, an hour.
    assert found.gpu_hour_price is not None and found.gpu_hour_price.value == pytest.approx(8 * each)
    assert {"gpu-not-priced", "gpu-priced-elsewhere", "instance-not-confirmed"}.isdisjoint(said(found))


# ---- FSx for Lustre --------------------------------------------------------------------------------------------------


def test_where_the_table_has_no_persistent_2_the_older_types_remain() -> None:
    found = plan("eu-west-3", interface="posix")
    assert said(found)["fsx-types-in-region"] == {"region": "eu-west-3", "types": ("PERSISTENT_1", "SCRATCH_2")}
    assert found.option("fsx-for-lustre").supply.configuration["deployment_type"] == "PERSISTENT_1"


def test_where_persistent_2_comes_in_two_rates_alone_no_other_is_sized() -> None:
    found = configurations(Need(1e12, read_bytes_per_s=13e9, efa=True), "ca-west-1", load())
    assert {one.name for one in found.all} == {"PERSISTENT_2-SSD-125", "PERSISTENT_2-SSD-250"}
    # 13 GB/s is above what EFA is recommended for, and none can be ordered there.
    assert not any(one.efa for one in found.all)
    assert {reason.id for one in found.lacking for reason in one.lacks} == {"fsx-region-without-efa"}
    assert found.types_confirmed
    names = ("PERSISTENT_2-SSD-125", "PERSISTENT_2-SSD-250")
    caveat = said(plan("ca-west-1"))["fsx-configurations-in-region"]
    assert caveat == {"region": "ca-west-1", "configurations": names}
    assert "fsx-types-in-region" not in said(plan("ca-west-1"))


def test_efa_that_no_source_confirms_is_planned_with_and_said() -> None:
    need = Need(1e12, read_bytes_per_s=13e9, efa=True)
    brazil = cheapest(need, "sa-east-1", load())
    assert brazil is not None and brazil.efa
    images = {"preset": "image-classification", "interface": "posix", "instances": 64, "dataset_bytes": 5e12}
    assert plan("sa-east-1", **images).placements["training_reads"].configuration["efa"] is True
    assert "fsx-efa-not-confirmed" in said(plan("sa-east-1", **images))
    assert "fsx-efa-not-confirmed" not in said(plan("eu-central-1", **images))


def test_a_file_system_whose_type_no_source_confirms_is_said() -> None:
    images = {"preset": "image-classification", "interface": "posix", "instances": 64, "dataset_bytes": 5e12}
    found = plan("us-gov-west-1", **images)
    assert found.placements["training_reads"].option == "fsx-for-lustre"
    assert said(found)["fsx-types-not-confirmed"] == {"region": "us-gov-west-1"}
    assert "fsx-types-not-confirmed" not in said(plan("eu-central-1", **images))


# ---- prefixes --------------------------------------------------------------------------------------------------------


def test_a_scan_does_not_call_an_unconfirmed_option_fine() -> None:
    profile = PrefixProfile()
    keys = [f"images/{number}.jpg" for number in range(1000)]
    profile.add_many(keys, [30_000] * 1000, ["STANDARD"] * 1000)
    found = {
        region: {one.option: one.reason for one in answer.per_option}
        for region in ("eu-central-1", "eu-west-1")
        if (answer := small_files(profile, load(), concurrency=64, region=region)) is not None
    }
    assert found["eu-central-1"]["s3-express-one-zone"] == "region-unknown"
    assert found["eu-west-1"]["s3-express-one-zone"] == "too-few-to-matter"


def test_a_region_where_nothing_is_priced_says_first_that_no_cost_is_compared() -> None:
    found = plan("cn-northwest-1", interface="posix")
    told = next(warning for warning in found.warnings if warning.id == "nothing-priced")
    assert told.grave and told.parameters == {"region": "cn-northwest-1"}
    assert all(warning.grave for warning in found.warnings[: found.warnings.index(told)])
    # Priced by other Regions, or in part, is something to compare.
    assert not any("nothing-priced" in said(plan(region)) for region in ("us-east-1", "eu-central-1", "me-south-1"))
