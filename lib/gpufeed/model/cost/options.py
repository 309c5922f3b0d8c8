"""The lines of each option: its own storage, what fills it, and what is asked of it."""

from __future__ import annotations

from collections.abc import Iterator

from gpufeed.facts.quantity import Quantity, most
from gpufeed.model.cost.asked import (
    copied_bytes,
    copy_requests,
    imported,
    kept_by_s3_files,
    listings_of,
    passes_over,
    requests_of,
    requests_of_weights,
    requests_with_weights,
    share_touched,
)
from gpufeed.model.cost.bill import Bill
from gpufeed.model.fsx import GIB, Configuration
from gpufeed.model.recommendation import CostLine
from gpufeed.model.rules import EXPRESS, FSX, MOUNTPOINT, S3, S3_FILES


def uploaded(bill: Bill) -> Iterator[CostLine]:
    """Bringing the data set to S3, where it is not there yet."""
    run = bill.run
    if run.uploads:
        yield bill.line("upload-puts", "requests", S3, "put", run.puts_once)
        if run.kms_calls is not None:
            yield bill.line("upload-kms", "kms", "encryption", "kms", run.puts_once * run.kms_calls)


def _s3(bill: Bill, _: Configuration | None) -> Iterator[CostLine]:
    yield bill.line("gets", "requests", S3, "get", requests_of(bill))
    yield bill.line("lists", "requests", S3, "list", listings_of(bill))


def _filling(bill: Bill, share: Quantity | None = None) -> CostLine:
    """One read of each object from S3, large ones in parts: what a copy of this share of the data set is filled by."""
    return bill.line("copy-gets", "requests", S3, "get", requests_with_weights(bill, share))


def _express(bill: Bill, _: Configuration | None) -> Iterator[CostLine]:
    """A copy in the zone, put there once, and every byte read is charged."""
    run = bill.run
    copied, (gets, puts) = copied_bytes(run), copy_requests(bill)
    yield bill.line("own-storage", "storage", EXPRESS, "storage", copied * bill.months)
    yield bill.line("copy-gets", "requests", S3, "get", gets)
    yield bill.line("copy-puts", "requests", EXPRESS, "put", puts)
    yield bill.line("copy-upload", "requests", EXPRESS, "upload", copied)
    yield bill.line("gets", "requests", EXPRESS, "get", requests_of(bill))
    yield bill.line("retrieval", "requests", EXPRESS, "retrieval", run.read_in_all)
    yield bill.line("lists", "requests", EXPRESS, "list", listings_of(bill))


def lookups(bill: Bill, backing: str) -> Iterator[CostLine]:
    """What opening a file through Mountpoint asks of the bucket behind it, beside the reads.

    References: mountpoint-lookups.
    """
    chosen, passes = bill.facts.options[MOUNTPOINT], passes_over(bill.run, bill.run.read_bytes)
    opened = None if passes is None else passes * bill.run.objects
    for item, each in (("list", "lookup_lists"), ("get", "lookup_heads")):
        asked = None if opened is None else opened * chosen.known(each)
        yield bill.line(f"lookup-{item}s", "requests", backing, item, asked)


def _fsx(bill: Bill, configuration: Configuration | None) -> Iterator[CostLine]:
    """The file system for as long as the run, and one read of each object from S3 to fill it.

    Billed is the capacity that was ordered, not what it holds; throughput per TiB is in the price of a GiB-month.
    """
    if configuration is None:  # the Region has none: nothing can be ordered, so nothing can be priced
        yield CostLine("own-storage", "storage", "GiB-month", None, None, None, option=FSX)
        return
    held = Quantity.exact(configuration.capacity_gib * GIB * bill.months)
    yield bill.line("own-storage", "storage", FSX, "storage", held, kind=configuration.name)
    if configuration.ordered_iops:
        ordered = Quantity.exact(configuration.ordered_iops * bill.months)
        yield bill.line("metadata-iops", "storage", FSX, "metadata-iops", ordered, kind=configuration.name)
    yield _filling(bill, share_touched(bill.run))


def _s3_files(bill: Bill, _: Configuration | None) -> Iterator[CostLine]:
    """Small files are brought onto its own storage and read from there; larger ones are read from S3 directly.

    Bringing a file there is billed as a write.  Each read and each file is billed as at least the minimum; a direct
    read costs a metadata read beside the GET.  References: s3-files-metering.
    """
    run, chosen = bill.run, bill.facts.options[S3_FILES]
    if not imported(bill):
        yield from _read_directly(bill, requests_of(bill))
        return
    least = chosen.known("minimum_data_operation").value
    brought = most(run.dataset_bytes, Quantity.exact(run.objects * least))
    read = None
    if run.read_bytes is not None and run.requests is not None:
        read = most(run.read_bytes, run.requests * least)
    yield bill.line("own-storage", "storage", S3_FILES, "storage", kept_by_s3_files(bill) * bill.months)
    yield _filling(bill)
    yield bill.line("file-imports", "requests", S3_FILES, "write", brought)
    yield bill.line("file-reads", "requests", S3_FILES, "read", read)
    if run.weights_read is not None:  # large files, which are not imported
        yield from _read_directly(bill, requests_of_weights(bill, run.weights_read))


def _read_directly(bill: Bill, requests: Quantity | None) -> Iterator[CostLine]:
    """Reads through S3 Files of what stays in the bucket."""
    each = bill.facts.options[S3_FILES].known("minimum_metadata_operation").value
    yield bill.line("gets", "requests", S3, "get", requests)
    yield bill.line("metadata-reads", "requests", S3_FILES, "read", None if requests is None else requests * each)


#: By what keeps the bytes; a mount has the lines of the bucket behind it, and :func:`lookups`.
LINES_OF = {S3: _s3, EXPRESS: _express, FSX: _fsx, S3_FILES: _s3_files}
