"""What lies under a prefix, in bounded memory: counts, sizes, sub-prefixes, extensions, storage classes.

Profiles are mergeable: profiling two halves and merging gives what profiling the whole gives.  Parallel listing,
resumed scans, inventories and many machines all rest on this.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from os.path import commonprefix
from typing import Any

from gpufeed.facts.errors import InputError
from gpufeed.facts.quantity import Quantity
from gpufeed.model.kind import expect
from gpufeed.model.tally import TOO_MANY, Tally, count_in, grouped, name_in

# A bucket of the size histogram is at most 1/128 of its sizes wide, and a quantile is the mean size of its bucket,
# so it is wrong by less than 1/128 of the true value.  Sizes up to 256 bytes have a bucket each.
SUBDIVISION_BITS = 7
QUANTILE_ERROR = 1 / (1 << SUBDIVISION_BITS)

SMALLEST_SIZE_ROW = 1024
LONGEST_EXTENSION = 12

# Classes whose objects must be restored before they can be read (Glacier Instant Retrieval reads at once).
ARCHIVED_CLASSES = ("GLACIER", "DEEP_ARCHIVE")


def bucket_of(size: int) -> int:
    """Index of the histogram bucket that holds ``size`` [bytes, ≥ 1]; a power of two is the last size of its bucket."""
    n = size - 1
    shift = n.bit_length() - SUBDIVISION_BITS - 1
    return n if shift <= 0 else (shift << SUBDIVISION_BITS) + (n >> shift)


def largest_in(bucket: int) -> int:
    """Largest size [bytes] that falls into ``bucket``."""
    shift = max((bucket >> SUBDIVISION_BITS) - 1, 0)
    return (bucket - (shift << SUBDIVISION_BITS) + 1) << shift


def extension_of(tail: str) -> str:
    """The extension in ``tail``, a key from its last dot on: lower case, with the dot; "" when there is none."""
    extension = tail.startswith(".") and tail != "." and "/" not in tail and len(tail) <= LONGEST_EXTENSION
    return tail.lower() if extension else ""


@dataclass(slots=True)
class PrefixProfile:
    """Everything a scan or an inventory learns about the objects under ``prefix``.  Sizes in bytes.

    ``objects`` counts data objects, zero-byte ones included; a *folder marker* is a zero-byte key ending in "/" and is
    counted apart.  ``sizes`` is the histogram of non-zero sizes: bucket → [objects, bytes].  ``noncurrent`` (versions,
    bytes) and ``delete_markers`` are None where the source does not tell.  ``oldest`` and ``newest`` are the times of
    last modification as ISO 8601 text in UTC.
    """

    prefix: str = ""
    objects: int = 0
    bytes: int = 0
    max_bytes: int | None = None
    zero_byte_objects: int = 0
    folder_markers: int = 0
    unknown_size_objects: int = 0
    noncurrent: tuple[int, int] | None = None
    delete_markers: int | None = None
    oldest: str | None = None
    newest: str | None = None
    sizes: dict[int, list[int]] = field(default_factory=dict)
    prefixes: Tally = field(default_factory=Tally)
    extensions: Tally = field(default_factory=Tally)
    storage_classes: Tally = field(default_factory=Tally)

    # ---- filling -------------------------------------------------------------------------------------------------

    def add_many(
        self,
        keys: Sequence[str],
        sizes: Sequence[int | None],
        modified: Sequence[str] | None = None,
        classes: Sequence[str | None] | None = None,
    ) -> None:
        """Add one page of objects, column by column (the hot path: about a microsecond per key).

        ``keys`` are full keys that start with ``prefix``; ``sizes`` [bytes] may hold None for unknown; ``modified`` is
        ISO 8601 text in UTC; ``classes`` are storage classes, None where the store does not say.
        """
        if classes is None:
            classes = [None] * len(keys)
        if 0 in sizes:
            data = [not (size == 0 and key.endswith("/")) for key, size in zip(keys, sizes, strict=True)]
            if not all(data):
                self.folder_markers += data.count(False)
                keys = [key for key, keep in zip(keys, data, strict=True) if keep]
                sizes = [size for size, keep in zip(sizes, data, strict=True) if keep]
                classes = [name for name, keep in zip(classes, data, strict=True) if keep]
                modified = modified and [when for when, keep in zip(modified, data, strict=True) if keep]
            self.zero_byte_objects += sizes.count(0)
        if not keys:
            return
        self.unknown_size_objects += sizes.count(None)
        known = [size for size in sizes if size is not None] if None in sizes else sizes
        counted: Sequence[int] = [size or 0 for size in sizes] if known is not sizes else sizes  # type: ignore[assignment]
        self.objects += len(keys)
        self.bytes += sum(counted)
        if known:
            self._widen(max(known))  # type: ignore[type-var]
            self._add_sizes(known)  # type: ignore[arg-type]
        if modified:
            self._add_times(min(modified), max(modified))
        self._add_prefixes(keys, counted)
        tails = [key[key.rfind(".") :] for key in keys]
        if tails.count(tails[0]) == len(tails):
            self.extensions.add(extension_of(tails[0]), len(tails), sum(counted))
        else:
            for tail, objects, size in grouped(tails, counted):
                self.extensions.add(extension_of(tail or ""), objects, size)
        self.storage_classes.add_each(classes, counted)

    def _widen(self, size: int | None) -> None:
        if size is not None and (self.max_bytes is None or size > self.max_bytes):
            self.max_bytes = size

    def _add_sizes(self, sizes: Sequence[int]) -> None:
        table = self.sizes
        for size, objects in Counter(sizes).items():
            if size:
                n = size - 1  # bucket_of(size), inlined: this loop runs once per distinct size of a page
                shift = n.bit_length() - SUBDIVISION_BITS - 1
                bucket = n if shift <= 0 else (shift << SUBDIVISION_BITS) + (n >> shift)
                row = table.get(bucket)
                if row is None:
                    table[bucket] = [objects, objects * size]
                else:
                    row[0] += objects
                    row[1] += objects * size

    def _add_times(self, oldest: str | None, newest: str | None) -> None:
        # The same shape for every store: 2026-11-01T00:00:00.000Z and 2026-11-01T00:00:00Z are one moment.
        if oldest is not None:
            oldest = oldest[:19] + "Z"
            self.oldest = oldest if self.oldest is None else min(self.oldest, oldest)
        if newest is not None:
            newest = newest[:19] + "Z"
            self.newest = newest if self.newest is None else max(self.newest, newest)

    def _add_prefixes(self, keys: Sequence[str], sizes: Sequence[int]) -> None:
        start = len(self.prefix)
        # Every key lies between the smallest and the largest, so it shares what these two share, in any listing order.
        shared = commonprefix((min(keys), max(keys)))  # noqa: RUF071 — keys are plain strings, not paths
        end = shared.find("/", start) + 1
        if end:
            self.prefixes.add(shared[:end], len(keys), sum(sizes))
        else:
            root = self.prefix
            names = [key[:end] if (end := key.find("/", start) + 1) else root for key in keys]
            self.prefixes.add_each(names, sizes)

    def merge(self, other: PrefixProfile) -> None:
        """Add ``other`` into this profile.  Raises ValueError when the two belong to different prefixes."""
        if other.prefix != self.prefix:
            raise ValueError(f"profiles of different prefixes do not merge: {self.prefix!r}, {other.prefix!r}")
        self.objects += other.objects
        self.bytes += other.bytes
        self.zero_byte_objects += other.zero_byte_objects
        self.folder_markers += other.folder_markers
        self.unknown_size_objects += other.unknown_size_objects
        self._widen(other.max_bytes)
        self._add_times(other.oldest, other.newest)
        if other.noncurrent is not None:
            versions, size = self.noncurrent or (0, 0)
            self.noncurrent = (versions + other.noncurrent[0], size + other.noncurrent[1])
        if other.delete_markers is not None:
            self.delete_markers = (self.delete_markers or 0) + other.delete_markers
        for bucket, (objects, size) in other.sizes.items():
            row = self.sizes.setdefault(bucket, [0, 0])
            row[0] += objects
            row[1] += size
        self.prefixes.merge(other.prefixes)
        self.extensions.merge(other.extensions)
        self.storage_classes.merge(other.storage_classes)

    # ---- reading -------------------------------------------------------------------------------------------------

    @property
    def sized_objects(self) -> int:
        """Objects with a known size above zero: those that quantiles and means speak of."""
        return self.objects - self.zero_byte_objects - self.unknown_size_objects

    @property
    def mean_bytes(self) -> float | None:
        """Mean size [bytes] of objects that hold data; None when there are none."""
        return self.bytes / self.sized_objects if self.sized_objects else None

    @property
    def median(self) -> float | None:
        """Median size [bytes] of objects that hold data; None when there are none."""
        return self.size_quantile(0.5)

    def size_quantile(self, q: float) -> float | None:
        """Size [bytes] at share ``q`` (0–1) of the objects that hold data, within ``QUANTILE_ERROR`` of the true one.

        Nearest rank: the smallest size that at least ``q`` of the objects do not exceed.  Zero-byte objects are left
        out, being counted apart.  None when there are no sizes.
        """
        total = self.sized_objects
        if not total:
            return None
        if q >= 1:
            return self.max_bytes
        rank = max(q * total, 1)
        seen = 0
        for bucket in sorted(self.sizes):
            objects, size = self.sizes[bucket]
            seen += objects
            if seen >= rank:
                return size / objects
        return self.max_bytes

    def up_to(self, size: float) -> tuple[int, int]:
        """(objects, bytes) of objects that hold data and are at most ``size`` [bytes] large.

        Exact where ``size`` is a power of two; elsewhere the one bucket that ``size`` cuts counts by its mean size.
        """
        rows = [row for row in self.sizes.values() if row[1] <= size * row[0]]
        return sum(row[0] for row in rows), sum(row[1] for row in rows)

    def requests(self, part: float, each: Callable[[float], float]) -> Quantity:
        """Requests for all objects, each once, where one of a size [bytes] takes ``each`` of it.

        One for an object of at most ``part`` bytes, and for those that are empty or of unknown size.  Of the larger
        ones each class of sizes is counted by its mean; its smallest and its largest size are the range.
        """
        low = value = high = float(self.objects)
        for bucket, (objects, size) in self.sizes.items():
            largest = largest_in(bucket)
            if largest > part:
                counts = [each(size / objects), each(largest_in(bucket - 1) + 1), each(largest)]
                value += objects * (counts[0] - 1)
                low, high = low + objects * (min(counts) - 1), high + objects * (max(counts) - 1)
        return Quantity(low, value, high, "requests", "measured")

    def by_size(self) -> list[dict[str, int]]:
        """Objects and bytes by size, ``up_to`` inclusive, each row four times the one before; 0: zero-byte."""
        rows: dict[int, list[int]] = {}
        for bucket, (objects, size) in self.sizes.items():
            largest, limit = largest_in(bucket), SMALLEST_SIZE_ROW
            while limit < largest:
                limit *= 4
            row = rows.setdefault(limit, [0, 0])
            row[0] += objects
            row[1] += size
        table = [{"up_to": 0, "objects": self.zero_byte_objects, "bytes": 0}] if self.zero_byte_objects else []
        limit = min(rows, default=1)
        while limit <= max(rows, default=0):
            objects, size = rows.get(limit, (0, 0))
            table.append({"up_to": limit, "objects": objects, "bytes": size})
            limit *= 4
        return table

    @property
    def not_readable_now(self) -> tuple[int, int]:
        """(objects, bytes) in classes that must be restored first.  A listing does not tell which were restored."""
        rows = [self.storage_classes.rows.get(name, (0, 0)) for name in ARCHIVED_CLASSES]
        return sum(row[0] for row in rows), sum(row[1] for row in rows)

    # ---- to and from a file --------------------------------------------------------------------------------------

    def to_json(self, whole: bool = False) -> dict[str, Any]:
        """The fields of a scan that come from the profile, and ``sketch``, from which :meth:`from_json` restores it.

        Tables beyond ``SHOWN_ROWS`` rows are summed in a last row; with ``whole`` every row is there.
        """
        archived_objects, archived_bytes = self.not_readable_now
        return {
            "objects": self.objects,
            "bytes": self.bytes,
            "folder_markers": self.folder_markers,
            "zero_byte_objects": self.zero_byte_objects,
            "unknown_size_objects": self.unknown_size_objects,
            "noncurrent": self.noncurrent and {"versions": self.noncurrent[0], "bytes": self.noncurrent[1]},
            "delete_markers": self.delete_markers,
            "not_readable_now": {"objects": archived_objects, "bytes": archived_bytes},
            "size_quantiles": {
                "p05": self.size_quantile(0.05),
                "p50": self.size_quantile(0.5),
                "p95": self.size_quantile(0.95),
                "max": self.max_bytes,
            },
            "by_size": self.by_size(),
            "by_prefix": self.prefixes.to_json("prefix", whole),
            "by_extension": self.extensions.to_json("extension", whole),
            "by_storage_class": self.storage_classes.to_json("storage_class", whole),
            "oldest": self.oldest,
            "newest": self.newest,
            "sketch": {
                "prefix": self.prefix,
                "subdivision_bits": SUBDIVISION_BITS,
                "sizes": [[bucket, *self.sizes[bucket]] for bucket in sorted(self.sizes)],
            },
        }

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> PrefixProfile:
        """Read what :meth:`to_json` wrote, also inside a whole scan or inventory.

        Where there is no ``sketch``, sizes are known by the rows of ``by_size`` alone, and counts that are left out
        are 0.  Raises InputError when ``document`` is none of these.
        """
        expect(document, "scan")
        try:
            return cls._read(document)
        except (KeyError, ValueError) as error:
            raise InputError("profile.unreadable", field=error.args[0]) from None
        except (TypeError, AttributeError):
            raise InputError("profile.unreadable", field="…") from None

    @classmethod
    def _read(cls, document: Mapping[str, Any]) -> PrefixProfile:
        sketch, old = document.get("sketch"), document.get("noncurrent")
        if sketch is None:
            sketch = {"prefix": "", "sizes": _sizes_of_rows(document["by_size"])}
        elif sketch["subdivision_bits"] != SUBDIVISION_BITS:
            raise ValueError("subdivision_bits")
        empty = sum(count_in(row, "objects") for row in document.get("by_size", ()) if row["up_to"] == 0)
        counts = {"zero_byte_objects": empty, "folder_markers": 0, "unknown_size_objects": 0, **document}
        return cls(
            prefix=name_in(sketch, "prefix") or "",
            objects=count_in(counts, "objects"),
            bytes=count_in(counts, "bytes"),
            max_bytes=_count_or_none(document.get("size_quantiles", {}), "max"),
            zero_byte_objects=count_in(counts, "zero_byte_objects"),
            folder_markers=count_in(counts, "folder_markers"),
            unknown_size_objects=count_in(counts, "unknown_size_objects"),
            noncurrent=None if old is None else (count_in(old, "versions"), count_in(old, "bytes")),
            delete_markers=_count_or_none(document, "delete_markers"),
            oldest=name_in(document, "oldest") if "oldest" in document else None,
            newest=name_in(document, "newest") if "newest" in document else None,
            sizes=_histogram(sketch["sizes"]),
            prefixes=Tally.from_json(document.get("by_prefix", ()), "prefix"),
            extensions=Tally.from_json(document.get("by_extension", ()), "extension"),
            storage_classes=Tally.from_json(document.get("by_storage_class", ()), "storage_class"),
        )


def _count_or_none(document: Mapping[str, Any], name: str) -> int | None:
    return None if document.get(name) is None else count_in(document, name)


def _sizes_of_rows(rows: Sequence[Mapping[str, Any]]) -> list[tuple[int, int, int]]:
    """A histogram as coarse as ``by_size``: each row in the bucket of its mean size, which lies within the row."""
    counted = [(count_in(row, "objects"), count_in(row, "bytes")) for row in rows]
    return [(bucket_of(max(size // objects, 1)), objects, size) for objects, size in counted if objects and size]


def _histogram(rows: Sequence[Sequence[Any]]) -> dict[int, list[int]]:
    histogram: dict[int, list[int]] = {}
    for row in rows:
        if len(row) != 3 or not all(isinstance(number, int) and 0 <= number < TOO_MANY for number in row):
            raise ValueError("sizes")
        bucket, objects, size = row
        if bucket > bucket_of(TOO_MANY):
            raise ValueError("sizes")
        entry = histogram.setdefault(bucket, [0, 0])
        entry[0] += objects
        entry[1] += size
    return histogram


def merge(a: PrefixProfile, b: PrefixProfile) -> PrefixProfile:
    """The profile of everything in ``a`` and ``b``, which stay as they are."""
    whole = PrefixProfile(a.prefix)
    whole.merge(a)
    whole.merge(b)
    return whole
