"""What else would pay on the way to the bucket: a gateway endpoint, the same Region, a bucket key."""

from __future__ import annotations

from typing import Any

import pytest
from examples import PHOTOS

from gpufeed.facts import load
from gpufeed.model.advise import recommend
from gpufeed.model.alternatives import Alternative, alternatives
from gpufeed.model.recommendation import Recommendation
from gpufeed.model.workload import Workload
from gpufeed.present import words

FACTS = load()
GIB = 2**30
#: 32 accelerators × 100 samples/s × 100 kB read 320 MB/s from plain S3: in 100 h 115.2 TB.
IMAGES: dict[str, Any] = {**PHOTOS, "interface": "s3-api"}


def asked(**more: Any) -> tuple[Recommendation, dict[str, Alternative]]:
    plan = recommend(Workload.from_mapping(IMAGES | more, FACTS), FACTS)
    return plan, {one.reason.id: one for one in alternatives(plan, FACTS)}


def total(**more: Any) -> float:
    found = asked(**more)[0].cost.total
    assert found is not None
    return found.value


def test_a_gateway_endpoint_saves_what_the_nat_gateway_charges() -> None:
    plan, found = asked(network_path="nat")
    through_nat = next(line.amount for line in plan.cost.lines if line.id == "transfer")
    # 115.2 TB through a directory bucket's way at USD 0.045 per GiB
    assert through_nat is not None and through_nat.value == pytest.approx(115.2e12 / GIB * 0.045, rel=0.01)
    saves = found["instead-gateway-endpoint"].saves
    assert saves == pytest.approx(total(network_path="nat") - total())
    assert saves is not None and saves >= through_nat.value * 0.99
    assert "instead-gateway-endpoint" not in asked()[1]


def test_a_data_set_that_is_read_across_regions_many_times_is_copied_once_instead() -> None:
    # 115.2 TB cross in the run, and the data set is 1 TB; the price between two Regions is not known here.
    # In large objects its requests cost less than a file system would, and so it is read from where it is.
    large = {"network_path": "other-region", "objects": 10_000, "sample_bytes": 100_000}
    plan, found = asked(**large)
    assert plan.recommended == "s3-standard"
    one = found["instead-same-region"]
    assert one.saves is None
    assert one.reason.parameters["bytes"].value == 1e12
    assert one.reason.parameters["across"].value == pytest.approx(115.2e12)
    # Read no more than once, a copy would move as much.
    assert "instead-same-region" not in asked(**large, run_hours=0.5)[1]


def test_a_bucket_key_saves_nearly_all_requests_to_kms_and_costs_a_put_for_each_object() -> None:
    in_s3 = {"zone": "use1-az1", "instances": 1}  # a zone without directory buckets
    plan, found = asked(**in_s3, encryption="sse-kms")
    assert plan.recommended == "s3-standard"
    # 8 × 100 samples/s × 360,000 s = 288 million GETs, a call each at USD 0.03 for 10,000: 864; with a bucket key one
    # in a hundred: 8.64.  10 million PUTs at USD 0.005 for a thousand: 50.
    kms = next(line.amount for line in plan.cost.lines if line.id == "kms")
    assert kms is not None and kms.value == pytest.approx(864)
    assert found["instead-bucket-key"].saves == pytest.approx(864 - 8.64 - 50)
    assert "instead-bucket-key" not in asked(**in_s3, encryption="sse-kms-bucket-key")[1]


def test_settings_that_pay_one_by_one_are_also_said_together() -> None:
    in_s3 = {"zone": "use1-az1", "instances": 1}  # a zone without directory buckets
    plan, found = asked(**in_s3, encryption="sse-kms", network_path="nat")
    assert plan.recommended == "s3-standard"
    # Beside the 864 - 8.64 - 50 of the bucket key, 8 × 100 samples/s × 100 kB for 100 h no longer pass the NAT gateway.
    through_nat = 28.8e12 / GIB * 0.045
    key, endpoint = found["instead-bucket-key"].saves, found["instead-gateway-endpoint"].saves
    assert key == pytest.approx(864 - 8.64 - 50)
    assert endpoint == pytest.approx(through_nat, rel=1e-3)  # and what is saved of the checkpoints
    both = found["instead-all-ways"]
    assert both.saves == pytest.approx(key + endpoint, rel=1e-3)
    assert both.reason.parameters["settings"] == (
        "network_path = gateway-endpoint",
        "encryption = sse-kms-bucket-key",
    )
    assert "instead-all-ways" not in asked(**in_s3, encryption="sse-kms")[1]


def test_what_is_left_with_both_is_the_bill_of_a_job_that_never_had_them() -> None:
    stated = {"instances": 6, "samples_per_second_per_accelerator": 800, "prefixes": 64, "region": "eu-west-2"}
    plan, found = asked(**stated, encryption="sse-kms", network_path="nat")
    assert plan.cost.total is not None and plan.cost.total.value == pytest.approx(151_224, rel=1e-4)
    both = found["instead-all-ways"]
    # 48 × 800 × 360,000 s = 13.8 billion GETs at USD 0.00042 a thousand, 1,382 listings of 10,000 pages, 1 % of the
    # GETs to KMS at USD 0.03 for 10,000, 10 million PUTs, and 1 TB for 100 of 730 hours.
    gets = 48 * 800 * 360_000
    left = gets * 0.42e-6 + gets / 1000 * 5.3e-6 + gets / 100 * 3e-6 + 10_000_000 * 5.3e-6
    left += 1e12 / GIB * 0.024 * 100 / 730
    assert both.reason.parameters["then"].value == pytest.approx(left, rel=1e-4) == pytest.approx(6_350, rel=1e-3)
    assert both.saves == pytest.approx(plan.cost.total.value - left, rel=1e-4)
    assert words.reason(both.reason) == (
        "These settings together (network_path = gateway-endpoint, encryption = sse-kms-bucket-key), which leave the "
        "job as it is: the run would cost USD 6,350 (USD 6,350–7,180) and not USD 151,000 (USD 151,000–333,000), "
        "USD 145,000 less, with the training reads on Amazon S3 Standard."
    )


def test_more_prefixes_are_named_where_the_requests_of_the_stated_ones_bind_and_cost_a_put_for_each_object() -> None:
    in_s3 = {"zone": "use1-az1", "instances": 4, "samples_per_second_per_accelerator": 500}
    plan, found = asked(**in_s3, prefixes=1)
    assert plan.option("s3-standard").supply.limited_by == "request-limit"
    # 32 × 500 = 16,000 GET/s are more than 2 × 5,500
    one = found["instead-more-prefixes"]
    assert one.reason.parameters["prefixes"] == 3
    assert one.saves == pytest.approx(total(**in_s3, prefixes=1) - total(**in_s3, prefixes=3) - 50)
    # Without a stated number nobody knows that there is but one; three are enough.
    assert "instead-more-prefixes" not in asked(**in_s3, prefixes=None)[1]
    assert "instead-more-prefixes" not in asked(**in_s3, prefixes=3)[1]
    # What is copied for a bucket key is copied to its new prefix at once.
    both = asked(**in_s3, prefixes=1, encryption="sse-kms")[1]["instead-all-ways"]
    then = total(**in_s3, prefixes=3, encryption="sse-kms-bucket-key")
    assert both.saves == pytest.approx(total(**in_s3, prefixes=1, encryption="sse-kms") - then - 50)
    # Where the data set is not in S3 yet, nothing is there to be copied.
    not_yet = in_s3 | {"data_in_s3": False}
    fresh = asked(**not_yet, prefixes=1)[1]["instead-more-prefixes"]
    assert fresh.saves == pytest.approx(total(**not_yet, prefixes=1) - total(**not_yet, prefixes=3))


def test_a_setting_that_pays_only_once_another_is_there_is_named_with_it() -> None:
    # 38,400 GET/s against 2 × 5,500 of the prefixes, and 20,000/s of KMS in eu-west-2: what binds next shows once the
    # prefixes are 7.  What KMS charges is little beside GPUs at USD 1,000 an hour.
    stated = {"instances": 6, "samples_per_second_per_accelerator": 800, "region": "eu-west-2", "gpu_hour_price": 1000}
    now = stated | {"prefixes": 2, "encryption": "sse-kms"}
    _, found = asked(**now)
    assert "instead-more-prefixes" in found and "instead-bucket-key" not in found
    both = found["instead-all-ways"]
    assert both.reason.parameters["settings"] == ("encryption = sse-kms-bucket-key", "prefixes = 7")
    puts = 10_000_000 * 0.0053 / 1000
    assert both.saves == pytest.approx(
        total(**now) - total(**stated, prefixes=7, encryption="sse-kms-bucket-key") - puts
    )
    alone = found["instead-more-prefixes"].saves
    assert alone is not None and both.saves is not None and both.saves > alone
