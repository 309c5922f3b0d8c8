"""What a scan found under a prefix."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpufeed.facts.messages import text
from gpufeed.model.profile import PrefixProfile
from gpufeed.model.small_files import SmallFiles
from gpufeed.model.tally import Tally
from gpufeed.observe.scan import ScanResult
from gpufeed.present import words
from gpufeed.present.escape import visible
from gpufeed.present.tables.frame import table

if TYPE_CHECKING:
    import pandas as pd


ROWS_SHOWN = 12


def scan_sentence(result: ScanResult) -> str:
    """How much was found, and where."""
    return text(
        "panel.found",
        objects=words.count(result.profile.objects),
        size=words.size(result.profile.bytes),
        url=visible(result.place.url),
    )


def sizes(profile: PrefixProfile) -> pd.DataFrame:
    """Objects and bytes by size."""
    return table(
        ("up-to", "objects", "bytes"),
        (
            (words.binary_size(row["up_to"]), words.count(row["objects"]), words.size(row["bytes"]))
            for row in profile.by_size()
        ),
    )


def small_file_sentences(found: SmallFiles) -> list[str]:
    """The verdict for S3 Standard, how much is small, and the first advice on packing."""
    headline = found.headline
    said = [
        text("inspect.verdict", verdict=text(f"small-files.{headline.reason}")),
        text(
            "inspect.share",
            objects=words.share(found.share_of_objects),
            bytes=words.share(found.share_of_bytes),
            threshold=words.quantity(headline.threshold_bytes),
            concurrency=words.number(found.concurrency),
        ),
    ]
    if plan := found.shard_plan:
        said.append(
            text(
                "inspect.shards",
                shards=words.count(plan.shards),
                size=words.size(plan.shard_bytes),
                before=words.count(plan.requests_before),
                after=words.count(plan.requests_after),
            )
        )
    return said


def small_files(found: SmallFiles, currency: str) -> pd.DataFrame:
    """Per option: whether the objects are too small for it, and what one epoch costs in time and request money."""
    return table(
        ("option", "too-small", "threshold", "epoch-time", "requests", "request-cost", "reasons"),
        (
            (
                words.option(verdict.option),
                words.yes_no(verdict.problem),
                words.quantity(verdict.threshold_bytes),
                words.quantity(verdict.epoch_seconds),
                words.count(verdict.requests),
                words.priced(verdict.request_cost, currency),
                text(f"small-files.{verdict.reason}"),
            )
            for verdict in found.per_option
        ),
    )


def prefixes(profile: PrefixProfile) -> pd.DataFrame:
    """The sub-prefixes that hold most bytes, and all others in a last row."""
    return _tally("prefix", profile.prefixes)


def extensions(profile: PrefixProfile) -> pd.DataFrame:
    """The same by file name extension."""
    return _tally("extension", profile.extensions)


def storage_classes(profile: PrefixProfile) -> pd.DataFrame:
    """The same by storage class."""
    return _tally("storage-class", profile.storage_classes)


def largest(tally: Tally, rows: int = ROWS_SHOWN) -> list[tuple[str, int, int]]:
    """(name, objects, bytes) of the largest rows, and one last row that sums all others."""
    ordered = tally.largest_first()
    shown = [(_name(name), objects, size) for name, objects, size in ordered[:rows]]
    rest = [(objects, size) for _, objects, size in ordered[rows:]] + [(tally.other[0], tally.other[1])]
    objects, size = (sum(row[column] for row in rest) for column in (0, 1))
    return [*shown, (text("present.all-others"), objects, size)] if objects else shown


def _name(name: str | None) -> str:
    return text("present.none-given") if not name else visible(name)


def _tally(label: str, tally: Tally) -> pd.DataFrame:
    return table(
        (label, "objects", "bytes"),
        ((name, words.count(objects), words.size(size)) for name, objects, size in largest(tally)),
    )
