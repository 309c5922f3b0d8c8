"""Sizing FSx for Lustre: every configuration that meets a need, side by side, cheapest first."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, NamedTuple

from gpufeed.facts import Facts
from gpufeed.facts.catalogue import Section
from gpufeed.facts.quantity import Quantity, most
from gpufeed.model.frozen import frozen
from gpufeed.model.recommendation import Reason
from gpufeed.model.rules import FSX

GIB = 2**30
MB = 10**6
#: AWS calls 1,000 GiB of StorageCapacity a "TiB" when it multiplies by MB/s per TiB.
GIB_PER_BILLED_TIB = 1000


class Bound(NamedTuple):
    """Of one thing that is asked ("read", "restore", "write") the clients carry less.  Bytes/s, all of them together.

    ``limit`` names what binds: "network-card", "client-limit", "one-file-per-rank".
    """

    what: str
    limit: str
    asked: float
    carries: float


class Carried(NamedTuple):
    """What of a need its clients carry, however large the file system.  Bytes/s, opens/s.

    ``while_saving`` is what asynchronous saves write, on the mean, beside the training reads, which go on: (read,
    written).  The network cards carry each direction at their full rate, the disks have one rate for both.
    """

    read: float
    write: float
    opens: float
    bounds: tuple[Bound, ...] = ()
    while_saving: tuple[float, float] = (0.0, 0.0)


@frozen
class Need:
    """What a file system has to hold and to move.  Bytes, bytes/s, opens/s.

    The rates are those that the job asks for; sized is for what of them the clients carry (:meth:`carried`), since
    a larger file system would bring no more of them.  ``unknown`` names what could not be worked out ("read", "write",
    "opens") and so is not sized for.
    """

    holds_bytes: float
    read_bytes_per_s: float = 0.0
    write_bytes_per_s: float = 0.0
    opens_per_s: float = 0.0
    clients: int = 0  # instances that read; 0: not known
    writing_clients: int = 0  # instances that save; 0: not known
    efa: bool = False  # each client can use it
    efa_interfaces: int = 0  # that a client opens towards one file system by default; 0: not known
    read_again_bytes: float | None = None  # read in each of several epochs; None: nothing is
    random_reads: bool = False  # in places all over the data, so that a disk has to move its heads
    leaves_bytes: float = 0.0  # of the data set, that the run never reads: they stay in S3
    unknown: frozenset[str] = frozenset()
    over_tcp: Carried | None = None  # what the clients carry without EFA; None: all that is asked
    over_efa: Carried | None = None

    def carried(self, *, efa: bool) -> Carried:
        """The rates to size for, over EFA or without it."""
        carried = self.over_efa if efa else self.over_tcp
        return carried or Carried(self.read_bytes_per_s, self.write_bytes_per_s, self.opens_per_s)

    @property
    def saves(self) -> bool:
        """Whether checkpoints are part of it."""
        return self.write_bytes_per_s > 0 or "write" in self.unknown

    @property
    def rates(self) -> dict[str, float | None]:
        """What is asked by name, "read" and "write" [bytes/s] and "opens" [opens/s]; None: not known."""
        asked = {"read": self.read_bytes_per_s, "write": self.write_bytes_per_s, "opens": self.opens_per_s}
        return {name: None if name in self.unknown else rate for name, rate in asked.items()}


class Order(NamedTuple):
    """What one asks AWS for.  ``ordered_iops`` are the metadata IOPS on top of what comes with the capacity."""

    name: str
    capacity_gib: float
    metadata_iops: float
    ordered_iops: float
    efa: bool


@dataclass(frozen=True, slots=True)
class Configuration:
    """One file system one could order.  Rates in bytes/s.

    A price per month is None where it is "not priced"; ``metadata_per_month`` is 0 where no IOPS are ordered.
    ``asked_gib`` says how much capacity each part of the need asks for, and ``size_set_by`` which of them decided:
    "data", "read", "write", "while-saving" (reads and asynchronous saves at once), "clients" (too few to use fewer
    servers), "metadata" (opens/s) or the type's "minimum".
    ``lacks`` says what keeps it from meeting the need, ``notes`` what else to know before ordering.
    """

    name: str
    settings: Mapping[str, Any]
    capacity_gib: float
    read_bytes_per_s: Quantity
    write_bytes_per_s: Quantity
    opens_per_s: Quantity
    network_bytes_per_s: Quantity | None  # what the file servers send from their memory; None: not published
    memory_bytes: Quantity | None  # of all file servers, for what was read and written
    first_byte_latency: Quantity
    ordered_iops: float  # metadata IOPS on top of what comes with the capacity
    efa: bool
    servers: int | None  # None: not published for this type
    storage_per_month: Quantity | None
    metadata_per_month: Quantity | None
    per_month: Quantity | None
    asked_gib: Mapping[str, float]
    size_set_by: str
    lacks: tuple[Reason, ...] = ()
    notes: tuple[Reason, ...] = ()

    def __hash__(self) -> int:
        """Of what tells most apart: its mappings have none."""
        return hash((self.name, self.capacity_gib, self.ordered_iops, self.efa))


@dataclass(frozen=True, slots=True)
class RuledOut:
    """A type that cannot be used here, whatever its size."""

    name: str
    reasons: tuple[Reason, ...]


@dataclass(frozen=True, slots=True)
class Configurations:
    """All types side by side.

    ``priced`` cheapest first; ``unpriced`` by the prices of other Regions, else smallest first, and never ranked among
    the priced; ``lacking`` hold the data and bring the rates, but lack something else.  ``types_confirmed``: a source
    says which types this Region has.
    """

    priced: tuple[Configuration, ...]
    unpriced: tuple[Configuration, ...]
    lacking: tuple[Configuration, ...]
    ruled_out: tuple[RuledOut, ...]
    types_confirmed: bool

    @property
    def all(self) -> tuple[Configuration, ...]:
        """In the order in which they would be chosen."""
        return (*self.priced, *self.unpriced, *self.lacking)


def configurations(need: Need, region: str, facts: Facts) -> Configurations:
    """Deployment type × MB/s per TiB × EFA, each at the least capacity and metadata IOPS that meet the need."""
    orders = orders_for(need, region, facts)
    found = [configured(order, region, facts, need) for order in orders]
    if rival := _unpriced_rival(orders, region, facts, need):
        found[0] = replace(found[0], notes=(*found[0].notes, rival))
    meets = [one for one in found if not one.lacks]
    disqualified = ((name, disqualifiers(name, need, region, facts)) for name in facts.fsx)
    return Configurations(
        priced=tuple(one for one in meets if one.per_month is not None),
        unpriced=tuple(one for one in meets if one.per_month is None),
        lacking=tuple(one for one in found if one.lacks),
        ruled_out=tuple(RuledOut(name, reasons) for name, reasons in disqualified if reasons),
        types_confirmed=allowed_types(region, facts) is not None,
    )


@lru_cache(maxsize=64)  # a search for what would change a plan asks for the same again and again
def cheapest(need: Need, region: str, facts: Facts) -> Configuration | None:
    """The head of :func:`configurations`, without working out the others; None: the Region has no type that would do.

    The least price; among unpriced ones the least by the prices of other Regions, else the smallest; where all lack
    something (no type reaches the opens/s), the one that lacks least: the supply then says that metadata operations
    bind.
    """
    orders = orders_for(need, region, facts)
    if not orders:
        return None
    chosen = configured(orders[0], region, facts, need)
    rival = _unpriced_rival(orders, region, facts, need)
    return chosen if rival is None else replace(chosen, notes=(*chosen.notes, rival))


# ---- which types, and what keeps one out -----------------------------------------------------------------------------


def allowed_types(region: str, facts: Facts) -> tuple[str, ...] | None:
    """Deployment types of a Region; None where no source says which (and where the Region has no entry here)."""
    return facts.regions[region].get_value("fsx_deployment_types") if region in facts.regions else None


def efa_offered(region: str, facts: Facts) -> bool | None:
    """Whether a Region has FSx for Lustre over EFA; None where no source says."""
    return facts.regions[region].get_value("fsx_efa") if region in facts.regions else None


def _source_without(name: str, region: str, facts: Facts) -> str | None:
    """The source by which a Region does not have a type; None where it has it or no source says."""
    if region not in facts.regions:
        return None
    here, deployment_type = facts.regions[region], facts.fsx[name].get_value("deployment_type")
    for list_, own in (("fsx_deployment_types", deployment_type), ("fsx_configurations", name)):
        offered = here.get_value(list_)
        if offered is not None and own not in offered:
            return here[list_].sources[0]
    return None


def disqualifiers(name: str, need: Need, region: str, facts: Facts) -> tuple[Reason, ...]:
    """Why a type cannot be used.

    The data set lives in S3, so it has to link there.  It has to be replicated: checkpoints have no second copy, and
    without them a file server that fails still stops the run.
    """
    section, found = facts.fsx[name], []
    if not section.get_value("s3_link"):
        # Out everywhere: whether a Region has it is not asked, and of SCRATCH_1 no source says.
        found.append(Reason("fsx-no-s3-link", {}, section["s3_link"].sources[0]))
    elif (not_here := _source_without(name, region, facts)) is not None:
        found.append(Reason("fsx-not-in-region", {"region": region}, not_here))
    if not section.get_value("replicated"):
        found.append(not_replicated(need, section["replicated"].sources[0]))
    if need.random_reads and section.get_value("storage_type") == "HDD":
        found.append(Reason("fsx-disks-for-random-reads", {}, "fsx-ssd-storage"))
    return tuple(found)


def not_replicated(need: Need, source: str) -> Reason:
    """What a file server that fails takes with it: the only copy of checkpoints, or what S3 still has."""
    return Reason("fsx-not-replicated" if need.saves else "fsx-not-replicated-reads", {}, source)


class _Offer(NamedTuple):
    """A type that a Region has and that can be used, as an order is chosen by it."""

    name: str
    section: Section
    a_gib: Quantity | None  # price per GiB-month; where the Region has none, by the prices of others
    an_iops: Quantity | None  # price per ordered metadata IOPS and month, likewise
    a_gib_here: bool  # the price is the Region's own
    an_iops_here: bool
    settable_iops: bool
    efa: bool
    disks: bool
    mb_per_s_per_tib: float


@lru_cache(maxsize=64)  # it depends on the facts alone
def _offers(region: str, facts: Facts, *, random_reads: bool) -> tuple[_Offer, ...]:
    return tuple(
        _Offer(
            name,
            section,
            *weighed_unit_prices(name, region, facts),
            unit_prices(name, region, facts)[0] is not None,
            unit_prices(name, region, facts)[1] is not None,
            bool(section.get_value("metadata_configuration")),
            bool(section.get_value("efa")) and efa_offered(region, facts) is not False,
            section.get_value("storage_type") == "HDD",
            section.known("per_unit_throughput").value,
        )
        for name, section in facts.fsx.items()
        if not disqualifiers(name, Need(0.0, random_reads=random_reads), region, facts)
    )


def orders_for(need: Need, region: str, facts: Facts) -> list[Order]:
    """One order per type and EFA setting that is not ruled out, the one to choose first.

    What lacks less, then what is priced here, then what is priced elsewhere, then the cheaper (unpriced: the smaller)
    comes first.  Disks are the last of
    equals: reading at random from them is slower than their streaming rate says.
    """
    return _one_each(_ranked(_offers(region, facts, random_reads=need.random_reads), need, region, facts))


def best_orders(need: Need, region: str, facts: Facts) -> list[Order]:
    """The head of :func:`orders_for`: those of the priced types, where one of them lacks nothing; else all."""
    offers = _offers(region, facts, random_reads=need.random_reads)
    ranked = _ranked([offer for offer in offers if offer.a_gib_here], need, region, facts)
    if ranked and ranked[0][0][:2] == (0, False):
        return _one_each(ranked)
    return orders_for(need, region, facts)


#: What lacks less, then what is priced here, then what is priced elsewhere, then the cheaper … comes first.
_Ranked = list[tuple[tuple[float, ...], Order]]


def _ranked(offers: Iterable[_Offer], need: Need, region: str, facts: Facts) -> _Ranked:
    granted, lacks, able = _granted_iops(facts), _lacks(need, region, facts), efa_for_all(need, facts)
    wanted_by = tuple(_iops_for(need.carried(efa=efa).opens, facts) for efa in (False, True))
    found: _Ranked = []
    for offer in offers:
        a_gib, an_iops = offer.a_gib, offer.an_iops
        for efa in (False, True) if able and offer.efa else (False,):
            least, wanted = capacity_for(offer.section, need, facts, efa=efa), wanted_by[efa]
            pays = offer.settable_iops and a_gib is not None and an_iops is not None
            larger = _with_more_iops(offer.section, least, wanted, granted, efa=efa) if pays else ()
            for capacity in (least, *larger):
                iops, ordered = _metadata_iops(capacity, wanted, granted, facts, settable=offer.settable_iops)
                price = _monthly(a_gib, an_iops, capacity, ordered)
                here = offer.a_gib_here and (offer.an_iops_here or not ordered)
                amount = capacity if price is None else price
                beside = (offer.disks, offer.mb_per_s_per_tib, capacity, efa)
                rank = (lacks(efa, iops), not here, price is None, amount, *beside)
                found.append((rank, Order(offer.name, capacity, iops, ordered, efa)))
    return sorted(found)


def _one_each(ranked: _Ranked) -> list[Order]:
    """The first of each type and EFA setting."""
    chosen: dict[tuple[str, bool], Order] = {}
    for _, order in ranked:
        chosen.setdefault((order.name, order.efa), order)
    return list(chosen.values())


def _lacks(need: Need, region: str, facts: Facts) -> Callable[[bool, float], int]:
    """How many things an order lacks, by whether it has EFA and by its metadata IOPS.

    A way that carries less opens fewer files, and is no better for it.
    """
    may_have_efa = efa_for_all(need, facts) and efa_offered(region, facts) is not False
    advised = efa_advised(need, facts)
    at_best = _iops_for(need.carried(efa=may_have_efa).opens, facts)
    return lambda efa, iops: (advised and not efa) + (iops < at_best)


def efa_for_all(need: Need, facts: Facts) -> bool:
    """The clients can use EFA, and one file system takes a connection of each of them.

    References: fsx-efa-clients.
    """
    return need.efa and need.clients <= facts.options[FSX].known("efa_connections").value


def efa_advised(need: Need, facts: Facts) -> bool:
    """All clients can use EFA, and the rates are those it is recommended for (:func:`_efa_recommended`)."""
    return efa_for_all(need, facts) and _efa_recommended(need, facts)


def _efa_recommended(need: Need, facts: Facts) -> bool:
    """The rates are those AWS recommends EFA for, or more than the clients carry without it.  References: fsx-efa."""
    with_it, without = need.carried(efa=True), need.carried(efa=False)
    carries_more = with_it.read > without.read or with_it.write > without.write
    return carries_more or max(with_it.read, with_it.write) > facts.options[FSX].known("efa_above").value


def of_efa(need: Need, facts: Facts, *, efa: bool) -> Iterator[Reason]:
    """How the clients come to have no more EFA connections than one file system takes, with EFA or without it.

    Each EFA interface of a client is a connection.  Fewer of them can be configured on each, down to one; more clients
    than connections need several file systems.
    References: fsx-efa-clients.
    """
    most = round(facts.options[FSX].known("efa_connections").value)
    if not need.efa or not need.clients:
        return
    if not efa_for_all(need, facts):
        if efa or _efa_recommended(need, facts):
            said = {"clients": need.clients, "most": most, "file_systems": math.ceil(need.clients / most)}
            yield Reason("efa-clients" if efa else EFA_IN_PARTS, said, "fsx-efa-clients")
    elif efa and (connections := need.clients * need.efa_interfaces) > most:
        said = {"clients": need.clients, "connections": connections, "most": most}
        yield Reason(EFA_CONNECTIONS, {**said, "interfaces": most // need.clients}, "fsx-efa-clients")


def lacking(order: Order, region: str, need: Need, facts: Facts) -> tuple[Reason, ...]:
    """What an order lacks although it holds the data and brings the rates."""
    found = []
    if efa_advised(need, facts) and not order.efa:
        if efa_offered(region, facts) is False:
            found.append(Reason("fsx-region-without-efa", {"region": region}, "fsx-efa"))
        else:
            able = facts.fsx[order.name].get_value("efa")
            found.append(Reason("fsx-without-efa" if able else "fsx-type-without-efa", {}, "fsx-efa"))
    opens, wanted = _opens_per_s(order, facts), need.carried(efa=order.efa).opens
    if opens.value < wanted:
        needs = Quantity.exact(wanted, "opens/s")
        found.append(Reason("fsx-opens-not-reached", {"gives": opens, "needs": needs}, "fsx-performance"))
    return tuple(found)


# ---- how large -------------------------------------------------------------------------------------------------------


def _with_more_iops(
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
        "data": need.holds_bytes / GIB,
        "read": _capacity_at(carried.read, reads),
        "write": _capacity_at(carried.write, writes),
        "while-saving": _capacity_at(read, reads) + _capacity_at(written, writes) if written else 0.0,
        "clients": 0.0 if efa else _capacity_for_clients(section, need, facts),
        "metadata": _capacity_for_opens(section, carried.opens, facts),
    }


def _capacity_for_opens(section: Section, opens_per_s: float, facts: Facts) -> float:
    """GiB that bring the metadata IOPS for so many opens/s, or the most there are, where none can be ordered apart."""
    if section.get_value("metadata_configuration"):
        return 0.0
    granted, wanted = _granted_iops(facts), _iops_for(opens_per_s, facts)
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
    return (facts.options[FSX].known("per_client_per_server") * (servers * clients)).named("bytes/s")


def servers_of(section: Section, capacity_gib: float) -> int | None:
    """Object storage servers of a file system; None where the storage of one is not published."""
    per_server = section.quantity("storage_per_server")
    return None if per_server is None else max(1, math.ceil(capacity_gib / (per_server.value / GIB)))


def _capacity_at(bytes_per_s: float, per_tib: Quantity) -> float:
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
    return (per_tib * (capacity_gib / GIB_PER_BILLED_TIB * MB)).named("bytes/s")


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


def _memory(section: Section, capacity_gib: float) -> Quantity | None:
    """bytes of memory of all file servers: GiB per TiB × GiB / 1000.  References: fsx-ssd-storage."""
    per_tib = section.quantity("memory")
    return None if per_tib is None else (per_tib * (capacity_gib / GIB_PER_BILLED_TIB * GIB)).named("bytes")


# ---- metadata --------------------------------------------------------------------------------------------------------

#: (from this capacity in GiB, metadata IOPS), ascending.
_Granted = tuple[tuple[float, float], ...]


def automatic_metadata_iops(capacity_gib: float, facts: Facts) -> float:
    """Metadata IOPS that come with a capacity when none are ordered: a step counts once it is whole.

    References: fsx-performance.
    """
    return _included(capacity_gib, _granted_iops(facts))


@lru_cache(maxsize=4)
def _granted_iops(facts: Facts) -> _Granted:
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
    settable, wanted = bool(section.get_value("metadata_configuration")), _iops_for(opens_per_s, facts)
    return _metadata_iops(capacity_gib, wanted, _granted_iops(facts), facts, settable=settable)


def enlarged(order: Order, capacity_gib: float, need: Need, facts: Facts) -> Order:
    """The same order with another capacity, and the metadata IOPS that then have to be ordered beside it."""
    settable = bool(facts.fsx[order.name].get_value("metadata_configuration"))
    wanted = _iops_for(need.carried(efa=order.efa).opens, facts)
    iops, ordered = _metadata_iops(capacity_gib, wanted, _granted_iops(facts), facts, settable=settable)
    return order._replace(capacity_gib=capacity_gib, metadata_iops=iops, ordered_iops=ordered)


def _metadata_iops(
    capacity_gib: float, wanted: float, granted: _Granted, facts: Facts, *, settable: bool
) -> tuple[float, float]:
    included = _included(capacity_gib, granted)
    if not settable or included >= wanted:
        return included, 0.0
    steps = facts.options[FSX].get_value("metadata_iops_steps")
    enough = next((step for step in steps if step >= wanted), steps[-1])
    return max(included, enough), max(0.0, enough - included)


def _iops_for(opens_per_s: float, facts: Facts) -> float:
    return opens_per_s / facts.options[FSX].known("file_opens_per_iops").value


def _opens_per_s(order: Order, facts: Facts) -> Quantity:
    """Files opened per second.  For types without a metadata configuration AWS publishes no rate: assumed the same."""
    opens = (facts.options[FSX].known("file_opens_per_iops") * order.metadata_iops).named("opens/s")
    if facts.fsx[order.name].get_value("metadata_configuration"):
        return opens
    return opens._replace(basis="assumed")


# ---- one configuration, with its price -------------------------------------------------------------------------------


def configured(order: Order, region: str, facts: Facts, need: Need) -> Configuration:
    """What an order gives, what set its size, and what it costs per month."""
    section = facts.fsx[order.name]
    settings: dict[str, Any] = {
        "deployment_type": section.get_value("deployment_type"),
        "storage_type": section.get_value("storage_type"),
        "storage_capacity_gib": round(order.capacity_gib),
        "throughput_mb_per_s_per_tib": section.known("per_unit_throughput").value,
    }
    if section.get_value("metadata_configuration"):
        settings["metadata_iops"] = round(order.metadata_iops)
    if order.efa:
        settings["efa"] = True
    storage, metadata = prices(order, region, facts)
    asked = asked_gib(section, need, facts, efa=order.efa)
    set_by = _size_set_by(order, asked, section)
    return Configuration(
        name=order.name,
        settings=settings,
        capacity_gib=order.capacity_gib,
        read_bytes_per_s=disk_rate(section, order.capacity_gib, "read"),
        write_bytes_per_s=disk_rate(section, order.capacity_gib, "write"),
        opens_per_s=_opens_per_s(order, facts),
        network_bytes_per_s=network_rate(section, order.capacity_gib, region),
        memory_bytes=_memory(section, order.capacity_gib),
        first_byte_latency=section.known("first_byte_latency"),
        ordered_iops=order.ordered_iops,
        efa=order.efa,
        servers=servers_of(section, order.capacity_gib),
        storage_per_month=storage,
        metadata_per_month=metadata,
        per_month=None if storage is None or metadata is None else (storage + metadata).named("per month"),
        asked_gib=asked,
        size_set_by=set_by,
        lacks=lacking(order, region, need, facts),
        notes=(
            *_notes(order, asked, set_by, need=need, section=section, facts=facts),
            *_beside_the_price(order, asked, section=section, need=need, facts=facts),
            *carried_less(need, efa=order.efa),
            *(of_efa(need, facts, efa=order.efa) if order.efa or efa_offered(region, facts) is not False else ()),
        ),
    )


def _notes(
    order: Order, asked: Mapping[str, float], set_by: str, *, need: Need, section: Section, facts: Facts
) -> Iterator[Reason]:
    quota = facts.options[FSX].quantity("quota_capacity")
    if quota is not None and order.capacity_gib > quota.value / GIB:
        yield Reason("above-quota", {"capacity": order.capacity_gib, "quota": quota.value / GIB}, "fsx-quotas")
    for_rates = accepted(section, max(gib for part, gib in asked.items() if part != "data"), efa=order.efa)
    if set_by == "data" and for_rates < order.capacity_gib:
        yield Reason("fsx-smaller-by-release", {"gib": for_rates}, "fsx-data-repositories")
    if set_by == "read" and (gib := _gib_from_memory(order, asked, need, section)) < order.capacity_gib:
        yield Reason("fsx-smaller-from-memory", {"bytes": need.read_again_bytes, "gib": gib}, "fsx-performance")


def _gib_from_memory(order: Order, asked: Mapping[str, float], need: Need, section: Section) -> float:
    """GiB whose file servers hold in memory what is read again, and send it fast enough without their disks.

    Nothing is sized by it: the first epoch reads from the disks, and AWS does not say what else that memory holds.
    """
    memory, network = section.quantity("memory"), section.quantity("network_baseline")
    if need.read_again_bytes is None or memory is None or network is None:
        return math.inf
    holds = need.read_again_bytes / GIB / memory.value * GIB_PER_BILLED_TIB
    sends = _capacity_at(need.carried(efa=order.efa).read, network)
    others = (gib for part, gib in asked.items() if part != "read")
    return accepted(section, max(holds, sends, *others), efa=order.efa)


def _size_set_by(order: Order, asked: Mapping[str, float], section: Section) -> str:
    if order.capacity_gib > accepted(section, max(asked.values()), efa=order.efa):
        return "metadata"
    smallest = accepted(section, 0.0, efa=order.efa)
    return "minimum" if order.capacity_gib == smallest else max(asked, key=asked.__getitem__)


@lru_cache(maxsize=64)  # it depends on the facts alone
def unit_prices(name: str, region: str, facts: Facts) -> tuple[Quantity | None, Quantity | None]:
    """(price per GiB-month of this type, price per ordered metadata IOPS and month); None when not priced."""
    return facts.price(FSX, "storage", region, name), facts.price(FSX, "metadata-iops", region, name)


@lru_cache(maxsize=64)  # likewise
def weighed_unit_prices(name: str, region: str, facts: Facts) -> tuple[Quantity | None, Quantity | None]:
    """The same two, by the prices of other Regions where this one has none: what types are compared by."""
    a_gib, an_iops = unit_prices(name, region, facts)
    return (
        a_gib or facts.price_elsewhere(FSX, "storage", region, name),
        an_iops or facts.price_elsewhere(FSX, "metadata-iops", region, name),
    )


def prices(order: Order, region: str, facts: Facts) -> tuple[Quantity | None, Quantity | None]:
    """(storage, ordered metadata IOPS) per month; IOPS cost 0 where none are ordered, priced or not."""
    a_gib, an_iops = unit_prices(order.name, region, facts)
    metadata: Quantity | None = Quantity(0.0, 0.0, 0.0, "per month")
    if order.ordered_iops:
        metadata = None if an_iops is None else (an_iops * order.ordered_iops).named("per month")
    return None if a_gib is None else (a_gib * order.capacity_gib).named("per month"), metadata


# ---- what to know beside the price -----------------------------------------------------------------------------------

#: Notes on a file system that belong to any plan that orders it, and how grave they are is said there.
BEYOND_PUBLISHED = "fsx-beyond-published"
UNPRICED_CHEAPER, UNPRICED_SMALLER = "fsx-unpriced-cheaper-elsewhere", "fsx-unpriced-smaller"
NONE_PRICED, PRICED_ELSEWHERE = "fsx-none-priced", "fsx-priced-elsewhere"
SIZED_BY_ASSUMED_OPENS = "fsx-sized-by-assumed-opens"
EFA_CONNECTIONS, EFA_IN_PARTS = "efa-connections", "fsx-efa-in-parts"
#: The clients carry less than is asked: no file system, however large, would bring more.
CARRIED_LESS = {
    "read": "fsx-clients-carry-less-read",
    "restore": "fsx-clients-carry-less-restore",
    "write": "fsx-clients-carry-less-write",
}
SAID_WITH_THE_PLAN = frozenset(
    {BEYOND_PUBLISHED, UNPRICED_CHEAPER, UNPRICED_SMALLER, NONE_PRICED, PRICED_ELSEWHERE, CARRIED_LESS["read"]}
    | {SIZED_BY_ASSUMED_OPENS, EFA_CONNECTIONS, EFA_IN_PARTS}
)


def said_with_the_plan(one: Configuration) -> tuple[Reason, ...]:
    return tuple(note for note in one.notes if note.id in SAID_WITH_THE_PLAN)


def carried_less(need: Need, *, efa: bool) -> Iterator[Reason]:
    """For what the file system is not sized, since its clients carry less."""
    for what, limit, asked, carries in need.carried(efa=efa).bounds:
        clients = need.writing_clients if what == "write" else need.clients
        rates = {"asked": Quantity.exact(asked, "bytes/s"), "carries": Quantity.exact(carries, "bytes/s")}
        yield Reason(CARRIED_LESS[what], {"limit": limit, "clients": clients, **rates})


def _beside_the_price(
    order: Order, asked: Mapping[str, float], *, section: Section, need: Need, facts: Facts
) -> Iterator[Reason]:
    """What it is sized for, and where that rests on no published figure.

    What a file system gives that is larger or faster than any with a published size is extrapolated, and so are the
    opens/s of a type whose metadata IOPS cannot be ordered: AWS publishes none of them.
    References: fsx-1-tb-s-blog, fsx-efa.
    """
    for_others = accepted(section, max(gib for part, gib in asked.items() if part != "metadata"), efa=order.efa)
    if for_others < accepted(section, asked["metadata"], efa=order.efa):
        found: dict[str, Any] = {"capacity": order.capacity_gib, "gib": for_others}
        found |= {"opens": Quantity.exact(need.carried(efa=order.efa).opens, "opens/s")}
        yield Reason(SIZED_BY_ASSUMED_OPENS, found, "fsx-efa")
    if need.leaves_bytes > 0 and order.capacity_gib * GIB < need.holds_bytes + need.leaves_bytes:
        found = {"bytes": need.holds_bytes, "stays": Quantity.exact(need.leaves_bytes, "bytes")}
        yield Reason("fsx-holds-what-is-read", found, "fsx-data-repositories")
    fsx = facts.options[FSX]
    largest, fastest = fsx.known("largest_published_capacity"), fsx.known("aggregate_read_at_least")
    rate = disk_rate(section, order.capacity_gib, "read")
    if order.capacity_gib > largest.value / GIB or rate.value > fastest.value:
        found = {"capacity": order.capacity_gib, "bytes_per_s": rate.value, "largest": largest, "fastest": fastest}
        yield Reason(BEYOND_PUBLISHED, found, "fsx-1-tb-s-blog")


def _unpriced_rival(orders: Sequence[Order], region: str, facts: Facts, need: Need) -> Reason | None:
    """An order that has no price here and may be cheaper than the first: by a price elsewhere, or as it is smaller."""
    if not orders:
        return None
    first, *others = orders
    if _price_of(first, region, facts) is None:
        return _not_priced(first, region, facts)
    lacks = _lacks(need, region, facts)
    no_more = lacks(first.efa, first.metadata_iops)
    found: list[tuple[float, Reason]] = []
    for other in others:
        if _price_of(other, region, facts) is not None or lacks(other.efa, other.metadata_iops) > no_more:
            continue
        said = {"configuration": other.name, "gib": other.capacity_gib, "region": region}
        said |= {"chosen": first.name, "chosen_gib": first.capacity_gib}
        elsewhere = _compared_elsewhere(first, other, region, facts)
        if elsewhere is not None and elsewhere[1] < 1.0:
            said |= {"elsewhere": elsewhere[0], "share": elsewhere[1]}
            found.append((elsewhere[1] - 1.0, Reason(UNPRICED_CHEAPER, said)))  # before those that are only smaller
        elif elsewhere is None and other.capacity_gib < first.capacity_gib:
            found.append((other.capacity_gib / first.capacity_gib, Reason(UNPRICED_SMALLER, said)))
    return min(found, key=lambda one: one[0])[1] if found else None


def _not_priced(first: Order, region: str, facts: Facts) -> Reason:
    """What a choice among types rests on that have no price here."""
    elsewhere, _ = weighed_unit_prices(first.name, region, facts)
    if elsewhere is None:
        return Reason(NONE_PRICED, {"region": region})
    return Reason(PRICED_ELSEWHERE, {"region": region, "configuration": first.name})


def _compared_elsewhere(first: Order, other: Order, region: str, facts: Facts) -> tuple[str, float] | None:
    """(another Region, price of ``other`` by its prices as a share of the first's), None where no price tells.

    Best a Region that has both prices; else one that bills in the same currency, beside the first's price here.
    """
    of_first, of_other = (facts.priced_in.get((FSX, "storage", order.name), {}) for order in (first, other))
    for there in sorted(of_other, key=lambda there: there not in of_first):
        beside = there if there in of_first else region
        if of_first.get(beside) == of_other[there]:
            mine, others = _price_of(first, beside, facts), _price_of(other, there, facts)
            if mine and others is not None:
                return there, others / mine
    return None


def _price_of(order: Order, region: str, facts: Facts) -> float | None:
    return _monthly(*unit_prices(order.name, region, facts), order.capacity_gib, order.ordered_iops)


def _monthly(a_gib: Quantity | None, an_iops: Quantity | None, gib: float, ordered_iops: float) -> float | None:
    """What :func:`prices` come to, in the middle; orders are compared by it."""
    if a_gib is None or (ordered_iops and an_iops is None):
        return None
    return a_gib.value * gib + (an_iops.value * ordered_iops if an_iops and ordered_iops else 0.0)
