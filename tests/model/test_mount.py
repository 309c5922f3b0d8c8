"""The memory and the cache of Mountpoint, worked by hand."""

from __future__ import annotations

from typing import Any

import pytest

from gpufeed.facts import load
from gpufeed.model.advise import recommend
from gpufeed.model.fsx import GIB
from gpufeed.model.recommendation import Recommendation
from gpufeed.model.supply import mountpoint_backing
from gpufeed.model.workload import Workload

# Large files in S3 that a program reads by path: the published rule says Mountpoint.
SHARDS = {
    "task": "pretraining",
    "instances": 4,
    "instance_type": "p5.48xlarge",
    "preset": "llm-text",
    "model_parameters": 7e9,
    "checkpoint_interval": 100_000,
    "interface": "file-paths",
    "data_in_s3": True,
    "avoid_parallel_file_system": True,
    "dataset_bytes": 1e13,
    "objects": 1_000,
    "epochs": 3,
    "region": "us-east-1",
}


def plan(**traits: Any) -> Recommendation:
    found = recommend(Workload.from_mapping(SHARDS | traits, load()), load())
    assert found.recommended == "mountpoint-s3"
    return found


def reasons(found: Recommendation) -> dict[str, Any]:
    return {reason.id: reason.parameters for reason in found.placements["training_reads"].reasons}


def test_reading_ahead_is_told_where_it_may_need_more_than_is_free() -> None:
    told = {warning.id: warning.parameters for warning in plan(workers_per_accelerator=100).warnings}
    # 8 × 100 files of 10 GB at once, each 2 GiB ahead at most: 1,600 GiB; half of 2,048 GiB are assumed free.
    memory = told["mountpoint-memory"]
    assert (memory["files"], memory["ahead"].value, memory["free"].value) == (800, 1600 * GIB, 1024 * GIB)
    # By default 95 % of the memory
    assert memory["target"].value == pytest.approx(0.95 * 2048 * GIB)
    # 64 files: 128 GiB
    assert "mountpoint-memory" not in {warning.id for warning in plan().warnings}


def test_a_local_cache_is_named_where_the_drives_hold_what_is_read_again() -> None:
    cache = reasons(plan())["mountpoint-cache"]
    # 8 drives of 3.8 TB less 5 %; of two later epochs on 4 nodes 3/4 and 9/16 are new to a node
    assert cache["capacity"].value == pytest.approx(0.95 * 30.4e12) and cache["capacity"].unit == "bytes"
    assert cache["asked_again"].value == pytest.approx((3 / 4 + 9 / 16) / 2)
    assert "mountpoint-cache" not in reasons(plan(epochs=1))
    assert "mountpoint-cache" not in reasons(plan(dataset_bytes=2.95e13))


def test_a_shared_cache_keeps_small_objects_only() -> None:
    too_much = {"dataset_bytes": 3.2e13, "samples_per_second_per_accelerator": 0.1}
    assert not {"mountpoint-cache", "mountpoint-shared-cache"} & reasons(plan(**too_much)).keys()
    # 1,000,000 bytes are less than 1 MiB.
    small = reasons(plan(**too_much, objects=32_000_000))
    assert small["mountpoint-shared-cache"]["instances"] == 4 and "mountpoint-cache" not in small


def test_files_that_are_only_replaced_need_no_directory_bucket() -> None:
    # --allow-overwrite works on either bucket; renaming and appending need a directory bucket.
    assert mountpoint_backing(frozenset()) == "s3-standard"
    assert mountpoint_backing(frozenset({"overwrite"})) == "s3-standard"
    assert mountpoint_backing(frozenset({"overwrite", "rename"})) == "s3-express-one-zone"
    assert mountpoint_backing(frozenset({"append"})) == "s3-express-one-zone"
