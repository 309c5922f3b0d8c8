"""What a probe reads: a seeded sample of a prefix's real objects, or of the files under a path."""

from __future__ import annotations

import errno
import os
import queue
import random
import re
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from gpufeed.facts.errors import GpufeedError, InputError
from gpufeed.model.profile import ARCHIVED_CLASSES
from gpufeed.observe.machine import Mount, is_this_machine, mount_of
from gpufeed.observe.objects import FIRST_BACKOFF, RETRIES, Objects, Reply, RequestFailed, readable
from gpufeed.observe.store import (
    TRANSIENT_KINDS,
    Listed,
    Place,
    StoreOptions,
    connect,
    credentials,
    kind_of,
    list_page,
    parse_url,
    problem,
)

MIB = 1024 * 1024
# Whole large objects would fill the memory and hide how the storage answers: from here on they are read in parts.
RANGED_FROM = 16 * MIB
PART = 8 * MIB
PARTS_PER_OBJECT = 16
SUB_PREFIXES = 16
PAGES_PER_SUB_PREFIX = 2
LEVELS = 6  # how deep a chain of single sub-prefixes is followed
MOST_FILES = 20_000
TICK = 0.1  # [s], how soon Stop is seen
# From this share of sampled parts found in the page cache on, a read is no longer cold.
COLD_BELOW = 0.02

Read = Callable[["Unit"], Reply]


@dataclass(frozen=True, slots=True)
class Unit:
    """One request: a whole object, or a part of it from ``start``."""

    name: str
    length: int
    start: int | None = None


@dataclass(slots=True)
class Target:
    """Something to read from, and how."""

    name: str
    units: list[Unit]
    read: Read
    objects: int  # sampled
    object_bytes: float  # their mean size
    client: str
    option: str | None
    same_machine: bool
    unreadable_keys: int = 0
    archived: int = 0
    list_requests: int = 0
    region: str | None = None  # of an AWS bucket, for its prices
    cached: Callable[[], float | None] = lambda: None  # share of the reads that the page cache answered
    by_thread: bool = False  # the reading thread itself does the client's work under the interpreter lock


def open_target(target: str, options: StoreOptions, seed: int, stopping: threading.Event) -> Target:
    """A sample of ``target``: ``s3://…``, ``file://…`` or a path.

    Raises InputError for a wrong target, and GpufeedError when it cannot be listed.
    """
    if re.match(r"(s3|https?|arn):", target, re.IGNORECASE):
        return _open_prefix(parse_url(target), options, random.Random(seed), stopping)
    if target.lower().startswith("file://"):
        parts = urlsplit(target)
        if parts.netloc not in ("", "localhost"):
            raise InputError("probe.file-url", url=target)
        target = unquote(parts.path)
    elif "://" in target:
        parse_url(target)  # says what a URL must look like
    if not target.strip():
        raise InputError("probe.no-target")
    return _open_path(target, random.Random(seed), stopping)


# ---- objects under a prefix ----------------------------------------------------------------------------------------


def _open_prefix(place: Place, options: StoreOptions, draw: random.Random, stopping: threading.Event) -> Target:
    client = connect(options)
    page = partial(_page, client, options, stopping)
    try:
        pages = _unless_stopped(lambda: list(_first_pages(page, place, draw, stopping)), stopping)
    except GpufeedError:
        raise
    except Exception as error:  # noqa: BLE001 — botocore raises many kinds; all become one sentence
        raise problem(error, place, client.meta.endpoint_url) from None
    found, archived = _with_data(pages)
    sizes = {key: size for key, size in found.items() if readable(key)}
    endpoint: str = client.meta.endpoint_url
    at_aws = ".amazonaws." in endpoint
    objects = Objects(
        place.bucket,
        endpoint_url=None if at_aws and options.endpoint_url is None else endpoint,
        region=client.meta.region_name,
        anonymous=options.anonymous,
        requester_pays=options.requester_pays,
        keys=None if options.anonymous else credentials(),
    )

    def read(unit: Unit) -> Reply:
        # A whole object is asked for by its listed length as well: one answer, where a stream costs a quarter more CPU.
        return objects.get_range(unit.name, unit.start or 0, unit.length)

    express = "s3-express-one-zone" if place.bucket.endswith("--x-s3") else "s3-standard"
    return Target(
        name=place.url,
        units=_units(sizes, draw),
        read=read,
        objects=len(sizes),
        object_bytes=sum(sizes.values()) / len(sizes) if sizes else 0.0,
        client="obstore",
        option=express if at_aws else None,
        same_machine=not at_aws and is_this_machine(endpoint),
        unreadable_keys=len(found) - len(sizes),
        archived=archived,
        list_requests=sum(listed.requests for listed in pages),
        region=client.meta.region_name if at_aws else None,
        by_thread=True,
    )


def _with_data(pages: Sequence[Listed]) -> tuple[dict[str, int], int]:
    """Size [bytes] by key of the objects that hold data and can be read now, and how many are archived."""
    found: dict[str, int] = {}
    archived: set[str] = set()  # pages may overlap
    for listed in pages:
        classes = listed.page.classes or [None] * len(listed.page)
        for key, size, storage_class in zip(listed.page.keys, listed.page.sizes, classes, strict=True):
            if storage_class in ARCHIVED_CLASSES:
                archived.add(key)
            elif size > 0:
                found[key] = size
    return found, len(archived)


def _first_pages(
    page: Callable[..., Listed], place: Place, draw: random.Random, stopping: threading.Event
) -> Iterator[Listed]:
    """The first page, and when there is more, the first pages of some sub-prefixes drawn from all over the prefix."""
    first = page(place)
    yield first
    if not first.truncated:
        return
    for _ in range(LEVELS):
        level = page(place, delimiter=True)
        yield level
        if len(level.common_prefixes) != 1 or len(level.page):
            break
        place = Place(place.bucket, level.common_prefixes[0])
    below = level.common_prefixes
    # Even steps over the sub-prefixes in order, from a drawn start: spread, and the same at every run.
    step = max(len(below) / SUB_PREFIXES, 1.0)
    start = draw.random() * step
    chosen = [below[int(start + step * n)] for n in range(SUB_PREFIXES) if int(start + step * n) < len(below)]
    for prefix in chosen or [place.prefix]:
        token = None
        for _ in range(PAGES_PER_SUB_PREFIX):
            if stopping.is_set():
                return
            listed = page(Place(place.bucket, prefix), token=token)
            yield listed
            token = listed.token
            if not listed.truncated or token is None:
                break


def _unless_stopped(listing: Callable[[], list[Listed]], stopping: threading.Event) -> list[Listed]:
    """What ``listing`` gives; nothing as soon as Stop is pressed, whatever a store that hangs does with the request."""
    answered: queue.SimpleQueue[list[Listed] | Exception] = queue.SimpleQueue()

    def ask() -> None:
        try:
            answered.put(listing())
        except Exception as error:  # noqa: BLE001 — raised again where it is awaited
            answered.put(error)

    threading.Thread(target=ask, name="gpufeed-list", daemon=True).start()
    while not stopping.is_set():
        try:
            answer = answered.get(timeout=TICK)
        except queue.Empty:
            continue
        if isinstance(answer, Exception):
            raise answer
        return answer
    return []


def _page(client: Any, options: StoreOptions, stopping: threading.Event, place: Place, **what: Any) -> Listed:
    """One page; what may pass is asked again, a little later each time."""
    for attempt in range(RETRIES):
        try:
            return list_page(client, place, requester_pays=options.requester_pays, **what)
        except Exception as error:  # botocore raises many kinds
            if kind_of(error) not in TRANSIENT_KINDS or stopping.wait(FIRST_BACKOFF * 2**attempt):
                raise
    return list_page(client, place, requester_pays=options.requester_pays, **what)


# ---- files under a path --------------------------------------------------------------------------------------------


def _open_path(named: str, draw: random.Random, stopping: threading.Event) -> Target:
    try:
        path = Path(named).expanduser().resolve(strict=True)
        folder = path.is_dir()
    except PermissionError:
        raise GpufeedError("probe.failed.denied", target=named) from None
    except (OSError, RuntimeError, ValueError):  # not there, too long, a loop of links, no such user, a null byte
        raise InputError("probe.no-path", path=named) from None
    if not os.access(path, os.R_OK | os.X_OK if folder else os.R_OK):
        raise GpufeedError("probe.failed.denied", target=str(path))
    sizes = dict(_files(path, stopping))
    mount = mount_of(path)
    reader = _FileReader(mount)
    return Target(
        name=str(path),
        units=_units(sizes, draw),
        read=reader.read,
        objects=len(sizes),
        object_bytes=sum(sizes.values()) / len(sizes) if sizes else 0.0,
        client="pread",
        option=mount.option if mount else None,
        same_machine=bool(mount and mount.in_memory),
        cached=reader.cached_share,
    )


def _files(path: Path, stopping: threading.Event) -> Iterator[tuple[str, int]]:
    """Regular files that hold data, at most MOST_FILES; links are not followed, and Stop ends the search."""
    if path.is_file():
        if size := path.stat().st_size:
            yield str(path), size
        return
    taken = 0
    for folder, folders, names in os.walk(path):
        folders.sort()
        for name in sorted(names):
            if stopping.is_set():
                return
            file = Path(folder, name)
            try:
                size = file.stat().st_size if file.is_file() and not file.is_symlink() else 0
            except OSError:
                continue
            if size:
                yield str(file), size
                taken += 1
                if taken == MOST_FILES:
                    return


class _FileReader:
    """Reads files past the page cache as far as the system lets it, and counts what the cache still answered."""

    def __init__(self, mount: Mount | None) -> None:
        self._in_memory = bool(mount and mount.in_memory)
        self._asked = 0
        self._cached = 0
        self._can_ask = hasattr(os, "RWF_NOWAIT") and not self._in_memory

    def read(self, unit: Unit) -> Reply:
        start = unit.start or 0
        try:
            file = os.open(unit.name, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))
            try:
                if hasattr(os, "posix_fadvise"):
                    os.posix_fadvise(file, start, unit.length, os.POSIX_FADV_DONTNEED)
                self._ask(file, start)
                return Reply(_read_all(file, start, unit.length), 0, 0)
            finally:
                os.close(file)
        except OSError as error:
            kind = (
                "denied"
                if isinstance(error, PermissionError)
                else "missing"
                if error.errno == errno.ENOENT
                else "server"
            )
            raise RequestFailed(kind, errno.errorcode.get(error.errno or 0, ""), 0, 0) from None

    def cached_share(self) -> float | None:
        """Of the reads so far; None when the system does not tell."""
        if self._in_memory:
            return 1.0
        return self._cached / self._asked if self._can_ask and self._asked else None

    def _ask(self, file: int, start: int) -> None:
        """Whether the page at ``start`` is in memory: a read that may not wait succeeds only then."""
        if not self._can_ask:
            return
        try:
            os.preadv(file, [bytearray(1)], start, os.RWF_NOWAIT)
            self._cached += 1
        except BlockingIOError:
            pass
        except OSError:
            self._can_ask = False
            return
        self._asked += 1


def _read_all(file: int, start: int, length: int) -> int:
    buffer = bytearray(min(length, PART))
    done = 0
    while done < length:
        got = os.preadv(file, [memoryview(buffer)[: min(length - done, PART)]], start + done)
        if not got:
            break
        done += got
    return done


# ---- requests ------------------------------------------------------------------------------------------------------


def _units(sizes: dict[str, int], draw: random.Random) -> list[Unit]:
    """The sample as requests in a drawn order: large objects as parts spread over them."""
    names: Sequence[str] = sorted(sizes)
    units: list[Unit] = []
    for name in names:
        size = sizes[name]
        if size < RANGED_FROM:
            units.append(Unit(name, size))
            continue
        parts = range(0, size, PART)
        chosen = parts if len(parts) <= PARTS_PER_OBJECT else sorted(draw.sample(parts, PARTS_PER_OBJECT))
        units += [Unit(name, min(PART, size - start), start) for start in chosen]
    draw.shuffle(units)
    return units
