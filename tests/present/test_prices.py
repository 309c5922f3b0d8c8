"""Prices as people read them: what is priced by name, each amount with its unit, each price with a date."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from gpufeed.facts import Price, load
from gpufeed.facts.messages import LANGUAGES, catalogue
from gpufeed.observe.aws.price_list import WANTED
from gpufeed.present import prices

TODAY = date(2026, 12, 1)


def lines(language: str, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.setenv("GPUFEED_LANGUAGE", language)
    return list(prices.lines("us-east-1", load(), TODAY))


def test_a_graduated_price_says_for_which_amount_it_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    source = "its source carries no date; read there 2026-11-30"
    assert lines("en", monkeypatch)[:3] == [
        f"Amazon S3 Standard, storage up to 51,200 GiB-months: USD 0.023 per GiB-month ({source})",
        (
            "Amazon S3 Standard, storage beyond 51,200 GiB-months up to 512,000 GiB-months: "
            f"USD 0.022 per GiB-month ({source})"
        ),
        f"Amazon S3 Standard, storage beyond 512,000 GiB-months: USD 0.021 per GiB-month ({source})",
    ]
    assert lines("zh_CN", monkeypatch)[2] == (
        "Amazon S3 Standard，存储（512,000 GiB·月以上）：每 GiB·月 0.021 美元（来源未注明日期；读取于 2026-11-30）"
    )


@pytest.mark.parametrize(
    ("said", "chinese"),
    [
        ("S3 Express One Zone, PUT requests: USD 0.00113 per 1,000 requests (as of 2025-04, 609 days old)", "PUT 请求"),
        ("FSx for Lustre PERSISTENT_2-SSD-250, storage: not priced", "存储：未定价"),
        ("p5.48xlarge: USD 55.04 per hour (as of 2026-07-28, 126 days old)", "每小时 55.04 美元"),
    ],
)
def test_what_is_priced_has_a_name(said: str, chinese: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert said in lines("en", monkeypatch)
    assert any(chinese in line for line in lines("zh_CN", monkeypatch))


@pytest.mark.parametrize("language", LANGUAGES)
def test_everything_that_has_a_price_has_a_name_in_every_language(language: str) -> None:
    known = catalogue(language)
    options = {row.option for row in load().prices} | {price.option for price in WANTED}
    items = {row.item for row in load().prices if row.option != "ec2"} | {price.item for price in WANTED}
    assert [it for it in options - {"ec2"} if f"option.{it}" not in known and f"price-of.{it}" not in known] == []
    assert [it for it in items if f"price-item.{it}" not in known] == []


def test_a_price_of_one_s_own_that_has_no_name_here_keeps_its_ids() -> None:
    row: dict[str, Any] = {"region": "us-east-1", "currency": "USD", "unit": "GiB", "quantity": None}
    assert prices.name(Price(option="tape", item="rewind", **row)) == "tape, rewind"
