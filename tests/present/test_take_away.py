"""What is taken away of a study: files in a folder that the user names, by buttons, by a call, and asked again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

import gpufeed
from gpufeed.facts import load
from gpufeed.facts.errors import GpufeedError, InputError
from gpufeed.model import flip
from gpufeed.model.study import Study
from gpufeed.present import take_away
from gpufeed.present.panels import ChoosePanel
from gpufeed.present.take_away import KINDS

FILES = {
    "report": "report.html",
    "markdown": "report.md",
    "record": "decision.json",
    "cloudformation": "gpufeed.yaml",
    "terraform": "main.tf",
    "snippets": "s3-lifecycle.sh",  # the first of them, which every plan has
}


@pytest.fixture(autouse=True)
def one_trait(monkeypatch: pytest.MonkeyPatch) -> None:
    """Flip points of the instances alone: the search over all traits has its own tests, and takes a second a time."""
    every = flip.traits
    monkeypatch.setattr(flip, "traits", lambda *plan: [one for one in every(*plan) if one.name == "instances"])


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the notebook: files go beside it."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def pressed(panel: ChoosePanel, kind: str) -> str:
    """What the panel says once the button of this kind has done its work."""
    panel.take_away.buttons[kind].click()
    assert panel.take_away.wait(60)
    said: str = panel.take_away._said.value
    return said


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("kind", KINDS)
def test_each_button_writes_its_files_and_says_where(here: Path, kind: str) -> None:
    panel = ChoosePanel(gpufeed.example())
    said = pressed(panel, kind)
    assert panel.take_away.error is None
    assert f'<p role="status">Written: take-away/{FILES[kind]}' in said
    assert (here / "take-away" / FILES[kind]).stat().st_size > 500
    assert not any(one.disabled for one in panel.take_away.buttons.values())


def test_all_of_it_is_one_call_and_of_the_plan_as_it_stands(here: Path) -> None:
    study = gpufeed.example()
    written = str(gpufeed.take_away(study, here / "all" / "of-it"))
    files = sorted(path.name for path in (here / "all" / "of-it").iterdir())
    assert written.count("Written: ") == len(files) and set(FILES.values()) <= set(files)
    kept = json.loads((here / "all/of-it/decision.json").read_text(encoding="utf-8"))
    assert study.workload is not None and kept["workload"] == study.workload.to_mapping()
    plan = study.recommend(load())
    assert kept["answer"]["training_reads.option"] == plan.recommended
    resources = yaml.safe_load((here / "all/of-it/gpufeed.yaml").read_text(encoding="utf-8"))["Resources"]
    systems = [body for body in resources.values() if body["Type"] == "AWS::FSx::FileSystem"]
    assert [body["Properties"]["StorageCapacity"] for body in systems] == [
        plan.option("fsx-for-lustre").supply.configuration["storage_capacity_gib"]
    ]
    # Handed over: others may read it, as this user's own new files allow.
    (here / "own").touch()
    assert (here / "all/of-it/report.html").stat().st_mode == (here / "own").stat().st_mode


def test_a_record_is_asked_again_with_a_button_and_with_a_call(here: Path) -> None:
    panel = ChoosePanel(gpufeed.example())
    panel.take_away.recheck_button.click()
    assert panel.take_away.wait(60)
    assert isinstance(panel.take_away.error, InputError)  # there is none yet
    assert "take-away/decision.json" in str(panel.take_away.error)
    pressed(panel, "record")
    panel.take_away.recheck_button.click()
    assert panel.take_away.wait(60)
    assert panel.take_away.error is None
    assert "<li>Nothing it rests on has changed.</li>" in panel.take_away._said.value
    panel.form.widgets["instances"].value = "9"
    panel.take_away.recheck_button.click()
    assert panel.take_away.wait(60)
    assert "of another job than the one entered now; these traits differ: Instances." in panel.take_away._said.value
    file = here / "take-away" / "decision.json"
    kept = json.loads(file.read_text(encoding="utf-8"))
    kept["answer"]["training_reads.option"] = "s3-files"
    file.write_text(json.dumps(kept), encoding="utf-8")
    moved = "  Training reads, where it goes (training_reads.option): S3 Files → FSx for Lustre"
    assert moved in str(gpufeed.changed_since("take-away")).splitlines()


def test_what_the_form_refuses_is_not_taken_away(here: Path) -> None:
    panel = ChoosePanel(gpufeed.example())
    panel.form.widgets["instances"].value = "minus three"
    panel.take_away.buttons["report"].click()
    assert panel.take_away.error is panel.error is not None
    assert list(here.iterdir()) == []
    panel.form.widgets["instances"].value = "8"
    assert "Written" in pressed(panel, "terraform") and panel.take_away.error is None


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("folder", ["", "  ", "~nobody-of-this-name/x", "a\0b", "/proc/x", "file/x"])
def test_a_folder_that_cannot_be_used_is_one_sentence_and_the_buttons_work_again(folder: str, here: Path) -> None:
    (here / "file").touch()
    panel = ChoosePanel(gpufeed.example())
    panel.take_away.folder.value = folder
    pressed(panel, "terraform")
    assert isinstance(panel.take_away.error, GpufeedError) and "\n" not in str(panel.take_away.error)
    assert 'role="alert"' in panel.take_away._error_line.value
    panel.take_away.folder.value = "good"
    assert "Written: good/main.tf" in pressed(panel, "terraform")
    assert panel.take_away.error is None


def test_nothing_is_taken_away_of_a_study_without_a_job_or_of_an_unknown_kind(here: Path) -> None:
    with pytest.raises(InputError, match="workload"):
        take_away.write(Study(), here / "x", load(), "terraform")
    with pytest.raises(InputError, match="pulumi is none of report, markdown"):
        take_away.write(gpufeed.example(), here / "x", load(), "pulumi")
    assert not (here / "x").exists()


@pytest.mark.usefixtures("chinese")
def test_the_buttons_speak_chinese(here: Path) -> None:
    panel = ChoosePanel(gpufeed.example())
    assert [one.description for one in panel.take_away.buttons.values()][:3] == [
        "报告（HTML）", "报告（Markdown）", "决策记录（JSON）",
    ]  # fmt: skip
    assert "已写入：take-away/main.tf" in pressed(panel, "terraform")
    assert (here / "take-away" / "main.tf").exists()
