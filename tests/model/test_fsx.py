"""Sizing FSx for Lustre in the steps AWS accepts, at the price AWS asks."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from examples import configured_at
from hypothesis import given
from hypothesis import strategies as st

from gpufeed.facts import Facts, load
from gpufeed.model.fsx import (
    GIB,
    Configuration,
    Need,
    Order,
    allowed_capacity,
    automatic_metadata_iops,
    cheapest,
    configurations,
    configured,
)
from gpufeed.model.recommendation import Reason

CASE = Path(__file__).parents[1] / "cases/046"


def test_case_046_capacities_that_aws_accepts() -> None:
    asked, expected = (
        json.loads((CASE / name).read_text(encoding="utf-8")) for name in ("input.json", "expected.json")
    )
    data, *requests = zip(asked, expected, strict=True)
    need = data[0]["dataset_bytes"] / GIB
    assert round(need, 1) == data[1]["need_GiB"]
    for name in ("PERSISTENT_2-SSD-125", "PERSISTENT_2-SSD-1000"):
        assert allowed_capacity(load().fsx[name], need) == data[1]["provision_GiB"]
    assert len(requests) == 3
    for request, answer in requests:
        gib = request["requested_GiB"]
        next_allowed = allowed_capacity(load().fsx[request["deployment"]], gib)
        assert (next_allowed == gib) is answer["valid"]
        assert next_allowed == answer.get("next", gib)


@pytest.mark.parametrize(
    ("name", "asked", "accepted"),
    [
        ("PERSISTENT_1-SSD-100", 3600, 4800),  # 1,200, 2,400, then multiples of 2,400
        ("PERSISTENT_2-SSD-125", 1201, 2400),
        ("SCRATCH_1", 1201, 2400),  # 1,200, 2,400, then multiples of 3,600
        ("SCRATCH_1", 2401, 3600),
        ("SCRATCH_1", 3601, 7200),
        ("PERSISTENT_1-HDD-12", 6001, 12_000),
        ("PERSISTENT_1-HDD-40", 1801, 3600),
    ],
)
def test_the_next_capacity_that_aws_accepts(name: str, asked: float, accepted: float) -> None:
    assert allowed_capacity(load().fsx[name], asked) == accepted


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
    found = configured_at("PERSISTENT_2-SSD-1000", 12_000, Need(2e9, opens_per_s=40_000))
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


def note(one: Configuration, id_: str) -> Reason:
    (found,) = (reason for reason in one.notes if reason.id == id_)
    return found


# ---- side by side ----------------------------------------------------------------------------------------------------


def test_every_type_that_would_do_stands_beside_the_others_cheapest_first_and_unpriced_apart() -> None:
    found = configurations(Need(3.1e12, read_bytes_per_s=1e9), "us-east-1", load())
    # 3.1 TB are 2,887 GiB.  1 GB/s asks for 8,000 GiB at 125 MB/s per TiB, 4,000 at 250, 2,000 at 500, 1,000 at 1,000.
    assert [(one.name, one.capacity_gib, one.size_set_by, round(one.per_month.value)) for one in found.priced] == [
        ("PERSISTENT_2-SSD-125", 9600, "read", 1392),  # × 0.145
        ("PERSISTENT_2-SSD-1000", 4800, "data", 2880),  # × 0.600
    ]
    assert [(one.name, one.capacity_gib) for one in found.unpriced] == [
        # By the median of the prices of other Regions: × 0.24, 0.29, 0.19 and 0.14
        ("PERSISTENT_2-SSD-250", 4800),  # USD 1,152
        ("PERSISTENT_1-SSD-200", 7200),  # 5,000: USD 2,088
        ("PERSISTENT_1-SSD-100", 12_000),  # 10,000: USD 2,280
        ("PERSISTENT_1-SSD-50", 21_600),  # 20,000: USD 3,024
        # Without a price in any Region
        ("PERSISTENT_2-SSD-500", 4800),
        ("PERSISTENT_1-HDD-40", 25_200),  # 25,000 in steps of 1,800
        ("PERSISTENT_1-HDD-12", 84_000),  # 83,333 in steps of 6,000
    ]
    assert found.lacking == ()
    assert found.types_confirmed


def test_a_type_that_is_out_says_why() -> None:
    out = {
        one.name: [reason.id for reason in one.reasons]
        for one in configurations(Need(1e12, random_reads=True), "us-east-1", load()).ruled_out
    }
    assert out == {
        "SCRATCH_1": ["fsx-no-s3-link", "fsx-not-replicated-reads"],
        "SCRATCH_2": ["fsx-not-replicated-reads"],
        "PERSISTENT_1-HDD-12": ["fsx-disks-for-random-reads"],
        "PERSISTENT_1-HDD-40": ["fsx-disks-for-random-reads"],
        "INTELLIGENT_TIERING": ["fsx-no-s3-link"],
    }


def test_of_checkpoints_is_spoken_only_where_they_lie_on_it() -> None:
    def against_scratch(need: Need) -> list[str]:
        out = {one.name: one.reasons for one in configurations(need, "us-east-1", load()).ruled_out}
        return [reason.id for reason in out["SCRATCH_2"]]

    assert against_scratch(Need(1e12, write_bytes_per_s=1e9)) == ["fsx-not-replicated"]
    assert against_scratch(Need(1e12, unknown=frozenset({"write"}))) == ["fsx-not-replicated"]
    assert against_scratch(Need(1e12)) == ["fsx-not-replicated-reads"]


@pytest.mark.parametrize(
    ("clients", "efa", "notes"),
    [
        (128, True, {}),  # 128 × 8 = 1,024 connections
        (129, True, {"efa-connections": {"clients": 129, "connections": 1032, "most": 1024, "interfaces": 7}}),
        (1024, True, {"efa-connections": {"clients": 1024, "connections": 8192, "most": 1024, "interfaces": 1}}),
        (1025, False, {"fsx-efa-in-parts": {"clients": 1025, "most": 1024, "file_systems": 2}}),
        (2049, False, {"fsx-efa-in-parts": {"clients": 2049, "most": 1024, "file_systems": 3}}),
    ],
)
def test_a_file_system_takes_1024_efa_connections_and_each_client_opens_one_at_least(
    clients: int, efa: bool, notes: dict[str, object]
) -> None:
    # At 100 MB/s each 1,025 clients read 102.5 GB/s, far above the 10 GB/s from which AWS recommends EFA.
    need = Need(1e12, read_bytes_per_s=clients * 1e8, clients=clients, efa=True, efa_interfaces=8)
    found = configurations(need, "us-east-1", load())
    assert {one.efa for one in (*found.priced, *found.unpriced)} == {efa}
    told = {note.id: note.parameters for note in found.all[0].notes if "efa" in note.id}
    assert told == notes
    assert all("efa" not in reason.id for one in found.lacking for reason in one.lacks) is not efa


def test_few_bytes_for_many_clients_need_no_efa_and_say_nothing_of_it() -> None:
    need = Need(1e12, read_bytes_per_s=1e9, clients=1250, efa=True, efa_interfaces=8)
    found = cheapest(need, "us-east-1", load())
    assert found is not None and not found.efa
    assert [note.id for note in found.notes if "efa" in note.id] == []


def test_in_china_persistent_1_remains_on_ssd_and_hdd_and_none_is_priced() -> None:
    found = configurations(Need(1e12), "cn-northwest-1", load())
    assert {one.name for one in found.all} == {
        "PERSISTENT_1-SSD-50", "PERSISTENT_1-SSD-100", "PERSISTENT_1-SSD-200",
        "PERSISTENT_1-HDD-12", "PERSISTENT_1-HDD-40",
    }  # fmt: skip
    assert found.priced == () and found.types_confirmed
    # Of equal capacity: the lowest throughput first, which AWS does not charge more for.
    assert [one.name for one in found.unpriced[:3]] == [
        "PERSISTENT_1-SSD-50", "PERSISTENT_1-SSD-100", "PERSISTENT_1-SSD-200",
    ]  # fmt: skip
    assert "fsx-not-in-region" in [r.id for one in found.ruled_out for r in one.reasons if one.name == "SCRATCH_2"]


def test_disks_are_offered_for_reads_that_stream() -> None:
    names = {one.name for one in configurations(Need(1e12), "us-east-1", load()).all}
    assert "PERSISTENT_1-HDD-40" in names


def test_the_cheapest_counts_the_metadata_iops_that_have_to_be_ordered() -> None:
    # 46,000 GiB of data, 48,000 opens/s = 24,000 IOPS: 45,600 GiB is too small, 48,000 GiB brings 24,000 along.
    found = cheapest(Need(46_000.0 * GIB, opens_per_s=48_000), "us-east-1", load())
    assert found is not None
    assert (found.name, found.capacity_gib, found.size_set_by) == ("PERSISTENT_2-SSD-125", 48_000, "data")
    # 45,000 GiB fit into 45,600, which bring 12,000; the other 12,000 cost 660 USD, the 2,400 GiB with them 348 USD.
    found = cheapest(Need(45_000.0 * GIB, opens_per_s=48_000), "us-east-1", load())
    assert found is not None
    assert (found.capacity_gib, found.size_set_by, found.settings["metadata_iops"]) == (48_000, "metadata", 24_000)
    assert found.per_month is not None and found.per_month.value == pytest.approx(48_000 * 0.145)
    # At 4,800 GiB the 6,000 more cost 330 USD, 12,000 GiB instead 1,044 USD: the IOPS are ordered.
    found = cheapest(Need(4000.0 * GIB, opens_per_s=24_000), "us-east-1", load())
    assert found is not None and found.storage_per_month is not None and found.metadata_per_month is not None
    assert (found.capacity_gib, found.settings["metadata_iops"]) == (4800, 12_000)
    assert (found.storage_per_month.value, found.metadata_per_month.value) == (pytest.approx(696), pytest.approx(330))


def test_ordered_metadata_iops_without_a_price_leave_the_whole_unpriced() -> None:
    # us-west-2 has a price for 250 MB/s per TiB, none for metadata IOPS.
    assert configured_at("PERSISTENT_2-SSD-250", 1200, Need(0), "us-west-2").per_month is not None
    assert configured_at("PERSISTENT_2-SSD-250", 1200, Need(0, opens_per_s=9000), "us-west-2").per_month is None


def test_more_opens_than_any_type_reaches_are_said_and_the_nearest_comes_first() -> None:
    need = Need(1e12, opens_per_s=500_000)  # 192,000 IOPS open 384,000 files/s
    found = configurations(need, "us-east-1", load())
    assert (found.priced, found.unpriced) == ((), ())
    assert {reason.id for one in found.lacking for reason in one.lacks} == {"fsx-opens-not-reached"}
    assert cheapest(need, "us-east-1", load()) == found.all[0]
    assert found.all[0].settings["metadata_iops"] == 192_000


def test_a_type_whose_metadata_iops_cannot_be_ordered_is_enlarged_until_it_opens_enough() -> None:
    # 96,000 opens/s are 48,000 IOPS, which come with 96,000 GiB = 40 steps of 2,400; 1.92 GB/s need 9,600 at 200.
    need = Need(2e12, read_bytes_per_s=1.92e9, opens_per_s=96_000, random_reads=True)
    found = configurations(need, "cn-northwest-1", load())
    assert found.lacking == ()
    assert [(one.name, one.capacity_gib, one.size_set_by, one.opens_per_s.value) for one in found.unpriced] == [
        ("PERSISTENT_1-SSD-50", 96_000, "metadata", 96_000),
        ("PERSISTENT_1-SSD-100", 96_000, "metadata", 96_000),
        ("PERSISTENT_1-SSD-200", 96_000, "metadata", 96_000),
    ]
    told = {one.name: note(one, "fsx-sized-by-assumed-opens").parameters["gib"] for one in found.unpriced}
    # 1.92 GB/s alone: 38,400 GiB at 50 MB/s per TiB, 19,200 at 100 and 9,600 at 200.
    assert told == {"PERSISTENT_1-SSD-50": 38_400, "PERSISTENT_1-SSD-100": 19_200, "PERSISTENT_1-SSD-200": 9600}


def test_a_larger_file_system_by_its_reads_needs_no_word_on_its_opens() -> None:
    # 100 opens/s are 50 IOPS: the least of all has 1,500.
    found = cheapest(Need(2e12, opens_per_s=100, random_reads=True), "cn-northwest-1", load())
    assert found is not None and found.size_set_by == "data"
    assert "fsx-sized-by-assumed-opens" not in {reason.id for reason in found.notes}


def test_where_no_type_is_priced_the_one_with_the_least_capacity_is_taken() -> None:
    # 130,000 opens/s are 65,000 IOPS: 144,000 GiB for every type.  7.36 GB/s ask for 147,200 GiB at 50 MB/s per TiB.
    found = configurations(Need(2e12, 7.36e9, opens_per_s=130_000, random_reads=True), "cn-northwest-1", load())
    assert [(one.name, one.capacity_gib) for one in found.unpriced] == [
        ("PERSISTENT_1-SSD-100", 144_000), ("PERSISTENT_1-SSD-200", 144_000), ("PERSISTENT_1-SSD-50", 148_800),
    ]  # fmt: skip


def test_where_clients_use_efa_each_type_stands_there_with_it_and_apart_without() -> None:
    found = configurations(Need(1e12, read_bytes_per_s=13e9, efa=True), "us-east-1", load())
    assert [(one.name, one.capacity_gib, one.efa) for one in found.priced] == [
        ("PERSISTENT_2-SSD-1000", 14_400, True),  # 3 × 4,800 × 0.6 = 8,640 USD
        ("PERSISTENT_2-SSD-125", 115_200, True),  # 3 × 38,400 × 0.145 = 16,704 USD
    ]
    assert [(one.name, one.capacity_gib, one.efa) for one in found.lacking[:1]] == [
        ("PERSISTENT_2-SSD-1000", 14_400, False)  # 13,000 in steps of 2,400
    ]
    lacks = {one.name[:12]: [reason.id for reason in one.lacks] for one in found.lacking}
    assert lacks == {"PERSISTENT_2": ["fsx-without-efa"], "PERSISTENT_1": ["fsx-type-without-efa"]}


def test_few_clients_need_more_servers_or_efa() -> None:
    # 2 GB/s for one client, which without EFA gets 0.625 GB/s from each server: four servers, begun above three times
    # 4,800 GiB at 1,000 MB/s per TiB.  Over EFA one server of 4,800 GiB is enough: 2,880 USD.
    need = Need(1e12, read_bytes_per_s=2e9, clients=1, efa=True)
    found = configurations(need, "us-east-1", load())
    rows = {(one.name, one.efa): (one.capacity_gib, one.servers, one.size_set_by) for one in found.priced}
    assert rows["PERSISTENT_2-SSD-1000", False] == (16_800, 4, "clients")
    assert rows["PERSISTENT_2-SSD-1000", True] == (4800, 1, "minimum")
    assert rows["PERSISTENT_2-SSD-125", False] == (117_600, 4, "clients")  # 3 × 38,400 + 2,400
    assert (found.priced[0].name, found.priced[0].efa) == ("PERSISTENT_2-SSD-1000", True)
    # Eight clients fill one server: 2,400 GiB at 1,000 for 1,440 USD.
    many = configurations(replace(need, clients=8), "us-east-1", load())
    assert (many.priced[0].capacity_gib, many.priced[0].efa, many.priced[0].size_set_by) == (2400, False, "read")


# ---- what always holds -----------------------------------------------------------------------------------------------

SIZES = st.floats(0, 2e15)
RATES = st.floats(0, 2e11)
NEEDS = st.builds(
    Need,
    holds_bytes=SIZES,
    read_bytes_per_s=RATES,
    write_bytes_per_s=RATES,
    opens_per_s=st.floats(0, 380_000),
    clients=st.integers(0, 500),
    writing_clients=st.integers(0, 500),
    efa=st.booleans(),
    random_reads=st.booleans(),
)
REGIONS = st.sampled_from(["us-east-1", "us-west-2", "cn-north-1", "eu-west-1"])


def larger(need: Need, more: Need) -> Need:
    """More of everything, for the same clients."""
    return replace(
        need,
        holds_bytes=need.holds_bytes + more.holds_bytes,
        read_bytes_per_s=need.read_bytes_per_s + more.read_bytes_per_s,
        write_bytes_per_s=need.write_bytes_per_s + more.write_bytes_per_s,
        opens_per_s=need.opens_per_s + more.opens_per_s,
    )


@given(NEEDS, REGIONS)
def test_the_cheapest_is_the_first_of_all(need: Need, region: str) -> None:
    found = configurations(need, region, load())
    assert cheapest(need, region, load()) == found.all[0]
    prices = [one.per_month.value for one in found.priced if one.per_month]
    assert prices == sorted(prices)


@given(NEEDS, REGIONS)
def test_what_is_offered_meets_the_need_at_a_capacity_that_aws_accepts(need: Need, region: str) -> None:
    found = configurations(need, region, load())
    for one in (*found.priced, *found.unpriced):
        section = load().fsx[one.name]
        step = section.quantity("efa_capacity_step")
        assert one.capacity_gib >= need.holds_bytes / GIB
        assert one.read_bytes_per_s.value >= need.read_bytes_per_s * (1 - 1e-9)
        assert one.write_bytes_per_s.value >= need.write_bytes_per_s * (1 - 1e-9)
        assert one.opens_per_s.value >= need.opens_per_s
        if one.efa and step is not None:
            assert one.capacity_gib % (step.value / GIB) == 0
        else:
            assert one.capacity_gib == allowed_capacity(section, one.capacity_gib)


@given(NEEDS, NEEDS, REGIONS)
def test_a_larger_need_never_picks_a_smaller_file_system(need: Need, more: Need, region: str) -> None:
    """Type by type never fewer GiB or IOPS, and over all types that are priced for both never a lower price.

    Over all types the GiB alone may fall: a faster type reaches a higher rate with less of them, at a higher price.
    """
    before, after = (
        {(one.name, one.efa): one for one in configurations(n, region, load()).all} for n in (need, larger(need, more))
    )
    assert before.keys() == after.keys()
    for key, one in before.items():
        assert after[key].capacity_gib >= one.capacity_gib
        assert after[key].opens_per_s.value >= min(one.opens_per_s.value, need.opens_per_s)
    # Where metadata IOPS have no price, more capacity may bring those that had to be ordered, and with them a price.
    prices = [
        (one.per_month.value, after[key].per_month.value)
        for key, one in before.items()
        if one.per_month is not None and after[key].per_month is not None
    ]
    if prices:
        assert min(large for _, large in prices) >= min(small for small, _ in prices) * (1 - 1e-9)


@given(NEEDS)
def test_doubling_prices_doubles_cost_and_changes_no_choice(need: Need) -> None:
    facts = load()
    twice = with_prices(facts, 2.0)
    once, doubled = configurations(need, "us-east-1", facts), configurations(need, "us-east-1", twice)
    assert [one.settings for one in once.all] == [one.settings for one in doubled.all]
    for one, other in zip(once.priced, doubled.priced, strict=True):
        assert one.per_month is not None and other.per_month is not None
        assert other.per_month.value == pytest.approx(2 * one.per_month.value)


def with_prices(facts: Facts, factor: float) -> Facts:
    bands = {
        key: tuple(replace(row, quantity=row.quantity and row.quantity * factor) for row in rows)
        for key, rows in facts._bands.items()
    }
    return replace(facts, _bands=bands)


def test_a_smaller_file_system_is_named_where_its_servers_hold_in_memory_what_is_read_again() -> None:
    need = Need(holds_bytes=5e10, read_bytes_per_s=1e10, read_again_bytes=5e10)
    # By disk 10 GB/s are 12,000 GiB of 1,000 MB/s per TiB.  From memory: 46.6 GiB at 27.3 GiB per TiB are 1,706 GiB,
    # and 10 GB/s at 2,600 MB/s per TiB of network 3,847, which AWS sells as 4,800.
    sized = configured_at("PERSISTENT_2-SSD-1000", 12_000, need)
    note = next(note for note in sized.notes if note.id == "fsx-smaller-from-memory")
    assert (sized.size_set_by, note.parameters["gib"]) == ("read", 4800)
    assert sized.network_bytes_per_s is not None and sized.network_bytes_per_s.value == pytest.approx(12 * 2.6e9)
    # Nothing is sized by it, and nothing is said where nothing is read again or memory is too small.
    again, never = (cheapest(n, "us-east-1", load()) for n in (need, replace(need, read_again_bytes=None)))
    assert again is not None and never is not None and again.settings == never.settings
    once = configured_at("PERSISTENT_2-SSD-1000", 12_000, replace(need, read_again_bytes=None))
    large = configured_at("PERSISTENT_2-SSD-1000", 12_000, replace(need, read_again_bytes=4e11))
    assert not {"fsx-smaller-from-memory"} & {note.id for note in (*once.notes, *large.notes)}


def test_in_china_the_network_of_a_file_system_bursts_lower() -> None:
    elsewhere = configured_at("PERSISTENT_1-SSD-200", 2400, Need(0.0)).network_bytes_per_s
    china = configured_at("PERSISTENT_1-SSD-200", 2400, Need(0.0), region="cn-north-1").network_bytes_per_s
    # 750 MB/s per TiB; bursts of 1,300, in China of 530, which is no burst
    assert elsewhere is not None and elsewhere[:3] == pytest.approx((1.8e9, 1.8e9, 3.12e9))
    assert china is not None and china[:3] == pytest.approx((1.8e9, 1.8e9, 1.8e9))


def test_few_clients_that_get_less_than_the_disks_give_are_named() -> None:
    # 7,200 GiB are two file servers: 2 × 4 clients × 5 Gbit/s are 5 GB/s, of 7.2 GB/s from the disks; 8 clients get 10.
    ordered = Order("PERSISTENT_2-SSD-1000", 7200.0, 12_000.0, 0.0, False)
    few, enough = (configured(ordered, "us-east-1", load(), Need(1e12, clients=clients)).notes for clients in (4, 8))
    said = {note.id: note.parameters for note in few}["fsx-few-clients"]
    assert (said["clients"], said["servers"], said["reached"].value) == (4, 2, 5e9)
    assert "fsx-few-clients" not in {note.id for note in enough}
