"""The plan as lines of text: which bucket is behind a mount, what else would pay, and the course of the run."""

from __future__ import annotations

from typing import Any

import pytest

from gpufeed.facts import load
from gpufeed.model.advise import recommend
from gpufeed.model.alternatives import alternatives
from gpufeed.model.course import course
from gpufeed.model.recommendation import Recommendation
from gpufeed.model.workload import Workload
from gpufeed.present import contract, plain, tables, words

FACTS = load()
JOB: dict[str, Any] = {
    "task": "pretraining",
    "instances": 8,
    "instance_type": "p5.48xlarge",
    "preset": "mlperf-unet3d",
    "checkpoint_bytes": 512 * 2**30,
    "checkpoint_interval": 1800,
    "dataset_bytes": 5e12,
    "objects": 34_000,
    "run_hours": 48,
}


def plan(**more: Any) -> Recommendation:
    return recommend(Workload.from_mapping(JOB | more, FACTS), FACTS)


@pytest.mark.parametrize(("operations", "backing"), [([], "Amazon S3 Standard"), (["rename"], "S3 Express One Zone")])
def test_a_mount_is_named_with_the_bucket_behind_it_wherever_it_has_figures(
    operations: list[str], backing: str
) -> None:
    found, name = plan(file_operations=operations), f"Mountpoint for Amazon S3, backed by {backing}"
    assert any(line.startswith(f"{name} (") for line in plain.recommendation(found))
    for table in (tables.options, tables.epochs, tables.checkpoints, tables.supplies, tables.costs):
        assert name in set(table(found).iloc[:, 0])
    document = contract.recommendation(found, FACTS, [], {})
    backed = {row["option"]: row["backed_by"] for row in document["options"]}
    assert backed["mountpoint-s3"] == ("s3-express-one-zone" if operations else "s3-standard")
    assert backed["s3-standard"] is None


def test_what_else_would_pay_is_said_with_its_figures() -> None:
    found = plan(checkpoint_interval=600)
    others = alternatives(found, FACTS)
    heading, *said = plain.alternatives(found, others)
    assert heading == "What else would pay"
    assert said == [f"  {words.reason(one.reason)}" for one in others]
    document = contract.alternatives(others)
    assert [row["saves"] for row in document] == [one.saves for one in others]
    mode = next(row for row in document if row["id"] == "instead-async")
    assert mode["figures"]["now"] == contract.ranged(found.cost.total)
    assert plain.alternatives(found, ())[1:] == [
        "  No other way to save, to copy or to pack was found that would save enough to be named."
    ]


def test_the_course_is_a_line_for_each_step_with_its_time() -> None:
    steps = course(plan(), FACTS)
    heading, *said = plain.course(steps)
    assert heading == "Timeline of the run"
    assert len(said) == len(steps)
    assert said[0].startswith("  before the GPUs are paid for: Create the file system") and said[0].endswith("unknown")
    assert "Takes" not in said[-1]
    document = contract.timeline(steps)
    assert [row["id"] for row in document] == [step.id for step in steps]
    assert document[0]["seconds"] is None


def test_the_file_system_that_is_not_chosen_is_named_with_what_it_was_judged_by() -> None:
    found = plan(interface="s3-api")
    assert found.recommended != "fsx-for-lustre"
    lines = plain.recommendation(found)
    at = next(number for number, line in enumerate(lines) if line.startswith("FSx for Lustre ("))
    settings = found.option("fsx-for-lustre").supply.configuration
    assert f"{settings['storage_capacity_gib']:,} GiB" in lines[at + 1]
