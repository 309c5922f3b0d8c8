"""One JupyterLab and one Chromium for all browser tests; a page that shows a fault fails its test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from urllib.parse import urlsplit

import pytest
from lab_page import Lab, NotebookPage, launch, running_lab
from playwright.sync_api import BrowserContext, sync_playwright

from gpufeed import demo

OpenNotebook = Callable[..., NotebookPage]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "browser" in item.path.parts:
            item.add_marker("browser")


@pytest.fixture(scope="package")
def lab(tmp_path_factory: pytest.TempPathFactory, demo_server: demo.Demo) -> Iterator[Lab]:
    port = urlsplit(demo_server.endpoint_url).port
    with running_lab(tmp_path_factory.mktemp("lab"), {"GPUFEED_DEMO_PORT": str(port)}) as server:
        yield server


# Not for the session: while Playwright runs, no other test could start an event loop.
@pytest.fixture(scope="package")
def browser() -> Iterator[BrowserContext]:
    """One person's browser: what JupyterLab consists of is loaded once, and then comes from the cache."""
    with sync_playwright() as playwright:
        chromium = launch(playwright)
        yield chromium.new_context()
        chromium.close()


@pytest.fixture
def open_notebook(browser: BrowserContext, lab: Lab) -> Iterator[OpenNotebook]:
    """``open_notebook("1_choose.ipynb", width=…, height=…)`` → NotebookPage; its faults fail the test at the end."""
    opened: list[NotebookPage] = []

    def open_one(name: str, **size: int) -> NotebookPage:
        opened.append(NotebookPage.opened(browser, lab, name, **size))
        return opened[-1]

    yield open_one
    for notebook in opened:
        notebook.close()
    assert [fault for notebook in opened for fault in notebook.faults] == []
