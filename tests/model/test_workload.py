"""Traits are checked before anything is computed from them."""

from __future__ import annotations

from typing import Any

import pytest

from gpufeed.facts import load
from gpufeed.facts.errors import InputError
from gpufeed.model.workload import PRECISIONS, Workload

LEAST: dict[str, Any] = {"task": "lora", "instances": 1, "instance_type": "p5.48xlarge"}


def refused(**traits: Any) -> str:
    with pytest.raises(InputError) as caught:
        Workload.from_mapping(LEAST | traits, load())
    assert caught.value.exit_code == 2
    return str(caught.value)


def test_the_least_workload_is_accepted_and_read_back() -> None:
    workload = Workload.from_mapping(LEAST, load())
    assert workload.to_mapping() == LEAST
    assert Workload.from_mapping(workload.to_mapping(), load()) == workload


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("MXFP8", "mxfp8"),
        ("FP8-MX", "mxfp8"),
        ("FP8-CS", "fp8-current"),
        ("float8_tensorwise", "fp8-current"),
        ("fp8_delayed_scaling", "fp8-delayed"),
        ("float8 rowwise", "fp8-rowwise"),
        ("fp8_blockwise", "fp8-blockwise"),
        ("NVFP4", "nvfp4"),
        ("float8", "fp8"),
        ("bfloat16", "bf16"),
        ("float16", "fp16"),
    ],
)
def test_a_precision_is_read_by_the_names_that_training_software_has_for_it(written: str, read: str) -> None:
    assert Workload.from_mapping(LEAST | {"precision": written}, load()).precision == read


def test_every_precision_has_its_facts_and_no_name_stands_for_two() -> None:
    told = load().model.parts["precisions"].parts
    assert tuple(told) == PRECISIONS
    names = [*PRECISIONS, *(name for one in told.values() for name in one.get_value("also_called"))]
    assert len(names) == len(set(names))


def test_operations_come_out_once_each_in_the_order_of_the_contract() -> None:
    workload = Workload.from_mapping(LEAST | {"file_operations": ["lock", "rename", "lock"]}, load())
    assert workload.file_operations == ("rename", "lock")


@pytest.mark.parametrize(
    ("traits", "sentence"),
    [
        ({"instance": 3}, "instance is not a field of a workload. Nearest: instances."),
        ({"instances": -1}, "instances = -1 is out of range: it lies between 1 and 100000."),
        ({"instances": 1.5}, "instances must be a whole number, not 1.5."),
        ({"instances": True}, "instances must be a number, not true."),
        ({"dataset_bytes": -5}, "dataset_bytes = -5 is out of range: it must be more than 0 and at most 1e+18."),
        ({"dataset_bytes": float("nan")}, "dataset_bytes must be a number, not nan."),
        ({"dataset_bytes": "2 TB"}, "dataset_bytes must be a number, not 2 TB."),
        ({"instance_type": "p5.48xlrge"}, "instance_type = p5.48xlrge is not known. Nearest: p5.48xlarge."),
        ({"accelerator": "A100"}, "p5.48xlarge has H100, not A100. Leave out one of the two."),
        ({"accelerators_per_instance": 9}, "p5.48xlarge has 8 accelerators, not 9. State at most that many."),
        ({"file_operations": "rename"}, "file_operations must be a list of words, not rename."),
        ({"file_operations": ["renam"]}, "file_operations = renam is not known. Nearest: rename."),
        ({"data_in_s3": "yes"}, "data_in_s3 must be true or false, not yes."),
        ({"region": "us-east-9"}, "region = us-east-9 is not known. Nearest: us-east-2."),
        (
            {"model_parameters": 1e9, "active_parameters": 2e9},
            "active_parameters (2e+09) cannot be more than model_parameters (1e+09).",
        ),
    ],
)
def test_what_cannot_be_used_is_refused_in_one_sentence(traits: dict[str, Any], sentence: str) -> None:
    assert refused(**traits) == sentence


@pytest.mark.parametrize(
    ("stated", "missing"),
    [
        ({"instances": 1, "instance_type": "p5.48xlarge"}, "task"),
        ({"task": "lora", "accelerator": "H100"}, "instances"),
        ({"region": "us-east-1"}, "task, instances, instance_type"),
        ({}, "task, instances, instance_type"),
    ],
)
def test_all_that_is_missing_is_named_at_once(stated: dict[str, Any], missing: str) -> None:
    with pytest.raises(InputError) as refused:
        Workload.from_mapping(stated, load())
    assert str(refused.value) == (
        f"Missing: {missing}. Every workload states task, instances, and instance_type (or accelerator with "
        "accelerators_per_instance); gpufeed fields says what to write."
    )


def test_instances_alone_do_not_say_what_trains() -> None:
    with pytest.raises(InputError, match="State instance_type, or accelerator together"):
        Workload.from_mapping({"task": "lora", "instances": 1, "accelerator": "H100"}, load())


def test_a_long_value_is_cut_and_kept_on_one_line() -> None:
    sentence = refused(task="x\ny" * 100)
    assert "\n" not in sentence and len(sentence) < 200
