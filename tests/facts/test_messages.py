"""The language in force, and Chinese sentences whose values may be Chinese or not."""

from __future__ import annotations

import re

import pytest

from gpufeed.facts import messages
from gpufeed.facts.messages import catalogue, language, text, unknown_language


@pytest.mark.parametrize(
    ("setting", "spoken", "unknown"),
    [
        (None, "en", None),
        ("", "en", None),
        ("en", "en", None),
        ("en_US.UTF-8", "en", None),
        ("zh_CN", "zh_CN", None),
        ("zh", "zh_CN", None),
        ("zh-CN", "zh_CN", None),
        ("ZH_cn.UTF-8", "zh_CN", None),
        ("zh-Hans", "zh_CN", None),
        ("fr", "en", "fr"),
        ("zh_TW", "en", "zh_TW"),
        ("zhongwen", "en", "zhongwen"),
    ],
)
def test_which_language_is_in_force(
    setting: str | None, spoken: str, unknown: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GPUFEED_LANGUAGE", raising=False)
    if setting is not None:
        monkeypatch.setenv("GPUFEED_LANGUAGE", setting)
    assert (language(), unknown_language()) == (spoken, unknown)


@pytest.mark.parametrize(
    ("template", "value", "shown"),
    [
        ("瓶颈是{limit}。", "请求延迟", "瓶颈是请求延迟。"),
        ("瓶颈是 {limit} 。", "请求延迟", "瓶颈是请求延迟。"),
        ("瓶颈是{limit}。", "ENA", "瓶颈是 ENA。"),
        ("每 {time} 一次", "30 分钟", "每 30 分钟一次"),
        ("每 {time} 一次", "1 h", "每 1 h 一次"),
        ("共{count}个", 3, "共 3 个"),
        ("共 {count:,} 个", 3000, "共 3,000 个"),
        ("{a}：{a}", "实例 NVMe", "实例 NVMe：实例 NVMe"),
        ("打开 {path} 失败", "/数据 集/图", "打开 /数据 集/图失败"),  # a blank of the user's own stays
        ("  {indented}", "缩进", "  缩进"),
        ("{{x}} {a}", "1", "{x} 1"),
        ("占 {share} 的对象", "38%", "占 38% 的对象"),
    ],
)
def test_chinese_has_a_blank_beside_latin_and_none_within(
    template: str, value: object, shown: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GPUFEED_LANGUAGE", "zh_CN")
    monkeypatch.setattr(messages, "catalogue", lambda _: {"x": template})
    names = re.findall(r"{(\w+)", template.replace("{{x}}", ""))
    assert text("x", **dict.fromkeys(names, value)) == shown


def test_the_chinese_catalogue_keeps_to_the_same_blanks() -> None:
    han, stops = "[一-鿿]", "[，。：；！？、（）]"
    wrong = re.compile(rf"{han} +{han}|{han}[A-Za-z0-9]|[A-Za-z0-9]{han}|{stops} | {stops}|{han}[,;!?()]|[,;!?()]{han}")
    assert [id_ for id_, sentence in catalogue("zh_CN").items() if wrong.search(sentence.strip())] == []
