"""Whether the memory of the job's accelerators and hosts can hold what is trained at all."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gpufeed.facts import Facts
from gpufeed.facts.quantity import Quantity
from gpufeed.model.demand import accelerators_of
from gpufeed.model.job import Job
from gpufeed.model.recommendation import Caveat
from gpufeed.model.workload import Workload


def doubts(job: Job) -> Iterator[Caveat]:
    """What does not fit, at the least that the job can need and the most that it can have.

    The state is what is saved of it, beside the frozen weights of LoRA; gradients and activations come on top and are
    not counted.  It is taken to lie once in the memory of the whole job, sharded over all accelerators; replicas need
    more.  A size that nobody stated puts nothing in doubt.
    """
    needed = _state(job)
    accelerators = _accelerator_memory(job.workload, job.facts)
    if needed is None or accelerators is None:
        return
    weights, state = needed
    host = job.passes.memory
    hosts = None if host is None else host.times(job.workload.instances, "bytes")
    found: dict[str, Any] = {"state": state, "weights": weights, "accelerators": accelerators}
    if hosts is not None and state.low > accelerators.high + hosts.high:
        yield Caveat("state-does-not-fit", found | {"hosts": hosts}, grave=True)
    elif weights.low > accelerators.high:
        yield Caveat("weights-exceed-accelerators", found, grave=True)
    elif state.low > accelerators.high:
        yield Caveat("state-exceeds-accelerators", found, grave=True)


def _state(job: Job) -> tuple[Quantity, Quantity] | None:
    """(weights, all state) in bytes; None where no size was stated.

    Equation: weights = parameters × bytes per parameter; state = what is saved by the optimizer's bytes per parameter,
    for LoRA weights + adapters with their optimizer.
    References: mlperf-storage-checkpoints.
    """
    workload, saved = job.workload, job.demand.checkpoint_bytes
    if workload.model_parameters is None or saved is None:
        return None
    each = job.facts.model.parts["checkpoint_bytes_per_parameter"]
    if workload.task in ("lora", "qlora"):
        base = each.known("weights-only")
        if workload.task == "qlora":  # files of 16 bits are quantized when they are read
            base = job.facts.workloads["lora"].known("base_bytes_per_parameter_qlora").middle()
        weights = base.times(workload.model_parameters, "bytes")
        return weights, weights.plus(saved, "bytes")
    optimizer = workload.optimizer or "adamw"
    in_weights = optimizer if optimizer.startswith("weights-only") else "weights-only"
    weights, state = (each.known(name).times(workload.model_parameters, "bytes") for name in (in_weights, optimizer))
    return weights, state


def _accelerator_memory(workload: Workload, facts: Facts) -> Quantity | None:
    """Bytes of all accelerators; None where those of one are not known."""
    name, count = accelerators_of(workload, facts)
    if workload.instance_type is not None:
        each = facts.instances[workload.instance_type].quantity("accelerator_memory")
    else:
        each = facts.accelerators[name].quantity("memory")
    return None if each is None else each.times(count, "bytes")
