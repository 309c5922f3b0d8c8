"""The first pass over the data and the later ones, worked by hand."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from examples import configured_at

from gpufeed.facts import load
from gpufeed.facts.errors import InputError
from gpufeed.facts.quantity import Quantity
from gpufeed.model import formulas
from gpufeed.model.advise import recommend
from gpufeed.model.epochs import later_epochs
from gpufeed.model.fsx import GIB, Need, cheapest
from gpufeed.model.job import job_of
from gpufeed.model.recommendation import LaterEpochs, Recommendation
from gpufeed.model.supply import supply
from gpufeed.model.workload import Workload
from gpufeed.present import words
from gpufeed.present.contract import recommendation as as_json

CASES = Path(__file__).parents[1] / "cases"
# One node whose 8 accelerators read 1,000 objects of 1 MB each second: 8 GB/s, far more than S3 Files gives (3 GiB/s).
HUNGRY = {
    "task": "pretraining",
    "instances": 1,
    "instance_type": "p5.48xlarge",
    "preset": "image-classification",
    "samples_per_second_per_accelerator": 1000,
    "workers_per_accelerator": 100,
    "dataset_bytes": 1e11,
    "objects": 100_000,
    "prefixes": 10,
    "interface": "file-paths",
    "region": "us-east-1",
}


def plan(**traits: Any) -> Recommendation:
    return recommend(Workload.from_mapping(HUNGRY | traits, load()), load())


def later(found: Recommendation, option: str) -> LaterEpochs:
    answer = found.option(option).later_epochs
    assert answer is not None
    return answer


def warnings(found: Recommendation) -> set[str]:
    return {warning.id for warning in found.warnings}


def reasons(found: Recommendation) -> dict[str, Any]:
    return {reason.id: reason for reason in found.placements["training_reads"].reasons}


def test_one_node_asks_for_nothing_again_and_many_until_each_has_seen_everything() -> None:
    assert formulas.share_asked_again(1, 9) == 0.0
    # Two nodes, two more epochs: 1/2 and 1/4 are new to a node
    assert formulas.share_asked_again(2, 2) == pytest.approx((1 / 2 + 1 / 4) / 2)
    assert formulas.share_asked_again(8, 9) == pytest.approx(sum((7 / 8) ** k for k in range(1, 10)) / 9)


def test_epochs_grow_faster_as_the_caches_fill() -> None:
    # Storage gives a third of what is asked: epochs of two nodes take 3/2, then full speed, full speed
    assert formulas.slowdown_as_caches_fill(3.0, 2, 3) == pytest.approx((3 / 2 + 1 + 1) / 3)
    assert formulas.slowdown_as_caches_fill(3.0, 1, 3) == 1.0
    assert formulas.slowdown_as_caches_fill(0.5, 8, 3) == 1.0


def test_what_fits_in_memory_is_read_from_there_after_the_first_epoch() -> None:
    found = plan(epochs=10)
    files = later(found, "s3-files")
    # 100 GB in 2,048 GiB, a quarter of it at worst 550 GB
    assert (files.served_by, files.asked_again.value, files.asked_again.high) == ("host-memory", 0.0, 0.0)
    assert files.fed is not None and files.fed.low == 1.0
    assert "in-host-memory-alone" in warnings(found)
    answer = found.option("s3-files")
    assert answer.fed == files.fed
    # The first epoch meets the client limit of 3 GiB/s: 40 % of 8 GB/s
    assert answer.first_epoch.fed is not None and answer.first_epoch.fed.value == pytest.approx(3 * GIB / 8e9)
    assert answer.first_epoch.seconds is not None
    assert answer.first_epoch.seconds.value == pytest.approx(1e11 / (3 * GIB))


def test_an_object_client_keeps_nothing() -> None:
    found = plan(epochs=10)
    for option in ("s3-standard", "s3-express-one-zone", "mountpoint-s3"):
        again = later(found, option)
        assert (again.served_by, again.asked_again.value) == (option, 1.0)
        assert again.fed == found.option(option).fed == found.option(option).first_epoch.fed


def test_memory_that_may_be_enough_widens_the_range_only() -> None:
    # 250 to 800 GB of 1 TB are free for files, 500 in the middle: 300 GB fit, but not for sure.
    found = later(plan(epochs=10, dataset_bytes=3e11, host_memory_bytes=1e12), "s3-files")
    assert (found.asked_again.low, found.asked_again.value, found.asked_again.high) == (0.0, 0.0, 1.0)
    assert found.fed is not None and found.fed.basis == "assumed"
    assert found.fed.value == 1.0 and found.fed.low == pytest.approx(3 * GIB / 24e9)
    larger = later(plan(epochs=10, dataset_bytes=6e11, host_memory_bytes=1e12), "s3-files")
    assert (larger.served_by, larger.asked_again.low, larger.asked_again.value) == ("s3-files", 0.0, 1.0)


def test_the_working_set_is_what_has_to_fit() -> None:
    large = {"epochs": 10, "dataset_bytes": 5e12}
    assert later(plan(**large), "s3-files").served_by == "s3-files"
    assert later(plan(**large, working_set_bytes=1e11), "s3-files").served_by == "host-memory"
    with pytest.raises(InputError) as refused:
        plan(dataset_bytes=1e11, working_set_bytes=2e11)
    assert refused.value.message_id == "workload.more-read-than-there-is"


def test_without_stated_epochs_the_run_makes_those_that_its_length_allows() -> None:
    # 8 GB/s for 25 s, 200 GB, are two epochs of 100 GB; the memory of one node holds them.
    found, stated = plan(run_hours=25 / 3600), plan(epochs=2)
    assert later(found, "s3-files") == later(stated, "s3-files")
    assert later(found, "s3-files").served_by == "host-memory"
    said = {warning.id: warning.parameters for warning in found.warnings}
    assert said["epochs-of-run-hours"]["epochs"] == pytest.approx(2)
    for one in (found, stated):
        cost = one.option("s3-files").cost
        assert cost is not None and cost.beyond_base == stated.option("s3-files").cost.beyond_base
    assert plan(epochs=1).option("s3-files").later_epochs is None


def test_of_data_whose_size_nobody_stated_nothing_is_taken_to_be_read_again() -> None:
    found = plan(dataset_bytes=None, objects=None)
    assert later(found, "s3-files").served_by == "s3-files"
    assert "epochs-of-run-hours" not in warnings(found)


def test_unknown_memory_is_said_and_not_guessed() -> None:
    many = {"dataset_bytes": 5e12, "objects": 5_000_000}
    unknown = plan(epochs=10, instance_type="g7.48xlarge", interface="posix", **many)
    assert unknown.recommended == "fsx-for-lustre"
    assert later(unknown, "fsx-for-lustre").served_by == "fsx-for-lustre"
    assert "host-memory-unknown" in warnings(unknown)
    assert "host-memory-unknown" not in warnings(plan(epochs=10, interface="posix"))


def test_many_nodes_ask_again_for_what_others_have_read() -> None:
    found = later(plan(epochs=3, instances=8), "s3-files")
    # 7/8 in the second epoch, 49/64 in the third
    assert found.asked_again.value == pytest.approx((7 / 8 + 49 / 64) / 2)
    assert found.served_by == "host-memory"


def test_the_length_of_a_run_follows_from_its_epochs() -> None:
    found = plan(epochs=90)
    # 90 × 100 GB at 8 GB/s = 1,125 s
    told = next(warning for warning in found.warnings if warning.id == "run-hours-of-epochs").parameters
    assert told["of_epochs"].value == pytest.approx(1125 / 3600)
    assert "default-run-hours" not in warnings(found)


def test_hours_that_contradict_the_epochs_are_told() -> None:
    assert "epochs-against-hours" in warnings(plan(epochs=90, run_hours=100))
    assert "epochs-against-hours" not in warnings(plan(epochs=90, run_hours=1125 / 3600))


def test_no_more_is_counted_as_read_than_the_hours_hold() -> None:
    # An hour at 8 GB/s reads 28.8 TB, which are 288 epochs of 100 GB in 100,000 objects.
    possible, beyond = plan(epochs=288, run_hours=1), plan(epochs=1e6, run_hours=1)
    assert not {"epochs-beyond-hours", "epochs-against-hours"} & warnings(possible)
    [told] = [warning for warning in beyond.warnings if warning.id == "epochs-beyond-hours"]
    assert told.grave and told.parameters["possible"] == pytest.approx(288)
    assert told.parameters["of_epochs"].value == pytest.approx(1e6 * 1e11 / 8e9 / 3600)
    assert "count 288, as many as the run reads" in words.warning(told)
    for found in (possible, beyond):
        [gets] = [line for line in found.option("s3-standard").cost.lines if line.id == "gets"]
        assert gets.quantity is not None and gets.quantity.value * 1000 == pytest.approx(288 * 100_000)
    for option in beyond.options:
        same = possible.option(option.option).cost.total
        assert option.cost.total is not None and same is not None
        assert option.cost.total.value == pytest.approx(same.value)


def test_epochs_that_only_the_fastest_of_a_range_can_read_are_taken_as_stated() -> None:
    # 4 × 8 H100 ask for 6.38 to 15.6 GB/s: in an hour 7.7 to 18.75 epochs of 3 TB.
    unsure = {"samples_per_second_per_accelerator": None, "instances": 4, "dataset_bytes": 3e12, "objects": 30_000_000}
    some, many = plan(**unsure, epochs=10, run_hours=1), plan(**unsure, epochs=90, run_hours=1)
    assert not {"epochs-beyond-hours", "epochs-against-hours"} & warnings(some)
    asked = many.demand.read_bytes_per_s
    assert asked is not None
    [told] = [warning for warning in many.warnings if warning.id == "epochs-beyond-hours"]
    assert told.parameters["possible"] == pytest.approx(asked.high * 3600 / 3e12)


def test_ten_epochs_over_a_hundred_thousand_objects_are_a_million_gets() -> None:  # case 054
    requests = plan(epochs=10, run_hours=100).option("s3-standard").cost.requests
    # 0.40 for 1,000,000 GETs and 0.005 for 1,000 LISTs of 1,000 keys
    assert requests is not None and requests.value == pytest.approx(0.405, rel=1e-12)


def test_idle_gpus_are_paid_for_in_the_first_epoch_and_not_in_those_from_memory() -> None:
    cost = plan(epochs=10, run_hours=10).option("s3-files").cost
    fed = 3 * GIB / 8e9
    # One of ten hours at 40 %: it lasts 1/0.4 as long, at 55.04 USD
    assert cost.idle_gpu is not None and cost.idle_gpu.value == pytest.approx((1 / fed - 1) * 55.04)


def test_the_first_read_from_lustre_comes_from_s3() -> None:  # case 048
    case = json.loads((CASES / "048" / "input.json").read_text())
    traits = {"objects": case["objects"], "dataset_bytes": 5e10, "interface": "posix", "host_memory_bytes": 1e9}
    found = plan(**traits)
    answer = found.option("fsx-for-lustre")
    assert found.recommended == "fsx-for-lustre" and answer.first_epoch.limited_by == "hydrate"
    assert answer.first_epoch.read_bytes_per_s is not None and answer.first_epoch.seconds is not None
    # 750 objects/s of 1 MB, slower than 1.05 GB/s: 67 s, and not the tier's fault
    assert answer.first_epoch.read_bytes_per_s.value == pytest.approx(750e6)
    assert answer.first_epoch.seconds.value == pytest.approx(50_000 / 750)
    assert answer.first_epoch.read_bytes_per_s.basis == "assumed"
    # Apart: the steady state is fed in full, and one epoch of it takes 50 GB / 8 GB/s.
    assert answer.fed is not None and answer.fed.value == 1.0
    # Nor is the file system larger for it than 8,000 opens and 8 GB/s a second need.
    need = Need(holds_bytes=5e10, read_bytes_per_s=8e9, opens_per_s=8000, clients=1, efa=True)
    steady = cheapest(need, "us-east-1", load())
    assert steady is not None and answer.supply.configuration == steady.settings
    said = words.reason(reasons(found)["first-epoch-before-hydrate"])
    assert "hsm_restore" in said and "keep the file system between jobs" in said and "do not buy a faster one" in said


def test_one_reader_waits_for_each_object_of_the_first_epoch() -> None:  # case 048: hours
    alone = {"instance_type": "p5.4xlarge", "workers_per_accelerator": 1, "objects": 50_000, "dataset_bytes": 5e10}
    alone |= {"host_memory_bytes": 1e9}  # nothing is found in memory again
    first = plan(**alone, interface="posix").option("fsx-for-lustre").first_epoch
    # 30 ms + 1 MB / 100 MB/s each, at worst / 50 MB/s: slower than the 103 objects/s of 28,800 GiB are at the 7,200 GiB
    # that bring two file servers, which one client without EFA needs for 1 GB/s.
    assert first.seconds is not None
    assert first.seconds.value == pytest.approx(50_000 * (0.03 + 1 / 100))
    assert first.seconds.high == pytest.approx(50_000 * (0.03 + 1 / 50))


@pytest.mark.parametrize(
    ("size", "rate"),
    # 2,400 objects/s of 100 KB; from 291,667 bytes on it would be 700 MB/s, but such files are not imported
    [(100_000, 2400 * 100_000), (10_000, 2400 * 10_000)],
)
def test_s3_files_imports_small_files_in_the_first_epoch(size: int, rate: float) -> None:
    found = plan(dataset_bytes=size * 100_000.0, objects=100_000, data_in_s3=True)
    first = found.option("s3-files").first_epoch
    assert first.limited_by == "import"
    assert first.read_bytes_per_s is not None and first.read_bytes_per_s.value == pytest.approx(rate)
    assert plan().option("s3-files").first_epoch.limited_by == "client-limit"


def test_a_file_system_is_sized_for_the_epochs_it_serves() -> None:
    long, short = plan(epochs=10_000, interface="posix"), plan(epochs=2, interface="posix")
    # All later epochs come from memory: the smallest does.  Half of two epochs would wait for it.
    assert long.option("fsx-for-lustre").supply.configuration["storage_capacity_gib"] == 1200
    assert short.option("fsx-for-lustre").supply.configuration["storage_capacity_gib"] > 1200


def test_a_small_job_is_copied_once_and_never_needs_lustre() -> None:  # case 056
    case = json.loads((CASES / "056" / "input.json").read_text())
    expected = json.loads((CASES / "056" / "expected.json").read_text())
    job = {
        "task": "lora",
        "instances": case["instances"],
        "instance_type": "p5.48xlarge",
        "model_parameters": 7e9,
        "dataset_bytes": case["dataset_bytes"],
        "objects": case["files"],
        "checkpoint_bytes": case["adapter_bytes"],
        "checkpoint_interval": case["save_every_min"] * 60,
        "region": "us-east-1",
    }
    for epochs in (None, 3):
        found = recommend(Workload.from_mapping(job | {"epochs": epochs}, load()), load())
        assert found.recommended == found.placements["checkpoints"].option == "s3-standard"
        assert "copy-once" in reasons(found)
        copy = found.copy_once
        assert copy is not None and copy.fits is True and copy.fed_at_least is not None
        # 80 requests under way; a file of 50 MB is 5.96 parts of 8 MiB, so 6 of 8.33 MB on the mean:
        # 80 × 8.33 MB / (30 ms + 8.33 MB / 90 MB/s)
        each = 2e9 / case["files"] / 6
        assert copy.seconds is not None
        assert copy.seconds.value == pytest.approx(2e9 * (0.03 + each / 90e6) / (80 * each))
        assert copy.capacity is not None and copy.capacity.value == 8 * 3800e9
        s3, lustre = found.option("s3-standard").cost, found.option("fsx-for-lustre").cost
        assert s3.storage_per_month is not None and lustre.storage_per_month is not None
        assert round(s3.storage_per_month.value, 3) == expected["S3_per_month_at_0.023"]
        assert lustre.storage_per_month.value - s3.storage_per_month.value == pytest.approx(
            expected["FSx_per_month_at_0.145"]
        )


def test_drives_read_at_least_their_random_reads() -> None:
    cheap = {"interface": "s3-api", "epochs": 10, "gpu_hour_price": 1}
    copy = plan(**cheap).copy_once
    assert copy is not None and copy.fed_at_least is not None
    # 4,400,000 × 4,096 bytes = 18 GB/s against 8 GB/s
    assert copy.fed_at_least.value == 1.0
    hungrier = plan(**cheap, samples_per_second_per_accelerator=4000).copy_once
    assert hungrier is not None and hungrier.fed_at_least is not None
    assert hungrier.fed_at_least.value == pytest.approx(4_400_000 * 4096 / 32e9)


@pytest.mark.parametrize(
    "traits",
    [
        {"epochs": 1},  # read once: nothing to gain
        {"dataset_bytes": 4e13},  # 40 TB on 30.4 TB of drives
        {"epochs": 2, "instances": 8},  # eight copies are more than two readings
        {"dataset_bytes": None, "objects": None},  # a size that is only assumed
    ],
)
def test_a_copy_that_gains_nothing_is_not_offered(traits: dict[str, Any]) -> None:
    assert plan(**traits).copy_once is None


def test_a_copy_is_priced_beside_any_plan_and_not_named_where_it_cannot_pay() -> None:
    # 100,000 GETs at USD 0.0004 per 1,000, and GPUs at USD 1 an hour that wait for 100 GB:
    # 80 objects of 1 MB under way, each in 30 ms + 1 MB / 90 MB/s.
    job = {"interface": "s3-api", "epochs": 10, "samples_per_second_per_accelerator": 4000}
    found = plan(**job, gpu_hour_price=1)
    copying = 1e11 * (0.03 + 1e6 / 90e6) / (80 * 1e6) / 3600
    fed = 4_400_000 * 4096 / 32e9
    run = 10 * 1e11 / 32e9 / 3600
    told = reasons(found)["copy-once"].parameters
    assert found.recommended == told["option"] == "s3-standard"
    assert told["least"].value == pytest.approx(0.04 + copying)
    assert told["cost"].value == pytest.approx(0.04 + copying + run * (1 / fed - 1))
    assert told["other_cost"] == found.option("s3-standard").cost.beyond_base
    # At USD 55.04 an hour the wait alone is USD 0.786; the plan's ten readings and its idle GPUs are 0.713.
    assert "copy-once" not in reasons(plan(**job)) and plan(**job).copy_once is None


def test_a_copy_through_a_gateway_pays_for_the_way() -> None:
    traits = {"interface": "s3-api", "epochs": 10, "gpu_hour_price": 1, "network_path": "nat"}
    near, through = plan(**traits | {"network_path": "gateway-endpoint"}).copy_once, plan(**traits).copy_once
    assert near is not None and near.cost_at_least is not None and near.seconds is not None
    assert through is not None and through.cost_at_least is not None and through.seconds is not None
    # 100 GB are 93.13 GiB, at USD 0.045; a slower way makes the GPUs wait longer.
    longer = (through.seconds.value - near.seconds.value) / 3600
    assert through.cost_at_least.value - near.cost_at_least.value == pytest.approx(1e11 / GIB * 0.045 + longer)


def test_drives_that_are_not_known_are_a_condition() -> None:
    found = plan(instance_type=None, accelerator="H100", accelerators_per_instance=8, interface="s3-api", epochs=10)
    assert found.copy_once is not None and found.copy_once.fits is None
    assert found.recommended == "s3-standard" and "copy-once-if-it-fits-not-priced" in reasons(found)
    other = {"instance_type": None, "accelerator": "H100", "accelerators_per_instance": 8, "interface": "s3-api"}
    assert "copy-once-if-it-fits" in reasons(plan(**other, epochs=10, gpu_hour_price=1))


def test_the_shell_says_the_first_epoch_apart() -> None:
    document = as_json(plan(epochs=10, gpu_hour_price=1), load(), [], {})
    files = next(option for option in document["options"] if option["option"] == "s3-files")
    assert files["later_epochs"]["served_by"] == "host-memory"
    assert files["later_epochs"]["fed"] == {"low": 1.0, "value": 1.0, "high": 1.0}
    assert files["first_epoch"]["limited_by_id"] == "client-limit"
    assert files["first_epoch"]["fed"]["value"] == pytest.approx(3 * GIB / 8e9)
    assert document["copy_once"]["option"] == "instance-nvme" and document["copy_once"]["fits"] is True


def test_what_the_file_servers_hold_in_memory_is_sent_without_their_disks() -> None:
    # 200 GB are more than the 80 GB that are free at best on each node.
    small = {"epochs": 3, "interface": "posix", "host_memory_bytes": 1e11, "dataset_bytes": 2e11, "objects": 200_000}
    found = plan(**small)
    answer = found.option("fsx-for-lustre")
    ordered = answer.supply.configuration
    # 9.6 GB/s of disks for 8 GB/s; 27.3 GiB of memory per 1,000 GiB are 281 GB
    assert (ordered["storage_capacity_gib"], ordered["throughput_mb_per_s_per_tib"]) == (9600, 1000)
    assert later(found, "fsx-for-lustre").served_by == "file-server-memory"
    assert "in-server-memory" in warnings(found) and "not-in-host-memory" not in warnings(found)
    larger = plan(**small | {"dataset_bytes": 1e12, "objects": 1_000_000})
    assert later(larger, "fsx-for-lustre").served_by == "fsx-for-lustre"
    # With one epoch nothing is read again.
    assert plan(**small | {"epochs": 1}).option("fsx-for-lustre").later_epochs is None


def test_disks_that_are_slower_than_the_gpus_slow_the_first_epoch_only_where_memory_holds_it() -> None:
    job, _ = job_of(Workload.from_mapping(HUNGRY | {"epochs": 3, "host_memory_bytes": 1e10}, load()), load(), None)
    # 12,000 GiB at 250 MB/s per TiB: 3 GB/s of disks for 8 GB/s asked; network 7.68 GB/s, at best 15.6; 81.6 GiB.
    small = configured_at("PERSISTENT_2-SSD-250", 12_000, Need(0.0, efa=True))
    assert small.memory_bytes is not None and small.memory_bytes.value == pytest.approx(12 * 6.8 * GIB)
    given = supply("fsx-for-lustre", job.load, load(), small)
    own = formulas.fed(given.read_bytes_per_s or pytest.fail("not known"), Quantity.exact(8e9))
    assert own.value == pytest.approx(3 / 8)
    held = replace(job.passes, bytes=Quantity.exact(8e10, "bytes"))
    found = later_epochs(given, own, job.demand, held, facts=load(), configuration=small)
    assert found is not None and found.fed is not None
    assert (found.served_by, found.fed.value, found.fed.high) == ("file-server-memory", pytest.approx(7.68 / 8), 1.0)
    too_large = replace(job.passes, bytes=Quantity.exact(1e11, "bytes"))
    found = later_epochs(given, own, job.demand, too_large, facts=load(), configuration=small)
    assert found is not None and (found.served_by, found.fed) == ("fsx-for-lustre", own)


def test_what_may_fit_in_memory_is_said_to_be_in_doubt() -> None:
    # Of 2,048 GiB half is taken to be free for files, 550 GB to 1.76 TB: 1.5 TB fit at the high end alone.
    told = warnings(plan(epochs=10, dataset_bytes=1.5e12, interface="posix"))
    assert "may-be-in-host-memory" in told and not {"in-host-memory-alone", "not-in-host-memory"} & told
