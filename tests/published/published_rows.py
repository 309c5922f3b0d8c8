"""The published rows as data, and how each becomes the traits a user would enter."""

from __future__ import annotations

import csv
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gpufeed.facts import load

#: Whose training stack a row of kind ``mfu`` was run with, by the start of its id.
STACKS = {
    "mfu-lf-": "llm-foundry",
    "mfu-tt-": "torchtitan",
    "mfu-aws-": "torchtitan",  # AWS's torchtitan test case
    "mfu-mb": "megatron-bridge",
    "mfu-card-": "whole-run",
    "mfu-trn1-": "neuron",
}
#: The groups errors are counted in, by the start of the id; the longest start wins.
SOURCES = {
    "mfu-lf-": "llm-foundry",
    "mfu-tt-": "torchtitan",
    "mfu-aws-": "AWS p5 (torchtitan)",
    "mfu-mb-": "Megatron-Bridge, dense",
    "mfu-mbmoe-": "Megatron-Bridge, mixture of experts",
    "mfu-card-": "Meta model cards, whole runs",
    "mfu-trn1-": "AWS Neuron",
}
ACCELERATORS = ("GB300", "GB200", "B300", "B200", "H200", "H100", "A100", "V100", "Trainium1")


@dataclass(frozen=True)
class Row:
    """One published number: what was run, and what was reported."""

    id: str
    kind: str
    inputs: dict[str, Any]
    reported: float
    unit: str
    source: str


def rows(kind: str, file_name: str = "measurements.csv") -> list[Row]:
    """Every row of one kind of the shared file."""
    with (Path(__file__).parent / file_name).open(encoding="utf-8") as file:
        return [
            Row(
                row["id"],
                row["kind"],
                json.loads(row["inputs"]),
                float(row["reported_value"]),
                row["unit"],
                row["source"],
            )
            for row in csv.DictReader(file)
            if row["kind"] == kind
        ]


def token_rows() -> list[Row]:
    """The rows that report tokens/s of one accelerator: the shared ones, and those of collected.csv."""
    found = rows("mfu") + rows("mfu", "collected.csv")
    return [row for row in found if row.unit.startswith("tokens/s/GPU")]


def stack_of(row: Row) -> str:
    return next(stack for start, stack in STACKS.items() if row.id.startswith(start))


def source_of(row: Row) -> str:
    return max((start, name) for start, name in SOURCES.items() if row.id.startswith(start))[1]


def accelerator_of(row: Row) -> str:
    """``DGX-GB200``, ``a100_80gb``, ``H100 (HBM2e 96GB, 500W)`` … as the catalogue names them."""
    return next(name for name in ACCELERATORS if name.upper() in row.inputs["gpu"].upper())


def precision_of(row: Row) -> str:
    """As the contract names it: NVFP4 is ``nvfp4``, MXFP8 ``mxfp8``, FP8-CS ``fp8-current``; other fp8 is ``fp8``."""
    stated = str(row.inputs.get("precision", "bf16")).lower()
    named = next((name for name in ("nvfp4", "mxfp8", "fp8-rowwise") if name in stated), None)
    if named is None and ("fp8-cs" in stated or "fp8-current" in stated):
        named = "fp8-current"
    return named or ("fp8" if "fp8" in stated or "float8" in stated else "bf16")


def family_of(precision: str) -> str:
    """The precision whose runs and peak hold."""
    return str(load().model.parts["precisions"].parts[precision].get_value("family"))


def llm_traits(row: Row, *, stack: bool = False) -> dict[str, Any]:
    """What a user states of such a run; with ``stack``, whose training software it is as well.

    The number of accelerators of a run that does not say it is taken to be 8; the model does not depend on it.
    """
    inputs = row.inputs
    traits = {
        "task": "pretraining",
        "accelerator": accelerator_of(row),
        "instances": max(1, int(inputs.get("gpus", 8)) // 8),
        "accelerators_per_instance": 8,
        "precision": precision_of(row),
    }
    if "active_params" in inputs:
        traits["active_parameters"] = inputs["active_params"]
        # "DeepSeek-V3 671B-A37B": all parameters stand in the name.
        traits["model_parameters"] = float(inputs["model"].split()[-1].split("B-")[0]) * 1e9
    else:
        traits["model_parameters"] = inputs["params"]
    if "seq_len" in inputs:
        traits["sequence_length"] = inputs["seq_len"]
    if stack:
        traits["training_stack"] = stack_of(row)
    return traits
