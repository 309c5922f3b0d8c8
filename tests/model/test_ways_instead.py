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
