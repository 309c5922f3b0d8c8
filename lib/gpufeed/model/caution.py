"""What is not seen in an answer: the assumed number of prefixes, a benchmark's own threshold, saves without a copy."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from gpufeed.facts.quantity import Quantity
from gpufeed.model import checkpoint_reasons, goodput
from gpufeed.model.checkpoint import outpaced
from gpufeed.model.checkpoint_choice import late
from gpufeed.model.demand import accelerators_of, preset_of, stall_tolerance
from gpufeed.model.job import Job
from gpufeed.model.recommendation import Caveat, Demand, OptionAnswer, Placement, Reason, Saving
from gpufeed.model.release import export_seconds, provisioned_throughput
from gpufeed.model.rules import EXPRESS, FSX, S3, Traits
from gpufeed.model.weigh import to_replace

#: What to state, for each caveat about something that was not stated or is not known: any of these fields, or all.
ANSWERED_BY: dict[str, tuple[str, ...]] = {
    "default-prefixes": ("prefixes",),
    "default-prefixes-of-unknown-demand": ("prefixes",),
    "host-memory-unknown": ("host_memory_bytes",),
    "may-be-in-host-memory": ("host_memory_bytes",),
    "run-hours-of-epochs": ("run_hours",),
    "epochs-of-run-hours": ("epochs",),
    "default-preset": ("preset",),
    "default-region": ("region",),
    "default-workers": ("workers_per_accelerator", "requests_in_flight_per_worker"),
    "default-model-size": ("model_parameters",),
    "default-dataset": ("dataset_bytes",),
    "default-run-hours": ("run_hours",),
    "default-interval": ("checkpoint_interval",),
    "default-evaluation-size": ("evaluation_bytes",),
    "evaluation-each-epoch": ("evaluation_every",),
    "frequency-derived-frequent": ("checkpoints",),
    "frequency-derived-rare": ("checkpoints",),
    "no-sample-rate": ("samples_per_second_per_accelerator",),
    "no-peak-rate": ("samples_per_second_per_accelerator",),
    "precision-not-on-accelerator": ("samples_per_second_per_accelerator",),
    "rate-of-preset-model": ("samples_per_second_per_accelerator",),
    "rate-of-preset-model-uses": ("samples_per_second_per_accelerator",),
    "scaled-rate": ("samples_per_second_per_accelerator",),
    "any-training-stack": ("training_stack",),
    "no-checkpoint-size": ("checkpoint_bytes", "model_parameters"),
    "adapters-of-mixture": ("checkpoint_bytes",),
    "objects-taken-for-samples": ("sample_bytes",),
    "no-object-size": ("dataset_bytes", "objects"),
    "network-unknown": ("instance_type",),
    "gpu-not-priced": ("gpu_hour_price",),
    "gpu-priced-elsewhere": ("gpu_hour_price",),
    "gpu-priced-by-capacity-block": ("gpu_hour_price",),
    "path-unknown": ("network_path",),
}
#: What is said against an option for the requests/s of its prefixes.
_BY_PREFIXES = frozenset({"over-request-limit", "parts-over-request-limit"})


def default_prefixes(fit: Mapping[str, OptionAnswer], job: Job) -> Iterator[Caveat]:
    """The number of prefixes was not stated, and leaves options short of what is asked that could be chosen."""
    assumed = job.load.possible_prefixes
    if assumed is None:
        return
    options = tuple(option for option, answer in fit.items() if _short_of_requests(answer, job.demand))
    if options:
        allowed = (job.facts.options[S3].known("read_requests_per_prefix") * assumed).named("requests/s")
        # What nobody knows to be asked for, nothing is known to fall short of.
        which = "default-prefixes" if job.demand.read_bytes_per_s else "default-prefixes-of-unknown-demand"
        yield Caveat(which, {"prefixes": assumed, "requests": allowed, "options": options})


def objects_as_samples(job: Job) -> Iterator[Caveat]:
    """Objects that stand for a sample each, as the preset has it, and are many times larger than a published one.

    Equation: mean size of an object / published size of a sample.
    """
    preset = preset_of(job.workload)
    section, counted = job.facts.workloads[preset], job.demand.object_bytes
    each, published = section.quantity("samples_per_object"), section.quantity("sample_bytes")
    if job.workload.sample_bytes is not None or counted is None or published is None:
        return
    factor = counted.value / published.value
    if each is not None and each.value == 1 and factor > job.facts.model.known("odd_sample").value:
        found = {"preset": preset, "counted": counted, "published": published, "factor": factor}
        yield Caveat("objects-taken-for-samples", found, grave=True)


def _short_of_requests(answer: OptionAnswer, demand: Demand) -> bool:
    """S3's requests/s keep it from what the GPUs ask for, at its least against their most."""
    limit, asked = answer.supply.limits.get("request-limit"), demand.read_bytes_per_s
    if limit is None or answer.verdict == "ruled-out" or EXPRESS in (answer.option, answer.backed_by):
        return False
    named = answer.supply.limited_by == "request-limit" or _BY_PREFIXES & {reason.id for reason in answer.reasons}
    return bool(named) and (asked is None or limit.low < asked.high)


def interface_overruled(
    reads: Placement, saves: Placement, traits: Traits, doubts: Iterable[Caveat]
) -> Iterator[Caveat]:
    """The job was said to speak the S3 API alone, and goes on something that serves files."""
    if not traits.object_interface or any(doubt.id == "doubt-objects-and-files" for doubt in doubts):
        return
    for placed, what in ((reads, "reads"), (saves, "saves")):
        if placed.option not in (S3, EXPRESS):
            yield Caveat(f"interface-overruled-{what}", {"option": placed.option}, grave=True)


def saves_outpaced(placed: Placement, chosen: Saving, job: Job) -> Iterator[Caveat]:
    """Failures that come so often that most of the time is lost, whatever the interval."""
    if outpaced(chosen.stall, job.demand):
        said = {"seconds": chosen.stall.save_seconds, "failure": job.demand.mean_time_to_failure}
        yield Caveat("saves-outpaced", {"option": placed.option} | said, grave=True)


def interval_loses(placed: Placement, chosen: Saving, job: Job) -> Iterator[Caveat]:
    """An interval at which more of the time is lost, beyond what the best one loses, than saves may take.

    Where the saves themselves take that, they are named (:func:`saves_stall`).
    """
    stall, facts = chosen.stall, job.facts
    tolerance = stall_tolerance(job.workload, facts).value
    if stall.share is None or stall.share.value > tolerance:
        return
    losses = goodput.losses_of(job.workload, job.demand, stall, facts)
    if losses is None:
        return
    best = goodput.best_interval(losses)
    lost, then = (goodput.goodput(losses, interval).lost for interval in (stall.interval, best))
    if lost.value - then.value > tolerance:
        said = {"interval": stall.interval, "lost": lost, "best": Quantity.exact(best, "seconds"), "then": then}
        yield Caveat("interval-loses", {"option": placed.option} | said, grave=True)


def way_is_dear(transfer: Quantity | None, job: Job) -> bool:
    """Whether the way to the bucket costs more than GPUs of the run that wait as much as is tolerated of saves."""
    price, share = job.run.weighed_gpu_price, stall_tolerance(job.workload, job.facts).value
    if transfer is None or price is None:
        return False
    return transfer.value > share * price.value * job.run.hours


def wish_costs(fit: Mapping[str, OptionAnswer], reads: str, traits: Traits, job: Job) -> Iterator[Caveat]:
    """That no file system is wanted, where one would feed the GPUs better and cost less by more than setting it up."""
    other, mine = fit[FSX], fit[reads]
    if not traits.avoid_parallel or reads == FSX or other.verdict == "ruled-out":
        return
    if other.weighed is None or mine.weighed is None or other.fed is None or mine.fed is None:
        return
    least = to_replace(FSX, mine, job)
    if other.fed.value > mine.fed.value and other.weighed.value < mine.weighed.value - least:
        said = {"option": FSX, "fed": other.fed, "cost": other.weighed}
        said |= {"other": reads, "other_fed": mine.fed, "other_cost": mine.weighed}
        yield Caveat("wish-costs", said, grave=True)


def saves_may_outlast(placed: Placement, chosen: Saving, job: Job) -> Iterator[Caveat]:
    """Asynchronous saves that end before the next begins, and at their slow end do not: GPUs would wait for each.

    Grave where they would wait for more of the time than is tolerated.
    """
    stall = chosen.stall
    if stall.may_reach_beyond is None or stall.save_seconds is None or stall.share is None:
        return
    said = {
        "option": placed.option,
        "seconds": stall.save_seconds,
        "interval": stall.interval,
        "beyond": Quantity.exact(stall.may_reach_beyond, "seconds"),
        "slowest": Quantity.exact(stall.save_seconds.high, "seconds"),
        "cost": chosen.weighed,
    }
    grave = stall.share.high > stall_tolerance(job.workload, job.facts).value
    yield Caveat("save-may-outlast-interval", said, grave=grave)


def exports_behind(placed: Placement, job: Job) -> Iterator[Caveat]:
    """Saves come faster than they are copied to S3, so most of them never get a copy that lasts."""
    found = checkpoint_reasons.exports_behind(placed.option, placed.configuration, job)
    if found is not None:
        said = {
            "option": placed.option,
            "export": found.export,
            "interval": found.interval,
            "every": found.every,
            "oldest": found.oldest,
            "queue": found.queue,
        }
        yield Caveat(f"export-falls-behind-{placed.option}", said, grave=True)


def saves_stall(placed: Placement, chosen: Saving, job: Job) -> Iterator[Caveat]:
    """Saves that keep the GPUs waiting for more of the time than is tolerated, or come too late everywhere.

    Costs may be least there all the same: before an answer that reads "fed" it is said what saving takes.
    """
    stall, tolerance = chosen.stall, stall_tolerance(job.workload, job.facts)
    too_late = late(stall, job)
    if too_late is not None:
        yield Caveat("nothing-in-time", {"option": placed.option, "because": too_late}, grave=True)
    if stall.share is not None and stall.share.value > tolerance.value:
        said = {"option": placed.option, "share": stall.share, "tolerance": tolerance}
        yield Caveat(f"saves-stall-{job.demand.checkpoint_mode}", said, grave=True)


def export_unmeasured(placed: Placement, on_fsx: Saving, job: Job) -> Iterator[Caveat]:
    """Whether FSx for Lustre copies each save hangs on how export scales, beyond the file systems it was measured on.

    Said where the checkpoints are there, and where they are not because its export falls behind.
    """
    settings, interval = on_fsx.supply.configuration, job.demand.checkpoint_interval
    export, provisioned = export_seconds(FSX, settings, job.demand, job.facts), provisioned_throughput(settings)
    measured = job.facts.options[FSX].known("export_throughput_provisioned")
    decides = placed.option == FSX or "saving-rule-falls-behind" in {reason.id for reason in placed.reasons}
    if not decides or export is None or provisioned is None or measured.low <= provisioned <= measured.high:
        return
    if export.low <= interval < export.high:
        said = {
            "option": FSX,
            "measured": measured,
            "provisioned": Quantity.exact(provisioned, "bytes/s"),
            "seconds": export,
            "interval": interval,
        }
        yield Caveat("fsx-export-unmeasured", said)


def beside_threshold(reads: Placement, fed: Quantity | None, job: Job) -> Placement:
    """The placement of the training reads with the utilisation that the preset's own benchmark asks for.

    A benchmark counts the share of its time in which the accelerators compute, which is how fed they are.
    """
    threshold = _threshold(job)
    if threshold is None or fed is None:
        return reads
    met = "met" if fed.low >= threshold.value else "missed" if fed.high < threshold.value else "in-doubt"
    found = Reason(f"benchmark-{met}", {"threshold": threshold, "fed": fed}, next(iter(threshold.sources), None))
    return replace(reads, reasons=(*reads.reasons, found))


def _threshold(job: Job) -> Quantity | None:
    preset = job.workload.preset
    if preset is None:
        return None
    accelerator, _ = accelerators_of(job.workload, job.facts)
    of_accelerator = job.facts.workloads[preset].parts
    return of_accelerator[accelerator].quantity("au_threshold") if accelerator in of_accelerator else None
