"""Small hand-made answers of the model, and both languages."""

from __future__ import annotations

from dataclasses import fields

import pytest

from gpufeed.facts.quantity import Quantity
from gpufeed.model.profile import PrefixProfile
from gpufeed.model.recommendation import (
    CheckpointStall,
    Cost,
    Demand,
    OptionAnswer,
    Placement,
    Recommendation,
    Starts,
    Supply,
    Traffic,
)
from gpufeed.model.rules import RuleAnswer
from gpufeed.model.workload import Workload

Three = tuple[float, float, float]


@pytest.fixture
def chinese(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GPUFEED_LANGUAGE", "zh_CN")


def quantity(bounds: Three | None, unit: str) -> Quantity | None:
    return None if bounds is None else Quantity(*bounds, unit, "published", frozenset({"a-source"}))


def answer(  # noqa: PLR0917 — one row of a table
    option: str, verdict: str, rate: Three | None, fed: Three | None, limit: str | None, total: Three | None
) -> OptionAnswer:
    priced = total is not None
    return OptionAnswer(
        option,
        verdict,
        (),
        Supply(option, {}, quantity(rate, "bytes/s"), None, limit),
        quantity(fed, "share"),
        CheckpointStall(**dict.fromkeys(field.name for field in fields(CheckpointStall))),
        Cost(
            currency="USD",
            storage_per_month=None,
            storage=quantity((20, 25, 30), "USD") if priced else None,
            requests=quantity((1, 2, 3), ""),
            idle_gpu=quantity((3000, 5000, 8000) if priced else (0, 0, 0), "USD"),
            total=quantity(total, "USD"),
            beyond_base=quantity(total, "USD"),
            not_priced=() if priced else ("own-storage",),
        ),
    )


@pytest.fixture
def recommendation() -> Recommendation:
    """64 GPUs that ask for 12 GB/s; S3 Standard gives 9 and is recommended, S3 Express One Zone is not priced."""
    demand = Demand(
        **dict.fromkeys(field.name for field in fields(Demand))
        | {
            "accelerators": 64,
            "read_bytes_per_s": quantity((8e9, 12e9, 15e9), "bytes/s"),
            "in_flight": 64,
            "prefixes": 1,
            "checkpoint_mode": "sync",
        }
    )
    options = (
        answer("s3-standard", "recommended", (7e9, 9e9, 12e9), (0.5, 0.75, 1), "request-latency", (3021, 5027, 8033)),
        answer(
            "fsx-for-lustre", "works-but", (2.4e9,) * 3, (0.16, 0.2, 0.3), "file-system-throughput", (1e4, 2e4, 3e4)
        ),
        answer("s3-express-one-zone", "works", (6e10, 9e10, 12e10), (1, 1, 1), "network-card", None),
        answer("s3-files", "ruled-out", (2e8, 3e8, 4e8), (0.01, 0.02, 0.03), "client-limit", (1e5, 1.5e5, 2e5)),
        answer("mountpoint-s3", "works", None, None, None, (3021, 5027, 8033)),
    )
    reads = Placement("training_reads", "s3-standard", None, {}, "model", "s3-standard", "s3-standard")
    return Recommendation(
        Workload("pretraining", 8),
        "us-east-1",
        "USD",
        RuleAnswer("s3-standard", (), ("durable-base", "small-cluster"), "choose"),
        demand,
        options,
        {"training_reads": reads},
        quantity((0.5, 0.75, 1), "share"),
        None,
        Traffic(None, Starts(None, None, None, quantity((1, 1, 1), "count"))),
        options[0].cost,
        quantity((1e12, 1e12, 1e12), "bytes"),
    )


@pytest.fixture
def profile() -> PrefixProfile:
    """Three objects of 10 kB, one of 5 MB, one without bytes; one sub-prefix has a name that would act on a page."""
    found = PrefixProfile("images/")
    found.add_many(
        ["images/cat/1.jpg", "images/cat/2.jpg", "images/<b>\u202e\t/3.jpg", "images/big.tar", "images/cat/empty"],
        [10_000, 10_000, 10_000, 5_000_000, 0],
    )
    return found
