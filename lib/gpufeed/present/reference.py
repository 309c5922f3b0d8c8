"""Every field of a workload file: what to write, what is taken where it is left out, and what it means."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import NamedTuple

from gpufeed.facts import Facts
from gpufeed.facts.messages import text
from gpufeed.model.workload import DEFAULT_REGION, FILE_OPERATIONS, NUMBERS, Number, Workload
from gpufeed.present import words
from gpufeed.present.fields import FIELDS, MORE, Field


class Row(NamedTuple):
    """One field, as people read it."""

    field: str
    written: str
    left_out: str
    about: str


#: What is taken where a field is left out: message ``left-out.<id>``.
LEFT_OUT: Mapping[str, str] = {
    **dict.fromkeys(("task", "instances"), "required"),
    "instance_type": "required-or-accelerator",
    **dict.fromkeys(("accelerator", "accelerators_per_instance", "host_memory_bytes"), "instance"),
    "preset": "by-task",
    **dict.fromkeys(("model_parameters", "sequence_length", "sample_bytes", "batch_size"), "preset"),
    "active_parameters": "all-parameters",
    "training_stack": "any-stack",
    "client": "native-client",
    "samples_per_second_per_accelerator": "rate",
    "dataset_bytes": "dataset",
    "objects": "layout",
    "request_bytes": "request",
    "epochs": "once",
    "evaluation_every": "no-evaluation",
    "evaluation_bytes": "share-of-dataset",
    "base_model_bytes": "weights",
    "working_set_bytes": "whole-dataset",
    "network_path": "gateway",
    "zone": "not-checked",
    "encryption": "no-kms",
    "checkpoint_interval": "interval",
    "checkpoint_bytes": "from-model",
    "checkpoint_writers": "every-rank",
    "restore_target": "no-target",
    "checkpoints": "by-interval",
    **dict.fromkeys(("file_operations", "storage_discount"), "none"),
    "data_in_s3": "in-s3",
    "run_hours": "run",
    "gpu_hour_price": "list-price",
}
_FACTS = (
    *("workers_per_accelerator", "requests_in_flight_per_worker", "prefixes", "dataset_bytes", "run_hours"),
    *("checkpoint_interval", "stall_tolerance", "checkpoints_kept"),
)


def defaults(facts: Facts) -> dict[str, float | int | str | bool]:
    """Fields that have one value where they are left out, as a document would state it."""
    by_fact = {name: facts.model.known(name).value for name in _FACTS} | {
        "lora_rank": facts.workloads["lora"].known("lora_rank").value
    }
    hours = by_fact.pop("run_hours") / 3600.0
    stated = {name: int(value) if NUMBERS[name].whole else value for name, value in by_fact.items()}
    return {
        **stated,
        "run_hours": hours,
        "jobs": 1,
        "precision": "bf16",
        "reads": "streaming",
        "optimizer": "adamw",
        "checkpoint_mode": "sync",
        "interface": "any",
        "avoid_parallel_file_system": False,
        "region": DEFAULT_REGION,
    }


def rows(facts: Facts) -> list[Row]:
    """All fields in the order of :class:`Workload`."""
    known = {field.name: field for field in (*FIELDS, *MORE)}
    taken = defaults(facts)
    return [
        Row(
            field=one.name,
            written=_written(known[one.name], facts),
            left_out=_left_out(one.name, taken, facts),
            about=text(f"field-about.{one.name}"),
        )
        for one in fields(Workload)
    ]


def lines(facts: Facts) -> Iterator[str]:
    """The same as text, a field a line."""
    for row in rows(facts):
        yield text("fields.line", **row._asdict())


def markdown(facts: Facts, example: str) -> str:
    """The same as a page in Markdown, with a document for an example."""
    heads = [text(f"column.{name}") for name in ("field", "what-to-write", "left-out", "about")]
    cells = [heads, ["---"] * len(heads), *([f"`{row.field}`", *row[1:]] for row in rows(facts))]
    table = "\n".join(f"| {' | '.join(row)} |" for row in cells)
    parts = (
        f"# {text('fields.page.title')}",
        text("fields.page.intro"),
        text("fields.page.example"),
        f"```toml\n{example.strip()}\n```",
        table,
    )
    return "\n\n".join(parts) + "\n"


def _left_out(name: str, taken: Mapping[str, float | int | str | bool], facts: Facts) -> str:
    value = words.binary_size(facts.model.known("part_bytes").value) if name == "request_bytes" else ""
    if name in taken:
        value = _as_written(taken[name])
    others = {
        "dataset_bytes": facts.workloads["lora"].known("dataset_bytes").value,
        "checkpoint_interval": facts.model.known("checkpoint_interval").high,
    }
    other = _short(others[name]) if name in others else ""
    return text(f"left-out.{LEFT_OUT.get(name, 'value')}", value=value, other=other)


def _as_written(value: float | int | str | bool) -> str:
    """As it stands in a TOML document."""
    if isinstance(value, bool):
        return str(value).lower()
    return value if isinstance(value, str) else _short(value)


def _written(field: Field, facts: Facts) -> str:
    if field.name in NUMBERS:
        return _bounds(NUMBERS[field.name])
    if field.kind == "flag":
        return text("written.flag")
    if field.kind == "words":
        return text("written.zone")
    values = text("present.list-separator").join(
        FILE_OPERATIONS if field.kind == "operations" else field.choices(facts)
    )
    return text("written.any-of" if field.kind == "operations" else "written.one-of", values=values)


def _bounds(number: Number) -> str:
    unit = "whole" if number.whole and number.unit == "count" else number.unit
    said = {"written": words.written(unit), "least": _short(number.least), "most": _short(number.most)}
    return text("written.bounds-above" if number.exclusive else "written.bounds", **said)


def _short(value: float) -> str:
    """As short as TOML has it: ``1800``, ``0.05``, ``1e12``."""
    return re.sub(r"e\+0*", "e", f"{value:g}")
