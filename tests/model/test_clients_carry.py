"""A file system is sized for what its clients carry: beyond that a larger one brings nothing."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from examples import FILE_SYSTEM
from hypothesis import given, settings
from hypothesis import strategies as st

from gpufeed.facts import load
from gpufeed.model import fsx
from gpufeed.model.advise import recommend
from gpufeed.model.file_system import compare, sized
from gpufeed.model.file_system_need import need_of, need_of_saves
from gpufeed.model.fsx import Need
from gpufeed.model.job import Job, job_of
from gpufeed.model.saving_file_system import file_system_with_waiting
from gpufeed.model.supply import supply
from gpufeed.model.workload import Workload

#: A card of 40 Gbit/s each: 5 GB/s, of which reads reach 91.2 %.  980 GB are to be back after 60 s.
FOUR = {
    "task": "pretraining",
    "instances": 4,
    "instance_type": "g5.12xlarge",
    "interface": "posix",
    "dataset_bytes": 1e12,
    "checkpoint_bytes": 980e9,
    "restore_target": 60,
    "stall_tolerance": 0.05,
    "region": "us-east-1",
}
#: 16 accelerators × 200 samples/s × 10 MB are 32 GB/s.
READS = {"samples_per_second_per_accelerator": 200, "sample_bytes": 10e6}


def job(**other: Any) -> Job:
    return job_of(Workload.from_mapping(FOUR | other, load()), load(), None)[0]


def carried(**other: Any) -> fsx.Carried:
    return need_of(job(**other)).carried(efa=False)


def test_a_restore_and_saves_are_sized_for_the_whole_cards() -> None:
    need = need_of_saves(job())
    # Asked: 980 GB in 60 s at the slowest published 40 % are 40.8 GB/s; four cards carry 20.  Saving in 5 % of 1,800 s
    # at the median 80 % would take 13.6 GB/s, but 16 ranks write one file each at 500 MB/s: 8 GB/s.
    assert need.read_bytes_per_s == pytest.approx(980e9 / 60 / 0.40)
    assert need.carried(efa=False)[:2] == (20e9, 8e9)
    assert need.carried(efa=False).bounds == (
        ("restore", "network-card", pytest.approx(40.8e9, rel=1e-3), 20e9),
        ("write", "one-file-per-rank", pytest.approx(13.6e9, rel=1e-3), 8e9),
    )


def test_reads_are_sized_for_what_they_reach_of_the_cards_and_so_are_the_files_opened() -> None:
    reads = carried(**READS, restore_target=None, objects=100_000)
    # 4 × 5 GB/s × 0.912 = 18.24 GB/s of the 32 GB/s asked; a file is 10 MB, so 1,824 of 3,200 are opened a second.
    assert reads.read == pytest.approx(18.24e9)
    assert reads.opens == pytest.approx(1824)
    assert need_of(job(**READS, objects=100_000)).opens_per_s == pytest.approx(3200)


def test_jobs_that_share_it_have_cards_of_their_own() -> None:
    assert carried(**READS, restore_target=None, jobs=3).read == pytest.approx(3 * 18.24e9)


def test_a_card_that_is_not_known_leaves_the_client_of_100_gigabits() -> None:
    unknown = {"instance_type": None, "accelerator": "A10G", "accelerators_per_instance": 4}
    # 400 s × 16 × 10 MB = 64 GB/s; a client without EFA reads at most 12.5 GB/s, four of them 50.
    fast = READS | {"samples_per_second_per_accelerator": 400}
    assert carried(**unknown, **fast, restore_target=None).bounds[0][1:] == ("client-limit", 64e9, 50e9)


def test_the_plan_says_what_binds_and_orders_no_more() -> None:
    plan = recommend(Workload.from_mapping(FOUR | READS, load()), load())
    assert (plan.recommended, plan.placements["checkpoints"].option) == ("fsx-for-lustre", "fsx-for-lustre")
    # 20 GB/s at 1,000 MB/s per TiB; without EFA each of the four has 0.625 GB/s of each server: 8 of them, 4,800 GiB
    # apart, of which the last holds one GiB at least: 33,601, and the next that AWS accepts is 36,000.
    assert plan.placements["training_reads"].configuration["storage_capacity_gib"] == 36_000
    said = next(caveat for caveat in plan.warnings if caveat.id == "fsx-clients-carry-less-read")
    assert (said.parameters["limit"], said.parameters["clients"]) == ("network-card", 4)
    reasons = {reason.id for reason in plan.placements["checkpoints"].reasons}
    assert {"fsx-clients-carry-less-restore", "fsx-clients-carry-less-write"} <= reasons
    # Sized for less, neither the tolerance nor the target is what it was sized for.
    assert not {"saves-sized-by-middle", "restore-sized-by-slowest"} & reasons


def test_one_that_brings_what_the_cards_carry_is_enough_although_the_job_asks_more() -> None:
    need = need_of(job(**READS))
    exists = replace(FILE_SYSTEM, capacity_gib=36_000.0, mb_per_s_per_tib=1000.0, metadata_iops=None, links=())
    rows = {row.id: row for row in compare(exists, need, load()).rows}
    assert (rows["read"].verdict, rows["write"].verdict) == ("enough", "enough")
    assert rows["read"].note is not None and rows["read"].note.id == "fsx-clients-carry-less-read"
    # Half as large it is not: 18 GB/s and 4 servers × 4 clients × 0.625 GB/s = 10 GB/s, against 20 of a restore.
    half = {row.id: row for row in compare(replace(exists, capacity_gib=16_800.0), need, load()).rows}
    assert half["read"].verdict == "short"


def test_clients_that_carry_more_over_efa_are_advised_to() -> None:
    over_tcp, over_efa = fsx.Carried(4e9, 0.0, 0.0), fsx.Carried(8e9, 0.0, 0.0)
    need = Need(1e12, read_bytes_per_s=8e9, efa=True, over_tcp=over_tcp, over_efa=over_efa)
    assert fsx.efa_advised(need, load())  # below the 10 GB/s from which AWS recommends it
    assert not fsx.efa_advised(replace(need, over_tcp=over_efa), load())


def test_asynchronous_saves_and_reads_share_the_disks() -> None:
    # 16 × 50 × 10 MB = 8 GB/s of reads, and 980 GB in each 1,800 s = 0.544 GB/s beside them: 8.544 GB/s.  A save that
    # is slowest, at 40 %, asks for 1.36 GB/s alone, so the sum decides; synchronous saves stop the reads.
    slower = READS | {"samples_per_second_per_accelerator": 50, "restore_target": None}
    both = job(**slower, checkpoint_mode="async")
    section = load().fsx["PERSISTENT_2-SSD-1000"]
    asked = fsx.asked_gib(section, need_of(both), load())
    assert asked["while-saving"] == pytest.approx(8544.4, rel=1e-4)
    assert (asked["read"], asked["write"]) == pytest.approx((8000, 1361), rel=1e-3)
    assert fsx.asked_gib(section, need_of(job(**slower)), load())["while-saving"] == 0
    # One that exists is held against the same sum.
    found = sized(both.workload, load()).found.priced[0]
    assert found.capacity_gib * found.settings["throughput_mb_per_s_per_tib"] / 1000 >= 8544
    assert need_of_saves(both).carried(efa=False).while_saving[0] == 0


# ---- what always holds -----------------------------------------------------------------------------------------------

JOBS = st.fixed_dictionaries(
    {
        "instances": st.integers(1, 64),
        "instance_type": st.sampled_from(["p5.48xlarge", "p4d.24xlarge", "g5.12xlarge", "g6.xlarge", "p5.4xlarge"]),
        "samples_per_second_per_accelerator": st.floats(0.1, 1000),
        "checkpoint_bytes": st.floats(1e9, 5e12),
        "restore_target": st.floats(5, 5000),
        "checkpoint_mode": st.sampled_from(["sync", "async"]),
    }
)


@settings(max_examples=40, deadline=None)
@given(JOBS)
def test_where_the_clients_bind_twice_the_file_system_brings_no_more(traits: dict[str, Any]) -> None:
    asked = job(sample_bytes=10e6, **traits)
    need = need_of(asked)
    found = file_system_with_waiting(need, asked)
    assert found is not None
    twice = replace(
        found,
        read_bytes_per_s=(found.read_bytes_per_s * 2.0).named("bytes/s"),
        write_bytes_per_s=(found.write_bytes_per_s * 2.0).named("bytes/s"),
        opens_per_s=(found.opens_per_s * 2.0).named("opens/s"),
        servers=found.servers and found.servers * 2,
    )
    for what, *_ in need.carried(efa=found.efa).bounds:
        of = asked.load if what in ("read", "write") else asked.bulk
        once, more = (supply("fsx-for-lustre", of, load(), one) for one in (found, twice))
        rate = "write_bytes_per_s" if what == "write" else "read_bytes_per_s"
        assert getattr(more, rate).value == pytest.approx(getattr(once, rate).value)


@settings(max_examples=40, deadline=None)
@given(JOBS, st.floats(1, 20), st.floats(1, 20))
def test_more_demand_never_picks_a_smaller_file_system(traits: dict[str, Any], reads: float, size: float) -> None:
    more = traits | {
        "samples_per_second_per_accelerator": traits["samples_per_second_per_accelerator"] * reads,
        "checkpoint_bytes": traits["checkpoint_bytes"] * size,
    }
    before, after = (fsx.cheapest(need_of(one), one.region, load()) for one in (job(**traits), job(**more)))
    assert before is not None and after is not None
    assert before.per_month is not None and after.per_month is not None
    assert after.per_month.value >= before.per_month.value * (1 - 1e-9)
