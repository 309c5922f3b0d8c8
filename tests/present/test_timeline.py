"""What to do when: created where the instances are, loaded before they are paid for, deleted when nothing is lost."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gpufeed.facts import load
from gpufeed.model.advise import recommend
from gpufeed.model.recommendation import Recommendation
from gpufeed.model.workload import Workload
from gpufeed.present.timeline import steps

FACTS = load()
JOB = {"task": "full-fine-tuning", "instances": 8, "instance_type": "p5.48xlarge", "preset": "image-classification"}
JOB |= {"dataset_bytes": 150e9, "objects": 1_281_167, "region": "us-east-1", "checkpoint_interval": 1800}
BEFORE, WHILE, AFTER = "Before the GPUs are paid for", "While they train", "When training is over"


def plan(reads: str, checkpoints: str) -> Recommendation:
    found = recommend(Workload.from_mapping({**JOB, "model_parameters": 3e8}, FACTS), FACTS)
    options = {"training_reads": reads, "checkpoints": checkpoints}
    placements = {
        role: replace(place, option=options.get(role, place.option), backed_by=None)
        for role, place in found.placements.items()
    }
    return replace(found, placements=placements)


def test_a_file_system_is_created_in_the_zone_of_the_capacity_filled_and_deleted_when_its_export_is_proved() -> None:
    found = steps(plan("fsx-for-lustre", "fsx-for-lustre"))
    assert list(found) == [BEFORE, WHILE, AFTER]
    create, fill = found[BEFORE]
    assert "Availability Zone of the instances" in create and "link it to the bucket" in create
    seconds = plan("fsx-for-lustre", "fsx-for-lustre").option("fsx-for-lustre").first_epoch.seconds
    assert seconds is not None and seconds.value > 3600
    assert fill.startswith("Load the data: left to the first epoch it takes 3 h 11 min")
    [save] = found[WHILE]
    assert save.startswith(
        "Save checkpoints to FSx for Lustre every 30 min; copy key checkpoints and the final model to "
    )
    prove, delete, scratch = found[AFTER]
    assert "the task succeeded, the age of the export queue is 0, and the counts in S3 match" in prove
    assert delete == "Delete FSx for Lustre once what must last is in Amazon S3: it is charged until then."
    assert scratch == "Instance NVMe: scratch data goes when the job ends."


def test_what_is_read_and_saved_in_s3_itself_needs_nothing_created_and_nothing_deleted() -> None:
    found = steps(plan("s3-standard", "s3-standard"))
    assert list(found) == [WHILE, AFTER]
    assert found[AFTER] == ["Instance NVMe: scratch data goes when the job ends."]


@pytest.mark.parametrize("option", ["s3-express-one-zone", "s3-files"])
def test_each_place_for_checkpoints_says_what_has_to_be_proved_before_it_goes(option: str) -> None:
    found = steps(plan("s3-standard", option))
    assert len(found[BEFORE]) == 1 and len(found[AFTER]) == 3


@pytest.mark.usefixtures("chinese")
def test_the_steps_are_said_in_chinese() -> None:
    found = steps(plan("fsx-for-lustre", "fsx-for-lustre"))
    assert list(found) == ["GPU 开始计费之前", "训练期间", "训练结束之后"]
    assert found["训练结束之后"][2] == "实例 NVMe：临时数据在作业结束时删除。"
