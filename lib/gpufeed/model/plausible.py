"""What in a workload can hardly be meant: a model that cannot be held, traits that contradict each other, odd sizes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from gpufeed.facts.quantity import Quantity
from gpufeed.model import checkpoint, training_state
from gpufeed.model.demand import accelerators_of, preset_of
from gpufeed.model.job import Job
from gpufeed.model.peak import flops_per_use, least_uses, peak_of
from gpufeed.model.recommendation import Caveat, CheckpointStall
from gpufeed.model.rules import EXPRESS, S3, Traits
from gpufeed.model.traffic import step_seconds


def doubts(job: Job, traits: Traits, on_s3: CheckpointStall) -> Iterator[Caveat]:
    """Said before anything else, each with what is assumed then; none of them stops the plan."""
    yield from training_state.doubts(job)
    yield from _contradictions(job, traits, on_s3)
    yield from _out_of_range(job)
    yield from _above_peak(job)


def _contradictions(job: Job, traits: Traits, on_s3: CheckpointStall) -> Iterator[Caveat]:
    workload, facts = job.workload, job.facts
    object_stores = {name for option in (S3, EXPRESS) for name in facts.options[option].get_value("operations") or ()}
    object_stores |= set(facts.options[EXPRESS].get_value("operations_with_flags") or ())
    beyond = tuple(name for name in workload.file_operations if name not in object_stores)
    if traits.object_interface and beyond:
        yield Caveat("doubt-objects-and-files", {"operations": beyond}, grave=True)
    if traits.complex_posix and traits.avoid_parallel:
        yield Caveat("doubt-posix-without-file-system", grave=True)
    interval = workload.checkpoint_interval
    if workload.checkpoints is not None and interval is not None:
        by_interval, _, _ = checkpoint.frequent(replace(workload, checkpoints=None), on_s3, facts)
        if by_interval != (workload.checkpoints == "frequent"):
            yield Caveat(f"doubt-said-{workload.checkpoints}", {"interval": interval}, grave=True)
    step = step_seconds(workload, job.demand, facts)
    if interval is not None and step is not None and interval < step.low:
        yield Caveat("doubt-interval-below-step", {"interval": interval, "step": step}, grave=True)
    seconds = job.run.training_hours * 3600.0
    if interval is not None and interval > seconds:
        yield Caveat("doubt-no-checkpoint", {"interval": interval, "seconds": seconds}, grave=True)


def _above_peak(job: Job) -> Iterator[Caveat]:
    """Samples/s, stated or published for a preset, that the accelerator is not fast enough for with the stated model.

    Equation: FLOP/s = samples/s × uses of each parameter × FLOP of one use, against its peak; attention left out.
    """
    workload, demand, facts = job.workload, job.demand, job.facts
    accelerator, _ = accelerators_of(workload, facts)
    peak, each = peak_of(workload, accelerator, facts), flops_per_use(workload, facts)
    if peak is None or each is None or demand.samples_per_s is None:
        return
    rate = (demand.samples_per_s / demand.accelerators).middle().named("samples/s")
    uses = least_uses(workload, facts.workloads[preset_of(workload)])
    needs = (rate * uses * each).named("FLOP/s")
    if needs.value > peak.high:
        said = {"accelerator": accelerator, "precision": workload.precision or "bf16", "rate": rate, "uses": uses.value}
        said |= {"needs": needs, "peak": peak, "most": (peak.at(peak.high) / (uses * each)).named("samples/s")}
        parameters = workload.active_parameters or workload.model_parameters
        yield Caveat("doubt-rate-above-peak", said | {"parameters": parameters}, grave=True)


def _out_of_range(job: Job) -> Iterator[Caveat]:
    """Stated values outside of the range for which the facts of the model hold."""
    workload = job.workload
    plausible = job.facts.model.parts["plausible"]
    derived = {"accelerators": float(job.demand.accelerators)}
    if workload.objects is not None and workload.dataset_bytes is not None:
        derived["object_bytes"] = workload.dataset_bytes / workload.objects
    for name in plausible:
        stated = derived.get(name, getattr(workload, name, None))
        if stated is None:
            continue
        known = plausible.known(name)
        value = stated * 3600.0 if name == "run_hours" else stated
        if not known.low <= value <= known.high:
            bounds = {"low": Quantity.exact(known.low, known.unit), "high": Quantity.exact(known.high, known.unit)}
            told = {"trait": name, "value": Quantity.exact(value, known.unit), **bounds}
            yield Caveat("doubt-range", told, grave=True)
