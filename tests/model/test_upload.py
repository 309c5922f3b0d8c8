"""How a checkpoint is uploaded, worked by hand."""

from __future__ import annotations

import pytest

from gpufeed.facts import load
from gpufeed.model.upload import MIB, Upload, upload_of


@pytest.mark.parametrize(
    ("size", "writers", "expected", "requests"),
    [
        (64 * 2**30, 8, Upload(8 * 2**30, 8 * MIB), 1024 + 2),  # 8 GiB a file in parts of 8 MiB
        (1e6, 1, Upload(1e6, 8 * MIB), 1 + 2),  # one part that is not full
        # 175 GB in one file: 17.5 MB in each of 10,000 parts, in whole MiB 17: 9,818 parts
        (175e9, 1, Upload(175e9, 17 * MIB), 9818 + 2),
    ],
)
def test_a_file_goes_up_in_parts_of_8_mib_or_in_as_large_ones_as_it_needs(
    size: float, writers: int, expected: Upload, requests: int
) -> None:
    found = upload_of(size, writers, load())
    assert found == expected
    assert found.requests == requests
