"""Pressing a panel's button from a notebook: its result in writing, or its error."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pytest

import gpufeed
from gpufeed import InspectPanel, MeasurePanel, Study, demo
from gpufeed.facts.errors import GpufeedError, InputError
from gpufeed.observe.runner import Control


def test_a_press_sums_up_what_was_found(demo_environment: demo.Demo) -> None:
    panel = gpufeed.InspectPanel(gpufeed.example(), "s3://gpufeed-sample/images/")
    assert str(panel.press()).startswith("3,003 objects, ")
    assert panel.small_files is not None
    # The verdict is that of the plan for these sizes: a file system sized for the job feeds it.
    verdicts = {verdict.option: verdict.problem for verdict in panel.small_files.per_option}
    assert verdicts["s3-standard"]
    assert not verdicts["fsx-for-lustre"]
    assert panel.study.recommendation.option("fsx-for-lustre").fed.value == 1


def test_a_press_that_finds_nothing_raises_and_the_panel_stays_usable(demo_environment: demo.Demo) -> None:
    panel = gpufeed.InspectPanel(gpufeed.example(), "s3://no-such-bucket-here/")
    with pytest.raises(GpufeedError):
        panel.press()
    assert not panel.start_button.disabled
    panel.url.value = "s3://gpufeed-sample/checkpoints/"
    assert "objects" in str(panel.press())
    panel.url.value = "s3://no-such-bucket-here/"
    with pytest.raises(GpufeedError):  # what was found before does not pass for an answer
        panel.press()


def test_a_press_with_a_wrong_address_raises_at_once() -> None:
    with pytest.raises(InputError):
        gpufeed.MeasurePanel(gpufeed.example(), "https://example.com/").press()


def test_an_interrupted_press_stops_the_work_and_leaves_the_panel_usable(monkeypatch: pytest.MonkeyPatch) -> None:
    panel = InspectPanel(Study(), "s3://example-train/")
    started = threading.Event()

    def work() -> Callable[[Control], None]:
        def wait_for_stop(control: Control) -> None:
            started.set()
            assert control.stopping.wait(60)
            raise InputError("panel.nothing-to-save")  # any end

        return wait_for_stop

    def interrupted(_seconds: float | None = None) -> bool:
        assert started.wait(60)
        raise KeyboardInterrupt

    monkeypatch.setattr(panel, "work", work)
    monkeypatch.setattr(panel, "wait", interrupted)
    with pytest.raises(KeyboardInterrupt):
        panel.press()
    monkeypatch.undo()
    assert panel.wait(60)
    assert panel.run is not None and panel.run.ended
    assert not panel.start_button.disabled


@pytest.mark.parametrize("content", ["[1]", "[" * 100_000])
def test_a_file_of_anything_else_is_no_measurement(content: str, tmp_path: Path) -> None:
    panel = MeasurePanel(Study())
    (tmp_path / "file.json").write_text(content)
    panel.file.value = str(tmp_path / "file.json")
    panel.load_button.click()
    assert isinstance(panel.error, InputError)
    assert panel.error.message_id == "panel.file-not-json"
