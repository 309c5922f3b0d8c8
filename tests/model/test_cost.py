"""Money, worked by hand from the price rows."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gpufeed.facts import load
from gpufeed.facts.quantity import Quantity
from gpufeed.model.cost import Run, banded, cost, requests_price
from gpufeed.model.fsx import GIB, Need, cheapest
from gpufeed.model.small_files import listing_cost

TWO_GB = Run(
    region="us-east-1",
    currency="USD",
    hours=730.0,
    dataset_bytes=Quantity.exact(2e9, "bytes"),
    objects=40.0,
    object_bytes=Quantity.exact(50e6, "bytes"),
    read_bytes=Quantity.exact(2e9, "bytes"),
    requests=Quantity.exact(240.0, "requests"),
    gpu_hour_price=Quantity.exact(10.0),
)
FED = Quantity.exact(1.0)


def test_fifty_thousand_gets_cost_two_cents() -> None:  # case 054
    price = requests_price("s3-standard", "get", Quantity.exact(50_000.0), "us-east-1", load())
    assert price is not None and price.value == pytest.approx(0.02)


def test_ten_epochs_over_a_hundred_thousand_objects() -> None:  # case 054
    gets = requests_price("s3-standard", "get", Quantity.exact(1_000_000.0), "us-east-1", load())
    lists = listing_cost(1000, "us-east-1", load())  # 1,000 keys per LIST
    assert gets is not None and gets.value == pytest.approx(0.40)
    assert lists is not None and lists.value == pytest.approx(0.005)


def test_two_gigabytes_a_month_in_s3_and_in_fsx() -> None:  # case 056
    s3 = cost("s3-standard", TWO_GB, FED, load(), None)
    file_system = cost("fsx-for-lustre", TWO_GB, FED, load(), cheapest(Need(2e9), "us-east-1", load()))
    assert s3.storage_per_month is not None and file_system.storage_per_month is not None
    assert s3.storage_per_month.value == pytest.approx(2e9 / GIB * 0.023)
    assert s3.storage_per_month.value == pytest.approx(0.043, abs=0.0005)
    assert file_system.storage_per_month.value == pytest.approx(174.0 + 2e9 / GIB * 0.023)


def test_graduated_storage_goes_through_its_bands() -> None:
    run = replace(TWO_GB, dataset_bytes=Quantity.exact(600_000.0 * GIB, "bytes"))
    price = banded("s3-standard", "storage", run.dataset_bytes / GIB, run, load())
    # first 51,200 GiB at 0.023, up to 512,000 at 0.022, the rest at 0.021
    assert price is not None
    assert price.value == pytest.approx(51_200 * 0.023 + 460_800 * 0.022 + 88_000 * 0.021)


def test_idle_gpus_cost_the_hours_a_starved_run_lasts_longer() -> None:
    found = cost("s3-standard", TWO_GB, Quantity(0.5, 0.8, 1.0), load(), None)
    # 730 h × (1/0.8 − 1) × 10 USD, from 0 to 730 × (1/0.5 − 1) × 10
    assert found.idle_gpu is not None
    assert found.idle_gpu[:3] == (0.0, pytest.approx(1825.0), pytest.approx(7300.0))


def test_gpus_that_never_idle_cost_nothing_also_where_their_price_is_not_known() -> None:
    unpriced = replace(TWO_GB, gpu_hour_price=None)
    fed, starved = (cost("s3-standard", unpriced, f, load(), None) for f in (FED, Quantity(0.5, 1.0, 1.0)))
    assert fed.idle_gpu is not None and fed.idle_gpu.high == 0.0
    assert starved.idle_gpu is None and "idle-gpu" in starved.not_priced


def test_express_charges_storage_upload_and_every_byte_read() -> None:
    found = cost("s3-express-one-zone", TWO_GB, FED, load(), None)
    gib = 2e9 / GIB
    reading = 240 * 0.00003 / 1000 + gib * 0.0006 + 40 * 0.00113 / 1000 + gib * 0.0032 + 40 * 0.0004 / 1000
    assert found.requests is not None and found.requests.value == pytest.approx(reading)
    assert found.beyond_base is not None and found.beyond_base.value == pytest.approx(gib * 0.11 + reading)


def test_s3_files_bills_small_reads_and_small_files_at_its_minimum() -> None:
    tiny = replace(
        TWO_GB,
        dataset_bytes=Quantity.exact(4096e6, "bytes"),
        objects=1e6,
        object_bytes=Quantity.exact(4096.0, "bytes"),
        read_bytes=Quantity.exact(8192e6, "bytes"),
        requests=Quantity.exact(2e6, "requests"),
    )
    found = cost("s3-files", tiny, FED, load(), None)
    # Reads and imports count as 32 KiB each, files as 10 KiB.
    brought, read = 1e6 * 32 * 1024 / GIB * 0.06, 2e6 * 32 * 1024 / GIB * 0.03
    assert found.requests is not None and found.requests.value == pytest.approx(brought + read)
    assert found.beyond_base is not None
    assert found.beyond_base.value == pytest.approx(1e6 * 10 * 1024 / GIB * 0.3 + brought + read)


def test_a_read_that_s3_files_streams_costs_a_get_and_a_metadata_read() -> None:
    found = cost("s3-files", TWO_GB, FED, load(), None)  # objects of 50 MB: nothing lies on its own storage
    expected = 240 * 0.0004 / 1000 + 240 * 4096 / GIB * 0.03
    assert found.beyond_base is not None and found.beyond_base.value == pytest.approx(expected)


def test_a_price_without_a_source_is_none_and_named_and_so_is_the_total() -> None:
    china = replace(TWO_GB, region="cn-north-1", currency="CNY")
    found = cost("s3-standard", china, FED, load(), None)
    assert found.storage_per_month is None and found.total is None and found.beyond_base is None
    assert found.not_priced == ("base-storage", "requests")
