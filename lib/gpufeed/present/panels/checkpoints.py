"""Checkpoints: how large, how often, where, what they cost the GPUs, how long a restore takes, and what to keep."""

from __future__ import annotations

import threading
from itertools import zip_longest
from typing import Any

import traitlets

from gpufeed import facts as facts_floor
from gpufeed.facts.errors import InputError
from gpufeed.facts.messages import text
from gpufeed.facts.units import UNITS
from gpufeed.model.advise import recommend
from gpufeed.model.checkpoint_plan import CheckpointPlan, checkpoint_plan
from gpufeed.model.observed_save import ObservedSave, judge_save
from gpufeed.model.recommendation import Recommendation
from gpufeed.model.study import Study
from gpufeed.model.workload import Workload
from gpufeed.present import charts, page, tables, words
from gpufeed.present.page import Summary
from gpufeed.present.panels.form import Form
from gpufeed.present.panels.panel import Panel, entry, html, row, sentence

#: What bears on checkpoints; every other trait of the job stays as the study has it.
SHOWN = (
    "task",
    "instances",
    "instance_type",
    "model_parameters",
    "optimizer",
    "lora_rank",
    "checkpoint_bytes",
    "checkpoint_writers",
    "checkpoint_mode",
    "checkpoint_interval",
    "checkpoints_kept",
    "restore_target",
    "host_memory_bytes",
    "region",
    "file_operations",
)


class CheckpointsPanel(Panel):
    """``workload`` and ``checkpoints`` follow the widgets; ``observed`` is what a watched save comes to."""

    workload = traitlets.Instance(Workload, allow_none=True)
    recommendation = traitlets.Instance(Recommendation, allow_none=True)
    checkpoints = traitlets.Instance(CheckpointPlan, allow_none=True)
    observed = traitlets.Instance(ObservedSave, allow_none=True)

    def __init__(self, study: Study, *, drawn: bool = True) -> None:
        """``drawn``: at once; a page that shows it later calls :meth:`refresh` then."""
        super().__init__(study)
        self._facts = facts_floor.load()
        self._one_at_a_time = threading.RLock()
        self.form = Form(self._facts, study.workload, self._entered)
        self.save_seconds, self.save_size = entry("panel.save-seconds", ""), entry("panel.save-size", "")
        self.save_floor = entry("panel.save-floor", "")
        self._answer, self._details, self._watched = html(), html(), html()
        self._pictures = [html() for _ in range(3)]
        for picture in self._pictures:
            picture.layout.width = "auto"
        self.children = [
            self.form.some(SHOWN),
            self._error_line,
            self._answer,
            row(*self._pictures, align="flex-start"),
            self._details,
            html(page.block(page.heading(text("panel.observed")), page.paragraph(text("panel.observed-how"), "note"))),
            row(self.save_seconds, self.save_size, self.save_floor),
            self._watched,
        ]
        for field in (self.save_seconds, self.save_size, self.save_floor):
            field.continuous_update = False
            field.observe(lambda _: self._judge(), names="value")
        if drawn:
            self._entered()

    def refresh(self) -> None:
        """Show the job as the study has it now."""
        self.form.fill(self.study.workload)
        self._entered()

    def summary(self) -> Summary:
        """Of the job as it is now, also where nobody has looked at this panel since."""
        if self.recommendation != self.study.recommendation:
            self.refresh()
        return summary(self.checkpoints)

    def _entered(self) -> None:
        """Read the form and answer; what cannot be used is said, and the last answer stays."""
        with self._one_at_a_time:
            try:
                workload = self.form.read()
                recommendation = recommend(
                    workload, self._facts, profile=self.study.profile, measurement=self.study.measurement
                )
                plan = checkpoint_plan(recommendation, self._facts)
                self._show(plan)
            except Exception as error:  # noqa: BLE001 — shown in the panel; the next change is read again
                self.error = error
                return
            self.error = None
            self.study.workload, self.study.recommendation = workload, recommendation
            self.checkpoints, self.recommendation, self.workload = plan, recommendation, workload

    def _show(self, plan: CheckpointPlan) -> None:
        self._answer.value = page.block(
            page.STYLE,
            page.paragraph(headline(plan), "headline"),
            page.listed(tables.checkpoint_sentences(plan)),
        )
        parts = _parts(plan, self._facts)
        self._details.value = page.block(
            *(
                page.heading(title) + (page.listed(shown) if isinstance(shown, list) else page.table(shown))
                for title, shown in parts
            )
        )
        draw = [charts.goodput_over_interval, charts.save_timeline, charts.time_between_failures]
        drawn = draw[-1:] if plan.size is None else draw
        for picture, one in zip_longest(self._pictures, drawn):
            picture.value = one(plan).image if one else ""

    def _judge(self) -> None:
        """What the watched save comes to; empty without its seconds."""
        if not self.save_seconds.value.strip():
            self.observed, self._watched.value = None, ""
            return
        try:
            seconds = _number(self.save_seconds.value, "seconds")
            size, floor = _number(self.save_size.value, "GB"), _number(self.save_floor.value, "MB/s")
            self.observed = judge_save(
                self._facts,
                seconds=seconds or 0.0,
                bytes=size,
                floor_bytes_per_s=floor,
            )
        except InputError as error:
            self.observed = None
            self._watched.value = page.block(page.STYLE, page.alert(sentence(error)))
            return
        self._watched.value = page.block(page.STYLE, page.listed(tables.observed_save(self.observed)))


def headline(plan: CheckpointPlan) -> str:
    """Goodput at the stated interval, where the plan puts checkpoints."""
    lost = plan.placed.lost
    now = None if lost is None else lost.now
    return text(
        "checkpoints.headline",
        goodput=words.share(now.goodput.value if now else None),
        lost=words.quantity(now.lost if now else None),
    )


def _parts(plan: CheckpointPlan, facts: Any) -> list[tuple[str, Any]]:
    """Everything below the saves; without a size, what does not depend on it."""
    always: list[tuple[str, Any]] = [
        (text("panel.failures"), tables.failures(plan)),
        (text("panel.operations"), tables.file_operations(plan, facts)),
    ]
    if plan.size is None:
        return always
    return [
        (text("panel.saves"), tables.saves(plan)),
        (text("panel.goodput"), tables.goodput(plan)),
        (text("panel.timeline"), tables.timelines(plan)),
        (text("panel.restores"), tables.restores(plan)),
        (text("panel.retention"), tables.retention(plan)),
        *always,
        (text("panel.memory-first"), tables.memory_first(plan.memory_first)),
    ]


def summary(plan: CheckpointPlan | None) -> Summary:
    """A checkpoint plan as text and tables."""
    if plan is None:
        return Summary([("", text("panel.no-recommendation"))])
    return Summary(
        [
            (headline(plan), tables.checkpoint_sentences(plan)),
            *_parts(plan, facts_floor.load()),
        ]
    )


def _number(typed: str, unit: str) -> float | None:
    """What was typed, in base units; None for an empty field."""
    plain = typed.strip().replace(",", "")
    if not plain:
        return None
    try:
        return UNITS[unit].to_base(float(plain))
    except ValueError:
        raise InputError("observed.not-a-number", value=typed) from None
