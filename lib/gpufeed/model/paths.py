"""What lies between the instances and their storage: the way to the bucket, the keys of its encryption, the zone."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

from gpufeed.facts import Facts
from gpufeed.facts.quantity import Quantity
from gpufeed.model.fsx import GIB
from gpufeed.model.recommendation import Caveat, CostLine, Demand, OptionAnswer, Reason, Saving, Supply
from gpufeed.model.rules import EXPRESS, FSX, S3
from gpufeed.model.supply import Load, lies_on, served_by
from gpufeed.model.workload import Workload

NAT, OTHER_REGION, UNKNOWN = "nat", "other-region", "unknown"


def nat_bandwidth(workload: Workload, facts: Facts) -> Quantity | None:
    """bytes/s that a NAT gateway lets through to S3; None where the way to S3 has none.

    Assumption: all instances share one gateway.  References: nat-gateway-basics.
    """
    return facts.model.parts["network"].known("nat_bandwidth") if workload.network_path == NAT else None


def kms_requests(workload: Workload, region: str, facts: Facts) -> Quantity | None:
    """S3 requests/s that KMS allows under this encryption; None where S3 does not ask it.

    Equation: quota of the account and Region / KMS calls per S3 request.
    Assumption: nothing else of the account uses the quota.  References: kms-request-quotas, s3-bucket-keys.
    """
    calls = kms_calls(workload.encryption, facts)
    if calls is None:
        return None
    own = facts.regions[region].quantity("kms_requests") if region in facts.regions else None
    quota = own or facts.model.parts["kms"].known("requests")
    return (quota / calls).named("requests/s")


def kms_calls(encryption: str | None, facts: Facts) -> Quantity | None:
    """Calls to KMS for one request to S3; None without SSE-KMS."""
    kinds = facts.model.parts["kms"].parts
    return kinds[encryption].known("calls_per_request") if encryption is not None and encryption in kinds else None


def over_request_limit(option: str, load: Load, demand: Demand, facts: Facts) -> Reason | None:
    """By how much the steady GETs exceed what the bucket behind an option gives; None where they do not."""
    of_one, bucket = demand.read_requests_per_s, served_by(option, load, facts)
    if of_one is None or bucket not in (S3, EXPRESS):
        return None
    asked = (of_one * load.jobs).named("requests/s")
    return (_over_bucket if bucket == EXPRESS else _over_prefixes)(asked, load, facts)


def _over_bucket(asked: Quantity, _: Load, facts: Facts) -> Reason | None:
    """A directory bucket has one limit, whatever its keys are, and AWS Support raises it.

    Equation: factor = GET/s asked / GET/s of the bucket by default.  References: s3-express-performance.
    """
    limit = facts.options[EXPRESS].known("read_requests_per_bucket")
    if asked.value <= limit.value:
        return None
    found = {"requests": asked, "allowed": limit.middle(), "factor": asked.value / limit.value}
    return Reason("over-bucket-limit", found | {"raised": limit.at(limit.high)}, "s3-express-performance")


def _over_prefixes(asked: Quantity, load: Load, facts: Facts) -> Reason | None:
    """By how much they exceed what S3 gives the stated prefixes, and how many prefixes would do.

    S3's partitions cannot be seen and grow slowly, so the forecast is against the published rate per prefix.
    Equation: factor = GET/s asked / (prefixes × GET/s per prefix).  References: s3-performance.
    """
    each = facts.options[S3].known("read_requests_per_prefix")
    if asked.value <= each.value * load.prefixes:
        return None
    allowed = (each * load.prefixes).named("requests/s")
    found = {
        "requests": asked,
        "allowed": allowed,
        "factor": asked.value / allowed.value,
        "prefixes": math.ceil(asked.value / each.value),
        "interval": facts.model.known("repartition_time"),
    }
    # Packing makes fewer GETs of small objects; where large ones are read in parts, larger parts do.
    return Reason("over-request-limit" if load.opens_an_object else "parts-over-request-limit", found, "s3-performance")


def bars(option: str, workload: Workload, facts: Facts) -> Iterator[Reason]:
    """What of the way to the bucket keeps an option from being used at all."""
    if workload.network_path != OTHER_REGION:
        return
    elsewhere = facts.options[option].get("bucket_in_other_region")
    if elsewhere is not None and elsewhere.value is False:
        yield Reason("bucket-in-other-region", {}, elsewhere.sources[0])


def reasons(option: str, workload: Workload, load: Load, facts: Facts) -> Iterator[Reason]:
    """What the way to an option says against it."""
    if workload.network_path == OTHER_REGION and served_by(option, load, facts) == S3:
        yield Reason("other-region")
    if workload.network_path == OTHER_REGION and option == FSX:
        yield Reason("fsx-other-region", {}, facts.options[FSX]["bucket_in_other_region"].sources[0])
    zone = workload.zone
    if lies_on(option, load.mounted) == EXPRESS and zone is not None:
        zones = facts.options[EXPRESS]["zones"]
        if zone not in zones.value:
            yield Reason("express-not-in-zone", {"zone": zone}, zones.sources[0])


def caveats(
    workload: Workload,
    load: Load,
    region: str,
    demand: Demand,
    *,
    reads: OptionAnswer,
    facts: Facts,
    in_zone: set[str],
    dear: bool,
) -> Iterator[Caveat]:
    """What the reader must know about the way: ``in_zone`` are the recommended options that live in one zone.

    ``dear``: what it costs by the byte is one of the first things to know.
    """
    if workload.network_path == NAT:
        limit = facts.model.parts["network"].known("nat_bandwidth")
        said = {"bytes_per_s": limit, "price": facts.price("network", "nat", region)}
        yield Caveat("nat", said, grave=dear)
    elif workload.network_path == OTHER_REGION:
        # How fed the GPUs are is an upper bound, too, where they read the bucket itself.
        yield Caveat("path-other-region", grave=served_by(reads.option, load, facts) == S3)
    elif workload.network_path == UNKNOWN:
        yield Caveat("path-unknown")
    if workload.encryption == "sse-kms":
        yield Caveat("kms-per-request", {"allowed": load.kms_requests})
    yield from _requests(reads.supply, load, demand, facts)
    yield from _zone(workload.zone, in_zone, region, facts)


def saves_cross(saving: Saving, workload: Workload, region: str, facts: Facts) -> Iterator[Caveat]:
    """Saves, or their copies, that are written to a bucket of another Region: how much, and at what price."""
    if workload.network_path != OTHER_REGION:
        return
    line, across = crossing(saving.lines, "checkpoint-transfer")
    price = None if line is None else line.unit_price
    found = {"option": saving.option, "across": across, "price": price or facts.price("network", OTHER_REGION, region)}
    yield Caveat("saves-other-region", found)


def crossing(lines: Iterable[CostLine], line_id: str) -> tuple[CostLine | None, Quantity | None]:
    """(the line of a bill for what passes a way that is paid by the byte, those bytes)."""
    line = next((line for line in lines if line.id == line_id), None)
    return line, None if line is None or line.quantity is None else line.quantity.times(GIB, "bytes")


def _requests(given: Supply, load: Load, demand: Demand, facts: Facts) -> Iterator[Caveat]:
    """More GETs than the bucket gives all the time, or than its prefixes give when every worker begins at once."""
    over = over_request_limit(given.option, load, demand, facts)
    if over is not None:
        yield Caveat(over.id, over.parameters)
    elif given.request_seconds is not None and served_by(given.option, load, facts) == S3:
        at_once = load.in_flight * load.jobs
        burst = (at_once / given.request_seconds.middle()).named("requests/s")
        allowed = facts.options[S3].known("read_requests_per_prefix") * load.prefixes
        if burst.value > allowed.value:
            found = {"in_flight": at_once, "requests": burst, "allowed": allowed.named("requests/s")}
            yield Caveat("start-burst", found)


def _zone(zone: str | None, in_zone: set[str], region: str, facts: Facts) -> Iterator[Caveat]:
    if EXPRESS in in_zone:
        yield Caveat("express-zone")
    if FSX in in_zone and zone is not None:
        yield Caveat("fsx-zone", {"zone": zone, "price": facts.price(FSX, "transfer-other-zone", region)})
