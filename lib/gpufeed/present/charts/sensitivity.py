"""How far each figure of a plan can move before its answer changes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Any

import altair as alt

from gpufeed.facts.messages import text
from gpufeed.model.flip import Sensitivity
from gpufeed.model.flip_traits import SPAN
from gpufeed.present import tables
from gpufeed.present.charts.drawing import (
    BLUE,
    GREY,
    INK,
    RED,
    SKY,
    WIDTH,
    Drawing,
    data,
    lines,
    written,
    x_at,
)
from gpufeed.present.tables.flip import moved, nearest_first, today

_LETTERS = 60  # of a label, above a bar as long as the chart is wide
_LINE_HEIGHT, _BAR_ROW = 13, 26  # pixels: a line of a label, and the bar below it with some air
_TICKS = [0.01, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 100.0]
_TIMES = "'× ' + format(datum.value, '~g')"


def sensitivity(found: Sequence[Sensitivity]) -> Drawing:
    """One row per trait, the nearest flip first, on a logarithmic axis of times today's value.

    A bar as far as the plan stays, a diamond for each change with what changes above it, a dashed line beyond.  A trait
    without a value today has no place on this axis; the table has it.
    """
    shown = [one for one in nearest_first(found) if one.trait.now is not None]
    labels = {one.trait.name: lines([_label(one)], _LETTERS) for one in shown}
    # A row is as high as its label: what changes is written in full, above the bar and clear of every mark.
    ends = list(accumulate(len(label) * _LINE_HEIGHT + _BAR_ROW for label in labels.values()))
    at = {name: end - _BAR_ROW / 2 for name, end in zip(labels, ends, strict=True)}
    x: dict[str, Any] = {
        "type": "quantitative",
        "scale": alt.Scale(type="log", domain=[1 / SPAN, SPAN], nice=False, clamp=True),
        "axis": alt.Axis(values=_TICKS, labelExpr=_TIMES, title=text("chart.sensitivity.axis"), orient="bottom"),
    }
    height = max(ends, default=_BAR_ROW)
    y = alt.Y(
        "at",
        type="quantitative",
        title=None,
        scale=alt.Scale(domain=[0, height], nice=False, reverse=True),
        axis=alt.Axis(values=list(at.values()), labelExpr=_names(at), labelLimit=200, grid=False, ticks=False),
    )
    rows = [{**_row(one), "at": at[one.trait.name]} for one in shown]
    said = [
        {"at": at[name] - _LINE_HEIGHT * len(label) - 6, "label": "\n".join(label)} for name, label in labels.items()
    ]
    layers = [
        alt.Chart(data([{**beyond, "at": at[one.trait.name]} for one in shown for beyond in _beyond(one)]))
        .mark_rule(strokeWidth=1.5, strokeDash=[3, 3], color=GREY)
        .encode(x=alt.X("low", **x), x2=alt.X2("high"), y=y),
        alt.Chart(data(rows))
        .mark_rule(strokeWidth=8)
        .encode(x=alt.X("low", **x), x2=alt.X2("high"), y=y, color=alt.Color("colour", type="nominal", scale=None)),
        alt.Chart(data(rows))
        .mark_point(shape="stroke", angle=90, size=260, color=INK, strokeWidth=2, opacity=1)
        .encode(x=alt.X("now", **x), y=y),
        alt.Chart(data([{**change, "at": at[one.trait.name]} for one in shown for change in _changes(one)]))
        .mark_point(filled=True, shape="diamond", size=150, opacity=1, color=RED, stroke=INK, strokeWidth=1)
        .encode(x=alt.X("times", **x), y=y),
        *written(
            alt.Chart(data(said)).encode(x=x_at(4), y=y, text=alt.Text("label", type="nominal")),
            baseline="top",
            lineHeight=_LINE_HEIGHT,
        ),
    ]
    title = text("chart.sensitivity.title")
    how = alt.Title(title, subtitle=lines([text("chart.sensitivity.subtitle")]))
    chart = alt.layer(*layers).properties(width=WIDTH, height=height, title=how)
    listed = "; ".join(f"{text(f'trait.{one.trait.name}')}: {_label(one)}" for one in shown)
    return Drawing(chart, f"{title}. {listed}", tables.sensitivity(found))


def _names(at: Mapping[str, float]) -> str:
    """A Vega expression: the name of the trait whose bar is at a place."""
    written_ = "''"
    for name, place in at.items():
        written_ = f"abs(datum.value - {place!r}) < 0.5 ? {json.dumps(text(f'trait.{name}'))} : {written_}"
    return written_


def _label(one: Sensitivity) -> str:
    """Today's value, and in words every change that was found, the nearest first."""
    moves = [moved([flip for flip in one.flips if flip.at == at]) for at in dict.fromkeys(f.at for f in one.flips)]
    changes = text("present.list-separator").join(moves) or text("chart.sensitivity.none")
    return text("chart.sensitivity.label", now=today(one.trait), changes=changes)


def _row(one: Sensitivity) -> dict[str, Any]:
    """From where to where the plan stays, in times today's value."""
    low, high = _stays(one)
    return {
        "trait": text(f"trait.{one.trait.name}"),
        "low": _times(one, low),
        "now": 1.0,
        "high": _times(one, high),
        "colour": BLUE if one.flips else SKY,
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
    for at in dict.fromkeys(flip.at for flip in one.flips):
        yield {"trait": text(f"trait.{one.trait.name}"), "times": _times(one, at)}


def _times(one: Sensitivity, value: float) -> float:
    """On the axis: times today's value."""
    return value / (one.trait.now or value)
