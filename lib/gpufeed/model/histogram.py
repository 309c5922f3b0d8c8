"""Latencies of many requests in bounded memory: merging two histograms equals filling one with both."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from math import ceil, floor, log

# Neighbouring bucket bounds differ by this factor and a percentile is its bucket's geometric middle, so it is wrong by
# at most √1.02 − 1 < 1 % of the true value.
GROWTH = 1.02
RELATIVE_ERROR = 0.01

_LOG_GROWTH = log(GROWTH)
LAST_BUCKET = 5000  # 10⁴³ s: beyond any latency, within a float


@dataclass(slots=True)
class Histogram:
    """Counts of positive numbers (seconds) in log-spaced buckets: bucket ``n`` holds [GROWTH^n, GROWTH^(n+1))."""

    buckets: dict[int, int] = field(default_factory=dict)

    def add(self, value: float) -> None:
        """Count one value [> 0]."""
        bucket = floor(log(value) / _LOG_GROWTH)
        self.buckets[bucket] = self.buckets.get(bucket, 0) + 1

    def merge(self, other: Histogram) -> None:
        """Add the counts of ``other``: percentiles of many workers merge exactly, never by averaging."""
        for bucket, count in other.buckets.items():
            self.buckets[bucket] = self.buckets.get(bucket, 0) + count

    @property
    def count(self) -> int:
        return sum(self.buckets.values())

    def quantile(self, q: float) -> float | None:
        """The smallest value that at least share ``q`` (0–1) do not exceed, within RELATIVE_ERROR; None when empty."""
        rank = max(1, ceil(q * self.count))
        seen = 0
        for bucket in sorted(self.buckets):
            seen += self.buckets[bucket]
            if seen >= rank:
                return float(GROWTH ** (bucket + 0.5))
        return None

    def to_json(self) -> list[list[int]]:
        return [[bucket, self.buckets[bucket]] for bucket in sorted(self.buckets)]

    @classmethod
    def from_json(cls, rows: Iterable[Iterable[int]]) -> Histogram:
        """Read what :meth:`to_json` wrote.  Raises TypeError or ValueError when it is something else."""
        buckets = {int(bucket): int(count) for bucket, count in rows}
        if any(abs(bucket) > LAST_BUCKET or count < 0 for bucket, count in buckets.items()):
            raise ValueError("latency")
        return cls(buckets)


def merged(histograms: Iterable[Histogram]) -> Histogram:
    """One histogram of everything that the given ones counted; they stay as they are."""
    whole = Histogram()
    for histogram in histograms:
        whole.merge(histogram)
    return whole
