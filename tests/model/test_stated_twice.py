"""What the workload and a profile of the prefix both say: the one that is taken is named."""

from __future__ import annotations

from typing import Any

import pytest

from gpufeed.facts import load
from gpufeed.facts.messages import LANGUAGES
from gpufeed.model.advise import recommend
from gpufeed.model.profile import PrefixProfile
from gpufeed.model.recommendation import Recommendation
from gpufeed.model.workload import Workload
from gpufeed.present import words

STATED: dict[str, Any] = {
    "task": "pretraining",
    "instances": 1,
    "instance_type": "p5.48xlarge",
    "preset": "image-classification",
}
TAKEN = "The profile was taken, since it was counted."


def profile_of(*sizes: int) -> PrefixProfile:
    profile = PrefixProfile()
    profile.add_many([f"images/{n}.jpg" for n in range(len(sizes))], sizes)
    return profile


def plan(profile: PrefixProfile, **stated: Any) -> Recommendation:
    return recommend(Workload.from_mapping(STATED | stated, load()), load(), profile=profile)


def said(found: Recommendation) -> list[str]:
    return [words.warning(warning) for warning in found.warnings if warning.id.startswith("profile-")]


def test_the_profile_is_taken_before_the_stated_size_and_number_and_both_are_named() -> None:
    found = plan(profile_of(100_000, 140_000), dataset_bytes=1e9, objects=5)
    assert said(found) == [
        f"Data set size: the workload states 1 GB, the profile of the prefix has 240 KB. {TAKEN}",
        f"Objects: the workload states 5, the profile of the prefix has 2. {TAKEN}",
    ]
    assert found.demand.object_bytes is not None and found.demand.object_bytes.value == 120_000


def test_a_stated_sample_size_is_taken_before_the_objects_that_are_samples() -> None:
    found = plan(profile_of(100_000, 140_000), sample_bytes=90_000)
    [sentence] = said(found)
    assert sentence.startswith(
        "Sample size: the workload states 90 KB, the objects of the profile have 120 KB on average."
    )
    samples, read = found.demand.samples_per_s, found.demand.read_bytes_per_s
    assert samples is not None and read is not None and read.value == pytest.approx(samples.value * 90_000)


def test_what_agrees_in_three_digits_is_not_said() -> None:
    assert said(plan(profile_of(100_000, 140_000), dataset_bytes=240_100, objects=2)) == []
    assert said(plan(profile_of(100_000, 140_000))) == []


def test_an_empty_profile_is_not_passed_over_in_silence() -> None:
    found = plan(PrefixProfile(), dataset_bytes=1e9, objects=5)
    assert said(found) == ["The profile holds no objects, so the data set is taken as the workload has it."]


def test_more_read_than_was_counted_is_put_in_doubt() -> None:
    found = plan(profile_of(100_000, 140_000), working_set_bytes=1e9)
    [warning] = [warning for warning in found.warnings if warning.id == "profile-below-working-set"]
    assert warning.grave


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_such_sentence_is_whole_in_both_languages(language: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GPUFEED_LANGUAGE", language)
    [taken, *_] = said(plan(profile_of(100_000, 140_000), dataset_bytes=1e9))
    assert "1 GB" in taken and "240 KB" in taken and "{" not in taken
