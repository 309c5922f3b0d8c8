"""What a probe measured, beside what the GPUs ask."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gpufeed.facts.messages import text
from gpufeed.facts.quantity import Quantity
from gpufeed.model.measurement import Measurement, concurrency_needed, gpus_fed
from gpufeed.model.recommendation import Demand
from gpufeed.present import words
from gpufeed.present.tables.frame import table

if TYPE_CHECKING:
    import pandas as pd


def sweep(measurement: Measurement, demand: Demand | None, *, digits: bool = True) -> pd.DataFrame:
    """One row per concurrency: rate, requests/s, latencies and errors, beside what the GPUs ask.

    Without ``digits`` only what is the same at every run: concurrencies, and rates as :func:`words.bucketed`.
    """
    rate = demand.read_bytes_per_s if demand else None
    asked = words.network_rate(rate.value if rate else None)
    records = [record for record in measurement.sweep or measurement.records if record.op == "read"]
    if not digits:
        return table(
            ("concurrency", "read-rate", "requests-per-second", "demand"),
            (
                (
                    words.count(record.concurrency),
                    words.bucketed(record.bytes_per_s),
                    words.bucketed(record.ops_per_s, "requests/s"),
                    asked,
                )
                for record in records
            ),
        )
    return table(
        ("concurrency", "read-rate", "requests-per-second", "p50", "p99", "errors", "retries", "client-cpu", "demand"),
        (
            (
                words.count(record.concurrency),
                words.network_rate(record.bytes_per_s),
                words.per_second(record.ops_per_s, "requests"),
                words.duration(record.p50),
                words.duration(record.p99),
                words.count(record.errors),
                words.count(record.retries),
                words.share(record.client_cpu_share),
                asked,
            )
            for record in records
        ),
    )


def findings(measurement: Measurement, demand: Demand | None) -> list[str]:
    """What it comes to: how many GPUs it feeds, from which concurrency, what the limit was, what was measured."""
    said = []
    rate = measurement.read_bytes_per_s
    each = demand.read_bytes_per_s_per_accelerator if demand else None
    if rate is not None and demand is not None and demand.read_bytes_per_s is not None and each is not None:
        said.append(_feeds(gpus_fed(measurement, each), words.count(demand.accelerators)))
        enough = concurrency_needed(measurement, demand.read_bytes_per_s.value)
        said.append(
            text("measure.not-fed") if enough is None else text("measure.fed-from", concurrency=words.count(enough))
        )
    if rate is not None:
        said.append(text(f"measure.limited-by.{measurement.limited_by}"))
    conditions = measurement.conditions
    if conditions.cost and conditions.currency:
        said.append(text("measure.cost", cost=words.money(conditions.cost, conditions.currency)))
    return said


def _feeds(fed: Quantity | None, of: str) -> str:
    if fed is not None and fed.high < 1.0:
        return text("measure.feeds-not-one", share=words.quantity_range(fed.named("share")), of=of)
    low, high = (text("present.unknown"),) * 2 if fed is None else (words.number(fed.low), words.number(fed.high))
    return text("measure.feeds", fed=low if low == high else words.between(low, high), of=of)


def series(points: Sequence[tuple[float, float]]) -> pd.DataFrame:
    """Rate over time, as drawn: seconds and bytes/s."""
    return table(("seconds", "bytes-per-second"), points)
