"""Measurements: what travels through a file, what the headline is, and what a result may be used for."""

from __future__ import annotations

import json
from dataclasses import replace
from math import ceil

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpufeed.facts.errors import InputError
from gpufeed.facts.messages import Sentence
from gpufeed.facts.quantity import Quantity
from gpufeed.model.histogram import RELATIVE_ERROR, Histogram, merged
from gpufeed.model.measurement import (
    Conditions,
    Measurement,
    Record,
    concurrency_needed,
    gpus_fed,
    headline,
)

SECONDS = st.lists(st.floats(1e-6, 1e4), max_size=200)


def filled(values: list[float]) -> Histogram:
    histogram = Histogram()
    for value in values:
        histogram.add(value)
    return histogram


@given(SECONDS, SECONDS)
def test_merging_two_histograms_equals_filling_one_with_both(one: list[float], other: list[float]) -> None:
    assert merged([filled(one), filled(other)]) == filled(one + other)


@given(SECONDS.filter(bool), st.floats(0, 1))
def test_a_percentile_is_within_the_stated_error_of_the_exact_one(values: list[float], q: float) -> None:
    exact = sorted(values)[max(1, ceil(q * len(values))) - 1]
    found = filled(values).quantile(q)
    assert found is not None
    assert abs(found - exact) <= RELATIVE_ERROR * exact


def test_an_empty_histogram_has_no_percentiles() -> None:
    assert Histogram().quantile(0.5) is None


def step(concurrency: int, rate: float | None, **other: object) -> Record:
    fields: dict[str, object] = {"requests": 100, "errors": 0, "sustained": True, "concurrency": concurrency}
    return Record("read", rate, **(fields | other))  # type: ignore[arg-type]  # fields of several types


def result(*records: Record, **other: object) -> Measurement:
    fields: dict[str, object] = {"tool": "gpufeed", "status": "ok", "records": records, "limited_by": "storage"}
    return Measurement(**(fields | other))  # type: ignore[arg-type]  # fields of several types


def test_the_headline_is_the_fastest_sustained_step_without_errors() -> None:
    sweep = (step(1, 100.0), step(4, 300.0), step(16, 400.0, sustained=False), step(64, 500.0, errors=2))
    assert headline(sweep) == sweep[1]
    assert headline(sweep[2:]) == sweep[2]
    assert headline(sweep[3:]) == sweep[3]
    assert headline((step(1, None, requests=0),)) is None


def test_the_number_of_gpus_fed_is_rate_over_demand_bound_by_bound() -> None:
    fed = gpus_fed(result(step(16, 1e9)), Quantity(100e6, 125e6, 200e6, "bytes/s"))
    assert fed is not None
    assert (fed.low, fed.value, fed.high) == (5.0, 8.0, 10.0)


def test_nothing_measured_feeds_an_unknown_number_of_gpus() -> None:
    nothing = result(status="no-measurement")
    assert nothing.read_bytes_per_s is None
    assert gpus_fed(nothing, Quantity.exact(1e6)) is None


def test_the_rates_of_records_add_up_and_writes_are_not_reads() -> None:
    both = result(step(1, 100.0, ops_per_s=2.0), step(1, 50.0, ops_per_s=1.0), Record("write", 1000.0))
    assert (both.read_bytes_per_s, both.read_requests_per_s) == (150.0, 3.0)


def test_the_concurrency_needed_is_the_smallest_that_gave_the_demand() -> None:
    sweep = (step(1, 100.0), step(4, 300.0), step(16, 290.0))
    assert concurrency_needed(result(sweep=sweep), 250.0) == 4
    assert concurrency_needed(result(sweep=sweep), 301.0) is None


STEADY = step(16, 1e9, cache="cold", seconds=60.0, object_bytes=1e6, nodes=1)
ON_S3 = Conditions(option="s3-standard")


@pytest.mark.parametrize(
    ("measurement", "use"),
    [
        (result(STEADY, conditions=ON_S3), "decision"),
        (result(replace(STEADY, sustained=False), conditions=ON_S3), "calibration"),
        (result(replace(STEADY, seconds=5.0), conditions=ON_S3), "calibration"),
        (result(replace(STEADY, cache="unknown"), conditions=ON_S3), "calibration"),
        (result(replace(STEADY, errors=2), conditions=ON_S3), "calibration"),
        (result(replace(STEADY, nodes=2), conditions=ON_S3), "calibration"),
        (result(replace(STEADY, object_bytes=2.1e6), conditions=ON_S3), "calibration"),
        (result(STEADY, conditions=ON_S3, limited_by="client"), "calibration"),
        # The job has 16 requests in flight and a card of 5 GB/s.
        (result(STEADY, conditions=ON_S3, limited_by="unknown"), "decision"),
        (result(replace(STEADY, concurrency=15), conditions=ON_S3, limited_by="unknown"), "calibration"),
        (result(replace(STEADY, concurrency=None), conditions=ON_S3, limited_by="unknown"), "calibration"),
        (result(STEADY, conditions=replace(ON_S3, network_bytes_per_s=5e9), limited_by="network"), "decision"),
        (result(STEADY, conditions=replace(ON_S3, network_bytes_per_s=4e9), limited_by="network"), "calibration"),
        (result(STEADY, conditions=ON_S3, limited_by="network"), "calibration"),
        (result(STEADY, conditions=ON_S3, status="partial"), "calibration"),
        (result(STEADY), "shown-only"),  # of which option is not known
        (result(STEADY, conditions=Conditions(option="fsx-for-lustre")), "shown-only"),
        (result(STEADY, conditions=replace(ON_S3, same_machine=True)), "shown-only"),
        (result(replace(STEADY, cache="warm"), conditions=ON_S3), "shown-only"),
        (result(conditions=ON_S3), "shown-only"),
    ],
)
def test_a_measurement_decides_only_when_it_was_taken_as_the_question_asks(measurement: Measurement, use: str) -> None:
    assert measurement.used_as("s3-standard", 1e6, 1, in_flight=16, network_bytes_per_s=5e9) == use


def test_a_measurement_survives_a_file() -> None:
    record = replace(STEADY, series=((1.0, 2.0), (3.0, 4.0)), latency=filled([0.001, 0.002, 0.002]))
    before = result(
        record,
        sweep=(record, step(64, 2e9)),
        conditions=replace(ON_S3, cores=2.0, budget=0.1, currency="USD"),
        warnings=(Sentence("probe.throttled", {"throttled": 3}),),
        failure=Sentence("probe.nothing-there", {"target": "s3://bucket/"}),
    )
    document = json.loads(json.dumps(before.to_json()))
    assert Measurement.from_json(document) == before
    assert document["warnings"][0]["text"].startswith("The store answered 3 times")


def test_what_only_the_shell_contract_names_is_enough() -> None:
    document = {"tool": "fio", "status": "ok", "records": [{"op": "read", "bytes_per_s": 5.0}], "limited_by": "unknown"}
    assert Measurement.from_json(document).read_bytes_per_s == 5.0


@pytest.mark.parametrize(
    "document",
    [
        {},
        [],
        {"tool": "stopwatch", "status": "ok", "records": [], "limited_by": "unknown"},
        {"tool": "fio", "status": "ok", "records": [{"op": "erase", "bytes_per_s": 1.0}], "limited_by": "unknown"},
        {"tool": "fio", "status": "ok", "records": [{"op": "read"}], "limited_by": "unknown"},
    ],
)
def test_what_is_no_measurement_is_refused_in_one_sentence(document: object) -> None:
    with pytest.raises(InputError) as caught:
        Measurement.from_json(document)  # type: ignore[arg-type]  # wrong on purpose
    assert caught.value.message_id == "measurement.unreadable"


def test_a_file_of_a_later_format_is_refused_with_the_next_step() -> None:
    with pytest.raises(InputError) as caught:
        Measurement.from_json({"schema_version": 99})
    assert caught.value.message_id == "measurement.version"


@pytest.mark.parametrize(("rate", "used_as"), [(12.4e9, "calibration"), (16_777.2e6, "shown-only")])
def test_a_rate_above_the_network_card_is_never_the_ceiling_of_a_storage(rate: float, used_as: str) -> None:
    """16,000 MiB/s from a file system behind a card of 100 Gbit/s was the page cache."""
    found = Measurement(
        "gpufeed",
        "ok",
        (Record("read", rate, object_bytes=1e6, concurrency=1, requests=10, nodes=1),),
        conditions=Conditions(option="fsx-for-lustre", network_bytes_per_s=12.5e9),
    )
    assert found.used_as("fsx-for-lustre", 1e6, 1) == used_as
