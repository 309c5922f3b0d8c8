"""In which parts a checkpoint is saved to a bucket and read again: a setting of the clients, so the plan chooses it."""

from __future__ import annotations

import math
from bisect import bisect_left
from operator import gt

from gpufeed.facts import Facts
from gpufeed.facts.quantity import Quantity, least
from gpufeed.model import formulas
from gpufeed.model.frozen import changed
from gpufeed.model.rules import EXPRESS, S3
from gpufeed.model.supply import Load, requests_of_saves
from gpufeed.model.upload import MIB, Upload, upload_of


def part_of_saves(place: str, saved: Quantity, load: Load, facts: Facts, *, writers: int, ranks: int) -> Quantity:
    """Bytes of one part of a checkpoint that ``writers`` of the ``ranks`` save to a bucket, and all of them read again.

    As clients make them, and as much larger as keeps the requests/s of the bucket from being what limits a save: those
    of the key prefix it lies under, or those that KMS allows; of a directory bucket its own.  Where they limit it all
    the same, those of the shortest save, which may be a rank's file in one part.  Likewise for a restore, while a rank
    still has enough to save for all the parts that its client has under way.  Never larger than what a rank saves, than
    S3 takes, or than is assumed to fit into memory.

    Equation: part = most(that of the shortest save, least(needed by a restore, bytes of a rank's file / parts under
    way)), in whole MiB.
    Assumption: a restore is read in the parts of the save, since S3 Connector for PyTorch has one setting for both.
    References: s3-performance, s3-express-performance, s3-multipart, s3-connector-pytorch.
    """
    size, model = saved.value, facts.model
    own = upload_of(size, writers, facts)
    at_once = model.known("checkpoint_parts_in_flight")
    allowed, first, each, through = _requests("write", place, load, load.writing_nodes, facts)
    saving = _of_the_shortest(
        own,
        each_second=allowed.value / writers,
        one=(first.value, each.value),
        at_once=at_once.value,
        moved=max((size / rate.value for rate in through), default=0.0),
    )
    allowed_back, _, each_back, back = _requests("read", place, load, load.nodes, facts)
    in_flight = at_once.value * ranks
    restoring = min(
        formulas.part_that_lasts(in_flight, allowed_back.value, first.value, each_back.value),
        own.file_bytes / at_once.value,
        *(rate.value / allowed_back.value for rate in back),
    )
    largest = least(model.known("large_part_bytes").middle(), facts.options[S3].known("multipart_maximum_part"))
    whole = min(math.ceil(max(saving, restoring) / MIB) * MIB, math.ceil(own.file_bytes / MIB) * MIB, largest.value)
    rests_on = sum((allowed, allowed_back, first, each, each_back, *through, largest, saved), at_once)
    return rests_on.at(max(own.part_bytes, whole)).named("bytes")


def _of_the_shortest(own: Upload, *, each_second: float, one: tuple[float, float], at_once: float, moved: float) -> int:
    """Bytes of a part: as clients make them, or larger ones that make the shortest save.

    Parameters: requests/s for one rank, (time to the first byte, bytes/s) of one request, parts that are under way at
    once, seconds in which the network moves it all.

    Equation: seconds of a save in n parts = most((n + 2) / requests/s, n / least(n, at once) × (L0 + part / b), seconds
    of the network).  The more parts there are, the sooner requests are the limit.
    """
    first_byte, rate = one

    def in_parts(count: int) -> Upload:
        return changed(own, part_bytes=max(own.part_bytes, math.ceil(own.file_bytes / count / MIB) * MIB))

    def seconds(count: int) -> tuple[float, float]:
        """By requests, and by bytes."""
        upload = in_parts(count)
        part = min(upload.part_bytes, own.file_bytes)
        by_bytes = max(own.file_bytes / part / at_once, 1.0) * (first_byte + part / rate)
        return upload.requests / each_second, max(moved, by_bytes)

    counts = range(1, own.parts + 1)
    limited = bisect_left(counts, True, key=lambda count: gt(*seconds(count)))
    # The last that requests do not limit, and the first that they do.
    around = counts[max(limited - 1, 0) : limited + 1]
    return in_parts(min(around, key=lambda count: max(seconds(count)))).part_bytes


def _requests(
    way: str, place: str, load: Load, nodes: int, facts: Facts
) -> tuple[Quantity, Quantity, Quantity, list[Quantity]]:
    """(requests/s that are allowed, time to the first byte, bytes/s of one request, what all of them pass through)."""
    chosen = facts.options[place]
    allowed = load.share_of(requests_of_saves(way, place, facts))
    # A directory bucket always uses a bucket key, so KMS is asked next to nothing.
    if load.kms_requests is not None and place != EXPRESS:
        allowed = least(allowed, load.share_of(load.kms_requests))
    through = [] if load.s3_network is None else [load.s3_network * nodes]
    through += [] if load.nat is None else [load.share_of(load.nat)]
    return allowed, chosen.known("first_byte_latency"), chosen.known(f"per_request_{way}"), through
