"""Every configuration that meets a need, side by side, cheapest first, and the first of them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from gpufeed.facts import Facts
from gpufeed.facts.catalogue import Section
from gpufeed.model.frozen import changed
from gpufeed.model.fsx.efa import efa_offered, of_efa
from gpufeed.model.fsx.orders import allowed_types, best_orders, disqualifiers, orders_for, unpriced_orders
from gpufeed.model.fsx.prices import prices
from gpufeed.model.fsx.said import beside_the_price, carried_less, few_clients, lacking, notes_of, unpriced_rival
from gpufeed.model.fsx.sizing import accepted, asked_gib, disk_rate, memory_of, network_rate, opens_per_s_of, servers_of
from gpufeed.model.fsx.types import Configuration, Configurations, Need, Order, RuledOut


def configurations(need: Need, region: str, facts: Facts) -> Configurations:
    """Deployment type × MB/s per TiB × EFA, each at the least capacity and metadata IOPS that meet the need."""
    orders = orders_for(need, region, facts)
    found = [configured(order, region, facts, need) for order in orders]
    if rival := unpriced_rival(orders, region, facts, need):
        found[0] = changed(found[0], notes=(*found[0].notes, rival))
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
    orders = best_orders(need, region, facts)
    if not orders:
        return None
    chosen = configured(orders[0], region, facts, need)
    rival = unpriced_rival((*orders, *unpriced_orders(need, region, facts)), region, facts, need)
    return chosen if rival is None else changed(chosen, notes=(*chosen.notes, rival))


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
    read, servers = disk_rate(section, order.capacity_gib, "read"), servers_of(section, order.capacity_gib)
    asked = asked_gib(section, need, facts, efa=order.efa)
    set_by = _size_set_by(order, asked, section)
    return Configuration(
        name=order.name,
        settings=settings,
        capacity_gib=order.capacity_gib,
        read_bytes_per_s=read,
        write_bytes_per_s=disk_rate(section, order.capacity_gib, "write"),
        opens_per_s=opens_per_s_of(order, facts),
        network_bytes_per_s=network_rate(section, order.capacity_gib, region),
        memory_bytes=memory_of(section, order.capacity_gib),
        first_byte_latency=section.known("first_byte_latency"),
        ordered_iops=order.ordered_iops,
        efa=order.efa,
        servers=servers,
        storage_per_month=storage,
        metadata_per_month=metadata,
        per_month=None if storage is None or metadata is None else storage.plus(metadata, "per month"),
        asked_gib=asked,
        size_set_by=set_by,
        lacks=lacking(order, region, need, facts),
        notes=(
            *notes_of(order, asked, set_by, need=need, section=section, facts=facts),
            *beside_the_price(order, asked, section=section, need=need, facts=facts),
            *carried_less(need, efa=order.efa),
            *few_clients(order, servers, read, need, facts),
            *(of_efa(need, facts, efa=order.efa) if order.efa or efa_offered(region, facts) is not False else ()),
        ),
    )


def _size_set_by(order: Order, asked: Mapping[str, float], section: Section) -> str:
    if order.capacity_gib > accepted(section, max(asked.values()), efa=order.efa):
        return "metadata"
    smallest = accepted(section, 0.0, efa=order.efa)
    return "minimum" if order.capacity_gib == smallest else max(asked, key=asked.__getitem__)
