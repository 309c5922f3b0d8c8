"""From a save to a copy that lasts: when the bytes are in S3, and when the fast copy may go."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from gpufeed.facts import Facts
from gpufeed.facts.quantity import Quantity, most
from gpufeed.model.fsx import GIB_PER_BILLED_TIB, MB
from gpufeed.model.recommendation import CheckpointStall, Demand, Reason
from gpufeed.model.rules import EXPRESS, FSX, S3_FILES


@dataclass(frozen=True, slots=True)
class Export:
    """What is known of the way from a file system to its bucket; None is "not looked at"."""

    task: str | None = None  # Lifecycle of the export task, such as "SUCCEEDED"
    queue_age: float | None = None  # seconds, of the oldest change that waits for automatic export
    files: int | None = None  # of the checkpoint, on the file system
    objects: int | None = None  # of the checkpoint, in the bucket
    file_bytes: float | None = None
    object_bytes: float | None = None
    deployment_type: str | None = None  # of the file system, such as "SCRATCH_2"


@dataclass(frozen=True, slots=True)
class Gate:
    """Whether a checkpoint may be released from FSx for Lustre; ``missing`` are messages ``gate.<id>``."""

    open: bool
    missing: tuple[str, ...]


def gate(export: Export) -> Gate:
    """Open only when the export task succeeded, nothing waits for export, and the counts match.

    What was not looked at keeps it shut: an export that nobody proved is not a copy.  A closed gate on a file system
    without replication also says that this is the only copy.
    References: fsx-release-api.
    """
    missing = []
    if export.task != "SUCCEEDED":
        missing.append("task-unknown" if export.task is None else "task-not-succeeded")
    if export.queue_age != 0:
        missing.append("queue-unknown" if export.queue_age is None else "queue-not-empty")
    if export.files is None or export.objects is None:
        missing.append("counts-unknown")
    elif not 0 < export.files == export.objects or export.file_bytes != export.object_bytes:
        missing.append("counts-differ")
    if missing and (export.deployment_type or "").startswith("SCRATCH"):
        missing.append("only-copy-on-scratch")
    return Gate(not missing, tuple(missing))


@dataclass(frozen=True, slots=True)
class Timeline:
    """One save on one option, in seconds from its begin.  ``release`` is message ``release.<id>``."""

    gpus_continue: Quantity | None
    written: Quantity | None
    in_s3: Quantity | None  # a copy in a general purpose bucket
    export: Quantity | None  # seconds of export for each save; the next waits behind it
    release: str
    every: int = 1  # one save in so many can be in S3 before the next of them waits


def timeline(
    lies_on: str,
    settings: Mapping[str, Any],
    demand: Demand,
    *,
    stall: CheckpointStall,
    s3: CheckpointStall,
    facts: Facts,
) -> Timeline:
    """When the GPUs go on, when the save is written, when it is in S3, and what may happen then.

    ``lies_on`` keeps the bytes: the option, or the bucket behind Mountpoint; ``settings`` are those of a file system.
    ``s3`` is the stall of S3 Standard: a copy out of a directory bucket takes as long as writing there, in the part
    that is chosen for it, which the script of the copy sets and the bill counts.
    References: s3-files-synchronization, s3-files-performance, fsx-export-benchmark, s3-express-differences.
    """
    written, size = stall.save_seconds, demand.checkpoint_bytes
    if written is None or size is None:
        return Timeline(None, None, None, None, _RELEASE.get(lies_on, "at-once"))
    in_s3: Quantity | None = written
    export = export_seconds(lies_on, settings, demand, facts)
    if export is not None:
        quiet = facts.options[S3_FILES].known("export_quiet_window")
        # Of S3 Files AWS names only the most that is exported.
        in_s3 = written + export if lies_on == FSX else (written + quiet + export).at_least()
    elif lies_on == EXPRESS:
        in_s3 = None if s3.save_seconds is None else written + s3.save_seconds
    return Timeline(
        gpus_continue=stall.stall_seconds,
        written=written,
        in_s3=None if in_s3 is None else in_s3.named("seconds"),
        export=export,
        release=_RELEASE.get(lies_on, "at-once"),
        every=exported_every(lies_on, settings, demand, facts),
    )


_RELEASE = {FSX: "fsx-for-lustre", S3_FILES: "s3-files", EXPRESS: "s3-express-one-zone"}


def export_seconds(option: str, settings: Mapping[str, Any], demand: Demand, facts: Facts) -> Quantity | None:
    """Seconds to bring one save to the bucket, beside those of other jobs: by bytes or by files, the longer.

    None where saves are not exported, or their size is not known.
    References: fsx-export-benchmark, fsx-data-repository-tasks, s3-files-performance.
    """
    if option not in (FSX, S3_FILES) or demand.checkpoint_bytes is None:
        return None
    provisioned, bounds = provisioned_throughput(settings) if option == FSX else None, []
    for name, amount in _to_export(demand.checkpoint_bytes, demand):
        rate = facts.options[option].known(name)
        if provisioned is not None:
            rate = _as_provisioned(rate, facts.options[option].known(f"{name}_provisioned"), provisioned)
        bounds.append(amount / rate)
    return most(*bounds).named("seconds")


def provisioned_to_export(seconds: float, demand: Demand, facts: Facts) -> float:
    """bytes/s that FSx for Lustre is ordered with at least where a save is exported in so many seconds.

    The inverse of :func:`export_seconds`, by the middle; infinite where none is taken to be that fast, or where the
    size of a save is not known.
    """
    if demand.checkpoint_bytes is None or not seconds:
        return math.inf
    ordered, chosen = 0.0, facts.options[FSX]
    for name, amount in _to_export(demand.checkpoint_bytes, demand):
        share = amount.value / seconds / chosen.known(name).value
        ordered = math.inf if share > 1.0 else max(ordered, share * chosen.known(f"{name}_provisioned").value)
    return ordered


def _to_export(size: Quantity, demand: Demand) -> Iterator[tuple[str, Quantity]]:
    """What is exported, as bytes and as files, by the fact that says how much of it a second.

    A save of each of the jobs that share a file system: they save as often, and it has one rate for all of them.
    """
    for name, amount in (
        ("export_throughput", size),
        ("export_rate", Quantity.exact(float(demand.checkpoint_writers))),
    ):
        yield name, amount if demand.jobs == 1 else amount * demand.jobs


def provisioned_throughput(settings: Mapping[str, Any]) -> float | None:
    """bytes/s that a file system was ordered with; None where its settings are not known."""
    capacity, each = settings.get("storage_capacity_gib"), settings.get("throughput_mb_per_s_per_tib")
    return None if capacity is None or each is None else capacity / GIB_PER_BILLED_TIB * each * MB


def _as_provisioned(rate: Quantity, measured_on: Quantity, provisioned: float) -> Quantity:
    """A rate of export that was measured on file systems with ``measured_on`` [bytes/s], for one with ``provisioned``.

    Assumption: with less it is as many times slower.  With more it may be as many times faster, since the file servers
    export in parallel, or no faster, since nobody has published that it is: the middle takes it for no faster.
    References: fsx-export-benchmark, fsx-data-repository-tasks.
    """
    if measured_on.low <= provisioned <= measured_on.high:
        basis, sources = rate.basis, rate.sources | measured_on.sources
    else:
        basis, sources = "assumed", rate.sources | measured_on.sources
    return Quantity(
        rate.low * min(1.0, provisioned / measured_on.low),
        rate.value * min(1.0, provisioned / measured_on.value),
        rate.high * (provisioned / measured_on.high),
        rate.unit,
        basis,
        sources,
    )


def exported_every(option: str, settings: Mapping[str, Any], demand: Demand, facts: Facts) -> int:
    """One save in so many can be exported before the next one that is waits behind it; 1: each.

    Above 1 the queue of an export of every save never empties while the job runs, so the gate never opens.
    Equation: ceil(export / interval).
    """
    export = export_seconds(option, settings, demand, facts)
    return 1 if export is None else max(1, math.ceil(export.value / demand.checkpoint_interval))


def falling_behind(export: Quantity, interval: float, every: int) -> Reason:
    """That the export of each save is not done when the next is written."""
    return Reason("export-falls-behind", {"seconds": export, "interval": interval, "every": every})


@dataclass(frozen=True, slots=True)
class Backlog:
    """An export that takes longer than the interval between saves.  Seconds."""

    export: Quantity
    interval: float
    every: int
    oldest: Quantity  # how old the last copy in S3 is at most where one save in ``every`` is exported
    queue: Quantity  # after the last step at most, where every save is exported


def backlog(
    option: str, settings: Mapping[str, Any], demand: Demand, *, kept: Quantity, facts: Facts
) -> Backlog | None:
    """What an export that falls behind leaves behind; None where it keeps up.

    Parameters: saves that the file system keeps, no more than the run makes (:func:`gpufeed.model.retention.kept_of`).
    Assumption: what is deleted before its turn is not exported, so no more waits than is kept.
    Equation: queue = export × saves kept; oldest = every × interval + export.
    """
    every = exported_every(option, settings, demand, facts)
    export = None if every == 1 else export_seconds(option, settings, demand, facts)
    if export is None:
        return None
    return Backlog(
        export=export,
        interval=demand.checkpoint_interval,
        every=every,
        oldest=(export + every * demand.checkpoint_interval).named("seconds"),
        queue=export.times(kept, "seconds"),
    )
