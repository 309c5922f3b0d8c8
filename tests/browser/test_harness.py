"""The harness itself: a real widget in a real JupyterLab, and every fault is seen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab_page import Lab, write_notebook
from playwright.sync_api import expect

if TYPE_CHECKING:
    from conftest import OpenNotebook

SLIDER = """
import ipywidgets
slider = ipywidgets.IntSlider(value=3, max=9, description="GPUs")
shown = ipywidgets.HTML("3 GPUs")
slider.observe(lambda change: setattr(shown, "value", f"{change.new} GPUs"), "value")
ipywidgets.VBox([slider, shown])
"""


def test_a_slider_moved_in_the_browser_reaches_the_kernel_and_comes_back(lab: Lab, open_notebook: OpenNotebook) -> None:
    write_notebook(lab.directory / "slider.ipynb", SLIDER, "6 * 7")
    notebook = open_notebook("slider.ipynb")
    notebook.run_all()
    expect(notebook.output(1)).to_have_text("42")
    expect(notebook.output(0)).to_contain_text("3 GPUs")
    handle = notebook.output(0).get_by_role("slider")
    handle.press("ArrowRight")
    expect(notebook.output(0)).to_contain_text("4 GPUs")
    assert notebook.prompts() == []
    assert notebook.screenshot("slider").stat().st_size > 10_000


def test_a_request_to_the_network_and_a_failed_cell_are_faults(lab: Lab, open_notebook: OpenNotebook) -> None:
    page = '<img src="https://example.com/a.png">'
    write_notebook(lab.directory / "faulty.ipynb", f"from IPython.display import HTML\nHTML({page!r})", "1 / 0")
    notebook = open_notebook("faulty.ipynb")
    notebook.run_all()
    notebook.page.wait_for_function("() => document.querySelector('.jp-OutputArea img')?.complete")
    notebook.close()  # the picture may be asked for again until then
    faults = " ".join(notebook.faults)
    notebook.faults.clear()
    assert "asked the network for https://example.com/a.png" in faults
    assert "a cell failed: ZeroDivisionError" in faults
