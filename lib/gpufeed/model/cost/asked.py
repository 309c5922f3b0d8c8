"""What a run asks of the bucket and brings out of it: requests, bytes, and shares of the data set."""

from __future__ import annotations

import math

from gpufeed.facts.quantity import Quantity, least, most
from gpufeed.model.cost.bill import Bill
from gpufeed.model.cost.run import Run, plus
from gpufeed.model.rules import S3, S3_FILES
from gpufeed.model.upload import gets_of, puts_of


def requests_of(bill: Bill) -> Quantity | None:
    """Requests that read samples, and those that read the weights in parts."""
    samples, weights = bill.run.requests, bill.run.weights_read
    return samples if weights is None else plus(samples, requests_of_weights(bill, weights))


def requests_of_weights(bill: Bill, read: Quantity) -> Quantity:
    """Requests that read so much of the weights, a copy after the other, each in whole parts."""
    assert bill.run.weights is not None  # noqa: S101 - what is read is made of one copy
    once = bill.run.weights.value
    return read * (gets_of(once, bill.facts.model.known("part_bytes").value) / once)


def listings_of(bill: Bill) -> Quantity | None:
    """LIST requests: all keys for each pass of the training over the data set, at least once."""
    page, run = bill.facts.options[S3].known("list_page_keys"), bill.run
    passes = passes_over(run, run.trained_bytes or run.read_bytes)
    return None if passes is None else most(passes, Quantity.exact(1.0)) * math.ceil(run.objects / page.value)


def passes_over(run: Run, read: Quantity | None) -> Quantity | None:
    """How many times ``read`` is the whole data set.  The data set is taken at its middle: it sizes the reads too."""
    return None if read is None else read / run.dataset_bytes.middle()


def requests_with_weights(bill: Bill, share: Quantity | None) -> Quantity:
    """Requests that read this share of the data set once, or all of it, and weights where a job starts from some."""
    data, weights = of_all(bill.run.gets_once, share), bill.run.weights
    return data if weights is None else data + requests_of_weights(bill, weights)


def copy_requests(bill: Bill) -> tuple[Quantity, Quantity]:
    """(GET, PUT) requests that copy the data set, and weights where a job starts from some, into a directory bucket."""
    puts, weights = bill.run.puts_once, bill.run.weights
    if weights is not None:
        puts = puts + puts_of(weights.value, bill.facts)
    return requests_with_weights(bill, None), puts


def of_all(amount: Quantity, share: Quantity | None) -> Quantity:
    """This share of an amount; None: all of it."""
    return amount if share is None else amount * share


def copied_bytes(run: Run) -> Quantity:
    """Bytes of a copy that the job reads from: the data set, and the weights where it starts from some."""
    return run.dataset_bytes if run.weights is None else run.dataset_bytes + run.weights


def share_touched(run: Run) -> Quantity | None:
    """What of the data set a file system linked to S3 is ever filled with; None: all of it."""
    touched = run.touched_bytes
    if touched is None or touched == run.dataset_bytes or touched.low * run.jobs >= run.dataset_bytes.value:
        return None
    return least(touched * run.jobs / run.dataset_bytes.middle(), Quantity.exact(1.0))


def imported(bill: Bill) -> bool:
    """Whether S3 Files brings these objects onto its own storage, and does not stream them from S3."""
    threshold = bill.facts.options[S3_FILES].known("import_size_threshold").value
    return bill.run.object_bytes.value <= threshold


def kept_by_s3_files(bill: Bill) -> Quantity:
    """Bytes of the data set on the storage of S3 Files, which bills each file as at least the minimum."""
    each = bill.facts.options[S3_FILES].known("minimum_billable_file").value
    return most(bill.run.dataset_bytes, Quantity.exact(bill.run.objects * each))
