"""Measure: read a sample of real objects or files and see what it feeds."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ipywidgets as widgets
import traitlets

from gpufeed import facts as facts_floor
from gpufeed.facts.errors import InputError
from gpufeed.facts.messages import Sentence, text
from gpufeed.model.measurement import Measurement
from gpufeed.model.recommendation import Demand
from gpufeed.model.study import Study
from gpufeed.observe.budget import DEFAULT_BUDGET
from gpufeed.observe.documents import why
from gpufeed.observe.probe import CONCURRENCY, SECONDS, probe
from gpufeed.observe.runner import Control, Progress
from gpufeed.observe.store import StoreOptions
from gpufeed.present import charts, page, tables, words
from gpufeed.present.page import Summary
from gpufeed.present.panels.panel import WorkingPanel, button, entry, html, row


class MeasurePanel(WorkingPanel):
    """``measurement`` is the last result; ``start()`` and ``wait()`` do what the Probe button does."""

    finding = "measurement"
    measurement = traitlets.Instance(Measurement, allow_none=True)

    def __init__(self, study: Study, url: str = "", endpoint_url: str = "") -> None:
        super().__init__(study, text("panel.probe"))
        self._facts = facts_floor.load()
        self.url = entry("panel.url-or-path", url)
        self.endpoint = entry("panel.endpoint", endpoint_url)
        self.anonymous = widgets.Checkbox(description=text("panel.anonymous"), indent=False)
        self.concurrency = entry("panel.concurrency", ", ".join(map(str, CONCURRENCY)))
        self.seconds = entry("panel.seconds", f"{SECONDS:g}")
        self.budget = entry("panel.budget", "")
        self.budget.placeholder = f"{DEFAULT_BUDGET:g}"
        self.file = entry("panel.file", "measurement.json")
        self.save_button = button(text("panel.save"), "")
        self.load_button = button(text("panel.load"), "")
        self.save_button.on_click(lambda _: self._guarded(self.save))
        self.load_button.on_click(lambda _: self._guarded(self.load))
        self._answer, self._picture, self._details = html(), html(), html()
        self.children = [
            row(self.url, self.endpoint, self.concurrency, self.seconds, self.budget, self.anonymous),
            html(page.block(page.STYLE, page.paragraph(text("panel.probe-cost"), "note"))),
            row(self.start_button, self.stop_button, self.progress_line),
            self._error_line,
            self._answer,
            self._picture,
            self._details,
            row(self.file, self.save_button, self.load_button),
        ]
        self.measurement = study.measurement
        self.refresh()

    def work(self) -> Callable[[Control], Measurement]:
        url, steps = self.url.value.strip(), _steps(self.concurrency.value)
        seconds, budget = _number("panel.not-seconds", self.seconds.value), _budget(self.budget.value)
        options = StoreOptions(endpoint_url=self.endpoint.value.strip() or None, anonymous=self.anonymous.value)
        return lambda control: probe(url, options, concurrency=steps, seconds=seconds, budget=budget, control=control)

    def progress_sentence(self, progress: Progress) -> str:
        if progress.total is None:
            return text("panel.opening")
        return text(
            "panel.probing",
            concurrency=progress.message,
            done=words.duration(progress.done),
            total=words.duration(progress.total),
            left=words.duration(progress.total - progress.done),
        )

    def show(self, result: Measurement) -> None:
        """Show a measurement and keep it in the study."""
        self.study.measurement = result
        if self.study.workload is not None:
            self.study.recommend(self._facts)  # a measurement says something against what the GPUs ask for
        self.measurement = result
        self.progress_line.value = ""  # how far the reading was says nothing once its result stands here
        self.refresh()

    def refresh(self) -> None:
        """Draw again, as after the workload changed."""
        result = self.measurement
        if result is None:
            return
        demand = demand_of(self.study)
        said = [] if result.failure is None else [str(result.failure)]
        self._answer.value = page.block(
            page.STYLE,
            page.alert(said[0]) if said else "",
            page.listed([*tables.findings(result, demand), *map(str, result.warnings)]),
        )
        drawn = self.study.measurement
        if drawn is None or drawn.read_bytes_per_s is None:
            self._picture.value = self._details.value = ""
            return
        earlier = "" if drawn is result else page.paragraph(text("panel.measured-earlier"), "note")
        self._picture.value = earlier + charts.throughput(drawn, demand).image
        self._details.value = page.block(page.heading(text("panel.sweep")), page.table(tables.sweep(drawn, demand)))

    def save(self) -> Path:
        """Write the measurement to the file named in the panel."""
        if self.measurement is None:
            raise InputError("panel.nothing-to-save")
        path = Path(self.file.value.strip())
        try:
            path = path.expanduser()
            path.write_text(json.dumps(self.measurement.to_json(), indent=1) + "\n", encoding="utf-8")
        except OSError as error:
            raise InputError("panel.file-not-written", file=path, reason=why(error)) from None
        except (RuntimeError, ValueError):  # no such user behind "~", or no file name at all
            raise InputError("panel.file-not-written", file=path, reason=Sentence("os.bad-name")) from None
        self.progress_line.value = page.block(page.paragraph(text("notebook.kept", file=path), "note"))
        return path

    def load(self) -> None:
        """Show the measurement of the file named in the panel."""
        path = Path(self.file.value.strip())
        try:
            document = json.loads(path.expanduser().read_text(encoding="utf-8"))
        except OSError as error:
            raise InputError("panel.file-not-read", file=path, reason=why(error)) from None
        except (ValueError, RuntimeError):  # no JSON, nested too deeply, or no such user behind "~"
            raise InputError("panel.file-not-json", file=path) from None
        if not isinstance(document, dict):
            raise InputError("panel.file-not-json", file=path)
        self.show(Measurement.from_json(document))

    def summary(self) -> Summary:
        """Without a digit that changes from run to run."""
        if self.measurement is None:
            return Summary([("", text("panel.no-measurement"))])
        parts: list[Any] = []
        if self.measurement.failure is not None:
            parts.append(("", str(self.measurement.failure)))
        if self.measurement.conditions.same_machine:
            parts.append(("", text("measure.same-machine")))
        demand = demand_of(self.study)
        return Summary([*parts, (text("panel.sweep"), tables.sweep(self.measurement, demand, digits=False))])


def demand_of(study: Study) -> Demand | None:
    """What the GPUs ask for, where the study has a plan."""
    return study.recommendation.demand if study.recommendation is not None else None


def _steps(entered: str) -> tuple[int, ...]:
    try:
        return tuple(int(part) for part in entered.replace(",", " ").split())
    except ValueError:
        raise InputError("panel.not-concurrencies", entered=entered) from None


def _budget(entered: str) -> float | None:
    return _number("panel.not-money", entered) if entered.strip() else None


def _number(message_id: str, entered: str) -> float:
    try:
        return float(entered)
    except ValueError:
        raise InputError(message_id, entered=entered) from None
