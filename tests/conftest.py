"""What every test may use: the real embedded S3 server, started once and shared, and made-up AWS settings."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from gpufeed import demo
from gpufeed.facts.errors import GpufeedError

# A shell without job control starts what runs in its background with Ctrl-C ignored, and every child would inherit
# that.  With a handler here, the commands under test start as they do in a terminal.
signal.signal(signal.SIGINT, signal.default_int_handler)

# What is tested is the snapshot: a price file of whoever runs the tests must not change an answer.
os.environ["GPUFEED_PRICES"] = ""

# Of the processes that share a test run ("gw0", "gw1", …), the number of this one.
PROCESS = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))


@pytest.fixture(scope="session")
def demo_folder() -> Path:
    """Kept between runs (and not committed), so that the sample is loaded once."""
    return Path(__file__).parents[1] / ".gpufeed" / f"test-demo-{PROCESS}"


def start_on_free_port(first: int, folder: Path) -> demo.Demo:
    """A server of its own on the first free block of ports: several test runs may share a machine."""
    for port in range(first, first + 200, len(demo.PORTS)):
        try:
            return demo.start(port, folder)
        except GpufeedError as error:
            if error.message_id != "demo.port-in-use":
                raise
    raise AssertionError("no free ports for the embedded server")


@pytest.fixture(scope="session")
def demo_server(demo_folder: Path) -> Iterator[demo.Demo]:
    server = start_on_free_port(18500 + 200 * PROCESS, demo_folder)
    yield server
    server.stop()


@pytest.fixture
def demo_environment(demo_server: demo.Demo, monkeypatch: pytest.MonkeyPatch) -> demo.Demo:
    """S3 clients made inside the test talk to the embedded server."""
    for name in ("AWS_SESSION_TOKEN", "AWS_PROFILE", "AWS_REGION", "AWS_ENDPOINT_URL_S3"):
        monkeypatch.delenv(name, raising=False)
    for name, value in demo_server.environment().items():
        monkeypatch.setenv(name, value)
    return demo_server


@pytest.fixture
def aws_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Made-up keys, and nothing of the settings of whoever runs the tests."""
    for name in ("AWS_PROFILE", "AWS_SESSION_TOKEN", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3", "AWS_REGION"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "example-key")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "example-secret")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "no-config"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "no-credentials"))
