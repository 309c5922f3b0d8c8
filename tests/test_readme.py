"""The README's examples run, its numbers come from the facts, and both languages say the same."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from gpufeed import demo
from gpufeed.cli import main
from gpufeed.facts import load
from gpufeed.facts.units import UNITS
from gpufeed.observe.budget import DEFAULT_BUDGET
from gpufeed.present import words

ROOT = Path(__file__).parents[1]
LANGUAGES = {"en": "README.md", "zh_CN": "README.zh-CN.md"}
READMES = {code: (ROOT / name).read_text(encoding="utf-8") for code, name in LANGUAGES.items()}
PLACES = [path.name for path in (ROOT / "lib/gpufeed").iterdir() if path.is_dir() and not path.name.startswith("_")]


def blocks(language: str, kind: str, *, tested: bool = False) -> list[str]:
    before = "<!-- tested -->\n" if tested else ""
    return re.findall(rf"{before}```{kind}\n(.*?)```", READMES[language], re.DOTALL)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """What a reader sees from the project's folder, and whose files the examples may write."""
    (tmp_path / "data").symlink_to(ROOT / "data")
    return tmp_path


def test_the_shell_examples_run_in_order(demo_environment: demo.Demo, folder: Path) -> None:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    for script in blocks("en", "sh", tested=True):
        ran = subprocess.run(
            ["/bin/bash", "-euc", script],
            check=False,
            cwd=folder,
            env={**os.environ, "PATH": path},
            capture_output=True,
            text=True,
        )
        assert (ran.returncode, ran.stdout.count("Traceback")) == (0, 0), ran.stderr
    plan = json.loads((folder / "plan.json").read_text(encoding="utf-8"))
    assert plan["placements"]["training_reads"]["opinions"]["measured"]["used_as"] == "shown-only"
    assert json.loads((folder / "profile.json").read_text(encoding="utf-8"))["objects"] == 3003


def test_every_variable_that_is_read_is_in_the_table_and_no_other() -> None:
    written = [path.read_text(encoding="utf-8") for path in (ROOT / "lib/gpufeed").rglob("*.py")]
    read = {name for text in written for name in re.findall(r'"(PORT|GPUFEED_[A-Z_]+)"', text)}
    for said in READMES.values():
        assert set(re.findall(r"^\| `([A-Z_]+)` \|", said, re.MULTILINE)) == read
    assert (demo.DEFAULT_PORT, len(demo.PORTS)) == (18330, 10)  # as the table says


def test_the_python_example_runs(capsys: pytest.CaptureFixture[str]) -> None:
    [example] = blocks("en", "python", tested=True)
    exec(example, {})  # noqa: S102 — the README's own lines, which readers run too
    assert capsys.readouterr().out.split(" ", 1)[0] in load().options


def test_both_readmes_hold_the_same_code() -> None:
    for kind in ("sh", "python", "json", "toml"):
        assert blocks("en", kind) == blocks("zh_CN", kind) != []
    assert {text.count("\n## ") for text in READMES.values()} == {7}


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_policy_shown_is_the_policy_that_is_tested(language: str) -> None:
    [shown] = blocks(language, "json")
    assert shown == (ROOT / "data/iam/read-only.json").read_text(encoding="utf-8")


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_a_scan_and_a_probe_cost_is_what_the_facts_say(language: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GPUFEED_LANGUAGE", language)
    keys_per_request = load().model.known("list_page_keys").value
    requests = {"list": 1_000_000 / keys_per_request, "get": 1_000_000}
    for item, count in requests.items():
        prices = [load().price("s3-standard", item, region) for region in ("us-east-1", "ap-northeast-1")]
        cells = " | ".join(words.money(price.value * count / 1000, "USD") for price in prices if price)
        assert re.search(
            rf"^\|.*{count:,.0f}.*{item.upper()} \| {re.escape(cells)} \|$", READMES[language], re.MULTILINE
        )
    assert words.money(DEFAULT_BUDGET, "USD") in READMES[language]


def test_the_number_shown_as_an_example_is_in_the_data() -> None:
    [line] = blocks("en", "toml")
    unit = UNITS["bytes"]
    fact = load().workloads["image-classification"]["sample_bytes"]
    assert line.startswith(f"sample_bytes = {{ value = {fact.quantity.value / unit.to_base(1):.0f}, ")
    assert line.removesuffix(" }\n") in (ROOT / "data/workloads.toml").read_text(encoding="utf-8")


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_map_names_every_floor_and_every_file_it_names_is_there(language: str) -> None:
    text = READMES[language]
    named = set(re.findall(r"\]\(([\w./-]+)\)", text)) | set(
        re.findall(r"`((?:data|lib|notebooks|tests)/[\w./-]*)`", text)
    )
    assert [name for name in sorted(named) if not (ROOT / name).exists()] == []
    assert [floor for floor in PLACES if f"lib/gpufeed/{floor}" not in text] == []
    notebooks = {path.stem for path in (ROOT / "notebooks").glob("*.ipynb")}
    assert notebooks == set(re.findall(r"^\| `([a-z0-9_]+)` \|", text, re.MULTILINE))


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_command_of_the_shell_is_in_the_readme(language: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])
    commands = re.findall(r"^    (\w+)\s", capsys.readouterr().out, re.MULTILINE)
    assert {"recommend", "scan", "probe", "demo"} <= set(commands)
    assert [command for command in commands if f"gpufeed {command}" not in READMES[language]] == []


def test_the_screenshot_is_small_enough_to_load_anywhere() -> None:
    assert (ROOT / "docs/studio.png").stat().st_size <= 300_000
