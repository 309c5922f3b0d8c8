"""Take away: buttons that write what a panel shows into a folder the user sees."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

from gpufeed import facts as facts_floor
from gpufeed.facts.messages import text
from gpufeed.model.study import Study
from gpufeed.observe.runner import Run
from gpufeed.present import page, take_away
from gpufeed.present.panels.panel import Panel, button, entry, html, row
from gpufeed.present.take_away import KINDS

#: The folder that stands in the field at first: beside the notebook, in JupyterLab's file browser.
FOLDER = "take-away"


class TakeAway(Panel):
    """``buttons`` by kind, one that writes all kinds, and one that asks the record in the folder again.

    ``refused`` says why the study as it stands must not be taken away: the error of a form that cannot be used.
    """

    def __init__(self, study: Study, refused: Callable[[], Exception | None] = lambda: None) -> None:
        super().__init__(study)
        self._facts = facts_floor.load()
        self._refused = refused
        self._said = html()
        self._shown = threading.Event()
        self.folder = entry("take-away.folder", FOLDER)
        self.buttons = {kind: button(text(f"take-away.kind.{kind}"), "") for kind in KINDS}
        self.everything_button = button(text("take-away.everything"), "primary")
        self.recheck_button = button(text("take-away.recheck"), "")
        for kind, one in self.buttons.items():
            one.on_click(lambda _, kind=kind: self.write(kind))
        self.everything_button.on_click(lambda _: self.write())
        self.recheck_button.on_click(lambda _: self.recheck())
        self.children = [
            html(
                page.block(
                    page.STYLE,
                    page.heading(text("take-away.heading")),
                    page.paragraph(text("take-away.note"), "note"),
                )
            ),
            self.folder,
            row(*self.buttons.values(), self.everything_button, self.recheck_button),
            self._error_line,
            self._said,
        ]

    def write(self, *kinds: str) -> Run[str] | None:
        """Write these kinds, or all, beside the main thread; None where the study must not be taken away."""
        self.error = self._refused()
        if self.error is not None:
            self._said.value = ""
            return None
        folder = self.folder.value
        return self._start(lambda: _written(take_away.write(self.study, folder, self._facts, *kinds)))

    def recheck(self) -> Run[str]:
        """Say what has changed since the record in the folder was made."""
        self.error = None
        folder, workload = self.folder.value, self.study.workload
        return self._start(lambda: page.listed(take_away.changed_since(folder, self._facts, workload)))

    def wait(self, seconds: float | None = None) -> bool:
        """True once the result of the last press is shown; False when ``seconds`` passed first."""
        return self._shown.wait(seconds)

    def _start(self, work: Callable[[], str]) -> Run[str]:
        self._shown.clear()
        self._enable(False)
        self._said.value = page.block(page.status(text("take-away.working")))
        return Run(lambda _: work(), on_end=self._ended).start()

    def _ended(self, run: Run[str]) -> None:
        try:
            self._said.value = page.block(page.STYLE, run.result())
        except Exception as error:  # noqa: BLE001 — shown in the panel; the buttons work again
            self._said.value, self.error = "", error
        finally:
            self._enable(True)
            self._shown.set()

    def _enable(self, enabled: bool) -> None:
        for one in (*self.buttons.values(), self.everything_button, self.recheck_button):
            one.disabled = not enabled


def _written(paths: list[Path]) -> str:
    return page.status(text("notebook.written", path=text("present.list-separator").join(map(Path.as_posix, paths))))
