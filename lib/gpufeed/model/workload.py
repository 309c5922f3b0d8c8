"""The traits of a training job, as entered: checked, frozen, and without any default of its own.

What is left out is filled in later from ``data/`` (see :mod:`gpufeed.model.demand`), so that each default is a fact
with a basis and can be shown as an assumption.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from gpufeed.facts import Facts
from gpufeed.facts.errors import InputError
from gpufeed.facts.known import entered, instead
from gpufeed.model import zones

#: Where none is stated.
DEFAULT_REGION = "us-east-1"
TASKS = ("pretraining", "full-fine-tuning", "lora", "qlora")
#: As the field names them; ``model.toml`` says of each what stands behind it and how else it is called.
PRECISIONS = (
    *("bf16", "fp16"),
    *("fp8", "fp8-current", "fp8-delayed", "fp8-rowwise", "fp8-blockwise", "mxfp8"),
    *("fp4", "nvfp4", "mxfp4"),
)
READS = ("streaming", "random")
#: Python threads, or one that works outside Python: AWS CRT, S3 Connector for PyTorch, obstore, Go, Rust, C++.
CLIENTS = ("boto3", "native")
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
    jobs: int | None = None  # like this one, at once, on the same data and the same storage
    instance_type: str | None = None
    accelerator: str | None = None
    accelerators_per_instance: int | None = None
    preset: str | None = None
    model_parameters: float | None = None
    active_parameters: float | None = None
    sequence_length: int | None = None
    precision: str | None = None
    training_stack: str | None = None
    sample_bytes: float | None = None
    samples_per_second_per_accelerator: float | None = None
    dataset_bytes: float | None = None
    objects: int | None = None
    reads: str | None = None
    request_bytes: float | None = None
    workers_per_accelerator: int | None = None
    requests_in_flight_per_worker: int | None = None
    client: str | None = None  # what the loader reads a bucket with
    epochs: float | None = None
    prefixes: int | None = None
    batch_size: int | None = None  # samples per accelerator and step
    evaluation_every: float | None = None
    evaluation_bytes: float | None = None
    base_model_bytes: float | None = None  # of the weights that the job starts from
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
    checkpoint_writers: int | None = None
    checkpoints_kept: int | None = None
    restore_target: float | None = None
    stall_tolerance: float | None = None
    checkpoints: str | None = None
    interface: str | None = None
    file_operations: tuple[str, ...] = ()
    data_in_s3: bool | None = None
    avoid_parallel_file_system: bool | None = None
    run_hours: float | None = None
    region: str | None = None
    gpu_hour_price: float | None = None  # of one instance, in the currency of the Region's price list
    storage_discount: float | None = None  # share off every price but that of instances

    @classmethod
    def from_mapping(cls, mapping: Mapping[str, Any], facts: Facts) -> Workload:
        """Check and freeze what a file or a form holds.

        Raises InputError naming the field, what is wrong with it, and the nearest known name or value.
        """
        known = [f.name for f in fields(cls)]
        for name in mapping:
            if name not in known:
                raise InputError("workload.unknown-field", field=_shown(name), instead=instead(name, known))
        stated = {name: value for name, value in mapping.items() if value is not None}
        missing = [name for name in ("task", "instances") if name not in stated]
        if missing and "instance_type" not in stated and "accelerator" not in stated:
            missing.append("instance_type")
        if missing:
            raise InputError("workload.missing-fields", fields=", ".join(missing))
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
        _check_writers(checked, facts)
        total, active = checked.get("model_parameters"), checked.get("active_parameters")
        if total is not None and active is not None and active > total:
            raise InputError("workload.more-active-than-all", active=f"{active:g}", all=f"{total:g}")
        _refuse_impossible_sizes(checked)
        _check_zone(checked, facts)
        return cls(**checked)

    def to_mapping(self) -> dict[str, Any]:
        """Only what is stated; ``from_mapping`` reads it back."""
        stated = {name: value for name, value in asdict(self).items() if value is not None and value != ()}
        if self.file_operations:
            stated["file_operations"] = list(self.file_operations)
        return stated


def _check_writers(checked: Mapping[str, Any], facts: Facts) -> None:
    """No more ranks can save than there are accelerators."""
    writers, each = checked.get("checkpoint_writers"), checked.get("accelerators_per_instance")
    if writers is None:
        return
    if each is None:
        each = int(facts.instances[checked["instance_type"]].known("accelerators").value)
    if writers > checked["instances"] * each:
        raise InputError("workload.more-writers-than-ranks", stated=writers, ranks=checked["instances"] * each)


def _check_zone(checked: Mapping[str, Any], facts: Facts) -> None:
    """A zone name is another place in each account, and in a zone of another Region stands no instance of this one."""
    zone, region = checked.get("zone"), checked.get("region", DEFAULT_REGION)
    if zone is None:
        return
    if not zones.belongs(zone, region):
        raise InputError("workload.not-a-zone", zone=_shown(zone), region=region, prefix=zones.prefix(region))
    known = facts.regions[region].get("zones")
    if known is not None and not zones.listed(zone, known.value):
        raise InputError(
            "workload.no-such-zone",
            zone=_shown(zone),
            region=region,
            zones=", ".join(known.value),
            read=facts.sources[known.sources[0]].retrieved,
        )


def _refuse_impossible_sizes(checked: Mapping[str, Any]) -> None:
    """A part is never larger than the whole, and no object smaller than a byte."""
    dataset, objects = checked.get("dataset_bytes"), checked.get("objects")
    working_set, sample = checked.get("working_set_bytes"), checked.get("sample_bytes")
    if working_set is not None and sample is not None and sample > working_set:
        raise InputError("workload.sample-above-working-set", sample=f"{sample:g}", read=f"{working_set:g}")
    if dataset is None:
        return
    if objects is not None and objects > dataset:
        raise InputError("workload.more-objects-than-bytes", objects=f"{objects:,}", bytes=f"{dataset:g}")
    if working_set is not None and working_set > dataset:
        raise InputError("workload.more-read-than-there-is", read=f"{working_set:g}", all=f"{dataset:g}")
    if sample is not None and sample > dataset:
        raise InputError("workload.sample-above-dataset", sample=f"{sample:g}", all=f"{dataset:g}")


def _shown(value: object) -> str:
    """A value as it may stand in a sentence: short, on one line."""
    line = entered(value)
    return line if len(line) <= 60 else line[:57] + "…"


_Check = Callable[[str, Any, Facts], Any]


def _one_of(allowed: Callable[[Facts], Iterable[str]]) -> _Check:
    def check(name: str, value: Any, facts: Facts) -> str:
        values = list(allowed(facts))
        if value not in values or not isinstance(value, str):
            raise InputError("workload.unknown-value", field=name, value=_shown(value), instead=instead(value, values))
        return value

    return check


def _among(*values: str) -> _Check:
    return _one_of(lambda _: values)


#: Nobody means less of any unit; what is worked out from it would pass every bound.
_TOO_SMALL = 1e-9
_NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?")


@dataclass(frozen=True, slots=True)
class Number:
    """A number within bounds; the upper bound keeps typing slips (a size in the wrong unit) from passing silently."""

    unit: str
    least: float
    most: float
    exclusive: bool = False  # the least itself is refused
    whole: bool = False

    def __call__(self, name: str, value: Any, _: Facts) -> float | int:
        if isinstance(value, str) and _NUMBER.fullmatch(value):
            raise InputError("workload.number-in-quotes", field=name, value=value)
        if isinstance(value, bool) or not isinstance(value, (int, float)) or value != value:  # noqa: PLR0124 — nan
            raise InputError("workload.not-a-number", field=name, value=_shown(value))
        if value < self.least or value > self.most or (self.exclusive and value == self.least):
            refusal = "workload.not-above" if self.exclusive else "workload.out-of-range"
            bounds = {"least": f"{self.least:g}", "most": f"{self.most:g}"}
            raise InputError(refusal, field=name, value=_shown(value), **bounds)
        if self.exclusive and value - self.least < _TOO_SMALL:
            raise InputError("workload.too-small", field=name, value=_shown(value))
        if self.whole:
            if value != int(value):
                raise InputError("workload.not-whole", field=name, value=_shown(value))
            return int(value)
        return float(value)


def _precision(name: str, value: Any, facts: Facts) -> str:
    """One of the names, or what training software calls it: ``MXFP8``, ``float8_rowwise``, ``FP8-CS``."""
    if isinstance(value, str):
        written = "-".join(value.lower().replace("_", " ").replace("-", " ").split())
        for precision, section in facts.model.parts["precisions"].parts.items():
            if written == precision or written in section.get_value("also_called"):
                return precision
    return str(_among(*PRECISIONS)(name, value, facts))


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


_SIZE = Number("bytes", 0, 1e18, exclusive=True)
_SECONDS = Number("seconds", 0, 1e8, exclusive=True)
_PARAMETERS = Number("parameters", 0, 1e15, exclusive=True)
#: Stands for the currency of the price list of the workload's Region.
_CURRENCY = "currency"

#: The numeric fields, in which unit a document states them, and their bounds.
NUMBERS: dict[str, Number] = {
    "instances": Number("count", 1, 100_000, whole=True),
    "jobs": Number("count", 1, 10_000, whole=True),
    "accelerators_per_instance": Number("count", 1, 256, whole=True),
    "model_parameters": _PARAMETERS,
    "active_parameters": _PARAMETERS,
    "sequence_length": Number("tokens", 1, 1e8, whole=True),
    "sample_bytes": _SIZE,
    "samples_per_second_per_accelerator": Number("samples/s", 0, 1e10, exclusive=True),
    "dataset_bytes": _SIZE,
    "objects": Number("count", 1, 1e13, whole=True),
    "request_bytes": _SIZE,
    "workers_per_accelerator": Number("count", 1, 1024, whole=True),
    "requests_in_flight_per_worker": Number("count", 1, 10_000, whole=True),
    "epochs": Number("count", 0, 1e6, exclusive=True),
    "prefixes": Number("count", 1, 1e6, whole=True),
    "batch_size": Number("samples", 1, 1e7, whole=True),
    "evaluation_every": _SECONDS,
    "evaluation_bytes": _SIZE,
    "base_model_bytes": _SIZE,
    "working_set_bytes": _SIZE,
    "host_memory_bytes": _SIZE,
    "lora_rank": Number("count", 1, 65_536, whole=True),
    "checkpoint_interval": _SECONDS,
    "checkpoint_bytes": _SIZE,
    "checkpoint_writers": Number("count", 1, 1e8, whole=True),
    "checkpoints_kept": Number("count", 1, 1e6, whole=True),
    "restore_target": _SECONDS,
    "stall_tolerance": Number("share", 0, 1, exclusive=True),
    "run_hours": Number("hours", 0, 1e6, exclusive=True),
    "gpu_hour_price": Number(f"{_CURRENCY}/hour", 0, 1e6, exclusive=True),
    "storage_discount": Number("share", 0, 0.99, exclusive=True),
}


def unit_of(field: str, currency: str) -> str:
    """The unit of a numeric field; a price is in the currency of the plan."""
    return NUMBERS[field].unit.replace(_CURRENCY, currency)


_CHECKS: dict[str, _Check] = {
    **NUMBERS,
    "task": _among(*TASKS),
    "instance_type": _one_of(lambda facts: facts.instances),
    "accelerator": _one_of(lambda facts: facts.accelerators),
    "preset": _one_of(lambda facts: facts.workloads),
    "precision": _precision,
    "training_stack": _one_of(lambda facts: facts.utilisation),
    "reads": _among(*READS),
    "client": _among(*CLIENTS),
    "network_path": _among(*NETWORK_PATHS),
    "zone": _word,
    "encryption": _among(*ENCRYPTIONS),
    "optimizer": _one_of(lambda facts: facts.model.parts["checkpoint_bytes_per_parameter"]),
    "checkpoint_mode": _among(*CHECKPOINT_MODES),
    "checkpoints": _among(*CHECKPOINT_FREQUENCIES),
    "interface": _among(*INTERFACES),
    "file_operations": _operations,
    "data_in_s3": _flag,
    "avoid_parallel_file_system": _flag,
    "region": _one_of(lambda facts: facts.regions),
}
