"""What each option gives a job: every ceiling that applies, and which of them binds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from gpufeed.facts import Facts
from gpufeed.facts.quantity import Quantity, least, most
from gpufeed.model import formulas
from gpufeed.model.frozen import changed, frozen
from gpufeed.model.fsx import Configuration, server_connections
from gpufeed.model.recommendation import Supply
from gpufeed.model.rules import EXPRESS, FSX, MOUNTPOINT, S3, S3_FILES


class Parts(NamedTuple):
    """In which parts a checkpoint is saved to a bucket and read again.  Bytes."""

    part: Quantity
    sent: Quantity  # of a save: a part, or all that a rank saves where that is less
    under_way: Quantity  # of a save: at once, all nodes together
    each_request: Quantity  # of a save: for each request, the last part and what opens and closes the upload among them


@frozen
class Load:
    """How the job reads and writes: what a supply depends on.  Sizes in bytes."""

    nodes: int
    request_bytes: Quantity  # one read
    object_bytes: Quantity  # one object: below the part size a read opens an object of its own
    in_flight: Quantity | float  # reads under way at once, all nodes together
    writers: Quantity | float  # parts under way at once while a checkpoint is saved, all nodes together
    prefixes: int
    s3_network: Quantity | None  # bytes/s of one node towards S3
    file_network: Quantity | None  # bytes/s of one node towards a file system (ENA)
    efa_network: Quantity | None  # bytes/s of one node over EFA; None where it has none towards FSx for Lustre
    operations: frozenset[str] = frozenset()
    mounted: str = S3  # the bucket behind Mountpoint
    nat: Quantity | None = None  # bytes/s through a NAT gateway, all nodes together; None without one
    kms_requests: Quantity | None = None  # S3 requests/s that KMS allows; None where S3 does not ask it
    part_bytes: Quantity | None = None  # one part of a checkpoint; None: as clients make them
    bytes_per_put: Quantity | None = None  # of a save, for each of its requests; None: those of a part
    on_s3: Parts | None = None  # the same of a bucket, whose clients are told a part size; None: as elsewhere
    on_express: Parts | None = None  # of a directory bucket
    saved_under: int | None = None  # key prefixes that saves to S3 are spread over; None: the default number
    writing_ranks: int | None = None  # ranks that save a checkpoint; None: as many as there are
    jobs: int = 1  # that share what is not theirs alone; every other number here is one job's
    whole: bool = False  # a checkpoint read as a whole, whose share of every ceiling counts its cards: model/checkpoint
    possible_prefixes: Quantity | None = None  # their number with its range, where nobody stated it
    processes: float = 1  # that read, each with a client of its own, all nodes together
    client: str | None = None  # what each of them reads a bucket with; None: not named, and taken to be no boto3

    @property
    def writing_nodes(self) -> int:
        """Nodes whose network cards carry a save: ranks that save are taken to be spread over the nodes."""
        return self.nodes if self.writing_ranks is None else min(self.nodes, self.writing_ranks)

    def share_of(self, everything: Quantity) -> Quantity:
        """What one job has of it while all of them use it at once."""
        return everything if self.jobs == 1 else everything.per(self.jobs, everything.unit)

    def parts_on(self, place: str) -> Parts | None:
        """In which a checkpoint is saved there; None: as clients make them."""
        return self.on_s3 if place == S3 else self.on_express if place == EXPRESS else None

    @property
    def opens_an_object(self) -> bool:
        """Most reads are a whole object, so each costs an open and a metadata operation.

        Of an object in two parts half of the reads open one; where sizes differ, requests are smaller than the mean
        object though nearly all of them are whole ones.
        """
        return 2 * self.request_bytes.value > self.object_bytes.value


def supply(option: str, load: Load, facts: Facts, configuration: Configuration | None = None) -> Supply:
    """The least of all ceilings of one option for this load.

    Where several jobs use it at once, each has an equal share of what they share (requests, disks, a NAT gateway, calls
    to KMS), and its own connections, clients and network cards to itself.

    ``limits`` names every ceiling that could be computed, in bytes/s; a network card that is not known is left out and
    is a warning of the recommendation, not a silent pass.
    """
    # That of a file system is worked out as soon as two of its configurations are compared.
    work_out = _kept if configuration is None else _supply
    return work_out(option, load, facts, configuration)


def _supply(option: str, load: Load, facts: Facts, configuration: Configuration | None) -> Supply:
    load = _as_asked(option, load)
    limits, request_seconds, write, settings = _OPTIONS[option](load, facts, configuration)
    over_efa = configuration is not None and configuration.efa
    network = load.file_network if option in (FSX, S3_FILES) else load.s3_network
    if over_efa:
        network = load.efa_network
    if network is not None:
        card = network.times(load.nodes, "bytes/s")
        if not load.whole and not over_efa:
            card = card.times(facts.model.parts["network"].known("card_share"), "bytes/s")
        limits["network-card"] = card
        write = least(write, network.times(load.writing_nodes, "bytes/s"))
    if option in (S3, EXPRESS):
        limits |= _client_processes(load, facts)
    read = least(*limits.values())
    limited_by = min(limits, key=lambda name: limits[name].value)
    return Supply(option, settings, read, write, limited_by, limits, request_seconds)


def _as_asked(option: str, load: Load) -> Load:
    """The load with a checkpoint in the parts that are chosen for its bucket; elsewhere they are what clients make."""
    parts = load.parts_on(lies_on(option, load.mounted))
    if parts is None:
        return load
    part, sent, under_way, each_request = parts
    load = changed(load, on_s3=None, on_express=None)
    if load.whole:
        return changed(load, request_bytes=part, object_bytes=part * 2.0)
    return changed(load, part_bytes=sent, writers=under_way, bytes_per_put=each_request)


@frozen
class Bulk:
    """Large reads of all ranks at once from one option: a checkpoint, or the weights that a job starts from."""

    rate: Quantity  # bytes/s
    first_byte: Quantity  # seconds
    each: Quantity  # bytes/s of one request
    part: float  # bytes of one request, where there is that much to read

    def seconds(self, size: Quantity, piece: float, facts: Facts) -> Quantity:
        """Until all of it is read, and no less than one request takes; ``piece`` is what one reader reads [bytes].

        References: mlperf-storage-checkpoints-v3.0, fsx-gds-blog, megatron-scaling-paper.
        """
        whole = formulas.whole_checkpoint_seconds(size, self.rate, facts.model.known("checkpoint_rate_share"))
        part = min(piece, self.part)
        if whole.low > self.first_byte.high + part / self.each.low:
            return whole
        one = formulas.request_seconds(Quantity.exact(part, "bytes"), self.first_byte, self.each)
        return most(whole, one)


def bulk(option: str, load: Load, facts: Facts, configuration: Configuration | None = None) -> Bulk:
    """What an option gives to a ``load`` of large reads."""
    load = _as_asked(option, load)
    given, chosen = supply(option, load, facts, configuration), facts.options[served_by(option, load, facts)]
    if given.read_bytes_per_s is None:
        raise ValueError(f"no rate of {option} is known")
    first = chosen.known("first_byte_latency") if configuration is None else configuration.first_byte_latency
    return Bulk(given.read_bytes_per_s, first, chosen.known("per_request_read"), load.request_bytes.value)


def _client_processes(load: Load, facts: Facts) -> dict[str, Quantity]:
    """What the processes that read a bucket move, whatever they have in flight; nothing where they are enough.

    The Python threads of boto3 share one interpreter, which moves so much and no more.  One process of another client
    reaches a share of its network card; what few of them leave, more of them take.
    References: s3bench, dvassallo-s3-benchmark, rust-forum-s3.
    """
    if load.client == BOTO3:
        each = facts.options[S3].known("per_process_boto3")
        return {"client-processes": each.times(load.processes, "bytes/s")}
    share = facts.model.parts["network"].known("card_share_of_one_process")
    if load.s3_network is None or share.low * load.processes >= load.nodes:
        return {}
    return {"client-processes": (load.s3_network * share).times(load.processes, "bytes/s")}


#: The client that reads in threads of one Python interpreter.
BOTO3 = "boto3"

#: A search for what would change a plan asks for the same again and again.
_kept = lru_cache(maxsize=64)(_supply)

#: The ceiling that the disks of a file system set.
DISKS = "file-system-throughput"
#: Ceilings that one request's time sets.
BY_TIME = ("request-latency", "mount-threads")


def calibrated(given: Supply, load: Load, request_bytes: float, seconds: float, facts: Facts) -> Supply:
    """The same supply with the time of one request as it was measured.

    ``seconds`` is the median time of a request of ``request_bytes`` with few others beside it.  What it was slower or
    faster than the model's own middle, requests of any size are taken to be.
    """
    chosen = facts.options[served_by(given.option, load, facts)]
    size = Quantity.exact(request_bytes, "bytes")
    modelled = formulas.request_seconds(size, chosen.known("first_byte_latency"), chosen.known("per_request_read"))
    factor = modelled.value / seconds
    limits = {
        name: Quantity.exact(limit.value * factor, limit.unit, "measured") if name in BY_TIME else limit
        for name, limit in given.limits.items()
    }
    read = least(*limits.values()).named("bytes/s")
    return changed(given, limits=limits, read_bytes_per_s=read, limited_by=min(limits, key=lambda n: limits[n].value))


def served_by(option: str, load: Load, facts: Facts) -> str:
    """The option whose latency and request limits a read meets: what is behind Mountpoint, or behind S3 Files.

    S3 Files brings files up to its import threshold onto its own storage and streams larger ones from S3.
    """
    if option == S3_FILES and load.object_bytes.value > facts.options[S3_FILES].known("import_size_threshold").value:
        return S3
    return lies_on(option, load.mounted)


def small_threshold(option: str, facts: Facts) -> Quantity:
    """The object size at which waiting is half of the time on this option [bytes]."""
    source = S3 if option == MOUNTPOINT else option
    chosen = facts.options[source]
    return formulas.half_time_size(chosen.known("first_byte_latency"), chosen.known("per_request_read"))


_Ceilings = tuple[dict[str, Quantity], Quantity, Quantity, Mapping[str, Any]]


def _request_time(option: str, load: Load, facts: Facts) -> Quantity:
    chosen = facts.options[option]
    return formulas.request_seconds(
        # Of its middle size: the rate that follows has the size above the fraction as well.
        load.request_bytes.middle(),
        chosen.known("first_byte_latency"),
        chosen.known("per_request_read"),
    )


def _at_rate(requests_per_s: Quantity, load: Load) -> Quantity:
    """A requests/s limit in bytes/s at this load's request size."""
    return requests_per_s.times(load.request_bytes.value, "bytes/s")


def _object_store(option: str, load: Load, facts: Facts, requests_per_s: Quantity, writes_per_s: Quantity) -> _Ceilings:
    """Reads and writes by the time of one request and by the requests that are allowed.

    A checkpoint is written in parts, and each part is a request of its own, which waits for its answer as a read does.
    What opens and closes the upload of a file counts towards the requests that are allowed, and so does a short last
    part: a request brings bytes of the file / its requests.
    Assumption: the published rate of an upload is that of a request while it sends, as AWS's client uses it beside a
    latency.  References: aws-transfer-manager-rs.
    """
    seconds = _request_time(option, load, facts)
    limits = {
        "request-latency": formulas.in_flight_rate(load.in_flight, load.request_bytes, seconds),
        "request-limit": _at_rate(load.share_of(requests_per_s), load),
    }
    chosen, part = facts.options[option], load.part_bytes or facts.model.known("part_bytes")
    each, sent = load.bytes_per_put or part, part.middle()
    of_a_part = formulas.request_seconds(sent, chosen.known("first_byte_latency"), chosen.known("per_request_write"))
    write = least(formulas.in_flight_rate(load.writers, sent, of_a_part), load.share_of(writes_per_s) * each)
    if load.nat is not None:
        limits["nat-bandwidth"] = nat = load.share_of(load.nat)
        write = least(write, nat)
    # A directory bucket always uses a bucket key, so KMS is asked next to nothing.
    if load.kms_requests is not None and option != EXPRESS:
        calls = load.share_of(load.kms_requests)
        limits["kms-requests"] = _at_rate(calls, load)
        write = least(write, calls * each)
    return limits, seconds, write, {}


def requests_of_saves(way: str, place: str, facts: Facts, prefixes: int | None = None) -> Quantity:
    """Requests/s of checkpoints that a bucket takes ("write") or gives ("read").

    The stated prefixes are those of the data: one checkpoint is taken to lie under the default number, unless others
    are given.  A directory bucket has one limit as a whole.  References: s3-performance, s3-express-performance.
    """
    chosen = facts.options[place]
    if place == EXPRESS:
        return chosen.known(f"{way}_requests_per_bucket")
    return chosen.known(f"{way}_requests_per_prefix") * (prefixes or facts.model.known("prefixes"))


def reads_of_prefixes(load: Load, facts: Facts) -> Quantity:
    """GET/s that S3 gives the key prefixes of the data, with the range of their number where nobody stated it."""
    return facts.options[S3].known("read_requests_per_prefix") * (load.possible_prefixes or load.prefixes)


def _s3(load: Load, facts: Facts, _: Configuration | None) -> _Ceilings:
    writes = requests_of_saves("write", S3, facts, load.saved_under)
    return _object_store(S3, load, facts, reads_of_prefixes(load, facts), writes)


def _express(load: Load, facts: Facts, _: Configuration | None) -> _Ceilings:
    reads, writes = (requests_of_saves(way, EXPRESS, facts) for way in ("read", "write"))
    return _object_store(EXPRESS, load, facts, reads, writes)


def _mountpoint(load: Load, facts: Facts, _: Configuration | None) -> _Ceilings:
    """The bucket that is mounted, behind at most ``max_threads`` operations per node.

    Large objects are prefetched in parts, so the thread limit holds only for reads that open an object of their own.
    A mount that can append (--incremental-upload) writes each file part after part, one at a time.
    References: mountpoint-semantics.
    """
    backing = served_by(MOUNTPOINT, load, facts)
    if "append" in load.operations and load.writing_ranks is not None:
        load = changed(load, writers=load.writing_ranks)
    limits, seconds, write, _settings = (_s3 if backing == S3 else _express)(load, facts, None)
    if load.opens_an_object:
        if backing == S3:
            seconds = _request_time(MOUNTPOINT, load, facts)
        threads = facts.options[MOUNTPOINT].known("maximum_threads").value * load.nodes
        limits["mount-threads"] = formulas.in_flight_rate(min(load.in_flight, threads), load.request_bytes, seconds)
    return limits, seconds, write, {}


def mountpoint_backing(operations: frozenset[str]) -> str:
    """What has to be mounted, at least: files can be renamed and appended to through Mountpoint only on a directory
    bucket, and replaced on either.
    """
    return EXPRESS if operations - {"overwrite"} else S3


def lies_on(option: str, mounted: str) -> str:
    """What keeps the bytes, which decides how long they last and what they cost: the bucket behind Mountpoint."""
    return mounted if option == MOUNTPOINT else option


def _s3_files(load: Load, facts: Facts, _: Configuration | None) -> _Ceilings:
    """NFS in front of a bucket: small files from its own storage, others with S3's latency and request limit."""
    chosen, source = facts.options[S3_FILES], served_by(S3_FILES, load, facts)
    seconds = _request_time(source, load, facts)
    limits = {
        "request-latency": formulas.in_flight_rate(load.in_flight, load.request_bytes, seconds),
        "client-limit": chosen.known("per_client_read").times(load.nodes, "bytes/s"),
        "read-operations": _at_rate(load.share_of(chosen.known("read_iops")), load),
    }
    if source == S3:
        from_bucket, *_others = _s3(load, facts, None)
        limits |= {name: limit for name, limit in from_bucket.items() if name != "request-latency"}
    write = load.share_of(chosen.known("aggregate_write"))
    return limits, seconds, _by_streams(S3_FILES, write, load, facts), {}


def _fsx(load: Load, facts: Facts, configuration: Configuration | None) -> _Ceilings:
    if configuration is None:
        raise ValueError("FSx for Lustre has no supply without a configuration")
    seconds = formulas.request_seconds(
        load.request_bytes.middle(), configuration.first_byte_latency, facts.options[FSX].known("per_request_read")
    )
    each = _per_client(facts, efa=configuration.efa)
    limits = {
        "request-latency": formulas.in_flight_rate(load.in_flight, load.request_bytes, seconds),
        DISKS: load.share_of(configuration.read_bytes_per_s),
        "client-limit": each.times(load.nodes, "bytes/s"),
    }
    if load.opens_an_object:
        limits["metadata-operations"] = _at_rate(load.share_of(configuration.opens_per_s), load)
    # What one client reaches holds in either direction.
    write = least(load.share_of(configuration.write_bytes_per_s), each.times(load.writing_nodes, "bytes/s"))
    if configuration.servers is not None and not configuration.efa:
        limits["server-connections"] = server_connections(configuration.servers, load.nodes, facts)
        write = least(write, server_connections(configuration.servers, load.writing_nodes, facts))
    return limits, seconds, _by_streams(FSX, write, load, facts), configuration.settings


@lru_cache(maxsize=8)  # it depends on the facts alone
def _per_client(facts: Facts, *, efa: bool) -> Quantity:
    """bytes/s of one client; over EFA the high end is with GPUDirect Storage, which a loader has to be written for."""
    chosen = facts.options[FSX]
    if not efa:
        return chosen.known("per_client_read")
    plain, direct = chosen.known("per_client_read_efa"), chosen.known("per_client_read_efa_gds")
    return plain._replace(high=direct.high, sources=plain.sources | direct.sources)


def _by_streams(option: str, write: Quantity, load: Load, facts: Facts) -> Quantity:
    """A write rate, or what the ranks that save reach with one file each where that may be less."""
    if load.writing_ranks is None:
        return write
    streams = facts.options[option].known("per_request_write").times(load.writing_ranks, "bytes/s")
    return write if streams.low >= write.high else least(write, streams)


_OPTIONS: dict[str, Callable[[Load, Facts, Configuration | None], _Ceilings]] = {
    S3: _s3,
    EXPRESS: _express,
    MOUNTPOINT: _mountpoint,
    S3_FILES: _s3_files,
    FSX: _fsx,
}
