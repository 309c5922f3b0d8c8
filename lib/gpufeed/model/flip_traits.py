"""What a search for flip points varies: each numeric trait of a plan, from where and how far."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from gpufeed.facts import Facts
from gpufeed.model import workload as entered
from gpufeed.model.demand import preset_of, stall_tolerance
from gpufeed.model.frozen import changed
from gpufeed.model.job import job_of
from gpufeed.model.profile import PrefixProfile
from gpufeed.model.recommendation import Evaluation, Recommendation
from gpufeed.model.retention import kept_checkpoints
from gpufeed.model.workload import Workload

#: How far each trait is followed, as a factor of its value now.
SPAN = 100.0
#: A cluster of any size is followed at least this far: beyond the last threshold of the published rule.
MOST_INSTANCES = 1024
#: A restore target that was not stated is looked for from this long down to a second.
LONGEST_RESTORE = 86_400.0


@dataclass(frozen=True, slots=True)
class Trait:
    """A trait that is varied alone: what it is now (None: nothing until it is stated) and where it is followed."""

    name: str
    now: float | None
    low: float
    high: float
    stated: bool
    unit: str

    @property
    def whole(self) -> bool:
        return entered.NUMBERS[self.name].whole

    def set_to(self, value: float, workload: Workload) -> Workload:
        number: Any = int(value) if self.whole else value
        if self.name == "checkpoint_interval":  # a stated word would hide the interval
            return changed(workload, checkpoint_interval=number, checkpoints=None)
        return changed(workload, **{self.name: number})


def traits(plan: Recommendation, facts: Facts, profile: PrefixProfile | None) -> list[Trait]:
    """Every numeric trait that this plan has a value for, stated or by default, in the order of the form."""
    workload = plan.workload
    found = []
    for name, default in _values(plan, facts, profile).items():
        stated = getattr(workload, name)
        now = default if stated is None else float(stated)
        if now is None and name != "restore_target":
            continue
        low, high = _bounds(name, now, plan, facts)
        found.append(Trait(name, now, low, high, stated is not None, entered.unit_of(name, plan.currency)))
    return found


def _values(plan: Recommendation, facts: Facts, profile: PrefixProfile | None) -> dict[str, float | None]:
    """What each trait is taken to be where it was not stated."""
    workload, demand, model = plan.workload, plan.demand, facts.model
    job, _ = job_of(workload, facts, profile)
    samples, read = demand.samples_per_s, demand.read_bytes_per_s
    values: dict[str, float | None] = {
        "instances": float(workload.instances),
        "jobs": float(demand.jobs),
        "accelerators_per_instance": demand.accelerators / workload.instances,
        "run_hours": job.run.hours,
        "gpu_hour_price": plan.gpu_hour_price and plan.gpu_hour_price.value / workload.instances,
        # Not stated, nothing is taken to be read again; this many passes the run would make.
        "epochs": None if read is None else read.value * job.run.training_hours * 3600.0 / job.passes.bytes.value,
        "samples_per_second_per_accelerator": None if samples is None else samples.value / demand.accelerators,
        "sample_bytes": None if samples is None or read is None else read.value / samples.value,
        "request_bytes": _largest_read(plan, facts),
        "workers_per_accelerator": model.known("workers_per_accelerator").value,
        "requests_in_flight_per_worker": model.known("requests_in_flight_per_worker").value,
        "prefixes": float(demand.prefixes),
        **_evaluation_values(plan.traffic.evaluation),
        "checkpoint_interval": demand.checkpoint_interval,
        "checkpoint_bytes": demand.checkpoint_bytes and demand.checkpoint_bytes.value,
        "checkpoint_writers": demand.checkpoint_bytes and float(demand.checkpoint_writers),
        "checkpoints_kept": demand.checkpoint_bytes and kept_checkpoints(workload, facts).value,
        "restore_target": None,
        "stall_tolerance": stall_tolerance(workload, facts).value,
        "working_set_bytes": None,
        "host_memory_bytes": None,
    }
    if profile is None or not profile.objects:  # a profile takes the place of both
        values |= {"dataset_bytes": job.run.dataset_bytes.value, "objects": float(round(job.run.objects))}
    return values | _model_values(plan, facts)


def _largest_read(plan: Recommendation, facts: Facts) -> float | None:
    """What is read at once where nothing was stated: of an object that is read in parts, one that is no remainder."""
    read, whole = plan.demand.request_bytes, plan.demand.object_bytes
    if read is None or whole is None or plan.workload.reads == "random" or read.value >= whole.value:
        return read and read.value
    return facts.model.known("part_bytes").value


def _evaluation_values(evaluation: Evaluation | None) -> dict[str, float | None]:
    """Nothing where no evaluation was stated.  Batch size and base model decide nothing, and are not followed."""
    if evaluation is None or evaluation.every is None:
        return {}
    return {"evaluation_every": evaluation.every.value, "evaluation_bytes": evaluation.bytes.value}


def _model_values(plan: Recommendation, facts: Facts) -> dict[str, float | None]:
    """Size and sequence of the model, where the demand or the checkpoint depends on them."""
    workload = plan.workload
    section = facts.workloads[preset_of(workload)]
    size, sequence = section.quantity("model_parameters"), section.quantity("sequence_length")
    parameters = workload.model_parameters or (size and size.value)
    values: dict[str, float | None] = {"model_parameters": parameters}
    if sequence is not None:
        values |= {"active_parameters": workload.active_parameters or parameters, "sequence_length": sequence.value}
    if workload.task in ("lora", "qlora"):
        values["lora_rank"] = facts.workloads["lora"].known("lora_rank").value
    return values


def _bounds(name: str, now: float | None, plan: Recommendation, facts: Facts) -> tuple[float, float]:
    """SPAN on either side, as far as the field and the other fields allow."""
    workload, allowed = plan.workload, entered.NUMBERS[name]
    least, most = allowed.least, allowed.most
    if now is None:
        return 1.0, LONGEST_RESTORE
    low, high = now / SPAN, now * SPAN
    if name == "instances":
        high = max(high, MOST_INSTANCES)
    if name == "accelerators_per_instance" and workload.instance_type is not None:
        most = facts.instances[workload.instance_type].known("accelerators").value
    if name == "checkpoint_writers":
        most = float(plan.demand.accelerators)  # no more ranks can save than there are
    if name == "active_parameters":
        most = workload.model_parameters or now
    if name == "model_parameters" and workload.active_parameters is not None:
        least = workload.active_parameters
    # A part is never larger than the whole, and no object smaller than a byte.
    if name in ("objects", "sample_bytes", "working_set_bytes") and workload.dataset_bytes is not None:
        most = min(most, workload.dataset_bytes)
    if name == "sample_bytes" and workload.working_set_bytes is not None:
        most = min(most, workload.working_set_bytes)
    if name == "working_set_bytes" and workload.sample_bytes is not None:
        least = max(least, workload.sample_bytes)
    if name == "dataset_bytes":
        parts = (workload.objects, workload.sample_bytes, workload.working_set_bytes)
        least = max(least, *(part for part in parts if part is not None), 0.0)
    if allowed.whole:
        low, high = float(math.ceil(low)), float(math.floor(high))
    return max(low, least), min(high, most)
