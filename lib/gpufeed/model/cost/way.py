"""The way to the bucket, which may be paid by the byte, and the keys of its encryption, paid by the request."""

from __future__ import annotations

from collections.abc import Iterator

from gpufeed.facts.quantity import Quantity
from gpufeed.model.cost.asked import (
    imported,
    of_all,
    requests_of,
    requests_of_weights,
    requests_with_weights,
    share_touched,
)
from gpufeed.model.cost.bill import Bill
from gpufeed.model.recommendation import CostLine
from gpufeed.model.rules import EXPRESS, FSX, S3, S3_FILES

_NOTHING = Quantity(0.0, 0.0, 0.0)


def way_to_s3(bill: Bill, option: str) -> Iterator[CostLine]:
    """What the way to the bucket and the keys of its encryption cost.  Saving is not counted.

    Through a NAT gateway passes what the instances themselves read; out of another Region all that leaves the bucket.
    """
    run = bill.run
    by_instances, out_of_bucket, requests = _read_from_s3(bill, option)
    if run.network_path in ("nat", "other-region"):
        passing = by_instances if run.network_path == "nat" else out_of_bucket
        if passing is not _NOTHING:
            yield bill.line("transfer", "transfer", "network", run.network_path, passing)
    if run.kms_calls is not None:
        calls = None if requests is None else requests * run.kms_calls
        yield bill.line("kms", "kms", "encryption", "kms", calls)


def _read_from_s3(bill: Bill, option: str) -> tuple[Quantity | None, Quantity | None, Quantity | None]:
    """(bytes through the instances' own way, bytes out of the bucket, requests to the bucket) of the whole run.

    File systems are filled once and inside AWS; a directory bucket is filled once as well, but read over the same way.
    """
    run = bill.run
    if option == S3 or (option == S3_FILES and not imported(bill)):
        return run.read_in_all, run.read_in_all, requests_of(bill)
    if option == S3_FILES:  # weights are large files, which the instances read from the bucket
        once, of_data, of_weights = run.dataset_bytes / run.jobs, run.gets_once / run.jobs, run.weights_read
        if of_weights is None:
            return _NOTHING, once, of_data
        return of_weights, once + of_weights, of_data + requests_of_weights(bill, of_weights)
    share = share_touched(run) if option == FSX else None
    once = of_all(run.dataset_bytes, share)
    once = once if run.weights is None else once + run.weights
    by_instances = run.read_in_all if option == EXPRESS else _NOTHING
    return by_instances, once / run.jobs, requests_with_weights(bill, share) / run.jobs
