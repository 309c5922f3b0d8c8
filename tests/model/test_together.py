"""Reads and checkpoints of one plan are chosen, billed and compared together."""

from __future__ import annotations

from typing import Any

import pytest
from examples import LANGUAGE_MODEL as LLM
from hypothesis import given, settings
from hypothesis import strategies as st

from gpufeed.facts import load
from gpufeed.facts.quantity import Quantity
from gpufeed.model import together
from gpufeed.model.advise import decide, recommend
from gpufeed.model.flip_reasons import why
from gpufeed.model.job import job_of
from gpufeed.model.recommendation import CostLine, Reason, Recommendation
from gpufeed.model.weigh import kept, to_replace
from gpufeed.model.workload import Workload

FSX, S3, EXPRESS = "fsx-for-lustre", "s3-standard", "s3-express-one-zone"
#: 16 GPUs read 6.7 GB/s in files of 1.6 MB, and stop for 1.66 TB every ten minutes of 100 hours.
BOTH = {
    "task": "pretraining",
    "instances": 2,
    "instance_type": "g5.48xlarge",
    "region": "us-east-1",
    "sample_bytes": 1_634_829.0,
    "samples_per_second_per_accelerator": 258.0,
    "dataset_bytes": 7e12,
    "objects": 4_281_793,
    "checkpoint_bytes": 1.66e12,
    "checkpoint_interval": 600.0,
    "checkpoints": "rare",
    "run_hours": 100,
}


def plan(traits: dict[str, Any], **other: Any) -> Recommendation:
    return recommend(Workload.from_mapping(traits | other, load()), load())


def reads_and_saves(found: Recommendation, option: str) -> float:
    reads, saves = found.option(option).cost_of_reads, found.saving(option).total
    assert reads is not None and saves is not None
    return reads.value + saves.value


def test_one_file_system_for_both_is_chosen_where_it_costs_less_as_a_whole() -> None:
    found = plan(BOTH)
    assert (found.recommended, found.placements["checkpoints"].option) == (FSX, FSX)
    mine, theirs = found.option(FSX).cost_of_reads, found.option(EXPRESS).cost_of_reads
    # By the reads alone a directory bucket would have been taken, and a file system for the checkpoints.
    assert mine is not None and theirs is not None and theirs.value < mine.value
    assert reads_and_saves(found, FSX) < reads_and_saves(found, EXPRESS)
    assert found.cost.beyond_base is not None
    assert found.cost.beyond_base.value == pytest.approx(reads_and_saves(found, FSX))
    said = next(reason for reason in found.placements["training_reads"].reasons if reason.id == "cheaper-together")
    assert (said.parameters["option"], said.parameters["other"]) == (EXPRESS, FSX)
    assert said.parameters["both"] == found.cost.beyond_base
    assert found.cost.beyond_base.value < said.parameters["cost"].value < reads_and_saves(found, EXPRESS)
    assert "cheaper-apart" in {reason.id for reason in found.option(EXPRESS).reasons}
    assert said.parameters["because"] == Reason("kept-dearer")


def test_why_what_is_cheaper_was_not_taken_is_said_with_the_amount() -> None:
    job = job_of(Workload.from_mapping(BOTH, load()), load(), None)[0]
    chosen = Quantity(90, 100, 200, "USD")
    assert kept(Quantity(90, 101, 120, "USD"), chosen, 20.0, job) == Reason("kept-dearer")
    assert kept(Quantity(80, 85, 200, "USD"), chosen, 20.0, job).parameters == {"amount": 20.0, "currency": "USD"}
    assert kept(Quantity(10, 20, 201, "USD"), chosen, 20.0, job) == Reason("kept-in-doubt")


def test_a_choice_is_the_cheapest_of_those_that_beat_the_rule_in_whatever_order() -> None:
    """100 M photos of 110 kB in 10 epochs: FSx for Lustre beats S3 as well, and a directory bucket costs half of it."""
    found = plan(
        {
            "task": "pretraining",
            "preset": "image-classification",
            "instances": 8,
            "instance_type": "p5.48xlarge",
            "dataset_bytes": 11e12,
            "objects": 100_000_000,
            "epochs": 10,
            "checkpoint_bytes": 1.5e9,
        }
    )
    costs = {one.option: one.weighed.value for one in found.options if one.weighed is not None}
    assert found.recommended == EXPRESS == min(costs, key=costs.__getitem__)
    said = {reason.id: reason.parameters for reason in found.placements["training_reads"].reasons}
    assert said["model-cheaper"]["cost"].value == costs[EXPRESS]
    assert said["model-cheaper"]["other_cost"].value == costs[S3]
    # FSx for Lustre would be taken if it were known to load in less than the middle, at which it costs more.
    decides = next(warning.parameters for warning in found.warnings if warning.id == "loading-rate-decides")
    load = found.option(FSX).first_epoch.load_seconds
    assert load is not None and (decides["option"], decides["other"]) == (FSX, EXPRESS)
    assert decides["flips_at"].value < load.value


def test_what_rules_the_rules_option_out_is_said() -> None:
    found = plan(LLM, instances=1, interface="file-paths", data_in_s3=False, checkpoints="rare")
    said = {reason.id: reason.parameters for reason in found.placements["training_reads"].reasons}
    assert (found.rule.option, said["model-rule-cannot"]["because"].id) == (S3, "serves-no-files")


def test_a_system_that_saves_less_than_setting_it_up_is_worth_is_not_one() -> None:
    # One hour of two p4d.24xlarge, 43.9: a directory bucket would save 0.47, and setting it up takes an hour of one.
    lora = {"task": "lora", "instances": 2, "instance_type": "p4d.24xlarge", "model_parameters": 70e9}
    found = plan(lora, dataset_bytes=20e9, run_hours=1)
    assert {one.option for one in found.placements.values() if one.role != "scratch"} == {S3}
    said = next(r for r in found.placements["checkpoints"].reasons if r.id == "saving-too-little")
    assert said.parameters["amount"] == pytest.approx(21.95, abs=0.05)


def test_s3_which_every_plan_has_is_left_only_for_what_is_worth_its_setting_up() -> None:
    # 300 p5.48xlarge for 1,500 hours are USD 24.8 million, of which a change has to save 0.01 %; a system is worth 20
    # hours of one instance at USD 55.04.
    found = plan(
        {
            "task": "pretraining",
            "instances": 300,
            "instance_type": "p5.48xlarge",
            "preset": "llm-text",
            "dataset_bytes": 360e9,
            "objects": 24_000,
            "interface": "s3-api",
            "run_hours": 1500,
            "checkpoint_interval": 14_400,
            "checkpoint_mode": "async",
        }
    )
    on_s3, on_express = (found.option(option).cost_of_reads for option in (S3, EXPRESS))
    assert on_s3 is not None and on_express is not None
    assert found.rule.option == EXPRESS and found.least_saving == pytest.approx(0.0001 * 300 * 1500 * 55.04)
    # It costs less by less than that, and spares the directory bucket as well.
    assert 200 < on_express.value - on_s3.value < 250 < found.least_saving
    said = {reason.id: reason.parameters for reason in found.placements["training_reads"].reasons}
    assert (found.recommended, said["model-cheaper"]["other"]) == (S3, EXPRESS)
    decided = decide(found.workload, load())
    needed = [to_replace(one, decided.fit[other], decided.job) for one, other in ((S3, EXPRESS), (EXPRESS, S3))]
    assert needed == [pytest.approx(-20 * 55.04), pytest.approx(20 * 55.04 + found.least_saving)]
    # Of two that have to be set up the one has to save what any change has to.
    assert to_replace(FSX, decided.fit[EXPRESS], decided.job) == pytest.approx(found.least_saving)


#: 281 g5.12xlarge at USD 5.672 read 6 GB for four hours.
SHORT = {
    "task": "pretraining",
    "instances": 281,
    "instance_type": "g5.12xlarge",
    "preset": "mlperf-unet3d",
    "dataset_bytes": 6.08e9,
    "objects": 11_215,
    "model_parameters": 4e8,
    "run_hours": 4,
    "prefixes": 256,
}


def test_s3_may_cost_more_than_a_system_by_no_more_than_setting_that_up_is_worth() -> None:
    found = plan(SHORT)
    assert (found.rule.option, found.recommended) == (FSX, S3)
    on_s3, on_fsx = (found.option(option).cost_of_reads for option in (S3, FSX))
    assert on_s3 is not None and on_fsx is not None
    said = {reason.id: reason.parameters for reason in found.placements["training_reads"].reasons}
    spared = said["model-spares-setting-up"]
    assert "model-cheaper" not in said
    assert (spared["cost"], spared["other_cost"]) == (on_s3, on_fsx)
    # 1 % of what the GPUs of the run cost: 281 × 4 h × USD 5.672.
    assert spared["amount"] == pytest.approx(0.01 * 281 * 4 * 5.672)
    assert on_fsx.value < on_s3.value < on_fsx.value + spared["amount"] and on_s3.high < on_fsx.high


def test_a_file_system_that_is_not_wanted_is_worth_no_more_than_it_costs() -> None:
    decided = decide(Workload.from_mapping(SHORT | {"avoid_parallel_file_system": True}, load()), load())
    job, on_fsx = decided.job, decided.fit[FSX]
    # Setting it up is spared for S3, and a directory bucket in its place need not save more than nothing.
    assert to_replace(S3, on_fsx, job) == pytest.approx(-0.01 * 281 * 4 * 5.672)
    assert to_replace(EXPRESS, on_fsx, job) == 0.0


def test_without_the_checkpoints_the_reads_go_where_they_cost_less() -> None:
    rarely = plan(BOTH, checkpoint_interval=100_000.0)
    assert rarely.recommended == EXPRESS
    apart, both = (
        decide(Workload.from_mapping(BOTH | more, load()), load()) for more in ({"checkpoint_interval": 100_000.0}, {})
    )
    because = why("training_reads", apart, both)
    assert (because.id, because.parameters["option"]) == ("flip-together", EXPRESS)
    assert why("training_reads", both, apart).id == "flip-apart"


def test_options_are_compared_by_what_each_costs_for_the_reads() -> None:
    """The file system of the plan has room and rates for the checkpoints, which its rivals' reads do not pay for."""
    found = plan(BOTH, stall_tolerance=0.05)
    shared, alone = found.option(FSX).cost.beyond_base, found.option(FSX).cost_of_reads
    assert shared is not None and alone is not None and alone.value < shared.value
    dearer = next(r for r in found.option(S3).reasons if r.id == "dearer")
    on_s3 = found.option(S3).cost_of_reads
    assert on_s3 is not None and dearer.parameters["amount"] == pytest.approx(on_s3.value - alone.value)


def test_a_rule_about_checkpoints_is_said_of_s3_and_does_not_bar_it_from_the_reads() -> None:
    found = plan(LLM, instances=8, checkpoints="frequent", checkpoint_interval=600)
    assert (found.rule.option, found.recommended) == (FSX, S3)
    assert "not-for-frequent-checkpoints" in {reason.id for reason in found.option(S3).reasons}
    # What they save is not kept there.
    assert found.placements["checkpoints"].option != S3


def test_what_was_ordered_for_the_checkpoints_alone_is_what_is_told() -> None:
    """Of a file system that only the reads would have had, nothing is said to whoever orders another."""
    found = plan(LLM, restore_target=24, interface="s3-api", instances=4)
    assert (found.recommended, found.placements["checkpoints"].option) == (S3, FSX)
    own = found.saving(FSX).own
    assert own is not None
    told = {caveat.id for caveat in found.warnings if caveat.id.startswith("fsx-unpriced")}
    assert told == {note.id for note in own.notes if note.id.startswith("fsx-unpriced")}


# ---- the way of saves ------------------------------------------------------------------------------------------------


def line(found: Recommendation, option: str, line_id: str) -> CostLine | None:
    return next((line for line in found.saving(option).lines if line.id == line_id), None)


def test_saves_through_a_nat_gateway_pay_for_every_byte() -> None:
    found = plan(LLM, network_path="nat")
    # 1,460 × 980 GB are 1,332,537 GiB at USD 0.045.
    for option in (S3, EXPRESS):
        through = line(found, option, "checkpoint-transfer")
        assert through is not None and through.amount is not None
        assert through.amount.value == pytest.approx(1460 * 980e9 / 2**30 * 0.045)
    # File systems lie in the VPC, and export on ways of their own.
    assert line(found, FSX, "checkpoint-transfer") is None and line(found, "s3-files", "checkpoint-transfer") is None
    assert line(plan(LLM, network_path="gateway-endpoint"), S3, "checkpoint-transfer") is None


def test_each_part_of_a_save_asks_for_a_key_where_buckets_have_none() -> None:
    # 256 ranks save 3.83 GB each: 97 parts of 38 MiB, and two requests around them.  1,460 saves are 37.0 million
    # requests; a bucket key spares 99 of 100.  USD 0.03 for 10,000.
    calls = 1460 * 256 * (97 + 2)
    for encryption, share in (("sse-kms", 1.0), ("sse-kms-bucket-key", 0.01)):
        keys = line(plan(LLM, encryption=encryption), S3, "checkpoint-kms")
        assert keys is not None and keys.amount is not None
        assert keys.amount.value == pytest.approx(calls * share * 0.03 / 10_000)
    # A directory bucket always has a bucket key: asked are the keys of the copies in S3, as those of exports are.
    found = plan(LLM, encryption="sse-kms")
    # Copies are in the same parts as saves to S3; exports are taken to be in 457 parts of 8 MiB.
    for option, parts in ((EXPRESS, 97), (FSX, 457)):
        calls = 1460 * 256 * (parts + 2)
        keys = line(found, option, "checkpoint-kms")
        assert keys is not None and keys.quantity is not None and keys.quantity.value * 1000 == pytest.approx(calls)


def test_a_way_that_is_not_priced_leaves_the_plan_without_a_total() -> None:
    found = plan(LLM, network_path="other-region")
    assert found.saving(S3).total is None
    through = line(found, S3, "checkpoint-transfer")
    assert through is not None and through.amount is None


def test_where_one_key_prefix_keeps_saves_from_s3_it_says_how_many_would_do() -> None:
    """8,000 ranks save 1.75 GB each: in 128 MiB, for which memory is taken, 14 parts and two requests around them."""
    job = {"task": "pretraining", "instances": 1000, "instance_type": "p5en.48xlarge", "checkpoint_bytes": 14e12}
    job |= {"dataset_bytes": 60e12, "interface": "s3-api", "checkpoint_interval": 3600, "run_hours": 1000}
    found = plan(job)
    saved = found.placements["checkpoints"]
    assert saved.option == "s3-express-one-zone"
    [said] = [reason.parameters for reason in saved.reasons if reason.id == "saving-under-one-prefix"]
    assert said["part"].value == 128 and said["rate"].value == pytest.approx(3500 * 1.75e9 / (14 + 2))
    written = found.saving("s3-express-one-zone").supply.write_bytes_per_s
    assert written is not None
    # Express: in 17 parts of 99 MiB, ten of a rank at once, each in 4 ms and 103.8 MB at 110 MB/s: 8.76 TB/s; in 18 its
    # requests would last longer.  S3: each part of 128 MiB in 30 ms and 134.2 MB at 20 MB/s: 1.59 TB/s, 4.2 times.
    assert written.value == pytest.approx(80_000 * 99 * 2**20 / (0.004 + 99 * 2**20 / 110e6))
    assert said["given"].value == written.value
    assert said["reached"].value == pytest.approx(80_000 * 2**27 / (0.03 + 2**27 / 20e6))
    assert said["prefixes"] == 5


@settings(max_examples=60, deadline=None)
@given(
    st.fixed_dictionaries(
        {
            "task": st.sampled_from(["pretraining", "lora"]),
            "instances": st.sampled_from([1, 8, 17, 64, 300]),
            "instance_type": st.sampled_from(["p5.48xlarge", "g5.48xlarge"]),
            "model_parameters": st.sampled_from([1e9, 8e9, 70e9, 405e9]),
            "checkpoint_interval": st.sampled_from([60.0, 300.0, 1800.0, 40_000.0]),
            "checkpoint_mode": st.sampled_from(["sync", "async"]),
            "interface": st.sampled_from(["any", "posix", "file-paths", "s3-api"]),
            "dataset_bytes": st.sampled_from([1e10, 1e12, 1e14]),
            "region": st.sampled_from(["us-east-1", "eu-central-1"]),
        }
    )
)
def test_a_file_system_for_both_that_is_not_judged_would_not_have_been_chosen(traits: dict[str, Any]) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(together, "_never", lambda *_, **__: False)
        judged = plan(traits)
    assert {name: one.option for name, one in plan(traits).placements.items()} == {
        name: one.option for name, one in judged.placements.items()
    }


@pytest.mark.parametrize("size", [1.2e9, 1.25e9])
def test_one_mount_for_both_is_weighed_as_a_whole_beside_a_file_system_for_both(size: float) -> None:
    # A program that wants files, reads at random, and saves a small checkpoint every ten minutes.
    random_reads = {
        "task": "pretraining",
        "instances": 8,
        "instance_type": "p5.48xlarge",
        "model_parameters": 8e9,
        "dataset_bytes": 2e12,
        "interface": "file-paths",
        "reads": "random",
        "request_bytes": 16_384,
        "checkpoint_interval": 600,
        "run_hours": 72,
        "jobs": 4,
        "region": "us-east-2",
    }
    found = plan(random_reads, checkpoint_bytes=size)
    placed = found.placements
    assert (placed["training_reads"].option, placed["checkpoints"].option) == ("mountpoint-s3", "mountpoint-s3")
    reason = next(it for it in placed["training_reads"].reasons if it.id == "cheaper-together")
    assert (reason.parameters["option"], reason.parameters["for_both"]) == ("s3-files", "mountpoint-s3")
    reads, saves = found.option("mountpoint-s3").cost_of_reads, found.saving("mountpoint-s3").total
    assert reads is not None and saves is not None and found.cost.beyond_base is not None
    assert found.cost.beyond_base.value == pytest.approx(reads.value + saves.value)
    # Neither the other mount for both nor a file system for both costs so little.
    for option in ("s3-files", FSX):
        other, saved = found.option(option).weighed, found.saving(option).weighed
        assert other is not None and saved is not None
        assert other.value + saved.value > found.cost.beyond_base.value
