"""How a checkpoint is uploaded, worked by hand."""

from __future__ import annotations

import pytest

from gpufeed.facts import load
from gpufeed.model.advise import recommend
from gpufeed.model.upload import MIB, Upload, upload_of
from gpufeed.model.workload import Workload


@pytest.mark.parametrize(
    ("size", "writers", "expected", "requests"),
    [
        (64 * 2**30, 8, Upload(8 * 2**30, 8 * MIB, 2), 1024 + 2),  # 8 GiB a file in parts of 8 MiB
        (1e6, 1, Upload(1e6, 8 * MIB, 2), 1 + 2),  # one part that is not full
        # 175 GB in one file: 17.5 MB in each of 10,000 parts, in whole MiB 17: 9,818 parts
        (175e9, 1, Upload(175e9, 17 * MIB, 2), 9818 + 2),
    ],
)
def test_a_file_goes_up_in_parts_of_8_mib_or_in_as_large_ones_as_it_needs(
    size: float, writers: int, expected: Upload, requests: int
) -> None:
    found = upload_of(size, writers, load())
    assert found == expected
    assert found.requests == requests


def test_a_rank_has_10_to_25_parts_under_way_as_the_defaults_of_the_clients_are() -> None:
    traits = {"task": "pretraining", "instances": 8, "instance_type": "p5.48xlarge", "checkpoint_bytes": 1e12}
    write = recommend(Workload.from_mapping(traits, load()), load()).option("s3-standard").supply.write_bytes_per_s
    # 64 ranks: boto3's 10 parts, each in 30 ms and 8 MiB at 20 MB/s; at best the 25 connections of AWS's own client
    # (10 Gbit/s at 0.4 Gbit/s each), each part in 9 ms and 8 MiB at 45 MB/s.
    middle = 64 * 10 * 2**23 / (0.03 + 2**23 / 20e6)
    high = 64 * 25 * 2**23 / (0.009 + 2**23 / 45e6)
    assert write is not None and write[1:3] == pytest.approx((middle, high))
