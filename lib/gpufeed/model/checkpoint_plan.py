"""The checkpoints of one job: files, saving and restoring on each option, failures, keeping, and the way to S3."""

from __future__ import annotations

from dataclasses import dataclass, replace

from gpufeed.facts import Facts
from gpufeed.facts.quantity import Quantity
from gpufeed.model import goodput
from gpufeed.model.checkpoint import host_copy
from gpufeed.model.demand import restored_base, restores_everything
from gpufeed.model.epochs import passes_of
from gpufeed.model.failures import FailureDefinition, by_definition
from gpufeed.model.formulas import daly_interval, young_interval
from gpufeed.model.fsx import GIB
from gpufeed.model.goodput import Goodput, Losses
from gpufeed.model.recommendation import OptionAnswer, Reason, Recommendation
from gpufeed.model.release import Timeline, falling_behind, timeline
from gpufeed.model.retention import Retention, retention
from gpufeed.model.rules import MOUNTPOINT, S3, SYSTEMS
from gpufeed.model.savers import refused
from gpufeed.model.traffic import step_seconds
from gpufeed.model.upload import upload_of_saves
from gpufeed.model.weigh import CANNOT_SAVE

#: What bears on checkpoints of the things said about an option that can hold them.
_BUT = frozenset(
    {
        "not-for-frequent-checkpoints",
        "parallel-file-system-not-wanted",
        "region-unknown",
        "backing-region-unknown",
    }
)


@dataclass(frozen=True, slots=True)
class Restore:
    """Bringing a checkpoint back on all nodes at once.  ``way`` is what this job does: "shards" or "everything"."""

    way: str
    seconds: Quantity  # as this job restores, the base model included
    shards: Quantity  # each rank reads what it holds: the checkpoint once
    everything: Quantity  # every node reads the whole checkpoint
    base: Quantity | None  # LoRA and QLoRA: every node reads the frozen base model too


@dataclass(frozen=True, slots=True)
class Lost:
    """Goodput on one option: at the stated interval, and at the one that wastes least by either formula [s]."""

    losses: Losses
    young: float
    daly: float
    best_interval: float  # Daly's, no shorter than a step, or than an asynchronous save may take to write
    now: Goodput
    best: Goodput
    per_hour: Quantity | None  # what lost time costs at the stated interval; None: GPUs are not priced


@dataclass(frozen=True, slots=True)
class Checkpoints:
    """One option for checkpoints; ``answer`` has the supply of what would hold them.  None is "not known"."""

    answer: OptionAnswer
    verdict: str  # for checkpoints: "recommended" | "works" | "works-but" | "ruled-out"
    cannot: tuple[Reason, ...]
    but: tuple[Reason, ...]
    restore: Restore | None
    lost: Lost | None
    retention: Retention | None
    timeline: Timeline

    @property
    def option(self) -> str:
        return self.answer.option


@dataclass(frozen=True, slots=True)
class MemoryFirst:
    """Checkpoints in host memory first, a neighbour's copy beside them, and now and then one to S3."""

    copy_seconds: Quantity  # all that a save costs
    bytes_per_node: Quantity  # of host memory, copies included
    memory_per_node: float | None  # bytes, as stated or as published for the instance type; None: not known
    fits: bool | None
    drives_per_node: float | None  # bytes of NVMe; None: not known
    drives_hold: bool | None  # a node's own share, in memory's place
    s3_every: Quantity | None  # seconds: no save to S3 can follow the one before sooner
    best_interval: float  # seconds, to memory
    best: Goodput  # after failures that left a copy in memory


@dataclass(frozen=True, slots=True)
class FailureEffect:
    """One published failure definition, and what it makes of the option that holds the checkpoints."""

    definition: FailureDefinition
    best_interval: float | None
    lost: Quantity | None  # share of the run, at the stated interval


@dataclass(frozen=True, slots=True)
class CheckpointPlan:
    """Everything about the checkpoints of one job."""

    plan: Recommendation
    size: Quantity | None
    writers: int
    bytes_per_file: float | None
    options: tuple[Checkpoints, ...]
    failures: tuple[FailureEffect, ...]
    memory_first: MemoryFirst | None

    def option(self, name: str) -> Checkpoints:
        return next(answer for answer in self.options if answer.option == name)

    @property
    def placed(self) -> Checkpoints:
        """The option the plan puts checkpoints on."""
        return self.option(self.plan.placements["checkpoints"].option)


def checkpoint_plan(plan: Recommendation, facts: Facts) -> CheckpointPlan:
    """The checkpoints of a plan that was made.

    Assumption: saves and restores run at the rates the plan's options were judged by.
    """
    demand = plan.demand
    upload = upload_of_saves(demand, None, facts)
    each = None if upload is None else upload.file_bytes
    answers = (replace(plan.option(name), supply=plan.saving(name).supply) for name in SYSTEMS)
    options = tuple(_checkpoints(answer, plan, each, facts) for answer in answers)
    placed = next(option for option in options if option.option == plan.placements["checkpoints"].option)
    return CheckpointPlan(
        plan=plan,
        size=demand.checkpoint_bytes,
        writers=demand.checkpoint_writers,
        bytes_per_file=each,
        options=options,
        failures=tuple(
            _effect(definition, placed.lost, demand.checkpoint_interval)
            for definition in by_definition(plan.workload, demand, facts)
        ),
        memory_first=_memory_first(plan, facts),
    )


def _effect(definition: FailureDefinition, lost: Lost | None, interval: float) -> FailureEffect:
    if lost is None:
        return FailureEffect(definition, None, None)
    losses = replace(lost.losses, mean_time_to_failure=definition.here)
    return FailureEffect(definition, goodput.best_interval(losses), goodput.goodput(losses, interval).lost)


def curves(plan: CheckpointPlan) -> dict[str, list[tuple[float, float]]]:
    """The share of the run that is lost over the interval [s], per option where it is known."""
    known = {option.option: option.lost for option in plan.options if option.lost is not None}
    if not known:
        return {}
    stated = plan.plan.demand.checkpoint_interval
    drawn = goodput.intervals([stated, *(lost.best_interval for lost in known.values())])
    return {
        name: [(interval, goodput.goodput(lost.losses, interval).lost.value) for interval in drawn]
        for name, lost in known.items()
    }


def _checkpoints(answer: OptionAnswer, plan: Recommendation, each: float | None, facts: Facts) -> Checkpoints:
    restore = _restore(answer, plan, facts)
    losses = goodput.losses_of(plan.workload, plan.demand, answer.stall, facts)
    cannot = [reason for reason in answer.reasons if reason.id in CANNOT_SAVE]
    most = facts.options[MOUNTPOINT].known("maximum_written_object").value
    if answer.option == MOUNTPOINT and each is not None and each > most:
        cannot.append(
            Reason("larger-than-mount-writes", {"bytes": each, "most": most / GIB}, "mountpoint-configuration")
        )
    but = [reason for reason in answer.reasons if reason.id in _BUT]
    stall = answer.stall
    if stall.save_seconds is not None and stall.fits_interval is False:
        but.append(Reason("save-exceeds-interval", {"seconds": stall.save_seconds, "interval": stall.interval}))
    elif stall.may_reach_beyond is not None:
        late = {"seconds": stall.may_reach_beyond, "interval": stall.interval}
        but.append(Reason("save-may-exceed-interval", late))
    if answer.option == MOUNTPOINT and answer.backed_by is not None:
        but += refused(answer.backed_by, plan.demand.checkpoint_writers, facts)
    settings, on_s3 = answer.supply.configuration, plan.option(S3).stall
    moments = timeline(answer.lies_on, settings, plan.demand, stall=stall, s3=on_s3, facts=facts)
    if moments.export is not None and moments.every > 1:
        but.append(falling_behind(moments.export, stall.interval, moments.every))
    recommended = answer.option == plan.placements["checkpoints"].option
    return Checkpoints(
        answer=answer,
        verdict="ruled-out" if cannot else "recommended" if recommended else "works-but" if but else "works",
        cannot=tuple(cannot),
        but=tuple(but),
        restore=restore,
        lost=None if losses is None else _lost(losses, plan),
        retention=retention(answer.option, plan, answer.supply, facts),
        timeline=moments,
    )


def _restore(answer: OptionAnswer, plan: Recommendation, facts: Facts) -> Restore | None:
    """A checkpoint that one rank wrote is read whole by every node; one in shards once, each rank its own.

    Equation: shards = bytes / rate; everything = nodes × bytes / rate; base = nodes × base bytes / rate.
    """
    seconds, demand, nodes = answer.stall.restore_seconds, plan.demand, plan.workload.instances
    size, restored = demand.checkpoint_bytes, demand.restore_bytes
    if seconds is None or size is None or restored is None:
        return None
    base = restored_base(plan.workload, facts)
    return Restore(
        way="everything" if restores_everything(demand.checkpoint_writers, nodes) else "shards",
        seconds=seconds,
        shards=_at_the_rate_of(seconds, restored, size),
        everything=_at_the_rate_of(seconds, restored, size * nodes),
        base=None if base is None else _at_the_rate_of(seconds, restored, base * nodes),
    )


def _at_the_rate_of(seconds: Quantity, size: Quantity, other: Quantity) -> Quantity:
    """How long ``other`` bytes take at the rate that brings ``size`` in ``seconds``, bound by bound."""
    low, value, high = (
        took / brought * more for took, brought, more in zip(seconds[:3], size[:3], other[:3], strict=True)
    )
    return Quantity(low, value, high, "seconds", (seconds + other).basis, seconds.sources | other.sources)


def _lost(losses: Losses, plan: Recommendation) -> Lost:
    save, mean = losses.blocks.value, losses.mean_time_to_failure.value
    best, now = goodput.best_interval(losses), goodput.goodput(losses, plan.demand.checkpoint_interval)
    price = plan.gpu_hour_price
    return Lost(
        losses=losses,
        young=young_interval(save, mean),
        daly=daly_interval(save, mean),
        best_interval=best,
        now=now,
        best=goodput.goodput(losses, best),
        per_hour=None if price is None else (price * now.lost).named(plan.currency),
    )


def _memory_first(plan: Recommendation, facts: Facts) -> MemoryFirst | None:
    """The named alternative, as SageMaker HyperPod's managed tiered checkpointing does it; a neighbour keeps the copy.

    Assumptions: ranks that save are spread over the nodes; a failure leaves a copy in some node's memory.
    Equation: bytes per node = checkpoint / nodes × copies.  References: hyperpod-tiered-checkpointing.
    """
    demand, workload = plan.demand, plan.workload
    if demand.checkpoint_bytes is None or demand.mean_time_to_failure is None or workload.instances < 2:
        return None
    nodes = min(workload.instances, demand.checkpoint_writers)
    needed = (demand.checkpoint_bytes / nodes * facts.model.known("memory_checkpoint_copies")).named("bytes")
    copy = host_copy(demand, demand.checkpoint_bytes, facts)
    step = step_seconds(workload, demand, facts)
    losses = Losses(copy, None, facts.model.known("restart_overhead"), demand.mean_time_to_failure, step)
    best = goodput.best_interval(losses)
    machine = passes_of(workload, demand.checkpoint_bytes, facts)
    memory = None if machine.memory is None else machine.memory.value
    drives = None if machine.drives is None else machine.drives.value
    own = demand.checkpoint_bytes.high / nodes
    return MemoryFirst(
        copy_seconds=copy,
        bytes_per_node=needed,
        memory_per_node=memory,
        fits=None if memory is None else needed.high <= memory,
        drives_per_node=drives,
        drives_hold=None if drives is None else own <= drives,
        s3_every=plan.option(S3).stall.save_seconds,
        best_interval=best,
        best=goodput.goodput(losses, best),
    )
