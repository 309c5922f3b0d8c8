"""Reads a sample of a prefix's real objects, or of a path's files, over a sweep of concurrencies."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import count

from gpufeed.facts.errors import GpufeedError, InputError
from gpufeed.facts.messages import Sentence
from gpufeed.model.measurement import BEYOND_CARD, Conditions, Measurement, Record, headline
from gpufeed.observe import machine
from gpufeed.observe.budget import DEFAULT_BUDGET, FREE, Ledger, RequestPrices, prices_of
from gpufeed.observe.objects import RETRIES
from gpufeed.observe.reading import Target, open_target
from gpufeed.observe.runner import Control
from gpufeed.observe.step import Step, step_seconds
from gpufeed.observe.store import StoreOptions

CONCURRENCY = (1, 4, 16, 64)
SECONDS = 5.0  # per step of the sweep
SEED = 1
MOST_CONCURRENCY = 1024
BUSY = 0.85  # of the cores, of one core under the interpreter lock, or of the network card: then that is the limit
STILL_RISES = 1.1  # more concurrency gave this much more: the storage was not at its limit yet


def probe(
    target: str,
    options: StoreOptions | None = None,
    *,
    concurrency: Sequence[int] = CONCURRENCY,
    seconds: float = SECONDS,
    budget: float | None = None,
    prices: RequestPrices | None = None,
    option: str | None = None,
    seed: int = SEED,
    control: Control | None = None,
) -> Measurement:
    """Measure reads from ``s3://bucket/prefix``, ``file://…`` or a path; nothing is written.

    Each concurrency of the sweep reads for ``seconds`` after a short warm-up.  No request is sent that could pass the
    ``budget`` (None: DEFAULT_BUDGET where reading is priced).  ``prices`` None takes the published ones; where none are
    known no cost is stated, and a budget is refused.  ``option`` says which option of the catalogue is measured where
    the address does not tell.

    What cannot be reached or read gives a measurement with status "failed" or "no-measurement" and its ``failure``;
    a stop gives status "partial".  Raises InputError for input that cannot be used.
    """
    _check(concurrency, seconds, budget)
    control = control or Control()
    try:
        source = open_target(target, options or StoreOptions(), seed, control.stopping)
    except InputError:
        raise
    except GpufeedError as error:
        return _nothing("failed", Sentence(error.message_id, error.parameters))
    prices = prices or _prices(source)
    if budget is not None and prices is None:
        raise InputError("probe.not-priced")
    limit = DEFAULT_BUDGET if budget is None and prices and prices.get > 0 else budget
    ledger = Ledger(limit, prices or FREE, attempts=1 + RETRIES)
    ledger.spend_lists(source.list_requests)
    conditions = _conditions(source, option, limit, prices)
    if not source.units:
        stopped = Sentence("probe.stopped-early", {"target": source.name}) if control.stopping.is_set() else None
        return _nothing("no-measurement", stopped or _why_nothing(source), conditions)
    sweep, failures = _swept(source, concurrency, seconds, ledger, control)
    spent = None if prices is None else max(ledger.spent, 0.0)
    return _measurement(
        source,
        sweep,
        failures,
        replace(conditions, requests_sent=ledger.requests, cost=spent),
        complete=len(sweep) == len(concurrency),
        stopped=control.stopping.is_set(),
        ledger=ledger,
    )


def _conditions(source: Target, option: str | None, budget: float | None, prices: RequestPrices | None) -> Conditions:
    """What is known of a measurement before its first request."""
    return Conditions(
        option=option or source.option,
        client=source.client,
        host=machine.host(),
        cores=machine.cores(),
        network_bytes_per_s=machine.network_bytes_per_s(),
        same_machine=source.same_machine,
        sampled_objects=source.objects,
        unreadable_keys=source.unreadable_keys,
        budget=budget,
        currency=prices.currency if prices else None,
    )


def _swept(
    source: Target, concurrency: Sequence[int], seconds: float, ledger: Ledger, control: Control
) -> tuple[tuple[Record, ...], Counter[str]]:
    """One record for each concurrency that brought something, and failures by kind.

    A stop, a spent budget, and a step of nothing but failures end the sweep: more concurrency would only repeat them.
    """
    sweep: list[Record] = []
    failures: Counter[str] = Counter()
    order = count()
    whole = len(concurrency) * step_seconds(seconds)
    for position, in_flight in enumerate(concurrency):
        if control.stopping.is_set() or ledger.refused:
            break
        step = Step(source, in_flight, seconds, order=order, ledger=ledger, control=control)
        record = step.run(position * step_seconds(seconds), whole)
        failures.update(step.failures)
        if record.requests:
            sweep.append(record)
        elif step.failures:
            break
    return tuple(sweep), failures


def _prices(source: Target) -> RequestPrices | None:
    if source.region is not None:
        return prices_of(source.option or "", source.region)
    return FREE if source.same_machine or source.list_requests == 0 else None


def limited_by(best: Record, sweep: Sequence[Record], conditions: Conditions) -> str:
    """What held the rate back, as far as there is evidence: "client", "network", "storage" or "unknown"."""
    if (best.client_cpu_share or 0.0) >= BUSY or (best.client_thread_share or 0.0) >= BUSY:
        return "client"
    if conditions.same_machine:
        return "unknown"  # server and client share the processor
    rate = best.bytes_per_s or 0.0
    card = conditions.network_bytes_per_s
    if card is not None and BUSY * card <= rate <= BEYOND_CARD * card:
        return "network"
    fewer = [r.bytes_per_s or 0.0 for r in sweep if (r.concurrency or 0) < (sweep[-1].concurrency or 0)]
    levelled = bool(fewer) and (sweep[-1].bytes_per_s or 0.0) < STILL_RISES * max(fewer)
    return "storage" if levelled or best.throttled else "unknown"


def _measurement(
    source: Target,
    sweep: tuple[Record, ...],
    failures: Counter[str],
    conditions: Conditions,
    *,
    complete: bool,
    stopped: bool,
    ledger: Ledger,
) -> Measurement:
    best = headline(sweep)
    if best is None:
        if failures:
            kind = failures.most_common(1)[0][0]
            return _nothing("failed", Sentence(f"probe.failed.{kind}", {"target": source.name}), conditions)
        why = "probe.budget-too-small" if ledger.refused else "probe.stopped-early" if stopped else "probe.too-short"
        return _nothing("no-measurement", Sentence(why, {"target": source.name}), conditions)
    limit = limited_by(best, sorted(sweep, key=lambda record: record.concurrency or 0), conditions)
    warnings = [*_warnings(source, best, sweep, failures, limit)]
    if Measurement("gpufeed", "ok", (best,), conditions=conditions).beyond_network and not source.same_machine:
        warnings.append(Sentence("probe.beyond-network"))
    if ledger.refused:
        warnings.append(Sentence("probe.budget-reached", {"budget": ledger.budget, "currency": ledger.prices.currency}))
    if stopped:
        warnings.append(Sentence("probe.stopped"))
    return Measurement(
        tool="gpufeed",
        status="ok" if complete and not stopped and not ledger.refused else "partial",
        records=(best,),
        limited_by=limit,
        warnings=tuple(warnings),
        sweep=sweep,
        conditions=conditions,
    )


def _warnings(
    source: Target, best: Record, sweep: Sequence[Record], failures: Counter[str], limit: str
) -> list[Sentence]:
    notes = []
    if source.same_machine:
        notes.append(Sentence("probe.same-machine"))
    elif best.cache == "warm":
        notes.append(Sentence("probe.page-cache"))
    if limit == "client":
        notes.append(Sentence("probe.client-limited"))
    if limit == "network":
        notes.append(Sentence("probe.network-limited"))
    if limit == "unknown" and not source.same_machine and best.concurrency == max(r.concurrency or 0 for r in sweep):
        notes.append(Sentence("probe.still-rising", {"concurrency": best.concurrency}))
    if not best.sustained:
        notes.append(Sentence("probe.not-sustained"))
    if failures:
        notes.append(Sentence("probe.errors", {"errors": failures.total(), "kinds": ", ".join(sorted(failures))}))
    throttled = sum(record.throttled or 0 for record in sweep)
    if throttled:
        notes.append(Sentence("probe.throttled", {"throttled": throttled}))
    if source.unreadable_keys:
        notes.append(Sentence("probe.unreadable-keys", {"keys": source.unreadable_keys}))
    if source.archived:
        notes.append(Sentence("probe.archived", {"objects": source.archived}))
    return notes


def _nothing(status: str, why: Sentence, conditions: Conditions | None = None) -> Measurement:
    return Measurement(
        "gpufeed", status, failure=why, warnings=(), conditions=conditions or Conditions(client="gpufeed")
    )


def _why_nothing(source: Target) -> Sentence:
    if source.unreadable_keys:
        return Sentence("probe.nothing-but-unreadable", {"target": source.name, "keys": source.unreadable_keys})
    if source.archived:
        return Sentence("probe.nothing-but-archived", {"target": source.name, "objects": source.archived})
    there = "probe.nothing-there" if source.list_requests else "probe.nothing-in-path"
    return Sentence(there, {"target": source.name})


def _check(concurrency: Sequence[int], seconds: float, budget: float | None) -> None:
    if not concurrency or not all(1 <= n <= MOST_CONCURRENCY for n in concurrency):
        raise InputError("probe.bad-concurrency", most=MOST_CONCURRENCY)
    if not 0 < seconds <= 3600:
        raise InputError("probe.bad-seconds")
    if budget is not None and not 0 <= budget < float("inf"):
        raise InputError("probe.bad-budget")
