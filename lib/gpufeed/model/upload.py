"""How many requests move so many bytes: whole ones.  A checkpoint is one file for each rank that saves, in parts.

What the bill counts and what the clients are told to set come both from here.
"""

from __future__ import annotations

import math

from gpufeed.facts import Facts
from gpufeed.model.frozen import changed, frozen
from gpufeed.model.recommendation import Demand
from gpufeed.model.rules import EXPRESS, S3

MIB = 2**20


@frozen
class Upload:
    """One file of a save.  Bytes."""

    file_bytes: float
    part_bytes: int
    around: int  # requests around its parts

    @property
    def parts(self) -> int:
        return math.ceil(self.file_bytes / self.part_bytes)

    def in_parts_of(self, size: float) -> Upload:
        """The same file in larger parts; never in smaller ones."""
        return changed(self, part_bytes=max(self.part_bytes, round(size)))

    @property
    def requests(self) -> int:
        """Its parts, and what opens and closes them, of a file of one part too.

        Clients that stream a file do not know its length when they open it, so that they never take a single PUT.
        """
        return self.parts + self.around


def upload_of(size: float, writers: int, facts: Facts) -> Upload:
    """The file of one rank, of a save of ``size`` bytes by so many.

    Parts are as AWS's clients make them, larger ones where a file would have more parts than S3 allows.
    Equation: part = max(default, bytes of the file / parts of an upload), in whole MiB.
    References: mountpoint-configuration, mountpoint-multipart, s3-multipart.
    """
    each = size / writers
    needed = math.ceil(each / facts.options[S3].known("multipart_maximum_parts").value / MIB) * MIB
    around = round(facts.model.known("requests_around_parts").value)
    return Upload(each, max(default_part_bytes(facts), needed), around)


def upload_of_saves(demand: Demand, place: str | None, facts: Facts) -> Upload | None:
    """The file of one rank, in a bucket in the parts that are chosen for it; None where its size is not known."""
    if demand.checkpoint_bytes is None:
        return None
    upload = upload_of(demand.checkpoint_bytes.value, demand.checkpoint_writers, facts)
    chosen = {S3: demand.checkpoint_part_bytes, EXPRESS: demand.checkpoint_part_bytes_express}
    part = None if place is None else chosen.get(place)
    return upload if part is None else upload.in_parts_of(part.value)


def gets_of(size: float, part: float) -> int:
    """Requests that read one object from its first byte to its last: the last part may be a small one."""
    return max(1, math.ceil(size / part))


def puts_of(size: float, facts: Facts) -> int:
    """Requests that upload one object: one PUT, or the parts of a large one and what opens and closes them."""
    return 1 if size <= default_part_bytes(facts) else upload_of(size, 1, facts).requests


def default_part_bytes(facts: Facts) -> int:
    return round(facts.model.known("part_bytes").value)
