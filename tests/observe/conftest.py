"""Fixtures of the observe floor: endpoints that end with their test."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from listing_endpoint import Answer, Endpoint, Query


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
