"""Pressing a panel's button from a notebook: its result in writing, or its error."""

from __future__ import annotations

import pytest

import gpufeed
from gpufeed import demo
from gpufeed.facts.errors import GpufeedError, InputError


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
