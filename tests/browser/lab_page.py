"""A real JupyterLab and one notebook in it, as a person sees them: what the tests of panels are written with."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.error import URLError
from urllib.parse import urlsplit

from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Locator, Page, Playwright, expect

from gpufeed import lab

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "test-results"
TOKEN = "for-this-test-only"
LOOPBACK = {"127.0.0.1", "localhost", "::1"}
CHROMIUM_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # No name but these leads anywhere.  (Playwright's own interception would do it too, but without Chromium's cache.)
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
]
SECONDS = 1000  # Playwright counts milliseconds
expect.set_options(timeout=60 * SECONDS)  # what is expected comes at once, or late on a busy machine

# JupyterLab's own commands and states are safer to wait on than its looks.
KERNEL_IS_IDLE = "() => window.jupyterapp?.shell.currentWidget?.sessionContext?.session?.kernel?.status === 'idle'"
RUN_ALL = """() => {
    delete window.ran;
    window.jupyterapp.commands.execute('notebook:run-all-cells').finally(() => { window.ran = true; });
}"""
END_KERNELS = "() => window.jupyterapp.serviceManager.sessions.shutdownAll()"
ERROR_OUTPUT = "[data-mime-type='application/vnd.jupyter.error'], [data-mime-type='application/vnd.jupyter.stderr']"


@dataclass(frozen=True)
class Lab:
    """A running JupyterLab whose folder of notebooks is a copy."""

    url: str
    directory: Path


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextmanager
def running_lab(directory: Path, environment: dict[str, str]) -> Iterator[Lab]:
    """JupyterLab as `make lab` starts it, with no browser of its own and none of this user's own settings."""
    notebooks = directory / "notebooks"
    shutil.copytree(ROOT / "notebooks", notebooks, ignore=shutil.ignore_patterns(".ipynb_checkpoints"))
    port = free_port()
    own = {f"JUPYTER_{kind}_DIR": str(directory / kind.lower()) for kind in ("CONFIG", "DATA", "RUNTIME")}
    command = [*lab.command(notebooks / "any.ipynb", port, browser=False), "--LabApp.expose_app_in_browser=True"]
    with (directory / "jupyterlab.log").open("wb") as log:
        process = subprocess.Popen(
            command,
            env={**os.environ, **lab.environment(), **own, **environment, "JUPYTER_TOKEN": TOKEN},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            url = f"http://127.0.0.1:{port}"
            _wait_for(f"{url}/api/status?token={TOKEN}", process, directory / "jupyterlab.log")
            yield Lab(url, notebooks)
        finally:
            process.terminate()
            process.wait(20)


def launch(playwright: Playwright) -> Browser:
    """Debian's Chromium where there is one, Playwright's own build elsewhere (`make browser` sees to either)."""
    found = (shutil.which(name) for name in ("chromium", "chromium-browser", "google-chrome"))
    return playwright.chromium.launch(executable_path=next(filter(None, found), None), args=CHROMIUM_FLAGS)


@dataclass
class NotebookPage:
    """One notebook open in JupyterLab.  ``faults`` collects what a person would call broken, wherever it happens."""

    page: Page
    faults: list[str] = field(default_factory=list)

    @classmethod
    def opened(
        cls, context: BrowserContext, server: Lab, name: str, width: int = 1280, height: int = 1000
    ) -> NotebookPage:
        page = context.new_page()
        page.set_viewport_size({"width": width, "height": height})
        page.set_default_timeout(60 * SECONDS)
        notebook = cls(page)
        page.on("request", lambda request: notebook._check_host(request.url))
        page.on("websocket", lambda socket: notebook._check_host(socket.url))
        page.on("console", notebook._listen)
        page.on("pageerror", lambda error: notebook.faults.append(f"page error: {error}"))
        # A workspace of its own: nothing that another test left open comes back.
        page.goto(f"{server.url}/lab/workspaces/{time.monotonic_ns()}/tree/{name}?token={TOKEN}")
        page.wait_for_function(KERNEL_IS_IDLE)
        return notebook

    def run_all(self, within: float = 120) -> None:
        """Run every cell and wait until the last one is done; a cell that fails is a fault."""
        self.page.evaluate(RUN_ALL)
        self.page.wait_for_function("() => window.ran !== undefined", timeout=within * SECONDS)
        errors = self.page.locator(ERROR_OUTPUT).all_inner_texts()
        self.faults += [f"a cell failed: {error.strip().splitlines()[-1]}" for error in errors]

    def output(self, cell: int) -> Locator:
        """What code cell number ``cell`` (from 0) shows."""
        return self.page.locator(".jp-CodeCell").nth(cell).locator(".jp-OutputArea-output")

    def screenshot(self, name: str, width: int = 1280, height: int = 1000) -> Path:
        """A picture in test-results/, at the size of a window that a person might have."""
        RESULTS.mkdir(exist_ok=True)
        self.page.set_viewport_size({"width": width, "height": height})
        path = RESULTS / f"{name}.png"
        self.page.screenshot(path=path)
        return path

    def close(self) -> None:
        """Leave the notebook and end its kernel, so that none works on beside the next test."""
        if self.page.is_closed():
            return
        self.page.evaluate(END_KERNELS)
        self.page.close()

    def prompts(self) -> list[str]:
        """Dialogs and notices that JupyterLab shows unasked."""
        return self.page.locator(".jp-Dialog, .Toastify__toast").all_inner_texts()

    def _check_host(self, url: str) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("data", "blob") and parts.hostname not in LOOPBACK:
            self.faults.append(f"asked the network for {url}")

    def _listen(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self.faults.append(f"console error: {message.text}")


def write_notebook(path: Path, *cells: str) -> None:
    """A notebook of code cells with no stored output."""
    code = [
        {"cell_type": "code", "id": f"cell-{i}", "metadata": {}, "execution_count": None, "outputs": [], "source": cell}
        for i, cell in enumerate(cells)
    ]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    notebook = {"cells": code, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
    path.write_text(json.dumps(notebook), encoding="utf-8")


def _wait_for(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + 60
    while True:
        try:
            urllib.request.urlopen(url, timeout=5).close()  # noqa: S310 - an address of this machine, made above
        except URLError:
            if process.poll() is not None or time.monotonic() > deadline:
                raise AssertionError(f"JupyterLab did not start:\n{log.read_text()[-2000:]}") from None
            time.sleep(0.1)
        else:
            return
