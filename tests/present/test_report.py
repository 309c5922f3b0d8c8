"""The report: one file that says everything, asks the network for nothing, and on which no key or name can act."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

import gpufeed
from gpufeed.cli import main
from gpufeed.facts import load
from gpufeed.facts.errors import InputError
from gpufeed.model.measurement import Conditions, Measurement, Record
from gpufeed.model.profile import PrefixProfile
from gpufeed.model.study import Study
from gpufeed.model.workload import Workload
from gpufeed.present import words
from gpufeed.present.report import render

HOSTILE = "<script>alert(1)</script>|[x](javascript:y)`\u202e\"' onload=z"
VOID = {"meta", "br", "img", "input", "link"}
MADE = "2026-11-30 12:00 UTC"


def study(**more: object) -> Study:
    job = {"task": "full-fine-tuning", "instances": 8, "instance_type": "p5.48xlarge", "preset": "image-classification"}
    job |= {"interface": "file-paths", "run_hours": 24, "region": "us-east-1", "dataset_bytes": 150e9}
    return Study(Workload.from_mapping(job | more, load()))


@pytest.fixture(scope="module")
def seen() -> Study:
    """A study with a scan and a measurement whose names would act on a page."""
    found = study(model_parameters=7e9)
    found.workload = replace(found.workload, zone=HOSTILE)  # whatever lets it in
    found.profile = PrefixProfile(HOSTILE)
    found.profile.add_many([f"{HOSTILE}/{i}.jpg" for i in range(50)], [115_000] * 50)
    load_step = Record(
        "read", 4e9, object_bytes=115_000, concurrency=64, nodes=8, target=f"s3://{HOSTILE}", cache="cold"
    )
    found.measurement = Measurement(
        "gpufeed", "ok", (load_step,), "storage", conditions=Conditions(option="s3-standard", host=HOSTILE)
    )
    return found


@pytest.fixture(scope="module")
def html(seen: Study) -> str:
    return text_of(seen, ".html")


def text_of(asked: Study, ending: str) -> str:
    return render(asked, f"report{ending}", load(), made=MADE, version="0.1.0")


class Page(HTMLParser):
    """A page as a browser sees it; an element left open or closed out of order raises."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.said: list[str] = []
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.said.append(data)

    def all(self, name: str) -> list[str]:
        return [value for _, attributes in self.tags if (value := attributes.get(name)) is not None]


@pytest.mark.parametrize("language", ["en", "zh_CN"])
def test_a_page_needs_no_network_and_runs_no_script(
    seen: Study, language: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GPUFEED_LANGUAGE", language)
    html = text_of(seen, ".html")
    page = Page(html)
    assert {tag for tag, _ in page.tags} & {"script", "link", "img", "iframe", "object", "embed", "form"} == set()
    assert [name for _, attributes in page.tags for name in attributes if name.startswith("on")] == []
    assert page.all("src") == page.all("srcset") == []
    assert re.findall(r"url\((?!#)|@import", html) == []
    assert "default-src 'none'; style-src 'unsafe-inline'" in page.all("content")
    addresses = [url for tag, attributes in page.tags if tag == "a" for url in [attributes["href"] or ""]]
    assert [url for url in addresses if not url.startswith(("https://", "#"))] == []
    assert {url[1:] for url in addresses if url.startswith("#")} <= set(page.all("id"))
    assert page.all("id").count("section-1") == 1
    assert page.all("lang") == [{"en": "en", "zh_CN": "zh-CN"}[language]]
    # Seven pictures: supply, cost, save timeline, goodput, flip points, sizes and the measurement.
    assert [tag for tag, _ in page.tags].count("figure") == [tag for tag, _ in page.tags].count("svg") == 7


def test_what_comes_from_outside_is_shown_as_what_it_is(seen: Study, html: str) -> None:
    assert "<script" not in html and "\u202e" not in html
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in html and "⟨U+202E⟩" in html
    markdown = text_of(seen, ".md")
    assert "\\<script\\>alert(1)\\</script\\>\\|\\[x\\](javascript:y)\\`⟨U+202E⟩" in markdown
    assert re.findall(r"(?<!\\)<(?!https://)", markdown) == []


def test_every_id_is_there_once_and_every_source_named_leads_to_its_row(html: str) -> None:
    page = Page(html)
    ids = page.all("id")
    assert len(ids) == len(set(ids))
    cited = {url.removeprefix("#") for url in page.all("href") if url.startswith("#source-")}
    assert len(cited) > 20
    assert cited <= set(ids)
    sources = load().sources
    shown = {name.removeprefix("source-") for name in ids if name.startswith("source-")}
    assert {sources[name].title for name in shown} <= set(page.said)
    assert {sources[name].url for name in shown if sources[name].url} <= set(page.all("href"))


@pytest.mark.parametrize("ending", [".html", ".md"])
def test_the_figures_are_those_of_the_plan(ending: str) -> None:
    asked = study()
    plan = asked.recommend(load())
    shown = text_of(asked, ending).replace("\\", "").replace("&lt;", "<").replace("&gt;", ">")
    reads = plan.option(plan.recommended)
    assert f"GPUs fed: {words.quantity(plan.fed)}" in shown
    for figure in (plan.demand.read_bytes_per_s, reads.supply.read_bytes_per_s, reads.fed, reads.cost.total):
        assert words.quantity(figure) in shown
    for answer in plan.options:
        for reason in answer.reasons:
            assert words.reason(reason) in shown
    for warning in plan.warnings:
        assert words.warning(warning) in shown
    for placed in plan.placements.values():
        assert f"{words.role(placed.role)}: {words.option(placed.option)}" in shown
    # A fact with its range, basis and date, as data/options.toml writes it.
    for part in ("options.s3-standard.first_byte_latency", "30 ms (9–200 ms)", MADE):
        assert part in shown


def test_what_is_not_known_is_said_and_never_zero() -> None:
    shown = text_of(study(preset="video"), ".md")
    assert "**GPUs fed: unknown**" in shown
    assert "The GPUs ask for: unknown" in shown


def test_the_same_study_gives_the_same_report(seen: Study, html: str) -> None:
    assert text_of(seen, ".html") == html


def test_a_report_is_written_from_the_shell_and_from_python(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    job = tmp_path / "job.toml"
    job.write_text('task = "lora"\ninstances = 1\ninstance_type = "g5.48xlarge"\npreset = "lora"\n', encoding="utf-8")
    assert main(["report", str(job), "--output", str(tmp_path / "report.html")]) == 0
    out, err = capsys.readouterr()
    assert (out, err) == ("", f"Written: {tmp_path / 'report.html'}\n")
    assert (tmp_path / "report.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    written = gpufeed.report(study(), tmp_path / "report.md")
    assert str(written) == f"Written: {tmp_path / 'report.md'}"
    assert (tmp_path / "report.md").read_text(encoding="utf-8").startswith("# Does the storage feed the GPUs?")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("", "{folder} is a folder. Name a file in it, such as {folder}/report.html."),
        (
            "report.html/",
            "{folder}/report.html is a folder. Name a file in it, such as {folder}/report.html/report.html.",
        ),
        (
            "job",
            (
                "{folder}/job has no ending, and the ending says what a report is written as: "
                "{folder}/job.html, or the same in .md."
            ),
        ),
        ("job.pdf", "A report ends in .html, .md, not in .pdf. Name the file accordingly."),
    ],
)
def test_a_name_that_is_no_report_s_says_which_would_be(
    name: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    job = tmp_path / "job.toml"
    job.write_text('task = "lora"\ninstances = 1\ninstance_type = "g5.48xlarge"\n', encoding="utf-8")
    if name.endswith("/"):
        (tmp_path / name).mkdir()
    assert main(["report", str(job), "--output", str(tmp_path / name)]) == 2
    assert capsys.readouterr().err == said.format(folder=tmp_path) + "\n"


@pytest.mark.parametrize("name", ["report.pdf", "report", "no/such/folder/report.md"])
def test_a_report_that_cannot_be_written_is_one_sentence(
    tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    job = tmp_path / "job.toml"
    job.write_text('task = "lora"\ninstances = 1\ninstance_type = "g5.48xlarge"\n', encoding="utf-8")
    code = main(["report", str(job), "--output", str(tmp_path / name)])
    out, err = capsys.readouterr()
    assert (code, out, err.count("\n")) == (1 if "/" in name else 2, "", 1)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["job.toml"]


def test_a_study_without_a_workload_has_no_report() -> None:
    with pytest.raises(InputError, match="enter the traits"):
        text_of(Study(), ".md")


def test_without_the_packages_that_draw_it_says_which_to_install(tmp_path: Path) -> None:
    program = (
        "import sys\n"
        "sys.modules['pandas'] = None\n"
        "from gpufeed.cli import main\n"
        "sys.exit(main(['report', sys.argv[1], '--output', sys.argv[2]]))\n"
    )
    job = tmp_path / "job.toml"
    job.write_text('task = "lora"\ninstances = 1\ninstance_type = "g5.48xlarge"\n', encoding="utf-8")
    command = [sys.executable, "-c", program, str(job), str(tmp_path / "report.html")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr == (
        "A report draws charts, and pandas is not installed. Install them with: pip install 'gpufeed[notebook]'.\n"
    )
