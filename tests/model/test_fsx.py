"""Sizing FSx for Lustre in the steps AWS accepts, at the price AWS asks."""

from __future__ import annotations

import pytest

from gpufeed.facts import load
from gpufeed.model.fsx import (
    GIB,
    Need,
    allowed_capacity,
    automatic_metadata_iops,
    cheapest,
    configure,
    is_allowed,
)


def test_3_1_terabytes_need_4800_gib() -> None:  # case 046
    need = 3_100_000_000_000 / GIB
    assert need == pytest.approx(2887.1, abs=0.05)
    assert allowed_capacity(load().fsx["PERSISTENT_2-SSD-125"], need) == 4800


@pytest.mark.parametrize(
    ("name", "gib", "allowed"),
    [
        ("SCRATCH_2", 3600, False),
        ("SCRATCH_2", 1200, True),
        ("PERSISTENT_2-SSD-125", 3600, False),
        ("SCRATCH_1", 1200, True),
        ("SCRATCH_1", 2400, True),
        ("SCRATCH_1", 3600, True),
        ("SCRATCH_1", 4800, False),
    ],
)
def test_capacities_that_aws_accepts(name: str, gib: float, allowed: bool) -> None:  # case 046
    assert is_allowed(load().fsx[name], gib) is allowed


def test_the_next_capacity_after_a_refused_one_is_named() -> None:  # case 046
    assert allowed_capacity(load().fsx["SCRATCH_2"], 3600) == 4800


@pytest.mark.parametrize(
    ("gib", "iops"),
    [
        (1200, 1500),
        (2400, 3000),
        (4800, 6000),
        (9600, 6000),
        (12_000, 12_000),
        (45_600, 12_000),
        (48_000, 24_000),
        (50_400, 24_000),  # 12,000 for each whole 24,000 GiB
        (72_000, 36_000),
    ],
)
def test_metadata_iops_that_come_with_a_capacity(gib: float, iops: float) -> None:
    assert automatic_metadata_iops(gib, load()) == iops


def test_the_cheapest_type_that_holds_two_gigabytes_is_1200_gib_of_persistent_2_125() -> None:  # case 056
    found = cheapest(Need(2e9), "us-east-1", load())
    assert found is not None
    assert found.settings["storage_capacity_gib"] == 1200
    assert found.settings["throughput_mb_per_s_per_tib"] == 125
    assert found.per_month is not None and found.per_month.value == pytest.approx(1200 * 0.145)  # 174 USD


def test_throughput_decides_where_capacity_does_not() -> None:
    found = cheapest(Need(2e9, read_bytes_per_s=12e9), "us-east-1", load())
    assert found is not None
    # 12 GB/s: 12,000 GiB at 1,000 MB/s per TiB for 7,200 USD, or 96,000 GiB at 125 for 13,920 USD
    assert (found.capacity_gib, found.per_month and found.per_month.value) == (12_000, pytest.approx(7200.0))
    assert found.read_bytes_per_s.value == pytest.approx(12e9)


def test_metadata_iops_above_the_included_ones_are_ordered_and_paid() -> None:
    found = configure("PERSISTENT_2-SSD-1000", 12_000, "us-east-1", load(), Need(2e9, opens_per_s=40_000))
    # 40,000 opens/s need 20,000 IOPS; the next value is 24,000, of which 12,000 are included.
    assert found.settings["metadata_iops"] == 24_000
    assert found.per_month is not None and found.per_month.value == pytest.approx(7200 + 12_000 * 0.055)


def test_efa_comes_in_steps_of_a_whole_server() -> None:
    found = cheapest(Need(2e9, read_bytes_per_s=13e9, efa=True), "us-east-1", load())
    assert found is not None and found.efa
    assert found.capacity_gib == 14_400  # three times 4.8 TiB


def test_china_has_persistent_1_only_and_no_price() -> None:
    found = cheapest(Need(2e9), "cn-north-1", load())
    assert found is not None
    assert found.settings["deployment_type"] == "PERSISTENT_1"
    assert found.per_month is None


def test_no_type_without_an_s3_link_or_a_second_copy_is_offered() -> None:
    offered = {
        found.name
        for rate in (0.0, 1e9, 1e10, 1e11)
        if (found := cheapest(Need(2e9, read_bytes_per_s=rate), "us-east-1", load())) is not None
    }
    assert not offered & {"SCRATCH_2", "INTELLIGENT_TIERING"}


def test_among_unpriced_types_of_one_capacity_ssd_comes_first() -> None:
    # 36,000 GiB is a multiple of both 2,400 (SSD) and 6,000 (HDD).
    found = cheapest(Need(36_000.0 * GIB), "cn-north-1", load())
    assert found is not None
    assert (found.capacity_gib, found.settings["storage_type"]) == (36_000, "SSD")
