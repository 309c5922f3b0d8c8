"""What is left to list, and when it pays to list sub-prefixes apart.

Exact on any store, whatever order it lists in: nothing here rests on comparing keys.  A range that is split hands its
sub-prefixes the keys that were counted already, so no page is thrown away and no key is counted twice.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from gpufeed.observe.pages import Page

# Splitting pays when a full page shows this many keys per sub-prefix: at worst four times the requests of a flat
# listing, but many at a time.  A page that one sub-prefix fills costs nothing to split.
FULL_PAGE = 1000
KEYS_PER_CHILD = 250

# The first page knows only the first sub-prefixes.  Where there are more than a few, so many drawn at random are listed
# before the others: a request per tiny folder would cost more than it gains.
SAMPLE = 16


@dataclass(eq=False, slots=True)
class Range:
    """Keys under ``prefix`` still to list.  ``token`` is the committed cursor: every page before it is in the profile.

    With ``delimiter`` the range lists what lies directly there and gives a range per sub-prefix; ``flat`` is then the
    same range unsplit, to go on with when splitting is refused or does not pay.  ``skip`` holds keys, and
    ``skip_prefixes`` sub-prefixes, that are counted elsewhere.
    """

    prefix: str
    delimiter: bool = False
    token: str | None = None
    last_key: str | None = None
    pages: int = 0
    retries: int = 0
    skip: frozenset[str] = frozenset()
    skip_prefixes: tuple[str, ...] = ()
    flat: Range | None = None
    seen: set[int] = field(default_factory=set)

    def new_in(self, page: Page) -> Page:
        """What of ``page`` is not counted elsewhere."""
        if not self.skip and not self.skip_prefixes:
            return page
        skip, prefixes = self.skip, self.skip_prefixes
        return page.only([key not in skip and not key.startswith(prefixes) for key in page.keys])

    def child(self, prefix: str) -> Range:
        """The range of one sub-prefix."""
        return Range(prefix, skip=frozenset(key for key in self.skip if key.startswith(prefix)))

    def split(self, page: Page) -> Range:
        """The same range listed by sub-prefix, ``page`` being the one page of it that is counted."""
        return Range(self.prefix, delimiter=True, skip=self.skip | frozenset(page.keys), flat=self)

    def to_json(self) -> dict[str, Any]:
        """What a later scan needs to go on from here."""
        return {
            "prefix": self.prefix,
            "delimiter": self.delimiter,
            "token": self.token,
            "last_key": self.last_key,
            "skip": sorted(self.skip),
            "skip_prefixes": list(self.skip_prefixes),
        }


def splitting_pays(item: Range, page: Page, busy: bool) -> bool:
    """Whether ``page``, the first of ``item``, shows sub-prefixes worth listing apart; ``busy``: no worker is idle."""
    if item.delimiter or item.pages != 1 or len(page) < FULL_PAGE:
        return False
    start = len(item.prefix)
    below = [key[:end] for key in page.keys if (end := key.find("/", start) + 1)]
    children = len(set(below))
    if len(below) < FULL_PAGE / 2:
        return False  # mostly objects that lie directly here
    return children == 1 or (not busy and len(below) >= KEYS_PER_CHILD * children)


def sampled(children: Sequence[Range]) -> list[Range]:
    """The sub-prefixes to list first; none when there are so few that all may as well be listed."""
    if len(children) <= SAMPLE:
        return []
    return random.Random(0).sample(children, SAMPLE)


class Split:
    """A split on trial: some sub-prefixes are being listed, ``rest`` waits for what they show."""

    def __init__(self, flat: Range, sample: Sequence[Range], rest: Sequence[Range], counted: Sequence[str]) -> None:
        self.rest = list(rest)
        self._flat = flat
        self._prefixes = tuple(child.prefix for child in sample)
        self._awaited = set(sample)
        self._counted = frozenset(counted)
        self._keys = 0

    def answered_by(self, item: Range, keys: int) -> bool:
        """Note the ``keys`` on the first page of ``item``; False when it is not one of the sample, or not its first."""
        if item not in self._awaited:
            return False
        self._awaited.remove(item)
        self._keys += keys
        return True

    @property
    def decided(self) -> bool:
        return not self._awaited

    @property
    def pays(self) -> bool:
        return self._keys >= KEYS_PER_CHILD * len(self._prefixes)

    def flat_rest(self) -> Range:
        """The unsplit range, without what the trial counted or still lists."""
        self._flat.skip |= self._counted
        self._flat.skip_prefixes = self._prefixes
        return self._flat
