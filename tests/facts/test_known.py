"""A name that is not known: the nearest is named, never "-" and never dozens as "nearest"."""

from __future__ import annotations

import pytest

from gpufeed.facts import load
from gpufeed.facts.errors import InputError
from gpufeed.facts.known import instead, nearest_or_none
from gpufeed.model.workload import Workload

REGIONS = ("us-east-1", "us-west-2", "eu-west-1", "eu-central-1", "ap-south-1")


@pytest.mark.parametrize(
    ("typed", "english", "chinese"),
    [
        ("eu-centra-1", "Nearest: eu-central-1.", "最接近的是：eu-central-1。"),
        ("EU-CENTRAL-1", "Nearest: eu-central-1.", "最接近的是：eu-central-1。"),
        ("eu", "Nearest: eu-west-1, eu-central-1.", "最接近的是：eu-west-1, eu-central-1。"),
        (
            "moon",
            "Known: us-east-1, us-west-2, eu-west-1, eu-central-1, ap-south-1.",
            "可用的有：us-east-1, us-west-2, eu-west-1, eu-central-1, ap-south-1。",
        ),
        (None, "Known: us-east-1, us-west-2, eu-west-1, eu-central-1, ap-south-1.", None),
        ("", "Known: us-east-1, us-west-2, eu-west-1, eu-central-1, ap-south-1.", None),
    ],
)
def test_what_to_enter_instead(
    typed: object, english: str, chinese: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = instead(typed, REGIONS)
    assert str(said) == english
    monkeypatch.setenv("GPUFEED_LANGUAGE", "zh_CN")
    assert chinese is None or str(said) == chinese


def test_many_names_are_counted_and_not_listed() -> None:
    many = [f"instance-type-of-number-{number}" for number in range(24)]
    assert str(instead("zzz", many)) == "None of the 24 known is like it: gpufeed fields lists them."
    # "type" is a part of each: naming all of them would say nothing.
    assert str(instead("type", many)) == "None of the 24 known is like it: gpufeed fields lists them."


def test_a_sentence_of_data_says_none_where_none_is_near() -> None:
    assert str(nearest_or_none("bytess", ["bytes", "seconds"])) == "bytes"
    assert str(nearest_or_none("furlong", ["bytes", "seconds"])) == "none"


def test_an_instance_type_that_is_like_none_is_pointed_to_the_list() -> None:
    with pytest.raises(InputError) as refused:
        Workload.from_mapping({"task": "lora", "instances": 1, "instance_type": "zzz"}, load())
    assert str(refused.value) == (
        f"instance_type = zzz is not known. None of the {len(load().instances)} known is like it: "
        "gpufeed fields lists them."
    )
