"""The embedded S3 server with sample data: a real S3 server on this machine, so that everything works offline.

One `weed mini` process (SeaweedFS), bound to the loopback address, with telemetry off and a kept folder.  The sample
is made by a seeded generator, so its sizes are the same on every machine.

The server is ended by killing it.  Told to end in order it mostly takes 2 s, but one time in ten 30 s; killed, its
ports are free within 0.1 s, and what it has acknowledged is on disk and is served again.
"""

from __future__ import annotations

import atexit
import ctypes
import fcntl
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from gpufeed.facts.errors import GpufeedError, InputError
from gpufeed.facts.messages import text
from gpufeed.observe.documents import why
from gpufeed.observe.objects import Objects, RequestFailed
from gpufeed.observe.store import SAMPLE_ACCESS_KEY, StoreOptions, connect, put_folder_marker
from gpufeed.sample import BUCKET, FOLDER_MARKERS, PREFIXES, VERSION, load_sample

DEFAULT_PORT = 18330
REGION = "us-east-1"
# Names no one can mistake for a real key; the server accepts nothing else.
ACCESS_KEY = SAMPLE_ACCESS_KEY
SECRET_KEY = "gpufeed-demo-is-not-a-secret"  # noqa: S105 — as it says
# A bucket of its own tells which sample is loaded, so that the sample bucket holds the sample only.
VERSION_BUCKET = "gpufeed-sample-version"
READY_WITHIN = 30.0  # [s]
GONE_WITHIN = 5.0  # [s] for a server that was killed
SILENT_WITHIN = 2.0  # [s] for the ports of a process that has ended
STARTER, RUNS = "starter.lock", "server.lock"
PORTS = (
    "s3.port",
    "s3.port.grpc",
    "master.port",
    "master.port.grpc",
    "volume.port",
    "volume.port.grpc",
    "filer.port",
    "filer.port.grpc",
    "admin.port",
    "admin.port.grpc",
)


@dataclass
class Demo:
    """A running embedded server: where it is and what a client needs."""

    endpoint_url: str
    access_key: str = ACCESS_KEY
    secret_key: str = SECRET_KEY
    region: str = REGION
    bucket: str = BUCKET
    prefixes: tuple[str, ...] = PREFIXES
    process: subprocess.Popen[bytes] | None = field(default=None, repr=False)
    starter: IO[str] | None = field(default=None, repr=False)  # locked as long as we live

    @property
    def started(self) -> bool:
        """False when it was found running; then ``stop`` leaves it alone."""
        return self.process is not None

    @property
    def urls(self) -> tuple[str, ...]:
        """The whole sample bucket first, then each sample prefix."""
        return (f"s3://{self.bucket}/", *(f"s3://{self.bucket}/{prefix}" for prefix in self.prefixes))

    def environment(self) -> dict[str, str]:
        """The variables with which any S3 client finds the server."""
        return {
            "AWS_ACCESS_KEY_ID": self.access_key,
            "AWS_SECRET_ACCESS_KEY": self.secret_key,
            "AWS_DEFAULT_REGION": self.region,
            "AWS_ENDPOINT_URL": self.endpoint_url,
        }

    def use(self) -> Demo:
        """Make this process's S3 clients talk to the embedded server from now on, until :func:`leave`."""
        # Each of the first four would point past the server or add a token it refuses.
        for name in ("AWS_SESSION_TOKEN", "AWS_PROFILE", "AWS_REGION", "AWS_ENDPOINT_URL_S3", *self.environment()):
            _replaced.setdefault(name, os.environ.pop(name, None))
        os.environ.update(self.environment())
        return self

    def objects(self, bucket: str | None = None, **patience: Any) -> Objects:
        """Its objects, read and written by the native client; ``patience``: timeout and retries of :class:`Objects`."""
        return Objects(
            bucket or self.bucket,
            endpoint_url=self.endpoint_url,
            region=self.region,
            keys=lambda: (self.access_key, self.secret_key, None),
            **patience,
        )

    def stop(self) -> None:
        """End the server and wait until its process has ended; a server that was found running is left alone."""
        process, self.process = self.process, None
        if process is None:
            return
        atexit.unregister(self.stop)
        if self.starter is not None:
            self.starter.close()  # first: from now on whoever looks for this server waits for its end
        process.kill()
        process.wait()


#: The settings of this process that :meth:`Demo.use` replaced; None: there was none.
_replaced: dict[str, str | None] = {}


def leave() -> None:
    """Give this process its own AWS settings back, so that its S3 clients find AWS again."""
    for name, value in _replaced.items():
        os.environ.pop(name, None)
        if value is not None:
            os.environ[name] = value
    _replaced.clear()


def start(
    port: int | None = None,
    directory: str | Path | None = None,
    *,
    sample: bool = True,
    progress: Callable[[int, int], None] | None = None,
) -> Demo:
    """Start an embedded server on ``port`` … ``port + 9`` and load the sample where it is not loaded yet.

    ``progress`` gets (objects loaded, objects of the sample).  Raises GpufeedError when a port is in use, the server is
    not installed or does not come up.
    """
    port = _port(port)
    with _alone(_directory(directory), port, f"-v{VERSION}" if sample else "") as data:
        _wait_for_the_last_one(data)
        return _start(port, data, sample, progress)


def connect_or_start(
    port: int | None = None,
    directory: str | Path | None = None,
    *,
    progress: Callable[[int, int], None] | None = None,
) -> Demo:
    """The embedded server that already runs on ``port`` (default: fixed), else a new one that ends with us."""
    port = _port(port)
    with _alone(_directory(directory), port, f"-v{VERSION}") as data:
        _wait_for_the_last_one(data)
        if _answers(port):
            demo = Demo(_endpoint(port))
            if _loaded_version(demo) == VERSION:
                return demo
            raise GpufeedError("demo.port-in-use", port=port, other=port + 100)
        return _start(port, data, True, progress)


def serve(port: int | None = None, out: IO[str] | None = None, err: IO[str] | None = None) -> int:
    """`gpufeed demo`: run until Ctrl-C or SIGTERM.  Prints what a client needs, then the sample prefixes."""
    out, err = out or sys.stdout, err or sys.stderr
    # Both, whatever we were started with: a script's shell starts `gpufeed demo &` with Ctrl-C ignored, and the server
    # would outlive the script that is ended by it.
    before = {number: signal.signal(number, _interrupt) for number in (signal.SIGINT, signal.SIGTERM)}
    demo: Demo | None = None
    try:
        demo = connect_or_start(port, progress=_progress_line(err))
        for line in (demo.endpoint_url, *(f"export {name}={value}" for name, value in demo.environment().items())):
            print(line, file=out)
        for url in demo.urls:
            print(url, file=out, flush=True)
        if demo.process is None:
            print(text("demo.runs-already", endpoint=demo.endpoint_url), file=err, flush=True)
            threading.Event().wait()
        else:
            print(text("demo.until-interrupt"), file=err, flush=True)
            demo.process.wait()
        raise GpufeedError("demo.ended", endpoint=demo.endpoint_url)
    except KeyboardInterrupt:
        return 0
    finally:
        for number in before:
            signal.signal(number, signal.SIG_IGN)
        if demo:
            demo.stop()
        for number, handler in before.items():
            signal.signal(number, handler)


def _start(port: int, data: Path, sample: bool, progress: Callable[[int, int], None] | None) -> Demo:
    _wait_for_silence(port)
    log = data / "server.log"
    starter, runs = _locked(data / STARTER), _locked(data / RUNS)
    if starter is None or runs is None:
        raise GpufeedError("demo.port-in-use", port=port, other=port + 100)
    # The server takes its lock along; the system frees it when the server has ended, however that came about.
    with log.open("wb") as output, runs:
        process = subprocess.Popen(
            [_server(), "mini", *_flags(port, data)],
            env={**os.environ, "AWS_ACCESS_KEY_ID": ACCESS_KEY, "AWS_SECRET_ACCESS_KEY": SECRET_KEY},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            pass_fds=[runs.fileno()],
            start_new_session=True,  # Ctrl-C in a terminal or a notebook goes to us; the server is stopped in order
            preexec_fn=_end_with_parent(),  # noqa: PLW1509 — one system call, nothing imported or locked after fork
        )
    demo = Demo(_endpoint(port), process=process, starter=starter)
    atexit.register(demo.stop)
    try:
        _wait_until_ready(demo, log)
        if sample and _loaded_version(demo) != VERSION:
            load_sample(demo.objects(), progress)
            _mark_folders(demo)
            demo.objects(VERSION_BUCKET).put("version", VERSION.encode())
    except BaseException:
        demo.stop()
        raise
    return demo


def _mark_folders(demo: Demo) -> None:
    options = StoreOptions(endpoint_url=demo.endpoint_url, region=demo.region)
    client = connect(options, keys=(demo.access_key, demo.secret_key))
    for key in FOLDER_MARKERS:
        put_folder_marker(client, demo.bucket, key)


def _locked(path: Path) -> IO[str] | None:
    """The file, locked until it is closed; None when another one holds it."""
    file = path.open("w")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        return None
    return file


def _free(path: Path) -> bool:
    lock = _locked(path)
    if lock is not None:
        lock.close()
    return lock is not None


def _wait_for_the_last_one(data: Path) -> None:
    """Wait while a server of this folder ends: it may answer for a moment after whoever started it has gone."""
    deadline = time.monotonic() + GONE_WITHIN
    while _free(data / STARTER) and not _free(data / RUNS) and time.monotonic() < deadline:
        time.sleep(0.1)


def _wait_for_silence(port: int) -> None:
    """A process that ends may free its lock some time before its ports; another program's port stays."""
    deadline = time.monotonic() + SILENT_WITHIN
    for used in ports(port):
        while _answers(used):
            if time.monotonic() > deadline:
                raise GpufeedError("demo.port-in-use", port=used, other=port + 100)
            time.sleep(0.05)


def _flags(port: int, data: Path) -> list[str]:
    ports = [f"-{name}={port + index}" for index, name in enumerate(PORTS)]
    return [
        f"-dir={data}",
        "-ip=127.0.0.1",
        "-ip.bind=127.0.0.1",
        "-master.telemetry=false",
        "-webdav=false",
        "-admin.ui=false",
        "-s3.port.iceberg=0",
        "-s3.port.lance=0",
        f"-bucket={BUCKET},{VERSION_BUCKET}",
        *ports,
    ]


def _wait_until_ready(demo: Demo, log: Path) -> None:
    deadline = time.monotonic() + READY_WITHIN
    # Patient: a PUT that is given up here may still be carried out, after the one that follows it was cleared away.
    objects = [demo.objects(bucket, timeout=10, retries=0) for bucket in (BUCKET, VERSION_BUCKET)]
    while not all(_ready(bucket) for bucket in objects):
        if demo.process is None or demo.process.poll() is not None or time.monotonic() > deadline:
            raise GpufeedError("demo.not-ready", log=log)
        time.sleep(0.05)


def _ready(objects: Objects) -> bool:
    """Bytes must come back: the server lists and takes empty objects before its volumes are there to hold any."""
    try:
        objects.put("gpufeed-ready", b"ready")
        came_back = objects.read_text("gpufeed-ready") == "ready"
        objects.delete(["gpufeed-ready"])
    except RequestFailed:
        return False
    return came_back


def _loaded_version(demo: Demo) -> str | None:
    try:
        return demo.objects(VERSION_BUCKET, timeout=2, retries=0).read_text("version")
    except RequestFailed:
        return None


def _answers(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0


def _endpoint(port: int) -> str:
    return f"http://127.0.0.1:{port}"


def ports(port: int | None = None) -> range:
    """Those that a server on ``port`` (default: fixed) has for itself."""
    first = _port(port)
    return range(first, first + len(PORTS))


def _port(port: int | None) -> int:
    given = str(port) if port is not None else os.environ.get("GPUFEED_DEMO_PORT", str(DEFAULT_PORT))
    if not given.isdigit() or not 1024 <= int(given) <= 65535 - len(PORTS):
        raise InputError("demo.bad-port", port=given, last=65535 - len(PORTS))
    return int(given)


def _directory(directory: str | Path | None) -> Path:
    if directory is None:
        cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
        directory = os.environ.get("GPUFEED_DEMO_DIR") or Path(cache) / "gpufeed" / "demo"
    return Path(directory).expanduser().resolve()


def _server() -> str:
    beside = Path(sys.executable).parent / "weed"
    found = str(beside) if beside.is_file() else shutil.which("weed")
    if found is None:
        raise GpufeedError("demo.no-server")
    return found


@contextmanager
def _alone(directory: Path, port: int, version: str) -> Iterator[Path]:
    """The folder of this port and this version of the sample; two processes never start or load it at the same time."""
    data = directory / f"{port}{version}"
    try:
        data.mkdir(parents=True, exist_ok=True)
        lock = (directory / f"{port}.lock").open("w")
    except OSError as error:
        raise GpufeedError("demo.no-directory", directory=directory, reason=why(error)) from None
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield data


def _end_with_parent() -> Callable[[], None] | None:
    """On Linux the kernel ends the server even when this process is killed.

    The kernel watches the *thread* that started the server, so this holds for the main thread only; from another
    thread, the exit handler alone ends it.
    """
    if not sys.platform.startswith("linux") or threading.current_thread() is not threading.main_thread():
        return None
    libc = ctypes.CDLL(None)  # loaded here: between fork and exec nothing may be imported
    set_parent_death_signal = 1
    return lambda: libc.prctl(set_parent_death_signal, signal.SIGKILL)


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt


def _progress_line(err: IO[str]) -> Callable[[int, int], None]:
    shown = -1

    def show(done: int, total: int) -> None:
        nonlocal shown
        tenth = 10 * done // total
        if tenth > shown:
            shown = tenth
            print(text("demo.loading", share=10 * tenth), file=err, flush=True)

    return show
