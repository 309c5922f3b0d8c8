"""What the peak rate of an accelerator leaves for one sample of a model."""

from __future__ import annotations

from gpufeed.facts import Facts
from gpufeed.facts.catalogue import Section
from gpufeed.facts.quantity import Quantity
from gpufeed.model.workload import Workload


def precision_of(workload: Workload, facts: Facts) -> Section:
    """What is known of the stated precision; of bf16 where none was stated."""
    return facts.model.parts["precisions"].parts[workload.precision or "bf16"]


def runs_at(accelerator: str, precision: Section, facts: Facts) -> bool:
    """Whether an accelerator has a precision that only some of them have."""
    only_on = precision.get_value("only_on")
    return only_on is None or facts.accelerators[accelerator].get_value("family") in only_on


def multiplier_of(accelerator: str, precision: Section, facts: Facts) -> Quantity | None:
    """How many times its bf16 rate an accelerator reaches at its peak at a precision; None where that is not known."""
    kind = precision.get_value("family")
    return Quantity.exact(1.0) if kind == "bf16" else facts.accelerators[accelerator].quantity(f"{kind}_multiplier")


def peak_of(workload: Workload, accelerator: str, facts: Facts) -> Quantity | None:
    """Peak FLOP/s of one accelerator at the precision of the workload; None where it is not known."""
    precision, bf16_peak = precision_of(workload, facts), facts.accelerators[accelerator].quantity("peak_bf16")
    multiplier = multiplier_of(accelerator, precision, facts)
    if bf16_peak is None or multiplier is None or not runs_at(accelerator, precision, facts):
        return None
    return bf16_peak.times(multiplier, "FLOP/s")


def flops_per_use(workload: Workload, facts: Facts) -> Quantity | None:
    """FLOP that it takes to use each parameter of the stated model once, forward and backward; None: no size stated.

    Of a mixture of experts the active ones are used.  Without attention, which has no parameters.
    References: llm-foundry, nemo-performance-2407.
    """
    parameters = workload.active_parameters or workload.model_parameters
    if parameters is None:
        return None
    preset = "lora" if workload.task in ("lora", "qlora") else "llm-text"
    return facts.workloads[preset].known("flops_per_token_per_parameter").times(parameters, "FLOP")


def uses_left(workload: Workload, accelerator: str, samples: Quantity, facts: Facts) -> Quantity | None:
    """How often a sample can use each parameter at so many samples/s; None where peak or size is not known.

    Equation: peak / (samples/s × FLOP of one use), at the high end of the peak.
    """
    peak, each = peak_of(workload, accelerator, facts), flops_per_use(workload, facts)
    if peak is None or each is None or not samples.value:
        return None
    return peak.at(peak.high).per(each * samples.value, "ratio")


def least_uses(workload: Workload, section: Section) -> Quantity:
    """How often one sample of a preset uses each parameter at least.

    Once for each token of a sequence; as often as the smallest model of it that was published; else once, for what is
    not used at all is no part of the model.
    """
    if section.quantity("bytes_per_token") is not None:
        stated, default = workload.sequence_length, section.known("sequence_length")
        return default.at(default.low) if stated is None else Quantity.exact(float(stated))
    published = section.quantity("uses_per_parameter")
    return Quantity.exact(1.0) if published is None else published.at(published.low)
