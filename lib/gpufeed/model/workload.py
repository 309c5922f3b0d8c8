"""The traits of a training job, as entered: checked, frozen, and without any default of its own.

What is left out is filled in later from ``data/`` (see :mod:`gpufeed.model.demand`), so that each default is a fact
with a basis and can be shown as an assumption.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from gpufeed.facts import Facts
from gpufeed.facts.errors import InputError

TASKS = ("pretraining", "full-fine-tuning", "lora", "qlora")
PRECISIONS = ("bf16", "fp8", "fp4")
READS = ("streaming", "random")
NETWORK_PATHS = ("gateway-endpoint", "nat", "other-region", "unknown")
ENCRYPTIONS = ("sse-s3", "sse-kms", "sse-kms-bucket-key")
CHECKPOINT_MODES = ("sync", "async")
CHECKPOINT_FREQUENCIES = ("rare", "frequent")
INTERFACES = ("posix", "file-paths", "s3-api", "any")
FILE_OPERATIONS = ("rename", "append", "overwrite", "random-write", "lock", "hard-link")


@dataclass(frozen=True, slots=True)
class Workload:
    """One training or fine-tuning job.  Sizes in bytes, times in seconds (``run_hours`` in hours), shares 0–1.

    Field names and values are those of ``WORKLOAD.toml``; None means "not stated".
    """

    task: str
    instances: int
    instance_type: str | None = None
    accelerator: str | None = None
    accelerators_per_instance: int | None = None
    preset: str | None = None
    model_parameters: float | None = None
    active_parameters: float | None = None
    sequence_length: int | None = None
    precision: str | None = None
    sample_bytes: float | None = None
    samples_per_second_per_accelerator: float | None = None
    dataset_bytes: float | None = None
    objects: int | None = None
    reads: str | None = None
    request_bytes: float | None = None
    workers_per_accelerator: int | None = None
    requests_in_flight_per_worker: int | None = None
    epochs: float | None = None
    prefixes: int | None = None
    working_set_bytes: float | None = None
    host_memory_bytes: float | None = None
    network_path: str | None = None
    zone: str | None = None
    encryption: str | None = None
    optimizer: str | None = None
    lora_rank: int | None = None
    checkpoint_mode: str | None = None
    checkpoint_interval: float | None = None
    checkpoint_bytes: float | None = None
    restore_target: float | None = None
    stall_tolerance: float | None = None
    checkpoints: str | None = None
    interface: str | None = None
    file_operations: tuple[str, ...] = ()
    data_in_s3: bool | None = None
    avoid_parallel_file_system: bool | None = None
    run_hours: float | None = None
    region: str | None = None

    @classmethod
    def from_mapping(cls, mapping: Mapping[str, Any], facts: Facts) -> Workload:
        """Check and freeze what a file or a form holds.

        Raises InputError naming the field, what is wrong with it, and the nearest known name or value.
        """
        known = [f.name for f in fields(cls)]
        for name in mapping:
            if name not in known:
                raise InputError("workload.unknown-field", field=_shown(name), nearest=_nearest(name, known))
        stated = {name: value for name, value in mapping.items() if value is not None}
        for name in ("task", "instances"):
            if name not in stated:
                raise InputError("workload.missing-field", field=name)
        checked = {name: _CHECKS[name](name, value, facts) for name, value in stated.items()}
        if "instance_type" not in checked and not {"accelerator", "accelerators_per_instance"} <= checked.keys():
            raise InputError("workload.missing-accelerator")
        if checked.get("instance_type") and "accelerator" in checked:
            of_instance = facts.instances[checked["instance_type"]].get_value("accelerator")
            if of_instance != checked["accelerator"]:
                raise InputError(
                    "workload.accelerator-differs",
                    instance=checked["instance_type"],
                    of_instance=of_instance,
                    accelerator=checked["accelerator"],
                )
        if "instance_type" in checked and "accelerators_per_instance" in checked:
            has = facts.instances[checked["instance_type"]].known("accelerators").value
            if checked["accelerators_per_instance"] > has:
                raise InputError(
                    "workload.more-accelerators-than-there-are",
                    instance=checked["instance_type"],
                    has=f"{has:g}",
                    stated=checked["accelerators_per_instance"],
                )
        total, active = checked.get("model_parameters"), checked.get("active_parameters")
        if total is not None and active is not None and active > total:
            raise InputError("workload.more-active-than-all", active=f"{active:g}", all=f"{total:g}")
        return cls(**checked)

    def to_mapping(self) -> dict[str, Any]:
        """Only what is stated; ``from_mapping`` reads it back."""
        stated = {name: value for name, value in asdict(self).items() if value is not None and value != ()}
        if self.file_operations:
            stated["file_operations"] = list(self.file_operations)
        return stated


def _shown(value: object) -> str:
    """A value as it may stand in a sentence: short, on one line."""
    line = " ".join(str(value).split())
    return line if len(line) <= 60 else line[:57] + "…"


def _nearest(word: object, known: Iterable[str]) -> str:
    names = list(known)
    lowered = {name.lower(): name for name in names}
    close = difflib.get_close_matches(str(word).lower(), lowered, n=1, cutoff=0.4)
    return lowered[close[0]] if close else ", ".join(names)


_Check = Callable[[str, Any, Facts], Any]


def _one_of(allowed: Callable[[Facts], Iterable[str]]) -> _Check:
    def check(name: str, value: Any, facts: Facts) -> str:
        values = list(allowed(facts))
        if value not in values or not isinstance(value, str):
            raise InputError("workload.unknown-value", field=name, value=_shown(value), nearest=_nearest(value, values))
        return value

    return check


def _among(*values: str) -> _Check:
    return _one_of(lambda _: values)


def _number(least: float, most: float, *, exclusive: bool = False, whole: bool = False) -> _Check:
    """A number within bounds; the upper bound keeps typing slips (a size in the wrong unit) from passing silently."""

    def check(name: str, value: Any, _: Facts) -> float | int:
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
            raise InputError("workload.not-a-number", field=name, value=_shown(value))
        if value < least or value > most or (exclusive and value == least):
            refusal = "workload.not-above" if exclusive else "workload.out-of-range"
            raise InputError(refusal, field=name, value=_shown(value), least=f"{least:g}", most=f"{most:g}")
        if whole:
            if value != int(value):
                raise InputError("workload.not-whole", field=name, value=_shown(value))
            return int(value)
        return float(value)

    return check


def _flag(name: str, value: Any, _: Facts) -> bool:
    if not isinstance(value, bool):
        raise InputError("workload.not-a-flag", field=name, value=_shown(value))
    return value


def _word(name: str, value: Any, _: Facts) -> str:
    if not isinstance(value, str) or not value.strip():
        raise InputError("workload.not-text", field=name, value=_shown(value))
    return value.strip()


def _operations(name: str, value: Any, facts: Facts) -> tuple[str, ...]:
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise InputError("workload.not-a-list", field=name, value=_shown(value))
    one = _among(*FILE_OPERATIONS)
    # In the contract's order, each once: two spellings of the same workload are the same workload.
    stated = {one(name, operation, facts) for operation in value}
    return tuple(operation for operation in FILE_OPERATIONS if operation in stated)


_SIZE = _number(0, 1e18, exclusive=True)
_SECONDS = _number(0, 1e8, exclusive=True)

_CHECKS: dict[str, _Check] = {
    "task": _among(*TASKS),
    "instances": _number(1, 100_000, whole=True),
    "instance_type": _one_of(lambda facts: facts.instances),
    "accelerator": _one_of(lambda facts: facts.accelerators),
    "accelerators_per_instance": _number(1, 256, whole=True),
    "preset": _one_of(lambda facts: facts.workloads),
    "model_parameters": _number(0, 1e15, exclusive=True),
    "active_parameters": _number(0, 1e15, exclusive=True),
    "sequence_length": _number(1, 1e8, whole=True),
    "precision": _among(*PRECISIONS),
    "sample_bytes": _SIZE,
    "samples_per_second_per_accelerator": _number(0, 1e10, exclusive=True),
    "dataset_bytes": _SIZE,
    "objects": _number(1, 1e13, whole=True),
    "reads": _among(*READS),
    "request_bytes": _SIZE,
    "workers_per_accelerator": _number(1, 1024, whole=True),
    "requests_in_flight_per_worker": _number(1, 10_000, whole=True),
    "epochs": _number(0, 1e6, exclusive=True),
    "prefixes": _number(1, 1e6, whole=True),
    "working_set_bytes": _SIZE,
    "host_memory_bytes": _SIZE,
    "network_path": _among(*NETWORK_PATHS),
    "zone": _word,
    "encryption": _among(*ENCRYPTIONS),
    "optimizer": _one_of(lambda facts: facts.model.parts["checkpoint_bytes_per_parameter"]),
    "lora_rank": _number(1, 65_536, whole=True),
    "checkpoint_mode": _among(*CHECKPOINT_MODES),
    "checkpoint_interval": _SECONDS,
    "checkpoint_bytes": _SIZE,
    "restore_target": _SECONDS,
    "stall_tolerance": _number(0, 1, exclusive=True),
    "checkpoints": _among(*CHECKPOINT_FREQUENCIES),
    "interface": _among(*INTERFACES),
    "file_operations": _operations,
    "data_in_s3": _flag,
    "avoid_parallel_file_system": _flag,
    "run_hours": _number(0, 1e6, exclusive=True),
    "region": _one_of(lambda facts: facts.regions),
}
