"""How far each figure of a plan can move before its answer changes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import altair as alt

from gpufeed.facts.messages import text
from gpufeed.model.flip import SPAN, Sensitivity
from gpufeed.present import tables
from gpufeed.present.charts.drawing import (
    BLUE,
    GREY,
    INK,
    RED,
    SKY,
    Drawing,
    data,
    lines,
    written,
    x_at,
)
from gpufeed.present.tables.flip import moved, nearest_first, today

_WIDTH = 460
_ROW_HEIGHT = 34
_TICKS = [0.01, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 100.0]
_TIMES = "'× ' + format(datum.value, '~g')"


def sensitivity(found: Sequence[Sensitivity]) -> Drawing:
    """One row per trait, the nearest flip first, on a logarithmic axis of times today's value.

    A bar as far as the plan stays, a diamond where it changes with what changes, a dashed line beyond.  A trait without
    a value today has no place on this axis; the table has it.
    """
    shown = [one for one in nearest_first(found) if one.trait.now is not None]
    names = [text(f"trait.{one.trait.name}") for one in shown]
    x: dict[str, Any] = {
        "type": "quantitative",
        "scale": alt.Scale(type="log", domain=[1 / SPAN, SPAN], nice=False, clamp=True),
        "axis": alt.Axis(values=_TICKS, labelExpr=_TIMES, title=text("chart.sensitivity.axis"), orient="bottom"),
    }
    y = alt.Y(
        "trait", type="nominal", sort=names, title=None, scale=alt.Scale(padding=0.5), axis=alt.Axis(labelLimit=200)
    )
    rows = [_row(one) for one in shown]
    layers = [
        alt.Chart(data([beyond for one in shown for beyond in _beyond(one)]))
        .mark_rule(strokeWidth=1.5, strokeDash=[3, 3], color=GREY)
        .encode(x=alt.X("low", **x), x2=alt.X2("high"), y=y),
        alt.Chart(data(rows))
        .mark_rule(strokeWidth=8)
        .encode(x=alt.X("low", **x), x2=alt.X2("high"), y=y, color=alt.Color("colour", type="nominal", scale=None)),
        alt.Chart(data(rows)).mark_tick(color=INK, thickness=2, height=16).encode(x=alt.X("now", **x), y=y),
        alt.Chart(data([change for one in shown for change in _changes(one)]))
        .mark_point(filled=True, shape="diamond", size=170, opacity=1, color=RED, stroke=INK, strokeWidth=1)
        .encode(x=alt.X("at", **x), y=y),
        *written(
            alt.Chart(data(rows)).encode(x=x_at(4), y=y, text=alt.Text("label", type="nominal")), dy=-13, limit=_WIDTH
        ),
    ]
    title = text("chart.sensitivity.title")
    said = alt.Title(title, subtitle=lines([text("chart.sensitivity.subtitle")]))
    chart = alt.layer(*layers).properties(width=_WIDTH, height=_ROW_HEIGHT * max(len(shown), 1), title=said)
    listed = "; ".join(f"{row['trait']}: {row['label']}" for row in rows)
    return Drawing(chart, f"{title}. {listed}", tables.sensitivity(found))


def _row(one: Sensitivity) -> dict[str, Any]:
    """From where to where the plan stays, in times today's value, and in words what comes at the ends."""
    low, high = _stays(one)
    ends = [flip for flip in (one.below, one.above) if flip is not None]
    moves = [moved([flip for flip in one.flips if flip.at == at]) for at in dict.fromkeys(f.at for f in ends)]
    changes = text("present.list-separator").join(moves) or text("chart.sensitivity.none")
    return {
        "trait": text(f"trait.{one.trait.name}"),
        "low": _times(one, low),
        "now": 1.0,
        "high": _times(one, high),
        "colour": BLUE if ends else SKY,
        "label": text("chart.sensitivity.label", now=today(one.trait), changes=changes),
    }


def _stays(one: Sensitivity) -> tuple[float, float]:
    below, above = one.below, one.above
    return below.at if below else one.trait.low, above.at if above else one.trait.high


def _beyond(one: Sensitivity) -> Iterator[dict[str, Any]]:
    """What was followed beyond a flip."""
    low, high = _stays(one)
    name = text(f"trait.{one.trait.name}")
    for end, flip in ((one.trait.low, low), (one.trait.high, high)):
        if end != flip:
            yield {"trait": name, "low": _times(one, min(end, flip)), "high": _times(one, max(end, flip))}


def _changes(one: Sensitivity) -> Iterator[dict[str, Any]]:
    for flip in (one.below, one.above):
        if flip is not None:
            yield {"trait": text(f"trait.{one.trait.name}"), "at": _times(one, flip.at)}


def _times(one: Sensitivity, value: float) -> float:
    """On the axis: times today's value."""
    return value / (one.trait.now or value)
