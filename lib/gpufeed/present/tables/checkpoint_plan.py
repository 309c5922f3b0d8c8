"""Checkpoints: saving, losing, restoring, keeping and releasing them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpufeed.facts import Facts
from gpufeed.facts.messages import text
from gpufeed.model.checkpoint_plan import CheckpointPlan, Checkpoints, FailureEffect, MemoryFirst, Restore
from gpufeed.model.observed_save import ObservedSave
from gpufeed.model.release import Export, Timeline
from gpufeed.model.release import gate as release_gate
from gpufeed.model.savers import IN_SHARDS, Ability, abilities, can_use, lacking
from gpufeed.present import words
from gpufeed.present.tables.frame import table

if TYPE_CHECKING:
    import pandas as pd


def checkpoint_sentences(plan: CheckpointPlan) -> list[str]:
    """What is saved, by whom, how often, and where the plan puts it."""
    demand = plan.plan.demand
    if plan.size is None:
        return [text("checkpoints.size-unknown")]
    one = plan.writers == 1
    said = [
        text("checkpoints.size", size=words.quantity(plan.size)),
        text(
            "checkpoints.one-writer" if one else "checkpoints.writers",
            writers=words.count(plan.writers),
            each=words.size(plan.bytes_per_file),
            ranks=words.count(demand.accelerators),
        ),
        text(f"checkpoints.mode.{demand.checkpoint_mode}", interval=words.duration(demand.checkpoint_interval)),
    ]
    placed = plan.placed
    if placed.lost is not None:
        said.append(
            text(
                "checkpoints.placed",
                option=words.option(placed.option),
                lost=words.quantity(placed.lost.now.lost),
                best=words.duration(placed.lost.best_interval),
                then=words.quantity(placed.lost.best.lost),
            )
        )
    beyond = placed.answer.stall.beyond_seconds
    if beyond is not None and beyond.value > 0:
        said.append(text("checkpoints.beyond", option=words.option(placed.option), beyond=words.quantity(beyond)))
    return said


def _name(plan: CheckpointPlan, option: Checkpoints) -> str:
    """An option, and which of its file systems the figures are of where that is another than the one of the reads."""
    return words.saver(plan.plan.option(option.option), plan.plan.saving(option.option))


def saves(plan: CheckpointPlan) -> pd.DataFrame:
    """Saving on each option: what the GPUs wait, until when it is written, whether that fits, and what rules it out."""
    return table(
        ("option", "verdict", "stall-time", "save-time", "beyond", "fits-interval", "against"),
        (
            (
                _name(plan, option),
                words.verdict(option.verdict),
                words.quantity(option.answer.stall.stall_seconds),
                words.quantity(option.answer.stall.save_seconds),
                _beyond(option),
                words.yes_no(option.answer.stall.fits_interval),
                words.sentences(*(words.reason(reason) for reason in (*option.cannot, *option.but))) or "–",
            )
            for option in plan.options
        ),
    )


def _beyond(option: Checkpoints) -> str:
    beyond = option.answer.stall.beyond_seconds
    return "–" if beyond is None else words.quantity(beyond)


def goodput(plan: CheckpointPlan) -> pd.DataFrame:
    """Where the time goes at the stated interval, what that costs, and the interval that wastes least."""
    return table(
        (
            "option",
            "goodput",
            "lost",
            "saving-share",
            "rework",
            "restart",
            "lost-per-hour",
            "young",
            "daly",
            "best",
            "lost-best",
        ),
        (_goodput(_name(plan, option), option) for option in plan.options),
    )


def _goodput(name: str, option: Checkpoints) -> tuple[str, ...]:
    lost = option.lost
    if lost is None:
        return (name, *[text("present.unknown")] * 10)
    now = lost.now
    return (
        name,
        words.share(now.goodput.value),
        words.quantity(now.lost),
        words.share(now.saving.value),
        words.share(now.rework.value),
        words.share(now.restart.value),
        words.quantity(lost.per_hour, "present.not-priced"),
        words.duration(lost.young),
        words.duration(lost.daly),
        words.duration(lost.best_interval),
        words.quantity(lost.best.lost),
    )


def failures(plan: CheckpointPlan) -> pd.DataFrame:
    """Time between failures by what each source counts as one, and what each makes of the plan; never averaged."""
    return table(
        ("counts", "published-on", "published-time", "here", "best", "lost"),
        (_failure(effect) for effect in plan.failures),
    )


def _failure(effect: FailureEffect) -> tuple[str, ...]:
    definition = effect.definition
    per_node = definition.gpus is None
    return (
        text(f"failure.counts.{definition.id}"),
        text("failure.per-node") if per_node else text("failure.gpus", gpus=words.count(definition.gpus)),
        "–" if per_node else words.quantity(definition.published),
        words.quantity(definition.here),
        words.duration(effect.best_interval),
        words.quantity(effect.lost),
    )


def restores(plan: CheckpointPlan) -> pd.DataFrame:
    """Restoring on all nodes at once, in both ways; the last column is what this job does."""
    return table(
        ("option", "restore-shards", "restore-everything", "restore-base", "restore-here"),
        (_restore(_name(plan, option), option.restore) for option in plan.options),
    )


def _restore(name: str, restore: Restore | None) -> tuple[str, ...]:
    if restore is None:
        return (name, *[text("present.unknown")] * 4)
    return (
        name,
        words.quantity(restore.shards),
        words.quantity(restore.everything),
        "–" if restore.base is None else words.quantity(restore.base),
        text("present.used-as", option=words.quantity(restore.seconds), used_as=text(f"restore.{restore.way}")),
    )


def retention(plan: CheckpointPlan) -> pd.DataFrame:
    """What is kept, and what keeping and saving cost per month of running."""
    return table(
        ("option", "kept", "gib-months", "keeping", "saving-cost", "per-month", "not-priced"),
        (_retention(_name(plan, option), option) for option in plan.options),
    )


def _retention(name: str, option: Checkpoints) -> tuple[str, ...]:
    kept = option.retention
    if kept is None:
        return (name, *[text("present.unknown")] * 6)
    return (
        name,
        words.quantity(kept.kept),
        words.quantity(kept.gib_months),
        *(words.priced(part, kept.currency) for part in (kept.keeping, kept.saving, kept.total)),
        text("present.list-separator").join(text(f"cost.{part}") for part in kept.not_priced) or "–",
    )


def timelines(plan: CheckpointPlan) -> pd.DataFrame:
    """One save from its begin: GPUs go on, written, in S3, and when the fast copy may go."""
    return table(
        ("option", "gpus-continue", "save-time", "in-s3", "release"),
        (
            (
                _name(plan, option),
                words.quantity(option.timeline.gpus_continue),
                words.quantity(option.timeline.written),
                _in_s3(option.timeline),
                text(f"release.{option.timeline.release}"),
            )
            for option in plan.options
        ),
    )


def _in_s3(moments: Timeline) -> str:
    """When the copy that lasts is there; where export falls behind it is there of one save in so many."""
    when = words.quantity(moments.in_s3)
    return when if moments.every == 1 else text("checkpoints.in-s3-of-one-in", in_s3=when, every=moments.every)


def gate(export: Export) -> list[str]:
    """Whether a checkpoint may be released from FSx for Lustre, and what is missing."""
    found = release_gate(export)
    if found.open:
        return [text("gate.open")]
    return [text("gate.shut"), *(text(f"gate.{missing}") for missing in found.missing)]


_SHOWN_OPERATIONS = ("rename", "append", "overwrite", "random-write")


def file_operations(plan: CheckpointPlan | None, facts: Facts) -> pd.DataFrame:
    """What each option can do with a file; what this job and PyTorch's own file writer need and do not find there."""
    needed = frozenset() if plan is None else frozenset(plan.plan.workload.file_operations)
    return table(
        ("option", *_SHOWN_OPERATIONS, "dcp-files", "job-lacks"),
        (
            (
                _ability_name(ability),
                *(_can(ability, operation) for operation in _SHOWN_OPERATIONS),
                _serves(ability, facts),
                text("present.list-separator").join(lacking(ability, needed)) or "–",
            )
            for ability in abilities(facts)
        ),
    )


def _ability_name(ability: Ability) -> str:
    name = words.option(ability.option)
    if ability.backing is None:
        return name
    return text("present.backed-by", option=name, backing=words.option(ability.backing))


def _serves(ability: Ability, facts: Facts) -> str:
    if not ability.serves_files:
        return text("checkpoints.objects-only")
    return words.yes_no(can_use(IN_SHARDS, ability, facts))


def _can(ability: Ability, operation: str) -> str:
    if operation in ability.flags:
        return text("checkpoints.with-flag")
    return words.yes_no(operation in ability.operations)


def memory_first(found: MemoryFirst | None) -> list[str]:
    """Host memory first as a named alternative: what it costs, what it needs, and what it does not survive."""
    if found is None:
        return [text("memory-first.none")]
    fits = "unknown" if found.fits is None else "yes" if found.fits else "no"
    holds = "unknown" if found.drives_hold is None else "yes" if found.drives_hold else "no"
    return [
        text(
            "memory-first.what",
            copy=words.quantity(found.copy_seconds),
            best=words.duration(found.best_interval),
            goodput=words.quantity(found.best.goodput),
        ),
        text(
            f"memory-first.fits.{fits}",
            needed=words.quantity(found.bytes_per_node),
            memory=words.size(found.memory_per_node),
        ),
        text("memory-first.s3", every=words.quantity(found.s3_every)),
        text("memory-first.conditions"),
        text(f"memory-first.nvme.{holds}", drives=words.size(found.drives_per_node)),
    ]


def observed_save(found: ObservedSave) -> list[str]:
    """What a watched save says: its rate, what the GPUs waited, and what the cause is or is not."""
    said = []
    if found.bytes_per_s is not None:
        said.append(text("observed.rate", rate=words.rate(found.bytes_per_s), seconds=words.duration(found.seconds)))
    if found.floor_seconds is not None:
        said.append(
            text(
                "observed.floor",
                floor=words.rate(found.floor_bytes_per_s),
                seconds=words.duration(found.floor_seconds),
                share=words.share(found.share_of_floor),
            )
        )
    if found.gpu_wait_seconds is not None:
        said.append(text("observed.gpu-wait", seconds=words.duration(found.gpu_wait_seconds)))
    return [*said, text(f"observed.cause.{found.cause}")]
