"""What holds for the plan of every workload that can be entered: a few hundred of them, always the same."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Iterator
from typing import Any

import pytest

from gpufeed.facts import load
from gpufeed.facts.messages import LANGUAGES
from gpufeed.model import workload as fields
from gpufeed.model.advise import recommend
from gpufeed.model.alternatives import alternatives
from gpufeed.model.checkpoint_plan import checkpoint_plan
from gpufeed.model.course import course
from gpufeed.model.file_system import sized
from gpufeed.model.recommendation import Recommendation
from gpufeed.model.rules import NVME, SYSTEMS
from gpufeed.model.workload import Workload
from gpufeed.present import contract, plain, tables

OF_CHECKPOINTS = (tables.saves, tables.goodput, tables.failures, tables.restores, tables.retention, tables.timelines)
OF_PLAN = (
    *(tables.placements, tables.opinions, tables.options, tables.epochs, tables.bursts),
    *(tables.checkpoints, tables.supplies, tables.costs, tables.bill),
)
RULED_OUT = {"not-in-region", "backing-not-in-region", "serves-no-files", "not-the-s3-api", "cannot-do-operation"}


def some_workloads(count: int, seed: int) -> Iterator[dict[str, Any]]:
    pick, facts = random.Random(seed), load()

    def between(low: float, high: float) -> float:
        return math.exp(pick.uniform(math.log(low), math.log(high)))

    optional = {
        "preset": lambda: pick.choice(list(facts.workloads)),
        "model_parameters": lambda: between(1e6, 1e13),
        "precision": lambda: pick.choice(fields.PRECISIONS),
        "sample_bytes": lambda: between(1, 1e11),
        "samples_per_second_per_accelerator": lambda: between(1e-4, 1e6),
        "dataset_bytes": lambda: between(1, 1e18),
        "objects": lambda: int(between(1, 1e13)),
        "reads": lambda: pick.choice(fields.READS),
        "request_bytes": lambda: between(1, 1e10),
        "workers_per_accelerator": lambda: int(between(1, 1024)),
        "prefixes": lambda: int(between(1, 1e6)),
        "checkpoint_mode": lambda: pick.choice(fields.CHECKPOINT_MODES),
        "checkpoint_interval": lambda: between(0.1, 1e7),
        "checkpoint_bytes": lambda: between(1, 1e16),
        "restore_target": lambda: between(0.1, 1e6),
        "checkpoints": lambda: pick.choice(fields.CHECKPOINT_FREQUENCIES),
        "interface": lambda: pick.choice(fields.INTERFACES),
        "file_operations": lambda: pick.sample(fields.FILE_OPERATIONS, pick.randint(0, 3)),
        "data_in_s3": lambda: pick.random() < 0.7,
        "avoid_parallel_file_system": lambda: pick.random() < 0.5,
        "run_hours": lambda: between(0.01, 1e6),
        "gpu_hour_price": lambda: between(0.01, 1e6),
        "storage_discount": lambda: between(0.01, 0.99),
        "region": lambda: pick.choice(list(facts.regions)),
    }
    for _ in range(count):
        traits = {"task": pick.choice(fields.TASKS), "instances": pick.choice([1, 16, 17, 125, 500, 501, 4000])}
        if pick.random() < 0.7:
            traits["instance_type"] = pick.choice(list(facts.instances))
        else:
            traits |= {"accelerator": pick.choice(list(facts.accelerators)), "accelerators_per_instance": 8}
        traits |= {name: choose() for name, choose in optional.items() if pick.random() < 0.4}
        # No object is smaller than a byte, and no sample larger than the data set.
        if "dataset_bytes" in traits:
            parts = (traits.get("objects", 1), traits.get("sample_bytes", 1.0))
            traits["dataset_bytes"] = max(traits["dataset_bytes"], *parts)
        yield traits


@pytest.fixture(scope="module")
def plans() -> list[Recommendation]:
    facts = load()
    return [recommend(Workload.from_mapping(traits, facts), facts) for traits in some_workloads(300, seed=1)]


def ranges(document: Any) -> Iterator[tuple[float, float, float]]:
    if isinstance(document, dict):
        if document.keys() == {"low", "value", "high"}:
            high = document["high"]  # null where AWS names only the most that S3 Files imports
            yield document["low"], document["value"], math.inf if high is None else high
        for value in document.values():
            yield from ranges(value)
    elif isinstance(document, list):
        for value in document:
            yield from ranges(value)


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_plan_can_be_said_and_written(
    plans: list[Recommendation], language: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GPUFEED_LANGUAGE", language)
    for plan in plans:
        document = contract.recommendation(plan, load(), [], {})
        json.dumps(document, allow_nan=False)
        for low, value, high in ranges(document):
            assert 0 <= low <= value * (1 + 1e-9) and value <= high * (1 + 1e-9), plan.workload
        said = "".join(plain.recommendation(plan))
        assert not {"{", "}"} & set(said), plan.workload
        assert [option for option in SYSTEMS if option in said] == [], plan.workload  # by its name, not its id


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_follows_from_every_plan_can_be_said_and_written(
    plans: list[Recommendation], language: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its file systems, its checkpoints, what else would pay, and its course, as the shell, panels and reports show."""
    monkeypatch.setenv("GPUFEED_LANGUAGE", language)
    facts = load()
    for plan in plans:
        found, saved = sized(plan.workload, facts, plan=plan), checkpoint_plan(plan, facts)
        others, steps = alternatives(plan, facts), course(plan, facts)
        documents = (contract.file_systems(found), contract.alternatives(others), contract.timeline(steps))
        json.dumps(documents, allow_nan=False)
        said = [
            *plain.file_systems(found),
            *plain.alternatives(plan, others),
            *plain.course(steps),
            *tables.checkpoint_sentences(saved),
            *tables.memory_first(saved.memory_first),
            *tables.file_system_sentences(found),
            *tables.why(plan),
        ]
        shown = (
            *(table(saved) for table in OF_CHECKPOINTS),
            *(table(plan) for table in OF_PLAN),
            tables.file_systems(found),
        )
        said += [cell for frame in shown for row in frame.itertuples(index=False) for cell in row]
        assert not {"{", "}"} & set("".join(said)), plan.workload


def test_shares_are_shares(plans: list[Recommendation]) -> None:
    for plan in plans:
        for share in [q for answer in plan.options for q in (answer.fed, answer.stall.share) if q is not None]:
            assert 0 <= share.low <= share.value <= share.high <= 1, plan.workload


def test_no_role_is_placed_on_an_option_that_cannot_do_the_job(plans: list[Recommendation]) -> None:
    for plan in plans:
        able, to_save = (
            {answer.option for answer in plan.options if not out & {reason.id for reason in answer.reasons}}
            for out in (RULED_OUT, RULED_OUT - {"not-the-s3-api"})  # a saver is another program than the loader
        )
        assert [answer.verdict for answer in plan.options].count("recommended") == 1
        assert plan.recommended in able or not able, plan.workload
        assert plan.placements["checkpoints"].option in to_save or not to_save, plan.workload
        assert {placed.option for placed in plan.placements.values()} <= {*SYSTEMS, NVME}


def test_who_decided_is_who_said_so(plans: list[Recommendation]) -> None:
    for placed in [placed for plan in plans for placed in plan.placements.values()]:
        assert placed.option == (placed.rule if placed.decided_by == "rule" else placed.model)


def test_the_course_of_every_plan_is_what_its_bill_has_and_what_its_storage_needs(plans: list[Recommendation]) -> None:
    facts, express, lustre = load(), "s3-express-one-zone", "fsx-for-lustre"
    for plan in plans:
        ids = [step.id for step in course(plan, facts)]
        billed = {line.id for line in plan.cost.lines}
        reads, saves = plan.placements["training_reads"], plan.placements["checkpoints"]
        loads = [one for one in ids if one.startswith("bring-in")]
        assert bool(loads) is bool({"loading-storage", "copy-upload"} & billed), plan.workload
        if reads.lies_on == express:
            assert loads[0].endswith(express), plan.workload
        if saves.lies_on == express:
            copies = ids.index(f"export.{express}")
            assert copies < ids.index(f"delete.{express}"), plan.workload
            assert "checkpoint-copy-puts" in billed or plan.demand.checkpoint_bytes is None, plan.workload
        if lustre not in {reads.option, saves.option}:
            assert [one for one in ids if lustre in one or "behind" in one] == [] or saves.option == "s3-files"
