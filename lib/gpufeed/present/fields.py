"""The fields of a workload as people type them: what can be chosen, and in which unit each number stands."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from gpufeed.facts import Facts
from gpufeed.facts.messages import text
from gpufeed.facts.quantity import Quantity
from gpufeed.facts.units import UNITS, Unit
from gpufeed.model import workload as model
from gpufeed.model.workload import Workload
from gpufeed.present import words

_PLAIN = Unit("count")
_BILLIONS = Unit("count", 10**9)


@dataclass(frozen=True)
class Field:
    """One field: its kind, what can be chosen, and the unit in which people type it."""

    name: str
    kind: str  # "choice" | "number" | "flag" | "words" | "operations"
    choices: Callable[[Facts], Iterable[str]] = lambda _: ()
    unit: Unit = _PLAIN
    shown: Callable[[str], str] = str  # how one of the choices reads


def _choice(name: str, *values: str) -> Field:
    return Field(name, "choice", lambda _: values)


def _number(name: str, unit: Unit = _PLAIN) -> Field:
    return Field(name, "number", unit=unit)


FIELDS = (
    _choice("task", *model.TASKS),
    _number("instances"),
    Field("instance_type", "choice", lambda facts: facts.instances),
    Field("accelerator", "choice", lambda facts: facts.accelerators),
    _number("accelerators_per_instance"),
    Field("preset", "choice", lambda facts: facts.workloads),
    _choice("interface", *model.INTERFACES),
    _choice("reads", *model.READS),
    _choice("checkpoints", *model.CHECKPOINT_FREQUENCIES),
    _number("checkpoint_interval", UNITS["minutes"]),
    _number("dataset_bytes", UNITS["GB"]),
    _number("objects"),
    _number("model_parameters", _BILLIONS),
    Field("region", "choice", lambda facts: facts.regions, shown=words.region),
    _number("run_hours"),
    _number("gpu_hour_price"),
    Field("data_in_s3", "flag"),
    Field("avoid_parallel_file_system", "flag"),
    Field("file_operations", "operations"),
)
MORE = (
    _number("active_parameters", _BILLIONS),
    _number("sequence_length"),
    _choice("precision", *model.PRECISIONS),
    Field("training_stack", "choice", lambda facts: facts.utilisation),
    _number("sample_bytes", UNITS["KB"]),
    _number("samples_per_second_per_accelerator"),
    _number("request_bytes", UNITS["KB"]),
    _number("workers_per_accelerator"),
    _number("requests_in_flight_per_worker"),
    _choice("client", *model.CLIENTS),
    _number("epochs"),
    _number("prefixes"),
    _number("jobs"),
    _number("batch_size"),
    _number("evaluation_every", UNITS["minutes"]),
    _number("evaluation_bytes", UNITS["GB"]),
    _number("base_model_bytes", UNITS["GB"]),
    _number("working_set_bytes", UNITS["GB"]),
    _number("host_memory_bytes", UNITS["GB"]),
    _choice("network_path", *model.NETWORK_PATHS),
    Field("zone", "words"),
    _choice("encryption", *model.ENCRYPTIONS),
    Field("optimizer", "choice", lambda facts: facts.model.parts["checkpoint_bytes_per_parameter"]),
    _number("lora_rank"),
    _choice("checkpoint_mode", *model.CHECKPOINT_MODES),
    _number("checkpoint_bytes", UNITS["GB"]),
    _number("checkpoint_writers"),
    _number("checkpoints_kept"),
    _number("restore_target", UNITS["minutes"]),
    _number("stall_tolerance", UNITS["%"]),
    _number("storage_discount", UNITS["%"]),
)


def stated(workload: Workload, currency: str) -> list[tuple[str, str]]:
    """Label and value of each field that was stated, in the units of the labels; all others have their defaults."""
    values = workload.to_mapping()
    return [
        (words.trait(field.name), _said(field, values[field.name], currency))
        for field in FIELDS + MORE
        if field.name in values
    ]


def _said(field: Field, value: Any, currency: str) -> str:
    if field.name == "gpu_hour_price":
        return words.list_price(Quantity.exact(value), currency)
    if field.kind == "flag":
        return text("present.yes" if value else "present.no")
    if field.kind == "operations":
        return text("present.list-separator").join(value)
    return words.number(float(shown(field, value))) if field.kind == "number" else str(value)


def shown(field: Field, stated: Any) -> Any:
    """A stated value as it is typed: in the unit of the label, empty when nothing is stated."""
    if field.kind == "flag":
        return "" if stated is None else bool(stated)
    if field.kind == "number":
        return "" if stated is None else f"{stated * field.unit.divisor / field.unit.multiplier:.12g}"
    return stated or ""
