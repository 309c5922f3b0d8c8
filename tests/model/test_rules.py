"""The published rule beyond its sixteen cases: precedence, boundaries and gaps of the source."""

from __future__ import annotations

from typing import Any

import pytest

from gpufeed.facts import load
from gpufeed.model.advise import recommend
from gpufeed.model.rules import RuleAnswer, precedence
from gpufeed.model.workload import Workload


def rule(**traits: Any) -> RuleAnswer:
    least = {"task": "pretraining", "accelerator": "H100", "accelerators_per_instance": 8, "checkpoints": "rare"}
    return recommend(Workload.from_mapping(least | traits, load()), load()).rule


S3, FSX, EXPRESS = "s3-standard", "fsx-for-lustre", "s3-express-one-zone"


@pytest.mark.parametrize(
    ("traits", "option", "also", "verdict"),
    [
        ({"instances": 15, "interface": "s3-api"}, S3, (), "choose"),
        ({"instances": 16, "interface": "any"}, S3, (FSX,), "choose"),
        ({"instances": 17, "interface": "s3-api"}, FSX, (), "choose"),
        # 124 instances have 992 GPUs, 125 have 1,000.
        ({"instances": 124, "interface": "s3-api"}, FSX, (), "choose"),
        ({"instances": 125, "interface": "s3-api"}, EXPRESS, (FSX,), "evaluate"),
        ({"instances": 125, "interface": "any"}, FSX, (EXPRESS,), "choose"),
        ({"instances": 125, "interface": "file-paths", "data_in_s3": False}, FSX, (), "choose"),
        ({"instances": 500, "interface": "s3-api"}, EXPRESS, (FSX,), "evaluate"),
        ({"instances": 501, "interface": "s3-api"}, EXPRESS, (), "evaluate"),
        ({"instances": 501, "interface": "any"}, FSX, (EXPRESS,), "evaluate"),
        ({"instances": 501, "interface": "file-paths", "data_in_s3": False}, FSX, (), "choose"),
        # Frequent checkpoints decide for FSx for Lustre, also on a small cluster and at a thousand GPUs.
        ({"instances": 1, "interface": "s3-api", "checkpoints": "frequent"}, FSX, (), "choose"),
        ({"instances": 125, "interface": "s3-api", "checkpoints": "frequent"}, FSX, (EXPRESS,), "choose"),
        # Beyond 500 the two criteria collide: reads from Express, checkpoints on FSx for Lustre.
        ({"instances": 501, "interface": "s3-api", "checkpoints": "frequent"}, EXPRESS, (FSX,), "evaluate"),
        # files-on-s3 beats the size rules, and yields to complex POSIX.
        ({"instances": 64, "interface": "file-paths", "data_in_s3": True}, "mountpoint-s3", ("s3-files",), "evaluate"),
        # A data set is taken to be in S3 unless it is said not to be.
        ({"instances": 64, "interface": "file-paths"}, "mountpoint-s3", ("s3-files",), "evaluate"),
        (
            {"instances": 64, "interface": "file-paths", "data_in_s3": True, "reads": "random"},
            "s3-files",
            ("mountpoint-s3",),
            "evaluate",
        ),
        (
            {"instances": 4, "interface": "file-paths", "data_in_s3": True, "file_operations": ["overwrite"]},
            "s3-files",
            (),
            "evaluate",
        ),
        (
            {
                "instances": 4,
                "interface": "file-paths",
                "data_in_s3": True,
                "file_operations": ["hard-link"],
                "avoid_parallel_file_system": True,
            },
            FSX,
            (),
            "choose",
        ),
        (
            {
                "instances": 4,
                "interface": "file-paths",
                "data_in_s3": True,
                "file_operations": ["append", "lock"],
                "avoid_parallel_file_system": True,
            },
            FSX,
            ("s3-files",),
            "choose",
        ),
    ],
)
def test_option_verdict_and_what_stays_open(
    traits: dict[str, Any], option: str, also: tuple[str, ...], verdict: str
) -> None:
    found = rule(**traits)
    assert (found.option, found.also_allowed, found.verdict) == (option, also, verdict)


@pytest.mark.parametrize(
    ("traits", "gaps"),
    [
        ({"instances": 1, "interface": "s3-api"}, ()),
        ({"instances": 2, "interface": "s3-api"}, ("two-to-sixteen",)),
        ({"instances": 16, "interface": "s3-api"}, ("two-to-sixteen", "sixteen-instances")),
        ({"instances": 16, "interface": "posix"}, ("sixteen-instances",)),
        ({"instances": 200, "interface": "s3-api"}, ("instances-against-gpus",)),
        ({"instances": 600, "interface": "any"}, ("beyond-500-no-preference",)),
        ({"instances": 600, "interface": "s3-api", "checkpoints": "frequent"}, ("beyond-500-collision",)),
        ({"instances": 4, "interface": "file-paths", "data_in_s3": True}, ("s3-files-against-mountpoint",)),
    ],
)
def test_gaps_of_the_source_are_named(traits: dict[str, Any], gaps: tuple[str, ...]) -> None:
    assert rule(**traits).gaps == gaps


@pytest.mark.parametrize(
    ("traits", "which"),
    [
        ({"instances": 64, "interface": "file-paths"}, (("files-on-s3",), ("multi-node",))),
        ({"instances": 1, "interface": "posix"}, (("posix", "files-on-s3-but"), ("small-cluster",))),
        ({"instances": 64, "interface": "posix"}, None),  # both say FSx for Lustre
        ({"instances": 8, "interface": "s3-api"}, None),
    ],
)
def test_which_rule_gave_way_is_said_where_two_that_fired_disagree(traits: dict[str, Any], which: object) -> None:
    assert precedence(rule(**traits)) == which


def test_checkpoints_go_to_fsx_where_reads_go_to_express() -> None:
    workload = Workload.from_mapping(
        {
            "task": "pretraining",
            "instances": 600,
            "accelerator": "H100",
            "accelerators_per_instance": 8,
            "interface": "s3-api",
            "checkpoints": "frequent",
        },
        load(),
    )
    plan = recommend(workload, load())
    assert plan.placements["training_reads"].rule == EXPRESS
    assert plan.placements["checkpoints"].rule == FSX
