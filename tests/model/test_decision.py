"""What a search asks for again and again is the same decision that the whole plan tells."""

from __future__ import annotations

from typing import Any

import pytest

from gpufeed.facts import load
from gpufeed.facts.quantity import Quantity, least, most
from gpufeed.model.advise import decide, plan_of, recommend
from gpufeed.model.workload import Workload

LANGUAGE_MODEL = {
    "task": "pretraining",
    "instances": 64,
    "instance_type": "p5.48xlarge",
    "model_parameters": 70e9,
    "checkpoint_interval": 1800.0,
}


@pytest.mark.parametrize(
    "changed",
    [
        {},
        {"instances": 4, "interface": "s3-api"},
        {"checkpoint_mode": "async", "interface": "posix"},
        {"instance_type": "p4d.24xlarge", "region": "cn-north-1"},
        # Drives of no named instance are not known.
        {"instance_type": None, "accelerator": "H200", "accelerators_per_instance": 8},
    ],
)
def test_a_decision_places_every_role_that_the_plan_does_not_always_leave_in_s3(changed: dict[str, Any]) -> None:
    workload = Workload.from_mapping(LANGUAGE_MODEL | changed, load())
    decision, plan = decide(workload, load()), recommend(workload, load())
    placed = {role: placement.option for role, placement in plan.placements.items()}
    assert decision.options | {"dataset": "s3-standard", "key_checkpoints": "s3-standard"} == placed
    assert plan_of(decision) == plan


def test_the_least_rests_on_the_weakest_basis_and_the_sources_of_all_it_was_chosen_from() -> None:
    one = Quantity(1.0, 4.0, 9.0, "bytes/s", "published", frozenset({"a"}))
    other = Quantity(2.0, 3.0, 8.0, "bytes/s", "assumed", frozenset({"b"}))
    inside = Quantity(5.0, 5.0, 5.0, "bytes/s", "stated", frozenset({"a"}))
    both = frozenset({"a", "b"})
    assert least(one, other, inside) == Quantity(1.0, 3.0, 5.0, "bytes/s", "assumed", both)
    assert most(one, other, inside) == Quantity(5.0, 5.0, 9.0, "bytes/s", "assumed", both)
