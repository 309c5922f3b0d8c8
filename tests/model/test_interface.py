"""What a stated interface rules out, role by role."""

from __future__ import annotations

from typing import Any

import pytest

from gpufeed.facts import load
from gpufeed.model.advise import recommend
from gpufeed.model.recommendation import Recommendation
from gpufeed.model.workload import Workload

FACTS = load()
#: Case 052: 512 accelerators × 20 samples/s = 10,240 GET/s on one prefix.  The published rule says FSx for Lustre.
IMAGES: dict[str, Any] = {
    "task": "pretraining",
    "instances": 64,
    "instance_type": "p5.48xlarge",
    "preset": "image-classification",
    "samples_per_second_per_accelerator": 20,
    "sample_bytes": 115_000,
    "dataset_bytes": 1e12,
    "objects": 8_695_652,
    "prefixes": 1,
    "workers_per_accelerator": 8,
    "run_hours": 24,
}
FILES, OBJECTS = {"fsx-for-lustre", "s3-files", "mountpoint-s3"}, {"s3-standard", "s3-express-one-zone"}


def plan(**more: Any) -> Recommendation:
    return recommend(Workload.from_mapping(IMAGES | more, FACTS), FACTS)


@pytest.mark.parametrize(
    ("interface", "out"), [("s3-api", FILES), ("posix", OBJECTS), ("file-paths", OBJECTS), ("any", set())]
)
def test_what_cannot_be_spoken_to_is_ruled_out_for_the_reads(interface: str, out: set[str]) -> None:
    found = plan(interface=interface)
    assert {answer.option for answer in found.options if answer.verdict == "ruled-out"} == out
    assert found.recommended not in out
    assert [one.id for one in found.warnings if one.id.startswith("interface-overruled")] == []


def test_a_loader_of_objects_reads_objects_and_rare_checkpoints_stay_in_s3() -> None:
    found = plan(interface="s3-api")
    assert found.rule.option == "fsx-for-lustre"  # the published rule, left as it is
    assert (found.recommended, found.fed and found.fed.value) == ("s3-express-one-zone", 1.0)
    assert found.placements["checkpoints"].option == "s3-standard"


def test_checkpoints_that_go_where_files_are_written_say_what_has_to_change() -> None:
    found = plan(interface="s3-api", checkpoints="frequent")
    assert found.recommended in OBJECTS
    assert found.placements["checkpoints"].option == "fsx-for-lustre"
    [warning] = [one for one in found.warnings if one.id == "interface-overruled-saves"]
    assert warning.grave


def test_where_nothing_is_left_the_answer_says_that_the_loader_must_be_changed() -> None:
    # No object can be renamed in China, where there are no directory buckets.
    found = plan(interface="s3-api", file_operations=["rename"], region="cn-north-1")
    assert found.recommended == "fsx-for-lustre"
    assert "interface-overruled-reads" in [one.id for one in found.warnings if one.grave]
    # Locks are no operation of objects anywhere: that contradiction is named by itself.
    locks = plan(interface="s3-api", file_operations=["lock"])
    assert (locks.recommended, [one.id for one in locks.warnings if one.grave]) == (
        "fsx-for-lustre",
        ["doubt-objects-and-files"],
    )
