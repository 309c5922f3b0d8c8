"""Every Region that AWS sells from, and what a source says of it."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import botocore
import pytest

from gpufeed.facts import load
from gpufeed.facts.messages import text

REGIONS = load().regions
EVERY = ("PERSISTENT_2", "PERSISTENT_1", "SCRATCH_2")


def test_all_commercial_regions_govcloud_and_china_are_there() -> None:
    partitions = Counter(region["partition"].value for region in REGIONS.values())
    assert partitions == {"aws": 36, "aws-us-gov": 2, "aws-cn": 2}


def test_none_is_made_up() -> None:
    """botocore knows each in the same partition; it may learn of more Regions than are here."""
    file = Path(botocore.__file__).parent / "data" / "partitions.json"
    known = {
        region: partition["id"]
        for partition in json.loads(file.read_text(encoding="utf-8"))["partitions"]
        for region in partition["regions"]
    }
    assert {name: region["partition"].value for name, region in REGIONS.items()}.items() <= known.items()


def test_each_bills_in_the_currency_of_its_partition() -> None:
    of_china = {name for name, region in REGIONS.items() if region["currency"].value == "CNY"}
    assert of_china == {"cn-north-1", "cn-northwest-1"}
    assert {region["currency"].value for region in REGIONS.values()} == {"USD", "CNY"}


@pytest.mark.parametrize(
    ("option", "offered", "not_offered"),
    [
        # The guide's table of zones names seven Regions; the GovCloud guide and the table rule four out.
        ("s3-express-one-zone", 7, {"us-gov-east-1", "us-gov-west-1", "cn-north-1", "cn-northwest-1"}),
        ("s3-files", 34, set()),  # "34 AWS Regions" at launch
        ("fsx-for-lustre", 37, set()),
        ("s3-standard", 38, set()),
        ("mountpoint-s3", 38, set()),
    ],
)
def test_what_is_confirmed_what_is_denied_and_what_is_unknown(option: str, offered: int, not_offered: set[str]) -> None:
    said = {name: region.get_value(option) for name, region in REGIONS.items()}
    assert sum(there is True for there in said.values()) == offered
    assert {name for name, there in said.items() if there is False} == not_offered
    assert all(REGIONS[name][option].note for name, there in said.items() if there is None)


def test_the_zones_of_a_region_are_those_that_aws_lists() -> None:
    zones = {name: region["zones"].value for name, region in REGIONS.items() if "zones" in region}
    assert len(zones) == 34 and sum(map(len, zones.values())) == 109
    assert {name for name in REGIONS if name not in zones} == {
        "sa-west-1", "me-west-1", "us-gov-east-1", "us-gov-west-1", "cn-north-1", "cn-northwest-1",
    }  # fmt: skip
    assert zones["ca-central-1"] == ("cac1-az1", "cac1-az2", "cac1-az4")
    each = {zone for listed in zones.values() for zone in listed}
    assert each.issuperset(load().options["s3-express-one-zone"]["zones"].value)


def test_express_is_offered_just_where_its_zones_are() -> None:
    zones = load().options["s3-express-one-zone"]["zones"].value
    starts = {zone.split("-")[0] for zone in zones}
    assert starts == {"use1", "use2", "usw2", "aps1", "apne1", "euw1", "eun1"}
    offered = {name for name, region in REGIONS.items() if region.get_value("s3-express-one-zone")}
    assert offered == {
        "us-east-1", "us-east-2", "us-west-2", "ap-south-1", "ap-northeast-1", "eu-west-1", "eu-north-1",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("region", "types", "configurations", "efa"),
    [
        ("us-east-1", EVERY, None, True),
        ("eu-central-1", EVERY, None, True),
        ("sa-east-1", EVERY, None, None),  # since April 2026, which says nothing of EFA
        ("eu-west-3", ("PERSISTENT_1", "SCRATCH_2"), None, False),
        ("ca-west-1", ("PERSISTENT_2",), ("PERSISTENT_2-SSD-125", "PERSISTENT_2-SSD-250"), False),
        (
            "il-central-1",
            ("PERSISTENT_2", "SCRATCH_2"),
            ("PERSISTENT_2-SSD-125", "PERSISTENT_2-SSD-250", "SCRATCH_2"),
            False,
        ),
        ("us-gov-west-1", None, None, None),  # two copies of its guide disagree
        ("ap-southeast-6", None, None, None),
        ("cn-north-1", ("PERSISTENT_1",), None, False),
    ],
)
def test_which_fsx_for_lustre_a_region_has(
    region: str, types: tuple[str, ...] | None, configurations: tuple[str, ...] | None, efa: bool | None
) -> None:
    here = REGIONS[region]
    said = [here.get_value(name) for name in ("fsx_deployment_types", "fsx_configurations", "fsx_efa")]
    assert said == [types, configurations, efa]


def test_persistent_2_is_confirmed_in_25_regions() -> None:
    types = [region.get_value("fsx_deployment_types") or () for region in REGIONS.values()]
    # 15 of the guide's table in full, 6 of it at 125 and 250 MB/s per TiB, and 4 of April 2026.
    assert sum("PERSISTENT_2" in offered for offered in types) == 15 + 6 + 4
    names = load().fsx
    assert all(name in names for region in REGIONS.values() for name in region.get_value("fsx_configurations") or ())


@pytest.mark.parametrize(
    ("region", "quota", "low"),
    [("eu-west-1", 100_000, 50_000), ("eu-central-1", 20_000, 10_000), ("ca-central-1", 10_000, 5_500)],
)
def test_the_quota_of_kms(region: str, quota: float, low: float) -> None:
    assert REGIONS[region].known("kms_requests")[:3] == (low, quota, quota)


def test_nine_regions_have_more_than_the_least_quota_of_kms() -> None:
    raised = {name for name, region in REGIONS.items() if (own := region.quantity("kms_requests")) and own.value > 1e4}
    assert raised == {
        "us-east-1", "us-west-2", "eu-west-1",
        "us-east-2", "ap-southeast-1", "ap-southeast-2", "ap-northeast-1", "eu-central-1", "eu-west-2",
    }  # fmt: skip


@pytest.mark.parametrize("language", ["en", "zh_CN"])
def test_each_has_a_name_of_its_own(monkeypatch: pytest.MonkeyPatch, language: str) -> None:
    monkeypatch.setenv("GPUFEED_LANGUAGE", language)
    assert len({text(f"region.{region}") for region in REGIONS}) == 40


@pytest.mark.parametrize(
    ("asked", "price"),  # option, item, Region, configuration, amount a month
    [
        (("s3-standard", "storage", "eu-central-1", None, 0), 0.0245),
        (("s3-standard", "storage", "eu-central-1", None, 51_200), 0.0235),
        (("s3-standard", "storage", "eu-central-1", None, 512_000), 0.0225),
        (("s3-standard", "put", "eu-central-1", None, 0), 0.0054),
        (("s3-standard", "get", "eu-central-1", None, 0), 0.00043),
        (("s3-standard", "get", "eu-west-2", None, 0), 0.00042),
        (("s3-standard", "storage", "sa-east-1", None, 51_199), 0.0405),
        (("s3-standard", "storage", "sa-east-1", None, 51_200), None),  # the record has the first 50 TB alone
        (("s3-standard", "get", "sa-east-1", None, 0), 0.00056),  # 0.0056 per 10,000
        (("s3-standard", "list", "ap-southeast-2", None, 0), 0.0055),
        (("s3-standard", "get", "us-west-1", None, 0), None),
        (("s3-standard", "storage", "us-west-2", None, 512_000), 0.021),
        (("s3-standard", "storage", "us-east-2", None, 51_200), 0.022),
        (("s3-standard", "storage", "us-east-2", None, 512_000), None),  # the record ends at 500 TB
        (("s3-standard", "storage", "eu-south-1", None, 0), None),
        (("fsx-for-lustre", "storage", "us-west-1", "SCRATCH_2", 0), 0.154),
        (("fsx-for-lustre", "storage", "eu-central-1", "PERSISTENT_2-SSD-250", 0), 0.269),
        (("fsx-for-lustre", "storage", "ap-south-1", "PERSISTENT_1-SSD-200", 0), 0.29),
        (("fsx-for-lustre", "storage", "ap-northeast-2", "PERSISTENT_2-SSD-1000", 0), 0.673),
        (("fsx-for-lustre", "metadata-iops", "ap-northeast-2", "PERSISTENT_2-SSD-1000", 0), 0.062),
        (("fsx-for-lustre", "storage", "eu-central-1", "PERSISTENT_2-SSD-500", 0), None),
        (("network", "nat", "eu-west-2", None, 0), 0.05),
        (("network", "nat", "ap-northeast-1", None, 0), 0.062),
        (("network", "nat", "eu-central-1", None, 0), None),
        (("encryption", "kms", "eu-west-2", None, 0), 0.003),
        (("encryption", "kms", "ap-southeast-1", None, 0), 0.003),
    ],
)
def test_a_price_holds_for_the_region_it_was_read_for_and_no_other(
    asked: tuple[str, str, str, str | None, float], price: float | None
) -> None:
    found = load().price(*asked)
    assert (None if found is None else found.value) == price


@pytest.mark.parametrize(
    ("instance", "region", "price", "unit", "source"),
    [
        ("g5.12xlarge", "us-west-2", 5.672, "USD/hour", "ec2-price-list-regions"),
        (
            "g6.xlarge",
            "ap-northeast-1",
            1.1672,
            "USD/hour",
            "ec2-price-list-regions",
        ),  # so also in a list of 2026-09-21
        ("p5.48xlarge", "ap-south-1", 66.048, "USD/hour", "ec2-price-list-regions"),
        ("p5.48xlarge", "us-gov-west-1", 66.048, "USD/hour", "ec2-price-list-govcloud"),
        ("g5.12xlarge", "cn-north-1", 53.64092, "CNY/hour", "ec2-price-list-china"),
        ("p5.48xlarge", "us-east-1", 55.04, "USD/hour", "ec2-price-list"),
    ],
)
def test_an_instance_has_the_price_of_the_region_and_its_currency(
    instance: str, region: str, price: float, unit: str, source: str
) -> None:
    found = load().instance_price(instance, region)
    assert found is not None
    assert (found.value, found.unit, found.sources) == (price, unit, frozenset({source}))


def test_the_unit_of_every_instance_price_is_the_currency_of_its_region() -> None:
    facts = load()
    for name, instance in facts.instances.items():
        for region, part in instance.parts.items():
            currency = facts.regions[region].get_value("currency")
            assert part["on_demand_price"].unit == f"{currency}/hour", (name, region)


@pytest.mark.parametrize(
    ("instance", "region", "offered"),
    [
        ("p5.48xlarge", "us-west-2", True),
        ("p5e.48xlarge", "us-west-2", True),  # in the copy of the Price List, without a price
        ("p5.48xlarge", "ap-southeast-4", False),  # no row says so, and none says that it is not
    ],
)
def test_a_type_is_offered_where_a_source_lists_it(instance: str, region: str, *, offered: bool) -> None:
    assert load().offers(region, instance) is offered


def test_bands_of_storage_leave_no_amount_out() -> None:
    for region in REGIONS:
        bands = load().price_bands("s3-standard", "storage", region)
        edges = [(band.band_from, band.band_to) for band in bands]
        assert edges in (
            [],
            [(0, 51_200), (51_200, None)],
            [(0, 51_200), (51_200, 512_000), (512_000, None)],
        ), region
