"""The JSON of the shell contract: the numbers the panels show, ids in English, sentences in the language in force."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from typing import Any

from gpufeed.facts import Facts
from gpufeed.facts.messages import text
from gpufeed.facts.quantity import Quantity
from gpufeed.model.alternatives import Alternative
from gpufeed.model.course import Step
from gpufeed.model.file_system import Comparison, Sized
from gpufeed.model.fsx import Carried, Configuration, Need
from gpufeed.model.recommendation import (
    AllJobs,
    Bursts,
    CheckpointStall,
    CopyOnce,
    Cost,
    CostLine,
    Demand,
    Evaluation,
    FlipPoint,
    LaterEpochs,
    OptionAnswer,
    Placement,
    Reason,
    Recommendation,
    Saving,
    Starts,
)
from gpufeed.model.rules import NVME
from gpufeed.model.small_files import OptionVerdict, SmallFiles
from gpufeed.present import words


def ranged(quantity: Quantity | None) -> dict[str, float | None] | None:
    """``{low, value, high}``, or null for what is not known."""
    return None if quantity is None else quantity.to_json()


def recommendation(
    plan: Recommendation,
    facts: Facts,
    flip_points: Sequence[FlipPoint],
    searched: Mapping[str, tuple[float, float]],
) -> dict[str, Any]:
    """What ``gpufeed recommend --json`` prints."""
    rule = plan.rule
    return {
        "recommended": plan.recommended,
        "fed": ranged(plan.fed),
        "rule": {
            "option": rule.option,
            "also_allowed": list(rule.also_allowed),
            "rules": list(rule.rules),
            "verdict": rule.verdict,
            "triggers": list(rule.triggers),
            "gaps": [{"id": gap, "text": words.gap(gap)} for gap in rule.gaps],
        },
        "placements": {role: _placement(placed) for role, placed in plan.placements.items()},
        "options": [_option(answer, plan.saving(answer.option)) for answer in plan.options],
        "copy_once": _copy_once(plan.copy_once),
        "demand": _demand(plan.demand),
        "traffic": {
            "evaluation": _ranged_fields(plan.traffic.evaluation),
            "starts": _ranged_fields(plan.traffic.starts),
        },
        "gpu_hour_price": ranged(plan.gpu_hour_price),
        "cost": _cost(plan.cost),
        "flip_points": [_flip(point) for point in flip_points],
        "searched": {trait: list(bounds) for trait, bounds in searched.items()},
        "warnings": [words.warning(warning) for warning in plan.warnings],
        "facts_as_of": ages(facts),
        "region": plan.region,
        "currency": plan.currency,
    }


def alternatives(found: Sequence[Alternative]) -> list[dict[str, Any]]:
    """The ``alternatives`` key: what else would pay, and what each saves over the run."""
    return [
        {
            "id": one.reason.id,
            "text": words.reason(one.reason),
            "saves": one.saves,
            "figures": {name: ranged(it) for name, it in one.reason.parameters.items() if isinstance(it, Quantity)},
            "source": one.reason.source,
        }
        for one in found
    ]


def timeline(steps: Sequence[Step]) -> list[dict[str, Any]]:
    """The ``timeline`` key: the course of the run."""
    return [
        {"id": step.id, "when": step.when, "seconds": ranged(step.seconds), "text": words.step(step)} for step in steps
    ]


def ages(facts: Facts) -> dict[str, Any]:
    """How old the facts of each file are; prices of the user's own stand apart."""
    return {
        file: {"oldest": age.oldest, "newest": age.newest, "undated": age.undated}
        for file, age in facts.as_of().items()
    }


def _placement(placed: Placement) -> dict[str, Any]:
    measured = None
    if placed.measured_used_as is not None:
        measured = {"option": placed.measured, "used_as": placed.measured_used_as}
    document: dict[str, Any] = {
        "option": placed.option,
        "backed_by": placed.backed_by,
        "configuration": dict(placed.configuration),
        "decided_by": placed.decided_by,
        "opinions": {"rule": {"option": placed.rule}, "model": {"option": placed.model}, "measured": measured},
        "reasons": [words.reason(reason) for reason in placed.reasons],
    }
    if placed.role == "checkpoints":
        document |= {"mode": placed.mode, "interval": placed.interval}
    if placed.role == "scratch":
        document["delete_when"] = placed.delete_when and text(f"delete-when.{placed.delete_when}")
    return document


def _flip(point: FlipPoint) -> dict[str, Any]:
    return {
        "trait": point.trait,
        "now": point.now,
        "stated": point.stated,
        "at": point.at,
        "role": point.role,
        "from_option": point.from_option,
        "option": point.option,
        "reason": {"id": point.reason.id, "text": words.reason(point.reason)},
    }


def _option(answer: OptionAnswer, saving: Saving) -> dict[str, Any]:
    first = answer.first_epoch
    return {
        "option": answer.option,
        "backed_by": answer.backed_by,
        "verdict": answer.verdict,
        "reasons": reasons(answer.reasons),
        "configuration": dict(answer.supply.configuration),
        "read_bytes_per_s": ranged(answer.supply.read_bytes_per_s),
        "limited_by": words.limit(answer.supply.limited_by),
        "limited_by_id": answer.supply.limited_by,
        "fed": ranged(answer.fed),
        "checkpoint_stall": _stall(answer.stall),
        "checkpoints": {
            "configuration": dict(saving.supply.configuration),
            "cost": ranged(saving.total),
            "elsewhere": ranged(saving.elsewhere),
            "lines": [_cost_line(line) for line in saving.lines],
            "room": ranged(saving.room),
        },
        "cost": _cost(answer.cost),
        "cost_of_reads": ranged(answer.cost_of_reads),
        "cost_of_reads_elsewhere": None if answer.cost_of_reads else ranged(answer.weighed),
        "first_epoch": {
            "fed": ranged(first.fed),
            "seconds": ranged(first.takes),
            "read_bytes_per_s": ranged(first.read_bytes_per_s),
            "limited_by": words.limit(first.limited_by),
            "limited_by_id": first.limited_by,
            "part_bytes": ranged(first.part),
            "load_seconds": ranged(first.bound(first.load_seconds)),
            "load_cost": ranged(first.bound(first.load_cost)),
            "waits_seconds": ranged(first.bound(first.waits_seconds)),
            "waits_cost": ranged(first.bound(first.waits_cost)),
            "way": first.way,
        },
        "later_epochs": _later(answer.later_epochs),
        "bursts": _ranged_fields(answer.bursts),
    }


def _later(later: LaterEpochs | None) -> dict[str, Any] | None:
    if later is None:
        return None
    return {"fed": ranged(later.fed), "served_by": later.served_by, "asked_again": ranged(later.asked_again)}


def _copy_once(copy: CopyOnce | None) -> dict[str, Any] | None:
    if copy is None:
        return None
    return {
        "option": NVME,
        "bytes_per_node": ranged(copy.bytes_per_node),
        "capacity": ranged(copy.capacity),
        "fits": copy.fits,
        "seconds": ranged(copy.seconds),
        "fed_at_least": ranged(copy.fed_at_least),
        "cost_at_most": ranged(copy.cost_at_most),
        "cost_at_least": ranged(copy.cost_at_least),
    }


def _stall(stall: CheckpointStall) -> dict[str, Any]:
    return {
        "save_seconds": ranged(stall.save_seconds),
        "stall_seconds": ranged(stall.stall_seconds),
        "blocks_seconds": ranged(stall.blocks_seconds),
        "beyond_seconds": ranged(stall.beyond_seconds),
        "share": ranged(stall.share),
        "interval": stall.interval,
        "best_interval": stall.best_interval,
        "fits_interval": stall.fits_interval,
        "restore_seconds": ranged(stall.restore_seconds),
    }


def _cost(cost: Cost) -> dict[str, Any]:
    return {
        "storage_per_month": ranged(cost.storage_per_month),
        "storage": ranged(cost.storage),
        "requests": ranged(cost.requests),
        "transfer": ranged(cost.transfer),
        "kms": ranged(cost.kms),
        "loading": ranged(cost.loading_shown),
        "idle_gpu": ranged(cost.idle_gpu),
        "total": ranged(cost.total),
        "beyond_base": ranged(cost.beyond_base),
        "elsewhere": ranged(cost.elsewhere),
        "not_priced": list(cost.not_priced),
        "lines": [_cost_line(line) for line in cost.lines],
    }


def _cost_line(line: CostLine) -> dict[str, Any]:
    return {
        "id": line.id,
        "text": words.cost_line(line),
        "part": line.part,
        "quantity": ranged(line.bound(line.quantity)),
        "unit": line.unit,
        "unit_price": ranged(line.unit_price),
        "amount": ranged(line.bound(line.amount)),
        "by_capacity_block": line.by_capacity_block,
        "sources": [] if line.unit_price is None else sorted(line.unit_price.sources),
    }


def _demand(demand: Demand) -> dict[str, Any]:
    return {
        "accelerators": demand.accelerators,
        "read_bytes_per_s": ranged(demand.read_bytes_per_s),
        "read_requests_per_s": ranged(demand.read_requests_per_s),
        "samples_per_s": ranged(demand.samples_per_s),
        "tokens_per_s_per_accelerator": ranged(demand.tokens_per_s_per_accelerator),
        "request_bytes": ranged(demand.request_bytes),
        "object_bytes": ranged(demand.object_bytes),
        "in_flight": demand.in_flight,
        "checkpoint_bytes": ranged(demand.checkpoint_bytes),
        "checkpoint_write_bytes_per_s": ranged(demand.checkpoint_write_bytes_per_s),
        "restore_bytes": ranged(demand.restore_bytes),
        "restore_bytes_per_s": ranged(demand.restore_bytes_per_s),
        "checkpoint_writers": demand.checkpoint_writers,
        "checkpoint_part_bytes": ranged(demand.checkpoint_part_bytes),
        "checkpoint_part_bytes_express": ranged(demand.checkpoint_part_bytes_express),
        "mean_time_to_failure": ranged(demand.mean_time_to_failure),
        "jobs": demand.jobs,
        "all_jobs": _ranged_fields(demand.all_jobs),
    }


def _ranged_fields(of: AllJobs | Bursts | Evaluation | Starts | None) -> dict[str, Any] | None:
    """Each of its numbers under its own name."""
    return None if of is None else {field.name: ranged(getattr(of, field.name)) for field in fields(of)}


def small_files(found: SmallFiles | None) -> dict[str, Any]:
    """The ``small_files``, ``per_option`` and ``shard_plan`` keys of a scan."""
    if found is None:
        nothing = {"problem": False, "threshold_bytes": None, "share_of_objects": None, "share_of_bytes": None}
        return {
            "small_files": nothing | {"reason": text("small-files.nothing")},
            "per_option": [],
            "shard_plan": None,
        }
    headline, plan = found.headline, found.shard_plan
    return {
        "small_files": {
            "problem": headline.problem,
            "threshold_bytes": headline.threshold_bytes.value,
            "threshold_bytes_range": ranged(headline.threshold_bytes),
            "share_of_objects": found.share_of_objects,
            "share_of_bytes": found.share_of_bytes,
            "concurrency": found.concurrency,
            "reason": text(f"small-files.{headline.reason}"),
        },
        "per_option": [_verdict(verdict) for verdict in found.per_option],
        "shard_plan": None
        if plan is None
        else {
            "shard_bytes": plan.shard_bytes,
            "shards": plan.shards,
            "objects_per_shard": plan.objects_per_shard,
            "requests_before": plan.requests_before,
            "requests_after": plan.requests_after,
        },
    }


def _verdict(verdict: OptionVerdict) -> dict[str, Any]:
    return {
        "option": verdict.option,
        "problem": verdict.problem,
        "threshold_bytes": verdict.threshold_bytes.value,
        "epoch_seconds": None if verdict.epoch_seconds is None else verdict.epoch_seconds.value,
        "epoch_seconds_range": ranged(verdict.epoch_seconds),
        "requests": verdict.requests,
        "request_cost": None if verdict.request_cost is None else verdict.request_cost.value,
        "latency_share": ranged(verdict.latency_share),
        "limited_by": words.limit(verdict.limited_by),
        "reason": text(f"small-files.{verdict.reason}"),
    }


def file_systems(sized: Sized) -> dict[str, Any]:
    """What ``gpufeed fsx --json`` prints."""
    found = sized.found
    return {
        "region": sized.region,
        "currency": sized.currency,
        "need": _need(sized.need),
        "priced": [_file_system(one) for one in found.priced],
        "unpriced": [_file_system(one) for one in found.unpriced],
        "lacking": [_file_system(one) for one in found.lacking],
        "ruled_out": [{"type": out.name, "reasons": reasons(out.reasons)} for out in found.ruled_out],
        "types_confirmed": found.types_confirmed,
        "left_out": _left_out(sized),
    }


def _left_out(sized: Sized) -> dict[str, Any] | None:
    """What of the job the plan has elsewhere, and what a file system would need with it."""
    left_out = sized.left_out
    if left_out is None:
        return None
    return {"role": left_out.role, "option": left_out.option, "need_with_it": _need(left_out.need_with_it)}


def _need(need: Need) -> dict[str, Any]:
    return {
        "holds_bytes": need.holds_bytes,
        "leaves_bytes": need.leaves_bytes,
        "until_exported_bytes": need.until_exported_bytes,
        "exported_in_time_at_bytes_per_s": need.exported_in_time_at
        if math.isfinite(need.exported_in_time_at)
        else None,
        "read_bytes_per_s": need.rates["read"],
        "write_bytes_per_s": need.rates["write"],
        "opens_per_s": need.rates["opens"],
        "efa": need.efa,
        "random_reads": need.random_reads,
        "clients_carry": _carried(need.carried(efa=False)),
        "clients_carry_efa": _carried(need.carried(efa=True)) if need.efa else None,
    }


def _carried(carried: Carried) -> dict[str, Any]:
    """What of the rates that are asked a file system is sized for; ``bounds`` says what is asked beyond it."""
    return {
        "read_bytes_per_s": carried.read,
        "write_bytes_per_s": carried.write,
        "opens_per_s": carried.opens,
        "bounds": [bound._asdict() for bound in carried.bounds],
    }


def _file_system(one: Configuration) -> dict[str, Any]:
    return {
        "type": one.name,
        "configuration": dict(one.settings),
        "read_bytes_per_s": ranged(one.read_bytes_per_s),
        "write_bytes_per_s": ranged(one.write_bytes_per_s),
        "opens_per_s": ranged(one.opens_per_s),
        "size_set_by": one.size_set_by,
        "asked_gib": dict(one.asked_gib),
        "per_month": {
            "storage": ranged(one.storage_per_month),
            "metadata_iops": ranged(one.metadata_per_month),
            "total": ranged(one.per_month),
        },
        "lacks": reasons(one.lacks),
        "notes": reasons(one.notes),
    }


def reasons(of: Sequence[Reason]) -> list[dict[str, Any]]:
    return [{"id": r.id, "text": words.reason(r), "source": r.source} for r in of]


def comparison(found: Comparison, currency: str, asked: Sized | None = None) -> dict[str, Any]:
    """What ``gpufeed fsx --file-system --json`` prints."""
    return {
        "file_system": asdict(found.file_system),
        "need": _need(found.need),
        "left_out": None if asked is None else _left_out(asked),
        "enough": found.enough,
        "binds": found.binds,
        "rows": [
            {
                "trait": row.id,
                "has": _value(row.has),
                "needs": _value(row.needs),
                "verdict": row.verdict,
                "short_by": _value(row.short_by),
                "reasons": reasons((row.note,) if row.note else ()),
            }
            for row in found.rows
        ],
        "changes": reasons(found.changes),
        "instead": None if found.instead is None else _file_system(found.instead),
        "per_month": {"now": ranged(found.per_month_now), "then": ranged(found.per_month_then)},
        "currency": currency,
    }


def _value(value: Quantity | bool | str | None) -> Any:
    return ranged(value) if isinstance(value, Quantity) else value
