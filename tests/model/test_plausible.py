"""Contradictory traits and absurd values: refused in a sentence, or said before the answer; never a confident plan."""

from __future__ import annotations

from typing import Any

import pytest

from gpufeed.facts import load
from gpufeed.facts.errors import InputError
from gpufeed.model.advise import recommend
from gpufeed.model.recommendation import Caveat
from gpufeed.model.workload import Workload

JOB: dict[str, Any] = {"task": "pretraining", "instances": 8, "instance_type": "p5.48xlarge"}


def grave(**traits: Any) -> list[Caveat]:
    plan = recommend(Workload.from_mapping(JOB | traits, load()), load())
    first = [warning for warning in plan.warnings if warning.grave]
    assert list(plan.warnings[: len(first)]) == first  # before all others
    return first


@pytest.mark.parametrize(
    ("traits", "doubt"),
    [
        ({"interface": "s3-api", "file_operations": ["lock"]}, "doubt-objects-and-files"),
        ({"interface": "posix", "avoid_parallel_file_system": True}, "doubt-posix-without-file-system"),
        ({"checkpoints": "rare", "checkpoint_interval": 10.0, "model_parameters": 7e10}, "doubt-said-rare"),
        ({"checkpoints": "frequent", "checkpoint_interval": 80_000.0, "model_parameters": 1e9}, "doubt-said-frequent"),
        ({"checkpoint_interval": 7200.0, "run_hours": 1.0, "model_parameters": 1e9}, "doubt-no-checkpoint"),
    ],
)
def test_traits_that_contradict_each_other_are_named_with_what_is_assumed(traits: dict[str, Any], doubt: str) -> None:
    assert [caveat.id for caveat in grave(**traits)] == [doubt]


@pytest.mark.parametrize(
    ("traits", "trait", "value"),
    [
        ({"instances": 100_000}, "accelerators", 800_000),  # 8 each; the largest cluster of the sources has 100,000
        ({"dataset_bytes": 1e12, "objects": 10**12}, "object_bytes", 1),
        ({"model_parameters": 1e15}, "model_parameters", 1e15),
        ({"checkpoint_interval": 1e-3}, "checkpoint_interval", 1e-3),
        ({"run_hours": 1e6}, "run_hours", 3.6e9),
        ({"sequence_length": 10**8}, "sequence_length", 10**8),
    ],
)
def test_a_value_that_the_model_was_not_made_for_is_said_first(
    traits: dict[str, Any], trait: str, value: float
) -> None:
    told = [caveat.parameters for caveat in grave(**traits) if caveat.id == "doubt-range"]
    assert [(parameters["trait"], parameters["value"].value) for parameters in told] == [(trait, value)]


def test_an_ordinary_job_is_not_doubted() -> None:
    assert grave() == []
    assert grave(interface="s3-api", file_operations=["rename"]) == []  # Express can rename
    assert grave(checkpoints="rare", checkpoint_interval=7200.0, model_parameters=7e10) == []


@pytest.mark.parametrize(
    ("traits", "message_id"),
    [
        ({"instances": 10**9}, "workload.out-of-range"),
        ({"dataset_bytes": 999.0, "objects": 1000}, "workload.more-objects-than-bytes"),
        ({"dataset_bytes": 1e9, "sample_bytes": 1e10}, "workload.sample-above-dataset"),
        ({"working_set_bytes": 99e6, "sample_bytes": 100e6}, "workload.sample-above-working-set"),
        ({"dataset_bytes": 1e9, "working_set_bytes": 1e10}, "workload.more-read-than-there-is"),
    ],
)
def test_a_size_that_cannot_be_is_refused_in_one_sentence(traits: dict[str, Any], message_id: str) -> None:
    with pytest.raises(InputError) as refused:
        Workload.from_mapping(JOB | traits, load())
    assert refused.value.message_id == message_id
    assert "\n" not in str(refused.value)
