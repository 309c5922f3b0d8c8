"""What `gpufeed record` and `gpufeed recheck` print."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from gpufeed.cli import main
from gpufeed.facts import load
from gpufeed.facts.messages import catalogue
from gpufeed.model import flip
from gpufeed.model.record import Change, Recheck
from gpufeed.present import changes, words

JOB = 'task = "pretraining"\ninstances = 8\ninstance_type = "p5.48xlarge"\npreset = "llm-text"\n'


@pytest.fixture(autouse=True)
def one_trait(monkeypatch: pytest.MonkeyPatch) -> None:
    """Flip points of the instances alone: the search over all traits has its own tests, and takes a second a time."""
    every = flip.traits
    monkeypatch.setattr(flip, "traits", lambda *plan: [one for one in every(*plan) if one.name == "instances"])


@pytest.fixture
def kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    (tmp_path / "job.toml").write_text(JOB, encoding="utf-8")
    assert main(["record", str(tmp_path / "job.toml")]) == 0
    file = tmp_path / "record.json"
    file.write_text(capsys.readouterr().out, encoding="utf-8")
    return file


def test_a_record_is_made_and_asked_again(kept: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["recheck", str(kept)]) == 0
    first, *others = capsys.readouterr().out.splitlines()
    assert first.startswith("Decided 20") and first.endswith("asked again with gpufeed 0.1.0.")
    assert others == ["The answer is the same.", "Nothing it rests on has changed."]


def test_what_has_changed_is_said_by_name(kept: Path, capsys: pytest.CaptureFixture[str]) -> None:
    document = json.loads(kept.read_text(encoding="utf-8"))
    document["facts"]["options.s3-standard.first_byte_latency"] |= {"value": 0.05, "as_of": "2025-01-01"}
    document["answer"]["training_reads.option"] = "s3-files"
    kept.write_text(json.dumps(document), encoding="utf-8")
    assert main(["recheck", str(kept)]) == 0
    said = capsys.readouterr().out.splitlines()
    known = load().options["s3-standard"]["first_byte_latency"]
    bounds = words.quantity_range(known.quantity)
    latency = f"50 ms ({bounds}) [● published, 2025-01-01] → 30 ms ({bounds}) [● published, {known.as_of}]"
    assert said[1:] == [
        "The answer has changed.",
        "Answer (1):",
        "  Training reads, where it goes (training_reads.option): S3 Files → Amazon S3 Standard",
        "Facts (1):",
        f"  options.s3-standard.first_byte_latency: {latency}",
    ]
    assert main(["recheck", str(kept), "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert (shown["changed"], shown["answer_changed"]) == (True, True)
    assert shown["changes"]["answer"] == [{"name": "training_reads.option", "then": "s3-files", "now": "s3-standard"}]
    assert shown["changes"]["prices"] == []


@pytest.mark.parametrize(
    ("language", "said"),
    [
        (
            "en",
            [
                "The answer is the same.",
                "Nothing it rests on has changed.",
                "Looked up then and not any more, all of it as it was: facts 1, sources 1.",
                "Looked up now and not then, so the record does not say what it was: facts 2, prices 1.",
            ],
        ),
        (
            "zh_CN",
            [
                "结论未变。",
                "其全部依据均无变化。",
                "当时用到而现在不再用到、且均未变化：事实数据 1 项、来源 1 项。",
                "现在用到而当时没有用到，因此记录没有其当时的值：事实数据 2 项、价格 1 项。",
            ],
        ),
    ],
)
def test_what_another_evaluation_looks_up_is_counted_and_no_change(
    language: str, said: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GPUFEED_LANGUAGE", language)
    found = Recheck(
        "2026-11-30",
        "0.1.0",
        "0.2.0",
        (),
        no_longer_used={"facts": ("a",), "prices": (), "sources": ("s",)},
        newly_used={"facts": ("b", "c"), "prices": ("p",), "sources": ()},
    )
    assert changes.lines(found)[1:] == said
    document = changes.document(found)
    assert document["changed"] is False and document["changes"]["facts"] == []
    assert document["no_longer_used"] == {"facts": ["a"], "prices": [], "sources": ["s"]}
    assert document["newly_used"] == {"facts": ["b", "c"], "prices": ["p"], "sources": []}


def test_a_moved_flip_point_and_what_an_older_record_lacks_are_said(
    kept: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    document = json.loads(kept.read_text(encoding="utf-8"))
    del document["checkpoints"]
    name = next(name for name in document["flips"] if name.endswith(".above"))
    now = document["flips"][name]
    assert (name, now["option"]) == ("instances.checkpoints.above", "s3-express-one-zone")
    document["flips"][name] = now | {"at": 12, "because": "flip-cost"}
    kept.write_text(json.dumps(document), encoding="utf-8")
    assert main(["recheck", str(kept)]) == 0
    assert capsys.readouterr().out.splitlines()[1:] == [
        "The answer is the same.",
        "What would change the answer (1):",
        f"  {name}: S3 Express One Zone at 12 → S3 Express One Zone at {now['at']:.0f}",
        *(f"    {mark} {id_}: {without_values(id_)}" for mark, id_ in (("+", now["because"]), ("−", "flip-cost"))),
        "The record is without these, so they were not compared: checkpoints.",
    ]


def without_values(reason: str) -> str:
    return re.sub(r"\{\w+\}", "…", catalogue("en")[f"reason.{reason}"])


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"schema_version": 1}', "nan", '{"schema_version": 1e999}'])
def test_a_file_that_is_no_record_is_exit_2(tmp_path: Path, content: str, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "record.json"
    file.write_text(content, encoding="utf-8")
    assert main(["recheck", str(file)]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, "not there"),
        ({"low": 1e9, "value": 2e9, "high": 3e9, "unit": "bytes/s"}, "2 GB/s (1–3 GB/s)"),
        ({"value": 0.023, "unit": "USD/GiB-month", "as_of": "2026-11"}, "USD 0.023 per GiB-month [2026-11]"),
        ({"value": None, "unit": "USD/GiB-month"}, "not there"),
        (["a", 1], "a, 1"),
        (14400, "14,400"),
        ({"interval": 1800.0}, "interval=1,800"),
        ({"value": {"x": 1}, "unit": ["y"], "low": "a", "high": []}, "x=1 (a–)"),
        (True, "True"),
    ],
)
def test_a_value_of_any_kind_can_be_shown(value: object, shown: str) -> None:
    assert changes.value(value) == shown


@pytest.mark.usefixtures("chinese")
def test_changes_are_said_in_chinese() -> None:
    found = Recheck("2026-11-30", "0.1.0", "0.2.0", (Change("prices", "a.b", {"value": 1, "unit": "USD"}, None),))
    assert changes.lines(found) == [
        "决策时间 2026-11-30，所用 gpufeed 0.1.0；现用 gpufeed 0.2.0 复核。",
        "结论未变。",
        "价格（1）：",
        "  a.b：1 美元 → 无",
    ]


@pytest.mark.parametrize(
    ("section", "id_", "english", "chinese"),
    [
        ("answer", "checkpoints.decided_by", "Checkpoints, who decided (…)", "检查点，由谁决定（…）"),
        ("answer", "training_reads.configuration.efa", "Training reads, configuration (…)", "训练读取，配置（…）"),
        ("answer", "s3-files.verdict", "S3 Files, verdict (…)", "S3 Files，结论（…）"),
        ("answer", "region", "Region (…)", "区域（…）"),
        ("figures", "fed", "How fed the GPUs are (…)", "GPU 喂饱程度（…）"),
        ("figures", "options.s3-files.cost.total", "S3 Files, Cost of the run (…)", "S3 Files，训练总费用（…）"),
        ("figures", "options.s3-standard.cost.lines.gets.amount", "Amazon S3 Standard, Cost: GET requests (…)", None),
        ("figures", "options.tape.cost.total", None, None),
        ("figures", "options.s3-files.cost.lines.none.amount", None, None),
        ("figures", "options", None, None),
        ("figures", "nobody.knows", None, None),
        ("facts", "options.s3-standard.first_byte_latency", None, None),
    ],
)
def test_what_has_a_name_is_said_by_it_and_the_id_stays(
    section: str, id_: str, english: str | None, chinese: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    change = Change(section, id_, 1, 2)
    assert changes.name(change) == (english or id_).replace("…", id_)
    monkeypatch.setenv("GPUFEED_LANGUAGE", "zh_CN")
    assert english is None or chinese is None or changes.name(change) == chinese.replace("…", id_)


WITHOUT_UNIT = (
    (
        Change("figures", "options.s3-files.stall.best_interval", 900.0, 1800.0),
        "S3 Files, Interval between saves that wastes least (…): 15 min → 30 min",
        "S3 Files，浪费最少的保存间隔（…）：15 分钟 → 30 分钟",
    ),
    (
        Change("checkpoints", "s3-standard.lost.best_interval", 900.0, None),
        "Amazon S3 Standard, interval that wastes least (…): 15 min → not there",
        "Amazon S3 Standard，浪费最少的间隔（…）：15 分钟 → 无",
    ),
    (
        Change("answer", "checkpoints.interval", 3600.0, 1800.0),
        "Checkpoints, interval (…): 1 h → 30 min",
        "检查点，间隔（…）：1 小时 → 30 分钟",
    ),
    (Change("checkpoints", "bytes_per_file", 1e9, "x"), "…: 1 GB → x", "…：1 GB → x"),
    (
        Change("flips", "checkpoint_interval.searched", [60, 3600], [60]),
        "…: 1 min–1 h → 60",
        "…：1 分钟–1 小时 → 60",
    ),
    (
        Change("flips", "gpu_hour_price.training_reads.below", {"at": 30, "option": "s3-files"}, {"at": "?"}),
        "…: S3 Files at 30 → at=?",
        "…：30 时为 S3 Files → at=?",
    ),
)


@pytest.mark.parametrize(("change", "english", "chinese"), WITHOUT_UNIT)
def test_numbers_that_a_record_keeps_without_a_unit_are_said_with_it(
    change: Change, english: str, chinese: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = Recheck("2026-11-30", "0.1.0", "0.1.0", (change,))
    assert changes.lines(found)[3] == "  " + english.replace("…", change.name)
    monkeypatch.setenv("GPUFEED_LANGUAGE", "zh_CN")
    assert changes.lines(found)[3] == "  " + chinese.replace("…", change.name)


def test_reasons_that_changed_are_quoted_without_values() -> None:
    then, now = ["limited-by", "gone-since"], ["other-region"]
    found = Recheck("2026-11-30", "0.1.0", "0.1.0", (Change("answer", "s3-files.reasons", then, now),))
    assert changes.lines(found)[3:] == [
        "  S3 Files, reasons (s3-files.reasons): limited-by, gone-since → other-region",
        f"    + other-region: {catalogue('en')['reason.other-region']}",
        "    − limited-by: Its ceiling is …, set by ….",
    ]


def test_rules_that_changed_are_quoted() -> None:
    then, now = ["durable-base", "small-cluster"], ["durable-base", "multi-node"]
    found = Recheck("2026-11-30", "0.1.0", "0.1.0", (Change("answer", "rule.rules", then, now),))
    assert changes.lines(found)[2:] == [
        "Answer (1):",
        "  Published rule, rules that apply (rule.rules): durable-base, small-cluster → durable-base, multi-node",
        "    + multi-node: With about 16–500 instances, FSx for Lustre comes first.",
        "    − small-cluster: With about 1–16 instances, start on Amazon S3; streaming reads make the case stronger.",
    ]
    nonsense = Recheck("x", "y", "z", (Change("answer", "rule.rules", 5, [{"a": 1}]),))
    assert changes.lines(nonsense)[3].endswith("5 → a=1")
