"""What an order costs per month, here or by the prices of other Regions."""

from __future__ import annotations

from functools import lru_cache

from gpufeed.facts import Facts
from gpufeed.facts.quantity import Quantity
from gpufeed.model.fsx.types import Order
from gpufeed.model.rules import FSX


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


@lru_cache(maxsize=64)  # likewise
def any_priced(region: str, facts: Facts) -> bool:
    """Whether any type has a price in this Region, or in another with the same currency."""
    return any(weighed_unit_prices(name, region, facts)[0] is not None for name in facts.fsx)


def prices(order: Order, region: str, facts: Facts) -> tuple[Quantity | None, Quantity | None]:
    """(storage, ordered metadata IOPS) per month; IOPS cost 0 where none are ordered, priced or not."""
    a_gib, an_iops = unit_prices(order.name, region, facts)
    metadata: Quantity | None = Quantity(0.0, 0.0, 0.0, "per month")
    if order.ordered_iops:
        metadata = None if an_iops is None else an_iops.times(order.ordered_iops, "per month")
    return None if a_gib is None else a_gib.times(order.capacity_gib, "per month"), metadata


def price_of(order: Order, region: str, facts: Facts) -> float | None:
    return monthly(*unit_prices(order.name, region, facts), order.capacity_gib, order.ordered_iops)


def monthly(a_gib: Quantity | None, an_iops: Quantity | None, gib: float, ordered_iops: float) -> float | None:
    """What :func:`prices` come to, in the middle; orders are compared by it."""
    if a_gib is None or (ordered_iops and an_iops is None):
        return None
    return a_gib.value * gib + (an_iops.value * ordered_iops if an_iops and ordered_iops else 0.0)
