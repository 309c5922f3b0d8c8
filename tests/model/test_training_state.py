"""A model that the memory of its job cannot hold is said before the plan."""

from __future__ import annotations

from typing import Any

import pytest

from gpufeed.facts import load
from gpufeed.model.advise import recommend
from gpufeed.model.recommendation import Caveat
from gpufeed.model.workload import Workload

IDS = ("state-does-not-fit", "weights-exceed-accelerators", "state-exceeds-accelerators")


def told(**traits: Any) -> list[Caveat]:
    plan = recommend(Workload.from_mapping({"instances": 1} | traits, load()), load())
    return [warning for warning in plan.warnings if warning.id in IDS]


def sizes(caveat: Caveat) -> dict[str, float]:
    return {name: size.value for name, size in caveat.parameters.items()}


def test_a_model_that_fits_nowhere_is_said_first() -> None:
    job = Workload.from_mapping(
        {"task": "full-fine-tuning", "instances": 1, "instance_type": "p4d.24xlarge", "model_parameters": 405e9},
        load(),
    )
    first = recommend(job, load()).warnings[0]
    assert (first.id, first.grave) == ("state-does-not-fit", True)
    # 405e9 × 14 = 5.67 TB, × 2 = 810 GB of weights; 8 × 40 GiB of accelerators, 1,152 GiB of host.
    assert sizes(first) == {
        "state": pytest.approx(5.67e12),
        "weights": pytest.approx(8.1e11),
        "accelerators": 320 * 2**30,
        "hosts": 1152 * 2**30,
    }


@pytest.mark.parametrize(
    ("traits", "said"),
    [
        # Full: 70e9 × 14 = 980 GB against 8 × 80 GiB = 687 GB, and 2,048 GiB of host beside it.
        ({"task": "full-fine-tuning", "instance_type": "p5.48xlarge", "model_parameters": 70e9}, [IDS[2]]),
        ({"task": "full-fine-tuning", "instance_type": "p5.48xlarge", "model_parameters": 49e9}, []),  # 686 GB
        # bf16 moments need 8 bytes instead of 14: 560 GB.
        ({"task": "full-fine-tuning", "instance_type": "p5.48xlarge", "model_parameters": 70e9,
          "optimizer": "adamw-bf16-moments"}, []),
        ({"task": "pretraining", "instances": 2, "instance_type": "p5.48xlarge", "model_parameters": 70e9}, []),
        # 350e9 × 2 = 700 GB of weights against 687 GB; 350e9 × 8 = 2.8 TB against 2.89 TB with the host.
        ({"task": "full-fine-tuning", "instance_type": "p5.48xlarge", "model_parameters": 350e9,
          "optimizer": "adamw-bf16-moments"}, [IDS[1]]),
        ({"task": "pretraining", "instance_type": "p5.48xlarge", "model_parameters": 1e15}, [IDS[0]]),
        # LoRA freezes 2 bytes a parameter, QLoRA half a byte: 140 and 35 GB against 4 × 24 GiB = 103 GB (host: 206).
        ({"task": "lora", "instance_type": "g5.12xlarge", "model_parameters": 70e9}, [IDS[1]]),
        ({"task": "qlora", "instance_type": "g5.12xlarge", "model_parameters": 70e9}, []),
        ({"task": "lora", "instance_type": "g5.12xlarge", "model_parameters": 405e9}, [IDS[0]]),  # 810 GB
        ({"task": "qlora", "instance_type": "g5.xlarge", "model_parameters": 70e9}, [IDS[1]]),  # 35 against 26 (+ 17)
        # The rest of the host is the reader's to state: 16 TB take it.
        ({"task": "full-fine-tuning", "instance_type": "p4d.24xlarge", "model_parameters": 405e9,
          "host_memory_bytes": 16e12}, [IDS[1]]),
        # A host of unknown size may hold it.
        ({"task": "full-fine-tuning", "accelerator": "H100", "accelerators_per_instance": 8,
          "model_parameters": 70e9}, [IDS[2]]),
        # Nobody stated a size.
        ({"task": "full-fine-tuning", "instance_type": "g5.xlarge"}, []),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_said_for_each_kind_of_training(traits: dict[str, Any], said: list[str]) -> None:
    assert [caveat.id for caveat in told(**traits)] == said
