"""Which types can be used in a Region, and the order of each that meets a need, the one to choose first."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import NamedTuple

from gpufeed.facts import Facts
from gpufeed.facts.catalogue import Section
from gpufeed.facts.quantity import Quantity
from gpufeed.model.fsx.efa import efa_advised, efa_for_all, efa_offered
from gpufeed.model.fsx.prices import monthly, unit_prices, weighed_unit_prices
from gpufeed.model.fsx.sizing import capacity_for, granted_iops, iops_and_ordered, iops_for, with_more_iops
from gpufeed.model.fsx.types import Need, Order
from gpufeed.model.recommendation import Reason


def allowed_types(region: str, facts: Facts) -> tuple[str, ...] | None:
    """Deployment types of a Region; None where no source says which (and where the Region has no entry here)."""
    return facts.regions[region].get_value("fsx_deployment_types") if region in facts.regions else None


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


@lru_cache(maxsize=8)  # what waits is sized from the same orders as what does not
def best_orders(need: Need, region: str, facts: Facts) -> list[Order]:
    """The head of :func:`orders_for`: those of the priced types, where one of them lacks nothing; else all."""
    offers = _offers(region, facts, random_reads=need.random_reads)
    ranked = _ranked([offer for offer in offers if offer.a_gib_here], need, region, facts)
    if ranked and ranked[0][0][:2] == (0, False):
        return _one_each(ranked)
    return orders_for(need, region, facts)


def unpriced_orders(need: Need, region: str, facts: Facts) -> list[Order]:
    """Those of :func:`orders_for` whose capacity has no price here."""
    offers = _offers(region, facts, random_reads=need.random_reads)
    return _one_each(_ranked([offer for offer in offers if not offer.a_gib_here], need, region, facts))


#: What lacks less, then what is priced here, then what is priced elsewhere, then the cheaper … comes first.
_Ranked = list[tuple[tuple[float, ...], Order]]


def _ranked(offers: Iterable[_Offer], need: Need, region: str, facts: Facts) -> _Ranked:
    granted, lacks, able = granted_iops(facts), lacks_of(need, region, facts), efa_for_all(need, facts)
    wanted_by = tuple(iops_for(need.carried(efa=efa).opens, facts) for efa in (False, True))
    found: _Ranked = []
    for offer in offers:
        a_gib, an_iops = offer.a_gib, offer.an_iops
        for efa in (False, True) if able and offer.efa else (False,):
            least, wanted = capacity_for(offer.section, need, facts, efa=efa), wanted_by[efa]
            pays = offer.settable_iops and a_gib is not None and an_iops is not None
            larger = with_more_iops(offer.section, least, wanted, granted, efa=efa) if pays else ()
            for capacity in (least, *larger):
                iops, ordered = iops_and_ordered(capacity, wanted, granted, facts, settable=offer.settable_iops)
                price = monthly(a_gib, an_iops, capacity, ordered)
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


def lacks_of(need: Need, region: str, facts: Facts) -> Callable[[bool, float], int]:
    """How many things an order lacks, by whether it has EFA and by its metadata IOPS.

    A way that carries less opens fewer files, and is no better for it.
    """
    may_have_efa = efa_for_all(need, facts) and efa_offered(region, facts) is not False
    advised = efa_advised(need, facts)
    at_best = iops_for(need.carried(efa=may_have_efa).opens, facts)
    return lambda efa, iops: (advised and not efa) + (iops < at_best)
