"""The plan's tables, cell by cell."""

from __future__ import annotations

from gpufeed.facts import load
from gpufeed.model.advise import recommend
from gpufeed.model.workload import Workload
from gpufeed.present import tables


def test_what_saving_costs_on_s3_is_said_in_its_row() -> None:
    workload = Workload.from_mapping(
        {
            "task": "pretraining",
            "instances": 8,
            "instance_type": "p5.48xlarge",
            "checkpoint_bytes": 1.024e12,
            "checkpoint_interval": 2000,
        },
        load(),
    )
    s3 = tables.checkpoints(recommend(workload, load())).iloc[0].to_list()
    # 64 ranks × 8 parts × 20 MB/s = 10.24 GB/s (up to 45 MB/s each): 100 s of every 2,000 s;
    # at best 45 MB/s and 103 % of that, 43.1 s; at worst 40 % of the rate, 250 s
    assert s3[0] == "Amazon S3 Standard"
    assert s3[1].startswith("1 min 40 s") or s3[1].startswith("100 s")
    assert s3[1] == "1 min 40 s (43.1 s–4 min 10 s)"
    assert s3[3].startswith("5 %")
    assert s3[4] == "yes"


def test_an_unknown_checkpoint_is_unknown_in_every_cell() -> None:
    workload = Workload.from_mapping(
        {"task": "pretraining", "instances": 1, "instance_type": "p5.48xlarge", "preset": "video"}, load()
    )
    row = tables.checkpoints(recommend(workload, load())).iloc[0].to_list()
    assert row[1:] == ["unknown"] * 5
