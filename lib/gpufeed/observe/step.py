"""One step of a probe's sweep: so many threads, each with one request in flight, for so many seconds."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Sequence
from itertools import count

from gpufeed.model.histogram import Histogram, merged
from gpufeed.model.measurement import Record
from gpufeed.observe import machine
from gpufeed.observe.budget import Ledger
from gpufeed.observe.objects import RETRIES, RequestFailed
from gpufeed.observe.reading import COLD_BELOW, Target
from gpufeed.observe.runner import Control

WARM_UP_SHARE = 0.2  # of a step's seconds, at most WARM_UP_SECONDS: connections open, nothing is counted
WARM_UP_SECONDS = 1.0
SLICES = 10  # per step, for the series and for what "sustained" means
SUSTAINED_WITHIN = 0.2  # the second half's rate differs from the first half's by at most this share
GIVE_UP_SECONDS = 1.0  # how long Stop waits for requests in flight
TICK = 0.1


def step_seconds(seconds: float) -> float:
    """How long a step that counts for ``seconds`` takes, its warm-up included."""
    return seconds + min(WARM_UP_SECONDS, WARM_UP_SHARE * seconds)


class _Worker:
    """What one thread did in the counted time."""

    def __init__(self) -> None:
        self.latency = Histogram()
        self.slices = [0] * SLICES  # bytes
        self.requests = self.retries = self.throttled = 0
        self.attempts = 0  # warm-up included
        self.failures: Counter[str] = Counter()
        self.cpu = 0.0


class Step:
    """One concurrency of the sweep: that many threads, each with one request in flight."""

    def __init__(
        self, source: Target, concurrency: int, seconds: float, *, order: count[int], ledger: Ledger, control: Control
    ) -> None:
        self._source = source
        self._concurrency = concurrency
        self._seconds = seconds
        self._order = order
        self._ledger = ledger
        self._control = control
        self._over = threading.Event()
        self._all_here = threading.Event()
        self._begin = 0.0
        self.failures: Counter[str] = Counter()

    def run(self, before: float, total: float) -> Record:
        """Read until the time is over; ``before`` [s] of the sweep's ``total`` lie behind, for its progress."""
        workers = [_Worker() for _ in range(self._concurrency)]
        threads = [threading.Thread(target=self._work, args=(worker,), daemon=True) for worker in workers]
        for thread in threads:
            thread.start()
        # None reads before all are there: hundreds of busy threads would keep the others from starting for minutes.
        started = time.perf_counter()
        self._begin = started + step_seconds(self._seconds) - self._seconds
        self._all_here.set()
        self._wait_until(self._begin, threads, started, before, total)
        cpu, at = time.process_time(), time.time()
        self._wait_until(self._begin + self._seconds, threads, started, before, total)
        cpu = time.process_time() - cpu
        lasted = min(max(time.perf_counter() - self._begin, 0.0), self._seconds)
        self._over.set()
        self._join(threads)
        return self._record(workers, lasted, cpu, at)

    def _join(self, threads: list[threading.Thread]) -> None:
        """The next step must not start beside requests of this one; after a stop nobody waits for one that hangs."""
        give_up = float("inf")
        for thread in threads:
            while thread.is_alive() and time.perf_counter() < give_up:
                thread.join(TICK)
                if self._control.stopping.is_set():
                    give_up = min(give_up, time.perf_counter() + GIVE_UP_SECONDS)

    def _wait_until(
        self, moment: float, threads: list[threading.Thread], started: float, before: float, total: float
    ) -> None:
        while (left := moment - time.perf_counter()) > 0 and any(thread.is_alive() for thread in threads):
            if self._control.stopping.wait(min(left, TICK)):
                return
            self._control.report(min(before + time.perf_counter() - started, total), total, str(self._concurrency))

    def _work(self, worker: _Worker) -> None:
        units, read, ledger = self._source.units, self._source.read, self._ledger
        stopping, over, order = self._control.stopping, self._over, self._order
        self._all_here.wait()
        begin, per_slice = self._begin, self._seconds / SLICES
        end = begin + self._seconds
        paid = ledger.budget is not None
        clock, cpu_began = time.perf_counter, None
        while not over.is_set() and not stopping.is_set():
            unit = units[next(order) % len(units)]
            if paid and not ledger.reserve(unit.length):
                break
            asked = clock()
            if asked >= end:
                if paid:
                    ledger.settle(unit.length, 0)
                break  # the thread that says so may be the last to get its turn
            if cpu_began is None and asked >= begin:
                cpu_began = time.thread_time()
            try:
                reply = read(unit)
            except RequestFailed as error:
                worker.attempts += 1 + error.retries
                if paid:
                    ledger.settle(unit.length, 1 + error.retries)
                worker.failures[error.kind] += 1
                worker.throttled += error.throttled
                worker.retries += error.retries
                if not worker.requests and worker.failures.total() > RETRIES:
                    break  # a client that only fails stops asking
                continue
            worker.attempts += 1 + reply.retries
            if paid:
                ledger.settle(unit.length, 1 + reply.retries)
            now = clock()
            place = int((now - begin) / per_slice) if now >= begin else -1
            if 0 <= place < SLICES:
                worker.latency.add(now - asked)
                worker.slices[place] += reply.nbytes
                worker.requests += 1
                worker.retries += reply.retries
                worker.throttled += reply.throttled
        if cpu_began is not None:
            worker.cpu = time.thread_time() - cpu_began

    def _record(self, workers: list[_Worker], lasted: float, cpu: float, at: float) -> Record:
        source = self._source
        for worker in workers:
            self.failures.update(worker.failures)
            self._ledger.requests += worker.attempts
        slices = [sum(worker.slices[n] for worker in workers) for n in range(SLICES)]
        requests, nbytes = sum(worker.requests for worker in workers), sum(slices)
        latency = merged(worker.latency for worker in workers)
        width = self._seconds / SLICES
        whole = int(lasted / width + 1e-9)  # slices that ended: a stop or a budget cuts the last one
        cores = machine.cores()
        return Record(
            op="read",
            bytes_per_s=nbytes / lasted if requests and lasted else None,
            ops_per_s=requests / lasted if requests and lasted else None,
            object_bytes=source.object_bytes,
            concurrency=self._concurrency,
            p50=latency.quantile(0.5),
            p99=latency.quantile(0.99),
            errors=self.failures.total(),
            throttled=sum(worker.throttled for worker in workers),
            at=at,
            seconds=lasted,
            target=source.name,
            nodes=1,
            cache=self._cache(),
            working_set_bytes=float(sum(unit.length for unit in source.units)),
            sustained=whole == SLICES and sustained(slices),
            series=tuple((at + n * width, slices[n] / width) for n in range(whole)),
            requests=requests,
            request_bytes=nbytes / requests if requests else None,
            retries=sum(worker.retries for worker in workers),
            client_cpu_seconds_per_request=cpu / requests if requests else None,
            client_cpu_share=cpu / lasted / cores if lasted else None,
            client_thread_share=sum(w.cpu for w in workers) / lasted if lasted and source.by_thread else None,
            latency=latency,
        )

    def _cache(self) -> str:
        """ "warm" when memory answered; "cold" when every read was the first of its bytes or passed the page cache."""
        if self._source.same_machine:
            return "warm"
        share = self._source.cached()
        if share is not None:
            return "cold" if share < COLD_BELOW else "warm"
        repeated = self._source.client == "pread" or self._ledger.requests > len(self._source.units)
        return "unknown" if repeated else "cold"


def sustained(slices: Sequence[float]) -> bool:
    """Whether the second half got what the first half got, within SUSTAINED_WITHIN."""
    half = len(slices) // 2
    first, second = sum(slices[:half]), sum(slices[-half:])
    return first > 0 and abs(second - first) <= SUSTAINED_WITHIN * first
