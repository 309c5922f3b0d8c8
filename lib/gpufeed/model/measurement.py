"""What a storage was measured to do, under which conditions, and what that may be used for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, TypeVar

from gpufeed.facts.errors import InputError
from gpufeed.facts.messages import Sentence
from gpufeed.facts.quantity import Quantity
from gpufeed.model.histogram import Histogram
from gpufeed.model.kind import expect

T = TypeVar("T")

SCHEMA_VERSION = 1
LOCAL_DISK = "instance-nvme"
TOOLS = (
    "gpufeed", "fio", "warp", "elbencho", "mlperf-storage", "dd", "aws-cli", "cloudwatch", "nvidia-smi", "dcgm",
    "pytorch-profiler", "s3-benchmark",
)  # fmt: skip
STATUSES = ("ok", "partial", "failed", "no-measurement")
LIMITS = ("storage", "client", "network", "unknown")

# A share of failed requests above which a step is no evidence of what the storage gives.
MOST_ERRORS = 0.01
# Burst credits of file systems last minutes: what was seen for a shorter time calibrates, it does not decide.
DECIDES_FROM_SECONDS = 30.0
# A rate this much above the network card's did not come through it.
BEYOND_CARD = 1.05
TOO_MUCH = 1e24  # bytes, requests, seconds, money: no measured number is as large

# Object sizes count as the same within this factor.
SAME_SIZE_FACTOR = 2.0


@dataclass(frozen=True, slots=True)
class Record:
    """One load and what it got.  Times in seconds (``at``: since 1970, UTC), sizes in bytes; None is "not known"."""

    op: str  # "read" | "write"
    bytes_per_s: float | None
    ops_per_s: float | None = None
    object_bytes: float | None = None  # mean size of the objects
    concurrency: int | None = None  # requests in flight, all nodes together
    p50: float | None = None
    p99: float | None = None
    errors: int | None = None  # requests that failed after their retries
    throttled: int | None = None  # answers 503 or 429
    at: float | None = None
    seconds: float | None = None
    target: str | None = None
    nodes: int | None = None
    cache: str = "unknown"  # "cold" | "warm" | "unknown"
    working_set_bytes: float | None = None
    sustained: bool = False  # the rate of the second half was that of the first
    series: tuple[tuple[float, float], ...] = ()  # (at, bytes/s)
    requests: int | None = None
    request_bytes: float | None = None  # mean bytes of one request
    retries: int | None = None
    client_cpu_seconds_per_request: float | None = None
    client_cpu_share: float | None = None  # of all cores
    client_thread_share: float | None = None  # of one core: what the reading threads used under the interpreter lock
    latency: Histogram | None = None

    @property
    def trustworthy(self) -> bool:
        """Few enough requests failed that the rate says something."""
        if self.requests is None:  # not every tool says how many there were
            return bool(self.bytes_per_s) and not self.errors
        return self.requests > 0 and (self.errors or 0) <= MOST_ERRORS * (self.requests + (self.errors or 0))


@dataclass(frozen=True, slots=True)
class Conditions:
    """What must be known to use a measurement elsewhere."""

    option: str | None = None  # which option of the catalogue was measured; None: not known
    client: str | None = None
    host: str | None = None
    cores: float | None = None
    network_bytes_per_s: float | None = None  # the network card's rated speed
    same_machine: bool = False  # the bytes came from this machine's own server or memory
    sampled_objects: int | None = None
    unreadable_keys: int = 0  # keys that this client cannot ask for
    requests_sent: int | None = None
    cost: float | None = None  # currency of the price list; None: not priced
    budget: float | None = None
    currency: str | None = None


@dataclass(frozen=True, slots=True)
class Measurement:
    """A result.  ``records`` never overlap: the rates of one op add up to the whole.  ``sweep`` holds alternatives.

    ``failure`` is the sentence that says why there is none, when ``status`` is "failed" or "no-measurement".
    """

    tool: str
    status: str
    records: tuple[Record, ...] = ()
    limited_by: str = "unknown"
    warnings: tuple[Sentence, ...] = ()
    sweep: tuple[Record, ...] = ()
    conditions: Conditions = Conditions()
    failure: Sentence | None = None

    @property
    def read_bytes_per_s(self) -> float | None:
        """Measured read rate [bytes/s], the sum over the records; None when nothing was read."""
        return _total(record.bytes_per_s for record in self.records if record.op == "read")

    @property
    def read_requests_per_s(self) -> float | None:
        return _total(record.ops_per_s for record in self.records if record.op == "read")

    @property
    def in_flight(self) -> int | None:
        """Requests in flight while the read rate was measured, all records together; None where one does not say."""
        each = [record.concurrency for record in self.records if record.op == "read"]
        return None if None in each else sum(one for one in each if one is not None)

    @property
    def beyond_network(self) -> bool:
        """Whether more was read than the network cards carry: then memory or a local disk answered."""
        card, rate = self.conditions.network_bytes_per_s, self.read_bytes_per_s
        nodes = sum(record.nodes or 1 for record in self.records if record.op == "read")
        return card is not None and rate is not None and rate > BEYOND_CARD * card * nodes

    @property
    def option(self) -> str | None:
        """The option that was measured: stated, or told by the address; None: not known, or this machine itself."""
        if self.conditions.same_machine:
            return None
        if self.conditions.option is not None:
            return self.conditions.option
        targets = {record.target for record in self.records}
        if len(targets) != 1 or not (target := targets.pop()) or not target.startswith("s3://"):
            return None
        bucket = target.removeprefix("s3://").partition("/")[0]
        return "s3-express-one-zone" if bucket.endswith("--x-s3") else "s3-standard"

    @property
    def least_queued(self) -> tuple[float, float] | None:
        """(bytes of a request, median seconds) of the read step with the fewest in flight; None if none has both."""
        steps = [
            (record.concurrency or 1, record.request_bytes or record.object_bytes, record.p50)
            for record in self.sweep or self.records
            if record.op == "read" and record.trustworthy
        ]
        timed = [(in_flight, size, p50) for in_flight, size, p50 in steps if size and p50]
        if not timed:
            return None
        _, size, p50 = min(timed)
        return size, p50

    def used_as(
        self,
        option: str,
        object_bytes: float | None,
        nodes: int,
        *,
        in_flight: float | None = None,
        network_bytes_per_s: float | None = None,
    ) -> str:
        """ "decision", "calibration" or "shown-only": what this may be for a question about ``option``.

        It decides only when it was sustained, cold, taken on the same option, object sizes and number of nodes, and
        limited by what would limit the job too: the storage, a network card as fast as the job's [bytes/s of a node],
        or, where nobody knows, no fewer requests ``in_flight`` than the job has.  This machine's own memory is never
        evidence of an option, nor is a rate that the network card cannot carry.
        """
        reads = [record for record in self.records if record.op == "read" and record.bytes_per_s]
        memory = self.conditions.same_machine or any(record.cache == "warm" for record in reads)
        memory = memory or (self.beyond_network and option != LOCAL_DISK)
        if not reads or memory or self.option != option:
            return "shown-only"
        decides = (
            self.status == "ok"
            and self._limited_as_the_job(in_flight, network_bytes_per_s)
            and sum(record.nodes or 1 for record in reads) == nodes
            and all(_decides(record, object_bytes) for record in reads)
        )
        return "decision" if decides else "calibration"

    def _limited_as_the_job(self, in_flight: float | None, network_bytes_per_s: float | None) -> bool:
        if self.limited_by == "network":
            card = self.conditions.network_bytes_per_s
            return card is not None and network_bytes_per_s is not None and card >= network_bytes_per_s
        if self.limited_by == "unknown":
            had = self.in_flight
            return had is not None and in_flight is not None and had >= in_flight
        return self.limited_by == "storage"

    def to_json(self) -> dict[str, Any]:
        """The object that ``probe --json`` prints and :meth:`from_json` reads."""
        document: dict[str, Any] = {
            "schema_version": SCHEMA_VERSION,
            "tool": self.tool,
            "status": self.status,
            "records": [_record_json(record) for record in self.records],
            "limited_by": self.limited_by,
            "warnings": [_note_json(note) for note in self.warnings],
            "sweep": [_record_json(record) for record in self.sweep],
            "conditions": asdict(self.conditions),
        }
        if self.failure is not None:
            document["failure"] = _note_json(self.failure)
        return document

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Measurement:
        """Read what :meth:`to_json` wrote.  Raises InputError when ``document`` is not a measurement."""
        expect(document, "measurement")
        try:
            if document.get("schema_version", SCHEMA_VERSION) != SCHEMA_VERSION:
                raise InputError("measurement.version", found=document["schema_version"], expected=SCHEMA_VERSION)
            failure = document.get("failure")
            return cls(
                tool=_one_of(TOOLS, document["tool"], "tool"),
                status=_one_of(STATUSES, document["status"], "status"),
                records=tuple(_record(row) for row in document["records"]),
                limited_by=_one_of(LIMITS, document["limited_by"], "limited_by"),
                warnings=tuple(_note(row) for row in document.get("warnings", ())),
                sweep=tuple(_record(row) for row in document.get("sweep", ())),
                conditions=_known(Conditions, document.get("conditions", {})),
                failure=_note(failure) if failure else None,
            )
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
            field = error.args[0] if isinstance(error, KeyError | ValueError) and error.args else "…"
            raise InputError("measurement.unreadable", field=field) from None


def headline(sweep: tuple[Record, ...]) -> Record | None:
    """The step a sweep stands for: the fastest sustained one without errors, else the fastest that got anything."""
    got = [record for record in sweep if record.bytes_per_s]
    good = [record for record in got if record.trustworthy]
    steady = [record for record in good if record.sustained]
    return max(steady or good or got, key=lambda record: record.bytes_per_s or 0.0, default=None)


def gpus_fed(measurement: Measurement, demand: Quantity) -> Quantity | None:
    """How many accelerators this storage feeds at full speed, when each asks for ``demand`` [bytes/s].

    n = measured read rate / demand per accelerator.  None when nothing was read, or when a demand bound is zero.
    """
    rate = measurement.read_bytes_per_s
    if rate is None or demand.low <= 0:
        return None
    return Quantity.exact(rate, "bytes/s", "measured").per(demand, "accelerators")


def concurrency_needed(measurement: Measurement, demand: float) -> int | None:
    """The smallest measured concurrency that gave ``demand`` [bytes/s]; None when none did."""
    enough = [
        record.concurrency
        for record in measurement.sweep or measurement.records
        if record.concurrency is not None and record.trustworthy and (record.bytes_per_s or 0.0) >= demand
    ]
    return min(enough, default=None)


def _decides(record: Record, object_bytes: float | None) -> bool:
    measured = record.object_bytes
    return (
        record.sustained
        and record.trustworthy
        and record.cache == "cold"
        and (record.seconds or 0.0) >= DECIDES_FROM_SECONDS
        and bool(object_bytes and measured)
        and 1 / SAME_SIZE_FACTOR <= (object_bytes or 0.0) / (measured or 1.0) <= SAME_SIZE_FACTOR
    )


def _total(numbers: Any) -> float | None:
    known = [number for number in numbers if number is not None]
    return sum(known) if known else None


def _record_json(record: Record) -> dict[str, Any]:
    row = {item.name: getattr(record, item.name) for item in fields(record)}
    row["series"] = [list(point) for point in record.series]
    row["latency"] = record.latency.to_json() if record.latency is not None else None
    return row


def _record(row: Mapping[str, Any]) -> Record:
    record = _known(Record, row)
    series = tuple((float(at), float(rate)) for at, rate in row.get("series", ()))
    if not all(0 <= number < TOO_MUCH for point in series for number in point):
        raise ValueError("series")
    return replace(
        record,
        op=_one_of(("read", "write"), record.op, "op"),
        cache=_one_of(("cold", "warm", "unknown"), record.cache, "cache"),
        series=series,
        latency=Histogram.from_json(row["latency"]) if row.get("latency") is not None else None,
    )


def _note_json(note: Sentence) -> dict[str, Any]:
    return {"id": note.message_id, "text": str(note), "parameters": dict(note.parameters)}


def _note(row: Mapping[str, Any]) -> Sentence:
    note = Sentence(row["id"], row.get("parameters", {}))
    str(note)  # what cannot be said is no note
    return note


def _known(cls: type[T], row: Mapping[str, Any]) -> T:
    """``cls`` from the fields it has: fields that a later version added are passed over."""
    types = {item.name: str(item.type) for item in fields(cls)}  # type: ignore[arg-type]  # both are dataclasses
    known = {name: value for name, value in row.items() if name in types}
    for name, value in known.items():
        if not _fits(value, types[name]):
            raise ValueError(name)
    return cls(**known)


_TYPES: Mapping[str, tuple[type, ...]] = {"str": (str,), "bool": (bool,), "int": (int,), "float": (int, float)}


def _fits(value: Any, annotation: str) -> bool:
    """Whether a value of JSON is what a field holds; numbers are 0 or more, and finite."""
    wanted, _, optional = annotation.partition(" | ")
    if value is None:
        return bool(optional)
    if wanted not in _TYPES:
        return True  # read apart
    if type(value) not in _TYPES[wanted]:
        return False
    return not isinstance(value, int | float) or 0 <= value < TOO_MUCH


def _one_of(allowed: tuple[str, ...], value: Any, name: str) -> str:
    if value not in allowed:
        raise ValueError(name)
    return str(value)
