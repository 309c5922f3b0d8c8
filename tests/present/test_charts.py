"""Charts draw with no network, say what they show, and are the same every time."""

from __future__ import annotations

import csv
import json
import re
from html import unescape
from pathlib import Path

import altair as alt
import pytest

from gpufeed.model.flip import Sensitivity
from gpufeed.model.flip_traits import Trait
from gpufeed.model.measurement import Conditions, Measurement, Record
from gpufeed.model.profile import PrefixProfile
from gpufeed.model.recommendation import Demand, FlipPoint, Reason, Recommendation
from gpufeed.present import charts
from gpufeed.present.charts.drawing import BLUE, GREEN, GREY, MIMETYPE, RED, svg_of

CASE = Path(__file__).parents[1] / "cases" / "060"

SWEEP = [(1, 30e6), (4, 110e6), (16, 380e6), (64, 520e6)]


def texts(drawing: charts.Drawing) -> list[str]:
    """Everything written in the picture."""
    found = re.findall(r"<text[^>]*>(.*?)</text>", drawing.svg)
    return [unescape(part) for written in found for part in re.split(r"<[^>]*>", written) if part]


def sweep(asked: Demand | None) -> charts.Drawing:
    """A sweep of this machine's own server, with a card of 10 Gbit/s."""
    steps = tuple(Record("read", rate, concurrency=concurrency, requests=9) for concurrency, rate in SWEEP)
    conditions = Conditions(network_bytes_per_s=1.25e9, same_machine=True)
    return charts.throughput(Measurement("gpufeed", "ok", steps[-1:], sweep=steps, conditions=conditions), asked)


def test_supply_names_each_option_its_rate_and_the_limit_that_binds(recommendation: Recommendation) -> None:
    drawing = charts.supply_vs_demand(recommendation)
    written = texts(drawing)
    assert "9 GB/s · feeds 75 % · limited by request latency" in written
    assert "2.4 GB/s · feeds 20 % · limited by file system throughput" in written
    assert "rate unknown" in written
    assert "Read rate per option; the GPUs ask for 12 GB/s (8–15 GB/s)" in written
    assert {"Amazon S3 Standard", "Mountpoint for Amazon S3", "recommended", "ruled out"} <= set(written)
    assert drawing.table["Read rate"].iloc[0] == "9 GB/s (7–12 GB/s)"


def test_supply_in_chinese(recommendation: Recommendation, chinese: None) -> None:
    written = texts(charts.supply_vs_demand(recommendation))
    assert "9 GB/s · 喂饱 75% · 受限于请求延迟" in written
    assert "各选项的读取速率；GPU 需要 12 GB/s（8–15 GB/s）" in written


def test_chinese_is_drawn_in_whatever_font_the_reader_has(recommendation: Recommendation, chinese: None) -> None:
    families = re.findall(r'font-family="([^"]*)"', charts.supply_vs_demand(recommendation).svg)
    assert families
    assert all(unescape(family).endswith("sans-serif") for family in families)


def test_cost_ranks_what_is_not_priced_apart_and_names_it(recommendation: Recommendation) -> None:
    drawing = charts.cost(recommendation)
    assert list(drawing.table["Option"]) == [
        "Amazon S3 Standard",
        "Mountpoint for Amazon S3",
        "FSx for Lustre",
        "S3 Files",
        "S3 Express One Zone",
    ]
    assert list(drawing.table["Total"])[-1] == "not priced"
    assert "total not known; not priced: storage of the option itself" in texts(drawing)
    assert "USD 5,030 (USD 3,020–8,030)" in texts(drawing)


def moves(trait: str, now: float, at: float, role: str) -> FlipPoint:
    reason = Reason("flip-rule-ends", {"rules": ("small-cluster",)})
    return FlipPoint(trait, now, at, role, "fsx-for-lustre", "s3-standard", reason, "count")


def sensitivities() -> list[Sensitivity]:
    """Prefixes that change nothing, instances that change at 4 and 17 of 8, and a target that was not stated."""
    nothing = Sensitivity(Trait("prefixes", 1, 1, 100, False, "count"), ())
    two = (moves("instances", 8, 4, "checkpoints"), moves("instances", 8, 17, "scratch"))
    more = moves("instances", 8, 17, "training_reads")
    return [nothing, Sensitivity(Trait("instances", 8, 1, 1024, True, "count"), (*two, more)),
            Sensitivity(Trait("restore_target", None, 1, 86_400, False, "seconds"), ())]  # fmt: skip


def test_sensitivity_draws_the_nearest_first_how_far_the_plan_stays_and_what_comes_then() -> None:
    drawing = charts.sensitivity(sensitivities())
    rows = drawing.spec["layer"][1]["data"]["values"]
    assert [(row["trait"], row["low"], row["high"]) for row in rows] == [
        ("Instances", 0.5, 2.125),  # 4 / 8 and 17 / 8
        ("Prefixes", 1.0, 100.0),
    ]
    written = texts(drawing)
    assert "8 · Checkpoints → FSx for Lustre at 4, Scratch, Training reads → FSx for Lustre at 17" in " ".join(written)
    assert "1 (by default) · no change in this range" in written
    assert "How far each figure can move before the answer changes" in written
    beyond = drawing.spec["layer"][0]["data"]["values"]
    assert [(row["low"], row["high"]) for row in beyond] == [(0.125, 0.5), (2.125, 128.0)]
    assert drawing.table.values.tolist() == [
        ["Instances", "8", "Checkpoints → FSx for Lustre at 4", "Scratch, Training reads → FSx for Lustre at 17"],
        ["Prefixes", "1 (by default)", "cannot go further", "no change up to 100"],
        ["Restore target", "not stated", "no change down to 1 s", "no change up to 1 d"],
    ]


def test_a_change_beyond_the_nearest_is_written_in_full_and_has_its_diamond() -> None:
    flips = [moves("instances", 8, 17, "training_reads"), moves("instances", 8, 4, "scratch")]
    flips += [moves("instances", 8, 1, "checkpoints"), moves("instances", 8, 319, "checkpoints")]
    drawing = charts.sensitivity([Sensitivity(Trait("instances", 8, 1, 1024, True, "count"), tuple(flips))])
    said = " ".join(texts(drawing))
    assert "Training reads → FSx for Lustre at 17, Scratch → FSx for Lustre at 4" in said
    assert "Checkpoints → FSx for Lustre at 1, Checkpoints → FSx for Lustre at 319" in said
    assert "…" not in said
    diamonds = [row["times"] for row in drawing.spec["layer"][3]["data"]["values"]]
    assert diamonds == [2.125, 0.5, 0.125, 39.875]  # 17, 4, 1 and 319 times an eighth


def test_a_plan_that_nothing_changes_still_draws() -> None:
    assert "no change in this range" in charts.sensitivity(sensitivities()[:1]).svg
    assert charts.sensitivity(sensitivities()[2:]).svg.startswith("<svg")


def test_sizes_show_the_threshold_and_leave_zero_bytes_apart(profile: PrefixProfile) -> None:
    drawing = charts.size_histogram(profile, 2_100_000)
    written = " ".join(texts(drawing))
    assert "Objects and bytes by size: 5 objects, 5.03 MB" in written
    assert "Zero-byte objects, not drawn: 1." in written
    assert "Dashed: 2.1 MB, below which S3 Standard spends more than half of the time waiting." in written
    assert drawing.table.to_numpy().tolist() == [
        ["0 bytes", "1", "0 bytes"],
        ["16 KiB", "3", "30 KB"],
        ["64 KiB", "0", "0 bytes"],
        ["256 KiB", "0", "0 bytes"],
        ["1 MiB", "0", "0 bytes"],
        ["4 MiB", "0", "0 bytes"],
        ["16 MiB", "1", "5 MB"],
    ]


def test_an_empty_prefix_still_draws() -> None:
    assert "Objects and bytes by size: 0 objects, 0 bytes" in texts(charts.size_histogram(PrefixProfile(), None))
    assert "Bytes per sub-prefix, largest first" in texts(charts.by_prefix(PrefixProfile()))


def test_a_key_cannot_act_on_the_page(profile: PrefixProfile) -> None:
    drawing = charts.by_prefix(profile)
    assert "images/<b>⟨U+202E⟩␉/" in texts(drawing)
    assert "<b>" not in drawing.svg
    assert "<b>" not in drawing.image


def test_throughput_shows_demand_ceiling_both_units_and_what_it_feeds(recommendation: Recommendation) -> None:
    drawing = sweep(recommendation.demand)
    written = texts(drawing)
    assert "GPUs ask for 12 GB/s (96 Gbit/s)" in written
    assert "network card: 1.25 GB/s (10 Gbit/s)" in written
    assert {"1 GB/s", "10 Gbit/s", "520 MB/s", "64"} <= set(written)
    assert "The bytes came from this machine's own memory: this is no measurement of a storage tier." in " ".join(
        written
    )
    # 64 GPUs ask for 8–15 GB/s, one for 125–234 MB/s: 520 MB/s feed 2.22 to 4.16 of them.
    assert "This feeds 2.22–4.16 of 64 GPUs at full speed." in written
    assert "No measured concurrency feeds all GPUs." in written
    assert list(drawing.table["Read rate"]) == [
        "30 MB/s (240 Mbit/s)",
        "110 MB/s (880 Mbit/s)",
        "380 MB/s (3.04 Gbit/s)",
        "520 MB/s (4.16 Gbit/s)",
    ]


def test_throughput_without_a_demand_shows_the_measurement_alone() -> None:
    assert not any("GPUs ask for" in written for written in texts(sweep(None)))


def test_a_spike_survives_thinning_and_the_chart_says_it_is_thinned() -> None:
    expected = json.loads((CASE / "expected.json").read_text())
    with (CASE / "series.csv").open() as file:
        points = [(float(row["t"]), float(row["mbps"]) * 1e6) for row in csv.DictReader(file)]
    assert len(points) == expected["rows_in"]
    drawing = charts.over_time(points)
    drawn = drawing.spec["data"]["values"]
    assert len(drawn) <= expected["rows_drawn_max"]
    highest = max(points, key=lambda point: point[1])
    assert {"at": highest[0], "rate": highest[1]} in drawn
    assert highest[0] == expected["spike_at_t"]
    assert f"{len(drawn):,} of 6,000 points drawn; every extreme is kept." in texts(drawing)


def test_thinning_keeps_order_and_leaves_few_points_alone() -> None:
    points = [(float(t), float(t % 7)) for t in range(100)]
    assert charts.thinned(points, 100) == points
    assert charts.thinned(points, 10) == sorted(charts.thinned(points, 10))
    assert len(charts.thinned(points, 10)) == 10


@pytest.mark.parametrize("draw", ["supply", "cost", "sizes", "prefixes", "throughput", "sensitivity"])
def test_the_same_values_give_the_same_picture(
    draw: str, recommendation: Recommendation, profile: PrefixProfile
) -> None:
    def once() -> charts.Drawing:
        return {
            "supply": lambda: charts.supply_vs_demand(recommendation),
            "cost": lambda: charts.cost(recommendation),
            "sizes": lambda: charts.size_histogram(profile, 1e6),
            "prefixes": lambda: charts.by_prefix(profile),
            "throughput": lambda: sweep(recommendation.demand),
            "sensitivity": lambda: charts.sensitivity(sensitivities()),
        }[draw]()

    first, second = once(), once()
    assert first.svg == second.svg
    assert json.dumps(first.spec) == json.dumps(second.spec)


def test_a_chart_goes_out_as_vega_lite_5_and_as_a_picture_with_words_and_no_address() -> None:
    bundle = sweep(None)._repr_mimebundle_()
    assert bundle[MIMETYPE]["$schema"].startswith("https://vega.github.io/schema/vega-lite/v5")
    assert bundle["image/svg+xml"].startswith("<svg")
    assert bundle["text/plain"] == bundle[MIMETYPE]["description"]
    assert "Measured throughput against what the GPUs ask" in bundle["text/plain"]
    assert set(re.findall(r"https?://[^\"<\s]+", bundle["image/svg+xml"])) <= {
        "http://www.w3.org/2000/svg",
        "http://www.w3.org/1999/xlink",
    }


def test_a_chart_of_the_readers_own_draws_without_a_network_too() -> None:
    data = alt.InlineData(values=[{"a": 1}])
    bundle = alt.renderers.get()(alt.Chart(data).mark_bar().encode(x=alt.X("a", type="quantitative")).to_dict())
    assert bundle["image/svg+xml"].startswith("<svg")
    assert "v5" in bundle[MIMETYPE]["$schema"]


def test_a_picture_follows_the_theme_of_the_page_around_it() -> None:
    svg = sweep(None).svg
    assert '[data-jp-theme-light="false"] .gpufeed-chart { --ink: #EEEEEE; --card: #2B2B2B; }' in svg
    # What is written, and the card, have no other colours than those that follow.
    assert set(re.findall(r'<text [^>]*fill="([^"]*)"', svg)) == {"#1A1A1A"}
    assert re.findall(r'<rect width="\d+" height="\d+" fill="([^"]*)"/>', svg) == ["white"]
    assert 'aria-label="Measured throughput' in sweep(None).image


def test_a_live_chart_leaves_card_and_guides_to_the_theme_and_writes_in_the_ink_of_its_card() -> None:
    config = sweep(None).spec["config"]
    assert "background" not in config
    assert not {"labelColor", "titleColor"} & {*config["axis"], *config["legend"]}
    assert not {"color", "subtitleColor"} & {*config["title"]}
    # JupyterLab's dark theme for Vega, as its embedding merges it below the chart's own.
    dark = {**config, "background": "#333", "style": {"guide-label": {"fill": "#fff"}}}
    in_the_dark = svg_of({**charts.sensitivity(sensitivities()).spec, "config": dark})
    rim, letters = re.findall(r'<text [^>]*fill="(#[^"]*)"[^>]*>1 \(by default\)', in_the_dark)
    assert (rim, letters) == ("#333", "#EEEEEE")


def luminance(colour: str) -> float:
    """Relative luminance of an sRGB colour, as WCAG 2 defines it."""
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("colour", [BLUE, RED, GREEN, GREY])
def test_marks_without_a_rim_are_seen_on_white_and_on_the_dark_card(colour: str) -> None:
    on_white = 1.05 / (luminance(colour) + 0.05)
    on_dark = (luminance(colour) + 0.05) / (luminance("#333333") + 0.05)
    assert min(on_white, on_dark) >= 3.0  # WCAG 2: what a graphic needs


def test_a_picture_has_no_id_that_could_meet_another(recommendation: Recommendation, profile: PrefixProfile) -> None:
    drawn = [charts.supply_vs_demand(recommendation), charts.cost(recommendation), sweep(recommendation.demand)]
    drawn += [charts.sensitivity(sensitivities()), charts.size_histogram(profile, 1e6), charts.by_prefix(profile)]
    assert [drawing.description for drawing in drawn if " id=" in drawing.svg] == []
