"""Charts of checkpoints: goodput over the interval, one save step by step, time between failures by definition."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import altair as alt

from gpufeed.facts.messages import text
from gpufeed.model.checkpoint_plan import CheckpointPlan, Checkpoints, curves
from gpufeed.model.rules import EXPRESS, FSX, MOUNTPOINT, S3, S3_FILES
from gpufeed.present import tables, words
from gpufeed.present.charts.drawing import (
    BLUE,
    GREEN,
    GREY,
    INK,
    ORANGE,
    RED,
    SKY,
    WIDTH,
    Drawing,
    Rows,
    data,
    lines,
    written,
    x_at,
    y_at,
)

_HEIGHT = 260
_ROW_HEIGHT = 44
_MARK_HEIGHT = 18
# Colour and dash say the same thing, so that it reads in grey, and lines that lie on each other can be told apart.
_LINES: dict[str, tuple[str, list[int]]] = {
    S3: (BLUE, [1, 0]),
    FSX: (ORANGE, [8, 3]),
    EXPRESS: (GREEN, [4, 2]),
    S3_FILES: (RED, [2, 2]),
    MOUNTPOINT: (SKY, [10, 3, 2, 3]),
}
# The larger marks are drawn first, so that three at one place are all seen.
_MOMENTS = {"gpus-continue": (RED, "circle", 45), "written": (BLUE, "square", 240), "in-s3": (GREEN, "diamond", 120)}
_DRAWN_ORDER = ("written", "in-s3", "gpus-continue")
# Goodput on an axis where 99 % and 99.9 % lie as far apart as 90 % and 99 %: that of what is lost, turned round.
_LOST = (1.0, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001, 0.0005, 0.0002, 0.0001)
_GOODPUT_LABEL = "format(100 - 100 * datum.value, '~g') + ' %'"
_FROM_THE_EDGE = 1.5  # times the first tick is what lies farthest left
_DURATIONS = (
    1e-3, 1e-2, 1e-1, 1.0, 10.0, 60.0, 600.0, 3600.0, 36_000.0, 864_000.0, 8_640_000.0, 86_400_000.0, 864_000_000.0,
)  # fmt: skip


def goodput_over_interval(plan: CheckpointPlan) -> Drawing:
    """Goodput of each option over the checkpoint interval; points: the best interval; dashed: the stated one."""
    drawn = curves(plan)
    title = text("chart.goodput.title")
    rows: Rows = [
        {"option": words.option(name), "interval": interval, "lost": lost}
        for name, points in drawn.items()
        for interval, lost in points
    ]
    best: Rows = [
        {
            "option": words.option(option.option),
            "interval": option.lost.best_interval,
            "lost": option.lost.best.lost.value,
        }
        for option in plan.options
        if option.lost is not None
    ]
    x = _duration_axis(_ticks([row["interval"] for row in rows]), text("chart.goodput.x"), field="interval")
    y = _lost_axis([row["lost"] for row in (*rows, *best)])
    color, dash = _line_of_option(list(drawn))
    stated = plan.plan.demand.checkpoint_interval
    layers = [
        alt.Chart(data(rows)).mark_line(strokeWidth=2.5).encode(x=x, y=y, color=color, strokeDash=dash),
        alt.Chart(data(best))
        .mark_point(filled=True, size=70, opacity=1, stroke=INK, strokeWidth=1)
        .encode(x=x, y=y, color=color),
        *_stated(stated, x, field="interval"),
    ]
    notes = [text("chart.goodput.note")]
    chart = alt.layer(*layers).properties(
        width=WIDTH, height=_HEIGHT, title=alt.TitleParams(title, subtitle=lines(notes))
    )
    listed = "; ".join(
        text(
            "chart.goodput.listed",
            option=words.option(option.option),
            now=words.share(option.lost.now.goodput.value),
            best=words.duration(option.lost.best_interval),
            then=words.share(option.lost.best.goodput.value),
        )
        for option in plan.options
        if option.lost is not None
    )
    return Drawing(chart, words.sentences(title, *notes, listed), tables.goodput(plan))


def _lost_axis(lost: list[float]) -> alt.Y:
    """A logarithmic axis of the share that is lost, turned round and written as the goodput that is left."""
    low = max([tick for tick in _LOST if tick <= min(lost, default=_LOST[-1])], default=_LOST[-1])
    high = min([tick for tick in _LOST if tick >= max(lost, default=1.0)], default=1.0)
    return alt.Y(
        "lost",
        type="quantitative",
        scale=alt.Scale(type="log", domain=[low, high], nice=False, reverse=True, clamp=True),
        axis=alt.Axis(
            values=[tick for tick in _LOST if low <= tick <= high],
            labelExpr=_GOODPUT_LABEL,
            title=text("chart.goodput.y"),
        ),
    )


def _line_of_option(options: list[str]) -> tuple[alt.Color, alt.StrokeDash]:
    """Colour and dash of each option's line, in one legend."""
    names = [words.option(name) for name in options]
    legend = alt.Legend(title=None, columns=2, symbolType="stroke", symbolStrokeWidth=2.5, symbolSize=300)
    colors, dashes = (alt.Scale(domain=names, range=[_LINES[name][look] for name in options]) for look in range(2))
    return (
        alt.Color("option", type="nominal", scale=colors, legend=legend),
        alt.StrokeDash("option", type="nominal", scale=dashes, legend=legend),
    )


def save_timeline(plan: CheckpointPlan) -> Drawing:
    """One save per option on a logarithmic axis of seconds: GPUs go on, written, in S3; dashed: the interval."""
    rows = [row for option in plan.options for row in _moments(option)]
    names = [words.option(option.option) for option in plan.options]
    stated = plan.plan.demand.checkpoint_interval
    x = _duration_axis(_ticks([*(row["at"] for row in rows), stated]), text("chart.save.x"), field="at")
    y = alt.Y(
        "option",
        type="nominal",
        sort=names,
        title=None,
        scale=alt.Scale(domain=names, padding=0.5),
        axis=alt.Axis(labelLimit=200),
    )
    labels: Rows = [{"option": words.option(option.option), "label": _save_label(option)} for option in plan.options]
    moments = [text(f"chart.save.{moment}") for moment in _MOMENTS]
    marks = {
        channel: alt.Scale(domain=moments, range=[look[index] for look in _MOMENTS.values()])
        for index, channel in enumerate(("color", "shape", "size"))
    }
    layers = [
        alt.Chart(data(rows)).mark_line(color=GREY, strokeWidth=2, opacity=0.7).encode(x=x, y=y, detail="option:N"),
        alt.Chart(data(rows))
        .mark_point(filled=True, opacity=1, stroke=INK, strokeWidth=1)
        .encode(
            x=x,
            y=y,
            size=alt.Size("moment", type="nominal", scale=marks["size"], legend=None),
            color=alt.Color("moment", type="nominal", scale=marks["color"], legend=alt.Legend(title=None)),
            shape=alt.Shape("moment", type="nominal", scale=marks["shape"], legend=alt.Legend(title=None)),
        ),
        *written(alt.Chart(data(labels)).encode(x=x_at(4), y=y, text=alt.Text("label", type="nominal")), dy=-15),
        # Beside each option's marks, and not across what is written above them.
        alt.Chart(data([{"option": name, "at": stated} for name in names]))
        .mark_tick(color=INK, thickness=2, height=_MARK_HEIGHT)
        .encode(x=x, y=y),
        _stated_label(stated, x, field="at"),
    ]
    title = text("chart.save.title", size=words.quantity(plan.size))
    chart = alt.layer(*layers).properties(width=WIDTH, height=_ROW_HEIGHT * len(names), title=title)
    listed = "; ".join(f"{row['option']}: {row['label']}" for row in labels)
    return Drawing(chart, f"{title}. {listed}", tables.timelines(plan))


def _moments(option: Checkpoints) -> Iterator[dict[str, Any]]:
    found = option.timeline
    at = {"gpus-continue": found.gpus_continue, "written": found.written, "in-s3": found.in_s3}
    for moment in _DRAWN_ORDER:
        reached = at[moment]
        if reached is not None and reached.value > 0:
            yield {
                "option": words.option(option.option),
                "moment": text(f"chart.save.{moment}"),
                "at": reached.value,
            }


def _save_label(option: Checkpoints) -> str:
    if option.cannot:
        return text("verdict.ruled-out")
    found = option.timeline
    return text(
        "chart.save.label",
        wait=words.duration(found.gpus_continue.value if found.gpus_continue else None),
        in_s3=words.duration(found.in_s3.value if found.in_s3 else None),
    )


def time_between_failures(plan: CheckpointPlan) -> Drawing:
    """Time between failures of this job by what each source counts as one, on a logarithmic axis."""
    ticks = _ticks([effect.definition.here.value for effect in plan.failures])
    rows: Rows = [
        {
            "from": ticks[0],
            "counts": text(f"failure.short.{effect.definition.id}"),
            "at": effect.definition.here.value,
            "label": words.duration(effect.definition.here.value),
        }
        for effect in plan.failures
    ]
    x = _duration_axis(ticks, text("chart.failures.x"), field="at")
    y = alt.Y(
        "counts",
        type="nominal",
        sort=[row["counts"] for row in rows],
        title=None,
        scale=alt.Scale(padding=0.5),
        axis=alt.Axis(labelLimit=230),
    )
    bars = alt.Chart(data(rows))
    layers = [
        bars.mark_rule(color=GREY, strokeWidth=2).encode(x=alt.X("from", type="quantitative"), x2=alt.X2("at"), y=y),
        bars.mark_point(filled=True, size=130, opacity=1, color=BLUE, stroke=INK, strokeWidth=1).encode(x=x, y=y),
        *written(bars.encode(x=x, y=y, text=alt.Text("label", type="nominal")), dx=10),
    ]
    gpus = words.count(plan.plan.demand.accelerators)
    title, note = text("chart.failures.title", gpus=gpus), text("chart.failures.note")
    chart = alt.layer(*layers).properties(
        width=WIDTH, height=30 * len(rows), title=alt.TitleParams(title, subtitle=lines([note]))
    )
    listed = "; ".join(f"{row['counts']}: {row['label']}" for row in rows)
    return Drawing(chart, words.sentences(title, note, listed), tables.failures(plan))


def _ticks(drawn: list[float]) -> list[float]:
    """Durations people know, from one well below the least drawn to the one at or above the most.

    What is drawn at the edge would lie on the labels of the other axis.
    """
    low, high = min(drawn, default=1.0) / _FROM_THE_EDGE, max(drawn, default=10.0)
    first = max([tick for tick in _DURATIONS if tick <= low], default=_DURATIONS[0])
    last = min([tick for tick in _DURATIONS if tick >= high and tick > first], default=_DURATIONS[-1])
    return [tick for tick in _DURATIONS if first <= tick <= last]


def _duration_axis(ticks: list[float], title: str, *, field: str) -> Any:
    """A logarithmic axis of seconds whose ticks are written as people say durations."""
    written = "''"
    for tick in ticks:
        written = f"abs(datum.value / {tick!r} - 1) < 0.01 ? '{words.duration(tick)}' : {written}"
    return alt.X(
        field,
        type="quantitative",
        scale=alt.Scale(type="log", domain=[ticks[0], ticks[-1]], nice=False, clamp=True),
        axis=alt.Axis(values=ticks, labelExpr=written, title=title),
    )


def _stated(interval: float, x: Any, *, field: str) -> list[Any]:
    """The interval that was stated, as a dashed line with its name."""
    mark = alt.Chart(data([{field: interval}]))
    return [
        mark.mark_rule(color=INK, strokeDash=[6, 4], strokeWidth=1.5).encode(x=x),
        _stated_label(interval, x, field=field),
    ]


def _stated_label(interval: float, x: Any, *, field: str) -> Any:
    label = alt.TextValue(text("chart.stated", interval=words.duration(interval)))
    return (
        alt.Chart(data([{field: interval}]))
        .mark_text(color=INK, align="center", baseline="bottom", dy=-4, fontSize=11)
        .encode(x=x, y=y_at(0), text=label)
    )
