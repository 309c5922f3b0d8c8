"""How a Region is chosen in a panel, and what is written for one whose id has four parts."""

from __future__ import annotations

from datetime import date

import pytest

from gpufeed.facts import load
from gpufeed.model.advise import recommend
from gpufeed.model.workload import Workload
from gpufeed.present import prices
from gpufeed.present.infrastructure.need import needed
from gpufeed.present.panels.form import Form


def form() -> Form:
    return Form(load(), None, lambda: None)


@pytest.mark.parametrize(
    ("language", "named"),
    [("en", "eu-central-1 · Europe (Frankfurt)"), ("zh_CN", "eu-central-1 · 欧洲（法兰克福）")],
)
def test_a_region_is_chosen_by_its_id_and_read_by_its_name(
    monkeypatch: pytest.MonkeyPatch, language: str, named: str
) -> None:
    monkeypatch.setenv("GPUFEED_LANGUAGE", language)
    options = dict(form().widgets["region"].options)
    assert options[named] == "eu-central-1"
    assert len(options) == 1 + 40


def test_a_form_starts_without_a_region_and_lists_america_europe_asia_then_govcloud_and_china() -> None:
    region = form().widgets["region"]
    assert region.value == ""
    ids = [value for _, value in region.options][1:]
    assert ids[:3] == ["us-east-1", "us-east-2", "us-west-1"]
    assert ids.index("eu-central-1") < ids.index("ap-east-1")
    assert ids[-4:] == ["us-gov-east-1", "us-gov-west-1", "cn-north-1", "cn-northwest-1"]


@pytest.mark.parametrize(
    ("region", "zones"),
    [
        ("us-gov-west-1", ()),
        ("eu-central-1", ()),
        ("us-east-2", ("use2-az1", "use2-az2")),
        ("ap-northeast-1", ("apne1-az1", "apne1-az4")),
    ],
)
def test_zones_of_directory_buckets_are_those_of_the_region(region: str, zones: tuple[str, ...]) -> None:
    job = {"task": "pretraining", "instances": 8, "instance_type": "p5.48xlarge", "region": region}
    plan = recommend(Workload.from_mapping(job, load()), load())
    assert needed(plan, load(), "0.1.0").zones == zones


@pytest.mark.parametrize(
    ("region", "first", "count"),
    [
        # Of Beijing the snapshot has three instance types alone: 2024-11-06 to 2026-11-30 are 25 + 31 + 365 + 333 days.
        ("cn-north-1", "g5.xlarge: CNY 9.51389 per hour (as of 2024-11-06, 754 days old)", 3),
        ("cn-northwest-1", "No price is known for cn-northwest-1: read today's with --refresh.", 1),
    ],
)
def test_a_region_with_prices_of_instances_alone_is_not_said_to_have_none(region: str, first: str, count: int) -> None:
    told = list(prices.lines(region, load(), date(2026, 11, 30)))
    heading = next(line for line in told if line.startswith(f"Not priced in {region} ("))
    assert (told[0], told.index(heading)) == (first, count)
