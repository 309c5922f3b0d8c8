"""A closed section of a panel: worked out beside the main thread when it is opened, and anew after a change."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Generic, TypeVar

import ipywidgets as widgets

from gpufeed.observe.runner import Control, Progress, Run
from gpufeed.present import page
from gpufeed.present.panels.panel import html, sentence

T = TypeVar("T")


class Section(Generic[T]):
    """``widget`` is shown, ``found`` is what was worked out last; while it is closed nothing is computed.

    ``work`` gets the run's control and returns what ``show`` turns into a page.  A newer :meth:`renew` ends the run
    before, whose result is dropped.
    """

    def __init__(
        self, title: str, work: Callable[[Control], T | None], show: Callable[[T], str], progress: str = ""
    ) -> None:
        self.found: T | None = None
        self._work, self._show, self._progress = work, show, progress
        self._page = html()
        self.widget = widgets.Accordion([self._page], selected_index=None)
        self.widget.set_title(0, title)
        self.widget.observe(lambda _: self._opened(), names="selected_index")
        self._stale = True
        self._run: Run[T | None] | None = None
        self._ready = threading.Event()
        self._turn = threading.Lock()

    @property
    def is_open(self) -> bool:
        return self.widget.selected_index is not None

    def open(self) -> None:
        self.widget.selected_index = 0

    def renew(self) -> None:
        """What it shows has changed: worked out again at once where it is open, else when it is opened."""
        self._stale = True
        self._opened()

    def wait(self, seconds: float | None = None) -> bool:
        """True once what was worked out is shown; False when ``seconds`` passed first."""
        return self._ready.wait(seconds)

    def _opened(self) -> None:
        if not (self.is_open and self._stale):
            return
        with self._turn:
            self._stale = False
            if self._run is not None:
                self._run.stop()
            self._ready.clear()
            self._run = Run(self._work, on_progress=self._report, on_end=self._ended)
            run = self._run
        run.start()

    def _report(self, _: Progress) -> None:
        if self._progress and not self._ready.is_set():
            self._page.value = page.block(page.STYLE, page.paragraph(self._progress, "note"))

    def _ended(self, run: Run[Any]) -> None:
        with self._turn:
            if run is not self._run:
                return
            try:
                found = run.result()
                if found is not None:
                    self.found = found
                    self._page.value = page.block(page.STYLE, self._show(found))
            except Exception as error:  # noqa: BLE001 — shown in the section; the next change is worked out again
                self._page.value = page.block(page.STYLE, page.alert(sentence(error)))
            finally:
                self._ready.set()
