"""Bills of which something has no price anywhere."""

from __future__ import annotations

from typing import Any

import pytest

from gpufeed.facts import load
from gpufeed.facts.quantity import Quantity
from gpufeed.model.advise import recommend
from gpufeed.model.any_price import cheaper_at_any_price, known_of
from gpufeed.model.recommendation import CostLine, Recommendation
from gpufeed.model.workload import Workload


def plan(**asked: Any) -> Recommendation:
    return recommend(Workload.from_mapping(asked, load()), load())


def line(id_: str, amount: float | None, quantity: Quantity | None = None, part: str = "requests") -> CostLine:
    paid = None if amount is None else Quantity.exact(amount, "USD")
    option = None if part == "idle-gpu" else "s3-standard"
    return CostLine(id_, part, "hour", quantity, None, paid, option=option)


def cheaper(mine: list[CostLine], theirs: list[CostLine], least: float = 0.0) -> bool:
    return cheaper_at_any_price(known_of(mine, "USD"), known_of(theirs, "USD"), least)


def test_what_is_priced_decides_where_no_more_is_taken_of_what_is_not() -> None:
    few, many = Quantity(1, 2, 3), Quantity(1, 2, 4)
    two, five = line("gets", 2.0), line("gets", 5.0)
    assert cheaper([two, line("transfer", None, few)], [five, line("transfer", None, many)])
    assert cheaper([two], [five, line("transfer", None, many)])
    # More of it in the worst case alone: a price could be high enough.
    assert not cheaper([two, line("transfer", None, many)], [five, line("transfer", None, few)])
    assert not cheaper([two, line("transfer", None, few)], [five])
    assert not cheaper([two, line("transfer", None, None)], [five, line("transfer", None, many)])
    # It has to save enough of what is priced: that of the rest is not known.
    assert cheaper([two], [five, line("transfer", None, many)], 2.9)
    assert not cheaper([two], [five, line("transfer", None, many)], 3.0)


def test_hours_of_waiting_gpus_are_one_thing_whatever_they_wait_for() -> None:
    reads, saves = Quantity.exact(3.0), Quantity.exact(4.0)
    mine = [line("gets", 1.0), line("idle-gpu", None, reads, "idle-gpu"), line("saving-gpu", None, saves, "idle-gpu")]
    seven = line("weights-gpu", None, Quantity.exact(7.0), "idle-gpu")
    less = line("weights-gpu", None, Quantity.exact(6.9), "idle-gpu")
    assert cheaper(mine, [line("gets", 2.0), seven])
    assert not cheaper(mine, [line("gets", 2.0), less])
    # For the same money fewer hours: cheaper as soon as an hour costs anything.
    assert cheaper([line("gets", 1.0), less], [line("gets", 1.0), seven])
    assert not cheaper([line("gets", 1.0), seven], [line("gets", 1.0), seven])


def test_reads_across_regions_go_where_the_data_cross_once_whatever_that_costs() -> None:
    found = plan(
        task="pretraining",
        instances=8,
        instance_type="p5.48xlarge",
        preset="image-generation",
        dataset_bytes=20e12,
        objects=100_000_000,
        network_path="other-region",
        model_parameters=2.6e9,
        checkpoint_interval=3600,
        run_hours=200,
        region="us-east-1",
    )
    across = {
        one.option: next(each.quantity for each in one.cost.lines if each.id == "transfer") for one in found.options
    }
    once, each_epoch = across["fsx-for-lustre"], across["s3-standard"]
    assert once is not None and each_epoch is not None
    assert once.value == pytest.approx(20e12 / 2**30) and each_epoch.low > 10 * once.high
    placed = found.placements["training_reads"]
    assert (placed.option, placed.rule) == ("fsx-for-lustre", "s3-standard")
    reason = next(reason for reason in placed.reasons if reason.id == "model-cheaper-at-any-price")
    assert "transfer" in reason.parameters["parts"]
    assert found.fed is not None and found.fed.value == 1.0


def test_where_nothing_of_a_region_is_priced_saves_that_wait_less_for_the_same_copies_are_cheaper() -> None:
    """336 saves of 192 ranks, 2.19 GB each: exported in 261 parts of 8 MiB, to S3 itself in 75 of 28 MiB.

    (1,920 / 5,500 s − 30 ms) × 90 MB/s = 28.7 MB.
    """
    found = plan(
        task="pretraining",
        instances=24,
        instance_type="p4d.24xlarge",
        model_parameters=30e9,
        gpu_hour_price=200,
        region="cn-northwest-1",
    )
    on_s3, on_fsx = found.saving("s3-standard"), found.saving("fsx-for-lustre")
    (kept, puts), (kept_too, exported) = ([each.quantity for each in one.lines[:2]] for one in (on_s3, on_fsx))
    assert kept == kept_too and puts is not None and exported is not None
    assert (puts.value, exported.value) == pytest.approx((336 * 192 * 77 / 1000, 336 * 192 * 263 / 1000))
    assert on_s3.stall.share is not None and on_fsx.stall.share is not None
    assert on_s3.stall.share.high < on_fsx.stall.share.low
    assert found.placements["checkpoints"].option == "s3-standard"


def test_a_system_is_not_set_up_for_less_than_that_is_worth_also_where_the_rule_asks_for_another_one() -> None:
    # Directory bucket against S3 Standard: cents, where an hour of one instance is the least that any change is worth.
    found = plan(
        task="lora",
        instances=19,
        instance_type="g6e.12xlarge",
        model_parameters=8e9,
        lora_rank=32,
        dataset_bytes=5e9,
        objects=50,
        epochs=3,
        region="us-east-1",
    )
    assert found.placements["training_reads"].rule == "fsx-for-lustre"
    assert found.recommended == "s3-standard"
