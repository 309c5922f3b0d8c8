"""Whether objects are too small for an option, what an epoch over them costs, and how to pack them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

from gpufeed.facts import Facts
from gpufeed.facts.quantity import Quantity
from gpufeed.model import formulas, fsx
from gpufeed.model.cost import requests_price
from gpufeed.model.demand import gets_of_profile, mean_request
from gpufeed.model.file_system_need import carried, clients_carry
from gpufeed.model.job import network_of, reading_processes
from gpufeed.model.paths import NAT, OTHER_REGION, kms_calls, kms_requests, nat_bandwidth
from gpufeed.model.profile import PrefixProfile
from gpufeed.model.recommendation import Demand, Recommendation, Supply
from gpufeed.model.rules import EXPRESS, FSX, MOUNTPOINT, S3, S3_FILES, SYSTEMS
from gpufeed.model.supply import Load, lies_on, served_by, small_threshold, supply


@dataclass(frozen=True, slots=True)
class OptionVerdict:
    """What the objects under a prefix mean for one option.  Sizes in bytes, ``epoch_seconds`` None when not known."""

    option: str
    problem: bool
    threshold_bytes: Quantity  # below it, waiting for the first byte is most of the time of a read
    epoch_seconds: Quantity | None  # one pass over every object at this concurrency
    requests: int
    request_cost: Quantity | None  # of one epoch; None: not priced
    latency_share: Quantity  # of the time of reading everything once, spent waiting for the first byte
    limited_by: str | None
    reason: str  # message ``small-files.<reason>``


@dataclass(frozen=True, slots=True)
class ShardPlan:
    """First advice on packing: how large, how many, and what an epoch then asks for."""

    shard_bytes: float
    shards: int
    objects_per_shard: float
    requests_before: int
    requests_after: int


@dataclass(frozen=True, slots=True)
class SmallFiles:
    """The verdict for a prefix; the headline is that of S3 Standard, where data at rest lives."""

    concurrency: float
    share_of_objects: float | None  # below the threshold of S3 Standard, 0–1
    share_of_bytes: float | None
    per_option: tuple[OptionVerdict, ...]
    shard_plan: ShardPlan | None

    @property
    def headline(self) -> OptionVerdict:
        return next(verdict for verdict in self.per_option if verdict.option == S3)


def small_files(
    profile: PrefixProfile,
    facts: Facts,
    *,
    concurrency: float,
    region: str,
    plan: Recommendation | None = None,
) -> SmallFiles | None:
    """The small-file verdict; None when nothing of a known size lies under the prefix.

    ``concurrency`` is the number of reads under way at once, all nodes together; with a ``plan`` that of its job is
    used, and so are its network cards, its way to the bucket and the keys of its encryption.  With a plan, a problem
    exists where requests, not bytes, bind and the GPUs are not fed.  Without one, where waiting for the first byte is
    most of an epoch and costs it more than a stated time.
    """
    if not profile.mean_bytes:
        return None
    in_flight = plan.demand.in_flight if plan is not None else concurrency
    prefix = _Prefix(profile, facts, region, in_flight, plan)
    verdicts = tuple(_verdict(option, prefix) for option in SYSTEMS)
    below, below_bytes = profile.up_to(small_threshold(S3, facts).value)
    return SmallFiles(
        concurrency=in_flight,
        share_of_objects=below / profile.sized_objects if profile.sized_objects else None,
        share_of_bytes=below_bytes / profile.bytes if profile.bytes else None,
        per_option=verdicts,
        shard_plan=shard_plan(profile, facts, in_flight) if any(v.problem for v in verdicts) else None,
    )


@dataclass(frozen=True, slots=True)
class _Prefix:
    """What lies under the prefix and how it is read."""

    profile: PrefixProfile
    facts: Facts
    region: str
    in_flight: float
    plan: Recommendation | None

    @property
    def demand(self) -> Demand | None:
        return None if self.plan is None else self.plan.demand

    @property
    def mean(self) -> Quantity:
        return Quantity.exact(float(self.profile.mean_bytes or 0.0), "bytes", "measured")

    @property
    def part(self) -> Quantity:
        return self.facts.model.known("part_bytes")

    @property
    def requests(self) -> int:
        """One pass over everything: one request per object, large objects in parts."""
        return round(gets_of_profile(self.profile, self.part.value).value)

    def need(self) -> fsx.Need:
        """What a file system has to hold, and to move where a job asks for it."""
        asked = self.demand
        read, requests = (None, None) if asked is None else (asked.read_bytes_per_s, asked.read_requests_per_s)
        rate, opens = 0.0 if read is None else read.value, 0.0 if requests is None else requests.value
        return fsx.Need(
            holds_bytes=float(self.profile.bytes),
            read_bytes_per_s=rate,
            opens_per_s=opens,
            over_tcp=carried({"read": rate}, opens, clients_carry(self.load(), self.facts, efa=False)),
        )

    def load(self) -> Load:
        mean, plan = self.mean, self.plan
        alone = Load(
            nodes=1,
            request_bytes=mean_request(self.profile, self.part.value),
            object_bytes=mean,
            in_flight=self.in_flight,
            writers=self.in_flight,
            prefixes=1,
            s3_network=None,
            file_network=None,
            efa_network=None,
        )
        if plan is None:
            return alone
        workload = plan.workload
        s3_network, file_network, _ = network_of(workload, self.facts)
        return replace(
            alone,
            nodes=workload.instances,
            operations=frozenset(workload.file_operations),
            mounted=plan.mounted,
            processes=reading_processes(workload, plan.demand, self.facts),
            client=workload.client,
            prefixes=plan.demand.prefixes,
            s3_network=s3_network,
            file_network=file_network,
            nat=nat_bandwidth(workload, self.facts),
            kms_requests=kms_requests(workload, self.region, self.facts),
        )


def _verdict(option: str, prefix: _Prefix) -> OptionVerdict:
    facts, load = prefix.facts, prefix.load()
    threshold = small_threshold(served_by(option, load, facts), facts)
    share = _latency_share(threshold, load.request_bytes.value)
    cost = _epoch_cost(option, prefix)
    configuration = None
    offered = facts.regions[prefix.region].get_value(option) if prefix.region in facts.regions else True
    if option == FSX:
        configuration = fsx.cheapest(prefix.need(), prefix.region, facts)
    if offered is False or (option == FSX and configuration is None):
        return OptionVerdict(option, False, threshold, None, prefix.requests, cost, share, None, "not-in-region")
    given = supply(option, load, facts, configuration)
    epoch = None
    if given.read_bytes_per_s is not None:
        epoch = (float(prefix.profile.bytes) / given.read_bytes_per_s).named("seconds")
    problem, reason = _judged(given, share, prefix)
    if offered is None and not problem:
        reason = "region-unknown"
    return OptionVerdict(option, problem, threshold, epoch, prefix.requests, cost, share, given.limited_by, reason)


def _latency_share(threshold: Quantity, size: float) -> Quantity:
    """Share of a read spent waiting: L0 / (L0 + size/b) = threshold / (threshold + size)."""
    low, value, high = (bound / (bound + size) for bound in (threshold.low, threshold.value, threshold.high))
    return Quantity(low, value, high, "share", threshold.basis, threshold.sources)


#: Ceilings that count requests rather than bytes; waiting counts as one only where it is most of a read.
_BY_REQUESTS = ("request-limit", "kms-requests", "read-operations", "metadata-operations")
_BY_WAITING = ("request-latency", "mount-threads")


def _judged(given: Supply, share: Quantity, prefix: _Prefix) -> tuple[bool, str]:
    facts, demand = prefix.facts, prefix.demand
    mostly_waiting = share.value > facts.model.known("latency_share").value
    if demand is not None and demand.read_bytes_per_s is not None and given.read_bytes_per_s is not None:
        if formulas.fed(given.read_bytes_per_s, demand.read_bytes_per_s).value >= 1.0:
            return False, "fed"
        if given.limited_by in _BY_REQUESTS or (given.limited_by in _BY_WAITING and mostly_waiting):
            return True, "requests-bind"
        return False, "bytes-bind"
    if not mostly_waiting:
        return False, "large-enough"
    if given.request_seconds is None:
        return False, "too-few-to-matter"
    waited = prefix.profile.objects * given.request_seconds.value * share.value / prefix.in_flight
    if waited < facts.model.known("latency_lost").value:
        return False, "too-few-to-matter"
    return True, "mostly-waiting"


def _epoch_cost(option: str, prefix: _Prefix) -> Quantity | None:
    """Money for the requests of one pass over everything, for what is charged per byte read, and for the way there.

    None when a part of it is not priced.
    """
    facts, region = prefix.facts, prefix.region
    gib = prefix.profile.bytes / fsx.GIB
    if option == FSX:  # reading is not charged; the file system itself is
        return Quantity(0.0, 0.0, 0.0, "", "published", facts.options[FSX].known("per_client_read").sources)
    if option == S3_FILES and prefix.mean.value <= facts.options[S3_FILES].known("import_size_threshold").value:
        # Each read is billed as at least the minimum data operation.
        least = facts.options[S3_FILES].known("minimum_data_operation").value
        price = facts.price(S3_FILES, "read", region)
        return None if price is None else price * max(gib, prefix.profile.objects * least / fsx.GIB)
    source = EXPRESS if lies_on(option, prefix.load().mounted) == EXPRESS else S3
    parts = [_read_cost(option, source, prefix), *_way_there(source, prefix)]
    known = [part for part in parts if part is not None]
    return sum(known[1:], start=known[0]) if len(known) == len(parts) else None


def _read_cost(option: str, source: str, prefix: _Prefix) -> Quantity | None:
    facts, region = prefix.facts, prefix.region
    gets = requests_price(source, "get", Quantity.exact(float(prefix.requests)), region, facts)
    if option == MOUNTPOINT and gets is not None:
        gets = _with_lookups(gets, source, prefix)
    if (source == S3 and option != S3_FILES) or gets is None:
        return gets
    if option == S3_FILES:  # a read that it streams from S3 costs a metadata read beside the GET
        each = facts.options[S3_FILES].known("minimum_metadata_operation").value
        price, amount = facts.price(S3_FILES, "read", region), prefix.requests * each / fsx.GIB
    else:
        price, amount = facts.price(EXPRESS, "retrieval", region), prefix.profile.bytes / fsx.GIB
    return None if price is None else gets + price * amount


def _way_there(source: str, prefix: _Prefix) -> Iterator[Quantity | None]:
    """What passes a NAT gateway or leaves another Region, and the calls to KMS; a directory bucket makes next to none.

    File systems are filled inside AWS, once, and have no such part.
    """
    if prefix.plan is None:
        return
    facts, region, workload = prefix.facts, prefix.region, prefix.plan.workload
    if workload.network_path == NAT or (workload.network_path == OTHER_REGION and source == S3):
        price = facts.price("network", workload.network_path, region)
        yield None if price is None else price.times(prefix.profile.bytes / fsx.GIB, "")
    calls = kms_calls(workload.encryption, facts)
    if calls is not None and source == S3:
        yield requests_price("encryption", "kms", calls * float(prefix.requests), region, facts)


def _with_lookups(gets: Quantity, source: str, prefix: _Prefix) -> Quantity | None:
    """Opening a file through Mountpoint asks for a LIST and a HEAD as well.  References: mountpoint-lookups."""
    chosen, total = prefix.facts.options[MOUNTPOINT], gets
    for item, each in (("list", "lookup_lists"), ("get", "lookup_heads")):
        lookups = chosen.known(each) * float(prefix.profile.objects)
        price = requests_price(source, item, lookups, prefix.region, prefix.facts)
        if price is None:
            return None
        total = total + price
    return total


def listing_cost(requests: int, region: str, facts: Facts) -> Quantity | None:
    """Money for ListObjectsV2 requests on S3 Standard; None when not priced."""
    return requests_price(S3, "list", Quantity.exact(float(requests)), region, facts)


def shard_plan(profile: PrefixProfile, facts: Facts, readers: float) -> ShardPlan | None:
    """First advice on packing what lies under the prefix; None where its sizes are not known."""
    if not profile.mean_bytes or profile.bytes <= 0:
        return None
    shards = max(1, math.ceil(profile.bytes / shard_size(profile.bytes, facts, readers)))
    part = facts.model.known("part_bytes").value
    return ShardPlan(
        shard_bytes=profile.bytes / shards,
        shards=shards,
        objects_per_shard=profile.objects / shards,
        requests_before=round(gets_of_profile(profile, part).value),
        requests_after=shards * max(1, math.ceil(profile.bytes / shards / part)),
    )


def shard_size(data: float, facts: Facts, readers: float) -> float:
    """Shards of the advised size, or smaller ones where there would be fewer than readers.  Bytes.

    Equation: size = min(advised, max(bytes / readers, small)), where ``small`` is the size at which waiting is half of
    the time on S3 Standard: below it the shards would be small files again.
    """
    advised, small = facts.model.known("shard_bytes").value, small_threshold(S3, facts).value
    return float(min(advised, max(data / max(readers, 1.0), small)))
