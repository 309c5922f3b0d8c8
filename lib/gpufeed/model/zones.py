"""Zone IDs: ``use1-az4`` is the same place for everybody, and its form says which Region it belongs to."""

from __future__ import annotations

import re
from collections.abc import Collection

_SHORT = {"northeast": "ne", "southeast": "se", "northwest": "nw"}


def prefix(region: str) -> str:
    """What the zone IDs of a Region begin with: ``use1`` in us-east-1, ``usgw1`` in us-gov-west-1."""
    continent, *place, number = region.split("-")
    return f"{continent}{''.join(_SHORT.get(word, word[0]) for word in place)}{number}"


def belongs(zone: str, region: str) -> bool:
    """Whether it is formed as a zone ID of the Region is.  A Local Zone has its place between: ``use1-dfw2-az1``."""
    return re.fullmatch(rf"{prefix(region)}(-[a-z0-9]+)?-az[1-9][0-9]?", zone) is not None


def listed(zone: str, zones: Collection[str]) -> bool:
    """Whether it is among the Availability Zones of its Region; no list says which Local Zones there are."""
    return zone in zones or zone.count("-") > 1
