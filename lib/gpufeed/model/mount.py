"""What Mountpoint for Amazon S3 asks of an instance: memory to read ahead into, and a cache to keep anything at all."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from gpufeed.facts.quantity import Quantity, least
from gpufeed.model import formulas
from gpufeed.model.job import Job
from gpufeed.model.recommendation import Caveat, Placement, Reason
from gpufeed.model.rules import MOUNTPOINT


def explained(reads: Placement, job: Job) -> Placement:
    """The placement of the training reads with the cache that would keep them near, where they are read again.

    Nothing is counted on it: what the drives write and read beside the reads from S3 is not published.
    References: mountpoint-configuration.
    """
    passes = job.passes
    if reads.option != MOUNTPOINT or not passes.later:
        return reads
    mountpoint, cache = job.facts.options[MOUNTPOINT], None
    room = None
    if passes.drives is not None:
        room = passes.drives.times(1.0 - mountpoint.known("cache_keeps_free").value, "bytes")
    if room is not None and passes.bytes.value <= room.value:
        again = Quantity.exact(formulas.share_asked_again(passes.nodes, passes.later), "share")
        cache = Reason("mountpoint-cache", {"bytes": passes.bytes, "capacity": room, "asked_again": again}, _SOURCE)
    elif job.load.object_bytes.value <= mountpoint.known("shared_cache_object").value:
        most = mountpoint.known("shared_cache_object")
        cache = Reason("mountpoint-shared-cache", {"most": most, "instances": passes.nodes}, _SOURCE)
    return reads if cache is None else replace(reads, reasons=(*reads.reasons, cache))


_SOURCE = "mountpoint-configuration"


def caveats(reads: str, job: Job) -> Iterator[Caveat]:
    """That reading ahead may take the memory that the training program needs.

    Equation: files read at once on an instance × least(object, window), against what is assumed free.
    References: mountpoint-configuration.
    """
    memory, free = job.passes.memory, job.passes.page_cache
    if reads != MOUNTPOINT or memory is None or free is None:
        return
    mountpoint, files = job.facts.options[MOUNTPOINT], job.load.in_flight / job.load.nodes
    each = least(job.load.object_bytes.middle(), mountpoint.known("prefetch_window"))
    ahead = each.times(files, "bytes")
    if ahead.value > free.value:
        target = memory.times(mountpoint.known("memory_target"), "bytes")
        yield Caveat("mountpoint-memory", {"files": files, "ahead": ahead, "free": free, "target": target})
