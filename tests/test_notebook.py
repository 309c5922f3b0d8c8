"""What notebooks begin and end with: the store they talk to, the study they hand on, the names at the front door."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

import gpufeed
from gpufeed import demo, notebook
from gpufeed.facts.errors import InputError


def test_every_name_at_the_front_door_opens() -> None:
    assert [name for name in gpufeed.__all__ if getattr(gpufeed, name) is None] == []
    assert {*gpufeed._WHERE, "__version__"} == set(gpufeed.__all__)


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = gpufeed.nothing


def test_the_example_is_planned_for_64_gpus() -> None:
    study = gpufeed.example()
    assert study.recommendation is not None
    assert study.recommendation.demand.accelerators == 64  # 8 instances × 8
    assert study.workload is not None
    assert study.workload.dataset_bytes == 3_000_000_000_000


def test_a_study_is_handed_from_one_notebook_to_the_next(tmp_path: Path) -> None:
    study = gpufeed.example()
    assert study.workload is not None
    study.workload = replace(study.workload, instances=16)
    said = gpufeed.keep_study(study, tmp_path / "study", "choose")
    assert repr(said) == f"Kept in {(tmp_path / 'study' / 'choose.json').as_posix()}."
    found = gpufeed.open_study(tmp_path / "study", "inspect", "choose")
    assert found.workload == study.workload
    assert found.recommendation is not None
    assert found.recommendation.demand.accelerators == 128


def test_the_first_step_that_was_kept_is_opened(tmp_path: Path) -> None:
    for step, instances in (("choose", 2), ("inspect", 4)):
        study = gpufeed.example()
        assert study.workload is not None
        study.workload = replace(study.workload, instances=instances)
        gpufeed.keep_study(study, tmp_path, step)
    assert gpufeed.open_study(tmp_path, "inspect", "choose").workload.instances == 4
    assert gpufeed.open_study(tmp_path, "choose").workload.instances == 2


def test_without_a_kept_study_the_example_opens(tmp_path: Path) -> None:
    assert gpufeed.open_study(tmp_path, "choose").to_json() == gpufeed.example().to_json()


def test_a_kept_study_that_is_damaged_is_said_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "choose.json").write_text("{", encoding="utf-8")
    with pytest.raises(InputError):
        gpufeed.open_study(tmp_path, "choose")
    assert (tmp_path / "choose.json").read_text(encoding="utf-8") == "{"


def test_connecting_to_aws_gives_back_the_settings_that_the_embedded_server_replaced(
    demo_server: demo.Demo, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = {"AWS_PROFILE": "mine", "AWS_REGION": "eu-west-1"}
    for name in (*demo_server.environment(), "AWS_SESSION_TOKEN", "AWS_ENDPOINT_URL_S3"):
        monkeypatch.delenv(name, raising=False)
    for name, value in mine.items():
        monkeypatch.setenv(name, value)
    before = {name: value for name, value in os.environ.items() if name.startswith("AWS_")}
    monkeypatch.setattr(demo, "connect_or_start", lambda: demo_server)
    for _ in range(2):  # the same cell run twice
        connection = gpufeed.connect("embedded")
    assert connection.endpoint_url == os.environ["AWS_ENDPOINT_URL"] == demo_server.endpoint_url
    assert "AWS_PROFILE" not in os.environ
    assert gpufeed.connect(None).endpoint_url == ""
    assert {name: value for name, value in os.environ.items() if name.startswith("AWS_")} == before


def test_another_store_is_named_by_its_address() -> None:
    assert repr(gpufeed.connect("http://store.example:9000")) == "S3 requests go to http://store.example:9000."


def test_a_notebook_shows_an_error_as_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        notebook.read_json(tmp_path / "none.json")
    assert caught.value._render_traceback_() == [str(caught.value)]


def test_the_published_sweep_names_a_source_and_holds_its_numbers() -> None:
    path = notebook.data_directory() / "measurements" / "s3-standard-c5.4xlarge.json"
    document = json.loads(path.read_text(encoding="utf-8"))
    assert gpufeed.load().sources[document["source"]].url.startswith("https://github.com/dvassallo/s3-benchmark")
    measured = gpufeed.published_measurement()
    assert [(record.concurrency, record.bytes_per_s) for record in measured.sweep] == [
        (8, 707.1e6),
        (10, 858.7e6),
        (12, 898.1e6),
    ]
    assert measured.read_bytes_per_s == 898.1e6
    assert measured.used_as("s3-standard", 8e6, 1) == "calibration"


def test_this_machines_own_memory_is_none_of_the_options() -> None:
    measured = gpufeed.published_measurement()
    own = replace(measured, conditions=replace(measured.conditions, same_machine=True))
    assert measured.option == "s3-standard"
    assert own.option is None
    study = gpufeed.example()
    study.measurement = own
    rows = gpufeed.tables.opinions(study.recommend(gpufeed.load()))
    assert rows["Measured"][1] == "none of the options (shown only)"
