"""What has no price in a Region: never billed, and compared by what other Regions ask for it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from examples import PHOTOS
from hypothesis import given, settings
from hypothesis import strategies as st

from gpufeed.facts import Facts, load
from gpufeed.facts.prices import Price
from gpufeed.model.advise import recommend
from gpufeed.model.recommendation import Recommendation
from gpufeed.model.workload import Workload


def plan(traits: dict[str, Any], facts: Facts | None = None) -> Recommendation:
    known = load() if facts is None else facts
    return recommend(Workload.from_mapping(traits, known), known)


def without(*options: str, region: str = "us-east-1") -> Facts:
    """The facts of an installation that has no price of some options in one Region."""
    facts = load()

    def kept(row: Price) -> bool:
        return row.region != region or row.option not in options

    prices = tuple(row for row in facts.prices if kept(row))
    bands = {key: rows for key, rows in facts._bands.items() if kept(rows[0])}
    return replace(facts, prices=prices, _bands=bands)


# ---- the price of another Region -------------------------------------------------------------------------------------


def test_it_is_the_least_the_median_and_the_most_of_the_regions_that_bill_in_the_same_currency() -> None:
    facts = load()
    # PERSISTENT_2 at 250 MB/s per TiB: 0.21, 0.21, 0.24, 0.269 and 0.282.
    found = facts.price_elsewhere("fsx-for-lustre", "storage", "eu-west-1", "PERSISTENT_2-SSD-250")
    assert found is not None and tuple(found[:3]) == (0.21, 0.24, 0.282)
    assert (found.unit, found.basis) == ("USD/GiB-month", "assumed") and found.sources
    # S3 Files: us-east-1 at 0.03 per GiB read, Tokyo at 0.04; seen from Tokyo, us-east-1 alone.
    found = facts.price_elsewhere("s3-files", "read", "eu-west-1")
    assert found is not None and tuple(found[:3]) == pytest.approx((0.03, 0.035, 0.04))
    found = facts.price_elsewhere("s3-files", "read", "ap-northeast-1")
    assert found is not None and tuple(found[:3]) == (0.03, 0.03, 0.03)
    assert facts.price_elsewhere("s3-files", "read", "cn-north-1") is None
    assert facts.instance_price_elsewhere("p5.48xlarge", "cn-north-1") is None


# ---- what it is good for ---------------------------------------------------------------------------------------------

#: Small files behind a mount: read by the rule through S3 Files, which asks money for each GiB that is read.
FILES = PHOTOS | {"interface": "file-paths", "data_in_s3": True, "file_operations": ["rename"], "run_hours": 500}


@pytest.mark.parametrize("missing", ["s3-files", "fsx-for-lustre", "s3-express-one-zone"])
@pytest.mark.parametrize("traits", [PHOTOS, FILES], ids=["photos", "files"])
def test_a_price_that_is_missing_here_does_not_turn_a_choice_that_it_would_not_turn(
    missing: str, traits: dict[str, Any]
) -> None:
    priced = plan(traits | {"region": "us-east-1"})
    found = plan(traits | {"region": "us-east-1"}, without(missing))
    assert {name: one.option for name, one in found.placements.items()} == {
        name: one.option for name, one in priced.placements.items()
    }


def test_it_is_in_no_sum_of_the_bill() -> None:
    found = plan(FILES | {"region": "us-east-1"}, without("s3-files"))
    answer = found.option("s3-files")
    assert answer.cost.total is answer.cost.beyond_base is answer.cost_of_reads is None
    own = next(line for line in answer.cost.lines if line.id == "file-reads")
    assert own.amount is own.unit_price is None
    assert own.quantity is not None and own.elsewhere is not None
    # Tokyo asks 0.04 for a GiB.
    assert own.elsewhere.value == pytest.approx(own.quantity.value * 0.04)
    said = next(reason for reason in answer.reasons if reason.id == "priced-elsewhere")
    assert said.parameters["cost"] == answer.weighed == answer.cost.elsewhere


def test_where_every_price_is_known_nothing_is_taken_from_elsewhere() -> None:
    found = plan(PHOTOS | {"region": "us-east-1"})
    priced = [answer for answer in found.options if answer.cost.beyond_base is not None]
    assert priced and all(answer.cost.elsewhere is None for answer in priced)
    assert all(line.elsewhere is None for answer in priced for line in answer.cost.lines)


def test_a_choice_by_prices_of_others_says_so() -> None:
    traits = {
        "task": "qlora",
        "model_parameters": 70e9,
        "lora_rank": 64,
        "instances": 1,
        "instance_type": "g6e.12xlarge",
        "region": "ap-northeast-1",
        "dataset_bytes": 2e9,
        "epochs": 3,
    }
    placed = plan(traits).placements["checkpoints"]
    assert (placed.option, placed.decided_by) == ("s3-express-one-zone", "model")
    assert "saving-priced-elsewhere" in [reason.id for reason in placed.reasons]


# ---- a default that is stated ----------------------------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(
    st.fixed_dictionaries(
        {
            "task": st.sampled_from(["pretraining", "full-fine-tuning", "lora", "qlora"]),
            "instances": st.sampled_from([1, 2, 8, 16, 17, 64, 300]),
            "instance_type": st.sampled_from(["p5.48xlarge", "g6e.12xlarge", "p4d.24xlarge"]),
            "model_parameters": st.sampled_from([1e9, 8e9, 70e9, 405e9]),
            "region": st.sampled_from(["us-east-1", "eu-central-1", "ap-northeast-1", "cn-north-1"]),
            "interface": st.sampled_from(["any", "posix", "s3-api", "file-paths"]),
        }
    )
)
def test_a_default_that_is_stated_changes_no_placement(traits: dict[str, Any]) -> None:
    by_default = plan(traits)
    said = {caveat.id: caveat.parameters for caveat in by_default.warnings}
    stated = {
        "checkpoint_interval": by_default.demand.checkpoint_interval,
        "checkpoint_mode": by_default.demand.checkpoint_mode,
        "run_hours": said["default-run-hours"]["hours"],
        "data_in_s3": True,
    }
    found = plan(traits | stated)
    assert {name: one.option for name, one in found.placements.items()} == {
        name: one.option for name, one in by_default.placements.items()
    }


def test_a_type_without_a_price_here_is_named_where_it_would_cost_less_together_with_the_gpus_that_wait() -> None:
    job = {"task": "pretraining", "instances": 32, "instance_type": "p5en.48xlarge", "model_parameters": 70e9}
    job |= {"dataset_bytes": 20e12, "interface": "posix", "checkpoints": "frequent", "run_hours": 200}
    east, west = (plan(job | {"region": region}) for region in ("us-east-1", "us-west-2"))
    # PERSISTENT_2 at 1,000 MB/s per TiB has a price in us-east-1, 0.60, and is chosen there; us-west-2 has none for it.
    # By the median of the others, 0.6365, fewer GiB pay.
    settings = east.placements["training_reads"].configuration
    assert (settings["throughput_mb_per_s_per_tib"], settings["storage_capacity_gib"]) == (1000, 43_200)
    assert west.placements["training_reads"].configuration["throughput_mb_per_s_per_tib"] == 250
    [said] = [warning.parameters for warning in west.warnings if warning.id == "fsx-unpriced-with-waiting"]
    assert (said["configuration"], said["gib"]) == ("PERSISTENT_2-SSD-1000", 38_400)
    assert 0.5 < said["share"] < 1.0
    assert "fsx-unpriced-with-waiting" not in {warning.id for warning in east.warnings}
