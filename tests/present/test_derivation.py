"""How each figure comes about, as people see it."""

from __future__ import annotations

import re

import pytest

from gpufeed.facts import load
from gpufeed.facts.fact import Fact
from gpufeed.facts.quantity import Quantity
from gpufeed.model.advise import recommend
from gpufeed.model.explain import Figure, Input, explain
from gpufeed.model.workload import Workload
from gpufeed.present import derivation

RATE = Quantity(50e6, 90e6, 90e6, "bytes/s", "published", frozenset({"s3-design-patterns"}))
TIME = Quantity(0.009, 0.03, 0.2, "seconds", "assumed", frozenset({"gpufeed-assumption"}))


def two_figures() -> dict[str, Figure]:
    """A request's time, of one sourced rate and one assumed latency; and what is made of it."""
    rate = Fact("options.s3-standard.per_request_read", "MB/s", quantity=RATE, as_of="2026-08-01", note="<b>Guide</b>")
    latency = Fact("options.s3-standard.latency", "ms", quantity=TIME, as_of="2026-11-30")
    seconds = Figure(
        "s3-standard.supply.request_seconds",
        TIME,
        "first_byte_latency + request_bytes / per_request_read",
        (
            Input("first_byte_latency", TIME, latency),
            Input("request_bytes", Quantity.exact(100_000, "bytes")),
            Input("per_request_read", RATE, rate),
        ),
    )
    fed = Figure(
        "s3-standard.fed",
        Quantity(0.5, 0.75, 1, "share", "assumed"),
        "1 / request_seconds",
        (Input("request_seconds", TIME, figure=seconds.id),),
    )
    asked = Figure("demand.read_bytes_per_s", Quantity.exact(1e9, "bytes/s", "measured"), "", ())
    return {figure.id: figure for figure in (asked, seconds, fed)}


def test_a_figure_opens_into_its_equation_and_each_input_down_to_the_source() -> None:
    page = derivation.page(two_figures(), load(), "s3-standard")
    assert "<code>first_byte_latency + request_bytes / per_request_read</code>" in page
    title = load().sources["s3-design-patterns"].title
    url = load().sources["s3-design-patterns"].url
    assert f'<a href="{url}" target="_blank" rel="noopener noreferrer">{title}</a> (as of 2026-08-01)' in page
    # An input that is a figure opens in its place, inside the other.
    inside = page[page.index("How fed the GPUs are") :]
    assert "Time of one request" in inside
    assert "per_request_read" in inside
    assert page.count("<details") == page.count("</details>") == 2 + 3  # two groups, two figures and one again inside
    assert "Assumption of gpufeed, not a published number (as of 2026-11-30)" in page


def test_published_measured_stated_assumed_and_derived_differ_in_mark_word_and_class() -> None:
    page = derivation.page(two_figures(), load(), "s3-standard")
    badges = set(re.findall(r'<span class="basis (\w+)">(. \w+)</span>', page))
    assert badges == {
        ("published", "● published"),
        ("measured", "■ measured"),
        ("stated", "◆ stated"),
        ("assumed", "▲ assumed"),
        ("derived", "ƒ derived"),
    }
    assert "Rests at the weakest on what is ▲ assumed." in page
    assert 'Read rate the GPUs ask for: <b>1 GB/s</b> <span class="basis measured">' in page


def test_what_stands_in_the_data_cannot_act_on_the_page() -> None:
    page = derivation.page(two_figures(), load(), "s3-standard")
    assert "&lt;b&gt;Guide&lt;/b&gt;" in page
    assert "<b>Guide</b>" not in page


def test_the_same_as_lines_of_text() -> None:
    assert list(derivation.lines(two_figures(), load()))[1:6] == [
        "Amazon S3 Standard · Time of one request: 30 ms (9–200 ms) ƒ derived",
        "    = first_byte_latency + request_bytes / per_request_read",
        (
            "    first_byte_latency: 30 ms (9–200 ms) ▲ assumed Assumption of gpufeed, not a published number "
            "(as of 2026-11-30) options.s3-standard.latency"
        ),
        "    request_bytes: 100 KB ◆ stated",
        (
            "    per_request_read: 90 MB/s (50–90 MB/s) ● published Amazon S3 user guide: performance design patterns "
            "(as of 2026-08-01) https://docs.aws.amazon.com/AmazonS3/latest/userguide/"
            "optimizing-performance-design-patterns.html options.s3-standard.per_request_read <b>Guide</b>"
        ),
    ]


def test_the_same_for_a_program() -> None:
    asked, seconds, fed = derivation.document(two_figures())
    assert (asked["equation"], asked["basis"], asked["inputs"]) == ("", "measured", [])
    assert seconds["inputs"][2] == {
        "name": "per_request_read",
        "figure": None,
        "fact": "options.s3-standard.per_request_read",
        "value": {"low": 50e6, "value": 90e6, "high": 90e6},
        "unit": "bytes/s",
        "basis": "published",
        "sources": ["s3-design-patterns"],
        "as_of": "2026-08-01",
        "note": "<b>Guide</b>",
    }
    assert (fed["inputs"][0]["figure"], fed["inputs"][0]["basis"]) == (seconds["id"], "derived")


@pytest.mark.parametrize("language", ["en", "zh_CN"])
@pytest.mark.parametrize("region", ["us-east-1", "eu-west-3"])  # the second has prices of some parts only
@pytest.mark.parametrize("interface", ["posix", "s3-api"])
def test_every_figure_of_a_plan_has_a_name_in_both_languages(
    language: str, region: str, interface: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GPUFEED_LANGUAGE", language)
    stated = {"task": "pretraining", "instances": 8, "instance_type": "p5.48xlarge", "restore_target": 60}
    stated |= {"region": region, "interface": interface, "model_parameters": 8e9}
    plan = recommend(Workload.from_mapping(stated, load()), load())
    document = derivation.document(explain(plan, load()))
    own = [figure for figure in document if ".lines." not in figure["id"]]  # a line of the bill has its own name
    unnamed = [figure["id"] for figure in own if figure["id"].endswith(figure["text"])]
    assert unnamed == []


def test_only_what_was_stated_is_marked_so_and_bounds_have_names() -> None:
    workload = Workload.from_mapping(
        {
            "task": "pretraining",
            "instances": 64,
            "instance_type": "p5.48xlarge",
            "preset": "llm-text",
            "dataset_bytes": 60e12,
            "run_hours": 720,
        },
        load(),
    )
    figures = explain(recommend(workload, load()), load())
    marked = [line for line in derivation.lines(figures, load()) if line.endswith("◆ stated")]
    # every figure stands without indent: nothing is transferred here, and nobody stated that
    assert marked and all(line.startswith("    ") for line in marked)
    assert figures["s3-standard.cost.transfer"].result.value == 0.0
    # 60 TB are 55,879 GiB: the first band of 51,200 GiB is full
    band = figures["s3-standard.cost.lines.base-storage.quantity"]
    assert "price_s3_standard_storage_up_to" in band.equation
    up_to = next(given for given in band.inputs if given.name == "price_s3_standard_storage_up_to")
    assert (up_to.quantity.value, up_to.quantity.unit, up_to.quantity.basis) == (51_200, "GiB", "published")
    assert derivation.amount(up_to.quantity) == "51,200 GiB"


def test_thousands_of_requests_are_shown_as_the_equation_counts_them() -> None:
    # 4 TB / 8 MiB = 476,837 requests; billed are 476.837 times a thousand.
    assert derivation.amount(Quantity.exact(4e12 / 2**23 / 1000, "1000 requests")) == "476,837 requests (477 × 1,000)"


def test_the_sources_of_a_fact_stand_in_its_own_order_the_first_is_that_of_its_value() -> None:
    fact = load().model["part_bytes"]
    assert fact.quantity is not None and fact.sources[0] == "mountpoint-configuration"
    figure = Figure("demand.request_bytes", fact.quantity, "part_bytes", (Input("part_bytes", fact.quantity, fact),))
    page = derivation.page({figure.id: figure}, load(), "s3-standard")
    first, second = (page.index(load().sources[name].title) for name in fact.sources)
    assert first < second
    assert "8 MiB is the part size of AWS" in "\n".join(derivation.lines({figure.id: figure}, load()))
