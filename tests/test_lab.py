"""`make lab`: one start, one stop, and one clear sentence for what is in the way."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from gpufeed import demo, lab
from gpufeed.facts.errors import GpufeedError, InputError


@pytest.fixture
def notebook(tmp_path: Path) -> Path:
    path = tmp_path / "1_choose.ipynb"
    path.write_text('{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}')
    return path


def test_a_port_in_use_is_one_sentence_with_the_next_step(notebook: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(GpufeedError) as raised:
            lab.run(notebook, port, browser=False)
    assert str(raised.value) == (
        f"Port {port} is in use by another program: choose another one with 'make lab PORT={port + 1}'."
    )


@pytest.mark.parametrize("port", [19631, 19639])
def test_a_port_of_the_sample_server_is_refused_before_that_server_starts(
    port: int, notebook: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # It has ten ports: its own, here 19630, and the nine that follow.
    monkeypatch.setattr(lab, "FIRST_NOTEBOOK", notebook)
    monkeypatch.setenv("GPUFEED_DEMO_PORT", "19630")
    monkeypatch.setenv("PORT", str(port))
    monkeypatch.setattr(demo, "connect_or_start", lambda: pytest.fail("the sample server was started"))
    assert lab.main() == 2
    assert capsys.readouterr().err == (
        f"Port {port} is for the sample S3 server, which has 19630 to 19639 (GPUFEED_DEMO_PORT): choose another one "
        "with 'make lab PORT=19640'.\n"
    )


@pytest.mark.parametrize("port", ["", "0", "65536", "-1", "eight", "８８８８"])
def test_a_port_that_is_none_is_refused(
    port: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PORT", port)
    assert lab.main() == 2
    assert capsys.readouterr().err == f"PORT must be a number from 1 to 65535, not {port}: try 'make lab PORT=8890'.\n"


def test_a_missing_notebook_is_refused_before_anything_starts(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="run 'make lab' in the folder of the gpufeed project"):
        lab.run(tmp_path / "gone.ipynb", 8888, browser=False)


def test_the_projects_settings_come_before_the_users(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JUPYTER_CONFIG_PATH", "/users/own")
    first, second = lab.environment()["JUPYTER_CONFIG_PATH"].split(os.pathsep)
    assert Path(first, "jupyter_server_config.json").is_file()
    assert Path(first, "labconfig", "default_setting_overrides.json").is_file()
    assert second == "/users/own"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_stop_signal_ends_jupyterlab_and_the_sample_server(number: int, tmp_path: Path, notebook: Path) -> None:
    sample_port = _free_block(len(demo.PORTS) + 1)
    port = sample_port + len(demo.PORTS)
    (tmp_path / "notebooks").mkdir()
    notebook.rename(tmp_path / lab.FIRST_NOTEBOOK)
    environment = {
        **os.environ,
        "PORT": str(port),
        "GPUFEED_NO_BROWSER": "1",
        "GPUFEED_DEMO_PORT": str(sample_port),
        "GPUFEED_DEMO_DIR": str(tmp_path / "demo"),
    }
    # What is in the server is not what this test is about: the marker says that the sample is loaded.
    unloaded = "demo.load_sample = demo._mark_folders = lambda *a: None"
    command = [sys.executable, "-c", f"import sys; from gpufeed import demo, lab; {unloaded}; sys.exit(lab.main())"]
    with (tmp_path / "log").open("wb") as log:
        process = subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=log, stderr=subprocess.STDOUT)
        try:
            _until(lambda: _answers(port), 120, (tmp_path / "log").read_text)
            _until(lambda: "?token=" in (tmp_path / "log").read_text(), 30, (tmp_path / "log").read_text)
            assert _answers(sample_port)
            process.send_signal(number)
            assert process.wait(30) == 0
        finally:
            process.kill()
    assert not _answers(port)
    assert not _answers(sample_port)
    assert "/lab/tree/1_choose.ipynb?token=" in (tmp_path / "log").read_text()


def _answers(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def _free_block(length: int) -> int:
    return next(first for first in range(18900, 19900, length) if not any(map(_answers, range(first, first + length))))


def _until(ready: Callable[[], bool], seconds: float, otherwise: Callable[[], str]) -> None:
    deadline = time.monotonic() + seconds
    while not ready():
        assert time.monotonic() < deadline, otherwise()
        time.sleep(0.1)
