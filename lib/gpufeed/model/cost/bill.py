"""A line of the bill: an amount in billing units × a price of the Region; and who of several jobs bears it."""

from __future__ import annotations

from collections.abc import Mapping

from gpufeed.facts import Facts
from gpufeed.facts.quantity import Quantity
from gpufeed.model.cost.run import Run
from gpufeed.model.frozen import frozen
from gpufeed.model.fsx import GIB
from gpufeed.model.recommendation import CostLine


@frozen
class Bill:
    """The prices of a run's Region, and the lines they make."""

    run: Run
    facts: Facts
    months: float  # that the run lasts

    def line(
        self,
        line_id: str,
        part: str,
        option: str,
        item: str,
        used: Quantity | None,
        *,
        kind: str | None = None,
        at: float | None = None,
    ) -> CostLine:
        """``used`` in base units (bytes, requests; byte-months for storage) at the price of one item.

        ``kind``: of file system, where each has its price; ``at``: in the graduated band from there [billing units].
        """
        unit, size = BILLED[item]
        if used is not None and self.run.jobs > 1 and SHARED[line_id]:
            used = used / self.run.jobs
        quantity = None if used is None else used.per(size, unit)
        asked = (option, item, self.run.region, kind, at)
        here = self.facts.price(*asked)
        price = self.facts.price_elsewhere(*asked) if here is None else here
        if price is not None and self.run.discount:
            price = price.times(1.0 - self.run.discount, price.unit)
        amount = None
        if quantity is not None and price is not None:
            amount = quantity.times(price, self.run.currency)
        if here is None:
            return CostLine(line_id, part, unit, quantity, None, None, elsewhere=amount, option=option)
        return CostLine(line_id, part, unit, quantity, price, amount, option=option)


def bill_of(run: Run, facts: Facts) -> Bill:
    """An empty bill for as long as the run lasts."""
    return Bill(run, facts, run.hours / facts.model.known("hours_per_month").value)


#: Every line of a bill: whether equal jobs on one storage share it, so that one job bears its part.  The data set, its
#: copies and a file system are there once for all; what a job reads, saves and keeps is its own.
SHARED: Mapping[str, bool] = {
    **dict.fromkeys(("base-storage", "upload-puts", "upload-kms"), True),
    **dict.fromkeys(("own-storage", "metadata-iops", "loading-storage", "loading-metadata-iops"), True),
    **dict.fromkeys(("copy-gets", "copy-puts", "copy-upload", "file-imports"), True),
    "checkpoint-file-system": True,
    **dict.fromkeys(("gets", "lists", "lookup-lists", "lookup-gets", "retrieval"), False),
    **dict.fromkeys(("metadata-reads", "file-reads"), False),
    # What fills a copy is in these, too, and is divided where it is counted (``way``).
    **dict.fromkeys(("transfer", "kms"), False),
    **dict.fromkeys(("checkpoint-storage", "checkpoint-puts", "checkpoint-upload", "checkpoint-own-storage"), False),
    **dict.fromkeys(("checkpoint-writes", "checkpoint-exports", "checkpoint-kms", "checkpoint-transfer"), False),
    **dict.fromkeys(("checkpoint-copy-storage", "checkpoint-copy-gets", "checkpoint-copy-puts"), False),
    "checkpoint-copy-retrieval": False,
    # GPUs that wait, which are the job's own.
    **dict.fromkeys(("idle-gpu", "evaluation-gpu", "weights-gpu", "first-epoch-gpu", "saving-gpu"), False),
}
#: What each item is billed by: the billing unit, and how many base units (bytes, requests, IOPS) make one.
BILLED: dict[str, tuple[str, float]] = {
    **dict.fromkeys(("storage",), ("GiB-month", GIB)),
    **dict.fromkeys(("upload", "retrieval", "read", "write", "nat", "other-region"), ("GiB", GIB)),
    **dict.fromkeys(("get", "put", "list", "kms"), ("1000 requests", 1000)),
    "metadata-iops": ("IOPS-month", 1),
    "instance": ("hour", 1),
}


def requests_price(option: str, item: str, requests: Quantity, region: str, facts: Facts) -> Quantity | None:
    """Requests × price per 1,000 requests / 1,000; None when not priced."""
    price = facts.price(option, item, region)
    return None if price is None else (requests * price / 1000.0).named("")
