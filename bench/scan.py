"""Client CPU per key and keys/s of `gpufeed scan` beside boto3's own paginator, on one prefix, in one run.

Without arguments it starts an embedded server of its own and loads it once; ``--url`` and ``--endpoint-url`` name
another prefix.  Only this process's CPU counts, not the server's.  Read the ratios: single figures vary by tens of
percent.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import boto3

from gpufeed import demo
from gpufeed.observe.scan import scan
from gpufeed.observe.store import StoreOptions, parse_url
from gpufeed.sample import load_many

KEPT = Path(__file__).parents[1] / ".gpufeed" / "bench-scan"
PORT = 19330
BUCKET = "gpufeed-bench"
LEAST_RATIO = 8.0


@contextmanager
def served(objects: int) -> Iterator[tuple[str, str]]:
    """URL and endpoint of an embedded server that holds ``objects`` tiny objects."""
    server = demo.start(PORT, KEPT, sample=False)
    try:
        server.use()
        prefix = f"many-{objects}/"
        url = f"s3://{BUCKET}/{prefix}"
        done = KEPT / f"{objects}-loaded"
        if not done.exists():
            print(f"loading {objects:,} objects, once …", flush=True)
            load_many(server.objects(BUCKET), prefix, objects, 64)
            done.touch()
        yield url, server.endpoint_url
    finally:
        server.stop()


def with_boto3(url: str, endpoint_url: str | None) -> tuple[int, int]:
    """(objects, bytes) under ``url`` by boto3's paginator."""
    place, objects, size = parse_url(url), 0, 0
    pages = boto3.client("s3", endpoint_url=endpoint_url).get_paginator("list_objects_v2")
    for page in pages.paginate(Bucket=place.bucket, Prefix=place.prefix):
        for row in page.get("Contents", ()):
            objects += 1
            size += row["Size"]
    return objects, size


def with_gpufeed(url: str, endpoint_url: str | None) -> tuple[int, int]:
    """(objects, bytes) under ``url`` by gpufeed, with the whole profile."""
    result = scan(url, options=StoreOptions(endpoint_url))
    assert result.complete, result.incomplete_because  # noqa: S101 — a partial scan is no measurement
    return result.profile.objects, result.profile.bytes


def timed(
    work: Callable[[str, str | None], tuple[int, int]], url: str, endpoint_url: str | None
) -> tuple[float, float]:
    """CPU seconds per key of this process, and keys/s."""
    cpu, began = time.process_time(), time.perf_counter()
    objects, _ = work(url, endpoint_url)
    return (time.process_time() - cpu) / objects, objects / (time.perf_counter() - began)


def compare(url: str, endpoint_url: str | None, rounds: int) -> float:
    """Print both sides and return how many times less CPU per key gpufeed takes (medians of ``rounds``)."""
    found = {work.__name__: work(url, endpoint_url) for work in (with_boto3, with_gpufeed)}  # warms imports and server
    print(f"{found['with_boto3'][0]:,} objects; both found the same: {len(set(found.values())) == 1}")
    runs = {
        work.__name__: [timed(work, url, endpoint_url) for _ in range(rounds)] for work in (with_boto3, with_gpufeed)
    }
    median = {name: [sorted(column)[rounds // 2] for column in zip(*rows, strict=True)] for name, rows in runs.items()}
    for name, (cpu, rate) in median.items():
        print(f"{name:13} {cpu * 1e6:7.1f} µs CPU/key {rate:10,.0f} keys/s")
    cpu_ratio = median["with_boto3"][0] / median["with_gpufeed"][0]
    rate_ratio = median["with_gpufeed"][1] / median["with_boto3"][1]
    print(f"ratio: {cpu_ratio:.1f} × less CPU per key (wanted: ≥ {LEAST_RATIO:g}), {rate_ratio:.1f} × the keys/s")
    return cpu_ratio if len(set(found.values())) == 1 else 0.0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--url", help="s3://bucket/prefix; without it an embedded server is used")
    parser.add_argument("--endpoint-url")
    parser.add_argument("--objects", type=int, default=20_000, help="to load into the embedded server")
    parser.add_argument("--rounds", type=int, default=3)
    asked = parser.parse_args()
    if asked.url:
        ratio = compare(asked.url, asked.endpoint_url, asked.rounds)
    else:
        with served(asked.objects) as (url, endpoint_url):
            ratio = compare(url, endpoint_url, asked.rounds)
    return 0 if ratio >= LEAST_RATIO else 1


if __name__ == "__main__":
    sys.exit(main())
