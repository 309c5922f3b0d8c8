"""Every published row beside what the model says, through the functions that a user's recommendation goes through.

python tests/published/reproduction.py      writes docs/accuracy.md
"""

from __future__ import annotations

import csv
import statistics
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from published_rows import Row, accelerator_of, llm_traits, rows, source_of, token_rows

from gpufeed.facts import load
from gpufeed.facts.quantity import Quantity
from gpufeed.model import checkpoint, formulas
from gpufeed.model.demand import demand
from gpufeed.model.recommendation import Demand
from gpufeed.model.supply import Load, supply
from gpufeed.model.workload import Workload

GIB = 2**30
MIB = 2**20


@dataclass(frozen=True)
class Compared:
    """One row: what was reported and what the model says, in the row's unit."""

    row: Row
    modelled: Quantity

    @property
    def error(self) -> float:
        return abs(self.modelled.value / self.row.reported - 1.0)

    @property
    def inside(self) -> bool:
        # Reported figures are rounded: a bound that is met to four digits is met.
        return self.modelled.low * 0.9999 <= self.row.reported <= self.modelled.high * 1.0001

    @property
    def width(self) -> float:
        return self.modelled.high / self.modelled.low


@dataclass(frozen=True)
class Score:
    """A group of rows: median error, share inside low–high, widest range."""

    count: int
    median_error: float
    inside: int
    widest: float

    @property
    def share_inside(self) -> float:
        return self.inside / self.count


def score(compared: Iterable[Compared]) -> Score:
    found = list(compared)
    return Score(
        len(found),
        statistics.median(one.error for one in found),
        sum(one.inside for one in found),
        max(one.width for one in found),
    )


def asked(**traits: Any) -> Demand:
    return demand(Workload.from_mapping(traits, load()), load())


# ---- tokens/s --------------------------------------------------------------------------------------------------------


def tokens(*, stack: bool) -> dict[str, list[Compared]]:
    """By source; ``stack``: with the training software named, else from the contract's traits alone."""
    found: dict[str, list[Compared]] = {}
    for row in token_rows():
        modelled = asked(**llm_traits(row, stack=stack)).tokens_per_s_per_accelerator
        assert modelled is not None
        found.setdefault(source_of(row), []).append(Compared(row, modelled))
    return found


def flops_reported() -> list[Compared]:
    """Runs that report FLOP/s or MFU instead of tokens/s: modelled tokens/s × FLOPs per token, in the row's unit."""
    found = []
    for row in rows("mfu"):
        if not ("MFU" in row.unit or "TFLOP/s" in row.unit) or "not verified" in row.inputs["gpu"]:
            continue
        size = row.inputs.get("params", 175e9)  # "GPT-3 175B" states it in its name
        answer = asked(
            task="pretraining",
            accelerator=accelerator_of(row),
            instances=row.inputs["gpus"] // 8,
            accelerators_per_instance=8,
            model_parameters=size,
            sequence_length=2048,  # GPT-3, OPT and BLOOM
        )
        modelled = answer.tokens_per_s_per_accelerator
        inputs = answer.intermediates
        assert modelled is not None
        done = modelled * (inputs["weights"].value + inputs["attention"].value)
        if "MFU" in row.unit:
            reached = done * (100.0 / inputs["bf16_peak"].value)
        else:
            # With recomputation the hardware does 4 passes where the model needs 3.
            reached = done * ((4.0 / 3.0 if "recomputation" in row.unit else 1.0) / 1e12)
        found.append(Compared(row, reached))
    return found


@dataclass(frozen=True)
class Unseen:
    """A run that nothing was fitted on, what the model says, and what it said when first scored."""

    group: str
    first: Compared
    now: Compared
    named: Compared | None  # with the training software named


@cache
def unseen() -> dict[str, list[Unseen]]:
    """The runs of unseen.csv by group."""
    found: dict[str, list[Unseen]] = {}
    with (Path(__file__).parent / "unseen.csv").open(encoding="utf-8") as file:
        for line in csv.DictReader(file):
            row = Row(line["id"], "mfu", {}, float(line["reported"]), "tokens/s/GPU", line["source"])
            first = Quantity(float(line["first_low"]), float(line["first_middle"]), float(line["first_high"]))
            stack = line["training_stack"]
            named = Compared(row, _unseen_tokens(line, training_stack=stack)) if stack else None
            one = Unseen(line["group"], Compared(row, first), Compared(row, _unseen_tokens(line)), named)
            found.setdefault(one.group, []).append(one)
    return found


def _unseen_tokens(line: dict[str, str], **stack: str) -> Quantity:
    traits = {
        "model_parameters": float(line["parameters"]),
        "active_parameters": float(line["active_parameters"] or 0),
        "sequence_length": int(line["sequence_length"]),
    }
    tokens = asked(
        task=line["task"],
        accelerator=line["accelerator"],
        instances=int(line["accelerators"]),
        accelerators_per_instance=1,
        precision=line["precision"],
        preset=line["preset"] or None,
        **{name: value for name, value in traits.items() if value},
        **stack,
    ).tokens_per_s_per_accelerator
    assert tokens is not None
    return tokens


# ---- images and latents ----------------------------------------------------------------------------------------------


def images() -> dict[str, list[Compared]]:
    found: dict[str, list[Compared]] = {}
    for row in rows("mfu"):
        if not row.unit.startswith("images/s"):
            continue
        preset = "image-classification" if "ResNet" in row.inputs["model"] else "image-generation"
        modelled = asked(
            task="pretraining",
            preset=preset,
            accelerator=accelerator_of(row),
            instances=row.inputs["gpus"],
            accelerators_per_instance=1,
        ).samples_per_s
        assert modelled is not None
        found.setdefault(preset, []).append(Compared(row, modelled))
    return found


# ---- MLPerf Storage reads --------------------------------------------------------------------------------------------


def reads() -> list[Compared]:
    """MiB/s at the accelerator utilisation that the run had."""
    found = []
    for row in rows("read_demand"):
        inputs = row.inputs
        if inputs.get("au_pct") is None:
            continue
        modelled = asked(
            task="pretraining",
            instances=inputs["num_accelerators"],
            accelerator=inputs["accelerator"],
            accelerators_per_instance=1,
            preset=f"mlperf-{inputs['workload']}",
        ).read_bytes_per_s
        assert modelled is not None
        found.append(Compared(row, modelled * (inputs["au_pct"] / 100 / MIB)))
    return found


# ---- checkpoints -----------------------------------------------------------------------------------------------------


def checkpoint_sizes() -> list[Compared]:
    """Rows whose bytes are exact."""
    found = []
    for row in rows("checkpoint"):
        if row.id.startswith("cksize-"):
            optimizer, unit = "adamw", GIB
        elif row.id == "ck-bert":
            optimizer, unit = "adamw-fp32", 1
        else:
            continue
        size = asked(
            task="pretraining",
            instances=1,
            instance_type="p5.48xlarge",
            model_parameters=row.inputs["params"],
            optimizer=optimizer,
        ).checkpoint_bytes
        assert size is not None
        found.append(Compared(row, size / unit))
    return found


def checkpoint_transfers(file_name: str = "measurements.csv") -> list[Compared]:
    """Seconds or bytes/s of a save or restore, from the provisioned rate or the servers' network cards."""
    found = []
    for row in rows("checkpoint", file_name):
        rate = _stated_rate(row.inputs)
        if rate is None or "size" in row.id:
            continue
        size = row.inputs["size_GiB"] * GIB if "size_GiB" in row.inputs else row.inputs["bytes_GB"] * 1e9
        seconds = checkpoint.transfer(Quantity.exact(size, "bytes"), rate, load())
        found.append(Compared(row, seconds if row.unit == "s" else size / GIB / seconds))
    return found


def _stated_rate(inputs: dict[str, Any]) -> Quantity | None:
    if "provisioned_MB_s" in inputs:
        return Quantity.exact(inputs["provisioned_MB_s"] * 1e6, "bytes/s")
    if "server_nic_Gbps" in inputs:
        return Quantity.exact(inputs["servers"] * inputs["server_nic_Gbps"] * 1e9 / 8, "bytes/s")
    return None


# ---- objects ---------------------------------------------------------------------------------------------------------

#: "best of up to 48 threads"
MOST_THREADS = 48


def object_rates(file_name: str = "measurements.csv", *, client: bool = True) -> list[Compared]:
    """MB/s of GETs of one size at one concurrency on S3 Standard, from one process; ``client``: as the row names it."""
    found = []
    for row in rows("object_throughput", file_name):
        size = _object_bytes(row.inputs)
        if row.unit != "MB/s" or size is None:
            continue
        given = replace(_load(row.inputs, size), client=_client_of(row.inputs) if client else None)
        read = supply("s3-standard", given, load()).read_bytes_per_s
        assert read is not None
        found.append(Compared(row, read / 1e6))
    return found


def _load(inputs: dict[str, Any], size: float) -> Load:
    network = inputs.get("nic_Gbps") or (10 if "10 Gbps" in inputs.get("nic", "") else None)
    each = Quantity.exact(size, "bytes")
    return Load(
        nodes=1,
        request_bytes=each,
        object_bytes=each,
        in_flight=inputs.get("threads", MOST_THREADS),
        writers=1,
        prefixes=1,
        s3_network=None if network is None else Quantity.exact(network * 1e9 / 8, "bytes/s"),
        file_network=None,
        efa_network=None,
    )


def _client_of(inputs: dict[str, Any]) -> str:
    """One of the two that a workload names: with AWS CRT, boto3 leaves Python's threads."""
    stated = str(inputs.get("client", ""))
    return "boto3" if stated.startswith("boto3") and "CRT" not in stated else "native"


def _object_bytes(inputs: dict[str, Any]) -> float | None:
    for name, unit in (("object_KB", 1024), ("object_MB", MIB), ("object_MiB", MIB)):
        if name in inputs:
            return float(inputs[name] * unit)
    return None


def request_times() -> list[Compared]:
    """Milliseconds of one request."""
    found = []
    for row in rows("object_throughput"):
        size = _object_bytes(row.inputs)
        if not row.unit.startswith("ms") or size is None:
            continue
        option = "s3-express-one-zone" if "Express" in row.inputs["tier"] else "s3-standard"
        facts = load().options[option]
        rate = "per_request_write" if "write" in row.inputs.get("op", "") else "per_request_read"
        seconds = formulas.request_seconds(
            Quantity.exact(size, "bytes"), facts.known("first_byte_latency"), facts.known(rate)
        )
        found.append(Compared(row, seconds * 1000.0))
    return found


# ---- failures --------------------------------------------------------------------------------------------------------


def failures() -> list[Compared]:
    """Hours between failures of a job of the row's size, or failures per 1,000 node-days of a fleet."""
    found = []
    for row in rows("failure"):
        gpus = row.inputs.get("gpus") or row.inputs.get("fleet_gpus")
        hours = asked(task="pretraining", instances=gpus // 8, instance_type="p5.48xlarge").mean_time_to_failure
        assert hours is not None
        hours = hours / 3600.0
        if row.unit.startswith("hours"):
            found.append(Compared(row, hours))
        elif row.unit.startswith("failures per 1000"):
            found.append(Compared(row, 1000.0 * 24.0 / (hours * (gpus // 8))))
        elif "window_months" in row.inputs:
            # A count over a fleet: events in months of 730 hours.
            found.append(Compared(row, row.inputs["window_months"] * 730.0 / hours))
    return found


# ---- what cannot be compared -----------------------------------------------------------------------------------------

NOT_COMPARED = {
    "mlps05-": "no accelerator utilisation stated",
    "mlps20-": "no accelerator utilisation stated, or its unit is ambiguous",
    "ck-bloom-size": "rounded to two digits (2.3 TB); 14 bytes per parameter give 2.46",
    "ck-bloom-time": "no provisioned rate or network stated",
    "ck-megatron1t-write": "no peak stated; its note says 40 % of the peak, which is the low end of the share",
    "ck-pt-": "no storage stated",
    "fail-megascale": "a lower bound over an unstated time",
    "mfu-megascale": "the GPU is not verified",
    "obj-aws-ent-64w": "a lower bound that decoding limits",
    "obj-litdata-": "no instance, workers or request size stated",
    "obj-meta-express": "no concurrency stated",
}


def shared_rows() -> list[Row]:
    kinds = ("read_demand", "mfu", "checkpoint", "object_throughput", "failure")
    return [row for kind in kinds for row in rows(kind)]


def not_compared() -> dict[str, list[str]]:
    """Reason → ids of the rows that no comparison above takes."""
    taken = compared_ids()
    left: dict[str, list[str]] = {}
    for row in (row for row in shared_rows() if row.id not in taken):
        reason = next(why for start, why in NOT_COMPARED.items() if row.id.startswith(start))
        left.setdefault(reason, []).append(row.id)
    return left


def compared_ids() -> set[str]:
    """The shared rows that a comparison takes."""
    return {one.row.id for group in everything().values() for one in group} & {row.id for row in shared_rows()}


def everything() -> dict[str, list[Compared]]:
    """Every comparison under its group's name; tokens/s from the traits alone."""
    return {
        "MLPerf Storage reads": reads(),
        **{f"tokens/s: {source}": group for source, group in tokens(stack=False).items()},
        "FLOP/s of other runs": flops_reported(),
        **{f"images/s: {preset}": group for preset, group in images().items()},
        "checkpoint size": checkpoint_sizes(),
        "checkpoint time": checkpoint_transfers(),
        "object throughput": object_rates(),
        "request time": request_times(),
        "time between failures": failures(),
    }
