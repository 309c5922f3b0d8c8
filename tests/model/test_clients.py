"""What clients on one instance are set to, worked by hand."""

from __future__ import annotations

from typing import Any

import pytest

from gpufeed.facts import load
from gpufeed.model.advise import recommend
from gpufeed.model.clients import gigabits_per_process, largest_written_file, mount_threads, part_of_saves
from gpufeed.model.recommendation import Recommendation
from gpufeed.model.workload import Workload


def plan(**traits: Any) -> Recommendation:
    job = {"task": "pretraining", "instances": 4, "instance_type": "p4d.24xlarge"}
    return recommend(Workload.from_mapping(job | traits, load()), load())


@pytest.mark.parametrize(
    ("workers", "each", "threads"),
    [
        (1, 1, 16),  # 8 accelerators x 1 x 1 = 8: below Mountpoint's own 16
        (8, 2, 128),  # 8 x 8 x 2
    ],
)
def test_a_mount_serves_all_reads_in_flight_on_its_instance(workers: int, each: int, threads: int) -> None:
    found = plan(workers_per_accelerator=workers, requests_in_flight_per_worker=each)
    assert mount_threads(found, load()) == threads


@pytest.mark.parametrize(
    ("checkpoint_bytes", "part", "largest"),
    [
        (80_000 * 2**20, None, 80_000 * 2**20),  # exactly 10,000 parts of the default 8 MiB
        (80_001 * 2**20, 9 * 2**20, 90_000 * 2**20),  # 8.0001 MiB a part, in whole MiB
        (10e12, 954 * 2**20, 9_540_000 * 2**20),  # 1e9 bytes a part = 953.67 MiB
    ],
)
def test_the_file_of_a_save_fits_into_the_parts_of_one_upload(
    checkpoint_bytes: float, part: int | None, largest: float
) -> None:
    found = plan(checkpoint_bytes=checkpoint_bytes, checkpoint_writers=1)
    assert part_of_saves(found, load()) == part
    assert largest_written_file(found, load()) == largest


def test_a_save_in_many_files_goes_up_in_the_default_parts() -> None:
    assert part_of_saves(plan(checkpoint_bytes=980e9), load()) is None  # 30.6 GB in each of 32 files


def test_a_process_aims_at_its_share_of_the_network() -> None:
    # p4d.24xlarge: 400 Gbit/s towards S3, 8 accelerators.
    assert gigabits_per_process(plan(), load()) == 50
    assert gigabits_per_process(plan(), load(), each=8) == 6  # and of its 8 loader workers, 6.25


def test_where_the_network_is_not_known_no_target_is_made_up() -> None:
    job = {"task": "pretraining", "instances": 4, "accelerator": "H100", "accelerators_per_instance": 8}
    found = recommend(Workload.from_mapping(job, load()), load())
    assert gigabits_per_process(found, load()) is None
