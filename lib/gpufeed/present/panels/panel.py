"""What all panels have in common: an error line, and work that runs beside the kernel's main thread."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import ipywidgets as widgets
import traitlets

from gpufeed.facts.errors import GpufeedError
from gpufeed.facts.messages import text
from gpufeed.model.study import Study
from gpufeed.observe.runner import Control, Progress, Run, SingleFlight
from gpufeed.present import page
from gpufeed.present.page import Summary


class Panel(widgets.VBox):  # type: ignore[misc]  # ipywidgets ships no types
    """A form, and what came of it.  ``error`` is the last exception, shown as one sentence; None when all is well."""

    error = traitlets.Instance(Exception, allow_none=True)

    def __init__(self, study: Study) -> None:
        super().__init__(layout=widgets.Layout(width="100%"))
        self.study = study
        self._error_line = html()
        self.observe(self._show_error, names="error")

    def summary(self) -> Summary:
        """What the panel shows, as plain tables and text."""
        raise NotImplementedError

    def __repr__(self) -> str:
        # Widgets print all their children, model ids included: different at every run.
        return f"<gpufeed {type(self).__name__}>"

    def _show_error(self, _: Any = None) -> None:
        self._error_line.value = page.block(page.STYLE, page.alert(sentence(self.error))) if self.error else ""


class WorkingPanel(Panel):
    """A panel whose button starts long work: one run at a time, with progress and Stop."""

    finding = ""  # the trait that holds what the work found

    def __init__(self, study: Study, start_label: str) -> None:
        super().__init__(study)
        self.start_button = button(start_label, "primary")
        self.stop_button = button(text("panel.stop"), "")
        self.stop_button.disabled = True
        self.progress_line = html()
        self.run: Run[Any] | None = None
        self._flight = SingleFlight()
        self._shown = threading.Event()
        self.start_button.on_click(lambda _: self.start())
        self.stop_button.on_click(lambda _: self.stop())

    def work(self) -> Callable[[Control], Any]:
        """What to do, from what is entered.  Raises GpufeedError when that cannot be used."""
        raise NotImplementedError

    def show(self, result: Any) -> None:
        """Take the result and show it."""
        raise NotImplementedError

    def progress_sentence(self, progress: Progress) -> str:
        """How far the work is, how fast it goes, how much longer it takes."""
        raise NotImplementedError

    def start(self) -> Run[Any] | None:
        """Start the work, or return the run under way; None when what is entered cannot be used."""
        if self.run is not None and self.run.running:
            return self.run
        self.error = None
        try:
            work = self.work()
        except Exception as error:  # noqa: BLE001 — shown in the panel; the button works again
            self.error = error
            return None
        self._shown.clear()
        self.start_button.disabled, self.stop_button.disabled = True, False
        self.run = self._flight.start(Run(work, on_progress=self._progress, on_end=self._ended))
        return self.run

    def press(self) -> Summary:
        """What the button does, waited for and summed up.  Raises the error of work that found nothing."""
        before = getattr(self, self.finding)
        if self.start() is not None:
            try:
                self.wait()
            except KeyboardInterrupt:  # an interrupted cell: nobody waits any more, and a probe may cost money
                self.stop()
                raise
        if self.error is not None and getattr(self, self.finding) is before:
            raise self.error
        return self.summary()

    def stop(self) -> None:
        """Ask the work to end; what it has is kept."""
        if self.run is not None:
            self.run.stop()

    def wait(self, seconds: float | None = None) -> bool:
        """True once the run has ended and its result is shown; False when ``seconds`` passed first."""
        return self._shown.wait(seconds)

    def _guarded(self, action: Callable[[], Any]) -> None:
        """What a button does at once: an error is shown in the panel."""
        self.error = None
        try:
            action()
        except Exception as error:  # noqa: BLE001 — shown in the panel; the button works again
            self.error = error

    def _progress(self, progress: Progress) -> None:
        self.progress_line.value = page.block(page.paragraph(self.progress_sentence(progress), "note"))

    def _ended(self, run: Run[Any]) -> None:
        try:
            self.show(run.result())
        except Exception as error:  # noqa: BLE001 — shown in the panel; the button works again
            self.error = error
        finally:
            self.start_button.disabled, self.stop_button.disabled = False, True
            self._shown.set()


def sentence(error: Exception | None) -> str:
    """An error as one sentence; one that was not foreseen says so, without its details."""
    if error is None:
        return ""
    return str(error) if isinstance(error, GpufeedError) else text("panel.unforeseen", kind=type(error).__name__)


def html(value: str = "") -> widgets.HTML:
    return widgets.HTML(value, layout=widgets.Layout(width="calc(100% - 4px)"))  # 4px: its margins


def entry(label_id: str, value: str) -> widgets.Text:
    """A text field with its label."""
    return widgets.Text(
        value=value,
        description=text(label_id),
        style={"description_width": "160px"},
        layout=widgets.Layout(width="460px", max_width="calc(100% - 4px)"),
    )


def button(label: str, style: str) -> widgets.Button:
    return widgets.Button(description=label, tooltip=label, button_style=style, layout=widgets.Layout(width="auto"))


def row(*children: Any, align: str = "center") -> widgets.Box:
    return widgets.Box(list(children), layout=widgets.Layout(flex_flow="row wrap", width="100%", align_items=align))
