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
    stalls = {"nothing-in-time", "saves-stall-sync"}  # of a checkpoint every 10 s
    assert [caveat.id for caveat in grave(**traits) if caveat.id not in stalls] == [doubt]


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


# ---- rates above the peak --------------------------------------------------------------------------------------------

#: bf16 of H100
PEAK = 989e12


def above_peak(**traits: Any) -> dict[str, Any] | None:
    found = [caveat.parameters for caveat in grave(**traits) if caveat.id == "doubt-rate-above-peak"]
    return dict(found[0]) if found else None


def test_a_published_rate_is_held_against_the_peak_with_the_stated_model() -> None:
    """Stable Diffusion 2 on A100, 36.25 samples/s, scaled to H100: × 989 / 312 = 114.9.

    6 FLOP × 12e9 parameters × 176, as DiT-XL/2 at 256 px uses its own (119e9 / 675e6), are 12.67 TFLOP for a sample.
    """
    told = above_peak(preset="image-generation", model_parameters=12e9)
    assert told is not None
    assert told["rate"].value == pytest.approx(36.25 * 989 / 312)
    assert told["needs"].value == pytest.approx(6 * 12e9 * 176 * 36.25 * 989 / 312)
    assert (told["peak"].value, told["uses"]) == (PEAK, 176)
    assert told["most"].value == pytest.approx(PEAK / 12.672e12) == pytest.approx(78.05, abs=0.01)
    # What DiT-XL/2 itself takes is within it, and so are 78 samples/s of the larger one, and 115 with a tenth active.
    assert above_peak(preset="image-generation", model_parameters=675e6) is None
    assert above_peak(preset="image-generation", model_parameters=12e9, samples_per_second_per_accelerator=78) is None
    assert above_peak(preset="image-generation", model_parameters=12e9, active_parameters=1.2e9) is None
    # With frozen weights it is 4 FLOP: 117.1 samples/s at most.
    adapters: dict[str, Any] = {"task": "lora", "preset": "image-generation", "model_parameters": 12e9}
    assert above_peak(**adapters) is None
    told = above_peak(**adapters, samples_per_second_per_accelerator=118)
    assert told is not None and told["most"].value == pytest.approx(PEAK / (4 * 12e9 * 176))


def test_a_stated_rate_of_sequences_is_held_against_the_peak_at_the_stated_precision() -> None:
    # 6 × 70e9 × 8,192 tokens are 3.44 PFLOP for a sequence: 0.2875 of them a second in bf16, twice as many in fp8.
    job: dict[str, Any] = {"model_parameters": 70e9, "sequence_length": 8192}
    told = above_peak(**job, samples_per_second_per_accelerator=0.29)
    assert told is not None and told["most"].value == pytest.approx(PEAK / (6 * 70e9 * 8192))
    assert above_peak(**job, samples_per_second_per_accelerator=0.28) is None
    assert above_peak(**job, samples_per_second_per_accelerator=0.57, precision="fp8") is None
    assert above_peak(**job, samples_per_second_per_accelerator=0.58, precision="fp8") is not None
    # A mixture of experts uses its active parameters alone: a tenth.
    assert above_peak(**job, active_parameters=7e9, samples_per_second_per_accelerator=2.8) is None
    assert above_peak(**job, active_parameters=7e9, samples_per_second_per_accelerator=2.9) is not None


def test_of_other_samples_each_parameter_is_used_once_at_least() -> None:
    # 6 × 12e9 FLOP a sample: 13,736 a second.
    own: dict[str, Any] = {"sample_bytes": 1e5, "model_parameters": 12e9}
    told = above_peak(**own, samples_per_second_per_accelerator=13_800)
    assert told is not None and told["uses"] == 1 and told["most"].value == pytest.approx(PEAK / 72e9)
    assert above_peak(**own, samples_per_second_per_accelerator=13_700) is None
    assert above_peak(sample_bytes=1e5, samples_per_second_per_accelerator=13_800) is None  # no size was stated
    # Of V100 no peak has a source.
    old = {"instance_type": None, "accelerator": "V100", "accelerators_per_instance": 8}
    assert above_peak(**own, samples_per_second_per_accelerator=1e6, **old) is None


@pytest.mark.parametrize("precision", ["bf16", "fp8"])
@pytest.mark.parametrize("preset", ["llm-text", "llm-text-mamba", "lora"])
def test_what_is_worked_out_here_is_never_above_the_peak(preset: str, precision: str) -> None:
    task = "lora" if preset == "lora" else "pretraining"
    for parameters in (1e8, 8e9, 4e11):
        job: dict[str, Any] = {"task": task, "preset": preset, "precision": precision, "model_parameters": parameters}
        assert above_peak(**job) is None


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
