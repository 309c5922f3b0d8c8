"""Lists a prefix in parallel, exactly, on any S3 store, into a bounded profile.

A scan is a set of key ranges, each with a committed cursor.  It starts as one range: the prefix, listed flat.  When the
first page shows that sub-prefixes hold many keys each, the rest of the range is listed as its sub-prefixes, in
parallel; when they are small it stays flat (:mod:`gpufeed.observe.ranges`).

Workers fetch and parse; one thread commits pages, so a page counts whole or not at all, and Stop never waits for the
network.  Cursors and profile are one document, the state: a later scan goes on from it without listing anything twice.
"""

from __future__ import annotations

import heapq
import queue
import random
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from gpufeed.facts.errors import GpufeedError, InputError
from gpufeed.facts.messages import Sentence
from gpufeed.model.profile import PrefixProfile
from gpufeed.observe.pages import Page
from gpufeed.observe.ranges import Range, Split, sampled, splitting_pays
from gpufeed.observe.runner import Control
from gpufeed.observe.scan_state import ScanState
from gpufeed.observe.store import (
    TRANSIENT_KINDS,
    Listed,
    Place,
    StoreOptions,
    connect,
    kind_of,
    list_page,
    parse_url,
    problem,
)

MOST_CONCURRENCY = 1024
RETRIES = 6
RETRIES_OF_THE_UNKNOWN = 1  # an address that never answered is more likely wrong than busy
FIRST_BACKOFF = 0.25  # [s], doubled at each retry of a range, with jitter
TICK = 0.1  # [s], how soon Stop is seen

KEEP_EVERY = 2.0  # [s] between two states handed over while listing …
KEEP_SHARE = 0.05  # … or so much longer that keeping them takes no more than this share of the time

Checkpoint = Callable[[dict[str, Any]], None]


@dataclass(frozen=True, slots=True)
class ScanResult:
    """What a scan found, all its parts together when it was resumed.

    Partial results are complete pages: ``ranges`` holds what was not listed, with cursors.  ``failure`` is the store
    error that ended or thinned the scan; a limit or a stop is no failure.  ``answered`` is False when not one page came
    back: then nothing is known, which is not the same as no objects.
    """

    place: Place
    profile: PrefixProfile
    complete: bool
    incomplete_because: Sentence | GpufeedError | None
    failure: GpufeedError | None
    answered: bool
    requests: int
    retries: int
    seconds: float
    keys: int
    last_key: str | None
    ranges: tuple[Range, ...]
    warnings: tuple[Sentence | GpufeedError, ...]

    @property
    def listing(self) -> dict[str, float | None]:
        """Requests made (repeats included), seconds, keys/s; ``cost`` [currency] is for the model to fill."""
        rate = self.keys / self.seconds if self.keys and self.seconds > 0 else None
        return {"requests": self.requests, "seconds": self.seconds, "keys_per_s": rate, "cost": None}

    def to_json(self) -> dict[str, Any]:
        """The scan's fields of the shell contract, without those the model adds.  What is not known is null."""
        profile = self.profile.to_json()
        if not self.answered:
            sketch = profile.pop("sketch")
            profile = dict.fromkeys(profile) | {"by_size": [], "by_prefix": [], "by_extension": []}
            profile |= {"by_storage_class": [], "sketch": sketch}
        return {
            "url": self.place.url,
            "complete": self.complete,
            "incomplete_because": None if self.incomplete_because is None else str(self.incomplete_because),
            **profile,
            "listing": self.listing,
            "last_key": self.last_key,
            "warnings": [str(warning) for warning in self.warnings],
        }


def scan(
    url: str,
    *,
    options: StoreOptions | None = None,
    concurrency: int = 16,
    limit: int | None = None,
    control: Control | None = None,
    resume_from: Mapping[str, Any] | None = None,
    checkpoint: Checkpoint | None = None,
) -> ScanResult:
    """List everything under ``url`` (``s3://bucket/prefix``, a plain string prefix) with ListObjectsV2 alone.

    ``limit`` [keys listed by this call] ends the scan early and keeps it sequential, so that the same keys come back
    each time.  ``control`` takes progress (keys listed by this call) and Stop.  Errors of the store end up in the
    result, with everything listed before; raises InputError when the URL, the endpoint, a number or the state cannot
    be used.

    ``checkpoint`` is given the state, a JSON object: before the first request, every few seconds, and when the scan
    ends incomplete.  ``resume_from`` is such a state of the same URL, and the scan goes on from there.  A GpufeedError
    of the first checkpoint is raised as InputError; of a later one it becomes a warning, and the scan goes on.
    """
    place = parse_url(url)
    options = options or StoreOptions()
    if not 1 <= concurrency <= MOST_CONCURRENCY:
        raise InputError("scan.bad-concurrency", most=MOST_CONCURRENCY, value=concurrency)
    if limit is not None and limit < 1:
        raise InputError("scan.bad-number", name="limit", value=limit)
    state = ScanState.at_start(place) if resume_from is None else ScanState.from_json(resume_from, place)
    return _Scan(state, options, concurrency, limit, control or Control(), checkpoint=checkpoint).run()


class _Scan:
    """The state of one scan; every method but ``_work`` runs in the committing thread."""

    def __init__(
        self,
        state: ScanState,
        options: StoreOptions,
        concurrency: int,
        limit: int | None,
        control: Control,
        *,
        checkpoint: Checkpoint | None,
    ) -> None:
        self.place = state.place
        self.options = options
        self.concurrency = concurrency
        self.limit = limit
        self.control = control
        self.profile = state.profile
        self.waiting: deque[Range] = deque(state.ranges)
        self.delayed: list[tuple[float, int, Range]] = []
        self.flying: dict[int, Range] = {}
        self.unfinished: list[Range] = []
        self.undecided: list[Split] = list(state.splits)
        self.reason: Sentence | GpufeedError | None = None
        self.failure: GpufeedError | None = None
        self.ended = False
        self.pages = 0  # of this call; the counters below are of all parts
        self.keys, self.requests, self.retries = state.keys, state.requests, state.retries
        self.keys_before = state.keys
        self.last_key = state.last_key
        self.began = time.monotonic() - state.seconds
        self.checkpoint = checkpoint
        self.kept_pages = 0
        self.keep_at = 0.0
        self.not_kept: GpufeedError | None = None
        self.client: Any = None
        self.tasks: queue.SimpleQueue[Range | None] = queue.SimpleQueue()
        self.answers: queue.SimpleQueue[tuple[Range, Listed | Exception]] = queue.SimpleQueue()
        self.workers = 0

    def run(self) -> ScanResult:
        self._connect()
        self._keep()
        if self.not_kept is not None:
            raise InputError(self.not_kept.message_id, **self.not_kept.parameters)
        try:
            while not self.ended and (self.waiting or self.flying or self.delayed):
                self._dispatch()
                try:
                    answered, answer = self.answers.get(timeout=TICK)
                except queue.Empty:
                    pass
                else:
                    del self.flying[id(answered)]
                    if isinstance(answer, Listed):
                        self._commit(answered, answer)
                    else:
                        self._failed(answered, answer)
                self.control.report(self.keys - self.keys_before)
                if self.pages > self.kept_pages and time.monotonic() >= self.keep_at:
                    self._keep()
                if self.control.stopping.is_set() and (self.waiting or self.flying or self.delayed):
                    self._end(Sentence("scan.stopped", {"keys": self.keys}))
        finally:
            for _ in range(self.workers):
                self.tasks.put(None)  # idle workers end; one in a request ends after it, and nobody waits for it
        if self.reason is not None:
            self._keep()
        return self._result()

    def _connect(self) -> None:
        try:
            self.client = connect(self.options, self.concurrency)
        except InputError:
            raise
        except GpufeedError as error:
            self.failure = error
            self._end(error)

    # ---- requests ----------------------------------------------------------------------------------------------------

    def _dispatch(self) -> None:
        now = time.monotonic()
        while self.delayed and self.delayed[0][0] <= now:
            self.waiting.append(heapq.heappop(self.delayed)[2])
        while self.waiting and len(self.flying) < self.concurrency:
            item = self.waiting.popleft()
            self.flying[id(item)] = item
            if len(self.flying) > self.workers:
                self.workers += 1
                threading.Thread(target=self._work, name="gpufeed-list", daemon=True).start()
            self.requests += 1
            self.tasks.put(item)

    def _work(self) -> None:
        while (item := self.tasks.get()) is not None:
            try:
                answer: Listed | Exception = list_page(
                    self.client,
                    replace(self.place, prefix=item.prefix),
                    token=item.token,
                    delimiter=item.delimiter,
                    requester_pays=self.options.requester_pays,
                )
            except Exception as error:  # noqa: BLE001 — every error of the client becomes a sentence in the result
                answer = error
            self.answers.put((item, answer))

    # ---- committing --------------------------------------------------------------------------------------------------

    def _commit(self, item: Range, listed: Listed) -> None:
        self.requests += listed.requests - 1
        if listed.truncated and item.goes_round(listed.token):
            # These keys were listed before: the store goes round in circles.
            self._end(Sentence("scan.token-repeats", {"url": self.place.url}), item)
            return
        self.pages += 1
        item.retries = 0
        if any(not name.startswith(item.prefix) or name == item.prefix for name in listed.common_prefixes):
            self._end(Sentence("scan.bad-split", {"url": self.place.url}), item)
            return
        if not self._add(item, item.new_in(listed.page), last=not listed.truncated):
            return
        if listed.truncated and listed.token is None:
            item.count_elsewhere(listed.page)
            self._end(Sentence("scan.token-missing", {"url": self.place.url}), item)
            return
        item.advance(listed.token)
        self._go_on(item, listed)
        self._judge(item, len(listed.page))

    def _go_on(self, item: Range, listed: Listed) -> None:
        """Queue what follows from a committed page: sub-prefixes, and the rest of the range, split where that pays."""
        rest = [item] if listed.truncated else []
        flat, item.flat = item.flat, None
        children = [item.child(name) for name in listed.common_prefixes]
        if flat is not None and (sample := sampled(children)):
            others = [child for child in children if child not in sample]
            self.undecided.append(Split.trying(flat, sample, others + rest, listed.page))
            self.waiting.extend(sample)
            return
        self.waiting.extend(children)
        busy = len(self.waiting) + len(self.flying) >= self.concurrency
        if rest and self.limit is None and splitting_pays(item, listed.page, busy):
            rest = [item.split(listed.page)]
        self.waiting.extend(rest)

    def _judge(self, item: Range, keys: int) -> None:
        """Count the first answer of a sampled sub-prefix; after the last one, list its siblings apart or stay flat."""
        for split in self.undecided:
            if split.answered_by(item, keys):
                if split.decided:
                    self.undecided.remove(split)
                    self.waiting.extend(split.rest if split.pays else [split.flat_rest()])
                return

    def _add(self, item: Range, page: Page, last: bool) -> bool:
        """Add a page to the profile; False when the limit ended the scan."""
        room = len(page) if self.limit is None else self.limit - (self.keys - self.keys_before)
        over = len(page) > room
        if over:
            page = page.only([n < room for n in range(len(page))])
        if len(page):
            self.keys += len(page)
            self.profile.add_many(page.keys, page.sizes, page.modified, page.classes)
            item.last_key = page.keys[-1]
            self.last_key = item.last_key if self.last_key is None else max(self.last_key, item.last_key)
        if over or (self.limit is not None and room == len(page) and not last):
            item.count_elsewhere(page)  # the page comes again, since its rest is not counted
            self._end(Sentence("scan.limit", {"limit": self.limit}), item)
            return False
        return True

    def _failed(self, item: Range, error: Exception) -> None:
        kind = kind_of(error)
        if kind == "denied" and item.flat is not None:
            self.waiting.append(item.flat)  # a policy may allow the flat listing alone
            return
        most = RETRIES if self.pages or kind != "unreachable" else RETRIES_OF_THE_UNKNOWN
        if kind in TRANSIENT_KINDS and item.retries < most:
            pause = FIRST_BACKOFF * 2**item.retries * random.uniform(0.5, 1.5)
            item.retries += 1
            self.retries += 1
            heapq.heappush(self.delayed, (time.monotonic() + pause, self.retries, item))
            return
        failure = problem(error, self.place, self.client.meta.endpoint_url)
        if kind == "denied" and item.prefix != self.place.prefix:
            # One refused sub-prefix: the others are still worth having.
            self.failure = self.failure or problem(error, replace(self.place, prefix=item.prefix))
            self.reason = self.reason or self.failure
            self.unfinished.append(item)
            self._judge(item, 0)
            return
        self.failure = failure
        self._end(failure, item)

    def _end(self, reason: Sentence | GpufeedError, item: Range | None = None) -> None:
        self.ended = True
        self.reason = reason
        if item is not None:
            self.unfinished.append(item)

    # ---- the state ---------------------------------------------------------------------------------------------------

    def _left(self) -> list[Range]:
        return [*self.unfinished, *self.flying.values(), *(entry[2] for entry in self.delayed), *self.waiting]

    def _keep(self) -> None:
        """Hand over the state, and say when the next one is due."""
        if self.checkpoint is None:
            return
        began = time.monotonic()
        try:
            self.checkpoint(self._state().to_json())
            self.not_kept = None
        except GpufeedError as error:
            self.not_kept = error
        now = time.monotonic()
        self.keep_at = now + max(KEEP_EVERY, (now - began) / KEEP_SHARE)
        self.kept_pages = self.pages

    def _state(self) -> ScanState:
        return ScanState(
            self.place,
            self.profile,
            tuple(self._left()),
            tuple(self.undecided),
            self.keys,
            self.requests,
            self.retries,
            time.monotonic() - self.began,
            self.last_key,
        )

    # ---- the result --------------------------------------------------------------------------------------------------

    def _result(self) -> ScanResult:
        left = self._left() + [item for split in self.undecided for item in split.rest]
        return ScanResult(
            place=self.place,
            profile=self.profile,
            complete=self.reason is None,
            incomplete_because=self.reason,
            failure=self.failure,
            answered=self._answered,
            requests=self.requests,
            retries=self.retries,
            seconds=time.monotonic() - self.began,
            keys=self.keys,
            last_key=self.last_key,
            ranges=tuple(left),
            warnings=tuple(self._warnings()),
        )

    @property
    def _answered(self) -> bool:
        return self.reason is None or self.pages > 0 or self.keys > 0

    def _warnings(self) -> list[Sentence | GpufeedError]:
        profile = self.profile
        found: list[Sentence | GpufeedError] = [] if self.not_kept is None else [self.not_kept]
        if self.reason is None and not self.keys:
            found.append(Sentence("scan.nothing", {"url": self.place.url}))
        if profile.zero_byte_objects:
            found.append(Sentence("scan.zero-byte", {"objects": profile.zero_byte_objects}))
        if profile.not_readable_now[0]:
            found.append(Sentence("scan.archived", {"objects": profile.not_readable_now[0]}))
        if "INTELLIGENT_TIERING" in profile.storage_classes.rows:
            found.append(Sentence("scan.intelligent-tiering"))
        if self.retries and self._answered:
            found.append(Sentence("scan.retried", {"retries": self.retries}))
        return found
