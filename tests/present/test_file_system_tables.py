"""File systems side by side, and one beside what a job needs, as people see them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from examples import FILE_SYSTEM

from gpufeed.facts import load
from gpufeed.model.advise import recommend
from gpufeed.model.file_system import Link, Sized, compare, sized
from gpufeed.model.fsx import GIB, Need, configurations
from gpufeed.model.study import Study
from gpufeed.model.workload import Workload
from gpufeed.present import page, plain, tables
from gpufeed.present.panels import ChoosePanel

BY_RELEASE = (
    "The rates alone ask for 1,200 GiB; one of that size holds less than the data linked to it, "
    "so files would have to be released as others are read."
)
RAISE = (
    "Raise its capacity from 4,800 to 7,200 GiB, the next that AWS accepts. "
    "It cannot be lowered again, and the next increase is possible after 6 h."
)


def side_by_side(need: Need, region: str = "us-east-1", currency: str = "USD") -> Sized:
    return Sized(need, region, currency, configurations(need, region, load()))


def test_a_row_says_what_to_order_what_it_gives_and_what_it_costs() -> None:
    rows = tables.file_systems(side_by_side(Need(4000.0 * GIB, opens_per_s=24_000)))
    assert rows.iloc[0].to_list() == [
        "PERSISTENT_2, SSD, 4,800 GiB, 125 MB/s per TiB, 12,000 metadata IOPS",
        "would do",
        "600 MB/s (600 MB/s–2.4 GB/s)",
        "600 MB/s (600 MB/s–2.4 GB/s)",
        "24,000 files/s",
        "the data, 4,000 GiB",
        "USD 1,030 (storage USD 696, metadata IOPS USD 330)",
        BY_RELEASE,
    ]


def test_what_would_do_comes_first_and_nothing_unpriced_stands_among_the_priced() -> None:
    # Without EFA, which AWS advises above 10 GB/s, a file system lacks something.
    rows = tables.file_systems(side_by_side(Need(1e12, read_bytes_per_s=13e9, efa=True)))
    verdicts = list(rows.iloc[:, 1])
    groups = ["would do", "would do, not priced", "lacks something", "ruled out"]
    assert verdicts == sorted(verdicts, key=groups.index)
    assert set(verdicts) == set(groups)
    for verdict, price in zip(verdicts, rows.iloc[:, 6], strict=True):
        assert (price == "not priced") is (verdict == "would do, not priced") or verdict == "lacks something"


def test_a_type_that_is_out_names_its_reason() -> None:
    rows = tables.file_systems(side_by_side(Need(1e12, write_bytes_per_s=1e9), "cn-north-1", "CNY"))
    out = {row[0]: row[-1] for row in rows.itertuples(index=False) if row[1] == "ruled out"}
    assert out["PERSISTENT_2-SSD-125"] == "The guide does not list it for cn-north-1."
    assert "never keep the only copy of checkpoints on it" in out["SCRATCH_2"]


def test_more_than_the_quota_is_said_in_the_row() -> None:
    rows = tables.file_systems(side_by_side(Need(120_000.0 * GIB)))
    assert "above the default quota of 100,800 GiB" in rows.iloc[0, -1]


def test_what_is_not_known_is_said_below_the_table() -> None:
    known = side_by_side(Need(1e12), "cn-north-1", "CNY")
    assert tables.file_system_sentences(known) == []
    unknown = side_by_side(Need(1e12, unknown=frozenset({"read"})), "cn-north-1", "CNY")
    assert tables.file_system_sentences(unknown) == ["Not known, and so not sized for: read rate."]
    assert plain.file_systems(unknown)[:5] == [
        "To carry the training reads of this job, FSx for Lustre in cn-north-1 needs:",
        "  capacity: 931 GiB",
        "  read rate: unknown",
        "  write rate: 0 bytes/s",
        "  files opened: 0 files/s",
    ]
    exporting = Need(2e12, until_exported_bytes=1e12, exported_in_time_at=747e6)
    assert plain.file_systems(side_by_side(exporting))[1] == (
        "  capacity: 1,863 GiB, and 931 GiB more for what is still being exported to S3 unless a throughput of at "
        "least 747 MB/s is ordered"
    )
    never = replace(exporting, exported_in_time_at=float("inf"))
    assert plain.file_systems(side_by_side(never))[1] == (
        "  capacity: 1,863 GiB, and 931 GiB more for what is still being exported to S3"
    )
    govcloud = side_by_side(Need(1e12), "us-gov-west-1", "USD")
    assert "PERSISTENT_2 is not in every Region" in tables.file_system_sentences(govcloud)[0]
    assert tables.file_system_sentences(side_by_side(Need(1e12))) == []


def test_what_set_the_size_stands_apart_from_how_much_it_asks_for() -> None:
    opens = side_by_side(Need(2e12, opens_per_s=114_285))
    asked = {one.name: tables.file_system.size_set_by(one) for one in opens.found.all if not one.efa}
    # 114,285 / 2 = 57,143 IOPS: 60,000 of them come with 5 × 24,000 GiB where none can be ordered.
    assert asked["PERSISTENT_1-SSD-200"] == "metadata IOPS that come with it, 120,000 GiB"
    assert asked["PERSISTENT_2-SSD-125"] == "the data, 1,863 GiB"
    smallest = side_by_side(Need(1e9)).found.priced[0]
    assert tables.file_system.size_set_by(smallest) == "the smallest there is"
    # 24,000 IOPS come with 48,000 GiB for USD 348 more than 45,600 GiB, and cost USD 660 if ordered.
    larger = side_by_side(Need(45_000.0 * GIB, opens_per_s=48_000)).found.priced[0]
    assert (larger.capacity_gib, larger.size_set_by) == (48_000, "metadata")
    assert tables.file_system.size_set_by(larger) == "metadata IOPS that come with it"


def test_what_the_plan_has_elsewhere_is_said_with_what_it_would_need() -> None:
    # The plan has the saves of 980 GB every 30 min on S3 Express One Zone.
    job = Workload.from_mapping(
        {"task": "pretraining", "instances": 64, "instance_type": "p5.48xlarge", "preset": "llm-text"}
        | {"model_parameters": 70e9, "checkpoint_interval": 1800, "reads": "random", "request_bytes": 4096},
        load(),
    )
    plan = recommend(job, load())
    assert plan.placements["checkpoints"].option == "s3-express-one-zone"
    found = sized(job, load(), plan=plan)
    assert found.left_out is not None
    # Two checkpoints of 70e9 × 14 bytes more, and a save that is written at 40 % of the rate before the next begins.
    with_them, without = found.left_out.need_with_it, found.need
    assert with_them.holds_bytes - without.holds_bytes == pytest.approx(2 * 980e9)
    assert (without.write_bytes_per_s, with_them.write_bytes_per_s) == (0, pytest.approx(980e9 / 1800 / 0.4))
    said = (
        "This is for the training reads alone: the plan has the checkpoints on S3 Express One Zone. With them on the "
        "file system as well it would need room for 2,757 GiB, and 913 GiB more for what is still being exported to S3 "
        "unless a throughput of at least 747 MB/s is ordered, reads of 1.61 MB/s, writes of 1.36 GB/s, "
        "0.00599 files/s opened."
    )
    assert tables.file_system_sentences(found) == [said]
    assert plain.file_systems(found, plan)[0] == (
        "To carry the training reads of this job, FSx for Lustre in us-east-1 needs:"
    )
    assert plain.file_systems(found, plan)[5] == f"! {said}"
    assert plain.comparison(compare(FILE_SYSTEM, found.need, load()), "USD", found)[1] == f"! {said}"
    # With nothing of it elsewhere there is nothing to say.
    assert sized(job, load()).left_out is None


def test_a_comparison_says_has_needs_and_short_by() -> None:
    found = compare(FILE_SYSTEM, Need(5000.0 * GIB, read_bytes_per_s=0.5e9), load())
    rows = {row[0]: row[1:] for row in tables.compared(found).itertuples(index=False)}
    assert rows["capacity"][:4] == ("4,800 GiB", "5,000 GiB", "short", "200 GiB")
    assert rows["read rate"][:4] == ("600 MB/s (600 MB/s–2.4 GB/s)", "500 MB/s", "enough", "–")
    assert rows["write rate"][1:4] == ("–", "not needed", "–")
    assert rows["link to S3"] == ("yes", "yes", "enough", "–", "Linked to s3://your-bucket/data/.")
    assert tables.comparison_sentences(found, "USD") == [
        "fs-0123456789abcdef0 in us-east-1 is not enough for this job; most short: capacity.",
        RAISE,
        "Costs per month: now USD 696, then USD 1,040.",
    ]


def test_where_no_change_is_enough_another_is_named() -> None:
    found = compare(replace(FILE_SYSTEM, deployment_type="SCRATCH_2", mb_per_s_per_tib=None), Need(1e12), load())
    assert tables.comparison_sentences(found, "USD")[1] == (
        "No change to it would be enough. Create another: "
        "PERSISTENT_2, SSD, 1,200 GiB, 125 MB/s per TiB, 1,500 metadata IOPS."
    )


def test_names_from_outside_act_on_nothing() -> None:
    strange = replace(FILE_SYSTEM, lifecycle="<b>\x1b[31m", links=(Link("/", "s3://<script>\x1b[2J", "FAILED"),))
    shown = page.table(tables.compared(compare(strange, Need(1e12), load())))
    assert "\x1b" not in shown and "<script>" not in shown and "<b>" not in shown


@pytest.mark.usefixtures("chinese")
def test_all_of_it_exists_in_chinese() -> None:
    found = compare(FILE_SYSTEM, Need(5000.0 * GIB, read_bytes_per_s=2e9, opens_per_s=20_000), load())
    assert (
        plain.comparison(found, "USD")[0]
        == "us-east-1 的 fs-0123456789abcdef0 不足以支撑此作业；缺口最大的是读取速率。"
    )
    shown = plain.file_systems(side_by_side(Need(1e12, write_bytes_per_s=1e9)))
    assert shown[:6] == [
        "为承载该作业的训练读取和检查点，us-east-1 的 FSx for Lustre 需要：",
        "  容量：931 GiB",
        "  读取速率：0 字节/秒",
        "  写入速率：1 GB/s",
        "  打开文件：0 个文件/秒",
        "可用，从低价到高价：",
    ]


def choose(**traits: object) -> ChoosePanel:
    stated = {"task": "pretraining", "instances": 8, "instance_type": "p5.48xlarge", "region": "us-east-1", **traits}
    return ChoosePanel(Study(workload=Workload.from_mapping(stated, load())))


def test_the_choose_panel_has_them_in_a_closed_section() -> None:
    details = choose()._details.value
    start = details.index("<summary>Every file system that would do</summary>")
    section = details[start:].partition("</details>")[0]
    title, _, inside = section.partition("</summary>")
    assert "Every file system that would do" in title
    assert inside.startswith('<div class="scroll"><table class="columns-6">')
    assert "PERSISTENT_2, SSD" in section and "Cost of the run" not in section


def test_the_section_is_away_where_fsx_is_ruled_out() -> None:
    panel = choose()
    assert panel.recommendation is not None
    options = tuple(
        replace(answer, verdict="ruled-out") if answer.option == "fsx-for-lustre" else answer
        for answer in panel.recommendation.options
    )
    assert panel._file_systems(replace(panel.recommendation, options=options)) == ""
