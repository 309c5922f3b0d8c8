"""Charts of a recommendation: what each option gives against what the GPUs ask, and what each costs."""

from __future__ import annotations

from typing import Any

import altair as alt

from gpufeed.facts.messages import text
from gpufeed.facts.quantity import Quantity
from gpufeed.model.recommendation import Cost, OptionAnswer, Recommendation
from gpufeed.present import tables, words
from gpufeed.present.charts.drawing import (
    AMOUNT_LABEL,
    BLUE,
    GREEN,
    GREY,
    INK,
    ORANGE,
    RATE_LABEL,
    RED,
    SKY,
    WIDTH,
    Drawing,
    Rows,
    data,
    decades,
    lines,
    written,
    x_at,
    y_at,
)
from gpufeed.present.tables.cost import amount, cost_parts, costings, not_priced

_ROW_HEIGHT = 44
_MARK_HEIGHT = 18
_VERDICTS = {
    "recommended": (BLUE, "circle"),
    "works": (SKY, "square"),
    "works-but": (ORANGE, "triangle-up"),
    "ruled-out": (GREY, "cross"),
}
_PARTS = {
    "storage": BLUE,
    "requests": "#A6D5F2",
    "transfer": "#9A6FC4",
    "kms": GREY,
    "loading": GREEN,
    "checkpoints": RED,
    "idle-gpus": ORANGE,
}


def supply_vs_demand(recommendation: Recommendation) -> Drawing:
    """What each option gives (low, value, high) beside the band the GPUs ask for, on a logarithmic axis of bytes/s."""
    demand = recommendation.demand.read_bytes_per_s
    rows = [_supply_row(answer) for answer in recommendation.options]
    names = [row["option"] for row in rows]
    rates = [answer.supply.read_bytes_per_s for answer in recommendation.options]
    ticks = _ticks([rate for rate in (*rates, demand) if rate is not None])
    x: dict[str, Any] = {
        "type": "quantitative",
        "scale": alt.Scale(type="log", domain=[ticks[0], ticks[-1]], nice=False),
        "axis": alt.Axis(values=ticks, labelExpr=RATE_LABEL, title=text("chart.supply.axis"), orient="bottom"),
    }
    y = _options_axis(names)
    known = [row for row in rows if row["value"] is not None]
    layers: list[Any] = [
        alt.Chart(data(known)).mark_rule(strokeWidth=3, color=GREY).encode(x=alt.X("low", **x), x2=alt.X2("high"), y=y),
        alt.Chart(data(known))
        .mark_point(filled=True, size=170, opacity=1, stroke=INK, strokeWidth=1)
        .encode(
            x=alt.X("value", **x),
            y=y,
            color=_verdict_scale(alt.Color, 0),
            shape=_verdict_scale(alt.Shape, 1),
        ),
        *written(alt.Chart(data(rows)).encode(x=x_at(4), y=y, text=alt.Text("label", type="nominal")), dy=-17),
    ]
    if demand is not None:
        layers = [*_demand_band(demand, x, names, y), *layers]
    title = text("chart.supply.title", demand=words.quantity(demand))
    chart = alt.layer(*layers).properties(width=WIDTH, height=_ROW_HEIGHT * len(rows), title=title)
    listed = "; ".join(f"{row['option']}: {row['label']}" for row in rows)
    return Drawing(chart, f"{title}. {listed}", tables.supplies(recommendation))


def _options_axis(names: list[str]) -> Any:
    axis = alt.Axis(labelLimit=200)
    return alt.Y("option", type="nominal", sort=names, title=None, scale=alt.Scale(padding=0.5), axis=axis)


def _supply_row(answer: OptionAnswer) -> dict[str, Any]:
    rate = answer.supply.read_bytes_per_s
    label = (
        text("chart.supply.unknown")
        if rate is None
        else text(
            "chart.supply.label",
            rate=words.rate(rate.value),
            fed=words.share(answer.fed.value if answer.fed else None),
            limit=words.limit(answer.supply.limited_by),
        )
    )
    return {
        "option": words.option(answer.option),
        "verdict": words.verdict(answer.verdict),
        "low": rate and rate.low,
        "value": rate and rate.value,
        "high": rate and rate.high,
        "label": label,
    }


def _ticks(quantities: list[Quantity]) -> list[float]:
    drawn = [bound for q in quantities for bound in (q.low, q.value, q.high) if 0 < bound < float("inf")]
    return decades(min(drawn, default=1.0), max(drawn, default=1.0))


def _verdict_scale(channel: Any, index: int) -> Any:
    """Colour and shape say the same thing, so that it reads in grey."""
    scale = alt.Scale(
        domain=[words.verdict(verdict) for verdict in _VERDICTS], range=[look[index] for look in _VERDICTS.values()]
    )
    return channel("verdict", type="nominal", scale=scale, legend=alt.Legend(title=None))


def _demand_band(demand: Quantity, x: dict[str, Any], names: list[str], y: Any) -> list[Any]:
    """What the GPUs ask for, beside each option's mark and not across what is written above it."""
    asked = {"low": demand.low, "value": demand.value, "high": demand.high}
    band = alt.Chart(data([{"option": name, **asked} for name in names]))
    return [
        band.mark_bar(color=RED, opacity=0.25, height=_MARK_HEIGHT).encode(x=alt.X("low", **x), x2=alt.X2("high"), y=y),
        band.mark_tick(color=RED, thickness=2, height=_MARK_HEIGHT).encode(x=alt.X("value", **x), y=y),
        alt.Chart(data([asked]))
        .mark_text(color=INK, align="center", baseline="bottom", dy=-4, fontSize=11)
        .encode(x=alt.X("value", **x), y=y_at(0), text=alt.TextValue(text("chart.demand"))),
    ]


def cost(recommendation: Recommendation) -> Drawing:
    """What the run costs, in parts; an option with a part that is not priced stands apart, last."""
    found = {row.name if row.option is None else words.option(row.option): row for row in costings(recommendation)}
    names = list(found)
    shown = cost_parts(recommendation)
    parts: Rows = [
        {"option": name, "part": text(f"column.{part}"), "order": order, "amount": billed.value}
        for name, row in found.items()
        for order, part in enumerate(shown)
        if (billed := row.parts.get(part)) is not None and billed.value < float("inf")
    ]
    labels: Rows = [{"option": name, "label": _cost_label(row.cost)} for name, row in found.items()]
    y = _options_axis(names)
    x = alt.X(
        "amount",
        type="quantitative",
        stack="zero",
        title=text("chart.cost.axis", currency=recommendation.currency),
        axis=alt.Axis(tickCount=4, labelExpr=AMOUNT_LABEL),
    )
    bars = (
        alt.Chart(data(parts))
        .mark_bar(stroke=INK, strokeWidth=0.6, height=16)
        .encode(
            x=x,
            y=y,
            order=alt.Order("order", type="quantitative"),
            color=alt.Color(
                "part",
                type="nominal",
                legend=alt.Legend(title=None, columns=3),
                scale=alt.Scale(
                    domain=[text(f"column.{part}") for part in shown], range=[_PARTS[part] for part in shown]
                ),
            ),
        )
    )
    said = written(alt.Chart(data(labels)).encode(x=x_at(4), y=y, text=alt.Text("label", type="nominal")), dy=-16)
    title = text("chart.cost.title")
    covers = text("chart.cost.whole" if recommendation.bills_checkpoints else "chart.cost.reads")
    chart = alt.layer(bars, *said).properties(
        width=WIDTH, height=_ROW_HEIGHT * len(names), title=alt.TitleParams(title, subtitle=lines([covers]))
    )
    listed = "; ".join(f"{row['option']}: {row['label']}" for row in labels)
    return Drawing(chart, words.sentences(title, covers, listed), tables.costs(recommendation))


def _cost_label(cost: Cost) -> str:
    if cost.total is not None:
        return amount(cost.total, cost)
    return text("chart.cost.not-priced", parts=not_priced(cost))
