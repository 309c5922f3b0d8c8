"""The list of a workload's fields is whole, and says what really happens where one is left out."""

from __future__ import annotations

import re
from typing import Any

import pytest
import workload_page

from gpufeed.cli import main
from gpufeed.facts import load
from gpufeed.facts.messages import LANGUAGES
from gpufeed.model.advise import recommend
from gpufeed.model.workload import Workload
from gpufeed.present import reference

FACTS = load()
ENOUGH: dict[str, Any] = {"task": "lora", "instances": 2, "instance_type": "p5.48xlarge", "file_operations": ["rename"]}
FULL: dict[str, Any] = {"task": "pretraining", "instances": 4, "instance_type": "p5.48xlarge"}


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_page_is_the_one_that_the_code_writes(language: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GPUFEED_LANGUAGE", language)
    written = workload_page.PAGES[language].read_text(encoding="utf-8")
    assert written == workload_page.page(), "run: python tests/present/workload_page.py"
    assert re.findall(r"^\| `(\w+)` \|", written, re.MULTILINE) == list(Workload.__dataclass_fields__)
    assert workload_page.PAGES[language].name in (workload_page.ROOT / _readme(language)).read_text(encoding="utf-8")


def _readme(language: str) -> str:
    return "README.md" if language == "en" else "README.zh-CN.md"


@pytest.mark.parametrize("name", reference.defaults(FACTS))
@pytest.mark.parametrize("job", [ENOUGH, FULL], ids=["lora", "pretraining"])
def test_stating_what_is_taken_anyway_changes_no_figure(name: str, job: dict[str, Any]) -> None:
    left_out = recommend(Workload.from_mapping(job, FACTS), FACTS)
    value = reference.defaults(FACTS)[name]
    if name == "dataset_bytes" and job is ENOUGH:
        value = FACTS.workloads["lora"].known("dataset_bytes").value
    stated = recommend(Workload.from_mapping(job | {name: value}, FACTS), FACTS)
    # The middle of each; of what is assumed the range goes when it is stated.
    for asked in ("read_bytes_per_s", "checkpoint_bytes", "checkpoint_write_bytes_per_s"):
        one, other = getattr(left_out.demand, asked), getattr(stated.demand, asked)
        assert one.value == pytest.approx(other.value), asked
    assert left_out.demand.in_flight == stated.demand.in_flight
    assert left_out.option("s3-standard").cost.total is not None
    for option in left_out.options:
        one, other = option.cost.storage, stated.option(option.option).cost.storage
        assert (one and one.value) == (other and pytest.approx(other.value)), option.option


def test_the_shell_lists_every_field(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fields"]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert [line.partition(":")[0] for line in shown] == list(Workload.__dataclass_fields__)
    [interval] = [line for line in shown if line.startswith("checkpoint_interval:")]
    assert interval == (
        "checkpoint_interval: Training time from one save to the next. Write: seconds, above 0, at most 1e8. "
        "If left out: 1800; with checkpoints = rare 10800."
    )
