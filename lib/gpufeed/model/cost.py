"""What an option costs for the run: storage, requests, transfer, and the GPUs that wait for it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from gpufeed.facts import Facts
from gpufeed.facts.quantity import Quantity, most
from gpufeed.model import formulas
from gpufeed.model.fsx import GIB, Configuration
from gpufeed.model.recommendation import Cost
from gpufeed.model.rules import EXPRESS, FSX, MOUNTPOINT, S3, S3_FILES
from gpufeed.model.supply import mountpoint_backing


@dataclass(frozen=True, slots=True)
class Run:
    """What a run moves and keeps.  Sizes in bytes; ``read_bytes`` and ``requests`` are those of the whole run."""

    region: str
    currency: str
    hours: float
    dataset_bytes: Quantity
    objects: float
    object_bytes: Quantity
    read_bytes: Quantity | None
    requests: Quantity | None
    gpu_hour_price: Quantity | None  # of the whole cluster
    operations: frozenset[str] = frozenset()
    network_path: str | None = None
    kms_calls: Quantity | None = None  # calls to KMS for one request to S3; None without SSE-KMS

    def read_less(self, share: Quantity) -> Run:
        """The same run where only this share of its reads reaches the storage."""
        if share.low >= 1.0:
            return self
        read, requests = self.read_bytes, self.requests
        return replace(
            self,
            read_bytes=None if read is None else (read * share).named(read.unit),
            requests=None if requests is None else (requests * share).named(requests.unit),
        )


def cost(option: str, run: Run, fed: Quantity | None, facts: Facts, configuration: Configuration | None) -> Cost:
    """Every part that can be priced; a part that cannot is None and named in ``not_priced``.

    The data set always lies in S3 (rule ``durable-base``), so that storage is part of each option's storage; the
    ``beyond_base`` total leaves it out, which is what options are compared by.
    """
    backing = mountpoint_backing(run.operations) if option == MOUNTPOINT else option
    base = banded(S3, "storage", run.dataset_bytes / GIB, run, facts)
    own, reading = _OPTIONS[backing](run, facts, configuration)
    months = run.hours / facts.model.known("hours_per_month").value
    extra = None if own is None else (own * months).named(run.currency)
    idle = None if fed is None else _idle(formulas.idle_hours(run.hours, fed), run)
    transfer, kms = _way_to_s3(backing, run, facts)
    parts = {"storage": extra, "requests": reading, "transfer": transfer, "kms": kms, "idle-gpu": idle}
    base_for_run = None if base is None else (base * months).named(run.currency)
    missing = [name for name, part in parts.items() if part is None]
    beyond = _sum(run.currency, *parts.values())
    return Cost(
        currency=run.currency,
        storage_per_month=_sum("per month", base, own),
        storage=_sum(run.currency, base_for_run, extra),
        requests=reading,
        transfer=transfer,
        kms=kms,
        idle_gpu=idle,
        total=_sum(run.currency, beyond, base_for_run),
        beyond_base=beyond,
        not_priced=tuple(missing if base is not None else ["base-storage", *missing]),
    )


def _idle(hours: Quantity, run: Run) -> Quantity | None:
    """What idle GPUs cost.  No idle hour costs nothing, also where the price of an hour is not known."""
    if run.gpu_hour_price is not None:
        return (hours * run.gpu_hour_price).named(run.currency)
    return hours.named(run.currency) if hours.high == 0.0 else None


def banded(option: str, item: str, amount: Quantity, run: Run, facts: Facts) -> Quantity | None:
    """Price of ``amount`` billing units through the graduated bands; None when a band it reaches is not priced."""
    bands = facts.price_bands(option, item, run.region)

    def through(quantity: float) -> Quantity | None:
        total: Quantity | None = None
        for row in bands:
            upper = float("inf") if row.band_to is None else row.band_to
            used = min(quantity, upper) - row.band_from
            if used <= 0 and total is not None:
                break
            if row.quantity is None:
                return None
            part = row.quantity * max(used, 0.0)
            total = part if total is None else total + part
        return total

    low, value, high = through(amount.low), through(amount.value), through(amount.high)
    if low is None or value is None or high is None:
        return None
    sources = value.sources | amount.sources
    basis = (value + amount).basis
    return Quantity(low.low, value.value, high.high, run.currency, basis, sources)


def requests_price(option: str, item: str, requests: Quantity, region: str, facts: Facts) -> Quantity | None:
    """Requests × price per 1,000 requests / 1,000; None when not priced."""
    price = facts.price(option, item, region)
    return None if price is None else (requests * price / 1000.0).named("")


def _sum(unit: str, *parts: Quantity | None) -> Quantity | None:
    """The sum of all parts, or None as soon as one is not known: half a total would look like a whole one."""
    total: Quantity | None = None
    for part in parts:
        if part is None:
            return None
        total = part if total is None else total + part
    return None if total is None else total.named(unit)


_Parts = tuple[Quantity | None, Quantity | None]  # own storage per month, reading for the whole run
_NOTHING_MORE = Quantity(0.0, 0.0, 0.0)  # S3 itself keeps no second copy


def _s3(run: Run, facts: Facts, _: Configuration | None) -> _Parts:
    reading = None if run.requests is None else requests_price(S3, "get", run.requests, run.region, facts)
    return _NOTHING_MORE, reading


def _express(run: Run, facts: Facts, _: Configuration | None) -> _Parts:
    """A copy in the zone, put there once, and every byte read is charged."""
    gib = run.dataset_bytes / GIB
    own = _times(gib, facts.price(EXPRESS, "storage", run.region))
    if run.requests is None or run.read_bytes is None:
        return own, None
    reading = _sum(
        run.currency,
        requests_price(EXPRESS, "get", run.requests, run.region, facts),
        _times(run.read_bytes / GIB, facts.price(EXPRESS, "retrieval", run.region)),
        requests_price(EXPRESS, "put", Quantity.exact(run.objects), run.region, facts),
        _times(gib, facts.price(EXPRESS, "upload", run.region)),
        requests_price(S3, "get", Quantity.exact(run.objects), run.region, facts),
    )
    return own, reading


def _fsx(run: Run, facts: Facts, configuration: Configuration | None) -> _Parts:
    """The file system for as long as the run, and one read of each object from S3 to fill it."""
    own = None if configuration is None else configuration.per_month
    return own, requests_price(S3, "get", Quantity.exact(run.objects), run.region, facts)


def _s3_files(run: Run, facts: Facts, _: Configuration | None) -> _Parts:
    """Small files are brought onto its own storage and read from there; larger ones are read from S3 directly.

    Each read and each file is billed as at least the minimum; a direct read costs a metadata read beside the GET.
    References: s3-files-metering.
    """
    chosen = facts.options[S3_FILES]
    least = chosen.known("minimum_data_operation").value
    read_price = facts.price(S3_FILES, "read", run.region)
    if run.object_bytes.value > chosen.known("import_size_threshold").value:
        own, gets = _s3(run, facts, None)
        if run.requests is None:
            return own, None
        looked_up = run.requests * (chosen.known("minimum_metadata_operation").value / GIB)
        return own, _sum(run.currency, gets, _times(looked_up, read_price))
    kept = most(run.dataset_bytes, Quantity.exact(run.objects * chosen.known("minimum_billable_file").value))
    own = _times(kept / GIB, facts.price(S3_FILES, "storage", run.region))
    brought = _times(
        most(run.dataset_bytes, Quantity.exact(run.objects * least)) / GIB,
        facts.price(S3_FILES, "write", run.region),
    )
    if run.read_bytes is None or run.requests is None:
        return own, None
    read = _times(most(run.read_bytes, run.requests * least) / GIB, read_price)
    return own, _sum(run.currency, read, brought)


def _way_to_s3(option: str, run: Run, facts: Facts) -> tuple[Quantity | None, Quantity | None]:
    """(transfer, KMS): what the way to the bucket and the keys of its encryption cost.  Saving is not counted."""
    if run.network_path not in ("nat", "other-region") and run.kms_calls is None:
        return _NOTHING_MORE, _NOTHING_MORE
    by_instances, out_of_bucket, requests = _read_from_s3(option, run, facts)
    transfer: Quantity | None = _NOTHING_MORE
    if run.network_path in ("nat", "other-region"):
        passing = by_instances if run.network_path == "nat" else out_of_bucket
        price = facts.price("network", run.network_path, run.region)
        if passing is not _NOTHING_MORE:
            transfer = None if passing is None else _times(passing / GIB, price)
    kms: Quantity | None = _NOTHING_MORE
    if run.kms_calls is not None:
        price = facts.price("encryption", "kms", run.region)
        kms = None if requests is None else _times(requests * run.kms_calls / 1000.0, price)
    return transfer, kms


def _read_from_s3(option: str, run: Run, facts: Facts) -> tuple[Quantity | None, Quantity | None, Quantity | None]:
    """(bytes through the instances' own way, bytes out of the bucket, requests to the bucket) of the whole run.

    File systems are filled once and inside AWS; a directory bucket is filled once as well, but read over the same way.
    """
    small = run.object_bytes.value <= facts.options[S3_FILES].known("import_size_threshold").value
    if option == S3 or (option == S3_FILES and not small):
        return run.read_bytes, run.read_bytes, run.requests
    return run.read_bytes if option == EXPRESS else _NOTHING_MORE, run.dataset_bytes, Quantity.exact(run.objects)


def _times(amount: Quantity, price: Quantity | None) -> Quantity | None:
    return None if price is None else amount * price


_OPTIONS = {S3: _s3, EXPRESS: _express, FSX: _fsx, S3_FILES: _s3_files}
