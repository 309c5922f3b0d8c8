"""The embedded S3 server: starts, is found again, stops, and holds exactly the sample."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path

import pytest

from gpufeed import demo
from gpufeed.facts.errors import GpufeedError, InputError
from gpufeed.observe.scan import scan
from gpufeed.observe.store import StoreOptions
from gpufeed.sample import sample_objects


def test_the_sample_is_the_same_on_every_machine() -> None:
    objects = list(sample_objects())
    assert len(objects) == 3027
    assert sum(item.size for item in objects) == 292_760_520
    assert Counter(item.key.split("/")[0] for item in objects) == {
        "images": 3003,
        "video-shards": 16,
        "llm-tokens": 4,
        "checkpoints": 4,
    }
    assert [item.key for item in objects if item.size == 0] == [
        "images/cat/download-failed-0.jpg",
        "images/coral/download-failed-1.jpg",
        "images/crane/download-failed-2.jpg",
    ]


def test_the_server_holds_the_sample_and_a_second_call_finds_it_running(
    demo_server: demo.Demo, demo_folder: Path
) -> None:
    port = int(demo_server.endpoint_url.rsplit(":", 1)[1])
    found = demo.connect_or_start(port, demo_folder)
    assert not found.started
    found.stop()  # leaves a server it did not start alone
    assert found.objects().get("video-shards/shard-000015.tar").nbytes == 8 * 1024 * 1024
    image = next(item for item in sample_objects())
    assert found.objects().get(image.key).nbytes == image.size


def test_a_scan_of_the_sample_finds_exactly_what_was_written(demo_environment: demo.Demo) -> None:
    profile = scan(demo_environment.urls[0], options=StoreOptions()).profile
    assert (profile.objects, profile.bytes) == (3027, 292_760_520)
    assert (profile.zero_byte_objects, profile.folder_markers) == (3, 10)


def test_the_urls_begin_with_the_whole_bucket(demo_server: demo.Demo) -> None:
    assert demo_server.urls[:2] == ("s3://gpufeed-sample/", "s3://gpufeed-sample/images/")


def test_a_port_used_by_something_else_gives_one_sentence_with_the_next_step(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(demo, "SILENT_WITHIN", 0.2)  # it never falls silent
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        port -= max(0, port + len(demo.PORTS) - 65535)
        for call in (demo.start, demo.connect_or_start):
            with pytest.raises(GpufeedError) as caught:
                call(port, tmp_path)
            assert caught.value.message_id == "demo.port-in-use"
            assert "--port" in str(caught.value)


@pytest.mark.parametrize("port", [0, 80, 65530, 70000])
def test_a_port_that_cannot_be_used_is_refused(port: int, tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        demo.start(port, tmp_path)
    assert caught.value.message_id == "demo.bad-port"


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(GpufeedError) as caught:
        demo.start(18900, tmp_path / "file")
    assert caught.value.message_id == "demo.no-directory"
    assert str(tmp_path / "file") in str(caught.value)


@pytest.mark.parametrize(
    ("ending", "before"),
    [
        (signal.SIGTERM, ""),
        (signal.SIGINT, ""),
        (signal.SIGKILL, ""),
        # As a shell without job control starts `gpufeed demo &`.
        (signal.SIGINT, "trap '' INT; "),
        (signal.SIGTERM, "trap '' INT; "),
    ],
)
def test_the_shell_command_prints_what_a_client_needs_and_leaves_nothing_running(
    ending: signal.Signals, before: str, tmp_path: Path
) -> None:
    port = _free_block()
    # The sample is not what this test is about: the marker says that it is loaded.
    unloaded = "demo.load_sample = demo._mark_folders = lambda *a: None"
    script = f"import sys; from gpufeed import demo; {unloaded}; sys.exit(demo.serve({port}))"
    with subprocess.Popen(
        ["/bin/sh", "-c", f'{before}exec "$0" -c "$1"', sys.executable, script],
        env={**os.environ, "GPUFEED_DEMO_DIR": str(tmp_path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout
        lines = [process.stdout.readline().rstrip() for _ in range(10)]
        process.send_signal(ending)
        code = process.wait(20)
    assert lines == [
        f"http://127.0.0.1:{port}",
        "export AWS_ACCESS_KEY_ID=gpufeed-demo",
        "export AWS_SECRET_ACCESS_KEY=gpufeed-demo-is-not-a-secret",
        "export AWS_DEFAULT_REGION=us-east-1",
        f"export AWS_ENDPOINT_URL=http://127.0.0.1:{port}",
        "s3://gpufeed-sample/",
        "s3://gpufeed-sample/images/",
        "s3://gpufeed-sample/video-shards/",
        "s3://gpufeed-sample/llm-tokens/",
        "s3://gpufeed-sample/checkpoints/",
    ]
    assert code == (0 if ending is not signal.SIGKILL else -signal.SIGKILL)
    # The folder's lock files are released and its ports are free only when no server process is left.
    _wait_until_gone(tmp_path)


def _free_block() -> int:
    for port in range(18800, 19800, len(demo.PORTS)):
        if not any(demo._answers(port + offset) for offset in range(len(demo.PORTS))):
            return port
    raise AssertionError("no free ports")


def _wait_until_gone(folder: Path) -> None:
    """Until no process has ``folder`` on its command line (Linux)."""
    deadline = time.monotonic() + 20
    while any(str(folder) in _command(process) for process in Path("/proc").glob("[0-9]*")):
        assert time.monotonic() < deadline, "the server outlived its parent"


def _command(process: Path) -> str:
    try:
        return (process / "cmdline").read_text()
    except OSError:
        return ""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="elsewhere a killed starter leaves its server running")
def test_a_server_whose_starter_was_killed_is_waited_for(tmp_path: Path) -> None:
    """As when one notebook's kernel is shut down and the next notebook starts at once."""
    program = (
        "import sys, time; from gpufeed import demo\n"
        "d = demo.start(int(sys.argv[1]), sys.argv[2], sample=False); print('up', flush=True); time.sleep(60)"
    )
    port = next(port for port in range(18860, 19200, len(demo.PORTS)) if not demo._answers(port))
    for _ in range(2):
        started = subprocess.Popen(
            [sys.executable, "-c", program, str(port), str(tmp_path)], stdout=subprocess.PIPE, text=True
        )
        assert started.stdout is not None
        assert started.stdout.readline() == "up\n"
        started.kill()
        started.wait()
    server = demo.start(port, tmp_path, sample=False)
    server.stop()
    assert demo._free(tmp_path / str(port) / demo.RUNS)
    assert demo._free(tmp_path / str(port) / demo.STARTER)


def test_a_server_that_is_being_stopped_in_order_can_be_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As when a kernel is restarted: its exit handler stops the server while the new kernel looks for one.

    A server is waited for when nobody holds the lock of its starter any more.
    """
    port = _free_block()
    ending = demo.start(port, tmp_path, sample=False)
    process = ending.process
    assert process is not None
    kill, free_before = process.kill, []

    def killed() -> None:
        free_before.append(demo._free(tmp_path / str(port) / demo.STARTER))
        kill()

    monkeypatch.setattr(process, "kill", killed)
    ending.stop()
    assert free_before == [True]


def test_what_the_server_acknowledged_is_served_after_its_end(tmp_path: Path) -> None:
    """It is ended by killing it, so nothing may be left to write then."""
    port = _free_block()
    for written in range(3):
        server = demo.start(port, tmp_path, sample=False)
        objects = server.objects()
        assert [objects.get(f"kept/{number}").nbytes for number in range(written)] == [300_000] * written
        objects.put(f"kept/{written}", bytes(300_000))
        server.stop()


def test_a_port_that_falls_silent_at_once_is_no_other_program(tmp_path: Path) -> None:
    """A process that ends frees its lock and its ports one after the other, in no order."""
    port = _free_block()
    with socket.socket() as other:
        other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        other.bind(("127.0.0.1", port + 2))
        other.listen()
        assert demo._answers(port + 2)
        threading.Timer(0.3, other.close).start()
        demo.start(port, tmp_path, sample=False).stop()
