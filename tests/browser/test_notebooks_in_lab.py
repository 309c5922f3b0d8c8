"""The committed notebooks in a real JupyterLab, run from the first cell to the last, with no network."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import OpenNotebook

NOTEBOOKS = sorted(path.name for path in (Path(__file__).parents[2] / "notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_notebook_runs_and_draws_without_a_fault(open_notebook: OpenNotebook, name: str) -> None:
    notebook = open_notebook(name)
    assert notebook.prompts() == []
    notebook.run_all()
    page = notebook.page
    # A windowed notebook draws what is in view: each output in turn.
    page.evaluate("() => window.jupyterapp.commands.execute('notebook:move-cursor-down')")
    panel = page.locator(".widget-vbox, .widget-tab").first
    panel.scroll_into_view_if_needed()
    assert panel.is_visible()
    notebook.screenshot(f"notebook-{Path(name).stem}-wide")
    notebook.screenshot(f"notebook-{Path(name).stem}-narrow", width=800)
