"""The published rule, case by case: what is offered and which rules fire."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from gpufeed.facts import load
from gpufeed.model.advise import recommend
from gpufeed.model.rules import PREDICATES
from gpufeed.model.workload import Workload

CASES = list(csv.DictReader((Path(__file__).parent / "rule_cases.csv").open(encoding="utf-8")))


def workload(case: dict[str, str]) -> Workload:
    return Workload.from_mapping(
        {
            "task": case["task"],
            "instances": int(case["instances"]),
            "accelerator": case["accelerator"],
            "accelerators_per_instance": int(case["accelerators_per_instance"]),
            "reads": case["reads"],
            "checkpoints": case["checkpoints"],
            "interface": case["interface"],
            "file_operations": [name for name in case["file_operations"].split("|") if name],
            "data_in_s3": case["data_in_s3"] == "True",
            "avoid_parallel_file_system": case["avoid_parallel_file_system"] == "True",
        },
        load(),
    )


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_the_rule_offers_exactly_what_the_source_leaves_open(case: dict[str, str]) -> None:
    rule = recommend(workload(case), load()).rule
    assert {rule.option, *rule.also_allowed} == set(case["allowed_tiers"].split("|"))


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_the_named_rules_fire(case: dict[str, str]) -> None:
    rule = recommend(workload(case), load()).rule
    assert set(case["must_fire"].split("|")) - {""} <= set(rule.rules)


def test_every_rule_in_the_data_has_a_predicate_and_the_other_way_round() -> None:
    assert set(load().rules) == set(PREDICATES)
