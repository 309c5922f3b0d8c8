"""What is said of a file system: what it lacks, what it is sized for, and what its choice rests on."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from gpufeed.facts import Facts
from gpufeed.facts.catalogue import Section
from gpufeed.facts.quantity import Quantity
from gpufeed.model.fsx.efa import EFA_CONNECTIONS, EFA_IN_PARTS, efa_advised, efa_offered
from gpufeed.model.fsx.orders import lacks_of
from gpufeed.model.fsx.prices import price_of, weighed_unit_prices
from gpufeed.model.fsx.sizing import (
    accepted,
    capacity_at,
    disk_rate,
    opens_per_s_of,
    ordered_throughput,
    server_connections,
)
from gpufeed.model.fsx.types import GIB, GIB_PER_BILLED_TIB, Configuration, Need, Order
from gpufeed.model.recommendation import Reason
from gpufeed.model.rules import FSX

#: Notes on a file system that belong to any plan that orders it, and how grave they are is said there.
BEYOND_PUBLISHED = "fsx-beyond-published"
UNPRICED_CHEAPER, UNPRICED_SMALLER = "fsx-unpriced-cheaper-elsewhere", "fsx-unpriced-smaller"
UNPRICED_WITH_WAITING = "fsx-unpriced-with-waiting"
NONE_PRICED, PRICED_ELSEWHERE = "fsx-none-priced", "fsx-priced-elsewhere"
UNTIL_EXPORTED = "fsx-room-until-exported"
SIZED_BY_ASSUMED_OPENS = "fsx-sized-by-assumed-opens"
#: The clients carry less than is asked: no file system, however large, would bring more.
CARRIED_LESS = {
    "read": "fsx-clients-carry-less-read",
    "restore": "fsx-clients-carry-less-restore",
    "write": "fsx-clients-carry-less-write",
}
SAID_WITH_THE_PLAN = frozenset(
    {
        BEYOND_PUBLISHED,
        UNPRICED_CHEAPER,
        UNPRICED_SMALLER,
        UNPRICED_WITH_WAITING,
        NONE_PRICED,
        PRICED_ELSEWHERE,
        CARRIED_LESS["read"],
    }
    | {SIZED_BY_ASSUMED_OPENS, EFA_CONNECTIONS, EFA_IN_PARTS}
)


def said_with_the_plan(one: Configuration) -> tuple[Reason, ...]:
    return tuple(note for note in one.notes if note.id in SAID_WITH_THE_PLAN)


def lacking(order: Order, region: str, need: Need, facts: Facts) -> tuple[Reason, ...]:
    """What an order lacks although it holds the data and brings the rates."""
    found = []
    if efa_advised(need, facts) and not order.efa:
        if efa_offered(region, facts) is False:
            found.append(Reason("fsx-region-without-efa", {"region": region}, "fsx-efa"))
        else:
            able = facts.fsx[order.name].get_value("efa")
            found.append(Reason("fsx-without-efa" if able else "fsx-type-without-efa", {}, "fsx-efa"))
    opens, wanted = opens_per_s_of(order, facts), need.carried(efa=order.efa).opens
    if opens.value < wanted:
        needs = Quantity.exact(wanted, "opens/s")
        found.append(Reason("fsx-opens-not-reached", {"gives": opens, "needs": needs}, "fsx-performance"))
    return tuple(found)


def notes_of(
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
    sends = capacity_at(need.carried(efa=order.efa).read, network)
    others = (gib for part, gib in asked.items() if part != "read")
    return accepted(section, max(holds, sends, *others), efa=order.efa)


def carried_less(need: Need, *, efa: bool) -> Iterator[Reason]:
    """For what the file system is not sized, since its clients carry less."""
    for what, limit, asked, carries in need.carried(efa=efa).bounds:
        clients = need.writing_clients if what == "write" else need.clients
        rates = {"asked": Quantity.exact(asked, "bytes/s"), "carries": Quantity.exact(carries, "bytes/s")}
        yield Reason(CARRIED_LESS[what], {"limit": limit, "clients": clients, **rates})


def few_clients(order: Order, servers: int | None, read: Quantity, need: Need, facts: Facts) -> Iterator[Reason]:
    """That the instances get less from the file servers, without EFA, than the disks give.

    References: fsx-performance.
    """
    if order.efa or servers is None or not need.clients:
        return
    reached = server_connections(servers, need.clients, facts)
    if reached.value < read.value:
        said = {"clients": need.clients, "servers": servers, "reached": reached}
        yield Reason("fsx-few-clients", said, "fsx-performance")


def beside_the_price(
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
    holds = need.holds_at(ordered_throughput(section, order.capacity_gib))
    if need.leaves_bytes > 0 and order.capacity_gib * GIB < holds + need.leaves_bytes:
        found = {"bytes": holds, "stays": Quantity.exact(need.leaves_bytes, "bytes")}
        yield Reason("fsx-holds-what-is-read", found, "fsx-data-repositories")
    if holds > need.holds_bytes:
        yield until_exported(need)
    fsx = facts.options[FSX]
    largest, fastest = fsx.known("largest_published_capacity"), fsx.known("aggregate_read_at_least")
    rate = disk_rate(section, order.capacity_gib, "read")
    if order.capacity_gib > largest.value / GIB or rate.value > fastest.value:
        found = {"capacity": order.capacity_gib, "bytes_per_s": rate.value, "largest": largest, "fastest": fastest}
        yield Reason(BEYOND_PUBLISHED, found, "fsx-1-tb-s-blog")


def until_exported(need: Need) -> Reason:
    """That there is room for more checkpoints than are kept."""
    return Reason(UNTIL_EXPORTED, {"bytes": Quantity.exact(need.until_exported_bytes, "bytes")}, "fsx-release-api")


def unpriced_rival(orders: Sequence[Order], region: str, facts: Facts, need: Need) -> Reason | None:
    """An order that has no price here and may be cheaper than the first: by a price elsewhere, or as it is smaller."""
    if not orders:
        return None
    first, *others = orders
    if price_of(first, region, facts) is None:
        return _not_priced(first, region, facts)
    lacks = lacks_of(need, region, facts)
    no_more = lacks(first.efa, first.metadata_iops)
    found: list[tuple[float, Reason]] = []
    for other in others:
        if price_of(other, region, facts) is not None or lacks(other.efa, other.metadata_iops) > no_more:
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
            mine, others = price_of(first, beside, facts), price_of(other, there, facts)
            if mine and others is not None:
                return there, others / mine
    return None
