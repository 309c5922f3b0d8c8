"""What a whole plan costs: reading, checkpoints, and the GPUs that wait for either."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpufeed.facts import load
from gpufeed.model.advise import recommend
from gpufeed.model.course import course
from gpufeed.model.file_system import sized
from gpufeed.model.recommendation import Recommendation
from gpufeed.model.workload import Workload

#: 32 p5.48xlarge at USD 55.04 an hour each save 980 GB every 30 minutes for a month of 730 hours.
LLM = {
    "task": "pretraining",
    "instances": 32,
    "instance_type": "p5.48xlarge",
    "gpu_hour_price": 55.04,
    "preset": "llm-text",
    "dataset_bytes": 20e12,
    "objects": 200_000,
    "checkpoint_bytes": 980e9,
    "checkpoint_interval": 1800,
    "checkpoints_kept": 2,
    "region": "us-east-1",
    "run_hours": 730,
}


#: On 512 GPUs, so that each rank saves 19.5 MB: three parts.
SMALL_AND_OFTEN = {
    "instances": 64,
    "checkpoint_bytes": 10e9,
    "checkpoint_interval": 30,
    "checkpoint_mode": "async",
}
GIB = 2**30


def plan(**other: Any) -> Recommendation:
    return recommend(Workload.from_mapping(LLM | other, load()), load())


def amounts(found: Recommendation) -> dict[str, float]:
    summed: dict[str, float] = {}
    for line in found.cost.lines:
        assert line.amount is not None, line.id
        summed[line.id] = summed.get(line.id, 0.0) + line.amount.value
    return summed


def test_a_file_system_for_the_checkpoints_alone_is_in_the_bill_of_the_plan() -> None:
    # A restore of 980 GB in 24 s at 40 % of the rate ordered: 102.1 GB/s, which over EFA is 105,600 GiB at 1,000 MB/s
    # per TiB.  The data set is not on it.
    found = plan(instances=4, restore_target=24, interface="s3-api")
    assert (found.recommended, found.placements["checkpoints"].option) == ("s3-standard", "fsx-for-lustre")
    ordered, bill = found.placements["checkpoints"].configuration, amounts(found)
    assert ordered["storage_capacity_gib"] == 105_600
    assert ordered["throughput_mb_per_s_per_tib"] == 1000
    assert bill["checkpoint-file-system"] == pytest.approx(105_600 * 0.600)
    # 32 ranks write one file each at 500 MB/s, of which 80 % are reached: 76.6 s of every 1,800 s.
    assert bill["saving-gpu"] == pytest.approx(730 * 980e9 / (0.80 * 16e9) / 1800 * 4 * 55.04)
    # Each save is exported: two are kept in S3 as well, and 32 ranks put 3,651 parts and 2 requests around them.
    assert bill["checkpoint-storage"] == pytest.approx(2 * 980e9 / GIB * 0.023)
    assert bill["checkpoint-puts"] == pytest.approx(32 * 3653 * 1460 * 0.005 / 1000)
    assert found.cost.total is not None
    assert found.cost.total.value == pytest.approx(sum(bill.values()))


def test_a_file_system_exports_for_what_saving_on_s3_costs() -> None:
    found = plan(**SMALL_AND_OFTEN)
    # Each copy to host memory takes 10 GB / (512 × 20 GB/s) of 30 s.
    waits = 730 * 10e9 / (512 * 20e9) / 30 * 64 * 55.04
    # 512 ranks × (parts and 2 requests around them) × 87,600 saves at 0.005 per 1,000: exported in 3 parts of 8 MiB,
    # 1,121 USD of PUTs; saved to S3 in 2 of 10 MiB, 897 USD: 512 × 4 / 3,500 s are less than 512 × 5, and 19.5 MB in
    # one part take 1.01 s.
    kept, put = 2 * 10e9 / GIB * 0.023, 512 * 87_600 * 0.005 / 1000
    in_s3, as_exported = kept + 4 * put, kept + 5 * put
    on_s3, on_lustre = found.saving("s3-standard").total, found.saving("fsx-for-lustre").total
    assert on_s3 is not None and on_s3.value == pytest.approx(in_s3 + waits)
    # 10 GB every 30 s must be written before the next: at 40 % of the rate ordered 0.833 GB/s.  That is 833 of the
    # least 1,200 GiB at 1,000 MB/s per TiB for 720 USD, or 7,200 GiB at 125 for 1,044 USD.
    assert on_lustre is not None and on_lustre.value == pytest.approx(1200 * 0.600 + as_exported + waits)
    assert found.placements["checkpoints"].option == "s3-standard"


def test_checkpoints_in_s3_are_paid_as_kept_bytes_and_puts() -> None:
    found = plan(instances=1, checkpoint_bytes=8.388608e9, checkpoint_interval=3600)
    assert found.placements["checkpoints"].option == "s3-standard"
    bill = amounts(found)
    # 2 × 8,388,608,000 bytes = 15.625 GiB for a month
    assert bill["checkpoint-storage"] == pytest.approx(15.625 * 0.023)
    # 8 ranks save 125 parts of 8 MiB each, and open and close: 1,016 PUTs, 730 times
    assert bill["checkpoint-puts"] == pytest.approx(8 * 127 * 730 * 0.005 / 1000)


def test_a_file_system_that_serves_the_reads_as_well_is_paid_once() -> None:
    found = plan(preset="image-classification", objects=200_000_000, interface="posix")
    assert found.recommended == found.placements["checkpoints"].option == "fsx-for-lustre"
    ids = [line.id for line in found.cost.lines]
    assert ids.count("own-storage") == 1
    # What is exported is kept in S3 and put there.
    assert [id_ for id_ in ids if id_.startswith("checkpoint-")] == ["checkpoint-storage", "checkpoint-puts"]
    assert "saving-gpu" in ids


def test_checkpoints_in_s3_lie_above_the_data_set_in_the_bands_of_its_price() -> None:
    """51,200 GiB are the first band, at 0.023; 460,800 more the second, at 0.022; the rest costs 0.021."""

    def of(**traits: Any) -> list[tuple[float, float]]:
        run = {"instances": 64, "checkpoint_bytes": 9.4e12, "checkpoints_kept": 5, "run_hours": 730} | traits
        found = plan(**run).saving("s3-standard").lines
        kept = [line for line in found if line.id == "checkpoint-storage"]
        assert all(line.quantity is not None and line.unit_price is not None for line in kept)
        return [(line.quantity.value, line.unit_price.value) for line in kept if line.quantity and line.unit_price]

    held, first, both = 47e12 / GIB, 50 * 1024.0, 500 * 1024.0
    # 60 TB are 55,879 GiB and fill the first band.
    assert of(dataset_bytes=60e12) == [(pytest.approx(held), 0.022)]
    # 20 TB are 18,626 GiB: 32,574 of the first band are left.
    left = first - 20e12 / GIB
    assert of(dataset_bytes=20e12) == [(pytest.approx(left), 0.023), (pytest.approx(held - left), 0.022)]
    # Three bands: 500 TB are 465,661 GiB, so 46,339 of the second are left for a checkpoint of 100 TB.
    left = both - 500e12 / GIB
    wide = {"dataset_bytes": 500e12, "checkpoint_bytes": 1e14, "checkpoints_kept": 1}
    assert of(**wide) == [(pytest.approx(left), 0.022), (pytest.approx(1e14 / GIB - left), 0.021)]
    # Four jobs keep 188 TB beside 20 TB of data: what is left of the first band is shared.
    left = (first - 20e12 / GIB) / 4
    four = of(dataset_bytes=20e12, jobs=4)
    assert four == [(pytest.approx(left), 0.023), (pytest.approx(held - left), 0.022)]


def test_without_a_checkpoint_size_the_bill_is_that_of_the_reads() -> None:
    found = plan(preset="image-classification", checkpoint_bytes=None)
    assert found.cost.lines == found.option(found.recommended).cost.lines
    assert found.cost.total == found.option(found.recommended).cost.total


def test_a_plan_with_an_unpriced_part_has_no_total() -> None:
    found = plan(region="ap-northeast-1")
    # The same as in us-east-1, whose prices they are compared by.
    assert (found.recommended, found.placements["checkpoints"].option) == ("s3-standard", "s3-express-one-zone")
    assert found.cost.total is None
    of_copies = ("checkpoint-copy-gets", "checkpoint-copy-retrieval")
    assert found.cost.not_priced == ("checkpoint-storage", "checkpoint-puts", "checkpoint-upload", *of_copies)


# ---- the choice by what saving costs ---------------------------------------------------------------------------------


def test_checkpoints_go_where_storage_requests_and_waiting_gpus_cost_least() -> None:
    """980 GB every 1,800 s from 256 ranks; all the time of the GPUs costs 730 × 32 × 55.04 = USD 1,285,734.

    S3: in parts of 38 MiB, with which 256 × 10 of them last as long as 5,500 GET/s under one prefix let them,
    (2,560 / 5,500 s − 30 ms) × 90 MB/s = 39.2 MB: each in 30 ms and 38 MiB at 20 MB/s, 80 % of that: 24.3 s.
    Express: each in 4 ms and 8 MiB at 110 MB/s, 80 % of that: 4.58 s.
    """
    found = plan()
    gpus = 730 * 32 * 55.04
    gib, saves = 980e9 / GIB, 730 * 2
    part = 38 * 2**20
    puts = 256 * (457 + 2) * saves / 1000  # 980 GB / 256 ranks / 8 MiB = 456.4 parts
    fewer = 256 * (97 + 2) * saves / 1000  # 980 GB / 256 ranks / 38 MiB = 96.07 parts
    express = 256 * 10 * 2**23 / (0.004 + 2**23 / 110e6)
    standard = 256 * 10 * part / (0.03 + part / 20e6)
    on_s3 = 2 * gib * 0.023 + fewer * 0.005 + gpus * 980e9 / (0.80 * standard) / 1800
    on_express = 2 * gib * 0.11 + puts * 0.00113 + saves * gib * 0.0032 + gpus * 980e9 / (0.80 * express) / 1800
    # Read once more, in the parts of a save to S3, and put into a bucket that lies in more than one zone
    gets = 256 * 97 * saves / 1000
    on_express += gets * 0.00003 + saves * gib * 0.0006 + 2 * gib * 0.023 + fewer * 0.005
    in_s3 = 2 * gib * 0.023 + puts * 0.005
    # Its own file system of 38,400 GiB over EFA, which the tests of it work out, and what it exports
    on_lustre = 38_400 * 0.600 + gpus * 980e9 / (0.80 * 38.4e9) / 1800 + in_s3
    totals = {saving.option: saving.total for saving in found.savings}
    for option, amount in (("s3-standard", on_s3), ("s3-express-one-zone", on_express), ("fsx-for-lustre", on_lustre)):
        total = totals[option]
        assert total is not None and total.value == pytest.approx(amount), option
    placed = found.placements["checkpoints"]
    # The rule: 32 instances, FSx for Lustre first.
    assert (placed.rule, placed.model, placed.decided_by) == ("fsx-for-lustre", "s3-express-one-zone", "model")
    assert [reason.id for reason in placed.reasons][-2:] == ["saving-costs", "saving-on-rules-option"]


def test_a_saving_that_is_not_worth_one_more_system_leaves_checkpoints_where_the_rule_has_them() -> None:
    # One p5.48xlarge saves 8.4 GB an hour: Express would save 58 of the USD 40,179 that its GPUs cost: not 1 %.
    found = plan(instances=1, checkpoint_bytes=8.388608e9, checkpoint_interval=3600)
    here, there = found.saving("s3-standard").total, found.saving("s3-express-one-zone").total
    assert here is not None and there is not None
    assert 0 < here.value - there.value < 0.01 * 730 * 55.04
    assert found.placements["checkpoints"].option == "s3-standard"
    said = found.placements["checkpoints"].reasons[-1]
    assert (said.id, said.parameters["option"]) == ("saving-too-little", "s3-express-one-zone")
    # 1.01 % of what the GPUs cost: of the least that any change has to save, and for one more system.
    assert said.parameters["amount"] == pytest.approx(0.0101 * 730 * 55.04)


def test_one_more_system_is_no_more_work_for_a_larger_cluster() -> None:
    # 400 nodes whose random reads are on FSx for Lustre: 1 % of their GPUs is USD 52,838 in 10 days, 20 hours of one
    # 1,101.
    small = {"reads": "random", "request_bytes": 32_768}
    found = plan(instances=400, dataset_bytes=4e12, objects=15_000, run_hours=240, **small)
    assert found.recommended == "fsx-for-lustre"
    here, there = found.saving("fsx-for-lustre").total, found.saving("s3-express-one-zone").total
    assert here is not None and there is not None
    gpus = 400 * 240 * 55.04
    assert 1_101 + 0.0001 * gpus < here.value - there.value < 52_838 + 0.0001 * gpus
    assert found.placements["checkpoints"].option == "s3-express-one-zone"


def test_a_restore_that_misses_its_target_disqualifies_the_cheapest() -> None:
    cheapest = plan(instances=4, interface="s3-api").placements["checkpoints"]
    assert cheapest.model == "s3-express-one-zone"
    # Over 12.5 GB/s to each of 4 nodes 980 GB come back in no less than 24.5 s; FSx over EFA is sized for it.
    found = plan(instances=4, restore_target=24, interface="s3-api")
    placed = found.placements["checkpoints"]
    assert placed.option == "fsx-for-lustre"
    assert found.saving("s3-express-one-zone").total.value < found.saving("fsx-for-lustre").total.value  # type: ignore[union-attr]  # both are priced


UNPRICED = {"instance_type": None, "accelerator": "H100", "accelerators_per_instance": 8, "gpu_hour_price": None}


def test_without_a_price_of_the_gpus_the_rules_option_stays_while_it_stalls_no_more_than_tolerated() -> None:
    # A program that needs POSIX: no other option can take its files.
    placed = plan(**UNPRICED, interface="posix").placements["checkpoints"]
    assert (placed.option, placed.model, placed.decided_by) == ("fsx-for-lustre", "fsx-for-lustre", "rule")
    share = plan(**UNPRICED).saving("fsx-for-lustre").stall.share
    # Sized for it: 5 % of 1,800 s at 80 % of 13.61 GB/s; 14,400 GiB bring 14.4 GB/s.
    assert share is not None and share.value == pytest.approx(980e9 / (0.80 * 14.4e9) / 1800)


def test_without_a_price_of_the_gpus_saves_go_where_they_cost_less_at_any_price() -> None:
    placed = plan(**UNPRICED).placements["checkpoints"]
    assert (placed.option, placed.rule, placed.decided_by) == ("s3-standard", "fsx-for-lustre", "model")
    # The GPUs wait less for S3 (1.4 % of the time against 4.7 %), and S3 holds the same copies: it spares the 14,400
    # GiB at USD 0.60, and of 459 requests for each of 256 files, which exports take in parts of 8 MiB, 360.
    reason = next(reason for reason in placed.reasons if reason.id == "saving-cheaper-at-any-price")
    dearer = reason.parameters["other_cost"].value - reason.parameters["cost"].value
    assert dearer == pytest.approx(14_400 * 0.60 + 1460 * 256 * 360 * 0.005 / 1000)
    assert reason.parameters["parts"] == ("idle-gpu",)
    for price in (1.0, 55.04, 500.0):  # as any price says
        assert plan(**UNPRICED | {"gpu_hour_price": price}).placements["checkpoints"].option != "fsx-for-lustre"


def test_doubling_every_price_doubles_the_cost_of_the_plan_and_of_saving_anywhere() -> None:
    facts = load()
    twice = facts.with_each(
        lambda fact: fact, lambda row: replace(row, quantity=None if row.quantity is None else row.quantity * 2.0)
    )
    once = plan()
    doubled = recommend(Workload.from_mapping(LLM | {"gpu_hour_price": 2 * 55.04}, facts), twice)
    assert once.cost.total is not None and doubled.cost.total is not None
    assert doubled.cost.total.value == pytest.approx(2 * once.cost.total.value)
    for before, after in zip(once.savings, doubled.savings, strict=True):
        assert before.total is not None and after.total is not None
        assert after.total.value == pytest.approx(2 * before.total.value), before.option


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 400), st.integers(1, 400), st.floats(1e8, 1e13))
def test_more_nodes_never_make_a_save_to_s3_slower(nodes: int, more: int, size: float) -> None:
    """But for what opens and closes each more upload, a short last part of each file, and the three requests of it.

    3,500 of them a second are taken, of which 80 % or 40 are reached.

    The fast end is of clients with 25 parts under way, and parts are so large that there are ten.
    """
    asked = {"checkpoint_bytes": size, "instances": nodes}
    slow, fast = (
        recommend(Workload.from_mapping(LLM | asked | {"instances": count}, load()), load())
        .saving("s3-standard")
        .stall.save_seconds
        for count in (nodes, nodes + more)
    )
    assert slow is not None and fast is not None
    ranks = 8 * (nodes + more)
    beside, fewest = (8 * more * 2 + ranks) / 3500, ranks * 3 / 3500
    for before, after, reached in zip(slow[1:3], fast[1:3], (0.8, 0.4), strict=True):
        assert after <= max(before + beside / reached, fewest / reached) * (1 + 1e-9)


def test_a_lustre_export_is_billed_as_long_as_the_timeline_says_that_each_save_is_in_s3() -> None:
    """Full fine-tuning of 7B on four p4d: 98 GB each half hour of 168 hours, 336 times; an export takes 1 min 52 s."""
    traits: dict[str, Any] = {
        "task": "full-fine-tuning",
        "instances": 4,
        "instance_type": "p4d.24xlarge",
        "model_parameters": 7e9,
        "interface": "posix",
        "file_operations": ["rename"],
        "dataset_bytes": 500e9,
        "checkpoints_kept": 2,
    }
    found = recommend(Workload.from_mapping(traits, load()), load())
    assert found.recommended == found.placements["checkpoints"].option == "fsx-for-lustre"
    bill = amounts(found)
    # 32 ranks × (366 parts of 8 MiB and 2 requests around them)
    assert bill["checkpoint-puts"] == pytest.approx(336 * 32 * 368 * 0.005 / 1000) == pytest.approx(19.78, abs=0.01)
    assert bill["checkpoint-storage"] == pytest.approx(2 * 98e9 / GIB * 168 / 730 * 0.023)
    steps = {step.id: step for step in course(found, load())}
    assert steps["save"].parameters["in_s3"] is not None
    # Automatic export without DELETED leaves all of them.
    assert steps["delete.copies.fsx-for-lustre"].parameters["bytes"].value == pytest.approx(336 * 98e9)
    # 2,400 GiB are 2,577 GB: room for all 500 GB of data, 14 GB of weights and 196 GB of checkpoints.
    said = {reason.id for reason in found.placements["training_reads"].reasons}
    assert "fsx-loads-what-is-read" in said and "fsx-sized-for-what-is-read" not in said
    first = sized(Workload.from_mapping(traits, load()), load(), plan=found).found.all[0]
    assert first.capacity_gib == 2400 and "fsx-holds-what-is-read" not in {note.id for note in first.notes}


def test_where_exports_fall_behind_those_that_are_made_are_billed() -> None:
    # 980 GB at 875 MB/s take 18 min 40 s: every second save of ten minutes is exported.
    found = plan(checkpoint_interval=600)
    puts = next(line for line in found.saving("fsx-for-lustre").lines if line.id == "checkpoint-puts")
    assert puts.quantity is not None
    assert puts.quantity.value * 1000 == pytest.approx(256 * 459 * 730 * 6 / 2)
