"""Passes over the data: the first, which brings it in, and the later ones, which may find it near the GPUs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from gpufeed.facts import Facts
from gpufeed.facts.quantity import Quantity, least, most
from gpufeed.model import formulas
from gpufeed.model.frozen import frozen
from gpufeed.model.fsx import GIB, Configuration
from gpufeed.model.recommendation import (
    Caveat,
    CopyOnce,
    Demand,
    Evaluation,
    FirstEpoch,
    LaterEpochs,
    OptionAnswer,
    Placement,
    Reason,
    Supply,
)
from gpufeed.model.rules import EXPRESS, FSX, S3, S3_FILES
from gpufeed.model.supply import DISKS, Load, lies_on, reads_of_prefixes, served_by, supply
from gpufeed.model.workload import Workload

HOST_MEMORY = "host-memory"
SERVER_MEMORY = "file-server-memory"
#: Block size at which AWS states the random reads/s of instance drives [bytes].
DRIVE_BLOCK = 4096


@frozen
class Passes:
    """How often a run reads what, and what one node can keep of it.  Sizes in bytes, None: not known.

    Assumption: the sampler shuffles over the whole, so each node reads another random share in each epoch, and over a
    run everything.
    """

    bytes: Quantity  # one epoch: the working set, else the data set
    epochs: float | None  # as stated, or as many as the run makes; None: nothing is taken to be read again
    nodes: int
    memory: Quantity | None  # of one node
    page_cache: Quantity | None  # of that memory
    drives: Quantity | None  # NVMe of one node
    jobs: int  # that read the same
    drive_reads: Quantity | None  # random reads/s of one node's drives
    covered: Quantity | None = None  # of ``bytes``, what training reads; None: all, or more than can be known
    touched: Quantity | None = None  # of ``bytes``, what the run brings near; None: likewise
    at_random: bool = False  # reads do not follow the order in the files
    copied_by: tuple[Quantity, Quantity] | None = None  # (GET, PUT) requests that copy the data set into another bucket

    @property
    def later(self) -> float:
        """Epochs after the first; at least one, where there are any."""
        return 0.0 if self.epochs is None or self.epochs <= 1 else max(self.epochs - 1.0, 1.0)


def passes_of(workload: Workload, dataset: Quantity, facts: Facts) -> Passes:
    """Memory as stated, else as published for the instance type; of it, what programs leave free is assumed."""
    instance = facts.instances[workload.instance_type] if workload.instance_type else None
    memory = drives = reads = None
    if instance is not None:
        memory, reads = instance.quantity("host_memory"), instance.quantity("nvme_read_iops")
        count, size = instance.quantity("nvme_drives"), instance.quantity("nvme_drive_size")
        drives = None if count is None or size is None else size.times(count.value, "bytes")
    if workload.host_memory_bytes is not None:
        memory = Quantity.exact(workload.host_memory_bytes, "bytes")
    cache = None if memory is None else memory.times(facts.model.known("page_cache_share"), "bytes")
    working_set = workload.working_set_bytes
    read = dataset if working_set is None else Quantity.exact(working_set, "bytes")
    return Passes(
        bytes=read,
        epochs=workload.epochs,
        nodes=workload.instances,
        memory=memory,
        page_cache=cache,
        drives=drives,
        jobs=workload.jobs or 1,
        drive_reads=reads,
        at_random=workload.reads == "random",
    )


def covered(passes: Passes, read: Quantity | None) -> Quantity | None:
    """Bytes of one epoch's data that training reads, which reads ``read`` in all; None for all of them."""
    return None if read is None or read.value >= passes.bytes.value else least(passes.bytes, read)


def touched(
    workload: Workload, passes: Passes, evaluation: Evaluation | None, *, opens_an_object: bool
) -> Quantity | None:
    """Bytes of one epoch's data that the run brings near; None for all of them.

    What training covers, and what evaluations read, each time the same.  Reads at random inside larger files soon touch
    all the files, and files are brought near as a whole.
    """
    if passes.covered is None or (workload.reads == "random" and not opens_an_object):
        return None
    return passes.covered if evaluation is None else least(passes.bytes, passes.covered + evaluation.bytes)


def first_epoch(
    given: Supply,
    own: Quantity | None,
    demand: Demand,
    passes: Passes,
    load: Load,
    *,
    facts: Facts,
    configuration: Configuration | None,
    run_seconds: float,
    weights: Quantity | None = None,
    bulk: Quantity | None = None,
) -> FirstEpoch:
    """The pass that finds nothing near: an option that is filled from S3 as it is read gives no more than that.

    ``own`` is how fed the option keeps the GPUs by itself.  Equation: seconds = bytes / (demand × fed); a run that ends
    before (``run_seconds`` of training at full GPU speed, where no epochs were stated) takes run_seconds / fed for the
    part that it reads.  At random there is no such part: the time is that of as much as a whole epoch reads.

    Assumption: a file is brought near as a whole by the first read in it.  Reads at random inside larger files thus ask
    for object / request times their own bytes until all files are there, which is soon: seconds = bytes / (demand ×
    fed) + waits.

    Loaded into a file system are the ``weights`` as well that the job starts from, which are then read at ``bulk``
    [bytes/s].  Assumption: they are few and large files, so that their bytes set how long that takes.

    A directory bucket holds a copy of all objects, which is there before the first read.
    """
    rate, limited_by, fed = given.read_bytes_per_s, given.limited_by, own
    if rate is None:
        return FirstEpoch()
    asked = demand.read_bytes_per_s
    served = rate if asked is None else least(rate, asked)
    needed = passes.bytes if passes.touched is None else passes.touched
    within = passes.at_random and not load.opens_an_object
    by_file = replace(load, request_bytes=load.object_bytes) if within else load
    brought_in, loaded = _brought_in(given.option, by_file, facts, configuration)
    load_seconds = waits = for_files = None
    copied = lies_on(given.option, load.mounted) == EXPRESS
    if copied and passes.copied_by is not None:
        load_seconds = _copy_seconds(*passes.copied_by, load, facts)
    if brought_in is not None and loaded is not None:
        load_seconds = needed.per(loaded, "seconds")
        if asked is not None and within:
            opened = load.object_bytes.middle() / load.request_bytes.middle()
            files = needed if passes.covered is None else least(needed, passes.covered * opened)
            waits = for_files = formulas.filling_wait(files, brought_in, served * opened)
        elif asked is not None:
            waits = formulas.filling_wait(needed, brought_in, served)
        if weights is not None and given.option == FSX and configuration is not None:
            brought = least(_hydrate_bytes(configuration, facts), configuration.write_bytes_per_s)
            load_seconds = load_seconds.plus(weights / brought, "seconds")
            if waits is not None and bulk is not None:
                waits = waits.plus(formulas.filling_wait(weights, brought, bulk), "seconds")
        if brought_in.value < rate.value or (for_files is not None and for_files.value > 0.0):
            limited_by = "hydrate" if given.option == FSX else "import"
        if for_files is not None and asked is not None:
            slowed = 1.0 / (for_files / (passes.bytes / served) + 1.0)
            rate, fed = served.times(slowed, "bytes/s"), formulas.fed(rate, asked).times(slowed, "share")
        else:
            rate = least(rate, brought_in)
            fed = None if asked is None else formulas.fed(rate, asked)
            served = rate if asked is None else least(rate, asked)
    part = None if passes.touched is None else passes.covered
    at_random = passes.covered is not None and part is None
    seconds = (passes.bytes if passes.epochs is None or part is None else part) / served
    if for_files is not None:
        seconds = seconds + for_files
    if passes.epochs is None and fed is not None and not at_random:
        seconds = least(seconds, run_seconds / fed)
    return FirstEpoch(
        fed,
        seconds.named("seconds"),
        rate,
        limited_by,
        part=part,
        load_seconds=load_seconds,
        waits_seconds=waits,
        at_most=copied or (brought_in is not None and given.option == S3_FILES),
    )


def _copy_seconds(gets: Quantity, puts: Quantity, load: Load, facts: Facts) -> Quantity:
    """The least that copying everything from S3 into a directory bucket takes: by the requests that the bill has of it.

    How fast the bytes are copied depends on what copies, which is not known, and no source names a rate: the copy takes
    at least so long.

    Equation: seconds = most(GETs / (prefixes × GET/s per prefix), PUTs / PUT/s of the directory bucket).
    References: s3-performance, s3-express-performance.
    """
    written = facts.options[EXPRESS].known("write_requests_per_bucket")
    return most(gets.per(reads_of_prefixes(load, facts), "seconds"), puts / written)


def _brought_in(
    option: str, load: Load, facts: Facts, configuration: Configuration | None
) -> tuple[Quantity, Quantity] | tuple[None, None]:
    """bytes/s from S3 into an option that is filled: (while it is read, before); None where it is read in place."""
    chosen = facts.options[option]
    if option == S3_FILES and served_by(option, load, facts) == S3_FILES:
        by_objects = chosen.known("import_rate") * load.object_bytes.value
        imported = least(by_objects, chosen.known("import_throughput")).named("bytes/s")
        return imported, imported
    if option != FSX or configuration is None:
        return None, None
    seconds = formulas.request_seconds(
        load.request_bytes.middle(),
        facts.options[S3].known("first_byte_latency"),
        chosen.known("lazy_read_per_reader"),
    )
    loaded = least(_hydrate(load, configuration, facts), configuration.write_bytes_per_s)
    # Lazy loading: each read waits for its own object.
    return least(loaded, formulas.in_flight_rate(load.in_flight, load.request_bytes, seconds)), loaded


def _hydrate(load: Load, configuration: Configuration, facts: Facts) -> Quantity:
    """bytes/s from S3 into FSx for Lustre: assumed from one user's run, since AWS publishes none.

    Assumption: that run was limited by its bytes or by the number of its objects, and nobody knows by which: of the
    limit that it was not, the high end is what was possible.  Either may be the same for every file system, or grow
    with its capacity, objects/s up to what S3 gives; the range spans both.  References: fsx-hsm-restore-report.
    """
    of_objects = facts.options[FSX].known("hydrate_rate") * load.object_bytes.value
    return least(
        _hydrate_bytes(configuration, facts),
        of_objects._replace(low=of_objects.low * min(1.0, _hydrate_scale(configuration, facts))),
    ).named("bytes/s")


def _hydrate_bytes(configuration: Configuration, facts: Facts) -> Quantity:
    """bytes/s from S3 into FSx for Lustre as far as bytes are its limit: what few large files come at."""
    of_bytes, scale = facts.options[FSX].known("hydrate_throughput"), _hydrate_scale(configuration, facts)
    low, high = of_bytes.low * min(1.0, scale), of_bytes.high * max(1.0, scale)
    return of_bytes.bounded(low, of_bytes.value, high, "bytes/s")


def _hydrate_scale(configuration: Configuration, facts: Facts) -> float:
    return configuration.capacity_gib * GIB / facts.options[FSX].known("hydrate_capacity").value


def later_epochs(
    given: Supply,
    own: Quantity | None,
    demand: Demand,
    passes: Passes,
    *,
    facts: Facts,
    configuration: Configuration | None = None,
) -> LaterEpochs | None:
    """The passes after the first: what is asked of the option again, and how fed the GPUs are; None with one epoch.

    ``own`` is how fed the option keeps the GPUs by itself.

    Equation: a node of N has seen the share 1 − (1 − 1/N)^k of everything after k epochs, so epoch k + 1 asks the
    option for (1 − 1/N)^k of its reads; with one node for nothing.
    Assumption: what has been read stays in memory where all of it fits, and nothing is found again where it does not;
    memory itself is never the limit.
    """
    if passes.epochs is not None and not passes.later:
        return None
    sure, likely, possible = _fits(passes) if facts.options[given.option].get_value("page_cache") else (False,) * 3
    if not possible:
        return _from_servers(given, own, demand, passes, configuration)
    assert passes.page_cache is not None  # noqa: S101 - it fits
    again = formulas.share_asked_again(passes.nodes, passes.later)
    basis, sources = passes.page_cache.basis, passes.page_cache.sources
    still = Quantity(again, again if likely else 1.0, again if sure else 1.0, "share", basis, sources)
    fed, asked, rate = None, demand.read_bytes_per_s, given.read_bytes_per_s
    if asked is not None and rate is not None:
        load = asked / rate
        low, value, high = (
            1.0 / formulas.slowdown_as_caches_fill(ratio, passes.nodes, passes.later) if fits else min(1.0, 1.0 / ratio)
            for ratio, fits in ((load.high, sure), (load.value, likely), (load.low, possible))
        )
        fed = Quantity(low, value, high, "share", basis, load.sources | sources)
    return LaterEpochs(fed, HOST_MEMORY if likely else given.option, still)


def _from_servers(
    given: Supply, own: Quantity | None, demand: Demand, passes: Passes, configuration: Configuration | None
) -> LaterEpochs:
    """Later epochs that ask the option for everything; file servers whose memory holds it all do not ask their disks.

    Equation: fed = least(every other ceiling, network of the file servers) / demand where the data fits in their
    memory.
    Assumption: what a memory cannot hold as a whole is never found there, since an epoch reads each byte once.
    References: fsx-performance, fsx-ssd-storage.
    """
    everything = Quantity.exact(1.0, "share")
    disks, asked = given.limits.get(DISKS), demand.read_bytes_per_s
    network = None if configuration is None else configuration.network_bytes_per_s
    memory = None if configuration is None else configuration.memory_bytes
    if own is None or asked is None or disks is None or network is None or memory is None:
        return LaterEpochs(own, given.option, everything)
    sure, likely = passes.bytes.high <= memory.value, passes.bytes.value <= memory.value
    if not passes.later or given.limited_by == "measured" or passes.bytes.low > memory.value:
        return LaterEpochs(own, given.option, everything)
    sent = least(
        *(limit for name, limit in given.limits.items() if name != DISKS),
        most(disks, network.per(passes.jobs, "bytes/s")),
    )
    fed = formulas.fed(sent, asked)
    mixed = fed._replace(low=fed.low if sure else own.low, value=fed.value if likely else own.value)
    return LaterEpochs(mixed, SERVER_MEMORY if likely else given.option, everything)


def _fits(passes: Passes) -> tuple[bool, bool, bool]:
    """Whether one epoch's data fits in the memory of each node: for sure, in the middle case, at best."""
    cache, data = passes.page_cache, passes.bytes
    if cache is None or not passes.later:
        return False, False, False
    return data.high <= cache.low, data.value <= cache.value, data.low <= cache.high


def shares_to_size_for(passes: Passes) -> tuple[float, ...]:
    """Shares of the reads worth sizing a file system for: all, or where memory surely holds an epoch the second's."""
    sure, _, _ = _fits(passes)
    return (1.0, 1.0 - 1 / passes.nodes) if sure else (1.0,)


def fed_over_run(own: Quantity | None, later: LaterEpochs | None, passes: Passes) -> Quantity | None:
    """How fed the GPUs are over all epochs: E / (1/first + (E − 1)/later), where a memory changes anything.

    The first epoch counts as the option itself gives it: what must be brought in is to be brought in before.
    """
    if own is None or later is None or later.fed is None or later.fed is own or passes.epochs is None:
        return own
    epochs = passes.epochs

    def mean(first: float, after: float) -> float:
        return epochs / (1.0 / first + (epochs - 1.0) / after) if first and after else 0.0

    low, value, high = (mean(*pair) for pair in zip(own[:3], later.fed[:3], strict=True))
    return Quantity(low, value, high, "share", later.fed.basis, later.fed.sources | own.sources)


def share_read(later: LaterEpochs | None, passes: Passes) -> Quantity:
    """What of the run's reads the option itself serves: (1 + (E − 1) × share asked again) / E."""
    if later is None or passes.epochs is None or later.asked_again.low >= 1.0:
        return Quantity.exact(1.0, "share")
    return (later.asked_again * (passes.epochs - 1.0) + 1.0).per(passes.epochs, "share")


def copied_once(
    demand: Demand, passes: Passes, load: Load, read_bytes: Quantity | None, facts: Facts
) -> CopyOnce | None:
    """Each node copies all the data from S3 to its own drives before the job begins, and reads it there ever after.

    None where that is not worth it: one epoch, more to copy than the run reads from S3 anyway (``read_bytes``), drives
    that are too small, or a data set whose size nobody stated.

    Equation: seconds = nodes × bytes / what S3 gives to as many parts as all ranks have under way for a checkpoint.
    Assumption: the drives take it as fast; how fast they write and stream is not published, so probe them.  What they
    read is at least their random reads/s × 4,096 bytes.  References: ec2-instance-specifications.
    """
    data, drives = passes.bytes, passes.drives
    one_epoch = passes.epochs is not None and not passes.later
    too_much = read_bytes is not None and data.value * passes.nodes > read_bytes.value
    if data.basis == "assumed" or one_epoch or too_much or (drives is not None and data.value > drives.value):
        return None
    parts = facts.model.known("checkpoint_parts_in_flight") * demand.accelerators
    from_s3 = supply(S3, replace(load, in_flight=parts), facts).read_bytes_per_s
    seconds = None if from_s3 is None else (data * passes.nodes).per(from_s3, "seconds")
    fed = None
    if passes.drive_reads is not None and demand.read_bytes_per_s is not None:
        fed = formulas.fed(passes.drive_reads * (DRIVE_BLOCK * passes.nodes), demand.read_bytes_per_s)
    return CopyOnce(data, drives, None if drives is None else True, seconds, fed)


def explained(reads: Placement, answer: OptionAnswer, *, holds_everything: bool) -> Placement:
    """The placement of the training reads with what to do about the first epoch."""
    more, first = [], answer.first_epoch
    if answer.lies_on == EXPRESS and first.load_seconds is not None:
        more.append(Reason("copied-before", {"seconds": first.bound(first.load_seconds)}, "s3-express-performance"))
    elif first.way is not None:
        names = ("load_seconds", "waits_seconds", "load_cost", "waits_cost")
        found = {"seconds": first.takes} | {name: first.bound(getattr(first, name)) for name in names}
        more.append(Reason(f"first-epoch-{first.way}-{'hydrate' if answer.option == FSX else 'import'}", found))
    if first.part is not None and answer.option == FSX:
        which = "loads" if holds_everything else "sized-for"
        more.append(Reason(f"fsx-{which}-what-is-read", {"part": first.part}, "fsx-data-repositories"))
    return replace(reads, reasons=(*reads.reasons, *more))


def caveats(answer: OptionAnswer, passes: Passes, facts: Facts) -> Iterator[Caveat]:
    """What the later epochs of the chosen option rest on; nothing where all data is read once."""
    if passes.covered is not None:
        found = {"read": passes.covered, "all": passes.bytes}
        if passes.touched is None:
            share = passes.covered.per(passes.bytes.middle(), "share")
            yield Caveat("run-shorter-than-epoch-at-random", found | {"share": share})
        else:
            yield Caveat("run-shorter-than-epoch", found)
    later = answer.later_epochs
    if not passes.later or later is None or not facts.options[answer.option].get_value("page_cache"):
        return
    if passes.page_cache is None:
        yield Caveat("host-memory-unknown")
    if later.served_by == SERVER_MEMORY:
        yield Caveat("in-server-memory", {"bytes": passes.bytes})
    if passes.page_cache is None or later.served_by == SERVER_MEMORY:
        return
    found = {"bytes": passes.bytes, "cache": passes.page_cache}
    if later.asked_again.low >= 1.0:
        yield Caveat("not-in-host-memory", found)
    elif later.asked_again.value >= 1.0:
        yield Caveat("may-be-in-host-memory", found | {"asked_again": later.asked_again})
    else:
        alone = passes.nodes == 1
        yield Caveat("in-host-memory-alone" if alone else "in-host-memory", found | {"asked_again": later.asked_again})


def hours_of(passes: Passes, demand: Demand) -> Quantity | None:
    """Length of a run of the stated epochs at full GPU speed [hours]; None where it cannot be known."""
    asked = demand.read_bytes_per_s
    if passes.epochs is None or asked is None:
        return None
    return (passes.bytes * passes.epochs / asked).per(3600.0, "hours")
