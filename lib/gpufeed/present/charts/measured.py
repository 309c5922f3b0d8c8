"""Charts of measurements: rate over concurrency against what the GPUs ask for, and rate over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import altair as alt

from gpufeed.facts.messages import text
from gpufeed.facts.quantity import Quantity
from gpufeed.model.measurement import Measurement
from gpufeed.model.recommendation import Demand
from gpufeed.present import tables, words
from gpufeed.present.charts.drawing import (
    BIT_RATE_LABEL,
    BLUE,
    GREY,
    MOST_ROWS,
    RATE_LABEL,
    RED,
    WIDTH,
    Drawing,
    Rows,
    data,
    decades,
    lines,
    thinned,
    thinning_note,
)

if TYPE_CHECKING:
    import pandas as pd

_HEIGHT = 260


def throughput(measurement: Measurement, demand: Demand | None) -> Drawing:
    """Measured bytes/s over concurrency, the band the GPUs ask for, and the network card's rated speed.

    The lines under the title say how many GPUs this feeds and from which concurrency on, what was the limit, and what
    the measurement is a measurement of.
    """
    asked = demand.read_bytes_per_s if demand else None
    network = measurement.conditions.network_bytes_per_s
    ceilings = {text("limit.network-card"): network} if network else {}
    own = [text("measure.same-machine")] if measurement.conditions.same_machine else []
    steps = [
        (record.concurrency, record.bytes_per_s)
        for record in measurement.sweep or measurement.records
        if record.op == "read" and record.concurrency and record.bytes_per_s
    ]
    return _throughput(
        steps, asked, ceilings, [*own, *tables.findings(measurement, demand)], tables.sweep(measurement, demand)
    )


def _throughput(
    steps: Sequence[tuple[int, float]],
    demand: Quantity | None,
    ceilings: Mapping[str, float],
    notes: Sequence[str],
    twin: pd.DataFrame,
) -> Drawing:
    rows: Rows = [{"concurrency": n, "rate": rate, "label": words.rate(rate)} for n, rate in sorted(steps)]
    drawn = [row["rate"] for row in rows] + list(ceilings.values())
    if demand is not None:
        drawn += [bound for bound in (demand.low, demand.value, demand.high) if bound > 0]
    ticks = decades(min(drawn, default=1.0), max(drawn, default=1.0))
    concurrencies = [row["concurrency"] for row in rows] or [1]
    span = [min(concurrencies), max(*concurrencies, 2 * min(concurrencies))]
    x_scale = alt.Scale(type="log", base=2, domain=span, nice=False, padding=34)
    x = alt.X(
        "concurrency",
        type="quantitative",
        scale=x_scale,
        axis=alt.Axis(values=concurrencies, title=text("chart.throughput.x"), format="d", grid=False),
    )
    scale = alt.Scale(type="log", domain=[ticks[0], ticks[-1]], nice=False)
    # What a line stands for is in the legend and each step's rate above the plot: no writing lies across a line.
    levels: dict[str, tuple[float, str, list[int]]] = {text("chart.throughput.measured"): (0.0, BLUE, [1, 0])}
    if demand is not None:
        asks = text("chart.throughput.demand", demand=words.network_rate(demand.value))
        levels[asks] = (demand.value, RED, [6, 4])
    for name, rate in sorted(ceilings.items()):
        levels[text("chart.throughput.ceiling", name=name, rate=words.network_rate(rate))] = (rate, GREY, [2, 3])
    looks = _looks(levels)
    # Layers with axes of their own each draw one: all but the first go without.
    axis = _rate_axis("left", RATE_LABEL, ticks)
    left: dict[str, Any] = {"type": "quantitative", "scale": scale, "axis": None}
    layers: list[Any] = []
    if demand is not None and demand.low < demand.high:
        band = alt.Chart(data([{"low": demand.low, "high": demand.high}]))
        layers.append(band.mark_rect(color=RED, opacity=0.2).encode(y=alt.Y("low", **left), y2=alt.Y2("high")))
    (measured, _), *others = levels.items()
    layers += [
        alt.Chart(data([{"line": name, "rate": rate}]))
        .mark_rule(strokeWidth=2)
        .encode(y=alt.Y("rate", **left), **looks)
        for name, (rate, _, _) in others
    ]
    sweep = alt.Chart(data([{**row, "line": measured} for row in rows]))
    layers += [
        sweep.mark_line(strokeWidth=2).encode(x=x, y=alt.Y("rate", **{**left, "axis": axis}), **looks),
        # The same places read as the rate of each step: an axis on top, which leaves out what has no room.
        sweep.mark_point(color=BLUE, filled=True, size=80, opacity=1).encode(
            x=alt.X("concurrency", type="quantitative", scale=x_scale, axis=_each_rate(rows)), y=alt.Y("rate", **left)
        ),
        # The same scale read in bits, as network cards are sold: an axis of its own on the right.
        sweep.mark_point(opacity=0).encode(
            x=alt.X("concurrency", type="quantitative", scale=x_scale, axis=None),
            y=alt.Y("rate", **{**left, "axis": _rate_axis("right", BIT_RATE_LABEL, [tick / 8 for tick in ticks])}),
        ),
    ]
    title = text("chart.throughput.title")
    chart = (
        alt.layer(*layers)
        .resolve_axis(x="independent", y="independent")
        .properties(width=WIDTH, height=_HEIGHT, title=alt.TitleParams(title, subtitle=lines(notes)))
    )
    listed = "; ".join(f"{row['concurrency']}: {row['label']}" for row in rows)
    asked = text("chart.throughput.demand", demand=words.quantity(demand))
    return Drawing(chart, words.sentences(title, *notes, listed, asked), twin)


def _rate_axis(side: Literal["left", "right"], label: str, ticks: Sequence[float]) -> alt.Axis:
    title = text("chart.throughput.bytes" if side == "left" else "chart.throughput.bits")
    return alt.Axis(orient=side, labelExpr=label, values=list(ticks), title=title, grid=side == "left")


def _looks(levels: Mapping[str, tuple[float, str, list[int]]]) -> dict[str, Any]:
    """Colour and dash of each line, in one legend that says what it stands for."""
    legend = alt.Legend(title=None, columns=1, symbolType="stroke", symbolStrokeWidth=2.5, symbolSize=300)
    colors, dashes = (alt.Scale(domain=list(levels), range=[look[i] for look in levels.values()]) for i in (1, 2))
    return {
        "color": alt.Color("line", type="nominal", scale=colors, legend=legend),
        "strokeDash": alt.StrokeDash("line", type="nominal", scale=dashes, legend=legend),
    }


def _each_rate(rows: Rows) -> alt.Axis:
    said = "''"
    for row in rows:
        said = f"datum.value == {row['concurrency']} ? '{row['label']}' : {said}"
    steps = [row["concurrency"] for row in rows]
    return alt.Axis(
        orient="top", values=steps, labelExpr=said, labelOverlap="greedy",
        title=None, grid=False, ticks=False,
        domain=False, labelFontSize=11,
    )  # fmt: skip


def over_time(points: Sequence[tuple[float, float]]) -> Drawing:
    """Rate [bytes/s] over time [s]; beyond 5,000 points the extremes of each stretch are drawn, and it says so."""
    kept = thinned(points, MOST_ROWS)
    note = thinning_note(len(points), len(kept))
    title = text("chart.over-time.title")
    chart = (
        alt.Chart(data([{"at": at, "rate": rate} for at, rate in kept]))
        .mark_line(color=BLUE, strokeWidth=1)
        .encode(
            x=alt.X("at", type="quantitative", axis=alt.Axis(title=text("chart.over-time.x"))),
            y=alt.Y(
                "rate",
                type="quantitative",
                axis=alt.Axis(title=text("chart.throughput.bytes"), labelExpr=RATE_LABEL),
            ),
        )
        .properties(width=WIDTH, height=_HEIGHT, title=alt.TitleParams(title, subtitle=lines([note])))
    )
    return Drawing(chart, f"{title}. {note}".strip(), tables.series(kept))
