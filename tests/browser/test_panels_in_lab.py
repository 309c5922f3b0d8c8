"""The panels in a real JupyterLab: a widget moved in the browser changes a value in the kernel, and all of it reads."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lab_page import Lab, NotebookPage, write_notebook
from playwright.sync_api import Locator, expect

if TYPE_CHECKING:
    from conftest import OpenNotebook

PREPARE = """
from gpufeed import demo, facts
from gpufeed.model.study import Study
from gpufeed.model.workload import Workload
from gpufeed.present import panels
server = demo.connect_or_start().use()
study = Study(workload=Workload.from_mapping({
    "task": "pretraining", "instances": 8, "instance_type": "p5.48xlarge", "preset": "image-classification",
    "dataset_bytes": 5e12, "objects": 50_000_000, "run_hours": 100.0, "region": "us-east-1"}, facts.load()))
"""
CHART = ".gpufeed-chart"
PLACE = '"s3://gpufeed-sample/images/", server.endpoint_url'
DARK = "() => window.jupyterapp.commands.execute('apputils:change-theme', {theme: 'JupyterLab Dark'})"
LIGHT = "() => window.jupyterapp.commands.execute('apputils:change-theme', {theme: 'JupyterLab Light'})"
# Everything to be seen that sticks out of the cell's output to the right, and every table wider than its place.
STICKS_OUT = """output => {
    const edge = output.getBoundingClientRect().right + 1;
    const seen = '.gpufeed-chart, .widget-text, .widget-dropdown, .widget-button, .lm-TabBar-tab, p, td';
    const out = [...output.querySelectorAll(seen)]
        .filter(e => e.checkVisibility() && e.getBoundingClientRect().right > edge);
    const wide = [...output.querySelectorAll('.scroll')].filter(e => e.scrollWidth > e.clientWidth);
    return [...out, ...wide].map(e => e.tagName + ' ' + e.textContent.slice(0, 40));
}"""
WIDER = "() => [...document.querySelectorAll('.scroll')].filter(e => e.scrollWidth > e.clientWidth).length"
# The colours of the card and of the writing of every chart that is seen: those of the theme.
COLOURS = """output => [...new Set([...output.querySelectorAll('.gpufeed-chart')].filter(e => e.checkVisibility()).map(
    e => getComputedStyle(e.querySelector('rect')).fill + ' ' + getComputedStyle(e.querySelector('text')).fill))]"""
CARDS = {"light": "rgb(255, 255, 255) rgb(26, 26, 26)", "dark": "rgb(43, 43, 43) rgb(238, 238, 238)"}


def panel_of(lab: Lab, open_notebook: OpenNotebook, made: str, name: str) -> tuple[NotebookPage, Locator]:
    write_notebook(lab.directory / f"{name}.ipynb", PREPARE, f"panel = panels.{made}\npanel")
    notebook = open_notebook(f"{name}.ipynb")
    notebook.run_all()
    output = notebook.output(1)
    output.scroll_into_view_if_needed()
    return notebook, output


def field(output: Locator, label: str) -> Locator:
    return output.get_by_label(label, exact=True)


def enter(output: Locator, label: str, value: str) -> None:
    box = field(output, label)
    box.fill(value)
    box.press("Enter")


def looked_at(notebook: NotebookPage, output: Locator, name: str) -> None:
    """Pictures for people, narrow and wide, light and dark; nothing is cut off and every chart takes the theme."""
    page = notebook.page
    for theme, change in (("light", LIGHT), ("dark", DARK)):
        page.evaluate(change)
        expect(page.locator("#jupyterlab-splash")).to_have_count(0)
        for width in (800, 1280):
            notebook.screenshot(f"{name}-{theme}-{width}", width, 2600)
            assert output.evaluate(STICKS_OUT) == []
            assert set(output.evaluate(COLOURS)) <= {CARDS[theme]}
    page.evaluate(LIGHT)


def test_choose_answers_a_moved_widget(lab: Lab, open_notebook: OpenNotebook) -> None:
    notebook, output = panel_of(lab, open_notebook, "ChoosePanel(study)", "choose")
    expect(output).to_contain_text("GPUs fed:")
    before = output.locator(CHART).first.text_content()
    enter(output, "Instances", "64")
    expect(output).to_contain_text("multi-node: With about 16–500 instances, FSx for Lustre comes first.")
    expect(output.locator(CHART).first).not_to_have_text(before or "")
    field(output, "Checkpoints").select_option("frequent")
    expect(output).to_contain_text("frequent-checkpoints:")
    field(output, "hard-link").check()
    expect(output).to_contain_text("It cannot do an operation the job needs: hard-link.")
    enter(output, "Instances", "minus three")
    refused = "Instances must be a number, not minus three."
    expect(output.get_by_role("alert")).to_contain_text(refused)
    enter(output, refused, "64")  # it stands beside its field
    expect(output.get_by_role("alert")).to_have_count(0)
    output.get_by_text("More fields").click()
    enter(output, "Epochs", "3")
    expect(output.get_by_role("alert")).to_have_count(0)
    output.get_by_text("More fields").click()
    looked_at(notebook, output, "choose")
    field(output, "hard-link").uncheck()
    field(output, "Checkpoints").select_option(label="not stated")
    enter(output, "Instances", "8")
    output.get_by_text("What else would pay").click()
    expect(output).to_contain_text("Other ways to save could not be compared: the size of a checkpoint is not known.")
    looked_at(notebook, output, "choose-pays")
    output.get_by_text("What else would pay").click()
    output.get_by_text("What would change the answer").click()
    expect(output).to_contain_text("when Instances goes from 8 to 17.")
    looked_at(notebook, output, "choose-flips")
    output.get_by_text("What would change the answer").click()
    output.get_by_text("How each number comes about").click()
    output.get_by_text("What the job asks for").click()
    output.get_by_text("Read rate the GPUs ask for").first.click()
    link = output.get_by_role("link", name="MLPerf Storage v1.0 and v2.0 workload files").first
    expect(link).to_have_attribute("href", re.compile("^https://"))
    looked_at(notebook, output, "choose-figures")


def test_choose_takes_the_plan_away_with_the_keyboard_alone(lab: Lab, open_notebook: OpenNotebook) -> None:
    notebook, output = panel_of(lab, open_notebook, "ChoosePanel(study)", "take-away")
    folder = field(output, "Folder")
    expect(folder).to_have_value("take-away")
    folder.focus()
    notebook.page.keyboard.press("Tab")
    expect(output.get_by_role("button", name="Report (HTML)")).to_be_focused()
    notebook.page.keyboard.press("Enter")
    expect(output.get_by_role("status")).to_have_text("Written: take-away/report.html")
    # It lies beside the notebook, where JupyterLab's file browser shows it, and reads from the disk alone.
    notebook.page.evaluate("() => window.jupyterapp.commands.execute('filebrowser:refresh')")
    expect(notebook.page.locator(".jp-DirListing-item", has_text="take-away").first).to_be_visible()
    report = notebook.page.context.browser.new_page(offline=True)  # type: ignore[union-attr]
    asked: list[str] = []
    report.on("request", lambda request: asked.append(request.url))
    report.goto((lab.directory / "take-away" / "report.html").as_uri())
    expect(report.get_by_role("heading", name="Does the storage feed the GPUs?")).to_be_visible()
    # Supply, cost and flip points: this job says nothing of the size of a checkpoint.
    expect(report.locator("figure svg")).to_have_count(3)
    report.set_viewport_size({"width": 800, "height": 1000})
    assert report.evaluate(WIDER) == 0
    assert [url for url in asked if not url.startswith("file:")] == []
    report.close()
    output.get_by_role("button", name="Decision record (JSON)").click()
    expect(output.get_by_role("status")).to_have_text("Written: take-away/decision.json")
    output.get_by_role("button", name="What has changed since the record?").click()
    expect(output).to_contain_text("Nothing it rests on has changed.")
    enter(output, "Folder", "take-away.ipynb/x")
    output.get_by_role("button", name="Terraform").click()
    expect(output.get_by_role("alert")).to_contain_text("take-away.ipynb/x could not be written")
    enter(output, "Folder", "elsewhere")
    output.get_by_role("button", name="Terraform").click()
    expect(output.get_by_role("status")).to_have_text("Written: elsewhere/main.tf")
    expect(output.get_by_role("alert")).to_have_count(0)
    folder.scroll_into_view_if_needed()
    looked_at(notebook, output, "take-away")


def test_inspect_scans_and_stops_and_says_what_is_wrong(lab: Lab, open_notebook: OpenNotebook) -> None:
    notebook, output = panel_of(lab, open_notebook, f"InspectPanel(study, {PLACE})", "inspect")
    enter(output, "Prefix (s3://…)", "not a prefix")
    output.get_by_role("button", name="Scan").click()
    expect(output.get_by_role("alert")).to_contain_text("is not an S3 address")
    enter(output, "Prefix (s3://…)", "s3://gpufeed-sample/images/")
    output.get_by_role("button", name="Scan").click()
    expect(output).to_contain_text("3,003 objects, ")
    expect(output.get_by_role("alert")).to_have_count(0)
    expect(output.get_by_role("button", name="Scan")).to_be_enabled()
    expect(output.get_by_role("button", name="Stop")).to_be_disabled()
    expect(output).to_contain_text("images/zebra/")
    looked_at(notebook, output, "inspect")


def test_measure_probes_stops_saves_and_loads(lab: Lab, open_notebook: OpenNotebook) -> None:
    notebook, output = panel_of(lab, open_notebook, f"MeasurePanel(study, {PLACE})", "measure")
    enter(output, "Concurrencies", "1, 4, 16")
    enter(output, "Seconds per step", "30")
    output.get_by_role("button", name="Probe").click()
    stop = output.get_by_role("button", name="Stop")
    expect(stop).to_be_enabled()
    expect(output).to_contain_text("left")
    stop.click()
    expect(output.get_by_role("button", name="Probe")).to_be_enabled()
    enter(output, "Seconds per step", "0.5")
    output.get_by_role("button", name="Probe").click()
    expect(output).to_contain_text("99th percentile")
    expect(output).to_contain_text("This is this machine's own memory or server, not a storage tier")
    expect(output.locator(CHART)).to_have_count(1)
    output.get_by_role("button", name="Save").click()
    output.get_by_role("button", name="Load").click()
    expect(output.get_by_role("alert")).to_have_count(0)
    looked_at(notebook, output, "measure")


def test_checkpoints_answer_a_moved_widget_and_judge_a_watched_save(lab: Lab, open_notebook: OpenNotebook) -> None:
    notebook, output = panel_of(lab, open_notebook, "CheckpointsPanel(study)", "checkpoints")
    expect(output).to_contain_text("The size of a checkpoint is not known")
    enter(output, "Model parameters (billions)", "70")
    expect(output).to_contain_text("One checkpoint is 980 GB.")
    expect(output.locator(CHART)).to_have_count(3)
    field(output, "Checkpoint mode").select_option("async")
    expect(output).to_contain_text("Asynchronous, after every 30 min of training")
    enter(output, "Ranks that save", "65")
    expect(output.get_by_role("alert")).to_contain_text("65 ranks cannot save: there are 64 accelerators.")
    enter(output, "Ranks that save", "")
    expect(output.get_by_role("alert")).to_have_count(0)
    enter(output, "Seconds it took", "1200")
    expect(output).to_contain_text("how many bytes were saved?")
    enter(output, "Its size (GB)", "13")
    expect(output).to_contain_text("One stream to S3 brings about that much")
    field(output, "Task").scroll_into_view_if_needed()
    looked_at(notebook, output, "checkpoints")


def test_the_studio_holds_all_four_under_one_headline(lab: Lab, open_notebook: OpenNotebook) -> None:
    notebook, output = panel_of(lab, open_notebook, f"StudioPanel(study, {PLACE})", "studio")
    headline = output.locator(".headline").first
    expect(headline).to_have_text(re.compile(r"GPUs fed: \d"))
    costs = output.locator("table", has_text="Idle GPUs").first
    before = costs.text_content() or ""
    output.get_by_role("tab", name="Inspect").click()
    output.get_by_role("button", name="Scan").click()
    expect(output).to_contain_text("3,003 objects, ")
    expect(costs).not_to_have_text(before)
    output.get_by_role("tab", name="Measure").click()
    enter(output, "Seconds per step", "0.5")
    output.get_by_role("button", name="Probe").click()
    expect(output).to_contain_text("99th percentile")
    output.get_by_role("tab", name="Checkpoints").click()
    expect(output).to_contain_text("How often this job fails")
    output.get_by_role("tab", name="Choose").click()
    expect(output).to_contain_text("A measurement is shown only")
    looked_at(notebook, output, "studio")


def test_fields_are_named_for_screen_readers(lab: Lab, open_notebook: OpenNotebook) -> None:
    _, output = panel_of(lab, open_notebook, "ChoosePanel(study)", "labels")
    for label in ("Task", "Instances", "Instance type", "Region", "Dataset (GB)"):
        expect(field(output, label)).to_be_visible()
