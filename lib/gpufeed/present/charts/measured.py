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
    INK,
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
    x_at,
)

if TYPE_CHECKING:
    import pandas as pd

_HEIGHT = 260
_DEMAND_INK = "#A34700"


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
    x = alt.X(
        "concurrency",
        type="quantitative",
        scale=alt.Scale(type="log", base=2, domain=span, nice=False, padding=34),
        axis=alt.Axis(values=concurrencies, title=text("chart.throughput.x"), format="d", grid=False),
    )
    scale = alt.Scale(type="log", domain=[ticks[0], ticks[-1]], nice=False)
    # Layers with axes of their own each draw one: all but the first go without.
    axis = _rate_axis("left", RATE_LABEL, ticks)
    left: dict[str, Any] = {"type": "quantitative", "scale": scale, "axis": None}
    layers: list[Any] = []
    if demand is not None:
        layers += _band(demand, left)
    layers += [_ceiling(name, rate, left) for name, rate in sorted(ceilings.items())]
    sweep = alt.Chart(data(rows))
    layers += [
        sweep.mark_line(color=BLUE, strokeWidth=2).encode(x=x, y=alt.Y("rate", **{**left, "axis": axis})),
        sweep.mark_point(color=BLUE, filled=True, size=80, opacity=1).encode(x=x, y=alt.Y("rate", **left)),
        sweep.mark_text(dy=-12, fontSize=11, color=INK).encode(
            x=x, y=alt.Y("rate", **left), text=alt.Text("label", type="nominal")
        ),
        # The same scale read in bits, as network cards are sold: an axis of its own on the right.
        sweep.mark_point(opacity=0).encode(
            x=x,
            y=alt.Y("rate", **{**left, "axis": _rate_axis("right", BIT_RATE_LABEL, [tick / 8 for tick in ticks])}),
        ),
    ]
    title = text("chart.throughput.title")
    chart = (
        alt.layer(*layers)
        .resolve_axis(y="independent")
        .properties(width=WIDTH, height=_HEIGHT, title=alt.TitleParams(title, subtitle=lines(notes)))
    )
    listed = "; ".join(f"{row['concurrency']}: {row['label']}" for row in rows)
    asked = text("chart.throughput.demand", demand=words.quantity(demand))
    return Drawing(chart, words.sentences(title, *notes, listed, asked), twin)


def _rate_axis(side: Literal["left", "right"], label: str, ticks: Sequence[float]) -> alt.Axis:
    title = text("chart.throughput.bytes" if side == "left" else "chart.throughput.bits")
    return alt.Axis(orient=side, labelExpr=label, values=list(ticks), title=title, grid=side == "left")


def _band(demand: Quantity, y: dict[str, Any]) -> list[Any]:
    row = alt.Chart(data([{"low": demand.low, "value": demand.value, "high": demand.high}]))
    return [
        row.mark_rect(color=RED, opacity=0.16).encode(y=alt.Y("low", **y), y2=alt.Y2("high")),
        row.mark_rule(color=RED, strokeDash=[6, 4], strokeWidth=2).encode(y=alt.Y("value", **y)),
        row.mark_text(color=_DEMAND_INK, align="left", dy=-7, fontSize=11).encode(
            x=x_at(4),
            y=alt.Y("value", **y),
            text=alt.TextValue(text("chart.throughput.demand", demand=words.network_rate(demand.value))),
        ),
    ]


def _ceiling(name: str, rate: float, y: dict[str, Any]) -> Any:
    row = alt.Chart(data([{"rate": rate}]))
    label = text("chart.throughput.ceiling", name=name, rate=words.network_rate(rate))
    return alt.layer(
        row.mark_rule(color=GREY, strokeDash=[2, 3], strokeWidth=2).encode(y=alt.Y("rate", **y)),
        row.mark_text(color="#555555", align="left", dy=-7, fontSize=11).encode(
            x=x_at(4), y=alt.Y("rate", **y), text=alt.TextValue(label)
        ),
    )


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
