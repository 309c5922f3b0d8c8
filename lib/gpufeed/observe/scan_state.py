"""Where a scan stands: what is counted and where to go on, in one document, so that neither is ahead of the other."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gpufeed.facts.errors import InputError
from gpufeed.model.kind import expect
from gpufeed.model.profile import PrefixProfile
from gpufeed.model.tally import count_in, name_in
from gpufeed.observe.ranges import Range, Split
from gpufeed.observe.store import Place

SCHEMA_VERSION = 1


@dataclass(frozen=True, slots=True)
class ScanState:
    """The profile of every committed page, the ranges and splits that are left, and counters (keys, requests, s)."""

    place: Place
    profile: PrefixProfile
    ranges: tuple[Range, ...]
    splits: tuple[Split, ...] = ()
    keys: int = 0
    requests: int = 0
    retries: int = 0
    seconds: float = 0.0
    last_key: str | None = None

    @classmethod
    def at_start(cls, place: Place) -> ScanState:
        """One range: the whole prefix, listed flat."""
        return cls(place, PrefixProfile(place.prefix), (Range(place.prefix),))

    def to_json(self) -> dict[str, Any]:
        return {
            "schema_version": SCHEMA_VERSION,
            "url": self.place.url,
            "keys": self.keys,
            "requests": self.requests,
            "retries": self.retries,
            "seconds": self.seconds,
            "last_key": self.last_key,
            "ranges": [item.to_json() for item in self.ranges],
            "splits": [split.to_json() for split in self.splits],
            "profile": self.profile.to_json(whole=True),
        }

    @classmethod
    def from_json(cls, document: Mapping[str, Any], place: Place) -> ScanState:
        """Read what :meth:`to_json` wrote.  Raises InputError when it is something else, or not of ``place``."""
        expect(document, "unfinished-scan")
        try:
            url = document["url"]
            if document["schema_version"] != SCHEMA_VERSION or not isinstance(url, str):
                raise ValueError("another version")
            if url != place.url:
                raise InputError("scan.other-url", url=place.url, found=url)
            sketched = {"sketch": document["profile"]["sketch"], **document["profile"]}
            state = cls(
                place=place,
                profile=PrefixProfile.from_json(sketched),
                ranges=tuple(map(Range.from_json, document["ranges"])),
                splits=tuple(map(Split.from_json, document["splits"])),
                keys=count_in(document, "keys"),
                requests=count_in(document, "requests"),
                retries=count_in(document, "retries"),
                seconds=float(document["seconds"]),
                last_key=name_in(document, "last_key"),
            )
            profile = state.profile
            if profile.prefix != place.prefix or profile.objects + profile.folder_markers != state.keys:
                raise ValueError("the profile belongs to other cursors")
            if not 0 <= state.seconds < math.inf:
                raise ValueError("seconds")
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError, RecursionError):
            raise InputError("scan.bad-state") from None
        return state
