"""A file system that saves go to: what it has to bring, and how large it pays to be."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from examples import LANGUAGE_MODEL
from hypothesis import given, settings
from hypothesis import strategies as st

from gpufeed.facts import load
from gpufeed.model import checkpoint, fsx
from gpufeed.model.advise import recommend
from gpufeed.model.file_system_need import need_of, need_of_saves
from gpufeed.model.job import Job, job_of
from gpufeed.model.saving_file_system import WAITING, file_system_for_saves, file_system_with_waiting
from gpufeed.model.supply import supply
from gpufeed.model.workload import Workload

LLM = {**LANGUAGE_MODEL, "checkpoints_kept": 2}


def job(**other: Any) -> Job:
    return job_of(Workload.from_mapping(LLM | other, load()), load(), None)[0]


def chosen(**other: Any) -> fsx.Configuration:
    found = file_system_for_saves(job(**other))
    assert found is not None
    return found


# ---- what it has to bring --------------------------------------------------------------------------------------------


def test_it_holds_the_checkpoints_kept_and_nothing_of_the_data() -> None:
    need = need_of_saves(job(checkpoints_kept=3))
    assert (need.holds_bytes, need.opens_per_s, need.random_reads) == (3 * 980e9, 0.0, False)


def test_a_tolerance_is_kept_at_the_published_median_and_a_deadline_at_the_slowest_save() -> None:
    # 980 GB in 5 % of 1,800 s are 10.89 GB/s, of which saves reach 80 %; in all of 1,800 s 0.544 GB/s, at 40 %.
    assert need_of_saves(job(stall_tolerance=0.05)).write_bytes_per_s == pytest.approx(980e9 / 90 / 0.80)
    assert need_of_saves(job(checkpoint_mode="async")).write_bytes_per_s == pytest.approx(980e9 / 1800 / 0.40)
    # Where no file system has a price, waiting has none either that could decide: the default tolerance, 5 %, does.
    in_china = job(region="cn-north-1", gpu_hour_price=200.0)
    assert need_of_saves(in_china).write_bytes_per_s == pytest.approx(980e9 / 90 / 0.80)
    # A target is a deadline: 980 GB in 120 s are 8.17 GB/s, at 40 %.
    assert need_of_saves(job(restore_target=120)).read_bytes_per_s == pytest.approx(980e9 / 120 / 0.40)


def test_sized_for_a_target_the_slowest_published_restore_meets_it() -> None:
    found = chosen(restore_target=120)
    slowest = checkpoint.transfer(job().demand.checkpoint_bytes, found.read_bytes_per_s, load())  # type: ignore[arg-type]  # a size was stated
    assert slowest.high <= 120


# ---- how large it pays to be -----------------------------------------------------------------------------------------


def test_a_larger_one_pays_while_the_capacity_costs_less_than_the_gpus_that_wait() -> None:
    """The GPUs cost 32 × 55.04 × 730 = USD 1,285,734 for the run, a GiB at 1,000 MB/s per TiB 0.60.

    A save takes 980 GB / (0.80 × capacity × 1 MB/s) of each 1,800 s.  Over EFA capacities are multiples of 4,800 GiB:
      33,600 GiB: 20,160 + 1,285,734 × 36.458 / 1,800 = 20,160 + 26,042 = 46,202
      38,400 GiB: 23,040 + 1,285,734 × 31.901 / 1,800 = 23,040 + 22,787 = 45,827
      43,200 GiB: 25,920 + 1,285,734 × 28.356 / 1,800 = 25,920 + 20,255 = 46,175
    The need alone asks for 13.61 GB/s = 14,400 GiB, at which 8,640 + 60,765 = 69,405.
    """
    found = chosen()
    assert (found.name, found.capacity_gib, found.efa) == ("PERSISTENT_2-SSD-1000", 38_400, True)
    assert found.size_set_by == WAITING
    assert need_of_saves(job(stall_tolerance=0.05)).write_bytes_per_s == pytest.approx(13.61e9, rel=1e-3)


def test_one_that_the_reads_share_is_chosen_by_the_same_sum() -> None:
    """It also holds 20 TB: 20e12 + 2 × 980e9 bytes are 20,452 GiB, less than the 38,400 GiB worked out above.

    The cheapest that meets the need is the next multiple of 4,800:
      24,000 GiB: 14,400 + 1,285,734 × 51.042 / 1,800 = 14,400 + 36,459 = 50,859 and not 45,827
    """
    asked = job(stall_tolerance=0.05)
    need = need_of(asked)
    assert need.holds_bytes == 20e12 + 2 * 980e9
    cheapest, found = fsx.cheapest(need, "us-east-1", load()), file_system_with_waiting(need, asked)
    assert cheapest is not None and (cheapest.name, cheapest.capacity_gib) == ("PERSISTENT_2-SSD-1000", 24_000)
    assert found is not None
    assert (found.name, found.capacity_gib, found.efa, found.ordered_iops) == ("PERSISTENT_2-SSD-1000", 38_400, True, 0)


def test_a_plan_says_that_a_cheaper_file_system_would_meet_the_need() -> None:
    posix = LLM | {"interface": "posix", "samples_per_second_per_accelerator": 1, "sample_bytes": 1e6}
    posix |= {"stall_tolerance": 0.05}
    plan = recommend(Workload.from_mapping(posix, load()), load())
    saves = plan.placements["checkpoints"]
    assert (saves.option, saves.configuration["storage_capacity_gib"]) == ("fsx-for-lustre", 38_400)
    assert saves.configuration == plan.placements["training_reads"].configuration
    pays = next(reason for reason in saves.reasons if reason.id == "dearer-file-system-pays")
    assert pays.parameters == {"configuration": "PERSISTENT_2-SSD-1000", "gib": 24_000}
    # Asynchronous saves keep nobody waiting for a faster one.
    later = recommend(Workload.from_mapping(posix | {"checkpoint_mode": "async"}, load()), load())
    assert "dearer-file-system-pays" not in {reason.id for reason in later.placements["checkpoints"].reasons}


def test_gpus_that_cost_a_tenth_want_a_smaller_one() -> None:
    """C = sqrt(w / (p × k)) falls by sqrt(10): 38,188 → 12,076 GiB, less than the 14,400 GiB of the need.

    Over EFA, which the need's 13.6 GB/s ask for, that is the least there is.
    """
    found = chosen(gpu_hour_price=5.504, stall_tolerance=0.05)
    assert (found.capacity_gib, found.efa, found.size_set_by) == (14_400, True, "write")


def test_a_tolerance_that_nobody_stated_does_not_outbid_what_waiting_costs() -> None:
    """98 GB every 1,800 s from two g5.48xlarge, whose GPUs cost 32.576 × 168 = USD 5,473 for the run.

    The assumed tolerance of 5 % would ask for 98e9 / 90 / 0.80 = 1.361 GB/s: 2,400 GiB at 1,000 MB/s per TiB,
    331 + 5,473 × 51.04 / 1,800 = USD 487.  The sum is least at 1,200 GiB: 166 + 310 = 476.
    """
    traits = {"instances": 2, "instance_type": "g5.48xlarge", "gpu_hour_price": None, "run_hours": 168}
    found = chosen(**traits, checkpoint_bytes=98e9, checkpoints_kept=2)
    assert (found.name, found.capacity_gib) == ("PERSISTENT_2-SSD-1000", 1200)
    stated = chosen(**traits, checkpoint_bytes=98e9, checkpoints_kept=2, stall_tolerance=0.05)
    assert stated.write_bytes_per_s.value >= 98e9 / 90 / 0.80 > found.write_bytes_per_s.value
    # Without a price of waiting the tolerance is all there is.
    unpriced = {"instance_type": None, "accelerator": "H100", "accelerators_per_instance": 8, "gpu_hour_price": None}
    assert need_of_saves(job(**unpriced)).write_bytes_per_s == pytest.approx(980e9 / 90 / 0.80)


def test_a_saving_on_every_price_but_the_gpus_buys_a_larger_one() -> None:
    # A quarter off: 38,188 / sqrt(0.75) = 44,096 GiB.
    # 43,200: 19,440 + 20,255 = 39,695; 48,000: 21,600 + 18,229 = 39,829; 38,400: 17,280 + 22,787 = 40,067.
    assert chosen(storage_discount=0.25).capacity_gib == 43_200


def test_without_a_price_of_the_gpus_it_is_the_cheapest_that_keeps_the_tolerance() -> None:
    unpriced = {"instance_type": None, "accelerator": "H100", "accelerators_per_instance": 8, "gpu_hour_price": None}
    found = chosen(**unpriced)
    # 13.61 GB/s: 14,400 GiB at 1,000 MB/s per TiB for 8,640 USD, or 110,400 GiB at 125 for 16,008 USD; no EFA is known.
    assert (found.name, found.capacity_gib, found.efa) == ("PERSISTENT_2-SSD-1000", 14_400, False)
    assert found.size_set_by == "write"


def test_asynchronous_saves_keep_nobody_waiting_for_a_faster_one() -> None:
    # 980 GB / 1,800 s / 0.40 = 1.361 GB/s: 2,400 GiB at 1,000 for 1,440 USD, or 12,000 GiB at 125 for 1,740 USD.
    found = chosen(checkpoint_mode="async")
    assert (found.name, found.capacity_gib) == ("PERSISTENT_2-SSD-1000", 2400)


def test_none_is_larger_than_what_the_instances_can_fill() -> None:
    # At a thousand times the price of the GPUs sqrt(1000) = 31.6 times the GiB would pay.  But 8 ranks write one file
    # each at 500 MB/s: 4 GB/s, which 4,000 GiB at 1,000 MB/s per TiB give.
    found = chosen(instances=1, gpu_hour_price=55_040, checkpoint_interval=3600, stall_tolerance=0.5)
    assert (found.name, found.capacity_gib, found.efa) == ("PERSISTENT_2-SSD-1000", 4800, True)


def test_where_a_region_has_no_price_those_of_others_decide_and_where_none_has_the_need() -> None:
    """At the median of 0.600 and 0.673, the GPUs at their stated price:

    33,600 GiB: 21,386 + 26,042 = 47,428; 38,400 GiB: 24,442 + 22,787 = 47,229; 43,200 GiB: 27,497 + 20,255 = 47,752
    """
    found = chosen(region="ap-northeast-1", gpu_hour_price=55.04)
    assert (found.name, found.capacity_gib, found.size_set_by) == ("PERSISTENT_2-SSD-1000", 38_400, WAITING)
    assert found.per_month is None
    # In CNY no Region has a price of it.
    found = chosen(region="cn-north-1")
    assert found.per_month is None and found.size_set_by == "write"


# ---- what always holds -----------------------------------------------------------------------------------------------

JOBS = st.fixed_dictionaries(
    {
        "instances": st.integers(1, 300),
        "instance_type": st.sampled_from(["p5.48xlarge", "p4d.24xlarge", "g6.12xlarge", "p5.4xlarge"]),
        "gpu_hour_price": st.floats(0.1, 500),
        "checkpoint_bytes": st.floats(1e8, 5e12),
        "checkpoint_interval": st.floats(60, 20_000),
        "checkpoints_kept": st.integers(1, 5),
        "run_hours": st.floats(1, 3000),
        "storage_discount": st.floats(0.01, 0.9),
    }
)


def all_within(largest: float, asked: Job) -> Iterator[fsx.Order]:
    """Every type, EFA setting and capacity that meets the need, up to so many GiB."""
    need = need_of_saves(asked)
    for least in fsx.orders_for(need, asked.region, load()):
        section = load().fsx[least.name]
        capacity = least.capacity_gib
        while capacity <= largest and not fsx.lacking(least, asked.region, need, load()):
            # Above this rate AWS advises EFA, where the type and the clients have it.
            rate = fsx.disk_rate(section, capacity, "write").value
            fast = rate > load().options["fsx-for-lustre"].known("efa_above").value
            if not fast or least.efa or not need.efa or not section.get_value("efa"):
                yield least._replace(capacity_gib=capacity)
            capacity = fsx.accepted(section, capacity + 1.0, efa=least.efa)


def total(order: fsx.Order, asked: Job) -> float | None:
    """Its price for the run and the GPUs that wait, through the functions that bill them."""
    configuration = fsx.configured(order, asked.region, load(), need_of_saves(asked))
    write = supply("fsx-for-lustre", asked.load, load(), configuration).write_bytes_per_s
    share = checkpoint.stall(asked.demand, write, None, load()).share
    if configuration.per_month is None or share is None or asked.run.gpu_hour_price is None:
        return None
    price = configuration.per_month.value * asked.run.hours / 730 * (1 - asked.run.discount)
    return price + share.value * asked.run.hours * asked.run.gpu_hour_price.value


@settings(max_examples=12, deadline=None)  # each tries every type and capacity
@given(JOBS)
def test_no_other_type_and_no_other_capacity_costs_less(traits: dict[str, Any]) -> None:
    asked = job(**traits)
    found = file_system_for_saves(asked)
    assert found is not None
    mine = total(fsx.Order(found.name, found.capacity_gib, 0.0, 0.0, found.efa), asked)
    assert mine is not None
    need = need_of_saves(asked)
    smallest = [order.capacity_gib for order in fsx.orders_for(need, asked.region, load())]
    for order in all_within(max(smallest) + 30 * 4800, asked):
        other = total(order, asked)
        assert other is None or mine <= other * (1 + 1e-9)


@settings(max_examples=50, deadline=None)
@given(JOBS, st.floats(1, 10), st.floats(1, 10))
def test_a_larger_need_never_picks_a_smaller_file_system(traits: dict[str, Any], larger: float, sooner: float) -> None:
    """Larger checkpoints, and more often: never a lower price, and of the same type never fewer GiB."""
    more = traits | {
        "checkpoint_bytes": traits["checkpoint_bytes"] * larger,
        "checkpoint_interval": max(1.0, traits["checkpoint_interval"] / sooner),
    }
    before, after = chosen(**traits), chosen(**more)
    assert before.per_month is not None and after.per_month is not None
    if (before.name, before.efa) == (after.name, after.efa):
        assert after.capacity_gib >= before.capacity_gib


@settings(max_examples=50, deadline=None)
@given(JOBS)
def test_doubling_every_price_changes_no_choice(traits: dict[str, Any]) -> None:
    asked = job(**traits)
    twice = replace(
        asked,
        facts=load().with_each(
            lambda fact: fact, lambda row: replace(row, quantity=row.quantity and row.quantity * 2.0)
        ),
        run=replace(asked.run, gpu_hour_price=asked.run.gpu_hour_price and asked.run.gpu_hour_price * 2.0),
    )
    once, doubled = file_system_for_saves(asked), file_system_for_saves(twice)
    assert once is not None and doubled is not None
    assert once.settings == doubled.settings
    assert once.per_month is not None and doubled.per_month is not None
    assert doubled.per_month.value == pytest.approx(2 * once.per_month.value)


def test_no_more_checkpoints_are_kept_than_the_run_makes() -> None:
    # 10 hours, a save an hour: ten of 980 GB, however many are to be kept; and one where not one interval passes.
    made = need_of_saves(job(run_hours=10, checkpoint_interval=3600, checkpoints_kept=100))
    assert made.holds_bytes == pytest.approx(10 * 980e9)
    assert need_of_saves(job(run_hours=0.5, checkpoint_interval=3600, checkpoints_kept=100)).holds_bytes == 980e9
    # None beside them that is still being exported.
    assert made.until_exported_bytes == 0.0


# ---- what is being exported ------------------------------------------------------------------------------------------


def data_gib(name: str, need: fsx.Need) -> float:
    return fsx.asked_gib(load().fsx[name], need, load())["data"]


def test_a_checkpoint_stays_beside_those_kept_until_its_export_has_ended() -> None:
    """980 GB at 875 MB/s are 1,120 s, longer than the 600 s between saves: two others follow before it may go."""
    need = need_of_saves(job(checkpoint_interval=600))
    assert (need.holds_bytes, need.until_exported_bytes) == (2 * 980e9, 980e9)
    # No file system is known to export faster.
    assert need.exported_in_time_at == float("inf")
    for name in ("PERSISTENT_2-SSD-125", "PERSISTENT_2-SSD-1000"):
        assert data_gib(name, need) == pytest.approx(3 * 980e9 / fsx.GIB)
    assert need_of(job(checkpoint_interval=600)).until_exported_bytes == 980e9
    assert need_of(job(checkpoint_interval=600), saves=False).until_exported_bytes == 0.0
    assert need_of_saves(job(checkpoint_interval=600, jobs=4)).until_exported_bytes == 4 * 980e9
    # With three kept it may take two intervals: 1,120 of 1,200 s, on the 1,200 MB/s that were measured 1,120 MB/s.
    three = need_of_saves(job(checkpoint_interval=600, checkpoints_kept=3))
    assert three.exported_in_time_at == pytest.approx(1120e6)


def test_the_one_that_is_kept_may_go_once_it_is_exported() -> None:
    """Of one kept, the next save takes the place: sized for 90 s at 80 %, a save takes 180 s at 40 %.

    Of 1,800 s 1,620 are left for an export that takes 1,120 s on 1,200 MB/s: 829.6 MB/s will do.
    """
    need = need_of_saves(job(checkpoints_kept=1, stall_tolerance=0.05))
    assert (need.holds_bytes, need.until_exported_bytes) == (980e9, 980e9)
    assert need.exported_in_time_at == pytest.approx(1200e6 * 1120 / 1620)
    assert (need.holds_at(829e6), need.holds_at(830e6)) == (2 * 980e9, 980e9)
    # Where no tolerance decides, a save may take all of the interval, and nothing is left for its export.
    assert need_of_saves(job(checkpoints_kept=1)).exported_in_time_at == float("inf")


def test_a_plan_orders_room_for_what_is_being_exported() -> None:
    """671e9 × 14 bytes = 9.394 TB are exported in 10,736 s, and saved every 7,200 s.

    Three of them and 73 TB of data are 94,234 GiB, at 125 MB/s per TiB in steps of 2,400; two would be 85,485 GiB.
    """
    traits: dict[str, Any] = {
        "task": "pretraining",
        "instances": 64,
        "instance_type": "p5.48xlarge",
        "model_parameters": 671e9,
        "active_parameters": 37e9,
        "samples_per_second_per_accelerator": 20,
        "dataset_bytes": 73e12,
        "objects": 730_000,
        "epochs": 2,
        "checkpoint_mode": "async",
        "checkpoint_interval": 7200,
        "interface": "posix",
        "file_operations": ["rename"],
        "run_hours": 1000,
        "region": "us-east-1",
    }
    plan = recommend(Workload.from_mapping(traits, load()), load())
    saves = plan.placements["checkpoints"]
    assert saves.configuration == plan.placements["training_reads"].configuration
    assert pytest.approx(94_234, abs=1) == (73e12 + 3 * 9.394e12) / fsx.GIB
    assert saves.configuration["storage_capacity_gib"] == 96_000
    [room] = [reason for reason in saves.reasons if reason.id == "fsx-room-until-exported"]
    assert room.parameters["bytes"].value == pytest.approx(9.394e12)
    # With five kept an export has four intervals: nothing beside the five.
    five = recommend(Workload.from_mapping(traits | {"checkpoints_kept": 5}, load()), load()).placements["checkpoints"]
    assert "fsx-room-until-exported" not in {reason.id for reason in five.reasons}


def test_a_file_system_that_exports_in_time_needs_no_room_for_one_more() -> None:
    """1,120 of 1,800 s: 62.2 % of the measured rate will do, so 746.7 MB/s ordered instead of 1,200.

    At 125 MB/s per TiB those are 5,973 GiB, more than three checkpoints, 2,738 GiB, ask for; at 1,000 they are 747 GiB,
    less than the 1,825 GiB of two.
    """
    need = need_of_saves(job())
    assert need.exported_in_time_at == pytest.approx(1200e6 * 1120 / 1800)
    assert data_gib("PERSISTENT_2-SSD-125", need) == pytest.approx(3 * 980e9 / fsx.GIB)
    assert data_gib("PERSISTENT_2-SSD-1000", need) == pytest.approx(2 * 980e9 / fsx.GIB)
    assert (need.holds_at(746e6), need.holds_at(747e6), need.holds_at(None)) == (3 * 980e9, 2 * 980e9, 3 * 980e9)
    # Between the two, at 250: 2,986.7 GiB bring the rate, and 2,737.8 the room.
    slower = replace(need, until_exported_bytes=2 * 980e9)
    assert data_gib("PERSISTENT_2-SSD-250", slower) == pytest.approx(1200e6 * 1120 / 1800 / 250e6 * 1000)
