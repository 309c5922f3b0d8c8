"""What else would pay: other settings of the job, each with what it saves."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from gpufeed.facts import load
from gpufeed.model.advise import recommend
from gpufeed.model.alternatives import Alternative, alternatives, what_pays
from gpufeed.model.checkpoint_plan import checkpoint_plan
from gpufeed.model.recommendation import Recommendation
from gpufeed.model.rules import S3
from gpufeed.model.workload import Workload
from gpufeed.present import tables, words

FACTS = load()
#: 64 GiB in 8 files of 8 GiB, every 6 minutes for 100 h: 1,000 saves
SAVES: dict[str, Any] = {
    "task": "pretraining",
    "instances": 1,
    "instance_type": "p5.48xlarge",
    "checkpoint_bytes": 64 * 2**30,
    "checkpoint_interval": 360,
    "checkpoints": "rare",
    "checkpoint_mode": "async",
    "interface": "s3-api",
    "dataset_bytes": 1e9,
    "objects": 10,
    "run_hours": 100,
    "prefixes": 1,
}
UNET: dict[str, Any] = {
    "task": "pretraining",
    "instances": 8,
    "instance_type": "p5.48xlarge",
    "preset": "mlperf-unet3d",
    "model_parameters": 3e7,
    "dataset_bytes": 5e12,
    "objects": 34_000,
    "checkpoint_interval": 3600,
    "interface": "file-paths",
    "run_hours": 48,
}
#: 980 GB twice a day.
RARELY: dict[str, Any] = {
    "task": "pretraining",
    "instances": 64,
    "instance_type": "p5.48xlarge",
    "model_parameters": 70e9,
    "dataset_bytes": 15e12,
    "checkpoints": "rare",
    "checkpoint_interval": 43_200,
    "run_hours": 168,
}


def asked(stated: dict[str, Any], **more: Any) -> tuple[Recommendation, dict[str, Alternative]]:
    plan = recommend(Workload.from_mapping(stated | more, FACTS), FACTS)
    return plan, {one.reason.id: one for one in alternatives(plan, FACTS)}


def test_larger_parts_save_most_of_the_puts() -> None:
    plan, found = asked(SAVES, run_hours=200)
    assert plan.placements["checkpoints"].option == "s3-standard"
    # 8 GiB in parts of 8 MiB: 1,024 and 2 around them; 2,000 saves × 8 ranks × 1,026 × USD 0.005 / 1,000 = 82.08
    puts = next(line.amount for line in plan.cost.lines if line.id == "checkpoint-puts")
    assert puts is not None and puts.value == pytest.approx(82.08)
    # in parts of 128 MiB: 64 and 2: 16,000 × 66 × USD 0.005 / 1,000 = 5.28
    one = found["larger-parts"]
    assert one.saves == pytest.approx(82.08 - 5.28)
    assert one.reason.parameters["part_bytes"].value == 128 * 2**20
    assert one.reason.parameters["memory"].value == 10 * 128 * 2**20  # ten parts of a rank under way


def test_parts_stay_so_small_that_all_uploads_of_a_rank_are_busy() -> None:
    # 640 MiB a rank / 10 under way = 64 MiB: 10 and 2 requests, not 80 and 2; 20,000 saves × 8 × 70 × 0.005 / 1,000
    _, found = asked(SAVES, checkpoint_bytes=8 * 640 * 2**20, checkpoint_interval=36, run_hours=200)
    assert found["larger-parts"].reason.parameters["part_bytes"].value == 64 * 2**20
    assert found["larger-parts"].saves == pytest.approx(56.0)


def test_what_saves_less_than_an_hour_of_one_instance_is_not_named() -> None:
    # Half of it, USD 38.40, is less than the 55.04 of an hour.
    assert "larger-parts" not in asked(SAVES)[1]


def test_the_mode_of_saving_that_was_not_chosen_is_named_with_what_it_saves() -> None:
    plan, found = asked(SAVES, checkpoint_mode="sync")
    other = recommend(replace(plan.workload, checkpoint_mode="async"), FACTS)
    assert plan.cost.total is not None and other.cost.total is not None
    one = found["instead-async"]
    assert one.saves == plan.cost.total.value - other.cost.total.value > 0
    assert one.reason.parameters["then"] == other.cost.total
    assert "instead-sync" not in found
    assert not {"instead-async", "instead-sync"} & asked(SAVES)[1].keys()


def test_host_memory_first_is_worth_what_is_lost_less_than_at_the_better_interval_without_it() -> None:
    plan, found = asked(RARELY)
    saved = checkpoint_plan(plan, FACTS)
    assert saved.placed.lost is not None and saved.memory_first is not None and plan.gpu_hour_price is not None
    without = min(saved.placed.lost.now.lost.value, saved.placed.lost.best.lost.value)
    less = without - saved.memory_first.best.lost.value
    assert found["instead-memory-first"].saves == pytest.approx(less * 168 * plan.gpu_hour_price.value)
    assert found["instead-memory-first"].reason.parameters["copy"] == saved.memory_first.copy_seconds


def test_the_interval_that_wastes_least_is_named_with_what_it_saves() -> None:
    """70B saves 980 GB every 12 hours on 64 nodes: at 12.1 s a save Daly's formula says 37 minutes.

    In parts of 78 MiB, (5,120 / 5,500 s − 30 ms) × 90 MB/s, a save takes 980 GB / (5,120 × 81.8 MB / 4.12 s × 0.8); in
    parts of 8 MiB it would take 41.7 s, and Daly's formula said sqrt(3.46) times as long.
    10.3 % of USD 3,522.56 × 168 h are lost now and 1.4 % then: 53,000, and 18.4 times the PUTs of 14 saves more.
    """
    in_s3 = {"zone": "use1-az1"}  # a zone without directory buckets
    _, found = asked(RARELY, **in_s3)
    one = found["instead-interval"].reason.parameters
    assert (
        one["interval"] == pytest.approx(4_135 / (41.7 / 12.05) ** 0.5, rel=0.01)
        and one["now_interval"].value == 43_200
    )
    assert one["now"].value == pytest.approx(0.103, abs=0.001) and one["then"].value == pytest.approx(
        0.0136, abs=0.0005
    )
    assert found["instead-interval"].saves == pytest.approx(53_000, rel=0.02)
    # Host memory is worth what it brings beyond that.
    assert found["instead-memory-first"].reason.parameters["now"] == one["then"]
    # Saves that often stay where they are, and then it ends.
    assert "instead-interval" not in asked(RARELY, **in_s3, checkpoint_interval=one["interval"])[1]


def test_where_the_better_interval_makes_another_plan_it_is_that_plan_whose_saving_is_said() -> None:
    """Every 5 minutes saves go to a directory bucket; every 1 h 36 min, the best there is worth there, to S3 Standard.

    Of 72 h × USD 54.8941 there are lost C / (T + C) + T / 2M + R / M, M being 6,646,154 s: now 2.48 / 302.5 +
    300 / 13.3 million + 604 / 6.65 million = 0.830 %; then 13.9 / 5,750 + 5,736 / 13.3 million + 609 / 6.65 million =
    0.293 %: USD 21.21 less.  Keeping, uploading, reading again and copying 864 saves cost 7.71 (1,666 GiB uploaded at
    USD 0.0032: 5.33; the rest requests, reads and two checkpoints for three days), and of 46 saves on S3 0.065.
    """
    adapters = {"task": "qlora", "instances": 2, "instance_type": "p4de.24xlarge", "model_parameters": 70e9}
    data = {"dataset_bytes": 5e10, "objects": 500_000, "interface": "s3-api", "run_hours": 72}
    saves = {"checkpoint_interval": 300, "checkpoint_mode": "sync", "region": "us-east-1"}
    plan, found = asked(adapters | data | saves)
    assert plan.placements["checkpoints"].option == "s3-express-one-zone" and "instead-interval" not in found
    one = found["instead-interval-moves"]
    assert one.saves == pytest.approx(21.21 + 7.708 - 0.065, abs=0.01)
    then = recommend(replace(plan.workload, checkpoint_interval=one.reason.parameters["interval"]), FACTS)
    assert then.placements["checkpoints"].option == one.reason.parameters["option"] == "s3-standard"
    assert words.reason(one.reason) == (
        "Save about every 1 h 36 min and not every 5 min: with that interval the plan is another, with the training "
        "reads on Amazon S3 Standard and the checkpoints on Amazon S3 Standard, not S3 Express One Zone. 0.3 % "
        "(<0.1–1 %) of the run is then lost to saves and failures, not 0.8 % (<0.1–3.4 %), and over the run, with "
        "what storage and requests then cost, that is worth USD 28.9."
    )


def test_a_program_that_reads_files_may_save_as_objects() -> None:
    posix = {"task": "pretraining", "instances": 32, "instance_type": "p5.48xlarge", "model_parameters": 8e9}
    plan, found = asked(posix, dataset_bytes=15e12, interface="posix", reads="random")
    assert plan.placements["checkpoints"].option == "fsx-for-lustre"
    one, there = found["instead-as-objects"], plan.saving("fsx-for-lustre").total
    said = one.reason.parameters
    assert said["then"] == plan.saving(said["option"]).total and said["now"] == there
    assert "instead-as-objects" not in asked(SAVES)[1]


@pytest.mark.parametrize("interface", ["posix", "file-paths"])
def test_a_saver_of_objects_renames_no_file(interface: str) -> None:
    """671B in fp8 every 10 minutes: the writer of files renames them, and keeps nobody from putting objects."""
    mixture: dict[str, Any] = {
        "task": "pretraining",
        "instances": 16,
        "instance_type": "p6-b200.48xlarge",
        "model_parameters": 671e9,
        "active_parameters": 37e9,
        "precision": "fp8",
        "checkpoint_mode": "async",
        "checkpoint_interval": 600,
        "zone": "use1-az2",
        "interface": interface,
    }
    plan, found = asked(mixture, file_operations=["rename"])
    one = found["instead-as-objects"]
    saving, there = plan.saving(S3).total, plan.saving("fsx-for-lustre").total
    assert plan.placements["checkpoints"].option == "fsx-for-lustre" and saving is not None and there is not None
    assert one.reason.parameters["option"] == S3 and one.saves == pytest.approx(there.value - saving.value)
    if interface == "posix":  # which has the same plan without the wish
        assert asked(mixture)[1]["instead-as-objects"].saves == pytest.approx(one.saves)


def test_host_memory_that_is_too_small_is_no_alternative() -> None:
    # 980 GB on 64 nodes, twice: 30.6 GB on each
    assert "instead-memory-first" in asked(RARELY, host_memory_bytes=31e9)[1]
    assert "instead-memory-first" not in asked(RARELY, host_memory_bytes=30e9)[1]


def test_host_memory_is_no_place_for_the_checkpoints_of_a_single_node() -> None:
    # No neighbour holds a copy: a node that fails leaves none.
    alone, _ = asked(SAVES, checkpoint_mode="sync")
    two, _ = asked(SAVES, checkpoint_mode="sync", instances=2)
    assert checkpoint_plan(alone, FACTS).memory_first is None
    assert checkpoint_plan(two, FACTS).memory_first is not None
    assert "at least two instances" in tables.memory_first(None)[0]


def test_a_copy_on_the_drives_of_each_node_is_told_beside_a_file_system() -> None:
    plan, found = asked(UNET)
    assert plan.recommended == "fsx-for-lustre" and plan.copy_once is not None
    seconds, fed = plan.copy_once.seconds, plan.copy_once.fed_at_least
    assert seconds is not None and fed is not None
    # 8 nodes × 34,000 objects × 18 GETs (17.5 parts of 8 MiB) × USD 0.0004 / 1,000; the GPUs wait for the copy and for
    # what the drives lack
    gets = 8 * 34_000 * 18 * 0.0004 / 1000
    waits = seconds.value / 3600 + 48 * (1 / fed.value - 1)
    told = found["instead-copy-once"].reason.parameters
    assert told["cost"].value == pytest.approx(gets + waits * 8 * 55.04)
    assert told["least"].value == pytest.approx(gets + seconds.value / 3600 * 8 * 55.04)
    assert told["fed"] == fed
    assert told["other_cost"] == plan.option("fsx-for-lustre").cost.beyond_base


IMAGES: dict[str, Any] = {
    "task": "pretraining",
    "instances": 4,
    "instance_type": "p4d.24xlarge",
    "preset": "image-classification",
    "model_parameters": 1e9,
    "dataset_bytes": 5e12,
    "objects": 50_000_000,
    "checkpoints": "rare",
    "run_hours": 48,
    "data_in_s3": True,
    "prefixes": 1,
}
FILES: dict[str, Any] = {"interface": "file-paths", "avoid_parallel_file_system": True}


@pytest.mark.parametrize(
    ("more", "option", "gets"),
    [
        (FILES | {"file_operations": ["rename", "overwrite"]}, "s3-files", 50_000_000),
        (FILES | {"preset": "mlperf-unet3d", "objects": 34_000}, "mountpoint-s3", 34_000 * 18),  # 17.5 parts of 8 MiB
        ({"interface": "s3-api"}, "s3-express-one-zone", 50_000_000),
    ],
)
def test_a_copy_on_the_drives_of_each_node_is_named_beside_any_option_where_it_pays(
    more: dict[str, Any], option: str, gets: int
) -> None:
    plan, found = asked(IMAGES | more)
    bill = plan.option(option).cost.beyond_base
    assert plan.recommended == option and bill is not None
    one = found["instead-copy-once-saves"]
    seconds = one.reason.parameters["seconds"].value
    if gets == 50_000_000:  # one for each object, and 5,500/s of them for all nodes together
        assert seconds == pytest.approx(4 * gets / 5500)
    # GETs at USD 0.0004 per 1,000, and 4 instances at USD 21.957642 an hour that wait for the copy.
    least = 4 * gets * 0.0004 / 1000 + seconds / 3600 * 4 * 21.957642
    assert one.reason.parameters["least"].value == pytest.approx(least, rel=1e-5)
    assert one.saves == pytest.approx(bill.value - one.reason.parameters["cost"].value)
    assert "the loader read files there" in words.reason(one.reason)
    assert what_pays(plan, found.values()) != ("alternatives-none",)


def test_a_copy_that_saves_too_little_to_be_named_is_not_an_alternative() -> None:
    # Reading costs USD 0.93 in the hour, and nothing that saves less than an hour of one instance is named.
    small = {"dataset_bytes": 1e9, "objects": 10_000, "run_hours": 1, "samples_per_second_per_accelerator": 20}
    plan, found = asked(IMAGES | small, interface="s3-api")
    assert plan.copy_once is not None and "instead-copy-once-saves" not in found


def test_a_copy_is_charged_what_stays_with_it() -> None:
    # The upload of the data set, one PUT for each object at USD 0.005 per 1,000, is paid for wherever it is read.
    there, _ = asked(IMAGES, interface="s3-api")
    not_yet, _ = asked(IMAGES | {"data_in_s3": False}, interface="s3-api")
    assert there.copy_once is not None and there.copy_once.cost_at_least is not None
    assert not_yet.copy_once is not None and not_yet.copy_once.cost_at_least is not None
    more = not_yet.copy_once.cost_at_least.value - there.copy_once.cost_at_least.value
    assert more == pytest.approx(50_000_000 * 0.005 / 1000)


def test_a_copy_that_pays_in_no_case_is_not_told() -> None:
    # Half an hour of a file system costs less than GPUs at ten times the price that wait 19 minutes for a copy.
    plan, found = asked(UNET, run_hours=0.5, interface="posix", gpu_hour_price=550.4)
    bill = plan.option("fsx-for-lustre").cost.beyond_base
    assert plan.recommended == "fsx-for-lustre" and bill is not None and bill.value < 918 / 3600 * 8 * 550.4
    assert plan.copy_once is None and "instead-copy-once" not in found


def test_a_copy_that_has_no_price_is_called_not_priced() -> None:
    _, found = asked(UNET, region="eu-west-3")
    said = words.reason(found["instead-copy-once-not-priced"].reason)
    assert "Whether that costs less is not known: a price is missing." in said


def test_without_a_price_of_the_gpus_it_says_why_nothing_could_be_compared() -> None:
    plan, found = asked(SAVES, region="me-south-1")
    assert plan.gpu_hour_price is None and found == {}
    [reason] = what_pays(plan, ())
    assert reason.id == "alternatives-without-gpu-price"
    assert "gpu_hour_price (price of one instance for an hour, in USD; in China in CNY)" in words.reason(reason)
    # With a price of the user's own, the prices of saving are what is missing.
    priced, _ = asked(SAVES, region="me-south-1", gpu_hour_price=40)
    [reason] = what_pays(priced, ())
    assert reason.id == "alternatives-not-priced" and set(reason.parameters["parts"]) == set(priced.cost.not_priced)


def test_without_a_size_of_the_checkpoint_it_says_so() -> None:
    plan, found = asked(UNET, model_parameters=None)
    assert [reason.id for reason in what_pays(plan, found.values())][-1] == "alternatives-without-checkpoint"


def test_where_everything_was_judged_and_nothing_pays_that_is_said() -> None:
    plan, found = asked(SAVES, checkpoint_bytes=1e6, checkpoint_interval=600, checkpoint_mode="sync")
    assert [reason.id for reason in what_pays(plan, found.values())] == ["alternatives-none"]


def test_cents_are_no_reason_to_change_a_job() -> None:
    # 1 MB every ten minutes: nothing that waits or is put costs a ten-thousandth of the GPUs
    assert asked(SAVES, checkpoint_bytes=1e6, checkpoint_interval=600, checkpoint_mode="sync")[1] == {}
