"""Fixtures of the observe floor: made-up AWS settings, and endpoints that end with their test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from listing_endpoint import Answer, Endpoint, Query


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


@pytest.fixture
def serve() -> Iterator[Callable[[Callable[[Query], Answer]], Endpoint]]:
    """``serve(answer)`` starts an endpoint; all are closed after the test."""
    started: list[Endpoint] = []

    def start(answer: Callable[[Query], Answer]) -> Endpoint:
        started.append(Endpoint(answer))
        return started[-1]

    yield start
    for endpoint in started:
        endpoint.close()
