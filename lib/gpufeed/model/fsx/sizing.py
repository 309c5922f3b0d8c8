"""How large a file system has to be: capacity, rates and metadata IOPS, each from the others."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterator
from functools import lru_cache

from gpufeed.facts import Facts
from gpufeed.facts.catalogue import Section
from gpufeed.facts.quantity import Quantity, most
from gpufeed.model.fsx.types import GIB, GIB_PER_BILLED_TIB, MB, Need, Order
from gpufeed.model.rules import FSX


def with_more_iops(
    section: Section, above_gib: float, wanted: float, granted: _Granted, *, efa: bool
) -> Iterator[float]:
    """Larger capacities [GiB] that bring more metadata IOPS with them, up to the first that brings all that is wanted.

    At 45,600 GiB another 12,000 IOPS can cost more than the 2,400 GiB with which they come.
    """
    if _included(above_gib, granted) >= wanted:
        return
    for capacity, iops in granted[bisect_right(granted, (above_gib, math.inf)) :]:
        yield accepted(section, capacity, efa=efa)
        if iops >= wanted:
            return


def capacity_for(section: Section, need: Need, facts: Facts, *, efa: bool = False) -> float:
    """The least allowed StorageCapacity [GiB] that holds the data and brings the rates."""
    return accepted(section, max(asked_gib(section, need, facts, efa=efa).values()), efa=efa)


def accepted(section: Section, gib: float, *, efa: bool) -> float:
    step = section.quantity("efa_capacity_step") if efa else None
    if step is not None:
        return max(1, math.ceil(gib / (step.value / GIB))) * step.value / GIB
    return allowed_capacity(section, gib)


def asked_gib(section: Section, need: Need, facts: Facts, *, efa: bool = False) -> dict[str, float]:
    """GiB that each part of the need asks for by itself, its rates as far as the clients carry them."""
    carried, reads, writes = (
        need.carried(efa=efa),
        section.known("disk_read_baseline"),
        section.known("disk_write_baseline"),
    )
    read, written = carried.while_saving
    return {
        "data": _capacity_for_data(section, need),
        "read": capacity_at(carried.read, reads),
        "write": capacity_at(carried.write, writes),
        "while-saving": capacity_at(read, reads) + capacity_at(written, writes) if written else 0.0,
        "clients": 0.0 if efa else _capacity_for_clients(section, need, facts),
        "metadata": _capacity_for_opens(section, carried.opens, facts),
    }


def _capacity_for_data(section: Section, need: Need) -> float:
    """GiB that hold what lies there: also what is being exported, or as many as export it in time."""
    holds = need.holds_bytes / GIB
    if not need.until_exported_bytes:
        return holds
    in_time = capacity_at(need.exported_in_time_at, section.known("per_unit_throughput"))
    return min((need.holds_bytes + need.until_exported_bytes) / GIB, max(holds, in_time))


def ordered_throughput(section: Section, capacity_gib: float) -> float | None:
    """bytes/s that a file system is ordered with; None where AWS names none for its type."""
    per_tib = section.quantity("per_unit_throughput")
    return None if per_tib is None else throughput(capacity_gib, per_tib).value


def _capacity_for_opens(section: Section, opens_per_s: float, facts: Facts) -> float:
    """GiB that bring the metadata IOPS for so many opens/s, or the most there are, where none can be ordered apart."""
    if section.get_value("metadata_configuration"):
        return 0.0
    granted, wanted = granted_iops(facts), iops_for(opens_per_s, facts)
    if not wanted:
        return 0.0
    return next((gib for gib, iops in granted if iops >= wanted), granted[-1][0])


def _capacity_for_clients(section: Section, need: Need, facts: Facts) -> float:
    """GiB with enough servers for few clients: without EFA one client gets at most 5 Gbit/s from each server.

    Assumption: a server is added once those before it are full.  References: fsx-performance, fsx-using.
    """
    per_server = section.quantity("storage_per_server")
    if per_server is None:
        return 0.0
    each, carried = facts.options[FSX].known("per_client_per_server").value, need.carried(efa=False)
    rates = ((carried.read, need.clients), (carried.write, need.writing_clients))
    asked = max((rate / (each * clients) for rate, clients in rates if clients), default=0.0)
    servers = math.ceil(asked * (1 - 1e-9))
    return per_server.value / GIB * (servers - 1) + 1 if servers > 1 else 0.0


def server_connections(servers: int, clients: int, facts: Facts) -> Quantity:
    """bytes/s that so many clients get from so many servers without EFA.  References: fsx-performance."""
    return facts.options[FSX].known("per_client_per_server").times(servers * clients, "bytes/s")


def servers_of(section: Section, capacity_gib: float) -> int | None:
    """Object storage servers of a file system; None where the storage of one is not published."""
    per_server = section.quantity("storage_per_server")
    return None if per_server is None else max(1, math.ceil(capacity_gib / (per_server.value / GIB)))


def capacity_at(bytes_per_s: float, per_tib: Quantity) -> float:
    """GiB that bring this rate: the inverse of :func:`throughput`."""
    return bytes_per_s / MB / per_tib.value * GIB_PER_BILLED_TIB


def allowed_capacity(section: Section, need_gib: float) -> float:
    """The smallest StorageCapacity in GiB that AWS accepts and that holds ``need_gib``.

    Allowed are the type's minimum, for SCRATCH_1 a second one below its step, and every multiple of the step.
    """
    for name in ("minimum_capacity", "second_capacity"):
        least = section.quantity(name)
        if least is not None and need_gib <= least.value / GIB:
            return least.value / GIB
    step = section.known("capacity_step").value / GIB
    return math.ceil(need_gib / step) * step


def throughput(capacity_gib: float, per_tib: Quantity) -> Quantity:
    """bytes/s of a file system: GiB / 1000 × MB/s per TiB × 10^6.  References: fsx-ssd-storage."""
    return per_tib.times(capacity_gib / GIB_PER_BILLED_TIB * MB, "bytes/s")


def disk_rate(section: Section, capacity_gib: float, direction: str) -> Quantity:
    """bytes/s from or to disk ("read", "write").

    The middle is the disk's baseline, the high end its burst: a data set that is streamed for hours lives on the
    baseline.
    """
    baseline = section.known(f"disk_{direction}_baseline")
    burst = section.quantity(f"disk_{direction}_burst") or baseline
    sources = baseline.sources | burst.sources
    return throughput(capacity_gib, Quantity(baseline.low, baseline.value, burst.high, "", baseline.basis, sources))


def network_rate(section: Section, capacity_gib: float, region: str) -> Quantity | None:
    """bytes/s that the file servers send, which is what is read from their memory; None where it is not published.

    The middle is the network's baseline; the high end its burst, which lasts as long as saved credits do.
    References: fsx-ssd-storage, fsx-china.
    """
    baseline, burst = section.quantity("network_baseline"), section.quantity("network_burst")
    if baseline is None:
        return None
    if region.startswith("cn-"):
        burst = section.quantity("network_burst_china") or burst
    high = baseline if burst is None else most(baseline, burst)
    sources = baseline.sources | high.sources
    return throughput(capacity_gib, Quantity(baseline.low, baseline.value, high.high, "", baseline.basis, sources))


def memory_of(section: Section, capacity_gib: float) -> Quantity | None:
    """bytes of memory of all file servers: GiB per TiB × GiB / 1000.  References: fsx-ssd-storage."""
    per_tib = section.quantity("memory")
    return None if per_tib is None else per_tib.times(capacity_gib / GIB_PER_BILLED_TIB * GIB, "bytes")


#: (from this capacity in GiB, metadata IOPS), ascending.
_Granted = tuple[tuple[float, float], ...]


def automatic_metadata_iops(capacity_gib: float, facts: Facts) -> float:
    """Metadata IOPS that come with a capacity when none are ordered: a step counts once it is whole.

    References: fsx-performance.
    """
    return _included(capacity_gib, granted_iops(facts))


@lru_cache(maxsize=4)
def granted_iops(facts: Facts) -> _Granted:
    chosen = facts.options[FSX]
    step = chosen.known("metadata_iops_automatic_large_step").value / GIB
    each, most = chosen.known("metadata_iops_automatic_large").value, chosen.get_value("metadata_iops_steps")[-1]
    large = [(step * n, each * n) for n in range(2, int(most / each) + 1)]
    return (*map(tuple, chosen.get_value("metadata_iops_automatic")), *large)


def _included(capacity_gib: float, granted: _Granted) -> float:
    reached = bisect_right(granted, (capacity_gib, math.inf))
    return granted[reached - 1][1] if reached else 0.0


def metadata_iops(section: Section, capacity_gib: float, opens_per_s: float, facts: Facts) -> tuple[float, float]:
    """(metadata IOPS, those of them that are ordered on top of what comes with the capacity)."""
    settable, wanted = bool(section.get_value("metadata_configuration")), iops_for(opens_per_s, facts)
    return iops_and_ordered(capacity_gib, wanted, granted_iops(facts), facts, settable=settable)


def enlarged(order: Order, capacity_gib: float, need: Need, facts: Facts) -> Order:
    """The same order with another capacity, and the metadata IOPS that then have to be ordered beside it."""
    settable = bool(facts.fsx[order.name].get_value("metadata_configuration"))
    wanted = iops_for(need.carried(efa=order.efa).opens, facts)
    iops, ordered = iops_and_ordered(capacity_gib, wanted, granted_iops(facts), facts, settable=settable)
    return Order(order.name, capacity_gib, iops, ordered, order.efa)


def iops_and_ordered(
    capacity_gib: float, wanted: float, granted: _Granted, facts: Facts, *, settable: bool
) -> tuple[float, float]:
    included = _included(capacity_gib, granted)
    if not settable or included >= wanted:
        return included, 0.0
    steps = facts.options[FSX].get_value("metadata_iops_steps")
    enough = next((step for step in steps if step >= wanted), steps[-1])
    return max(included, enough), max(0.0, enough - included)


def iops_for(opens_per_s: float, facts: Facts) -> float:
    return opens_per_s / facts.options[FSX].known("file_opens_per_iops").value


def opens_per_s_of(order: Order, facts: Facts) -> Quantity:
    """Files opened per second."""
    configurable = bool(facts.fsx[order.name].get_value("metadata_configuration"))
    return opens_per_s(order.metadata_iops, facts, published=configurable)


def opens_per_s(iops: float, facts: Facts, *, published: bool = True) -> Quantity:
    """Files opened per second by so many metadata IOPS.

    Not ``published``: without a metadata configuration, for which AWS names no rate; assumed the same.
    """
    opens = facts.options[FSX].known("file_opens_per_iops").times(iops, "opens/s")
    return opens if published else opens._replace(basis="assumed")
