"""The gate before a fast copy is given up."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gpufeed.model.release import Export, gate

PROVED = Export(task="SUCCEEDED", queue_age=0, files=512, objects=512, file_bytes=980e9, object_bytes=980e9)


def test_a_proved_export_may_be_released() -> None:
    assert gate(PROVED).open
    assert gate(replace(PROVED, file_bytes=None, object_bytes=None)).open
    assert gate(replace(PROVED, deployment_type="SCRATCH_2")).open


@pytest.mark.parametrize(
    ("change", "missing"),
    [
        ({"task": None}, ("task-unknown",)),
        ({"task": "EXECUTING"}, ("task-not-succeeded",)),
        ({"task": "FAILED"}, ("task-not-succeeded",)),
        ({"queue_age": None}, ("queue-unknown",)),
        ({"queue_age": 12.0}, ("queue-not-empty",)),
        ({"objects": None}, ("counts-unknown",)),
        ({"objects": 511}, ("counts-differ",)),
        ({"files": 0, "objects": 0}, ("counts-differ",)),
        ({"object_bytes": 979e9}, ("counts-differ",)),
        ({"object_bytes": None}, ("counts-differ",)),
    ],
)
def test_one_thing_unproved_keeps_it_shut(change: dict[str, object], missing: tuple[str, ...]) -> None:
    found = gate(replace(PROVED, **change))  # type: ignore[arg-type]  # one row of a table
    assert (found.open, found.missing) == (False, missing)


def test_nothing_looked_at_is_nothing_proved() -> None:
    assert gate(Export()).missing == ("task-unknown", "queue-unknown", "counts-unknown")


def test_the_only_copy_on_scratch_is_named() -> None:
    assert gate(replace(PROVED, objects=511, deployment_type="SCRATCH_2")).missing == (
        "counts-differ",
        "only-copy-on-scratch",
    )
    assert "only-copy-on-scratch" not in gate(replace(PROVED, objects=511, deployment_type="PERSISTENT_2")).missing
