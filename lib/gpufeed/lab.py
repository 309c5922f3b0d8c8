"""``make lab``: the sample S3 server and JupyterLab together, from one start to one stop."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from types import FrameType
from typing import NoReturn

from gpufeed import demo
from gpufeed.facts.errors import GpufeedError, InputError
from gpufeed.facts.messages import text, unknown_language
from gpufeed.facts.place import data_directory

FIRST_NOTEBOOK = Path("notebooks/1_choose.ipynb")
_STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_SECONDS_TO_STOP = 10
_LAST_PORT = 65535


def environment() -> dict[str, str]:
    """The environment JupyterLab runs in: the project's own settings come first (no news, no update checks)."""
    paths = [str(data_directory() / "lab"), os.environ.get("JUPYTER_CONFIG_PATH", "")]
    return {**os.environ, "JUPYTER_CONFIG_PATH": os.pathsep.join(path for path in paths if path)}


def command(notebook: Path, port: int, *, browser: bool) -> list[str]:
    """The command line that opens ``notebook`` in JupyterLab on this machine's loopback ``port``."""
    # --allow-root: containers run as root, and the server listens on loopback only, behind its token.
    return [
        sys.executable,
        "-m",
        "jupyterlab",
        f"--ServerApp.root_dir={notebook.parent.resolve()}",
        f"--LabApp.default_url=/lab/tree/{notebook.name}",  # so that the printed address opens the notebook too
        f"--ServerApp.port={port}",
        "--allow-root",
        *([] if browser else ["--no-browser"]),
    ]


def run(notebook: Path, port: int, *, browser: bool) -> int:
    """Serve until JupyterLab ends or a stop signal comes; returns JupyterLab's exit code.

    Raises GpufeedError in one sentence when the port is taken or the sample server's, or the notebook is not there.
    """
    if not notebook.is_file():
        raise InputError("lab.no_notebook", notebook=notebook)
    # Before the next: they are free until that server starts, and in use by it where it runs already.
    own = demo.ports()
    if port in own:
        raise InputError("lab.port_of_sample", port=port, first=own[0], last=own[-1], other=own[-1] + 1)
    _require_free(port, other=own[-1] + 1 if port + 1 in own else port + 1)
    for number in _STOP_SIGNALS:
        signal.signal(number, _leave)
    with ExitStack() as running:
        print(text("lab.starting"), flush=True)
        running.callback(demo.connect_or_start().stop)
        print(text("lab.started", notebook=notebook, port=port), flush=True)
        # Its own session: Ctrl-C reaches this process alone, which ends JupyterLab without its "shut down? [y/n]".
        jupyterlab = subprocess.Popen(
            command(notebook, port, browser=browser),
            env=environment(),
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )
        running.callback(_end, jupyterlab)
        return jupyterlab.wait()


def main() -> int:
    """Read PORT and GPUFEED_NO_BROWSER from the environment, run, and say in one sentence what went wrong."""
    if wanted := unknown_language():
        print(text("shell.unknown-language", wanted=wanted), file=sys.stderr)
    try:
        port = _port(os.environ.get("PORT", "8888"))
        return run(FIRST_NOTEBOOK, port, browser=not os.environ.get("GPUFEED_NO_BROWSER"))
    except GpufeedError as error:
        print(error, file=sys.stderr)
        return error.exit_code


def _port(wanted: str) -> int:
    port = int(wanted) if wanted.isascii() and wanted.isdigit() else 0
    if not 0 < port <= _LAST_PORT:
        raise InputError("lab.bad_port", port=wanted, last=_LAST_PORT)
    return port


def _require_free(port: int, other: int) -> None:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # a port left a moment ago is free
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            raise GpufeedError("lab.port_in_use", port=port, other=other) from None


def _leave(_number: int, _frame: FrameType | None) -> NoReturn:
    for number in _STOP_SIGNALS:
        signal.signal(number, signal.SIG_IGN)  # one press is enough: a second one must not cut the stop short
    raise SystemExit(0)


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(_SECONDS_TO_STOP)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


if __name__ == "__main__":
    sys.exit(main())
