"""What an option costs for the run, line by line: storage, requests, bytes, and the GPUs that wait for it.

A line is an amount in billing units × a price; every sum is the sum of its lines.  Left out, because they do not
depend on the option: the instances themselves while they are fed, backups, and storage in S3 of the weights that a job
starts from.  Left out, because it is small beside
what the GPUs cost then: storage for the time by which waiting makes the run longer.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache

from gpufeed.facts import Facts
from gpufeed.facts.quantity import Quantity, least, most
from gpufeed.model import formulas
from gpufeed.model.frozen import frozen
from gpufeed.model.fsx import GIB, Configuration
from gpufeed.model.recommendation import BEFORE, WHILE_READING, Cost, CostLine, Evaluation, FirstEpoch
from gpufeed.model.rules import EXPRESS, FSX, MOUNTPOINT, S3, S3_FILES
from gpufeed.model.supply import lies_on
from gpufeed.model.traffic import waiting_hours
from gpufeed.model.upload import gets_of, puts_of


@frozen
class Run:
    """What a run moves and keeps.  Sizes in bytes; ``read_bytes`` and ``requests`` are those of the whole run.

    ``gets_once`` and ``puts_once`` are the requests that move the data set once.
    """

    region: str
    currency: str
    hours: float
    dataset_bytes: Quantity
    objects: float
    object_bytes: Quantity
    read_bytes: Quantity | None
    requests: Quantity | None
    gpu_hour_price: Quantity | None  # of the whole cluster
    gets_once: Quantity = Quantity.exact(0.0, "requests")
    puts_once: Quantity = Quantity.exact(0.0, "requests")
    gpu_price_elsewhere: Quantity | None = None  # where it is not known: the same by the prices of other Regions
    by_capacity_block: bool = False  # the price of an hour is that of a Capacity Block, not on demand
    operations: frozenset[str] = frozenset()
    network_path: str | None = None
    kms_calls: Quantity | None = None  # calls to KMS for one request to S3; None without SSE-KMS
    discount: float = 0.0  # share off every price but that of instances
    evaluation: Evaluation | None = None  # what its evaluations read is in ``read_bytes`` and ``requests``
    trained_bytes: Quantity | None = None  # of ``read_bytes``, what training reads; None: all
    training: float | None = None  # of ``hours``, those of training; None: all, there are no evaluations
    jobs: int = 1  # that share the data set, its copies and the file system
    uploads: bool = False  # the data set is not in S3 yet
    touched_bytes: Quantity | None = None  # what is brought into a file system at all; None: the whole data set
    weights: Quantity | None = None  # one copy of what the job starts from; None: it starts from nothing
    weights_read: Quantity | None = None  # of them by all instances, at the start

    @property
    def training_hours(self) -> float:
        """Of the run at full GPU speed, without its evaluations."""
        return self.hours if self.training is None else self.training

    @property
    def read_in_all(self) -> Quantity | None:
        """Bytes: samples, and the weights at the start."""
        return self.read_bytes if self.weights_read is None else _plus(self.read_bytes, self.weights_read)

    @property
    def weighed_gpu_price(self) -> Quantity | None:
        """By which options are compared."""
        return self.gpu_price_elsewhere if self.gpu_hour_price is None else self.gpu_hour_price

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
            price = (price * (1.0 - self.run.discount)).named(price.unit)
        amount = None
        if quantity is not None and price is not None:
            amount = quantity.times(price, self.run.currency)
        if here is None:
            return CostLine(line_id, part, unit, quantity, None, None, elsewhere=amount, option=option)
        return CostLine(line_id, part, unit, quantity, price, amount, option=option)


@lru_cache(maxsize=16)  # the bill of every option has the data set in it
def stored(bill: Bill, line_id: str, part: str, held: Quantity, above: Quantity | None = None) -> tuple[CostLine, ...]:
    """``held`` bytes in S3 Standard for the run, one line for each graduated band that they reach.

    A band is a monthly amount: from ``held`` that lies in it, for as many months as the run lasts.  What lies there
    already (``above``, at its middle) fills the bands before.  What several jobs hold, each its own, goes on top
    together, and each bears its part; a line that they share holds that of all of them already.
    """
    jobs = 1 if SHARED[line_id] else bill.run.jobs
    of_all = held if jobs == 1 else held * jobs
    below = 0.0 if above is None else above.value
    return tuple(
        bill.line(line_id, part, S3, "storage", in_band / jobs * bill.months, at=from_gib)
        for from_gib, in_band in _in_bands(of_all, below, bill.run.region, bill.facts)
    )


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
    # What fills a copy is in these, too, and is divided where it is counted (:func:`_read_from_s3`).
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


def cost(
    option: str,
    run: Run,
    fed: Quantity | None,
    facts: Facts,
    configuration: Configuration | None,
    *,
    evaluation_fed: Quantity | None = None,
    weights_seconds: Quantity | None = None,
    first: FirstEpoch | None = None,
) -> Cost:
    """Every line that can be priced, and the sums.

    ``weights_seconds`` is how long the GPUs wait at the start until the weights are on all instances.

    The data set always lies in S3 (rule ``durable-base``), so that storage is part of each option's storage; the
    ``beyond_base`` total leaves it out, which is what options are compared by.
    """
    # That of a file system is worked out as soon as two of its configurations are compared.
    work_out = _kept if configuration is None else _cost
    more = {"evaluation_fed": evaluation_fed, "weights_seconds": weights_seconds}
    return work_out(option, run, fed, facts, configuration, **more, first=first)


def _cost(
    option: str,
    run: Run,
    fed: Quantity | None,
    facts: Facts,
    configuration: Configuration | None,
    *,
    evaluation_fed: Quantity | None,
    weights_seconds: Quantity | None,
    first: FirstEpoch | None,
) -> Cost:
    bill = bill_of(run, facts)
    backing = lies_on(option, run.operations)
    lines = (
        *stored(bill, "base-storage", "base", run.dataset_bytes),
        *_uploaded(bill),
        *_OPTIONS[backing](bill, configuration),
        *(_lookups(bill, backing) if option == MOUNTPOINT else ()),
        *_way_to_s3(bill, backing),
        _idle(run, fed),
        *_in_evaluations(run, evaluation_fed),
        *_for_weights(run, weights_seconds),
        *(() if first is None else filling_lines(first.way, option, bill, first, configuration)),
    )
    return summed(run.currency, bill.months, lines)


#: A search for what would change a plan asks for the same again and again.
_kept = lru_cache(maxsize=64)(_cost)


def summed(currency: str, months: float, lines: tuple[CostLine, ...]) -> Cost:
    """The sums over a bill.  A sum over a line without an amount is None: half a total would look like a whole one."""
    of_part: dict[str, list[Quantity | None]] = {part: [] for part in PARTS}
    for line in lines:
        of_part[line.part].append(line.amount)
    base, own, requests, transfer, kms, idle, loading = (_sum(currency, amounts) for amounts in of_part.values())
    storage, beyond = _sum(currency, (base, own)), _sum(currency, (own, requests, transfer, kms, loading, idle))
    return Cost(
        currency=currency,
        storage_per_month=None if storage is None else (storage / months).named(f"{currency}/month"),
        storage=storage,
        requests=requests,
        idle_gpu=idle,
        total=_sum(currency, (beyond, base)),
        beyond_base=beyond,
        transfer=transfer,
        kms=kms,
        loading=loading,
        months=months,
        not_priced=tuple(dict.fromkeys(line.id for line in lines if line.amount is None)),
        lines=lines,
        elsewhere=None if beyond is not None else weighed_sum(currency, (it for it in lines if it.part != "base")),
    )


#: What the lines of a bill are summed by.
PARTS = ("base", "storage", "requests", "transfer", "kms", "idle-gpu", "loading")
_NOTHING = Quantity(0.0, 0.0, 0.0)


def sum_of(currency: str, lines: Iterable[CostLine]) -> Quantity | None:
    """What lines come to; None where one is without an amount."""
    return _sum(currency, (line.amount for line in lines))


def weighed_sum(currency: str, lines: Iterable[CostLine]) -> Quantity | None:
    """What lines come to where those without a price here count by the prices of other Regions."""
    return _sum(currency, (line.weighed for line in lines))


def _sum(currency: str, amounts: Iterable[Quantity | None]) -> Quantity | None:
    """Nothing is added to nothing: a part without lines costs 0."""
    total = _nothing(currency)
    for amount in amounts:
        if amount is None:
            return None
        if amount.high:
            total = total + amount if total.high else amount
    return total if total.unit == currency else total.named(currency)


@lru_cache(maxsize=8)
def _nothing(currency: str) -> Quantity:
    return _NOTHING.named(currency)


def _uploaded(bill: Bill) -> Iterator[CostLine]:
    """Bringing the data set to S3, where it is not there yet."""
    run = bill.run
    if run.uploads:
        yield bill.line("upload-puts", "requests", S3, "put", run.puts_once)
        if run.kms_calls is not None:
            yield bill.line("upload-kms", "kms", "encryption", "kms", run.puts_once * run.kms_calls)


def _idle(run: Run, fed: Quantity | None) -> CostLine:
    return waiting("idle-gpu", run, None if fed is None else formulas.idle_hours(run.training_hours, fed))


def _in_evaluations(run: Run, fed: Quantity | None) -> Iterator[CostLine]:
    if run.evaluation is not None:
        yield waiting("evaluation-gpu", run, waiting_hours(run.training_hours, run.evaluation, fed))


def _for_weights(run: Run, seconds: Quantity | None) -> Iterator[CostLine]:
    """GPUs that wait at the start until the weights are on all instances.

    Assumption: once a run.  What a start after a failure reads again is left out, as the work that a failure loses is.
    """
    if run.weights_read is not None:
        yield waiting("weights-gpu", run, None if seconds is None else seconds / 3600.0)


def waiting(line_id: str, run: Run, hours: Quantity | None) -> CostLine:
    """Hours in which the GPUs wait × what the cluster costs an hour.  No such hour costs nothing, at any price."""
    amount, elsewhere, price = None, None, run.gpu_hour_price
    if hours is not None and hours.high == 0.0:
        amount = hours.named(run.currency)
    elif hours is not None and price is not None:
        amount = hours.times(price, run.currency)
    elif hours is not None and run.gpu_price_elsewhere is not None:
        elsewhere = (hours * run.gpu_price_elsewhere).named(run.currency)
    block = run.by_capacity_block
    return CostLine(
        line_id, "idle-gpu", "hour", hours and hours.named("hour"), price, amount, elsewhere, by_capacity_block=block
    )


def requests_price(option: str, item: str, requests: Quantity, region: str, facts: Facts) -> Quantity | None:
    """Requests × price per 1,000 requests / 1,000; None when not priced."""
    price = facts.price(option, item, region)
    return None if price is None else (requests * price / 1000.0).named("")


def _in_bands(held: Quantity, below: float, region: str, facts: Facts) -> Iterator[tuple[float, Quantity]]:
    """(where it begins [GiB], what of ``held`` lies in it) of each graduated band reached, on top of what is ``below``;
    of the first one in any case.
    """
    rows = facts.price_bands(S3, "storage", region)
    if not rows:
        yield 0.0, held
    for row in rows:
        low, high = row.band_from * GIB, None if row.band_to is None else row.band_to * GIB
        if (low < below + held.high or low <= below) and (high is None or below < high):
            yield row.band_from, _between(held, below, low, high)


def _between(held: Quantity, below: float, low: float, high: float | None) -> Quantity:
    """What of ``held``, which lies on top of ``below``, is between two bounds."""
    if low <= below and (high is None or below + held.high <= high):
        return held

    def within(amount: float) -> float:
        top = below + amount
        return max(0.0, (top if high is None else min(top, high)) - max(below, low))

    return Quantity(within(held.low), within(held.value), within(held.high), "", held.basis, held.sources)


# ---- the lines of each option ----------------------------------------------------------------------------------------


def _s3(bill: Bill, _: Configuration | None) -> Iterator[CostLine]:
    yield bill.line("gets", "requests", S3, "get", _requests(bill))
    yield bill.line("lists", "requests", S3, "list", _listings(bill))


def _requests(bill: Bill) -> Quantity | None:
    """Requests that read samples, and those that read the weights in parts."""
    requests = bill.run.requests
    return requests if bill.run.weights_read is None else _plus(requests, _of_weights(bill, bill.run.weights_read))


def _of_weights(bill: Bill, read: Quantity) -> Quantity:
    """Requests that read so much of the weights, a copy after the other, each in whole parts."""
    assert bill.run.weights is not None  # noqa: S101 - what is read is made of one copy
    once = bill.run.weights.value
    return read * (gets_of(once, bill.facts.model.known("part_bytes").value) / once)


def _plus(read: Quantity | None, more: Quantity) -> Quantity | None:
    return None if read is None else (read + more).named(read.unit)


def _listings(bill: Bill) -> Quantity | None:
    """LIST requests: all keys for each pass of the training over the data set, at least once."""
    page, run = bill.facts.options[S3].known("list_page_keys"), bill.run
    passes = _passes(run, run.trained_bytes or run.read_bytes)
    return None if passes is None else most(passes, Quantity.exact(1.0)) * math.ceil(run.objects / page.value)


def _passes(run: Run, read: Quantity | None) -> Quantity | None:
    """How many times ``read`` is the whole data set.  The data set is taken at its middle: it sizes the reads too."""
    return None if read is None else read / run.dataset_bytes.middle()


def _filling(bill: Bill, share: Quantity | None = None) -> CostLine:
    """One read of each object from S3, large ones in parts: what a copy of this share of the data set is filled by."""
    return bill.line("copy-gets", "requests", S3, "get", _with_weights(bill, share))


def _with_weights(bill: Bill, share: Quantity | None) -> Quantity:
    """Requests that read this share of the data set once, or all of it, and weights where a job starts from some."""
    data, weights = _of_all(bill.run.gets_once, share), bill.run.weights
    return data if weights is None else data + _of_weights(bill, weights)


def _of_all(amount: Quantity, share: Quantity | None) -> Quantity:
    return amount if share is None else amount * share


def _copied(run: Run) -> Quantity:
    """Bytes of a copy that the job reads from: the data set, and the weights where it starts from some."""
    return run.dataset_bytes if run.weights is None else run.dataset_bytes + run.weights


def _share_touched(run: Run) -> Quantity | None:
    """What of the data set a file system linked to S3 is ever filled with; None: all of it."""
    touched = run.touched_bytes
    if touched is None or touched == run.dataset_bytes or touched.low * run.jobs >= run.dataset_bytes.value:
        return None
    return least(touched * run.jobs / run.dataset_bytes.middle(), Quantity.exact(1.0))


def _express(bill: Bill, _: Configuration | None) -> Iterator[CostLine]:
    """A copy in the zone, put there once, and every byte read is charged."""
    run = bill.run
    copied = _copied(run)
    yield bill.line("own-storage", "storage", EXPRESS, "storage", copied * bill.months)
    yield _filling(bill)
    puts = run.puts_once
    if run.weights is not None:
        puts = puts + puts_of(run.weights.value, bill.facts)
    yield bill.line("copy-puts", "requests", EXPRESS, "put", puts)
    yield bill.line("copy-upload", "requests", EXPRESS, "upload", copied)
    yield bill.line("gets", "requests", EXPRESS, "get", _requests(bill))
    yield bill.line("retrieval", "requests", EXPRESS, "retrieval", run.read_in_all)
    yield bill.line("lists", "requests", EXPRESS, "list", _listings(bill))


def _lookups(bill: Bill, backing: str) -> Iterator[CostLine]:
    """What opening a file through Mountpoint asks of the bucket behind it, beside the reads.

    References: mountpoint-lookups.
    """
    chosen, passes = bill.facts.options[MOUNTPOINT], _passes(bill.run, bill.run.read_bytes)
    opened = None if passes is None else passes * bill.run.objects
    for item, each in (("list", "lookup_lists"), ("get", "lookup_heads")):
        lookups = None if opened is None else opened * chosen.known(each)
        yield bill.line(f"lookup-{item}s", "requests", backing, item, lookups)


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
    yield _filling(bill, _share_touched(bill.run))


def _imported(bill: Bill) -> bool:
    """Whether S3 Files brings these objects onto its own storage, and does not stream them from S3."""
    threshold = bill.facts.options[S3_FILES].known("import_size_threshold").value
    return bill.run.object_bytes.value <= threshold


def _kept_by_s3_files(bill: Bill) -> Quantity:
    least = bill.facts.options[S3_FILES].known("minimum_billable_file").value
    return most(bill.run.dataset_bytes, Quantity.exact(bill.run.objects * least))


def _s3_files(bill: Bill, _: Configuration | None) -> Iterator[CostLine]:
    """Small files are brought onto its own storage and read from there; larger ones are read from S3 directly.

    Bringing a file there is billed as a write.  Each read and each file is billed as at least the minimum; a direct
    read costs a metadata read beside the GET.  References: s3-files-metering.
    """
    run, chosen = bill.run, bill.facts.options[S3_FILES]
    if not _imported(bill):
        yield from _read_directly(bill, _requests(bill))
        return
    least = chosen.known("minimum_data_operation").value
    brought = most(run.dataset_bytes, Quantity.exact(run.objects * least))
    read = None
    if run.read_bytes is not None and run.requests is not None:
        read = most(run.read_bytes, run.requests * least)
    yield bill.line("own-storage", "storage", S3_FILES, "storage", _kept_by_s3_files(bill) * bill.months)
    yield _filling(bill)
    yield bill.line("file-imports", "requests", S3_FILES, "write", brought)
    yield bill.line("file-reads", "requests", S3_FILES, "read", read)
    if run.weights_read is not None:  # large files, which are not imported
        yield from _read_directly(bill, _of_weights(bill, run.weights_read))


def _read_directly(bill: Bill, requests: Quantity | None) -> Iterator[CostLine]:
    """Reads through S3 Files of what stays in the bucket."""
    each = bill.facts.options[S3_FILES].known("minimum_metadata_operation").value
    yield bill.line("gets", "requests", S3, "get", requests)
    yield bill.line("metadata-reads", "requests", S3_FILES, "read", None if requests is None else requests * each)


# ---- filling it from the bucket, before the GPUs start or while they read --------------------------------------------


def filling(option: str, run: Run, first: FirstEpoch, facts: Facts, configuration: Configuration | None) -> FirstEpoch:
    """The first epoch with what either way of filling the option costs, and the way that the plan takes.

    Nothing is loaded before where the GPUs surely wait for nothing.  Otherwise the way that costs less at worst: the
    rates are the least certain figures of a plan.  Left out: the small instance that loads, and the calendar time.
    """
    if first.load_seconds is None or (first.waits_seconds is not None and first.waits_seconds.high == 0.0):
        return first
    bill = bill_of(run, facts)
    lines_before, lines_waiting = (
        tuple(filling_lines(way, option, bill, first, configuration)) for way in (BEFORE, WHILE_READING)
    )
    before, waits = weighed_sum(run.currency, lines_before), weighed_sum(run.currency, lines_waiting)
    waiting_is_cheaper = before is not None and waits is not None and waits.high <= before.high
    return replace(
        first,
        load_cost=sum_of(run.currency, lines_before),
        waits_cost=sum_of(run.currency, lines_waiting),
        way=WHILE_READING if waiting_is_cheaper else BEFORE,
    )


def filling_lines(
    way: str | None, option: str, bill: Bill, first: FirstEpoch, configuration: Configuration | None
) -> Iterator[CostLine]:
    """What one way of filling an option costs: its own storage until the GPUs start, or GPUs that wait.

    A file system is paid for whole from its first hour on; the storage of S3 Files and of a directory bucket fills
    evenly, and half of it is paid for on the mean.
    """
    if way == WHILE_READING:
        waits = first.waits_seconds
        line = waiting("first-epoch-gpu", bill.run, None if waits is None else (waits / 3600.0).named("hour"))
        yield replace(line, at_most=True) if first.at_most else line
    if way != BEFORE or first.load_seconds is None:
        return
    months = first.load_seconds / 3600.0 / bill.facts.model.known("hours_per_month").value
    filled = lies_on(option, bill.run.operations)
    if filled in (S3_FILES, EXPRESS):
        held = _kept_by_s3_files(bill) if filled == S3_FILES else _copied(bill.run)
        line = bill.line("loading-storage", "loading", filled, "storage", held * months / 2.0)
        yield replace(line, at_most=first.at_most)
    elif configuration is not None:
        held = months * (configuration.capacity_gib * GIB)
        yield bill.line("loading-storage", "loading", FSX, "storage", held, kind=configuration.name)
        if configuration.ordered_iops:
            ordered = months * configuration.ordered_iops
            yield bill.line("loading-metadata-iops", "loading", FSX, "metadata-iops", ordered, kind=configuration.name)


# ---- the way to the bucket -------------------------------------------------------------------------------------------


def _way_to_s3(bill: Bill, option: str) -> Iterator[CostLine]:
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
    if option == S3 or (option == S3_FILES and not _imported(bill)):
        return run.read_in_all, run.read_in_all, _requests(bill)
    if option == S3_FILES:  # weights are large files, which the instances read from the bucket
        once, of_data, of_weights = run.dataset_bytes / run.jobs, run.gets_once / run.jobs, run.weights_read
        if of_weights is None:
            return _NOTHING, once, of_data
        return of_weights, once + of_weights, of_data + _of_weights(bill, of_weights)
    share = _share_touched(run) if option == FSX else None
    once = _of_all(run.dataset_bytes, share)
    once = once if run.weights is None else once + run.weights
    return run.read_in_all if option == EXPRESS else _NOTHING, once / run.jobs, _with_weights(bill, share) / run.jobs


_OPTIONS = {S3: _s3, EXPRESS: _express, FSX: _fsx, S3_FILES: _s3_files}
