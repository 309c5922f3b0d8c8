"""Charts of what lies under a prefix."""

from __future__ import annotations

from typing import Any

import altair as alt

from gpufeed.facts.messages import text
from gpufeed.model.profile import SMALLEST_SIZE_ROW, PrefixProfile
from gpufeed.present import tables, words
from gpufeed.present.charts.drawing import (
    AMOUNT_LABEL,
    BLUE,
    CARD,
    DECIMAL_SIZE_LABEL,
    ORANGE,
    RED,
    SIZE_LABEL,
    WIDTH,
    Drawing,
    Rows,
    data,
    lines,
    written,
    x_at,
)
from gpufeed.present.tables.prefix import largest

_HEIGHT = 110
_BAR_HEIGHT = 22
_ROW_STEP = 4  # each row of the profile's table by size is four times the one before


def size_histogram(profile: PrefixProfile, threshold_bytes: float | None) -> Drawing:
    """Objects and bytes by size, with the size below which S3 Standard spends most of the time waiting."""
    rows: Rows = [
        {"from": row["up_to"] / _ROW_STEP, "to": row["up_to"], "zero": 0, **row}
        for row in profile.by_size()
        if row["up_to"]
    ]
    title = text("chart.sizes.title", objects=words.count(profile.objects), size=words.size(profile.bytes))
    subtitle: list[str] = []
    if profile.zero_byte_objects:
        subtitle.append(text("chart.sizes.zero", count=words.count(profile.zero_byte_objects)))
    if threshold_bytes is not None:
        subtitle.append(text("chart.sizes.threshold", size=words.size(threshold_bytes)))
    if not rows:
        rows = [{"from": SMALLEST_SIZE_ROW / _ROW_STEP, "to": SMALLEST_SIZE_ROW, "objects": 0, "bytes": 0, "zero": 0}]
    bounds = [rows[0]["from"], rows[-1]["to"], *([threshold_bytes] if threshold_bytes else [])]
    low, high = min(bounds), max(bounds)
    ticks = [float(2**power) for power in range(0, 60, 2) if low <= 2**power <= high]
    x: dict[str, Any] = {
        "type": "quantitative",
        "scale": alt.Scale(type="log", base=2, domain=[low, high], nice=False),
        "axis": alt.Axis(values=ticks, labelExpr=SIZE_LABEL, title=text("chart.sizes.axis"), labelOverlap=True),
    }
    whole = alt.vconcat(
        _histogram(rows, "objects", BLUE, x, threshold_bytes),
        _histogram(rows, "bytes", ORANGE, x, threshold_bytes),
    ).properties(title=alt.TitleParams(title, subtitle=lines(subtitle)))
    listed = "; ".join(
        f"≤ {words.binary_size(row['to'])}: {words.count(row['objects'])}, {words.size(row['bytes'])}" for row in rows
    )
    return Drawing(whole, words.sentences(title, *subtitle, listed), tables.sizes(profile))


def _histogram(rows: Rows, of: str, color: str, x: dict[str, Any], threshold: float | None) -> Any:
    label = DECIMAL_SIZE_LABEL if of == "bytes" else AMOUNT_LABEL
    bars = (
        alt.Chart(data(rows))
        .mark_rect(color=color, stroke=CARD, strokeWidth=1)
        .encode(
            x=alt.X("from", **x),
            x2=alt.X2("to"),
            y=alt.Y(of, type="quantitative", axis=alt.Axis(title=text(f"column.{of}"), labelExpr=label, tickCount=4)),
            y2=alt.Y2("zero"),
        )
    )
    layers = [bars]
    if threshold:
        line = alt.Chart(data([{"threshold": threshold}]))
        layers.append(line.mark_rule(color=RED, strokeDash=[6, 4], strokeWidth=2).encode(x=alt.X("threshold", **x)))
    return alt.layer(*layers).properties(width=WIDTH, height=_HEIGHT)


def by_prefix(profile: PrefixProfile) -> Drawing:
    """The largest sub-prefixes: bytes, and how many objects they lie in."""
    rows: Rows = [
        {
            "prefix": name,
            "bytes": size,
            "label": text("chart.prefixes.label", objects=words.count(objects), size=words.size(size)),
        }
        for name, objects, size in largest(profile.prefixes)
    ]
    y = alt.Y("prefix", type="nominal", sort=None, title=None, axis=alt.Axis(labelLimit=220))
    bars = (
        alt.Chart(data(rows))
        .mark_bar(color=BLUE, height=8, yOffset=6)
        .encode(
            x=alt.X(
                "bytes",
                type="quantitative",
                axis=alt.Axis(title=text("column.bytes"), labelExpr=DECIMAL_SIZE_LABEL, tickCount=4),
            ),
            y=y,
        )
    )
    said = written(alt.Chart(data(rows)).encode(x=x_at(4), y=y, text=alt.Text("label", type="nominal")), dy=-5)
    title = text("chart.prefixes.title")
    chart = alt.layer(bars, *said).properties(width=WIDTH, height=alt.Step(_BAR_HEIGHT + 10), title=title)
    listed = "; ".join(f"{row['prefix']}: {row['label']}" for row in rows)
    return Drawing(chart, f"{title}. {listed}", tables.prefixes(profile))
