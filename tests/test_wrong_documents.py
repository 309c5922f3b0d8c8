"""A document of the wrong kind is called by its name, whatever it was handed over as; a damaged one names where."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gpufeed.cli import main
from gpufeed.facts import load
from gpufeed.facts.errors import GpufeedError
from gpufeed.facts.messages import text
from gpufeed.model.kind import kind_of
from gpufeed.model.measurement import Measurement, Record
from gpufeed.model.profile import PrefixProfile
from gpufeed.model.study import Study
from gpufeed.model.workload import Workload
from gpufeed.observe.documents import read_json, read_toml, write_text

JOB = {"task": "lora", "instances": 1, "instance_type": "p5.48xlarge"}
TOML = 'task = "lora"\ninstances = 1\ninstance_type = "p5.48xlarge"\n'


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One file of every kind, as gpufeed writes it."""
    place = tmp_path_factory.mktemp("documents")
    (place / "job.toml").write_text(TOML, encoding="utf-8")
    profile = PrefixProfile("p/")
    profile.add_many(["p/a", "p/b"], [10, 20])
    measurement = Measurement("gpufeed", "ok", (Record("read", 1e9, concurrency=4, target="s3://b/p"),))
    study = Study(Workload.from_mapping(JOB, load()), profile, measurements=[measurement])
    offer = {"offerCode": "AmazonS3", "products": {}, "terms": {}}
    written = {"scan": profile.to_json(), "measurement": measurement.to_json(), "study": study.to_json()}
    written |= {"offer": offer, "workload": JOB}
    for kind, document in written.items():
        (place / f"{kind}.json").write_text(json.dumps(document), encoding="utf-8")
    return place


@pytest.fixture(scope="module")
def printed(folder: Path) -> Path:
    """And one of everything that a command prints."""
    job, record = str(folder / "job.toml"), str(folder / "record.json")
    for kind, arguments in {
        "record": ["record", job],
        "recheck": ["recheck", record, "--json"],
        "plan": ["recommend", job, "--json"],
        "file-systems": ["fsx", job, "--json"],
        "prices": ["prices", "--json"],
        "templates": ["infrastructure", job, "--format", "terraform", "--json"],
        "failure": ["recommend", str(folder / "none.toml"), "--json"],
    }.items():
        with pytest.MonkeyPatch.context() as patch, (folder / f"{kind}.json").open("w", encoding="utf-8") as out:
            patch.setattr("sys.stdout", out)
            main(arguments)
    return folder


@pytest.fixture
def inside(printed: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(printed)
    return printed


KINDS = (
    *("record", "recheck", "plan", "file-systems", "prices", "templates", "failure"),
    *("scan", "measurement", "study", "offer", "workload"),
)


@pytest.mark.parametrize("kind", KINDS)
def test_a_document_is_known_by_what_stands_in_it(kind: str, printed: Path) -> None:
    assert kind_of(read_json(printed / f"{kind}.json")) == kind


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("wanted", "arguments"),
    [
        ("scan", ["recommend", "job.toml", "--profile"]),
        ("measurement", ["recommend", "job.toml", "--measurement"]),
        ("scan", ["fsx", "job.toml", "--profile"]),
        ("record", ["recheck"]),
        ("offer", ["prices", "--to", "own.toml", "--offer"]),
        ("unfinished-scan", ["scan", "s3://bucket/", "--endpoint-url", "http://127.0.0.1:9", "--resume"]),
    ],
)
def test_what_is_wanted_and_what_was_given_are_both_named(
    kind: str,
    wanted: str,
    arguments: list[str],
    inside: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    if kind == wanted:
        return
    assert main([*arguments, f"{kind}.json"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    sentence = text("document.wrong-kind", found=text(f"kind.{kind}"), wanted=text(f"kind.{wanted}"))
    before = "" if wanted == "unfinished-scan" else f"{kind}.json: "
    assert err == f"{before}{sentence}\n"


@pytest.mark.parametrize(
    ("damage", "sentence"),
    [
        ({"answer": None}, "no decision record that can be read (see “answer”)"),
        ({"made": None}, "no decision record that can be read (see “made”)"),
        ({"prices": None}, "no decision record that can be read (see “prices”)"),
        ({"schema_version": None}, "no decision record that can be read (see “schema_version”)"),
        ({"schema_version": 7}, "has format 7, and this gpufeed reads format 1"),
        ({"workload": None}, "no decision record that can be read (see “workload”)"),
        ({"measurement": {"tool": None}}, "not a measurement that can be read (see “tool”)"),
        ({"measurement": {"tool": None, "status": "ok"}}, "not a measurement that can be read (see “tool”)"),
    ],
)
def test_a_damaged_record_names_where(
    damage: dict[str, Any], sentence: str, printed: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    damaged = tmp_path / "record.json"
    damaged.write_text(json.dumps(read_json(printed / "record.json") | damage), encoding="utf-8")
    assert main(["recheck", str(damaged)]) == 2
    assert sentence in capsys.readouterr().err


@pytest.mark.parametrize(
    ("damage", "field"),
    [
        ({"measurements": None}, "measurements"),
        ({"workload": 1}, "workload"),
        ({"schema_version": None}, "schema_version"),
    ],
)
def test_a_damaged_study_names_where(damage: dict[str, Any], field: str, folder: Path) -> None:
    with pytest.raises(GpufeedError, match=f"see “{field}”"):
        Study.from_json(read_json(folder / "study.json") | damage, load())


# ---- files that are no document at all -------------------------------------------------------------------------------


def files() -> Iterator[tuple[str, str, str]]:
    yield "task = ", "(at its end): a value is missing", "（文件末尾）：缺少值"
    yield "task = lora\n", "(line 1, column 8): a value is missing", "（第 1 行第 8 列）：缺少值"
    yield "task\n", "(line 1, column 5): this is no line of the form name = value", "这不是“名称 = 值”形式的一行"
    yield 'task = "a"\ntask = "b"\n', "(line 2, column 11): the name was given before", "该名称前面已经给出"
    yield 'task = "lora', "(at its end): a text is not closed", "文本未闭合"
    yield "[task", "(at its end): a list or a table is not closed", "列表或表未闭合"
    yield "a = " + "[" * 5000, "(at its end): it cannot be read", "无法识别"
    yield json.dumps(JOB), "is a JSON document, and a workload is TOML", "是 JSON 文件，而工作负载是 TOML"


@pytest.mark.parametrize(("content", "english", "chinese"), [*files()])
def test_where_a_workload_is_no_toml_is_said_in_the_language_in_force(
    content: str, english: str, chinese: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "job.toml"
    file.write_text(content, encoding="utf-8")
    for language, sentence in (("en", english), ("zh_CN", chinese)):
        monkeypatch.setenv("GPUFEED_LANGUAGE", language)
        with pytest.raises(GpufeedError) as refused:
            read_toml(file)
        assert sentence in str(refused.value)


def test_nothing_of_a_file_that_is_no_workload_is_repeated(tmp_path: Path) -> None:
    file = tmp_path / "credentials"
    file.write_text("[default]\naws_secret_access_key = abcSECRET\n", encoding="utf-8")
    with pytest.raises(GpufeedError) as refused:
        read_toml(file)
    assert "SECRET" not in str(refused.value)


def test_json_that_breaks_off_says_where_and_not_to_write_it_with_gpufeed(tmp_path: Path) -> None:
    file = tmp_path / "offer.json"
    file.write_text('{"products":\n {"A": }', encoding="utf-8")
    with pytest.raises(GpufeedError) as refused:
        read_json(file)
    assert str(refused.value) == f"{file} is not valid JSON at line 2, column 8. Make or download it again, whole."


@pytest.mark.parametrize(
    ("name", "english", "chinese"),
    [
        ("none.toml", "there is no such file or folder", "没有这个文件或文件夹"),
        ("", "it is a folder", "它是一个文件夹"),
        ("job.toml/x", "a part of the path is no folder", "路径中有一部分不是文件夹"),
        ("n" * 300, "the name is too long", "名称过长"),
    ],
)
def test_why_a_file_is_not_read_is_said_in_the_language_in_force(
    name: str, english: str, chinese: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for language, sentence in (("en", english), ("zh_CN", chinese)):
        monkeypatch.setenv("GPUFEED_LANGUAGE", language)
        with pytest.raises(GpufeedError) as refused:
            read_toml(folder / name)
        assert sentence in str(refused.value)


def test_why_a_file_is_not_written_is_said_in_the_language_in_force(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GPUFEED_LANGUAGE", "zh_CN")
    with pytest.raises(GpufeedError, match="没有这个文件或文件夹"):
        write_text(folder / "none" / "file", "")
