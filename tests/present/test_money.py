"""Every amount of money is said with its currency, the yuan in China."""

from __future__ import annotations

import re
from typing import Any

import pytest

from gpufeed.facts import load
from gpufeed.model.advise import recommend
from gpufeed.model.explain import explain
from gpufeed.model.flip import sensitivities
from gpufeed.model.recommendation import Recommendation
from gpufeed.model.workload import Workload
from gpufeed.present import derivation, tables, words
from gpufeed.present.fields import stated

JOB: dict[str, Any] = {
    "task": "pretraining",
    "instances": 16,
    "instance_type": "p4d.24xlarge",
    "preset": "image-classification",
    "dataset_bytes": 5e12,
    "objects": 50_000_000,
    "model_parameters": 3e8,
    "run_hours": 100,
    "gpu_hour_price": 41.5,
}
MONEY = re.compile(r"(^|[._])(cost|price|amount|unit_price|storage_per_month|total|beyond_base)($|_)")


def plan(region: str) -> Recommendation:
    return recommend(Workload.from_mapping(JOB | {"region": region}, load()), load())


@pytest.mark.parametrize(("region", "currency"), [("us-east-1", "USD"), ("cn-north-1", "CNY")])
def test_a_price_that_is_varied_is_shown_in_its_currency(region: str, currency: str) -> None:
    [price] = [one for one in sensitivities(plan(region), load()) if one.trait.name == "gpu_hour_price"]
    [row] = tables.sensitivity([price]).values.tolist()
    assert row[:2] == ["Price of an instance", f"{currency} 41.5 per hour"]
    assert all(currency in cell for cell in row[2:])
    assert all(f"from {currency} 41.5 per hour to {currency} " in words.flip_point(flip) for flip in price.flips)


@pytest.mark.parametrize(("region", "currency"), [("us-east-1", "USD"), ("cn-north-1", "CNY")])
def test_a_price_of_ones_own_is_read_back_in_its_currency(region: str, currency: str) -> None:
    found = plan(region)
    assert dict(stated(found.workload, found.currency))[words.trait("gpu_hour_price")] == f"{currency} 41.5"


@pytest.mark.parametrize(("region", "currency"), [("us-east-1", "USD"), ("cn-north-1", "CNY")])
def test_every_figure_that_is_money_opens_with_its_currency(region: str, currency: str) -> None:
    figures = explain(plan(region), load())
    money = {id_: derivation.amount(one.result) for id_, one in figures.items() if MONEY.search(id_)}
    assert len(money) > 10
    assert {id_: shown for id_, shown in money.items() if currency not in shown} == {}
    inputs = [given for one in figures.values() for given in one.inputs if given.name == "gpu_hour_price"]
    assert {derivation.amount(given.quantity, given.name) for given in inputs} == {f"{currency} 41.5 per hour"}
