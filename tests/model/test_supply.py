"""What each option gives, worked by hand from the facts."""

from __future__ import annotations

from dataclasses import replace

import pytest
from examples import configured_at
from hypothesis import given as given_any
from hypothesis import settings
from hypothesis import strategies as st

from gpufeed.facts import load
from gpufeed.facts.quantity import Quantity
from gpufeed.model import fsx
from gpufeed.model.advise import recommend
from gpufeed.model.rules import FSX, SYSTEMS
from gpufeed.model.supply import Load, small_threshold, supply
from gpufeed.model.workload import Workload

GBIT = 1e9 / 8


def exact(value: float) -> Quantity:
    return Quantity.exact(value, "bytes")


SMALL = Load(
    nodes=1,
    request_bytes=exact(100_000),
    object_bytes=exact(100_000),
    in_flight=64,
    writers=64,
    prefixes=1,
    s3_network=Quantity.exact(100 * GBIT, "bytes/s"),
    file_network=Quantity.exact(100 * GBIT, "bytes/s"),
    efa_network=None,
)
LARGE = replace(SMALL, request_bytes=exact(8 * 2**20), object_bytes=exact(256e6))


def test_one_request_to_s3_takes_latency_plus_size_over_rate() -> None:
    given = supply("s3-standard", SMALL, load())
    assert given.request_seconds is not None
    # 30 ms + 100,000 / 90 MB/s, as AWS's client plans at 50 MB/s; at best 9 ms and 107 MB/s
    assert given.request_seconds.value == pytest.approx(0.03 + 100_000 / 90e6)
    assert given.request_seconds.high == pytest.approx(0.03 + 100_000 / 50e6)
    assert given.request_seconds.low == pytest.approx(0.009 + 100_000 / 107e6)


def test_sixty_four_small_reads_at_once_are_bound_by_latency() -> None:
    given = supply("s3-standard", SMALL, load())
    assert given.limited_by == "request-latency"
    assert given.read_bytes_per_s is not None
    assert given.read_bytes_per_s.value == pytest.approx(64 * 100_000 / (0.03 + 100_000 / 90e6))


def test_many_small_reads_at_once_meet_the_request_limit_of_a_prefix() -> None:
    given = supply("s3-standard", replace(SMALL, in_flight=1000), load())
    assert given.limited_by == "request-limit"
    assert given.read_bytes_per_s is not None and given.read_bytes_per_s.value == pytest.approx(5500 * 100_000)


def test_four_prefixes_have_four_times_the_requests() -> None:
    given = supply("s3-standard", replace(SMALL, in_flight=10_000, prefixes=4), load())
    assert given.limits["request-limit"].value == pytest.approx(4 * 5500 * 100_000)


def test_large_parts_fill_what_published_reads_reach_of_a_network_card() -> None:
    given = supply("s3-standard", replace(LARGE, in_flight=1000, processes=8), load())
    assert given.limited_by == "network-card" and "client-processes" not in given.limits
    # 100 Gbit/s are 12.5 GB/s: 86.7 % of them (2,710 of 3,125 MB/s), 91.2 % (2,851) and 92.5 % (1,387 of 1,500)
    reached = given.limits["network-card"]
    assert reached[:3] == pytest.approx((0.867 * 12.5e9, 0.912 * 12.5e9, 0.925 * 12.5e9))
    assert given.read_bytes_per_s is not None and given.read_bytes_per_s.value == pytest.approx(11.4e9)


def test_the_share_of_a_card_is_counted_once_for_a_whole_checkpoint_and_never_for_efa() -> None:
    # What a save or restore reaches of a nominal rate is in checkpoint_rate_share already.
    whole = supply("s3-standard", replace(LARGE, in_flight=1000, whole=True), load())
    assert whole.limits["network-card"].value == pytest.approx(12.5e9)
    by_efa = configured_at("PERSISTENT_2-SSD-1000", 96_000, fsx.Need(0.0, efa=True))
    card = Quantity.exact(400e9, "bytes/s")
    given = supply("fsx-for-lustre", replace(LARGE, efa_network=card), load(), by_efa)
    assert given.limits["network-card"].value == pytest.approx(400e9)


def test_one_process_reaches_a_share_of_the_card_and_several_add_up() -> None:
    one = supply("s3-standard", replace(LARGE, in_flight=1000), load())
    assert one.limited_by == "client-processes" and one.read_bytes_per_s is not None
    # 80 % of 12.5 GB/s, 24 % to 92.5 %; two of them are bound by the card at 91.2 % of it, and at the least by 48 %.
    assert one.read_bytes_per_s[:3] == pytest.approx((0.24 * 12.5e9, 0.80 * 12.5e9, 0.925 * 12.5e9))
    two = supply("s3-standard", replace(LARGE, in_flight=1000, processes=2), load()).read_bytes_per_s
    assert two is not None and two[:3] == pytest.approx((0.48 * 12.5e9, 0.912 * 12.5e9, 0.925 * 12.5e9))


def test_python_threads_of_boto3_move_no_more_however_many_are_in_flight() -> None:
    few, many = (
        supply("s3-standard", replace(LARGE, in_flight=in_flight, client="boto3", processes=4), load()).read_bytes_per_s
        for in_flight in (100, 1000)
    )
    # 4 × 0.34 GB/s (0.21 to 0.82); 100 requests of 8 MiB would bring 6.8 GB/s.
    assert few == many and few is not None and few[:3] == pytest.approx((0.84e9, 1.36e9, 3.28e9))
    assert "client-processes" not in supply("mountpoint-s3", replace(LARGE, client="boto3"), load()).limits


def test_a_plan_counts_a_client_for_each_loader_process() -> None:
    traits = {"task": "pretraining", "instances": 2, "instance_type": "p5.48xlarge", "workers_per_accelerator": 4}
    stated = traits | {"requests_in_flight_per_worker": 16, "client": "boto3"}
    limits = recommend(Workload.from_mapping(stated, load()), load()).option("s3-standard").supply.limits
    # 16 accelerators × 4 workers × 0.34 GB/s
    assert limits["client-processes"].value == pytest.approx(64 * 0.34e9)
    silent = recommend(Workload.from_mapping(traits, load()), load()).option("s3-standard").supply.limits
    assert "client-processes" not in silent


def test_a_card_that_is_not_known_is_not_a_ceiling() -> None:
    given = supply("s3-standard", replace(LARGE, in_flight=1000, s3_network=None), load())
    assert "network-card" not in given.limits


def test_express_has_its_own_latency_and_limit_per_bucket() -> None:
    given = supply("s3-express-one-zone", SMALL, load())
    assert given.limits["request-latency"].value == pytest.approx(64 * 100_000 / (0.004 + 100_000 / 150e6))
    assert given.limits["request-limit"].low == pytest.approx(200_000 * 100_000)
    assert given.limits["request-limit"].high == pytest.approx(2_000_000 * 100_000)


def test_mountpoint_opens_sixteen_small_files_at_once_on_each_node() -> None:
    given = supply("mountpoint-s3", replace(SMALL, nodes=2), load())
    assert given.limited_by == "mount-threads"
    assert given.limits["mount-threads"].value == pytest.approx(32 * 100_000 / (0.03 + 100_000 / 90e6))


def test_the_public_mountpoint_case_lies_inside_the_range() -> None:
    # 1.2 M images of about 110 kB through Mountpoint with 32 workers: 122.9 samples/s (case 024).
    case = replace(SMALL, request_bytes=exact(110_000), object_bytes=exact(110_000), in_flight=32)
    given = supply("mountpoint-s3", case, load())
    assert given.read_bytes_per_s is not None
    assert given.read_bytes_per_s.low <= 122.9 * 110_000 <= given.read_bytes_per_s.high


def test_s3_files_reads_large_parts_from_s3_directly() -> None:
    large, small = supply("s3-files", LARGE, load()), supply("s3-files", SMALL, load())
    assert large.request_seconds is not None and small.request_seconds is not None
    assert large.request_seconds.value == pytest.approx(0.03 + 8 * 2**20 / 90e6)
    assert small.request_seconds.value == pytest.approx(0.001 + 100_000 / 90e6)
    assert large.limits["client-limit"].value == pytest.approx(3 * 2**30)


def test_s3_files_streams_files_above_its_import_threshold_from_s3() -> None:
    photo = replace(SMALL, request_bytes=exact(300_000), object_bytes=exact(300_000))
    given = supply("s3-files", photo, load())
    # Above 128 KiB nothing is brought onto its own storage: S3's 30 ms, and 5,500 GET/s for one prefix.
    assert given.request_seconds is not None
    assert given.request_seconds.value == pytest.approx(0.03 + 300_000 / 90e6)
    assert given.limits["request-limit"].value == pytest.approx(5500 * 300_000)
    at_threshold = replace(photo, request_bytes=exact(131_072), object_bytes=exact(131_072))
    assert "request-limit" not in supply("s3-files", at_threshold, load()).limits


def test_the_parts_of_a_checkpoint_meet_the_put_limit_of_a_prefix() -> None:
    given = supply("s3-standard", replace(SMALL, writers=8000, s3_network=None), load())
    # 8,000 parts × 20 MB/s = 160 GB/s, but 3,500 PUT/s × 8 MiB = 29.4 GB/s
    assert given.write_bytes_per_s is not None
    assert given.write_bytes_per_s.value == pytest.approx(3500 * 8 * 2**20)
    express = supply("s3-express-one-zone", replace(SMALL, writers=9000, s3_network=None), load())
    # 9,000 parts of 4 ms and 8 MiB at 110 MB/s: 941 GB/s, 100,000 PUT/s × 8 MiB = 839 GB/s
    assert express.write_bytes_per_s is not None
    assert express.write_bytes_per_s.value == pytest.approx(100_000 * 8 * 2**20)


def test_one_client_writes_to_fsx_no_faster_than_it_can() -> None:
    large = configured_at("PERSISTENT_2-SSD-1000", 96_000, fsx.Need(0.0))
    given = supply("fsx-for-lustre", replace(LARGE, file_network=None), load(), large)
    # The file system takes 96 GB/s, one client without EFA 100 Gbit/s.
    assert given.write_bytes_per_s is not None and given.write_bytes_per_s.value == pytest.approx(12.5e9)


def test_the_range_of_the_part_size_does_not_slow_reads_of_the_middle_size() -> None:
    part = Quantity(8 * 2**20, 8 * 2**20, 16 * 2**20, "bytes")
    given = supply("s3-standard", replace(LARGE, request_bytes=part), load())
    assert given.limits["request-latency"].low == pytest.approx(64 * 8 * 2**20 / (0.03 + 8 * 2**20 / 50e6))


def test_fsx_gives_its_provisioned_disk_rate() -> None:
    need = fsx.Need(0.0)
    twelve = configured_at("PERSISTENT_2-SSD-1000", 12_000, need)
    given = supply("fsx-for-lustre", replace(LARGE, in_flight=10_000, nodes=8), load(), twelve)
    # 12,000 GiB / 1000 × 1,000 MB/s
    assert given.limited_by == "file-system-throughput"
    assert given.read_bytes_per_s is not None and given.read_bytes_per_s.value == pytest.approx(12e9)


def test_one_client_without_efa_gets_5_gigabits_from_each_file_server() -> None:
    need = fsx.Need(0.0)
    one = configured_at("PERSISTENT_2-SSD-1000", 4800, need)
    given = supply("fsx-for-lustre", replace(LARGE, in_flight=10_000, nodes=1), load(), one)
    # 4.8 GB/s of disks behind one server
    assert given.limited_by == "server-connections"
    assert given.read_bytes_per_s is not None and given.read_bytes_per_s.value == pytest.approx(0.625e9)
    assert given.write_bytes_per_s is not None and given.write_bytes_per_s.value == pytest.approx(0.625e9)
    # 9,600 GiB are two servers; four clients use both
    two = configured_at("PERSISTENT_2-SSD-1000", 9600, need)
    four = supply("fsx-for-lustre", replace(LARGE, in_flight=10_000, nodes=4), load(), two)
    assert four.limits["server-connections"].value == pytest.approx(4 * 2 * 0.625e9)
    over_efa = replace(two, efa=True)
    assert "server-connections" not in supply("fsx-for-lustre", replace(LARGE, nodes=4), load(), over_efa).limits


def test_small_files_on_fsx_are_bound_by_opens() -> None:
    smallest = configured_at("PERSISTENT_2-SSD-1000", 1200, fsx.Need(0.0))
    tiny = replace(SMALL, request_bytes=exact(4096), object_bytes=exact(4096), in_flight=10_000)
    given = supply("fsx-for-lustre", tiny, load(), smallest)
    # 1,500 metadata IOPS open 3,000 files/s
    assert given.limited_by == "metadata-operations"
    assert given.read_bytes_per_s is not None and given.read_bytes_per_s.value == pytest.approx(3000 * 4096)


@pytest.mark.parametrize(
    ("option", "latency", "rate"),
    [("s3-standard", 0.03, 90e6), ("s3-express-one-zone", 0.004, 150e6), ("mountpoint-s3", 0.03, 90e6)],
)
def test_small_is_where_waiting_is_half_of_the_time(option: str, latency: float, rate: float) -> None:
    assert small_threshold(option, load()).value == pytest.approx(latency * rate)


def test_a_part_that_is_uploaded_waits_for_its_answer_as_a_read_does() -> None:
    given = supply("s3-standard", replace(LARGE, s3_network=None), load())
    # 64 parts of 8 MiB at once, each 30 ms and 8 MiB at 20 MB/s: 0.449 s; 0.419 s without the wait.
    assert given.write_bytes_per_s is not None
    assert given.write_bytes_per_s.value == pytest.approx(64 * 8 * 2**20 / (0.03 + 8 * 2**20 / 20e6))


@settings(max_examples=60, deadline=None)
@given_any(
    option=st.sampled_from(SYSTEMS),
    load_=st.builds(
        lambda size, objects, in_flight, **others: replace(
            SMALL,
            request_bytes=exact(size),
            object_bytes=exact(size * objects),
            in_flight=in_flight,
            writers=in_flight,
            **others,
        ),
        size=st.floats(1e3, 1e9),
        objects=st.floats(1.0, 1e3),
        in_flight=st.floats(1.0, 1e5),
        prefixes=st.integers(1, 100),
        operations=st.sampled_from([frozenset(), frozenset({"rename"})]),
        nat=st.sampled_from([None, Quantity.exact(5e9, "bytes/s")]),
    ),
    more=st.floats(1.0, 1e3),
)
def test_more_concurrency_never_lowers_what_is_supplied(option: str, load_: Load, more: float) -> None:
    facts = load()
    configuration = configured_at("PERSISTENT_2-SSD-250", 4800, fsx.Need(1e12)) if option == FSX else None
    harder = replace(load_, in_flight=load_.in_flight * more, writers=load_.writers * more)
    before, after = (supply(option, each, facts, configuration) for each in (load_, harder))
    for name in ("read_bytes_per_s", "write_bytes_per_s"):
        one, other = getattr(before, name), getattr(after, name)
        assert all(b >= a * (1 - 1e-12) for a, b in zip(one[:3], other[:3], strict=True))
