"""A wrong command line is one sentence in the language in force, with where to look; nothing of argparse's English."""

from __future__ import annotations

import json
import re

import pytest

from gpufeed.cli import main

CASES = [
    ([], "Missing: COMMAND. See gpufeed --help.", "缺少 COMMAND。参见 gpufeed --help。"),
    (
        ["recomend"],
        "recomend is no command of gpufeed. Nearest: recommend.",
        "gpufeed 没有 recomend 这个命令。最接近的是：recommend。",
    ),
    (
        ["scan"],
        "Missing: s3://bucket/prefix. See gpufeed scan --help.",
        "缺少 s3://bucket/prefix。参见 gpufeed scan --help。",
    ),
    (
        ["scan", "s3://b/", "--concurrency", "many"],
        "--concurrency takes a whole number, not many. See gpufeed scan --help.",
        "--concurrency 需要整数，而不是 many。参见 gpufeed scan --help。",
    ),
    (
        ["probe", "s3://b/", "--seconds", "1m"],
        "--seconds takes a number, not 1m. See gpufeed probe --help.",
        "--seconds 需要数字，而不是 1m。参见 gpufeed probe --help。",
    ),
    (
        ["recheck", "a", "--json=yes"],
        "--json stands alone, without yes. See gpufeed recheck --help.",
        "--json 单独使用，不带 yes。参见 gpufeed recheck --help。",
    ),
    (
        ["scan", "s3://b/", "--limit"],
        "--limit needs one value after it. See gpufeed scan --help.",
        "--limit 后面需要一个值。参见 gpufeed scan --help。",
    ),
    (["fields", "x"], "Not understood: x. See gpufeed --help.", "无法识别 x。参见 gpufeed --help。"),
    (["report", "a"], "Missing: --output. See gpufeed report --help.", "缺少 --output。参见 gpufeed report --help。"),
    # An abbreviation would be taken for --json on success and not on an error.
    (["recheck", "a", "--js"], "Not understood: --js. See gpufeed --help.", "无法识别 --js。参见 gpufeed --help。"),
]


@pytest.mark.parametrize(("arguments", "english", "chinese"), CASES)
def test_what_is_wrong_with_a_command_line(
    arguments: list[str],
    english: str,
    chinese: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for language, sentence in (("en", english), ("zh_CN", chinese)):
        monkeypatch.setenv("GPUFEED_LANGUAGE", language)
        assert main(arguments) == 2
        assert capsys.readouterr() == ("", f"{sentence}\n")


def test_with_json_the_sentence_stands_in_the_object_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["recommend", "--json"]) == 2
    out, err = capsys.readouterr()
    assert json.loads(out)["error"] == {
        "id": "usage.required",
        "text": "Missing: WORKLOAD.toml. See gpufeed recommend --help.",
    }
    assert err == "Missing: WORKLOAD.toml. See gpufeed recommend --help.\n"


@pytest.mark.parametrize(
    "command", ["", "recommend", "scan", "probe", "fsx", "prices", "demo", "report", "infrastructure"]
)
def test_help_has_no_english_word_of_argparse_in_chinese(
    command: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GPUFEED_LANGUAGE", "zh_CN")
    with pytest.raises(SystemExit) as left:
        main([*command.split(), "--help"])
    said = capsys.readouterr().out
    assert left.value.code == 0
    assert said.startswith("用法：gpufeed")
    assert not re.search("usage|options:|positional|show this", said)


def test_a_language_that_is_not_spoken_is_said_once(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GPUFEED_LANGUAGE", "fr")
    assert main(["prices", "--region", "us-east-1", "--json"]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["region"] == "us-east-1"
    assert err == "GPUFEED_LANGUAGE=fr is no language of gpufeed: it speaks en and zh_CN. What follows is in English.\n"
