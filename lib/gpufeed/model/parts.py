"""In which parts a checkpoint is saved to a bucket and read again: a setting of the clients, so the plan chooses it."""

from __future__ import annotations

import math

from gpufeed.facts import Facts
from gpufeed.facts.quantity import Quantity, least
from gpufeed.model import formulas
from gpufeed.model.recommendation import Demand
from gpufeed.model.rules import S3
from gpufeed.model.supply import Load
from gpufeed.model.upload import MIB, upload_of


def part_of_saves(asked: Demand, load: Load, facts: Facts) -> Quantity | None:
    """Bytes of one part; None where the size of the checkpoint is not known.

    As clients make them, and as much larger as keeps the requests/s of S3 from being what limits a save: those of the
    key prefix it lies under, or those that KMS allows.  Likewise for a restore, while a rank still has enough to save
    for all the parts that its client has under way.  Never larger than what a rank saves, than S3 takes, or than is
    assumed to fit into memory.

    Equation: part = most(needed by a save, least(needed by a restore, bytes of a rank's file / parts under way)), in
    whole MiB.
    Assumption: a restore is read in the parts of the save, since S3 Connector for PyTorch has one setting for both.
    References: s3-performance, s3-multipart, s3-connector-pytorch.
    """
    if asked.checkpoint_bytes is None:
        return None
    size, model = asked.checkpoint_bytes.value, facts.model
    own = upload_of(size, asked.checkpoint_writers, facts)
    at_once = model.known("checkpoint_parts_in_flight")
    allowed, first, each, through = _requests("write", load, load.writing_nodes, facts)
    in_flight = at_once.value * asked.checkpoint_writers
    saving = min(
        formulas.part_that_lasts(in_flight, allowed.value, first.value, each.value),
        formulas.part_all_at_once(size, allowed.value, first.value, each.value),
        *(rate.value / allowed.value for rate in through),
    )
    allowed_back, _, each_back, back = _requests("read", load, load.nodes, facts)
    in_flight = at_once.value * asked.accelerators
    restoring = min(
        formulas.part_that_lasts(in_flight, allowed_back.value, first.value, each_back.value),
        own.file_bytes / at_once.value,
        *(rate.value / allowed_back.value for rate in back),
    )
    largest = least(model.known("large_part_bytes").middle(), facts.options[S3].known("multipart_maximum_part"))
    whole = min(math.ceil(max(saving, restoring) / MIB) * MIB, math.ceil(own.file_bytes / MIB) * MIB, largest.value)
    rests_on = sum((allowed, allowed_back, first, each, each_back, *through, largest, asked.checkpoint_bytes), at_once)
    return rests_on.at(max(own.part_bytes, whole)).named("bytes")


def _requests(way: str, load: Load, nodes: int, facts: Facts) -> tuple[Quantity, Quantity, Quantity, list[Quantity]]:
    """(requests/s that are allowed, time to the first byte, bytes/s of one request, what all of them pass through)."""
    s3 = facts.options[S3]
    allowed = load.share_of(s3.known(f"{way}_requests_per_prefix") * facts.model.known("prefixes"))
    if load.kms_requests is not None:
        allowed = least(allowed, load.share_of(load.kms_requests))
    through = [] if load.s3_network is None else [load.s3_network * nodes]
    through += [] if load.nat is None else [load.share_of(load.nat)]
    return allowed, s3.known("first_byte_latency"), s3.known(f"per_request_{way}"), through
