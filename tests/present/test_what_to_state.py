"""A warning about something that was not stated says which field to state, and in which unit."""

from __future__ import annotations

import re

import pytest

from gpufeed.facts import load
from gpufeed.facts.messages import LANGUAGES, catalogue, text
from gpufeed.model.caution import ANSWERED_BY
from gpufeed.model.recommendation import Caveat
from gpufeed.model.workload import NUMBERS, Workload
from gpufeed.present import words

#: How a sentence says that something is missing.
MISSING = re.compile(r"\b(was not stated|were not stated|was named|is not known|has no source|has no published rate)\b")
#: Said of something that no field of a workload holds.
NO_FIELD = {"no-run-of-stack", "region-not-priced", "instance-not-confirmed", "path-other-region"}
UNITS = {
    "bytes": "bytes",
    "seconds": "seconds",
    "hours": "hours",
    "parameters": "a number, such as 7e9",
    "count": "a number",
    "samples/s": "samples per second",
    "currency/hour": "USD; in China in CNY",
}


def test_every_warning_about_something_missing_has_its_fields() -> None:
    english = catalogue("en")
    about_missing = {
        id_.removeprefix("warning.")
        for id_, sentence in english.items()
        if id_.startswith("warning.") and MISSING.search(sentence.partition(". ")[0])
    }
    assert about_missing - ANSWERED_BY.keys() - NO_FIELD == set()
    assert [
        name for fields in ANSWERED_BY.values() for name in fields if name not in Workload.__dataclass_fields__
    ] == []


@pytest.mark.parametrize("id_", ANSWERED_BY)
def test_the_field_and_its_unit_are_said(id_: str) -> None:
    hint = text("warning.to-state", warning="", fields=", ".join(map(words.in_document, ANSWERED_BY[id_])))
    for name in ANSWERED_BY[id_]:
        [written] = re.findall(rf"{name} \(([^)]+)\)", hint)
        assert name not in NUMBERS or written.startswith(UNITS[NUMBERS[name].unit]) or "USD; in China" in written


@pytest.mark.parametrize("language", LANGUAGES)
def test_an_example_of_what_to_write_can_be_written(language: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GPUFEED_LANGUAGE", language)
    facts = load()
    allowed = {
        "instance_type": set(facts.instances),
        "preset": set(facts.workloads),
        "region": set(facts.regions),
        "training_stack": set(facts.utilisation),
        "network_path": {"gateway-endpoint", "nat", "other-region"},
        "checkpoints": {"rare", "frequent"},
    }
    for name, values in allowed.items():
        named = {word for word in re.findall(r"[a-z0-9.-]+", text(f"written.{name}")) if word in values}
        assert named


def test_a_form_names_the_field_by_its_own_label() -> None:
    caveat = Caveat("default-interval", {"interval": 1800.0})
    assert words.warning(caveat) == (
        "The checkpoint interval was not stated: 30 min is assumed. To state: checkpoint_interval (seconds)."
    )
    assert words.warning(caveat, words.in_form).endswith("To state: “Checkpoint every (minutes)” in the form.")
