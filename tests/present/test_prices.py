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


def region_lines(region: str, language: str, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.setenv("GPUFEED_LANGUAGE", language)
    return list(prices.lines(region, load(), TODAY))


def test_what_has_no_price_is_listed_by_name_after_what_has_one(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = lines("en", monkeypatch)
    at = shown.index(
        "Not priced in us-east-1 (14), whether or not it is offered there. An answer that needs one of these says so "
        "and never counts it as 0; gpufeed prices --region us-east-1 --refresh asks AWS for it."
    )
    assert not [line for line in shown[:at] if "not priced" in line]
    lustre = "FSx for Lustre"
    assert shown[at + 1 :] == [
        f"{lustre} PERSISTENT_2-SSD-250, storage: not priced",
        f"{lustre} PERSISTENT_2-SSD-500, storage: not priced",
        f"{lustre} PERSISTENT_1-SSD-50, storage: not priced",
        f"{lustre} PERSISTENT_1-SSD-100, storage: not priced",
        f"{lustre} PERSISTENT_1-SSD-200, storage: not priced",
        f"{lustre} PERSISTENT_1-HDD-12, storage: not priced",
        f"{lustre} PERSISTENT_1-HDD-40, storage: not priced",
        f"{lustre} INTELLIGENT_TIERING, storage: not priced",
        f"{lustre} INTELLIGENT_TIERING, read cache: not priced",
        f"{lustre} INTELLIGENT_TIERING, GET requests: not priced",
        "Network, transfer from another Region: not priced",
        "p5e.48xlarge: not priced",
        "p6e-gb200.36xlarge: not priced",
        "trn2.48xlarge: not priced",
    ]


def test_a_region_with_few_prices_names_what_it_lacks_and_what_it_has_not(monkeypatch: pytest.MonkeyPatch) -> None:
    # Stockholm: S3 and instances were sourced, S3 only up to the first band.
    stockholm = region_lines("eu-north-1", "en", monkeypatch)
    assert any(line.startswith("Amazon S3 Standard, storage up to 51,200 GiB-months: USD 0.023 ") for line in stockholm)
    assert {
        "Amazon S3 Standard, storage beyond 51,200 GiB-months: not priced",
        "S3 Express One Zone, storage: not priced",
        "FSx for Lustre PERSISTENT_2-SSD-125, storage: not priced",
        "FSx for Lustre, metadata IOPS: not priced",
        "S3 Files, storage: not priced",
        "p6-b200.48xlarge: not priced",
    } <= set(stockholm)
    assert not [line for line in stockholm if line.startswith("p5.48xlarge: not")]  # USD 58.8928
    # Beijing: three instance types, and no directory buckets at all.
    beijing = region_lines("cn-north-1", "zh_CN", monkeypatch)
    assert [line for line in beijing if "S3 Express One Zone" in line] == [
        "S3 Express One Zone：cn-north-1 没有，因此没有价格"
    ]
    assert "FSx for Lustre PERSISTENT_1-SSD-50，存储：未定价" in beijing
    assert (
        "cn-north-1 未定价（49 项），不论那里是否提供。需要其中某项的答案会说明，绝不按 0 计；"
        "gpufeed prices --region cn-north-1 --refresh 向 AWS 读取。"
    ) in beijing


def test_json_names_what_has_no_price() -> None:
    document = prices.document("cn-north-1", load(), TODAY)
    assert len(document["not_priced"]) == 49 and document["not_there"] == ["s3-express-one-zone"]
    assert document["not_priced"][0] == {
        "option": "s3-standard", "item": "storage", "configuration": None, "band_from": 0.0,
    }  # fmt: skip
    instances = {one["item"] for one in document["not_priced"] if one["option"] == "ec2"}
    assert instances == {name for name, price in document["instances"].items() if price is None}
    assert not instances & {"g5.xlarge", "g5.12xlarge", "g5.48xlarge"}


def test_what_is_priced_is_not_named_as_not_priced() -> None:
    for region in load().regions:
        document = prices.document(region, load(), TODAY)
        priced = {(row["option"], row["item"], row["configuration"]) for row in document["prices"] if row["price"]}
        whole = {
            (one["option"], one["item"], one["configuration"]) for one in document["not_priced"] if not one["band_from"]
        }
        assert not priced & whole


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
