"""What lifts the ceiling that keeps an option from feeding the GPUs: what binds decides, and of requests/s, whose."""

from __future__ import annotations

from typing import Any

from gpufeed.facts import Facts
from gpufeed.model.recommendation import Reason, Supply
from gpufeed.model.rules import EXPRESS, FSX, MOUNTPOINT, S3, S3_FILES
from gpufeed.model.supply import Load, served_by


def lifts(given: Supply, load: Load, facts: Facts) -> Reason | None:
    """Message ``reason.lifted-<ceiling>``; None where no ceiling is known."""
    limit = given.limited_by
    if limit is None:
        return None
    if limit == "request-limit":
        return _of_requests(served_by(given.option, load, facts), facts)
    found: dict[str, Any] = {}
    if limit == "mount-threads":
        found["threads"] = facts.options[MOUNTPOINT].known("maximum_threads").value
    elif limit == "read-operations":
        found["most"] = facts.options[S3_FILES].known("read_iops")
    elif limit == "server-connections":
        found["each"] = facts.options[FSX].known("per_client_per_server")
    return Reason(f"lifted-{limit}", found)


def _of_requests(bucket: str, facts: Facts) -> Reason:
    """S3 counts requests/s for each key prefix of a general purpose bucket, and for a directory bucket as a whole.

    References: s3-performance, s3-express-performance.
    """
    if bucket == EXPRESS:
        limit = facts.options[EXPRESS].known("read_requests_per_bucket")
        found = {"allowed": limit.middle(), "raised": limit.at(limit.high)}
        return Reason("lifted-request-limit-of-bucket", found, "s3-express-performance")
    each = facts.options[S3].known("read_requests_per_prefix")
    return Reason("lifted-request-limit-of-prefixes", {"each": each}, "s3-performance")
