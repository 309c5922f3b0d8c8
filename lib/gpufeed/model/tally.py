"""Objects and bytes by name, in bounded memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

# Rows kept in memory per table, and rows shown; what falls out is summed in a row without a name.
KEPT_ROWS = 4096
SHOWN_ROWS = 200
# No count and no size that storage can hold; larger integers would not even fit a float.
TOO_MANY = 10**24


class Tally:
    """Objects and bytes by name, bounded: beyond ``2 × KEPT_ROWS`` names the smallest are summed in ``other``.

    Totals are always exact.  A row is exact while nothing was summed away, and a lower bound afterwards.
    """

    __slots__ = ("other", "rows")

    def __init__(self) -> None:
        self.rows: dict[str | None, list[int]] = {}
        self.other = [0, 0]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Tally) and self.rows == other.rows and self.other == other.other

    __hash__ = None  # type: ignore[assignment]  # mutable, so not hashable

    def __repr__(self) -> str:
        return f"Tally({self.rows!r}, other={self.other!r})"

    def add(self, name: str | None, objects: int, size: int) -> None:
        row = self.rows.get(name)
        if row is None:
            self.rows[name] = [objects, size]
            if len(self.rows) > 2 * KEPT_ROWS:
                self._prune()
        else:
            row[0] += objects
            row[1] += size

    def add_each(self, names: Sequence[str | None], sizes: Sequence[int]) -> None:
        """One object per name; a page with a single name costs one addition."""
        if names.count(names[0]) == len(names):
            self.add(names[0], len(names), sum(sizes))
            return
        for name, objects, size in grouped(names, sizes):
            self.add(name, objects, size)

    def merge(self, other: Tally) -> None:
        for name, (objects, size) in other.rows.items():
            self.add(name, objects, size)
        self.other[0] += other.other[0]
        self.other[1] += other.other[1]

    def largest_first(self) -> list[tuple[str | None, int, int]]:
        rows = [(name, objects, size) for name, (objects, size) in self.rows.items()]
        return sorted(rows, key=lambda row: (-row[2], -row[1], row[0] or ""))

    def _prune(self) -> None:
        for name, objects, size in self.largest_first()[KEPT_ROWS:]:
            del self.rows[name]
            self.other[0] += objects
            self.other[1] += size

    def to_json(self, label: str, whole: bool = False) -> list[dict[str, Any]]:
        """The largest rows, or all with ``whole``; a last row ``{label: null, "other": true}`` sums the others."""
        rows = self.largest_first()
        kept = len(rows) if whole else SHOWN_ROWS
        rest = rows[kept:]
        shown = [{label: name, "objects": objects, "bytes": size} for name, objects, size in rows[:kept]]
        objects = self.other[0] + sum(row[1] for row in rest)
        if objects:
            size = self.other[1] + sum(row[2] for row in rest)
            shown.append({label: None, "other": True, "objects": objects, "bytes": size})
        return shown

    @classmethod
    def from_json(cls, rows: Sequence[Mapping[str, Any]], label: str) -> Tally:
        """Read what :meth:`to_json` wrote.  Raises KeyError, TypeError or ValueError when it is something else."""
        tally = cls()
        for row in rows:
            objects, size = count_in(row, "objects"), count_in(row, "bytes")
            if row.get("other"):
                tally.other = [objects, size]
            else:
                tally.add(name_in(row, label), objects, size)
        return tally


def grouped(names: Sequence[str | None], sizes: Sequence[int]) -> Iterator[tuple[str | None, int, int]]:
    """(name, how often, bytes) of each different name, in the order of its first; the hot path of a scan."""
    counts: dict[str | None, int] = {}
    totals: dict[str | None, int] = {}
    for name, size in zip(names, sizes, strict=True):
        if name in counts:
            counts[name] += 1
            totals[name] += size
        else:
            counts[name] = 1
            totals[name] = size
    for name, count in counts.items():
        yield name, count, totals[name]


def count_in(row: Mapping[str, Any], name: str) -> int:
    """The count that a document holds under ``name``.  Raises KeyError or ValueError, with the name."""
    value = row[name]
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < TOO_MANY:
        raise ValueError(name)
    return value


def name_in(row: Mapping[str, Any], name: str) -> str | None:
    """The text or null that a document holds under ``name``.  Raises as :func:`count_in` does."""
    value = row[name]
    if value is not None and not isinstance(value, str):
        raise ValueError(name)
    return value
