"""Loading refuses what is not cited, and the sentence says which file, which key and what to do."""

from collections.abc import Callable
from pathlib import Path

import pytest

from gpufeed.facts import Facts, read
from gpufeed.facts.errors import InputError

SOURCES = """
[guide]
title = "A guide"
url = "https://example.com/guide"
as_of = "2026-08"
retrieved = "2026-11-30"
confidence = "A"
"""
FILES = (
    *("options", "fsx", "regions", "accelerators", "instances", "workloads", "utilisation", "rules", "model"),
    "prices",
)
GOOD = 'value = 30, low = 9, high = 200, unit = "ms", basis = "published", source = "guide"'
PRICE = {"option": "s3", "item": "get", "region": "here", "currency": "USD", "unit": "1000 requests", "value": 1}
CITED = {"basis": "published", "source": "guide"}

Load = Callable[..., Facts]


@pytest.fixture
def load(tmp_path: Path) -> Load:
    def load(fact: str | None = None, **files: str) -> Facts:
        contents = dict.fromkeys(FILES, "") | {"sources": SOURCES} | files
        if fact is not None:
            contents["options"] = f"[s3]\nlatency = {{ {fact} }}"
        for name, text in contents.items():
            (tmp_path / f"{name}.toml").write_text(text, encoding="utf-8")
        return read(tmp_path)

    return load


def price(**changes: object) -> str:
    row = {**PRICE, **CITED, **changes}
    lines = [f"{key} = {value!r}" for key, value in row.items() if value is not None]
    return "[[price]]\n" + "\n".join(lines)


def refusal(load: Load, fact: str | None = None, **files: str) -> InputError:
    with pytest.raises(InputError) as refused:
        load(fact, **files)
    return refused.value


def test_a_cited_fact_loads_with_its_provenance(load: Load) -> None:
    fact = load(GOOD).options["s3"]["latency"]
    assert fact.id == "options.s3.latency"
    assert fact.published == (30, "ms")
    assert fact.quantity is not None
    assert (fact.quantity.low, fact.quantity.value, fact.quantity.high) == (0.009, 0.03, 0.2)
    assert (fact.quantity.unit, fact.quantity.basis, fact.quantity.sources) == ("seconds", "published", {"guide"})
    assert fact.as_of == "2026-08"  # its source's date


@pytest.mark.parametrize(
    ("change", "message_id", "words"),
    [
        (('source = "guide"', 'note = ""'), "facts.no-source", "has no source"),
        (('source = "guide"', "source = []"), "facts.no-source", "has no source"),
        (('source = "guide"', 'source = "guidd"'), "facts.unknown-source", "nearest: guide"),
        (('unit = "ms"', 'unit = "MBps"'), "facts.unknown-unit", "MBps"),
        (('unit = "ms", ', ""), "facts.unknown-unit", "None"),
        (('basis = "published"', 'basis = "guessed"'), "facts.unknown-basis", "published, measured, assumed"),
        (('basis = "published", ', ""), "facts.unknown-basis", "None"),
        (("high = 200", "hihg = 200"), "facts.unknown-key", "hihg"),
        (("low = 9", "low = 31"), "facts.out-of-order", "31, 30, 200"),
        (("high = 200", "high = 29"), "facts.out-of-order", "9, 30, 29"),
        (("low = 9", "low = -1"), "facts.negative", "-1"),
        (("value = 30", 'value = "thirty"'), "facts.wrong-type", "ms"),
        (("value = 30", "value = true"), "facts.wrong-type", "ms"),
        (("high = 200", "high = inf"), "facts.wrong-type", "ms"),
        (("value = 30, ", ""), "facts.wrong-type", "ms"),
        (('source = "guide"', 'source = "guide", as_of = "last year"'), "facts.bad-date", "last year"),
        (('source = "guide"', 'source = "guide", as_of = "2026-13"'), "facts.bad-date", "2026-13"),
    ],
)
def test_a_fact_that_is_not_right_is_refused(load: Load, change: tuple[str, str], message_id: str, words: str) -> None:
    assert change[0] in GOOD
    error = refusal(load, GOOD.replace(*change))
    assert error.message_id == message_id
    assert error.exit_code == 2
    assert str(error).startswith("options.toml: s3.latency ")
    assert words in str(error)


@pytest.mark.parametrize(
    "fact",
    [
        'value = 5, unit = "text", basis = "published", source = "guide"',
        'value = "yes", unit = "bool", basis = "published", source = "guide"',
        'value = "rename", unit = "list", basis = "published", source = "guide"',
        'value = true, low = 1, unit = "bool", basis = "published", source = "guide"',
    ],
)
def test_a_content_that_does_not_fit_its_kind_is_refused(load: Load, fact: str) -> None:
    assert refusal(load, fact).message_id == "facts.wrong-type"


def test_an_unknown_fact_is_none_and_says_why(load: Load) -> None:
    section = load('unknown = true, unit = "GB/s", note = "Probe it."').options["s3"]
    assert section["latency"].unknown
    assert section["latency"].quantity is None
    assert section["latency"].note == "Probe it."
    assert section.quantity("latency") is None


@pytest.mark.parametrize("fact", ['unknown = true, unit = "ms"', 'unknown = true, value = 0, unit = "ms", note = "?"'])
def test_an_unknown_fact_without_a_note_or_with_a_value_is_refused(load: Load, fact: str) -> None:
    assert refusal(load, fact).message_id == "facts.unknown-without-note"


@pytest.mark.parametrize(
    ("files", "message_id", "words"),
    [
        ({"options": "[s3]\nlatency = 30"}, "facts.bare-value", "options.toml: s3.latency"),
        ({"options": "latency = 30"}, "facts.bare-value", "options.toml: latency"),
        ({"options": f"latency = {{ {GOOD} }}"}, "facts.bare-value", "options.toml: latency"),
        ({"model": "hours = 730"}, "facts.bare-value", "model.toml: hours"),
        ({"options": "[s3\n"}, "facts.bad-toml", "options.toml"),
        ({"sources": SOURCES.replace('as_of = "2026-08"\n', "")}, "facts.source-incomplete", "as_of"),
        ({"sources": SOURCES.replace("2026-08", "August")}, "facts.bad-date", "August"),
        ({"sources": SOURCES.replace('url = "https://example.com/guide"\n', "")}, "facts.source-incomplete", "url"),
        ({"sources": SOURCES.replace('"A"\n', '"E"\n')}, "facts.bad-confidence", "guide"),
        ({"sources": SOURCES + 'author = "x"\n'}, "facts.unknown-key", "author"),
        ({"prices": price(source=None)}, "facts.no-source", "price 1 (s3 get)"),
        ({"prices": price(region=None)}, "facts.price-incomplete", "region"),
        ({"prices": price(unit="GB-month")}, "facts.unknown-unit", "GiB-month"),
        ({"prices": price(currency="EUR")}, "facts.unknown-currency", "CNY, USD"),
        ({"prices": price(value=-1)}, "facts.negative", "-1"),
        ({"prices": price(price=1)}, "facts.unknown-key", "price"),
        ({"prices": price(band_from=10, band_to=10)}, "facts.bad-band", "10 to 10"),
        ({"prices": price(value=None) + "\nunknown = true"}, "facts.unknown-without-note", "price 1"),
        ({"prices": "[[prices]]"}, "facts.unknown-key", "prices"),
    ],
)
def test_a_file_that_is_not_right_is_refused(load: Load, files: dict[str, str], message_id: str, words: str) -> None:
    error = refusal(load, **files)
    assert error.message_id == message_id
    assert words in str(error)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"sources\.toml is missing"):
        read(tmp_path)


def test_an_undated_source_is_accepted_and_its_age_counted(load: Load) -> None:
    facts = load(GOOD, sources=SOURCES.replace("2026-08", "undated"))
    assert facts.options["s3"]["latency"].as_of == "undated"
    age = facts.as_of()["options.toml"]
    assert (age.oldest, age.newest, age.undated) == (None, None, 1)


def test_the_age_of_a_file_spans_its_dates(load: Load) -> None:
    row = f"{{ {GOOD}, as_of = '%s' }}"
    facts = load(
        options=f"[s3]\na = {row % '2025-04'}\n[fsx]\nb = {row % '2026-07-28'}\n[fsx.part]\nc = {row % '2019'}"
    )
    age = facts.as_of()["options.toml"]
    assert (age.oldest, age.newest, age.undated) == ("2019", "2026-07-28", 0)


def test_a_fact_may_cite_several_sources(load: Load) -> None:
    second = SOURCES + SOURCES.replace("[guide]", "[paper]")
    fact = load(GOOD.replace('"guide"', '["guide", "paper"]'), sources=second).options["s3"]["latency"]
    assert fact.sources == ("guide", "paper")
    assert fact.quantity is not None
    assert fact.quantity.sources == {"guide", "paper"}


def test_the_refusal_is_also_said_in_chinese(load: Load, monkeypatch: pytest.MonkeyPatch) -> None:
    error = refusal(load, GOOD.replace("low = 9", "low = -1"))
    monkeypatch.setenv("GPUFEED_LANGUAGE", "zh_CN")
    assert str(error) == "options.toml：s3.latency 为 -1。这里的数量不能为负；未知的数量请写 unknown = true。"
