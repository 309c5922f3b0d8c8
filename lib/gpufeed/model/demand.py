"""What a job asks of its storage at full GPU speed: bytes/s, requests/s, tokens/s, checkpoint bytes and write rate.

What the workload leaves open is filled in here from ``data/``: each default is a fact, and a warning says where one
decides the answer.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from gpufeed.facts import Facts
from gpufeed.facts.catalogue import Section
from gpufeed.facts.quantity import Quantity, least
from gpufeed.model import formulas
from gpufeed.model.adapters import adapters_per_rank
from gpufeed.model.peak import least_uses, multiplier_of, precision_of, runs_at, uses_left
from gpufeed.model.profile import PrefixProfile
from gpufeed.model.recommendation import AllJobs, Caveat, Demand
from gpufeed.model.upload import gets_of
from gpufeed.model.workload import Workload

#: The preset a task stands for when none is named.
PRESET_OF_TASK = {
    "pretraining": "llm-text",
    "full-fine-tuning": "llm-text",
    "lora": "lora",
    "qlora": "lora",
}


#: The preset of a job whose samples are all that was said: their size and how many an accelerator takes per second.
OWN_SAMPLES = "own-samples"


def preset_of(workload: Workload) -> str:
    """The preset that was named, else the one that stands for the job: never a language model for somebody's images."""
    if workload.preset is not None:
        return workload.preset
    own = workload.sample_bytes is not None and workload.samples_per_second_per_accelerator is not None
    of_tokens = workload.sequence_length is not None or workload.active_parameters is not None
    return OWN_SAMPLES if own and not of_tokens else PRESET_OF_TASK[workload.task]


def accelerators_of(workload: Workload, facts: Facts) -> tuple[str, int]:
    """Name of the accelerator and how many there are in the whole job."""
    if workload.instance_type is None:
        assert workload.accelerator is not None  # noqa: S101 - Workload.from_mapping has checked it
        assert workload.accelerators_per_instance is not None  # noqa: S101
        return workload.accelerator, workload.instances * workload.accelerators_per_instance
    instance = facts.instances[workload.instance_type]
    per_instance = workload.accelerators_per_instance or round(instance.known("accelerators").value)
    return instance.get_value("accelerator"), workload.instances * per_instance


#: The entry of ``utilisation.toml`` that holds the runs of every training stack.
ANY_STACK = "published-runs"


@dataclass(slots=True)
class _Notes:
    """Intermediate quantities and warnings collected while the demand is worked out."""

    intermediates: dict[str, Quantity] = field(default_factory=dict)
    warnings: list[Caveat] = field(default_factory=list)

    def keep(self, **quantities: Quantity) -> None:
        self.intermediates |= quantities

    def warn(self, warning_id: str, **parameters: Any) -> None:
        self.warnings.append(Caveat(warning_id, parameters))


def demand(workload: Workload, facts: Facts, profile: PrefixProfile | None = None) -> Demand:
    """Everything the job asks for.  A profile of the real prefix replaces the stated layout."""
    notes = _Notes()
    accelerator, accelerators = accelerators_of(workload, facts)
    preset = preset_of(workload)
    if workload.preset is None and preset != OWN_SAMPLES:
        notes.warn("default-preset", preset=preset, task=workload.task)
    section = facts.workloads[preset]

    object_bytes = _object_bytes(workload, section, profile)
    samples, tokens, sample_bytes = _rates(
        workload, preset, accelerator, object_bytes=object_bytes, facts=facts, notes=notes
    )
    read = None
    if samples is not None and sample_bytes is not None:
        read = (samples * sample_bytes).times(accelerators, "bytes/s")
    if object_bytes is None:
        object_bytes = _packed(section, sample_bytes)
    request_bytes = _request_bytes(workload, object_bytes, sample_bytes, facts, profile)
    requests = None
    if read is not None and request_bytes is not None:
        requests = read.per(counted(request_bytes, profile), "requests/s")
    workers = _stated_or(workload.workers_per_accelerator, facts.model.known("workers_per_accelerator"))
    each = _stated_or(workload.requests_in_flight_per_worker, facts.model.known("requests_in_flight_per_worker"))
    if workload.workers_per_accelerator is None:
        notes.warn("default-workers", workers=int(workers.value))
    prefixes = workload.prefixes or round(facts.model.known("prefixes").value)

    checkpoint = _checkpoint_bytes(workload, section, facts, notes)
    mode = workload.checkpoint_mode or "sync"
    interval = _interval(workload, facts, notes)
    write = _checkpoint_write(workload, checkpoint, facts, mode=mode, interval=interval)
    writers = _writers(workload, accelerators)
    restored, restore = _restored(workload, checkpoint, writers, facts), None
    if restored is not None and workload.restore_target is not None:
        restore = restored.per(workload.restore_target, "bytes/s")
    return Demand(
        accelerators=accelerators,
        samples_per_s=None if samples is None else samples.times(accelerators, "samples/s"),
        tokens_per_s_per_accelerator=tokens,
        read_bytes_per_s=read,
        read_requests_per_s=requests,
        request_bytes=request_bytes,
        object_bytes=object_bytes,
        in_flight=accelerators * workers.value * each.value,
        prefixes=prefixes,
        checkpoint_bytes=checkpoint,
        checkpoint_write_bytes_per_s=write,
        restore_bytes=restored,
        restore_bytes_per_s=restore,
        mean_time_to_failure=_mean_time_to_failure(workload.instances, facts),
        checkpoint_mode=mode,
        checkpoint_interval=interval,
        checkpoint_writers=writers,
        jobs=workload.jobs or 1,
        all_jobs=_all_jobs(workload, read, requests, write, restore),
        intermediates=notes.intermediates,
        warnings=tuple(notes.warnings),
    )


def _all_jobs(workload: Workload, *of_one: Quantity | None) -> AllJobs | None:
    """All jobs together: each rate × jobs."""
    jobs = workload.jobs or 1
    if jobs == 1:
        return None
    return AllJobs(*(None if rate is None else rate.times(jobs, rate.unit) for rate in of_one))


def _stated_or(stated: float | None, default: Quantity) -> Quantity:
    return default if stated is None else Quantity.exact(stated, default.unit)


def _object_bytes(workload: Workload, section: Section, profile: PrefixProfile | None) -> Quantity | None:
    """Mean size of one object: of the real prefix, else as stated, else of the preset; None where none says."""
    if profile is not None and profile.objects and profile.mean_bytes:
        return Quantity.exact(profile.mean_bytes, "bytes", "measured")
    if workload.dataset_bytes is not None and workload.objects is not None:
        return Quantity.exact(workload.dataset_bytes / workload.objects, "bytes")
    return section.quantity("object_bytes")


def _packed(section: Section, sample_bytes: Quantity | None) -> Quantity | None:
    per_object = section.quantity("samples_per_object")
    if sample_bytes is None or per_object is None:
        return None
    return sample_bytes.times(per_object, "bytes")


_Rates = tuple[Quantity | None, Quantity | None, Quantity | None]


def _rates(
    workload: Workload,
    preset: str,
    accelerator: str,
    *,
    object_bytes: Quantity | None,
    facts: Facts,
    notes: _Notes,
) -> _Rates:
    """(samples/s per accelerator, tokens/s per accelerator, bytes per sample)."""
    section = facts.workloads[preset]
    tokens, per_sample = None, _sample_bytes(workload, section, object_bytes)
    if section.quantity("bytes_per_token") is not None:
        tokens, samples = _language_model(workload, section, accelerator, facts, notes)
    else:
        samples = _published_rate(preset, section, accelerator, facts, notes)
        stated = workload.samples_per_second_per_accelerator is not None
        sized = workload.model_parameters is not None or workload.active_parameters is not None
        if sized and samples is not None and not stated:
            _of_other_model(workload, preset, accelerator, samples, facts=facts, notes=notes)
    if workload.samples_per_second_per_accelerator is not None:
        samples = Quantity.exact(workload.samples_per_second_per_accelerator, "samples/s")
        if tokens is not None:
            sequence = _stated_or(workload.sequence_length, section.known("sequence_length"))
            tokens = samples.times(sequence.value, "tokens/s")
    if samples is None:
        notes.warn("no-sample-rate", preset=preset, accelerator=accelerator)
    return samples, tokens, per_sample


def _of_other_model(
    workload: Workload, preset: str, accelerator: str, samples: Quantity, *, facts: Facts, notes: _Notes
) -> None:
    """That a published rate is not of the stated model, and what the peak leaves where that may be too little.

    Where it is known to be too little, :mod:`gpufeed.model.plausible` says so.
    """
    section, uses = facts.workloads[preset], uses_left(workload, accelerator, samples, facts)
    published = section.quantity("uses_per_parameter")
    most = math.inf if published is None else published.high
    if uses is not None and least_uses(workload, section).value <= uses.value < most:
        notes.warn("rate-of-preset-model-uses", preset=preset, accelerator=accelerator, uses=uses.value)
    else:
        notes.warn("rate-of-preset-model", preset=preset)


def _sample_bytes(workload: Workload, section: Section, object_bytes: Quantity | None) -> Quantity | None:
    if workload.sample_bytes is not None:
        return Quantity.exact(workload.sample_bytes, "bytes")
    per_token = section.quantity("bytes_per_token")
    if per_token is not None:
        # A sequence of a stated length is exact; only the bytes per token are a range.
        sequence = _stated_or(workload.sequence_length, section.known("sequence_length"))
        return per_token.times(sequence.value, "bytes")
    per_object, published = section.quantity("samples_per_object"), section.quantity("sample_bytes")
    if object_bytes is None:
        return published
    if workload.reads == "random" and published is not None and published.value < object_bytes.value:
        return published  # samples that are picked from inside larger objects are not these objects
    if per_object is not None and per_object.value == 1:
        return object_bytes  # one object per sample: the real layout beats the preset's mean
    return published


def _language_model(
    workload: Workload, section: Section, accelerator: str, facts: Facts, notes: _Notes
) -> tuple[Quantity | None, Quantity | None]:
    """(tokens/s, sequences/s) of one accelerator, from the shares of its peak that published runs reach."""
    told = precision_of(workload, facts)
    kind = told.get_value("family")
    peaks = _peaks(workload, accelerator, told, facts=facts, notes=notes)
    if peaks is None:
        return None, None
    peak, bf16_peak = peaks
    stated = workload.active_parameters or workload.model_parameters
    active = _stated_or(stated, section.known("model_parameters"))
    if stated is None:
        notes.warn("default-model-size", parameters=active.value)
    runs = _published_runs(workload, section, accelerator, kind, facts=facts, notes=notes)
    if runs is not None:
        in_weights, in_attention = _shares_at(active.value, runs)
        as_elsewhere = _as_at_another_precision(workload, accelerator, kind, active.value, facts)
        if as_elsewhere is not None:
            in_weights, in_attention = as_elsewhere
    else:
        in_weights = in_attention = section.quantity(f"mfu_{kind}") or section.known("mfu_bf16")
    of_family = told.quantity("share_of_family")
    if of_family is None:
        notes.warn("precision-as-family", precision=workload.precision, family=kind)
    elif runs is not None and of_family.value != 1.0:
        # Its middle alone: the range of the family's runs stays the range.
        in_weights = in_weights.times(of_family.middle(), "share")
    if runs is not None and _is_mixture(workload):
        notes.warn("mixture-taken-for-transformer")
    own_mixtures = _is_mixture(workload) and bool(section.get_value("of_mixtures"))
    if _is_mixture(workload) and not own_mixtures:
        in_weights = _share_of_mixture(in_weights, accelerator, kind, facts)
    sequence = _stated_or(workload.sequence_length, section.known("sequence_length"))
    weights = section.known("flops_per_token_per_parameter").times(active, "FLOP")
    attention = formulas.attention_flops_per_token(active.value, sequence.value, facts.model.known("width_per_layer"))
    # The shares were fitted with the middle of the shape, so what other shapes differ by is in their range already.
    attention = attention.middle()
    if own_mixtures:  # their shares were fitted without it
        attention = attention.times(section.known("attention_layers"), "FLOP")
    notes.keep(weights=weights, attention=attention, peak=peak, bf16_peak=bf16_peak)
    notes.keep(share_in_weights=in_weights, share_in_attention=in_attention)
    tokens = formulas.llm_tokens_per_second(weights, in_weights * peak, attention, in_attention * bf16_peak)
    return tokens, tokens.per(sequence.value, "samples/s")


def _peaks(
    workload: Workload, accelerator: str, told: Section, *, facts: Facts, notes: _Notes
) -> tuple[Quantity, Quantity] | None:
    """Peak FLOP/s of one accelerator at the stated precision and in bf16; None, with a warning, where not known."""
    bf16_peak, kind = facts.accelerators[accelerator].quantity("peak_bf16"), told.get_value("family")
    multiplier = multiplier_of(accelerator, told, facts)
    said = {"accelerator": accelerator, "precision": workload.precision or kind}
    if bf16_peak is not None and not runs_at(accelerator, told, facts):
        notes.warn("precision-not-on-accelerator", **said)
        return None
    if bf16_peak is None or multiplier is None:
        notes.warn("no-peak-rate", **said)
        return None
    # The shares were fitted against the middle of a multiplier that is a range.
    return bf16_peak if kind == "bf16" else bf16_peak.times(multiplier.middle(), "FLOP/s"), bf16_peak


def _share_of_mixture(dense: Quantity, accelerator: str, kind: str, facts: Facts) -> Quantity:
    """Share of the peak that a mixture of experts reaches in its weights.

    That of the mixtures published on the accelerator's family at this precision, where there are enough; else a share
    of what a dense model reaches.  Its range is that of mixtures; that of dense runs does not come on top of it.
    """
    own = facts.model.parts["mixture_of_experts"].parts
    family = facts.accelerators[accelerator].get_value("family")
    if family in own and kind in own[family]:
        return own[family].known(kind)
    return dense.middle().times(facts.model.known("mixture_of_experts_share"), "share")


def _published_runs(
    workload: Workload, section: Section, accelerator: str, precision: str, *, facts: Facts, notes: _Notes
) -> Section | None:
    """What runs on the accelerator's family reached at this precision: those of the stated stack, else of all stacks.

    None where no run was published, and for presets that are not the full training these runs are.
    """
    family = facts.accelerators[accelerator].get_value("family")
    if family is None or not section.get_value("by_training_stack"):
        return None
    if section.get_value("of_mixtures") and _is_mixture(workload):
        return None
    stated = workload.training_stack
    for stack in (ANY_STACK,) if stated is None else (stated, ANY_STACK):
        families = facts.utilisation[stack].parts
        if family in families and precision in families[family].parts:
            if stated is None:
                notes.warn("any-training-stack")
            return families[family].parts[precision]
        if stack == stated:
            notes.warn("no-run-of-stack", stack=stack, accelerator=accelerator, precision=precision)
    return None


def _shares_at(parameters: float, runs: Section) -> tuple[Quantity, Quantity]:
    """(share of the peak in the products of weights, share of the bf16 peak in those of attention) at this size.

    A size outside those of the runs counts as the nearest of them.
    """
    sizes = runs.known("size_of_runs")
    within = min(max(parameters, sizes.low), sizes.high)
    factor = formulas.smaller_for_larger(within, sizes.value, runs.known("fall_with_size").value)
    in_weights, in_attention = runs.known("share_in_weights"), runs.known("share_in_attention")
    return in_weights.times(factor, "share"), in_attention.times(factor, "share")


def _as_at_another_precision(
    workload: Workload, accelerator: str, kind: str, parameters: float, facts: Facts
) -> tuple[Quantity, Quantity] | None:
    """The shares of a stated stack that has runs on the family, but at another precision; None where it is not so.

    Equation: its share at the other precision × what all stacks together reach at this one / at the other.  No more
    than the best matrix product that was measured.
    """
    family = facts.accelerators[accelerator].get_value("family")
    if workload.training_stack in (None, ANY_STACK):
        return None
    everybody, own = (facts.utilisation[stack].parts for stack in (ANY_STACK, workload.training_stack))
    if family not in own or kind in own[family].parts:
        return None
    other = next(iter(own[family].parts))
    if other not in everybody[family].parts:
        return None
    there = _shares_at(parameters, own[family].parts[other])
    here, all_there = (_shares_at(parameters, everybody[family].parts[name]) for name in (kind, other))
    chip = facts.accelerators[accelerator]
    best, peak = chip.quantity("achievable_bf16"), chip.known("peak_bf16")
    found = [own.times(h.middle() / t.middle(), "share") for own, h, t in zip(there, here, all_there, strict=True)]
    if kind == "bf16" and best is not None:
        found = [least(share, best / peak) for share in found]
    return found[0], found[1]


def _is_mixture(workload: Workload) -> bool:
    """A mixture of experts: some of its parameters are active, and not all, or nobody said how many there are."""
    active, every = workload.active_parameters, workload.model_parameters
    return active is not None and (every is None or active < every)


def _published_rate(preset: str, section: Section, accelerator: str, facts: Facts, notes: _Notes) -> Quantity | None:
    """samples/s of one accelerator from the preset's own table; without one, scaled from the nearest by peak FLOP/s.

    Such a scaled rate is an assumption: its range runs from the published rate itself to twice the scaled one.
    """
    if accelerator in section.parts:
        return _rate_of(section.parts[accelerator])
    peak = facts.accelerators[accelerator].quantity("peak_bf16")
    known = [
        (abs(other.value - peak.value), name, other)
        for name in section.parts
        if name in facts.accelerators
        and peak is not None
        and (other := facts.accelerators[name].quantity("peak_bf16")) is not None
    ]
    if peak is None or not known:
        return section.quantity("samples_per_second")
    _, name, other = min(known)
    rate = _rate_of(section.parts[name])
    if rate is None:
        return None
    notes.warn("scaled-rate", preset=preset, accelerator=accelerator, from_accelerator=name)
    scaled = rate.value * peak.value / other.value
    return Quantity(min(rate.low, scaled / 2), scaled, max(rate.high, scaled * 2), "samples/s", "assumed", rate.sources)


def _rate_of(part: Section) -> Quantity | None:
    batch, compute = part.quantity("batch_size"), part.quantity("compute_seconds")
    if batch is None or compute is None:
        return part.quantity("samples_per_second")
    return batch.per(compute, "samples/s")


def _request_bytes(
    workload: Workload,
    object_bytes: Quantity | None,
    sample_bytes: Quantity | None,
    facts: Facts,
    profile: PrefixProfile | None,
) -> Quantity | None:
    """Mean size of one read: random reads take one sample, streaming takes whole objects; large ones are read in parts
    of the stated size, else of that of AWS's clients.

    Requests are whole, so the last one of an object is smaller.  Assumption: objects are equally large, unless a
    profile of the real prefix says how large they are.
    """
    stated = workload.request_bytes
    part = facts.model.known("part_bytes") if stated is None else Quantity.exact(stated, "bytes")
    if object_bytes is None:
        return None if stated is None else part
    random = workload.reads == "random"
    if random and stated is not None:
        return least(part, object_bytes).named("bytes")
    if random and sample_bytes is not None and sample_bytes.value < object_bytes.value:
        return _in_parts(sample_bytes, part)
    if profile is not None and profile.sized_objects:
        return mean_request(profile, part.value)
    return _in_parts(object_bytes, part)


def _in_parts(whole: Quantity, part: Quantity) -> Quantity:
    """Mean size of the requests that read so many bytes in parts."""
    if whole.value <= part.value:
        return whole
    few, requests, many = (gets_of(whole.value, bound) for bound in (part.high, part.value, part.low))
    return whole.middle().per(Quantity(few, requests, many, "", part.basis, part.sources), "bytes")


def counted(request_bytes: Quantity, profile: PrefixProfile | None) -> Quantity:
    """The size of a read that requests are counted by; it has a range where real sizes were listed."""
    return request_bytes.middle() if profile is None else request_bytes


def mean_request(profile: PrefixProfile, part: float) -> Quantity:
    """Mean size of the requests that read the objects under a prefix; empty ones are left out."""
    requests = gets_of_profile(profile, part) + float(profile.sized_objects - profile.objects)
    return (float(profile.bytes) / requests).named("bytes")


def gets_of_profile(profile: PrefixProfile, part: float) -> Quantity:
    """Requests that read each object under a prefix once."""
    return profile.requests(float(part), lambda size: gets_of(size, float(part)))


def _checkpoint_bytes(workload: Workload, section: Section, facts: Facts, notes: _Notes) -> Quantity | None:
    if workload.checkpoint_bytes is not None:
        return Quantity.exact(workload.checkpoint_bytes, "bytes")
    parameters = workload.model_parameters
    default = section.quantity("model_parameters")
    # Of a mixture whose active parameters alone are stated, the whole is not known.
    if parameters is None and default is not None and not _is_mixture(workload):
        parameters = default.value
    if parameters is None:
        notes.warn("no-checkpoint-size")
        return None
    if workload.task in ("lora", "qlora"):
        adapter = facts.workloads["lora"]
        rank = _stated_or(workload.lora_rank, adapter.known("lora_rank"))
        if _is_mixture(workload):
            notes.warn("adapters-of-mixture", parameters=parameters)
        adapters = adapters_per_rank(parameters, facts) * rank.value
        return adapters.times(adapter.known("adapter_bytes_per_parameter"), "bytes")
    each = facts.model.parts["checkpoint_bytes_per_parameter"].known(workload.optimizer or "adamw")
    return formulas.checkpoint_bytes(parameters, each)


def base_model_bytes(workload: Workload, facts: Facts) -> Quantity | None:
    """Weights that the job starts from, as stated or from the model's size; None where neither is known.

    Equation: parameters × bytes per parameter.  Training from nothing starts from none.
    """
    if workload.base_model_bytes is not None:
        return Quantity.exact(workload.base_model_bytes, "bytes")
    default = facts.workloads[preset_of(workload)].quantity("model_parameters")
    parameters = workload.model_parameters or (default and default.value)
    if workload.task == "pretraining" or parameters is None:
        return None
    each = facts.model.parts["checkpoint_bytes_per_parameter"].known("weights-only")
    if workload.task == "qlora":
        each = facts.workloads["lora"].known("base_bytes_per_parameter_qlora")
    return each.times(parameters, "bytes")


def _writers(workload: Workload, accelerators: int) -> int:
    """Ranks that write at once: as stated; one saves the adapters of LoRA; otherwise each rank saves its own shard."""
    if workload.checkpoint_writers is not None:
        return workload.checkpoint_writers
    return 1 if workload.task in ("lora", "qlora") else accelerators


def restores_everything(writers: int, nodes: int) -> bool:
    """Whether every node reads the whole checkpoint: what one rank wrote alone is not in shards."""
    return writers == 1 and nodes > 1


def restored_base(workload: Workload, facts: Facts) -> Quantity | None:
    """The frozen base model [bytes] that every node reads with the adapters; None where the checkpoint holds it all."""
    return base_model_bytes(workload, facts) if workload.task in ("lora", "qlora") else None


def _restored(workload: Workload, checkpoint: Quantity | None, writers: int, facts: Facts) -> Quantity | None:
    """Bytes that all nodes together read for a restore.

    Equation: checkpoint, each rank its own shard; or nodes × checkpoint; and nodes × frozen base model.
    """
    if checkpoint is None:
        return None
    nodes, base = workload.instances, restored_base(workload, facts)
    own = checkpoint * nodes if restores_everything(writers, nodes) else checkpoint
    return (own if base is None else own + base * nodes).named("bytes")


def _interval(workload: Workload, facts: Facts, notes: _Notes) -> float:
    """Seconds between saves: as stated, else the default; its long end where checkpoints are said to be rare."""
    if workload.checkpoint_interval is not None:
        return workload.checkpoint_interval
    default = facts.model.known("checkpoint_interval")
    seconds = default.high if workload.checkpoints == "rare" else default.value
    notes.warn("default-interval", interval=seconds)
    return seconds


def _checkpoint_write(
    workload: Workload, checkpoint: Quantity | None, facts: Facts, *, mode: str, interval: float
) -> Quantity | None:
    """Write rate that keeps saving harmless: within tolerance × interval when synchronous, within it when not."""
    if checkpoint is None:
        return None
    if mode == "async":
        return checkpoint.per(interval, "bytes/s")
    return checkpoint.per(stall_tolerance(workload, facts).middle() * interval, "bytes/s")


def stall_tolerance(workload: Workload, facts: Facts) -> Quantity:
    """Share of the run that saving may cost, as stated or by default."""
    return _stated_or(workload.stall_tolerance, facts.model.known("stall_tolerance"))


def _mean_time_to_failure(instances: int, facts: Facts) -> Quantity:
    """Seconds between failures of the whole job: 1 / (instances × failures per node and second)."""
    rate = facts.model.parts["failures"].known("node_failure_rate")
    return (1.0 / (rate * instances)).named("seconds")
