"""Requests/s and client CPU per request of `gpufeed probe` beside a boto3 loop: 4 KiB objects, 16 in flight, in turn.

It starts an embedded server of its own and loads it once.  Only this process's CPU counts, not the server's.  Read the
ratios: single figures vary by tens of percent, and here the server and both clients share the processor.
"""

from __future__ import annotations

import sys
import threading
import time
from itertools import count
from pathlib import Path
from statistics import median

import boto3
from botocore.config import Config

from gpufeed import demo
from gpufeed.observe.probe import probe
from gpufeed.sample import load_many

KEPT = Path(__file__).parents[1] / ".gpufeed" / "bench-probe"
PORT = 19430
BUCKET = "gpufeed-bench"
OBJECTS, OBJECT_BYTES = 5000, 4096
CONCURRENCY = 16
SECONDS = 3.0
ROUNDS = 5  # in turn, so that a busy moment hits both; the first warms the server, of the rest medians are compared
LEAST_RATE_RATIO = 3.0
LEAST_CPU_RATIO = 8.0


def with_boto3(prefix: str) -> tuple[float, float]:
    """Requests/s and CPU seconds per request of CONCURRENCY threads that call get_object."""
    client = boto3.client("s3", config=Config(max_pool_connections=CONCURRENCY))
    listed = client.get_paginator("list_objects_v2").paginate(Bucket=BUCKET, Prefix=prefix)
    keys = [row["Key"] for page in listed for row in page["Contents"]]
    order, done, over = count(), [0] * CONCURRENCY, threading.Event()

    def read(worker: int) -> None:
        while not over.is_set():
            client.get_object(Bucket=BUCKET, Key=keys[next(order) * 7919 % len(keys)])["Body"].read()
            done[worker] += 1

    threads = [threading.Thread(target=read, args=(worker,)) for worker in range(CONCURRENCY)]
    for thread in threads:
        thread.start()
    time.sleep(1.0)  # the same warm-up as the probe's
    before, cpu, began = sum(done), time.process_time(), time.perf_counter()
    time.sleep(SECONDS)
    requests, cpu, seconds = sum(done) - before, time.process_time() - cpu, time.perf_counter() - began
    over.set()
    for thread in threads:
        thread.join()
    return requests / seconds, cpu / requests


def with_gpufeed(prefix: str) -> tuple[float, float]:
    """The same two figures from a probe."""
    (record,) = probe(f"s3://{BUCKET}/{prefix}", concurrency=(CONCURRENCY,), seconds=SECONDS).records
    if record.errors or not record.ops_per_s or not record.client_cpu_seconds_per_request:
        raise SystemExit(f"the probe had {record.errors} errors: nothing to compare")
    return record.ops_per_s, record.client_cpu_seconds_per_request


def main() -> int:
    """Print both clients' figures and their ratios."""
    server = demo.start(PORT, KEPT, sample=False).use()
    try:
        prefix = f"small-{OBJECTS}/"
        loaded = KEPT / f"{OBJECTS}-loaded"
        if not loaded.exists():
            load_many(server.objects(BUCKET), prefix, OBJECTS, OBJECT_BYTES)
            loaded.touch()
        rounds = [(with_boto3(prefix), with_gpufeed(prefix)) for _ in range(ROUNDS)][1:]
    finally:
        server.stop()
    slow_rate, slow_cpu = (median(column) for column in zip(*(slow for slow, _ in rounds), strict=True))
    fast_rate, fast_cpu = (median(column) for column in zip(*(fast for _, fast in rounds), strict=True))
    print(f"boto3    {slow_rate:8,.0f} requests/s  {slow_cpu * 1e6:8,.0f} µs CPU per request")
    print(f"gpufeed  {fast_rate:8,.0f} requests/s  {fast_cpu * 1e6:8,.0f} µs CPU per request")
    rate_ratio, cpu_ratio = fast_rate / slow_rate, slow_cpu / fast_cpu
    print(f"ratio    {rate_ratio:8.1f} × the requests/s (asked for: {LEAST_RATE_RATIO:g})")
    print(f"ratio    {cpu_ratio:8.1f} × less client CPU per request (asked for: {LEAST_CPU_RATIO:g})")
    return 0


if __name__ == "__main__":
    sys.exit(main())
