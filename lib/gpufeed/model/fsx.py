"""Sizing FSx for Lustre: the configuration that meets a need at the least price."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gpufeed.facts import Facts
from gpufeed.facts.catalogue import Section
from gpufeed.facts.quantity import Quantity
from gpufeed.model.rules import FSX

GIB = 2**30
MB = 10**6
#: AWS calls 1,000 GiB of StorageCapacity a "TiB" when it multiplies by MB/s per TiB.
GIB_PER_BILLED_TIB = 1000


@dataclass(frozen=True, slots=True)
class Configuration:
    """One file system one could order.  Rates in bytes/s; ``per_month`` None means "not priced"."""

    name: str
    settings: Mapping[str, Any]
    capacity_gib: float
    read_bytes_per_s: Quantity
    write_bytes_per_s: Quantity
    opens_per_s: Quantity
    first_byte_latency: Quantity
    efa: bool
    per_month: Quantity | None


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


def is_allowed(section: Section, capacity_gib: float) -> bool:
    """Whether AWS accepts exactly this StorageCapacity [GiB]."""
    return allowed_capacity(section, capacity_gib) == capacity_gib


def throughput(capacity_gib: float, per_tib: Quantity) -> Quantity:
    """bytes/s of a file system: GiB / 1000 × MB/s per TiB × 10^6.  References: fsx-ssd-storage."""
    return (per_tib * (capacity_gib / GIB_PER_BILLED_TIB * MB)).named("bytes/s")


def automatic_metadata_iops(capacity_gib: float, facts: Facts) -> float:
    """Metadata IOPS that come with a capacity when none are ordered: a step counts once it is whole.

    References: fsx-performance.
    """
    chosen = facts.options[FSX]
    step = chosen.known("metadata_iops_automatic_large_step").value / GIB
    if capacity_gib >= 2 * step:
        return chosen.known("metadata_iops_automatic_large").value * math.floor(capacity_gib / step)
    granted = 0.0
    for from_gib, iops in chosen["metadata_iops_automatic"].value:
        if capacity_gib >= from_gib:
            granted = float(iops)
    return granted


@dataclass(frozen=True, slots=True)
class Need:
    """What a file system has to hold and to move.  Bytes, bytes/s, opens/s."""

    holds_bytes: float
    read_bytes_per_s: float = 0.0
    write_bytes_per_s: float = 0.0
    opens_per_s: float = 0.0
    efa: bool = False  # the clients can use it


def configure(name: str, capacity_gib: float, region: str, facts: Facts, need: Need) -> Configuration:
    """The file system of one type at one capacity, with what it gives and what it costs per month.

    The middle of a rate is the disk's baseline, the high end its burst: a dataset that is streamed for hours lives on
    the baseline.
    """
    section = facts.fsx[name]

    def rate(direction: str) -> Quantity:
        baseline = section.known(f"disk_{direction}_baseline")
        burst = section.quantity(f"disk_{direction}_burst") or baseline
        sources = baseline.sources | burst.sources
        per_tib = Quantity(baseline.low, baseline.value, burst.high, "", baseline.basis, sources)
        return throughput(capacity_gib, per_tib)

    iops, ordered = metadata_iops(section, capacity_gib, need.opens_per_s, facts)
    settings: dict[str, Any] = {
        "deployment_type": section.get_value("deployment_type"),
        "storage_type": section.get_value("storage_type"),
        "storage_capacity_gib": int(capacity_gib),
        "throughput_mb_per_s_per_tib": section.known("per_unit_throughput").value,
    }
    if section.get_value("metadata_configuration"):
        settings["metadata_iops"] = int(iops)
    efa = need.efa and bool(section.get_value("efa"))
    if efa:
        settings["efa"] = True
    return Configuration(
        name=name,
        settings=settings,
        capacity_gib=capacity_gib,
        read_bytes_per_s=rate("read"),
        write_bytes_per_s=rate("write"),
        opens_per_s=(facts.options[FSX].known("file_opens_per_iops") * iops).named("requests/s"),
        first_byte_latency=section.known("first_byte_latency"),
        efa=efa,
        per_month=_per_month(name, capacity_gib, ordered, region, facts),
    )


def _per_month(name: str, capacity_gib: float, ordered_iops: float, region: str, facts: Facts) -> Quantity | None:
    storage = facts.price(FSX, "storage", region, name)
    iops = facts.price(FSX, "metadata-iops", region, name)
    if storage is None or (ordered_iops and iops is None):
        return None
    total = storage * capacity_gib
    if ordered_iops and iops is not None:
        total = total + iops * ordered_iops
    return total.named("per month")


def cheapest(need: Need, region: str, facts: Facts) -> Configuration | None:
    """The file system that meets the need at the least price; among unpriced ones, the smallest; None: region has none.

    Left out: types that cannot link to S3 (the data set lives there), that are not replicated (checkpoints would have
    no second copy), or that the region does not have.  A type that cannot reach the opens/s is still offered, since
    none may: the supply then says that metadata operations bind.
    """
    # A Region without an entry here has no known restriction, and no prices either.
    allowed_types = facts.regions[region].get_value("fsx_deployment_types") if region in facts.regions else None
    found: list[tuple[bool, float, bool, str, float]] = []
    for name, section in facts.fsx.items():
        if not section.get_value("s3_link") or not section.get_value("replicated"):
            continue
        if allowed_types is not None and section.get_value("deployment_type") not in allowed_types:
            continue
        capacity = capacity_for(section, need)
        price = facts.price(FSX, "storage", region, name)
        amount = capacity * (1.0 if price is None else price.value)
        # Disks are the last of equals: reading at random from them is slower than their streaming rate says.
        found.append((price is None, amount, section.get_value("storage_type") == "HDD", name, capacity))
    if not found:
        return None
    *_, name, capacity = min(found)
    return configure(name, capacity, region, facts, need)


def capacity_for(section: Section, need: Need) -> float:
    """The least allowed StorageCapacity [GiB] that holds the data and brings the rates."""
    gib = max(
        need.holds_bytes / GIB,
        _capacity_at(need.read_bytes_per_s, section.known("disk_read_baseline")),
        _capacity_at(need.write_bytes_per_s, section.known("disk_write_baseline")),
    )
    step = section.quantity("efa_capacity_step")
    if need.efa and step is not None:
        return math.ceil(gib / (step.value / GIB)) * step.value / GIB
    return allowed_capacity(section, gib)


def _capacity_at(bytes_per_s: float, per_tib: Quantity) -> float:
    """GiB that bring this rate: the inverse of :func:`throughput`."""
    return bytes_per_s / MB / per_tib.value * GIB_PER_BILLED_TIB


def metadata_iops(section: Section, capacity_gib: float, opens_per_s: float, facts: Facts) -> tuple[float, float]:
    """(metadata IOPS, those of them that are ordered on top of what comes with the capacity)."""
    steps = facts.options[FSX].get_value("metadata_iops_steps")
    included = min(automatic_metadata_iops(capacity_gib, facts), float(steps[-1]))
    if not section.get_value("metadata_configuration"):
        return included, 0.0
    chosen = facts.options[FSX]
    wanted = opens_per_s / chosen.known("file_opens_per_iops").value
    enough = next((float(step) for step in steps if step >= wanted), float(steps[-1]))
    return max(included, enough), max(0.0, enough - included)
