"""What is left to list, and when it pays to list sub-prefixes apart.

Exact on any store, whatever order it lists in: nothing here rests on comparing keys.  A range that is split hands its
sub-prefixes the keys that were counted already, so no page is thrown away and no key is counted twice.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

from gpufeed.model.tally import count_in, name_in
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
    ``skip_prefixes`` sub-prefixes, that are counted elsewhere.  ``seen`` holds the marks of all tokens so far.
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

    def goes_round(self, token: str | None) -> bool:
        """Whether the store gave this token before."""
        return token is not None and _mark(token) in self.seen

    def advance(self, token: str | None) -> None:
        """Commit the page that came with ``token``, where the next one starts."""
        self.pages += 1
        if token is not None:
            self.seen.add(_mark(token))
            self.token = token

    def count_elsewhere(self, page: Page) -> None:
        """Note that ``page`` is counted, though the cursor stays before it."""
        self.skip |= frozenset(page.keys)

    def to_json(self) -> dict[str, Any]:
        """What a later scan needs to go on from here."""
        return {
            "prefix": self.prefix,
            "delimiter": self.delimiter,
            "token": self.token,
            "last_key": self.last_key,
            "pages": self.pages,
            "skip": sorted(self.skip),
            "skip_prefixes": list(self.skip_prefixes),
            "flat": self.flat and self.flat.to_json(),
            "seen": sorted(self.seen),
        }

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Range:
        """Read what :meth:`to_json` wrote.  Raises KeyError, TypeError or ValueError when it is something else."""
        flat, token = document["flat"], name_in(document, "token")
        (token or "").encode()  # it goes back to the store: UnicodeEncodeError, a ValueError, when it cannot
        return cls(
            prefix=_text(document["prefix"]),
            delimiter=bool(document["delimiter"]),
            token=token,
            last_key=name_in(document, "last_key"),
            pages=count_in(document, "pages"),
            skip=frozenset(map(_text, document["skip"])),
            skip_prefixes=tuple(map(_text, document["skip_prefixes"])),
            flat=None if flat is None else cls.from_json(flat),
            seen=set(map(int, document["seen"])),
        )


def _mark(token: str) -> int:
    """Stands for a token in a few bytes, the same in every process."""
    return int.from_bytes(blake2b(token.encode(), digest_size=8).digest())


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("not text")
    return value


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


@dataclass(eq=False, slots=True)
class Split:
    """A split on trial: the sub-prefixes ``tried`` are being listed, ``rest`` waits for what their first pages show.

    ``awaited`` are those that have not answered yet; the others had ``keys`` on their first pages, all together.
    """

    flat: Range
    tried: tuple[str, ...]
    rest: list[Range]
    awaited: set[str]
    keys: int = 0

    @classmethod
    def trying(cls, flat: Range, sample: Sequence[Range], rest: Sequence[Range], counted: Page) -> Split:
        """Try ``sample`` before ``rest``; ``counted`` is the page that showed them, with what lies beside them."""
        flat.count_elsewhere(counted)
        tried = tuple(child.prefix for child in sample)
        return cls(flat, tried, list(rest), set(tried))

    def answered_by(self, item: Range, keys: int) -> bool:
        """Note the ``keys`` on the first page of ``item``; False for any other page."""
        if item.prefix not in self.awaited:
            return False
        self.awaited.remove(item.prefix)
        self.keys += keys
        return True

    @property
    def decided(self) -> bool:
        return not self.awaited

    @property
    def pays(self) -> bool:
        return self.keys >= KEYS_PER_CHILD * len(self.tried)

    def flat_rest(self) -> Range:
        """The unsplit range, without what the trial counted or still lists."""
        self.flat.skip_prefixes = self.tried
        return self.flat

    def to_json(self) -> dict[str, Any]:
        """What a later scan needs to go on with the trial."""
        return {
            "flat": self.flat.to_json(),
            "tried": list(self.tried),
            "rest": [item.to_json() for item in self.rest],
            "awaited": sorted(self.awaited),
            "keys": self.keys,
        }

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Split:
        """Read what :meth:`to_json` wrote.  Raises KeyError, TypeError or ValueError when it is something else."""
        return cls(
            flat=Range.from_json(document["flat"]),
            tried=tuple(map(_text, document["tried"])),
            rest=[Range.from_json(row) for row in document["rest"]],
            awaited=set(map(_text, document["awaited"])),
            keys=count_in(document, "keys"),
        )
