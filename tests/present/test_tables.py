"""The plan's tables, cell by cell."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gpufeed.facts import load
from gpufeed.model.advise import recommend
from gpufeed.model.workload import Workload
from gpufeed.present import tables, words
from gpufeed.present.tables.cost import amount, costings


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
    # 80 % of 64 ranks × 10 parts of 8 MiB, each in 30 ms and 8 MiB at 20 MB/s = 11.95 GB/s: 107.1 s of every 2,000 s;
    # at best 25 parts, 9 ms and 45 MB/s, and 103 % of that, 14.5 s; at worst 40 % of the rate, 214.3 s
    assert s3[0] == "Amazon S3 Standard"
    assert s3[1] == "1 min 47 s (14.5 s–3 min 34 s)"
    assert s3[3].startswith("5.4 %")  # 107.1 / 2,000
    assert s3[4] == "yes"


def test_an_unknown_checkpoint_is_unknown_in_every_cell() -> None:
    workload = Workload.from_mapping(
        {"task": "pretraining", "instances": 1, "instance_type": "p5.48xlarge", "preset": "video"}, load()
    )
    row = tables.checkpoints(recommend(workload, load())).iloc[0].to_list()
    assert row[1:] == ["unknown"] * 6


def test_a_bill_is_an_amount_times_a_price_in_each_line_with_the_date_of_the_price() -> None:
    bill = tables.bill(recommend(workload_of_two_gigabytes(), load()), "fsx-for-lustre")
    rows = [row.to_list() for _, row in bill.iterrows()]
    # 2e9 / 2^30 GiB and 1,200 GiB for a month; 40 files of 50 MB in
    # 6 parts of 8 MiB each and 1,915 parts of weights fill the file system: 2,155 GETs
    assert rows[0][:4] == [
        "storage of the data set in S3 Standard",
        "1.86 GiB-months",
        "USD 0.023 per GiB-month",
        "USD 0.0428",
    ]
    assert rows[1][:4] == ["storage of the option itself", "1,200 GiB-months", "USD 0.145 per GiB-month", "USD 174"]
    assert rows[2][1:3] == ["2,155 requests", "USD 0.0004 per 1,000 requests"]
    assert rows[3] == ["idle GPUs", "0 h", "USD 55.04 per hour of all instances", "USD 0", "ec2-price-list 2026-07-28"]
    # 16.06 GB of weights at 80 % of 150 MB/s: 133.8 s
    assert rows[4][0] == "GPUs waiting for weights at the start"
    assert rows[4][1].startswith("0.0372 h (") and rows[4][3].startswith("USD 2.05 (")
    assert rows[-2][0] == "sum without the storage of the data set in S3" and rows[-2][3].startswith("USD 176 (")
    assert rows[-1][0] == "total" and rows[-1][3].startswith("USD 176 (")


def test_a_bill_in_china_is_in_its_currency_and_says_what_is_not_priced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GPUFEED_LANGUAGE", "zh_CN")
    china = replace(workload_of_two_gigabytes(), region="cn-north-1", gpu_hour_price=300.0)
    rows = [row.to_list() for _, row in tables.bill(recommend(china, load()), "s3-standard").iterrows()]
    assert rows[0] == ["数据集在 S3 Standard 中的存储", "1.86 GiB·月", "未定价", "未定价", "无"]
    assert rows[-4][1:4] == ["0 小时", "所有实例每小时 300 元人民币", "0 元人民币"]
    # 16.06 GB in 3.69 s, as by 8 ranks × 10 parts of 8 MiB in 123.2 ms each, of which 80 % are reached
    assert rows[-3][1].startswith("0.00102 小时") and rows[-3][3].startswith("0.307 元人民币")
    assert rows[-1][0] == "合计" and rows[-1][3] == "未定价"


def workload_of_two_gigabytes() -> Workload:
    traits = {"task": "lora", "instances": 1, "instance_type": "p5.48xlarge", "dataset_bytes": 2e9, "objects": 40}
    return Workload.from_mapping(traits | {"run_hours": 730, "region": "us-east-1"}, load())


def test_what_the_way_to_the_bucket_costs_has_a_column_where_it_costs() -> None:
    traits = workload_of_two_gigabytes()
    plain, through_nat = (
        recommend(w, load()) for w in (traits, replace(traits, network_path="nat", encryption="sse-kms"))
    )
    parts = ["Storage", "Requests", "Loading", "Checkpoints", "Idle GPUs"]
    assert list(tables.costs(plain).columns) == ["Option", "Holds", *parts, "Total", "Not priced"]
    shown = tables.costs(through_nat)
    assert list(shown.columns)[3:7] == ["Requests", "Transfer", "KMS requests", "Loading"]
    s3 = shown[shown["Option"] == "Amazon S3 Standard"].iloc[0]
    transfer = through_nat.option("s3-standard").cost.transfer
    assert (
        transfer is not None
        and transfer.value > 0
        and s3["Transfer"] == amount(transfer, through_nat.option("s3-standard").cost)
    )
    file_system = shown[shown["Option"] == "FSx for Lustre"].iloc[0]
    assert file_system["Transfer"] == "USD 0"


def test_the_whole_plan_stands_above_the_options_with_the_total_of_its_bill() -> None:
    traits = {"task": "pretraining", "instances": 64, "instance_type": "p5.48xlarge", "model_parameters": 70e9}
    traits |= {"checkpoint_interval": 600.0, "run_hours": 720.0, "region": "us-east-1", "dataset_bytes": 2e13}
    plan = recommend(Workload.from_mapping(traits, load()), load())
    first, *reading = costings(plan)
    assert first.cost.total == plan.cost.total
    # Its parts are the bill, each line once: those of the reads, those of the checkpoints, and all waiting GPUs.
    assert plan.cost.total is not None
    assert sum(part.value for part in first.parts.values() if part) == pytest.approx(plan.cost.total.value)
    shown = tables.costs(plan)
    assert shown["Option"].iloc[0] == "This plan"
    assert shown["Total"].iloc[0] == amount(plan.cost.total, plan.cost)
    assert list(shown["Checkpoints"])[1:] == ["–"] * len(reading)
    # Each row says what its total holds, so that nobody takes the plan for the dearest option.
    holds = dict(zip(shown["Option"], shown["Holds"], strict=True))
    mine = words.system(plan.option(plan.recommended))
    assert holds.pop("This plan") == "reads and checkpoints"
    with_room = "reads as in this plan, on a file system with room for the checkpoints"
    assert holds.pop(mine) in {"reads alone, as in this plan", with_room}
    assert set(holds.values()) == {"reads alone"}


def test_a_first_epoch_at_the_speed_of_the_gpus_has_no_limit() -> None:
    traits = {
        "task": "pretraining",
        "instances": 1,
        "instance_type": "p5.48xlarge",
        "preset": "image-classification",
        "dataset_bytes": 1e11,
        "objects": 1_000_000,
        "interface": "file-paths",
    }
    # 8 × 1 sample/s of 100 KB is less than any option gives; 8 × 1,000 is more than S3 or loading from it brings.
    slow, fast = (
        tables.epochs(
            recommend(Workload.from_mapping(traits | {"samples_per_second_per_accelerator": rate}, load()), load())
        )
        for rate in (1, 1000)
    )
    assert set(slow["Its limit"]) == {"none: the GPUs set the pace"}
    assert fast["Its limit"].to_list()[0] == "request latency"
    assert "none: the GPUs set the pace" not in fast["Its limit"].to_list()[:2]
