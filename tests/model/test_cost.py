"""Money, worked by hand from the price rows, and AWS's own price examples."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from examples import configured_at

from gpufeed.facts import Facts, load
from gpufeed.facts.quantity import Quantity
from gpufeed.model.cost import Bill, Run, cost, requests_price
from gpufeed.model.fsx import GIB, Need, cheapest
from gpufeed.model.recommendation import Cost, CostLine
from gpufeed.model.rules import SYSTEMS
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
    gets_once=Quantity.exact(40.0 * 6, "requests"),  # 50 MB / 8 MiB = 5.96, so 6 parts each
    puts_once=Quantity.exact(40.0 * (6 + 2), "requests"),  # and what opens and closes each upload
)
FED = Quantity.exact(1.0)
FILLING = 240  # GETs that read its 40 objects in parts


def line(found: Cost, name: str) -> CostLine:
    [it] = [line for line in found.lines if line.id == name]
    return it


def amounts(found: Cost) -> dict[str, float]:
    """The middle of each line; lines of one name (graduated bands) added up."""
    summed: dict[str, float] = {}
    for it in found.lines:
        assert it.amount is not None, it.id
        summed[it.id] = summed.get(it.id, 0.0) + it.amount.value
    return summed


# ---- AWS's examples and the cases ------------------------------------------------------------------------------------


def case(name: str) -> tuple[list[dict[str, float]], list[dict[str, float]]]:
    folder = Path(__file__).parents[1] / "cases" / name
    asked, expected = (json.loads((folder / file).read_text()) for file in ("input.json", "expected.json"))
    return asked, expected


def test_fifty_thousand_gets_cost_two_cents() -> None:  # case 054
    price = requests_price("s3-standard", "get", Quantity.exact(50_000.0), "us-east-1", load())
    assert price is not None and price.value == pytest.approx(0.02, rel=1e-12)


def test_ten_epochs_over_a_hundred_thousand_objects() -> None:
    asked, expected = case("054")
    epochs, objects = asked[0]["epochs"], asked[0]["objects"]
    run = replace(
        TWO_GB,
        objects=float(objects),
        object_bytes=Quantity.exact(2e9 / objects, "bytes"),
        read_bytes=Quantity.exact(2e9 * epochs, "bytes"),
        requests=Quantity.exact(float(epochs * objects), "requests"),
    )
    found = cost("s3-standard", run, FED, load(), None)
    gets, lists = line(found, "gets"), line(found, "lists")
    # 10 × 100,000 = 1,000,000 GET × 0.0004 / 1,000 = 0.40; 10 × 100,000 / 1,000 keys = 1,000 LIST × 0.005 / 1,000
    assert gets.quantity is not None and gets.quantity.value * 1000 == pytest.approx(expected[0]["GET_calls"])
    assert lists.quantity is not None and lists.quantity.value * 1000 == pytest.approx(expected[0]["LIST_calls"])
    assert gets.amount is not None and gets.amount.value == pytest.approx(expected[0]["GET_cost"], rel=1e-12)
    assert lists.amount is not None and lists.amount.value == pytest.approx(expected[0]["LIST_cost"], rel=1e-12)
    assert found.requests is not None and found.requests.value == pytest.approx(expected[0]["total"], rel=1e-12)


def test_listing_costs_what_its_requests_cost() -> None:
    lists = listing_cost(1000, "us-east-1", load())
    assert lists is not None and lists.value == pytest.approx(0.005)


def test_two_gigabytes_a_month_in_s3_and_in_fsx() -> None:  # case 056
    folder = Path(__file__).parents[1] / "cases" / "056"
    expected = json.loads((folder / "expected.json").read_text())
    s3 = cost("s3-standard", TWO_GB, FED, load(), None)
    file_system = cost("fsx-for-lustre", TWO_GB, FED, load(), cheapest(Need(2e9), "us-east-1", load()))
    # 2e9 / 2^30 GiB × 0.023 = 0.0428; 1,200 GiB, the least there is, × 0.145 = 174
    assert s3.storage_per_month is not None
    assert s3.storage_per_month.value == pytest.approx(2e9 / GIB * 0.023, rel=1e-12)
    assert round(s3.storage_per_month.value, 3) == expected["S3_per_month_at_0.023"]
    assert amounts(file_system)["own-storage"] == pytest.approx(expected["FSx_per_month_at_0.145"], rel=1e-12)
    assert file_system.storage_per_month is not None
    assert file_system.storage_per_month.value == pytest.approx(174.0 + 2e9 / GIB * 0.023)


def test_the_first_example_of_the_s3_faqs_for_express_one_zone() -> None:
    """10 GB for a month, 1,000,000 writes and 9,000,000 reads of 10 KB: USD 2.58, rounded line by line as AWS does.

    1.10 storage + 1.13 PUT + 0.27 GET + 0.03 upload + 0.05 retrieval.  References: s3-faqs.
    """
    bill = Bill(TWO_GB, load(), 1.0)
    ten_kb = 10 * 1024
    charged = {
        "storage": 10.0 * GIB,
        "put": 1e6,
        "get": 9e6,
        "upload": 1e6 * ten_kb,
        "retrieval": 9e6 * ten_kb,
    }
    lines = [
        bill.line("any", "requests", "s3-express-one-zone", item, Quantity.exact(used))
        for item, used in charged.items()
    ]
    rounded = [round(it.amount.value, 2) for it in lines if it.amount is not None]
    assert rounded == [1.10, 1.13, 0.27, 0.03, 0.05]
    assert round(sum(rounded), 2) == 2.58


def test_the_second_example_of_the_s3_faqs_for_express_one_zone() -> None:
    """Each day 5,242,880 writes and 10,485,760 reads, for 30 days: 177.73 for PUTs and 9.44 for GETs."""
    bill = Bill(TWO_GB, load(), 1.0)
    for item, each_day, expected in (("put", 5_242_880, 177.73), ("get", 10_485_760, 9.44)):
        it = bill.line("any", "requests", "s3-express-one-zone", item, Quantity.exact(each_day * 30.0))
        assert it.amount is not None and round(it.amount.value, 2) == expected
    stored = bill.line("any", "storage", "s3-express-one-zone", "storage", Quantity.exact(3303.77 * GIB))
    assert stored.amount is not None and round(stored.amount.value, 2) == 363.41


@pytest.mark.parametrize(
    ("capacity_gib", "name", "region", "per_month"),
    [
        # The Price List of us-west-2 (2026-07-14), capacity × price: 4,800 × 0.14, 0.19, 0.29; 14,400 × 0.29
        (4800, "SCRATCH_2", "us-west-2", 672.0),
        (4800, "PERSISTENT_1-SSD-50", "us-west-2", 672.0),
        (4800, "PERSISTENT_1-SSD-100", "us-west-2", 912.0),
        (4800, "PERSISTENT_1-SSD-200", "us-west-2", 1392.0),
        (14_400, "PERSISTENT_1-SSD-200", "us-west-2", 4176.0),
        # With EFA the least capacities there are: 19,200 × 0.21; 4,800 × 0.6; 38,400 × 0.145
        (19_200, "PERSISTENT_2-SSD-250", "us-west-2", 4032.0),
        (4800, "PERSISTENT_2-SSD-1000", "us-east-1", 2880.0),
        (38_400, "PERSISTENT_2-SSD-125", "us-east-1", 5568.0),
    ],
)
def test_a_month_of_an_fsx_file_system(capacity_gib: float, name: str, region: str, per_month: float) -> None:
    run = replace(TWO_GB, region=region)
    found = cost("fsx-for-lustre", run, FED, load(), configured_at(name, capacity_gib, Need(2e9), region))
    it = line(found, "own-storage")
    assert it.quantity is not None and it.quantity.value == pytest.approx(capacity_gib, rel=1e-12)
    assert it.amount is not None and it.amount.value == pytest.approx(per_month, rel=1e-12)


def test_metadata_iops_are_billed_beyond_those_that_come_with_the_capacity() -> None:
    # 4,800 GiB come with 6,000; 24,000 opens/s need 12,000: 6,000 × 0.055 = 330 a month
    configured = configured_at("PERSISTENT_2-SSD-125", 4800, Need(2e9, opens_per_s=24_000))
    it = line(cost("fsx-for-lustre", TWO_GB, FED, load(), configured), "metadata-iops")
    assert it.quantity is not None and it.quantity.value == pytest.approx(6000)
    assert it.amount is not None and it.amount.value == pytest.approx(330.0, rel=1e-12)


def test_included_metadata_iops_make_no_line() -> None:
    configured = configured_at("PERSISTENT_2-SSD-125", 4800, Need(2e9, opens_per_s=12_000))
    found = cost("fsx-for-lustre", TWO_GB, FED, load(), configured)
    assert [it.id for it in found.lines] == ["base-storage", "own-storage", "copy-gets", "idle-gpu"]


# ---- line by line ----------------------------------------------------------------------------------------------------


def test_graduated_storage_is_one_line_for_each_band_it_reaches() -> None:
    run = replace(TWO_GB, dataset_bytes=Quantity.exact(600_000.0 * GIB, "bytes"), hours=365.0)
    bands = [it for it in cost("s3-standard", run, FED, load(), None).lines if it.id == "base-storage"]
    # half a month of: the first 51,200 GiB at 0.023, up to 512,000 at 0.022, the rest at 0.021
    assert [it.quantity and it.quantity.value for it in bands] == [25_600, 230_400, 44_000]
    prices = [it.unit_price and it.unit_price.value for it in bands]
    assert prices == [0.023, 0.022, 0.021]
    assert sum(it.amount.value for it in bands if it.amount) == pytest.approx(588.8 + 5068.8 + 924.0, rel=1e-12)


def test_a_range_that_reaches_a_higher_band_makes_a_line_that_begins_at_nothing() -> None:
    run = replace(TWO_GB, dataset_bytes=Quantity(100.0 * GIB, 1000.0 * GIB, 60_000.0 * GIB, "bytes"))
    first, second = [it for it in cost("s3-standard", run, FED, load(), None).lines if it.id == "base-storage"]
    assert first.quantity is not None and first.quantity[:3] == (100, 1000, 51_200)
    assert second.quantity is not None and second.quantity[:3] == (0, 0, 8800)


def test_idle_gpus_cost_the_hours_a_starved_run_lasts_longer() -> None:
    found = cost("s3-standard", TWO_GB, Quantity(0.5, 0.8, 1.0), load(), None)
    # 730 h × (1/0.8 − 1) × 10 USD, from 0 to 730 × (1/0.5 − 1) × 10
    assert found.idle_gpu is not None
    assert found.idle_gpu[:3] == (0.0, pytest.approx(1825.0), pytest.approx(7300.0))
    assert line(found, "idle-gpu").amount == found.idle_gpu


def test_gpus_that_never_idle_cost_nothing_also_where_their_price_is_not_known() -> None:
    unpriced = replace(TWO_GB, gpu_hour_price=None)
    fed, starved = (cost("s3-standard", unpriced, f, load(), None) for f in (FED, Quantity(0.5, 1.0, 1.0)))
    assert fed.idle_gpu is not None and fed.idle_gpu.high == 0.0
    assert starved.idle_gpu is None and "idle-gpu" in starved.not_priced


def test_express_charges_storage_upload_and_every_byte_read() -> None:
    found = amounts(cost("s3-express-one-zone", TWO_GB, FED, load(), None))
    gib = 2e9 / GIB
    assert found == {
        "base-storage": pytest.approx(gib * 0.023),
        "own-storage": pytest.approx(gib * 0.11),
        "copy-gets": pytest.approx(FILLING * 0.0004 / 1000),
        "copy-puts": pytest.approx(40 * 8 * 0.00113 / 1000),
        "copy-upload": pytest.approx(gib * 0.0032),
        "gets": pytest.approx(240 * 0.00003 / 1000),
        "retrieval": pytest.approx(gib * 0.0006),
        "lists": pytest.approx(0.005 / 1000),
        "idle-gpu": 0.0,
    }


def test_mountpoint_asks_for_a_list_and_a_head_before_it_reads_a_file() -> None:
    """Each of 40 files, read three times: 120 LIST at 0.005 and 120 HEAD at 0.0004 per 1,000.

    From none, where metadata is kept, to 7.2 and 4.5 each, as counted for a file three directories deep.
    """
    thrice = replace(TWO_GB, read_bytes=Quantity.exact(6e9, "bytes"))
    found = cost("mountpoint-s3", thrice, FED, load(), None)
    lists, heads = line(found, "lookup-lists").amount, line(found, "lookup-gets").amount
    assert lists is not None and lists[:3] == pytest.approx((0, 120 * 0.005e-3, 7.2 * 120 * 0.005e-3))
    assert heads is not None and heads[:3] == pytest.approx((0, 120 * 0.0004e-3, 4.5 * 120 * 0.0004e-3))
    over_s3 = cost("s3-standard", thrice, FED, load(), None).requests
    assert found.requests is not None and over_s3 is not None
    assert found.requests.value == pytest.approx(over_s3.value + lists.value + heads.value)


def test_s3_files_bills_small_reads_and_small_files_at_its_minimum() -> None:
    tiny = replace(
        TWO_GB,
        dataset_bytes=Quantity.exact(4096e6, "bytes"),
        objects=1e6,
        object_bytes=Quantity.exact(4096.0, "bytes"),
        read_bytes=Quantity.exact(8192e6, "bytes"),
        requests=Quantity.exact(2e6, "requests"),
        gets_once=Quantity.exact(1e6, "requests"),
    )
    found = amounts(cost("s3-files", tiny, FED, load(), None))
    # Reads and imports count as 32 KiB each, files as 10 KiB; an import is a write, and a GET of the bucket.
    assert found["file-imports"] == pytest.approx(1e6 * 32 * 1024 / GIB * 0.06)
    assert found["file-reads"] == pytest.approx(2e6 * 32 * 1024 / GIB * 0.03)
    assert found["own-storage"] == pytest.approx(1e6 * 10 * 1024 / GIB * 0.3)
    assert found["copy-gets"] == pytest.approx(1e6 * 0.0004 / 1000)


def test_reading_again_from_s3_files_is_charged_again_and_importing_is_not() -> None:
    once = replace(TWO_GB, objects=1e6, object_bytes=Quantity.exact(2000.0, "bytes"), requests=Quantity.exact(1e6))
    twice = replace(once, read_bytes=Quantity.exact(4e9, "bytes"), requests=Quantity.exact(2e6))
    first, second = (amounts(cost("s3-files", run, FED, load(), None)) for run in (once, twice))
    assert second["file-reads"] == pytest.approx(2 * first["file-reads"])
    assert second["file-imports"] == first["file-imports"]


def test_a_read_that_s3_files_streams_costs_a_get_and_a_metadata_read() -> None:
    found = cost("s3-files", TWO_GB, FED, load(), None)  # objects of 50 MB: nothing lies on its own storage
    expected = 240 * 0.0004 / 1000 + 240 * 4096 / GIB * 0.03
    assert found.beyond_base is not None and found.beyond_base.value == pytest.approx(expected)
    assert "own-storage" not in amounts(found)


def test_a_price_without_a_source_is_none_and_named_and_so_is_the_total() -> None:
    china = replace(TWO_GB, region="cn-north-1", currency="CNY")
    found = cost("s3-standard", china, FED, load(), None)
    assert found.storage_per_month is None and found.total is None and found.beyond_base is None
    assert found.not_priced == ("base-storage", "gets", "lists")


def test_a_demand_that_is_not_known_leaves_its_lines_without_amount() -> None:
    found = cost("s3-express-one-zone", replace(TWO_GB, read_bytes=None, requests=None), None, load(), None)
    assert found.not_priced == ("gets", "retrieval", "lists", "idle-gpu")
    assert line(found, "gets").quantity is None and line(found, "gets").unit_price is not None
    assert line(found, "own-storage").amount is not None and found.requests is None


def test_what_passes_a_nat_gateway_is_what_the_instances_read_themselves() -> None:
    behind = replace(TWO_GB, read_bytes=Quantity.exact(6e9, "bytes"), network_path="nat")
    for option in ("s3-standard", "mountpoint-s3", "s3-files", "s3-express-one-zone"):
        passing = line(cost(option, behind, FED, load(), None), "transfer")
        assert passing.quantity is not None and passing.quantity.value == pytest.approx(6e9 / GIB)
    configured = cheapest(Need(2e9), "us-east-1", load())
    assert "transfer" not in amounts(cost("fsx-for-lustre", behind, FED, load(), configured))


def test_a_price_that_is_not_known_on_the_way_leaves_the_total_open() -> None:
    far = cost("s3-standard", replace(TWO_GB, network_path="other-region"), FED, load(), None)
    assert far.not_priced == ("transfer",)
    assert far.total is None and far.requests is not None


def test_each_get_calls_kms_where_there_is_no_bucket_key() -> None:
    called = line(cost("s3-standard", replace(TWO_GB, kms_calls=Quantity.exact(1.0)), FED, load(), None), "kms")
    assert called.quantity is not None and called.quantity.value * 1000 == pytest.approx(240)


# ---- what holds for every bill ---------------------------------------------------------------------------------------


def some_costs(facts: Facts, gpu_hour_price: float) -> Iterator[Cost]:
    for object_bytes, fed in ((4096.0, Quantity(0.2, 0.5, 1.0)), (50e6, FED)):
        run = replace(
            TWO_GB,
            dataset_bytes=Quantity(1e12, 2e14, 1e15, "bytes"),
            objects=2e14 / object_bytes,
            object_bytes=Quantity.exact(object_bytes, "bytes"),
            read_bytes=Quantity(1e14, 5e14, 6e14, "bytes"),
            requests=Quantity(1e7, 5e7, 6e7, "requests"),
            gpu_hour_price=Quantity.exact(gpu_hour_price),
        )
        for option in SYSTEMS:
            configured = cheapest(Need(2e14, opens_per_s=200_000), "us-east-1", facts)
            yield cost(option, run, fed, facts, configured if option == "fsx-for-lustre" else None)


def doubled(facts: Facts) -> Facts:
    bands = {
        key: tuple(
            replace(row, quantity=row.quantity and (row.quantity * 2.0).named(row.quantity.unit)) for row in rows
        )
        for key, rows in facts._bands.items()
    }
    return replace(facts, _bands=bands)


def test_doubling_every_price_doubles_every_line_and_leaves_every_quantity() -> None:
    pairs = list(zip(some_costs(load(), 10.0), some_costs(doubled(load()), 20.0), strict=True))
    assert len(pairs) == 10
    for once, twice in pairs:
        for before, after in zip(once.lines, twice.lines, strict=True):
            assert after.quantity == before.quantity
            assert before.amount is not None and after.amount is not None
            assert after.amount[:3] == pytest.approx([2 * bound for bound in before.amount[:3]], rel=1e-12)
        for name in ("storage", "requests", "idle_gpu", "total", "beyond_base", "storage_per_month"):
            assert getattr(twice, name).value == pytest.approx(2 * getattr(once, name).value, rel=1e-12)


def test_every_line_is_its_quantity_times_its_price_and_every_total_the_sum_of_its_lines() -> None:
    for found in some_costs(load(), 10.0):
        for it in found.lines:
            assert it.quantity is not None and it.unit_price is not None and it.amount is not None
            assert it.amount.value == pytest.approx(it.quantity.value * it.unit_price.value, rel=1e-12)
            assert it.unit_price.sources <= it.amount.sources or it.amount.high == 0
        assert found.total is not None and found.beyond_base is not None and found.storage is not None
        every = [it.amount for it in found.lines if it.amount]
        assert found.total.value == pytest.approx(sum(amount.value for amount in every), rel=1e-12)
        base = sum(it.amount.value for it in found.lines if it.part == "base" and it.amount)
        assert found.beyond_base.value == pytest.approx(found.total.value - base, rel=1e-9)
