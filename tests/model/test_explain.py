"""Each figure's equation, worked out again from its inputs alone, gives the figure."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from typing import Any

import pytest

from gpufeed.facts import load
from gpufeed.facts.quantity import BASES, Quantity, least, most
from gpufeed.model.advise import recommend
from gpufeed.model.explain import Figure, explain
from gpufeed.model.measurement import Conditions, Measurement, Record
from gpufeed.model.profile import PrefixProfile
from gpufeed.model.recommendation import Recommendation
from gpufeed.model.trace import Known, Made, origin, remembering_facts, remembering_workload
from gpufeed.model.workload import Workload

WORKLOADS: dict[str, dict[str, Any]] = {
    "images": {
        "task": "pretraining",
        "instances": 8,
        "instance_type": "p5.48xlarge",
        "preset": "image-classification",
        "dataset_bytes": 5e12,
        "objects": 50_000_000,
        "run_hours": 100.0,
    },
    "language-model": {
        "task": "pretraining",
        "instances": 64,
        "instance_type": "p5.48xlarge",
        "model_parameters": 7e10,
    },
    "saved-meanwhile": {
        "task": "full-fine-tuning",
        "instances": 17,
        "instance_type": "p4d.24xlarge",
        "model_parameters": 4.05e11,
        "checkpoint_mode": "async",
        "checkpoint_interval": 300.0,
        "restore_target": 60.0,
        "region": "cn-north-1",
    },
    "adapters": {
        "task": "qlora",
        "instances": 1,
        "accelerator": "A100",
        "accelerators_per_instance": 4,
        "interface": "file-paths",
        "data_in_s3": True,
    },
    "small-files": {
        "task": "pretraining",
        "instances": 2,
        "instance_type": "p5.48xlarge",
        "preset": "mlperf-retinanet",
        "interface": "file-paths",
        "file_operations": ["rename"],
        "checkpoint_bytes": 1e9,
    },
    "read-again": {
        "task": "pretraining",
        "instances": 8,
        "instance_type": "p5.48xlarge",
        "preset": "image-classification",
        "dataset_bytes": 1.4e11,
        "objects": 1_280_000,
        "epochs": 10,
        "network_path": "nat",
        "encryption": "sse-kms",
        "region": "us-east-1",
    },
    "three-at-once": {
        "task": "lora",
        "instances": 4,
        "jobs": 3,
        "instance_type": "p5.48xlarge",
        "preset": "image-classification",
        "model_parameters": 7e10,
        "batch_size": 256,
        "dataset_bytes": 5e11,
        "objects": 5_000_000,
        "epochs": 3,
        "host_memory_bytes": 1e11,
        "evaluation_every": 3600,
        "restore_target": 120.0,
        "region": "us-east-1",
    },
}


def workload(name: str) -> Workload:
    return Workload.from_mapping(WORKLOADS[name], load())


def plan(name: str) -> Recommendation:
    return recommend(workload(name), load())


def worked_out(figure: Figure) -> float:
    """The equation with the inputs' middle values."""
    names = {given.name: f"v{i}" for i, given in enumerate(figure.inputs)}
    values = {f"v{i}": given.quantity.value for i, given in enumerate(figure.inputs)}
    equation = re.sub(r"[A-Za-z_][\w.]*", lambda m: names.get(m[0], m[0]), figure.equation)
    for sign, python in (("×", "*"), ("−", "-"), ("^", "**")):
        equation = equation.replace(sign, python)
    constants = {
        "bytes_per_GiB": 2**30,
        "bytes_per_MiB": 2**20,
        "seconds_per_hour": 3600,
        "bytes_per_MB": 10**6,
        "GiB_per_billed_TiB": 1000,
    }
    constants |= {"requests_per_billed_unit": 1000, "requests_to_open_and_close": 2, "objects_per_billed_unit": 10**6}
    functions = {"least": min, "most": max, "ceil": math.ceil, "floor": math.floor, "round": round}
    return float(eval(equation, {"__builtins__": {}}, values | constants | functions))  # noqa: S307 - made by us


@pytest.mark.parametrize("name", WORKLOADS)
def test_every_equation_gives_its_figure(name: str) -> None:
    figures = explain(plan(name), load())
    assert len(figures) > 50
    for figure in figures.values():
        if figure.equation:
            assert worked_out(figure) == pytest.approx(figure.result.value, rel=1e-9), figure
        else:
            assert figure.result.value in (0.0, 1.0), figure


@pytest.mark.parametrize("name", WORKLOADS)
def test_a_plan_on_numbers_that_remember_is_the_same_plan(name: str) -> None:
    again = recommend(remembering_workload(workload(name), "USD"), remembering_facts(load()))
    assert again == plan(name)


def test_the_read_demand_opens_down_to_a_published_fact() -> None:
    figures = explain(plan("images"), load())
    fed = figures["s3-standard.fed"]
    assert fed.equation == "least(read_bytes_per_s / demand.read_bytes_per_s, 1)"
    assert [given.figure for given in fed.inputs] == ["s3-standard.supply.read_bytes_per_s", "demand.read_bytes_per_s"]
    latency = figures["s3-standard.supply.limits.request-latency"]
    assert latency.equation.endswith("× workers_per_accelerator × requests_in_flight_per_worker / request_seconds")
    time = figures["s3-standard.supply.request_seconds"]
    # 30 ms + 100,000 bytes / 90 MB/s
    assert (
        time.equation == "first_byte_latency + demand.object_bytes / per_request_read"
        or "request_bytes" in time.equation
    )
    assert time.result.value == pytest.approx(0.030 + 100_000 / 90e6)
    first_byte = next(given for given in time.inputs if given.name == "first_byte_latency")
    assert first_byte.fact is not None
    assert first_byte.fact.id == "options.s3-standard.first_byte_latency"
    assert first_byte.quantity == load().options["s3-standard"].known("first_byte_latency")
    assert (first_byte.quantity.basis, first_byte.fact.as_of) == (
        "published",
        load().options["s3-standard"]["first_byte_latency"].as_of,
    )


def test_what_was_stated_is_an_input_without_a_fact() -> None:
    size = explain(plan("images"), load())["demand.object_bytes"]
    stated = {given.name: (given.quantity.value, given.quantity.basis, given.fact) for given in size.inputs}
    assert size.equation == "dataset_bytes / objects"
    assert stated == {"dataset_bytes": (5e12, "stated", None), "objects": (50_000_000, "stated", None)}


def test_a_deciding_measurement_has_no_equation_and_the_share_rests_on_it() -> None:
    record = Record(
        "read",
        6.5e9,
        65_000,
        object_bytes=100_000,
        concurrency=512,
        seconds=120.0,
        nodes=8,
        cache="cold",
        sustained=True,
        target="s3://bucket/",
    )
    measured = Measurement("gpufeed", "ok", (record,), "storage", conditions=Conditions(option="s3-standard"))
    found = recommend(workload("images"), load(), measurement=measured)
    figures = explain(found, load(), measurement=measured)
    rate = figures["s3-standard.supply.read_bytes_per_s"]
    assert (rate.equation, rate.inputs, rate.result.basis) == ("", (), "measured")
    assert figures["s3-standard.fed"].inputs[0].figure == "s3-standard.supply.read_bytes_per_s"


def test_a_scanned_prefix_is_said_to_be_measured() -> None:
    profile = PrefixProfile("images/")
    profile.add_many([f"images/{i}" for i in range(100)], [100_000] * 100)
    found = recommend(workload("images"), load(), profile=profile)
    size = explain(found, load(), profile=profile)["demand.object_bytes"]
    assert (size.result.value, size.result.basis) == (100_000, "measured")


def test_a_number_remembers_what_made_it_and_is_the_number() -> None:
    kept = remembering_workload(replace(workload("images"), instances=3), "USD")
    made = kept.instances * 2 + 0.5
    assert made == 6.5
    where_from = origin(made)
    assert isinstance(where_from, Made)
    assert (where_from.operation, where_from.operands) == ("+", (6, 0.5))
    inner = origin(where_from.operands[0])
    assert isinstance(inner, Made)
    assert [origin(operand) for operand in inner.operands][1] is None
    stated = origin(inner.operands[0])
    assert isinstance(stated, Known)
    assert (stated.name, stated.quantity) == ("instances", Quantity.exact(3, "count"))
    assert origin(kept.instances * 1) is stated  # times one is the number itself
    assert kept.instances * 0.0 == 0
    assert origin(6.5) is None


def test_the_least_of_several_remembers_all_it_was_chosen_among() -> None:
    kept = remembering_facts(load())
    slow = kept.options["s3-standard"].known("per_request_read")
    fast = kept.options["s3-express-one-zone"].known("per_request_read")
    for chosen, function in ((least(fast, slow), "least"), (most(fast, slow), "most")):
        where_from = origin(chosen.value)
        assert isinstance(where_from, Made)
        assert (where_from.operation, where_from.operands) == (function, (fast.value, slow.value))


def test_the_capacity_that_waiting_gpus_pay_for_opens_into_named_numbers() -> None:
    """Where price and waiting together cost least: the root of (waiting × 1 byte/s) / (price × rate of one GiB)."""
    waits = {
        "instances": 319,
        "model_parameters": 70.6e9,
        "checkpoint_interval": 1800,
        "run_hours": 240,
        "interface": "posix",
    }
    workload = {"task": "pretraining", "instance_type": "p5.48xlarge", "dataset_bytes": 4e12, "objects": 15_000}
    found = recommend(Workload.from_mapping(workload | waits | {"region": "us-east-1"}, load()), load())
    assert found.placements["checkpoints"].option == "fsx-for-lustre"
    figure = explain(found, load())["fsx-for-lustre.supply.configuration.storage_capacity_gib"]
    assert re.findall(r"(?<![\w.])[\d.]+", figure.equation) == ["0.5"]  # the root; every other number has a name
    assert {"cluster_hour_price", "checkpoint_rate_share", "checkpoint_interval", "efa_capacity_step"} <= {
        given.name for given in figure.inputs
    }


#: Reads on one file system, checkpoints on Express; a share of 50 TB is read.
APART: dict[str, Any] = {
    "task": "pretraining",
    "instances": 8,
    "instance_type": "p5.48xlarge",
    "model_parameters": 7e9,
    "dataset_bytes": 5e13,
    "checkpoint_interval": 600,
    "interface": "any",
    "file_operations": ["append"],
    "data_in_s3": True,
    "run_hours": 200,
    "region": "us-east-1",
}


@pytest.fixture(scope="module")
def apart() -> tuple[Recommendation, dict[str, Figure]]:
    found = recommend(Workload.from_mapping(APART, load()), load())
    return found, explain(found, load())


def test_no_figure_is_said_to_be_itself(apart: tuple[Recommendation, dict[str, Figure]]) -> None:
    _, figures = apart
    for id_, figure in figures.items():
        if re.fullmatch(r"[\w.]+", figure.equation) and figure.inputs[0].figure is not None:
            assert figures[figure.inputs[0].figure].name != figure.name, id_
    # In the bill of the plan as in that of the option: a price for each request.
    amount = figures["cost.lines.copy-gets.amount"]
    assert re.fullmatch(r"\w+ × price_s3_standard_get", amount.equation)
    # A line does not name the sum that it is in, and the cluster has its price from that of its instances.
    assert figures["fsx-for-lustre.cost.lines.copy-gets.amount"].equation == amount.equation
    assert figures["gpu_hour_price"].equation == "on_demand_price × instances"


def test_a_part_of_the_data_keeps_its_range_and_what_it_rests_on(
    apart: tuple[Recommendation, dict[str, Figure]],
) -> None:
    found, figures = apart
    part = found.option("fsx-for-lustre").first_epoch.part
    gets = figures["fsx-for-lustre.cost.lines.copy-gets.quantity"].result
    # Of objects of 268 MB in 32 parts of 8 MiB each
    assert part is not None and gets.basis == part.basis == "assumed"
    assert gets[:3] == pytest.approx([bound / 268e6 * 32 / 1000 for bound in part[:3]])


def test_a_figure_rests_on_the_weakest_of_all_that_goes_into_it(
    apart: tuple[Recommendation, dict[str, Figure]],
) -> None:
    _, figures = apart
    for figure in figures.values():
        for given in figure.inputs:
            basis = given.quantity.basis if given.figure is None else figures[given.figure].result.basis
            assert BASES.index(figure.result.basis) >= BASES.index(basis), figure.id


def test_times_of_saves_stand_beside_the_rates_of_their_own_file_system(
    apart: tuple[Recommendation, dict[str, Figure]],
) -> None:
    found, figures = apart
    reads, saves = found.option("fsx-for-lustre").supply, found.saving("fsx-for-lustre").supply
    assert reads.configuration != saves.configuration
    assert not any(id_.startswith("fsx-for-lustre.stall.") for id_ in figures)
    save = figures["fsx-for-lustre.for-saves.stall.save_seconds"].result
    rate = figures["fsx-for-lustre.for-saves.supply.write_bytes_per_s"].result
    # 7e9 parameters × 14 bytes, at 80 % of the rate
    assert save.value == pytest.approx(98e9 / rate.value / 0.80)
    assert "s3-standard.stall.save_seconds" in figures


def test_a_third_is_written_as_one(apart: tuple[Recommendation, dict[str, Figure]]) -> None:
    _, figures = apart
    assert not [figure.id for figure in figures.values() if re.search(r"\d\.\d{6}", figure.equation)]
    assert any("^ (1 / 3)" in figure.equation for figure in figures.values())


def test_requests_billed_by_the_thousand_name_the_thousand() -> None:
    figures = explain(plan("images"), load())
    billed = [figure for figure in figures.values() if figure.result.unit == "1000 requests" and "/" in figure.equation]
    assert billed
    for figure in billed:
        assert "1000" not in figure.equation


def test_what_loading_costs_at_least_has_no_upper_end_in_any_figure_of_it() -> None:
    """100 M objects are copied into a directory bucket: in 5 h 3 min at the requests/s of one prefix, or faster."""
    job = {"task": "pretraining", "preset": "image-classification", "instances": 8, "instance_type": "p5.48xlarge"}
    copied = Workload.from_mapping(job | {"dataset_bytes": 11e12, "objects": 100_000_000, "epochs": 10}, load())
    plan = recommend(copied, load())
    assert plan.recommended == "s3-express-one-zone"
    of_option = {
        id_.partition(".")[2]: figure.result
        for id_, figure in explain(plan, load()).items()
        if id_.startswith("s3-express-one-zone.")
    }
    open_ended = {name for name, result in of_option.items() if math.isinf(result.high)}
    assert open_ended == {
        "first_epoch.load_seconds",
        "first_epoch.load_cost",
        "cost.loading",
        "cost.lines.loading-storage.quantity",
        "cost.lines.loading-storage.amount",
    }
    # 100 M GET at 5,500/s; half of 11 TB for so long, at USD 0.11 per GiB and month of 730 hours
    seconds, amount = of_option["first_epoch.load_seconds"], of_option["cost.loading"]
    assert seconds.value == pytest.approx(1e8 / 5500)
    assert amount.value == pytest.approx(11e12 / 2**30 / 2 * 1e8 / 5500 / 3600 / 730 * 0.11)
    # The model itself reckons with the most that AWS names.
    assert plan.cost.loading is not None and math.isfinite(plan.cost.loading.high)
