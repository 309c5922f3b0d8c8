"""Filling an option from S3: before the GPUs start or while they read, what either costs, and what is never filled."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

from gpufeed.facts import load
from gpufeed.facts.quantity import Quantity
from gpufeed.model import formulas, loading
from gpufeed.model.advise import recommend
from gpufeed.model.course import course
from gpufeed.model.fsx import GIB, Need, cheapest, configurations
from gpufeed.model.job import job_of
from gpufeed.model.recommendation import Caveat, OptionAnswer, Recommendation
from gpufeed.model.workload import Workload
from gpufeed.present import plain, words
from gpufeed.present.contract import recommendation as as_json

#: 10,000,000 images of 100 KB: 1 TB, read at 8 nodes × 8 accelerators × 1,000 images/s = 6.4 GB/s, from a mounted path.
IMAGES = {
    "task": "pretraining",
    "instances": 8,
    "instance_type": "p5.48xlarge",
    "gpu_hour_price": 50.0,
    "preset": "image-classification",
    "samples_per_second_per_accelerator": 1000,
    "sample_bytes": 100_000,
    "workers_per_accelerator": 100,
    "dataset_bytes": 1e12,
    "objects": 10_000_000,
    "interface": "posix",
    "run_hours": 73,
    "region": "us-east-1",
}
#: 64 nodes train a model of 70 billion parameters on 60 TB of tokens for 30 days.
TOKENS = {
    "task": "pretraining",
    "instances": 64,
    "instance_type": "p5.48xlarge",
    "preset": "llm-text",
    "model_parameters": 70e9,
    "dataset_bytes": 60e12,
    "objects": 600_000,
    "interface": "posix",
    "run_hours": 720,
    "region": "us-east-1",
}


def plan(job: dict[str, Any] = IMAGES, /, **other: Any) -> Recommendation:
    return recommend(Workload.from_mapping(job | other, load()), load())


def amounts(found: OptionAnswer) -> dict[str, float]:
    return {line.id: line.amount.value for line in found.cost.lines if line.amount is not None}


def caveat(found: Recommendation, id_: str) -> Caveat | None:
    return next((warning for warning in found.warnings if warning.id == id_), None)


# ---- two ways to fill it ---------------------------------------------------------------------------------------------


def test_gpus_wait_for_what_comes_slower_than_they_read_it() -> None:
    hundred, ten, fast = (Quantity.exact(it) for it in (100.0, 10.0, 50.0))
    # 100 bytes at 10 a second instead of 50: 10 s instead of 2
    assert formulas.filling_wait(hundred, ten, fast)[:3] == (8.0, 8.0, 8.0)
    assert formulas.filling_wait(hundred, fast, ten).high == 0.0
    # Waits least where it comes at its best and is read slowest: 100/20 − 100/40, 100/10 − 100/50, 100/5 − 100/80
    ranged = formulas.filling_wait(hundred, Quantity(5.0, 10.0, 20.0), Quantity(40.0, 50.0, 80.0))
    assert ranged[:3] == pytest.approx((2.5, 8.0, 18.75))


def test_loading_before_the_gpus_start_is_in_the_bill_and_costs_no_gpu_time() -> None:
    found = plan()
    lustre = found.option("fsx-for-lustre")
    first = lustre.first_epoch
    assert found.recommended == "fsx-for-lustre" and first.way == "before"
    # 10,000,000 objects at 750/s: 13,333 s
    assert first.load_seconds is not None and first.load_seconds.value == pytest.approx(10_000_000 / 750)
    # The whole file system for so long, and the metadata IOPS ordered with it; a month has 730 hours
    ordered = lustre.supply.configuration
    months = 10_000_000 / 750 / 3600 / 730
    bill = amounts(lustre)
    assert bill["loading-storage"] == pytest.approx(ordered["storage_capacity_gib"] * 0.6 * months)
    iops = next(line.quantity for line in lustre.cost.lines if line.id == "metadata-iops")
    assert iops is not None  # for 73 hours, a tenth of a month
    assert bill["loading-metadata-iops"] == pytest.approx(iops.value * 10 * 0.055 * months)
    assert lustre.cost.loading is not None and first.load_cost is not None
    assert lustre.cost.loading.value == pytest.approx(bill["loading-storage"] + bill["loading-metadata-iops"])
    assert first.load_cost.value == pytest.approx(lustre.cost.loading.value)
    assert lustre.cost.total is not None and lustre.cost.total.value == pytest.approx(sum(bill.values()))
    assert found.cost.loading == lustre.cost.loading and "first-epoch-gpu" not in bill


def test_the_plan_says_which_way_it_takes_and_what_the_other_costs() -> None:
    found = plan()
    first = found.option("fsx-for-lustre").first_epoch
    # Read through at 750 objects/s of 100 KB = 75 MB/s instead of 6.4 GB/s: 1 TB waits 13,333 − 156 s
    waits = 1e12 / 75e6 - 1e12 / 6.4e9
    assert first.waits_seconds is not None and first.waits_seconds.value == pytest.approx(waits)
    assert first.waits_cost is not None and first.waits_cost.value == pytest.approx(waits / 3600 * 8 * 50.0)
    why = next(it for it in found.placements["training_reads"].reasons if it.id == "first-epoch-before-hydrate")
    said = words.reason(why)
    assert words.quantity(first.load_seconds) in said and words.quantity(first.waits_cost) in said
    document = as_json(found, load(), [], {})
    lustre = next(it for it in document["options"] if it["option"] == "fsx-for-lustre")
    assert lustre["first_epoch"]["way"] == "before"
    assert lustre["first_epoch"]["load_seconds"]["high"] == pytest.approx(first.load_seconds.high)  # type: ignore[union-attr]
    assert document["cost"]["loading"] == found.cost.loading.to_json()  # type: ignore[union-attr]


def test_what_loads_faster_than_it_is_read_is_not_loaded_before() -> None:
    first = plan(TOKENS).option("fsx-for-lustre").first_epoch
    # 1.7 MB/s of tokens against 0.48 GB/s at worst
    assert first.way is None and first.waits_seconds is not None and first.waits_seconds.high == 0.0


def test_reads_at_random_wait_for_whole_files() -> None:
    # 60 TB in 60,000 files of 1 GB, read in samples of 32 KiB at random: each opens another file, so that all of them
    # are asked for in the first minutes.  At 1.05 GB/s they are there after 57,143 s, for which GPUs would wait.
    files = {"instances": 1250, "model_parameters": 671e9, "objects": 60_000, "reads": "random", "region": "us-west-2"}
    found = plan(TOKENS, **files, active_parameters=37e9, run_hours=1000)
    lustre = found.option("fsx-for-lustre")
    first, ordered = lustre.first_epoch, lustre.supply.configuration["storage_capacity_gib"]
    assert found.recommended == "fsx-for-lustre" and first.way == "before"
    assert first.loading is not None and first.loading.value == pytest.approx(60e12 / 1.05e9)
    asked, request = found.demand.read_bytes_per_s, found.demand.request_bytes
    assert asked is not None and request is not None and first.waits_seconds is not None
    in_time = 60e12 / (asked.value * 1e9 / request.value)
    assert first.waits_seconds.value == pytest.approx(60e12 / 1.05e9 - in_time)
    assert first.seconds is not None and first.seconds.value == pytest.approx(
        60e12 / asked.value + first.waits_seconds.value
    )
    # The whole file system meanwhile, at USD 0.21 per GiB-month
    assert amounts(lustre)["loading-storage"] == pytest.approx(ordered * 60e12 / 1.05e9 / 3600 / 730 * 0.21)


@pytest.mark.parametrize(
    ("job", "way"),
    [(IMAGES, "before"), (IMAGES | {"gpu_hour_price": 0.0001}, "while-reading"), (TOKENS, None)],
)
def test_timeline_table_and_bill_agree_on_what_is_loaded(job: dict[str, Any], way: str | None) -> None:
    found = plan(job)
    lustre, steps = found.option("fsx-for-lustre"), {step.id: step for step in course(found, load())}
    assert found.recommended == "fsx-for-lustre" and lustre.first_epoch.way == way
    said = {"before": "bring-in.fsx-for-lustre", "while-reading": "as-read.waiting", None: "as-read.in-time"}
    of_loading = {one: step for one, step in steps.items() if one.startswith(("bring-in", "as-read"))}
    assert list(of_loading) == [said[way]]
    assert of_loading[said[way]].seconds == lustre.first_epoch.loading
    assert ("loading-storage" in amounts(lustre)) is (lustre.first_epoch.loading is not None) is (way == "before")
    assert ("first-epoch-gpu" in amounts(lustre)) is (way == "while-reading")


def test_gpus_that_cost_nothing_may_wait() -> None:
    cheap = plan(gpu_hour_price=0.0001).option("fsx-for-lustre")
    assert cheap.first_epoch.way == "while-reading"
    waits = cheap.first_epoch.waits_seconds
    assert waits is not None
    assert amounts(cheap)["first-epoch-gpu"] == pytest.approx(waits.value / 3600 * 8 * 0.0001)
    assert "loading-storage" not in amounts(cheap)
    # What is read through is not loaded before, in the timeline either.
    found = plan(gpu_hour_price=0.0001)
    assert found.recommended == "fsx-for-lustre"
    assert [step.id for step in course(found, load()) if step.when == "before"] == ["create.fsx-for-lustre"]


def test_s3_files_imports_before_at_a_published_rate() -> None:
    files = plan(interface="file-paths").option("s3-files")
    first = files.first_epoch
    assert first.way == "before" and first.load_seconds is not None
    # 2,400 objects/s; its storage fills evenly: half of 1 TB for 4,167 s at USD 0.30 per GiB-month
    seconds = 10_000_000 / 2400
    assert first.load_seconds.value == pytest.approx(seconds)
    price = load().price("s3-files", "storage", "us-east-1")
    assert price is not None
    expected = 1e12 / GIB / 2 * seconds / 3600 / 730 * price.value
    assert amounts(files)["loading-storage"] == pytest.approx(expected)


# ---- loading longer than the run -------------------------------------------------------------------------------------


def test_loading_that_takes_longer_than_the_run_is_said_before_the_answer() -> None:
    # 170 million at 750/s: 63 h, between 8.6 h at 5,500/s and 19 days at 103/s
    small = {"objects": 170_000_000, "dataset_bytes": 20e12}
    may = caveat(plan(**small, run_hours=168), "loading-may-exceed-run")
    assert may is not None and not may.grave
    told = caveat(plan(**small, run_hours=48), "loading-exceeds-run")
    assert told is not None and told.grave
    assert told.parameters["seconds"].value == pytest.approx(170_000_000 / 750)
    assert caveat(plan(run_hours=730), "loading-may-exceed-run") is None


def test_an_option_that_loads_longer_than_the_run_is_not_chosen_where_another_ends_sooner() -> None:
    job, _ = job_of(Workload.from_mapping(IMAGES | {"run_hours": 10}, load()), load(), None)
    answer = plan(run_hours=10).option("fsx-for-lustre")
    half = replace(answer, fed=Quantity.exact(0.5, "share"), first_epoch=replace(answer.first_epoch, way=None))

    def loads_in(hours: float) -> OptionAnswer:
        first = replace(answer.first_epoch, way="before", load_seconds=Quantity.exact(hours * 3600, "seconds"))
        return replace(answer, fed=Quantity.exact(1.0, "share"), first_epoch=first)

    # Fed by half a run of 10 h takes 20: loading for 9 h is no longer than the run; 11 h of it end later than 20
    assert not loading.ends_later(loads_in(9), half, job)
    assert loading.ends_later(loads_in(11), half, job)
    # At worst 67 h, in the middle 1: the slow end of an assumed rate is told, and does not decide
    wide = replace(loads_in(1).first_epoch, load_seconds=Quantity(0.5 * 3600, 3600.0, 67 * 3600, "seconds"))
    assert not loading.ends_later(replace(loads_in(1), first_epoch=wide), half, job)
    # ... and not later than a run that takes 25 h
    slower = replace(half, fed=Quantity.exact(0.4, "share"))
    assert not loading.ends_later(loads_in(11), slower, job)


def test_a_choice_that_hangs_on_the_assumed_rate_says_where_it_flips() -> None:
    found = plan()
    job, _ = job_of(found.workload, load(), None)
    fit = {answer.option: answer for answer in found.options}
    lustre = fit["fsx-for-lustre"]
    first, paid = lustre.first_epoch, lustre.cost.beyond_base
    assert first.load_seconds is not None and first.load_cost is not None and paid is not None
    # Another option that costs what this one does where it loads in 20,000 s
    an_hour = first.load_cost.value / first.load_seconds.value
    limit = paid.value - first.load_cost.value + an_hour * 20_000

    def choose(options: loading.Fit) -> str:
        cost = options["fsx-for-lustre"].cost.beyond_base
        assert cost is not None
        return "fsx-for-lustre" if cost.value <= limit else "s3-files"

    told = next(it for it in loading.caveats(fit, "s3-files", choose, job) if it.id == "loading-rate-decides")
    assert (told.parameters["option"], told.parameters["other"]) == ("fsx-for-lustre", "s3-files")
    assert told.parameters["flips_at"].value == pytest.approx(20_000, rel=0.01)
    assert told.parameters["rate"].value == pytest.approx(10_000_000 / 20_000, rel=0.01)
    assert "loading-rate-decides" not in {it.id for it in loading.caveats(fit, "s3-files", lambda _: "s3-files", job)}


# ---- a run that reads a part -----------------------------------------------------------------------------------------


def test_a_file_system_holds_what_the_run_reads_and_not_what_it_never_reads() -> None:
    found = plan(TOKENS)
    asked = found.demand.read_bytes_per_s
    assert asked is not None
    part = found.option("fsx-for-lustre").first_epoch.part
    assert part is not None and part.value == pytest.approx(asked.value * 720 * 3600)
    told = caveat(found, "run-shorter-than-epoch")
    assert told is not None and told.parameters["all"].value == 60e12
    # At the high end of what it reads, with two checkpoints beside it: 6.2 TB and not 60
    kept = found.demand.checkpoint_bytes
    assert kept is not None
    need = Need(
        holds_bytes=asked.high * 720 * 3600 + 2 * kept.value,
        leaves_bytes=60e12 - asked.high * 720 * 3600,
        clients=64,
        efa=True,
    )
    of_data = configurations(need, "us-east-1", load()).all[0]
    assert of_data.asked_gib["data"] < 10_000 and "fsx-holds-what-is-read" in {note.id for note in of_data.notes}
    assert found.option("fsx-for-lustre").supply.configuration["storage_capacity_gib"] < 60e12 / GIB
    assert "fsx-sized-for-what-is-read" in {it.id for it in found.placements["training_reads"].reasons}
    # Only what is read is fetched from S3: 4.2 of 60 TB, objects of 100 MB in 12 parts (11.9) of 8 MiB; the range is
    # that of what is read
    gets = next(line for line in found.option("fsx-for-lustre").cost.lines if line.id == "copy-gets").quantity
    assert gets is not None and gets.value == pytest.approx(part.value / 100e6 * 12 / 1000)
    assert gets.low == pytest.approx(part.low / 100e6 * 12 / 1000)
    assert gets.high == pytest.approx(part.high / 100e6 * 12 / 1000)
    assert gets.basis == "assumed"


def test_the_first_epoch_of_a_run_that_ends_in_it_lasts_as_long_as_the_run() -> None:
    for answer in plan(TOKENS).options:
        assert answer.first_epoch.seconds is not None
        assert answer.first_epoch.seconds.value == pytest.approx(720 * 3600)  # not 410 days


def test_reads_at_random_in_large_files_touch_all_of_them() -> None:
    found = plan(TOKENS, reads="random", request_bytes=65_536)
    assert found.option("fsx-for-lustre").first_epoch.part is None
    assert found.option("fsx-for-lustre").supply.configuration["storage_capacity_gib"] > 60e12 / GIB
    assert caveat(found, "run-shorter-than-epoch") is None


def test_a_run_of_a_whole_epoch_is_sized_for_the_whole_data_set() -> None:
    found = plan(TOKENS, epochs=1, run_hours=None)
    assert found.option("fsx-for-lustre").first_epoch.part is None
    assert found.option("fsx-for-lustre").supply.configuration["storage_capacity_gib"] > 60e12 / GIB
    half = plan(TOKENS, epochs=0.5, run_hours=None).option("fsx-for-lustre").first_epoch.part
    assert half is not None and half.value == 30e12


# ---- prices that are not here, and sizes that nobody has shown -------------------------------------------------------


def test_a_type_without_a_price_here_that_may_be_cheaper_is_named() -> None:
    # 2 GB/s in us-west-2: 9,600 GiB at 250 for 0.21 are the cheapest with a price; 2,400 GiB at 1,000 have none there,
    # and at us-east-1's 0.60 would cost 1,440 against 2,016.
    one = cheapest(Need(1e12, read_bytes_per_s=2e9, clients=8), "us-west-2", load())
    assert one is not None and one.name == "PERSISTENT_2-SSD-250" and one.capacity_gib == 9600
    note = next(note for note in one.notes if note.id == "fsx-unpriced-cheaper-elsewhere")
    assert note.parameters["configuration"] == "PERSISTENT_2-SSD-1000"
    assert (note.parameters["gib"], note.parameters["elsewhere"]) == (2400, "us-east-1")
    assert (note.parameters["chosen"], note.parameters["chosen_gib"]) == ("PERSISTENT_2-SSD-250", 9600)
    assert note.parameters["share"] == pytest.approx(2400 * 0.6 / (9600 * 0.21))


def test_a_smaller_type_without_any_price_is_named_too() -> None:
    # 2 TB at 1.1 GB/s in us-west-2: 4,800 GiB at 250 cost 1,008; 2,400 GiB at 1,000 would cost 1,440 by us-east-1's
    # 0.60, 9,600 GiB at 125 by its 0.145 1,392; 2,400 GiB at 500 have a price nowhere.
    one = cheapest(Need(2e12, read_bytes_per_s=1.1e9, clients=8), "us-west-2", load())
    assert one is not None and one.per_month is not None and one.per_month.value == pytest.approx(1008)
    note = next(note for note in one.notes if note.id.startswith("fsx-unpriced"))
    assert (note.id, note.parameters["configuration"]) == ("fsx-unpriced-smaller", "PERSISTENT_2-SSD-500")
    assert note.parameters["gib"] == 2400


def test_a_dearer_type_without_a_price_is_not_named() -> None:
    # 12 GB/s: 12,000 GiB at 1,000 cost 7,200; 48,000 GiB at 250 by us-west-2's 0.21 would cost 10,080.
    one = cheapest(Need(1e12, read_bytes_per_s=12e9, clients=32), "us-east-1", load())
    assert one is not None and one.name == "PERSISTENT_2-SSD-1000"
    assert [note.id for note in one.notes if note.id.startswith("fsx-")] == []


def test_a_region_without_prices_takes_the_cheapest_by_those_of_others_else_the_smallest_and_says_so() -> None:
    need = Need(1e12, read_bytes_per_s=1e9, clients=32)
    one = cheapest(need, "eu-west-1", load())
    # 1 GB/s are 8,000 GiB at 125 MB/s per TiB: 9,600 × 0.145 = USD 1,392.  At 250: 4,800 × 0.24 = USD 1,152.
    # At 1,000: 1,200 × 0.6365, between the 0.600 and the 0.673 of two Regions, = USD 764.
    assert one is not None and (one.name, one.capacity_gib) == ("PERSISTENT_2-SSD-1000", 1200)
    assert one.per_month is None and "fsx-priced-elsewhere" in {note.id for note in one.notes}
    # In China nothing is priced in its currency.
    one = cheapest(need, "cn-north-1", load())
    assert one is not None and one.per_month is None
    assert "fsx-none-priced" in {note.id for note in one.notes}


def test_the_plan_warns_of_the_price_that_is_missing() -> None:
    found = plan(region="us-west-2")
    assert found.recommended == "fsx-for-lustre"
    said = {it.id for it in found.option("fsx-for-lustre").reasons if it.id.startswith("fsx-unpriced")}
    assert said and said <= {it.id for it in found.warnings}


def test_a_file_system_beyond_any_published_size_is_said_before_the_answer() -> None:
    enormous = {"task": "pretraining", "instances": 256, "instance_type": "p5.48xlarge", "preset": "mlperf-unet3d"}
    found = plan(enormous | {"interface": "posix", "run_hours": 730, "region": "us-east-1"})
    told = caveat(found, "fsx-beyond-published")
    assert told is not None and told.grave and found.warnings[0].grave
    # 1.1 PiB is the largest that was shown: 1,126.4 TiB
    assert told.parameters["largest"].value == 1126.4 * 2**40
    assert told.parameters["capacity"] > 6_000_000
    # 1 TB/s and no more is one that was shown, 1.01 TB/s is not
    for rate, beyond in ((0.99e12, False), (1.01e12, True)):
        one = cheapest(Need(1e12, read_bytes_per_s=rate, clients=256, efa=True), "us-east-1", load())
        assert one is not None
        assert ("fsx-beyond-published" in {note.id for note in one.notes}) is beyond


def test_how_much_is_brought_in_is_one_of_two_limits() -> None:
    facts = load().options["fsx-for-lustre"]
    rate, throughput = facts.known("hydrate_rate"), facts.known("hydrate_throughput")
    # 37,000 objects in 360 s at worst, 5,500/s at best: the middle is their geometric mean
    assert rate.low == pytest.approx(37_000 / 360, rel=0.01)
    assert rate.value == pytest.approx((103 * 5500) ** 0.5, rel=0.01)
    # 345 GB in 360 s at worst; at best as fast as 28,800 GiB take it at 200 MB/s per TiB
    assert throughput.low == pytest.approx(345e9 / 360, rel=0.01)
    assert throughput.high == pytest.approx(28.8 * 200e6)


def test_loading_a_file_system_far_larger_than_the_one_measured_is_said() -> None:
    # 28,800 GiB were measured: 120 TB need 111,759 GiB, 112,800 of which are 3.92 times as many.
    for data, capacity in ((50e12, None), (120e12, 112_800)):
        found = plan(IMAGES, dataset_bytes=data, epochs=2, run_hours=None)
        assert found.recommended == "fsx-for-lustre"
        told = caveat(found, "fsx-loading-unmeasured")
        if capacity is None:
            assert told is None
        else:
            assert told is not None and told.parameters["capacity"] == capacity
            assert told.parameters["factor"] == pytest.approx(112_800 / 28_800)
            assert told.parameters["seconds"] == found.option("fsx-for-lustre").first_epoch.load_seconds


def test_a_run_of_less_than_an_hour_says_what_a_file_system_is_billed_for() -> None:
    short, long = (plan(IMAGES, run_hours=hours) for hours in (0.5, 1.0))
    assert short.recommended == long.recommended == "fsx-for-lustre"
    told = caveat(short, "fsx-short-run")
    assert told is not None and told.parameters["seconds"].value == 1800
    assert "billed by the second, without a minimum" in words.warning(told)
    assert caveat(long, "fsx-short-run") is None


def test_an_import_into_s3_files_takes_at_least_what_aws_names_at_most() -> None:
    # 100,000,000 objects at no more than 2,400 a second: 11 h 34 min 27 s.
    found = plan(IMAGES, objects=100_000_000, dataset_bytes=10e12, interface="file-paths", epochs=10, run_hours=None)
    note = next(reason for reason in found.option("s3-files").reasons if reason.id == "import-exceeds-run")
    assert note.parameters["seconds"].value == pytest.approx(100_000_000 / 2400)
    assert "takes at least 11 h 34 min" in words.reason(note)
    said = plain.recommendation(found)
    assert "  Imported before the GPUs start, in at least 11 h 34 min; read through from S3 instead:" in said
    # 240 MB/s of 6.4 GB/s
    assert "  First epoch: at least 11 h 34 min, GPUs fed 3.8 %" in "\n".join(said)


def test_what_lasts_as_long_as_an_import_has_no_upper_end_wherever_it_is_shown() -> None:
    files = {"interface": "file-paths", "file_operations": ["rename", "overwrite"], "avoid_parallel_file_system": True}
    found = plan(IMAGES, **files, objects=50_000_000, dataset_bytes=5e12, epochs=None, run_hours=48)
    first = found.option("s3-files").first_epoch
    assert found.recommended == "s3-files" and first.load_seconds is not None
    # 50,000,000 objects at 2,400 a second: 5 h 47 min 13 s.  The model reckons with that alone.
    assert first.load_seconds[:3] == pytest.approx((50_000_000 / 2400,) * 3)
    [step] = [step for step in course(found, load()) if step.id == "bring-in.s3-files"]
    assert step.seconds is not None and step.seconds.high == math.inf
    assert words.quantity(step.seconds) == "at least 5 h 47 min"
    document = as_json(found, load(), [], {})
    [option] = [option for option in document["options"] if option["option"] == "s3-files"]
    assert option["first_epoch"]["load_seconds"]["high"] is None
    [line] = [line for line in document["cost"]["lines"] if line["id"] == "loading-storage"]
    # 5 TB on the mean half the time: 4,656.6 GiB × 5.787 h / 730 / 2 = 18.46 GiB-months at USD 0.30
    held = 5e12 / 2**30 * 50_000_000 / 2400 / 3600 / 730 / 2
    assert line["quantity"] == {"low": pytest.approx(held), "value": pytest.approx(held), "high": None}
    assert line["amount"]["value"] == pytest.approx(held * 0.3) and line["amount"]["high"] is None
    assert "at least 18.5 GiB-months × USD 0.3 per GiB-month = at least USD 5.54" in "\n".join(
        plain.recommendation(found)
    )
    assert found.cost.total is not None and found.cost.total.high < math.inf  # which is compared with others


# ---- a copy in a directory bucket ------------------------------------------------------------------------------------

#: 10,000,000 objects that a program of the S3 API reads.
OBJECTS = IMAGES | {"interface": "s3-api"}


@pytest.mark.parametrize(
    ("prefixes", "seconds"),
    [
        (1, (10_000_000 / 5_500, 10_000_000 / 5_500)),
        (4, (10_000_000 / 22_000, 10_000_000 / 22_000)),
        # 20 prefixes give 110,000 GET/s, and the directory bucket takes 100,000 PUT/s, at most 110,000 of its 200,000
        (20, (10_000_000 / 110_000, 10_000_000 / 100_000)),
        (100, (10_000_000 / 200_000, 10_000_000 / 100_000)),
        # Not stated: 1 in the middle, up to 10
        (None, (10_000_000 / 55_000, 10_000_000 / 5_500)),
    ],
)
def test_a_copy_takes_at_least_a_get_and_a_put_of_each_object(
    prefixes: int | None, seconds: tuple[float, float]
) -> None:
    found = plan(OBJECTS, prefixes=prefixes)
    first = found.option("s3-express-one-zone").first_epoch
    least, middle = seconds
    assert first.way == "before" and first.loading is not None
    assert first.loading[:3] == pytest.approx((least, middle, middle))
    # How long bytes take is not known: no upper end is shown.
    shown = first.bound(first.loading)
    assert shown is not None and math.isinf(shown.high)
    # 1 TB at USD 0.11 per GiB-month, half of it on the mean, for so long
    held = 1e12 / GIB * 0.11 / 2 * middle / 3600 / 730
    assert amounts(found.option("s3-express-one-zone"))["loading-storage"] == pytest.approx(held)
    assert first.waits_seconds is None and first.waits_cost is None


def test_the_least_time_of_a_copy_is_of_the_requests_that_are_billed_for_it() -> None:
    """10 TB in 37,313 objects of 268 MB: 32 parts of 8 MiB each, and two requests around them where they are put.

    1,194,016 GETs at 5,500 a second are 217 s; 1,268,642 PUTs at 100,000 are 12.7.
    """
    shards = {"dataset_bytes": 1e13, "objects": 37_313, "prefixes": 1, "instances": 4}
    express = plan(OBJECTS | shards).option("s3-express-one-zone")
    billed = {line.id: line.quantity for line in express.cost.lines}
    gets, puts, least = billed["copy-gets"], billed["copy-puts"], express.first_epoch.load_seconds
    assert gets is not None and gets.value * 1000 == pytest.approx(37_313 * 32)
    assert puts is not None and puts.value * 1000 == pytest.approx(37_313 * 34)
    assert least is not None and least[:3] == pytest.approx((37_313 * 32 / 5500,) * 3)


def test_and_the_weights_that_are_copied_with_the_data_are_among_them() -> None:
    """140 GB of weights: 16,690 parts of 8 MiB, beside a GET for each of 10,000,000 objects."""
    tuned = {"task": "lora", "model_parameters": 70e9, "prefixes": 1}
    express = plan(OBJECTS | tuned).option("s3-express-one-zone")
    least = express.first_epoch.load_seconds
    assert least is not None and least.value == pytest.approx((10_000_000 + 16_690) / 5500)


def test_a_copy_that_takes_longer_than_the_run_is_said_as_a_load_is() -> None:
    # 100,000,000 objects at 5,500 GET/s: 5.05 h, before a run of 4
    many = {"dataset_bytes": 1e13, "objects": 100_000_000, "prefixes": 1}
    found = plan(OBJECTS, **many, run_hours=4)
    told = caveat(found, "copying-exceeds-run")
    assert found.recommended == "s3-express-one-zone" and told is not None and told.grave
    assert told.parameters["seconds"].value == pytest.approx(100_000_000 / 5_500)
    assert math.isinf(told.parameters["seconds"].high)
    assert "copying-exceeds-run" in {it.id for it in found.option("s3-express-one-zone").reasons}
    assert caveat(plan(OBJECTS, **many, run_hours=6), "copying-exceeds-run") is None
    [step] = [step for step in course(found, load()) if step.id == "bring-in.s3-express-one-zone"]
    assert step.seconds is not None and step.seconds.value == pytest.approx(100_000_000 / 5_500)
    assert "bytes not counted" in words.step(step)
    why = next(it for it in found.placements["training_reads"].reasons if it.id == "copied-before")
    assert "at least 5 h 3 min" in words.reason(why)
    document = as_json(found, load(), [], {})
    express = next(it for it in document["options"] if it["option"] == "s3-express-one-zone")
    assert express["first_epoch"]["load_seconds"]["high"] is None
    assert any("at least 5 h 3 min, bytes not counted" in line for line in plain.recommendation(found))


def test_a_mount_of_a_directory_bucket_reads_a_copy_as_well() -> None:
    renames = IMAGES | {"interface": "file-paths", "file_operations": ["rename"], "prefixes": 1}
    mount = plan(renames).option("mountpoint-s3")
    assert mount.lies_on == "s3-express-one-zone"
    assert mount.first_epoch.loading is not None
    assert mount.first_epoch.loading.value == pytest.approx(10_000_000 / 5_500)
    plainly = plan(renames | {"file_operations": None}).option("mountpoint-s3")
    assert plainly.lies_on == "s3-standard" and plainly.first_epoch.loading is None


def test_a_copy_that_ends_later_than_another_option_is_not_chosen() -> None:
    # 5.05 h of copying; S3 Standard, fed by less, would be done before it.
    job, _ = job_of(Workload.from_mapping(OBJECTS | {"run_hours": 4}, load()), load(), None)
    many = {"dataset_bytes": 1e13, "objects": 100_000_000, "prefixes": 1}
    answers = {it.option: it for it in plan(OBJECTS, **many, run_hours=4).options}
    copied = answers["s3-express-one-zone"]
    half = replace(answers["s3-standard"], fed=Quantity.exact(0.5, "share"), cost=copied.cost)
    # 4 + 5.05 h against 4 / 0.5 = 8, and against 4 / 0.4 = 10
    assert loading.ends_later(copied, half, job)
    slower = replace(half, fed=Quantity.exact(0.4, "share"))
    assert not loading.ends_later(copied, slower, job)


def test_what_saves_more_than_the_gpus_of_the_run_cost_may_end_it_later() -> None:
    # RetinaNet on 8 p6-b200: 41 min of loading before 11.5 min at full speed, or a run whose GPUs mostly wait.
    starved = {
        "task": "pretraining",
        "instances": 8,
        "instance_type": "p6-b200.48xlarge",
        "preset": "mlperf-retinanet",
        "dataset_bytes": 600e9,
        "interface": "file-paths",
        "model_parameters": 40e6,
        "checkpoint_interval": 3600,
        "epochs": 12,
        "region": "us-east-1",
    }
    workload = Workload.from_mapping(starved, load())
    found, (job, _) = recommend(workload, load()), job_of(workload, load(), None)
    loaded, waiting = found.option("fsx-for-lustre"), found.option("s3-files")
    assert found.recommended == "fsx-for-lustre"
    price, hours = found.gpu_hour_price, job.run.training_hours
    assert price is not None and loaded.weighed is not None and waiting.weighed is not None
    assert waiting.weighed.value - loaded.weighed.value > price.value * hours
    # 11.5 min and what the reads of the first epoch and of the later ones wait, against the loading and 11.5 min
    sooner = loading.ends_sooner_by(waiting, loaded, job)
    load_seconds, waits, fed = loaded.first_epoch.loading, waiting.first_epoch.waits_seconds, waiting.fed
    assert sooner is not None and load_seconds is not None and fed is not None
    more = 0.0 if waits is None or waiting.first_epoch.way != "while-reading" else waits.value
    assert sooner.value == pytest.approx(load_seconds.value + hours * 3600 * (1 - 1 / fed.value) - more)
    said = {reason.id for reason in waiting.reasons}
    assert {"ends-sooner", "dearer"} <= said
    # Half the price of the GPUs is not enough any more where the file system saves less than they cost.
    equal = replace(waiting, cost=replace(loaded.cost))
    assert loading.ends_later(loaded, equal, job)
