"""What a job reads beside its steady training samples: evaluation, and bursts when a job or an epoch starts."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

from gpufeed.facts import Facts
from gpufeed.facts.quantity import Quantity, least
from gpufeed.model import formulas
from gpufeed.model.demand import accelerators_of, base_model_bytes, preset_of
from gpufeed.model.epochs import Passes
from gpufeed.model.recommendation import Bursts, Caveat, Demand, Evaluation, Starts, Supply, Traffic
from gpufeed.model.rules import EXPRESS, S3
from gpufeed.model.supply import Bulk
from gpufeed.model.workload import Workload

_SECONDS_PER_HOUR = 3600.0


def traffic_of(
    workload: Workload, asked: Demand, evaluation: Evaluation | None, objects: float, facts: Facts
) -> Traffic:
    """Evaluation, where it was stated, and what the start of a job and of an epoch asks for."""
    batches = _first_batches(workload, asked, facts)
    queues = None if batches is None else batches.times(facts.model.known("prefetch_factor"), "bytes")
    pages = Quantity.exact(math.ceil(objects / facts.model.known("list_page_keys").value), "requests")
    once = base_model_bytes(workload, facts)
    weights = None if once is None else _read_by_all(once, workload, asked)
    return Traffic(evaluation, Starts(weights, batches, queues, pages, once))


# ---- evaluation ------------------------------------------------------------------------------------------------------


def evaluation_of(
    workload: Workload, asked: Demand, passes: Passes, facts: Facts
) -> tuple[Evaluation | None, tuple[Caveat, ...]]:
    """What each evaluation reads, and how fast at full GPU speed; None where none was stated.

    Equation: rate = training's × how much faster a forward pass alone is; share = bytes / (bytes + what training reads
    between two evaluations).
    Assumption: each evaluation reads everything again; without a stated interval there is one after each epoch.
    """
    every, size = workload.evaluation_every, workload.evaluation_bytes
    if every is None and size is None:
        return None, ()
    warnings = []
    read, faster = asked.read_bytes_per_s, facts.model.known("evaluation_speedup")
    if size is None:
        reads = passes.bytes.times(facts.model.known("evaluation_share"), "bytes")
        warnings.append(Caveat("default-evaluation-size", {"bytes": reads}))
    else:
        reads = Quantity.exact(size, "bytes")
    between = None if every is None else Quantity.exact(every, "seconds")
    if between is None and read is not None:
        between = passes.bytes.middle().per(read.middle(), "seconds")
        warnings.append(Caveat("evaluation-each-epoch", {"seconds": between}))
    rate = None if read is None else read.middle().times(faster, "bytes/s")
    requests = share = None
    if rate is not None and asked.request_bytes is not None:
        requests = rate.per(asked.request_bytes.middle(), "requests/s")
    if read is not None and between is not None:
        share = reads.per(reads.middle() + read.middle() * between, "share")
    return Evaluation(between, reads, rate, requests, share), tuple(warnings)


def evaluating(evaluation: Evaluation | None) -> Quantity | None:
    """Seconds of one evaluation at full GPU speed; None without one, and where its rate is not known."""
    if evaluation is None or evaluation.read_bytes_per_s is None:
        return None
    return evaluation.bytes.per(evaluation.read_bytes_per_s, "seconds")


def beside_training(evaluation: Evaluation | None) -> float:
    """Hours of evaluation at full GPU speed for each hour of training; 0 where that is not known.

    Equation: seconds of one evaluation / seconds of training from one to the next.
    """
    seconds = evaluating(evaluation)
    if evaluation is None or evaluation.every is None or seconds is None:
        return 0.0
    return seconds.value / evaluation.every.value


def caveats(on: Bursts, evaluation: Evaluation | None) -> Iterator[Caveat]:
    """Evaluations that take longer than the training between them, on the option that the reads take."""
    seconds = on.evaluation_seconds
    if evaluation is None or evaluation.every is None or seconds is None or seconds.value <= evaluation.every.value:
        return
    yield Caveat("evaluation-exceeds-interval", {"seconds": seconds, "every": evaluation.every}, grave=True)


def evaluations_in(hours: float, evaluation: Evaluation | None) -> float | None:
    """How many evaluations so many hours of training have; None where that is not known."""
    if evaluation is None or evaluation.every is None:
        return None
    return hours * _SECONDS_PER_HOUR / evaluation.every.value


def waiting_hours(hours: float, evaluation: Evaluation, fed: Quantity | None) -> Quantity | None:
    """Hours for which the GPUs wait in the evaluations of a run: evaluations × time at GPU speed × (1/fed − 1)."""
    count = evaluations_in(hours, evaluation)
    if count is None or fed is None or evaluation.read_bytes_per_s is None:
        return None
    at_gpu_speed = count * evaluation.bytes.value / evaluation.read_bytes_per_s.value / _SECONDS_PER_HOUR
    return formulas.idle_hours(at_gpu_speed, fed)


# ---- the start of a job and of an epoch ------------------------------------------------------------------------------


def _read_by_all(weights: Quantity, workload: Workload, asked: Demand) -> Quantity:
    """Bytes of weights that a job reads when it starts.

    Equation: bytes × instances.  Assumption: each instance reads the weights once; at least they are read once in all
    (every rank its shard), at most once by each rank.
    """
    low, value, high = weights.low, weights.value * workload.instances, weights.high * asked.accelerators
    return Quantity(low, value, high, "bytes", "assumed", weights.sources | {"gpufeed-assumption"})


def _batch(workload: Workload, facts: Facts) -> Quantity | None:
    """Samples of an accelerator and step: as stated, or as published for the preset on this accelerator."""
    if workload.batch_size is not None:
        return Quantity.exact(float(workload.batch_size), "count")
    accelerator, _ = accelerators_of(workload, facts)
    section = facts.workloads[preset_of(workload)]
    return None if accelerator not in section.parts else section.parts[accelerator].quantity("batch_size")


def step_seconds(workload: Workload, asked: Demand, facts: Facts) -> Quantity | None:
    """Seconds of one training step at full GPU speed; None where batch or rate is not known.

    Equation: accelerators × batch / samples/s.
    """
    batch, samples = _batch(workload, facts), asked.samples_per_s
    return None if batch is None or samples is None else (batch * asked.accelerators / samples).named("seconds")


def _first_batches(workload: Workload, asked: Demand, facts: Facts) -> Quantity | None:
    """Bytes of one batch for every worker; None where the batch size is not known.

    Equation: accelerators × workers × batch × bytes per sample.
    """
    batch = _batch(workload, facts)
    read, samples = asked.read_bytes_per_s, asked.samples_per_s
    if batch is None or read is None or samples is None:
        return None
    workers = facts.model.known("workers_per_accelerator")
    if workload.workers_per_accelerator is not None:
        workers = Quantity.exact(float(workload.workers_per_accelerator), "count")
    return (batch * (read.middle() / samples.middle()) * (workers.middle() * asked.accelerators)).named("bytes")


# ---- on one option ---------------------------------------------------------------------------------------------------


def bursts(given: Supply, bulk: Bulk | None, traffic: Traffic, facts: Facts, lies_on: str) -> Bursts:
    """How long an option takes for each; ``bulk`` is what it gives to large reads of all ranks at once.

    ``lies_on`` keeps the bytes: the option, or the bucket behind Mountpoint.
    """
    rate, starts = given.read_bytes_per_s, traffic.starts
    if rate is None:
        return Bursts()
    weights = first = None
    if starts.base_model_bytes is not None and starts.base_model_once is not None and bulk is not None:
        weights = bulk.seconds(starts.base_model_bytes, starts.base_model_once.value, facts)
    if starts.first_batches_bytes is not None:
        first = starts.first_batches_bytes.per(rate, "seconds")
    found = Bursts(weights, first, _listing(lies_on, starts.list_requests, facts))
    evaluation = traffic.evaluation
    if evaluation is None or evaluation.read_bytes_per_s is None:
        return found
    asked = evaluation.read_bytes_per_s
    seconds = evaluation.bytes.per(least(rate, asked), "seconds")
    return replace(found, evaluation_seconds=seconds, evaluation_fed=formulas.fed(rate, asked))


def _listing(lies_on: str, pages: Quantity, facts: Facts) -> Quantity | None:
    """Seconds of one listing of all keys, a page after the other; None on a file system, whose rate is not published.

    Assumption: a page takes as long as the first byte of a small object: on S3 Standard a slow one, since it holds a
    thousand keys.  References: s3-performance.
    """
    if lies_on not in (S3, EXPRESS):
        return None
    small = facts.options[lies_on].known("first_byte_latency")
    low, value, high, sources = small.low, small.value, small.high, small.sources
    if lies_on == S3:
        slow = facts.options[S3].known("first_byte_latency_slow")
        low, value, high, sources = small.value, slow.value, slow.high, small.sources | slow.sources
    return Quantity(pages.low * low, pages.value * value, pages.high * high, "seconds", "assumed", sources)
