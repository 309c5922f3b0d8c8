"""How many requests a size takes, worked by hand: whole ones, and of a listed prefix class by class."""

from __future__ import annotations

import math
from typing import Any

import pytest

from gpufeed.facts import load
from gpufeed.facts.quantity import Quantity
from gpufeed.model.advise import recommend
from gpufeed.model.demand import demand
from gpufeed.model.profile import PrefixProfile
from gpufeed.model.recommendation import Recommendation
from gpufeed.model.workload import Workload

FACTS = load()
PART = 8 * 2**20
#: Objects of 9 MB: 1.073 parts of 8 MiB, so two requests.
NINE: dict[str, Any] = {
    "task": "full-fine-tuning",
    "instances": 2,
    "instance_type": "p5.48xlarge",
    "preset": "own-samples",
    "sample_bytes": 9e6,
    "samples_per_second_per_accelerator": 100,
    "objects": 1_000_000,
    "dataset_bytes": 9e12,
    "interface": "s3-api",
    "data_in_s3": False,
    "epochs": 3,
    "region": "us-east-1",
}


def plan(profile: PrefixProfile | None = None, **more: Any) -> Recommendation:
    return recommend(Workload.from_mapping(NINE | more, FACTS), FACTS, profile=profile)


def quantity(found: Recommendation, option: str, line: str) -> Quantity:
    [of_it] = [one.quantity for one in found.option(option).cost.lines if one.id == line]
    assert of_it is not None
    return of_it


def prefix(*objects: tuple[int, int]) -> PrefixProfile:
    found = PrefixProfile("d/")
    for size, count in objects:
        found.add_many([f"d/{size}-{number}" for number in range(count)], [size] * count)
    return found


def test_an_object_a_little_larger_than_a_part_takes_two_requests() -> None:
    found = plan()
    # 1,600 samples/s are 3,200 GET/s; three epochs 6,000,000 GETs, a copy 2,000,000.
    asked = found.demand
    assert asked.read_requests_per_s is not None and asked.read_requests_per_s.value == pytest.approx(3200)
    assert asked.request_bytes is not None and asked.request_bytes.value == pytest.approx(4.5e6)
    assert quantity(found, "s3-standard", "gets").value == pytest.approx(6000)
    assert quantity(found, "s3-express-one-zone", "copy-gets").value == pytest.approx(2000)
    # Uploaded, each is two parts, opened and closed.
    assert quantity(found, "s3-standard", "upload-puts").value == pytest.approx(4000)
    assert quantity(found, "s3-express-one-zone", "copy-puts").value == pytest.approx(4000)
    # 17 MB: 2.03 parts, so three.
    larger = plan(sample_bytes=17e6, dataset_bytes=17e12)
    assert quantity(larger, "s3-standard", "gets").value == pytest.approx(9000)


def test_an_object_of_whole_parts_takes_no_request_more() -> None:
    for parts in (1, 2, 3, 7):
        size = float(parts * PART)
        found = plan(sample_bytes=size, dataset_bytes=size * 1e6)
        assert quantity(found, "s3-standard", "gets").value == pytest.approx(3000 * parts)


def test_a_sample_read_at_random_is_read_in_parts_as_well() -> None:
    asked = demand(Workload.from_mapping(NINE | {"reads": "random", "objects": 1000}, FACTS), FACTS)
    assert asked.request_bytes is not None and asked.request_bytes.value == pytest.approx(4.5e6)


def test_a_stated_size_is_that_of_the_parts() -> None:
    # 9 MB in reads of 4 MB: three
    assert quantity(plan(request_bytes=4e6), "s3-standard", "gets").value == pytest.approx(9000)


def test_kms_is_asked_for_each_whole_request_and_for_the_upload() -> None:
    found = plan(encryption="sse-kms")
    # One call a request: 6,000,000 of the reads, 4,000,000 of the upload
    assert quantity(found, "s3-standard", "kms").value == pytest.approx(6000)
    assert quantity(found, "s3-standard", "upload-kms").value == pytest.approx(4000)


def test_mixed_sizes_are_counted_class_by_class() -> None:
    listed = prefix((1000, 10_000), (100_000_000_000, 1))
    large = math.ceil(1e11 / PART)
    assert large == 11_921
    found = plan(listed, objects=None, dataset_bytes=None, sample_bytes=1e6, epochs=1, interface="s3-api")
    gets = quantity(found, "s3-standard", "gets")
    # 10,000 × 1 + 1 × 11,921; by the mean of 10 MB it would be two for each, 20,002.
    assert gets.value * 1000 == pytest.approx(10_000 + large)
    # The class of 100 GB is no wider than 1/128 of its sizes.
    assert 0.99 * gets.value < gets.low < gets.value < gets.high < 1.01 * gets.value
    # 100 GB is uploaded in no more than 10,000 parts: 10 MiB each, 9,537 of them, opened and closed.
    assert math.ceil(1e11 / (10 * 2**20)) == 9_537
    assert quantity(found, "s3-standard", "upload-puts").value * 1000 == pytest.approx(10_000 + 9_537 + 2)


def test_the_range_of_a_class_is_that_of_its_sizes() -> None:
    # One class from 8,323,073 to 8,388,608 bytes and one from there on: at most one part, and always two
    exact = prefix((PART, 10), (9_000_000, 10)).requests(PART, lambda size: math.ceil(size / PART))
    assert exact[:3] == (30, 30, 30)
    # 25,165,824 is three parts; a little more falls into a class that ends above it, all of which is four.
    assert prefix((3 * PART, 5)).requests(PART, lambda size: math.ceil(size / PART))[:3] == (15, 15, 15)


def test_an_empty_object_is_a_request_too() -> None:
    assert prefix((0, 3), (10, 4)).requests(PART, lambda size: math.ceil(size / PART))[:3] == (7, 7, 7)


def test_a_small_file_among_large_ones_is_still_opened() -> None:
    asked = plan(prefix((100_000, 990), (20_000_000, 10)), objects=None, dataset_bytes=None, sample_bytes=1e5)
    request, mean = asked.demand.request_bytes, asked.demand.object_bytes
    # 990 × 1 + 10 × 3 = 1,020 requests for 1,000 objects of 299 MB in all
    assert request is not None and mean is not None
    assert request.value == pytest.approx(299e6 / 1020) and mean.value == pytest.approx(299e6 / 1000)
    assert "metadata-operations" in asked.option("fsx-for-lustre").supply.limits
