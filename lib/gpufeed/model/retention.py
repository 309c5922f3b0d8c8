"""Keeping checkpoints: how much lies there, and what keeping and saving cost per month on each option."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gpufeed.facts import Facts
from gpufeed.facts.catalogue import Section
from gpufeed.facts.quantity import Quantity
from gpufeed.model.cost import month_in_s3, requests_price
from gpufeed.model.fsx import GIB, allowed_capacity
from gpufeed.model.recommendation import Recommendation, Supply
from gpufeed.model.rules import EXPRESS, FSX, MOUNTPOINT, S3, S3_FILES
from gpufeed.model.supply import mountpoint_backing
from gpufeed.model.workload import Workload

_SECONDS_PER_HOUR = 3600.0
_OPEN_AND_CLOSE = 2  # requests around the parts of one multipart upload


@dataclass(frozen=True, slots=True)
class Retention:
    """Per month of running.  Money in ``currency``; a part that is not priced is None and named."""

    kept: Quantity  # checkpoints
    gib_months: Quantity
    currency: str
    keeping: Quantity | None
    saving: Quantity | None  # requests and what is charged per GB written
    total: Quantity | None
    not_priced: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Saves:
    """What a month of saving puts on an option.  Bytes."""

    size: float
    kept: Quantity
    per_month: float
    requests: float  # of one save, as parts and what opens and closes them
    region: str
    currency: str
    facts: Facts

    @property
    def kept_gib(self) -> Quantity:
        return self.kept * (self.size / GIB)

    @property
    def written_gib(self) -> float:
        """Per month."""
        return self.per_month * self.size / GIB


def kept_checkpoints(workload: Workload, facts: Facts) -> Quantity:
    """How many are kept: as stated, or the default with its range."""
    if workload.checkpoints_kept is not None:
        return Quantity.exact(float(workload.checkpoints_kept), "count")
    return facts.model.known("checkpoints_kept")


def files_and_parts(size: float, writers: int, facts: Facts) -> tuple[float, float]:
    """(bytes per file, parts per file) of a save with one file per rank that saves.

    Parts are as clients make them, larger ones where a file would have more parts than S3 allows.
    """
    each = size / writers
    most = facts.options[S3].known("multipart_maximum_parts").value
    return each, min(math.ceil(each / facts.model.known("part_bytes").value), most)


def retention(option: str, plan: Recommendation, supply: Supply, facts: Facts) -> Retention | None:
    """What keeping and saving cost on one option; None where the size of a checkpoint is not known."""
    demand = plan.demand
    if demand.checkpoint_bytes is None:
        return None
    size = demand.checkpoint_bytes.value
    _, parts = files_and_parts(size, demand.checkpoint_writers, facts)
    hours = facts.model.known("hours_per_month").value
    saves = _Saves(
        size=size,
        kept=kept_checkpoints(plan.workload, facts),
        per_month=hours * _SECONDS_PER_HOUR / demand.checkpoint_interval,
        requests=demand.checkpoint_writers * (parts + _OPEN_AND_CLOSE),
        region=plan.region,
        currency=plan.currency,
        facts=facts,
    )
    backing = mountpoint_backing(frozenset(plan.workload.file_operations)) if option == MOUNTPOINT else option
    keeping, saving = _OPTIONS[backing](saves, supply.configuration)
    missing = [name for name, part in (("storage", keeping), ("requests", saving)) if part is None]
    total = None if keeping is None or saving is None else (keeping + saving).named(plan.currency)
    return Retention(
        kept=saves.kept,
        gib_months=saves.kept_gib,
        currency=plan.currency,
        keeping=keeping,
        saving=saving,
        total=total,
        not_priced=tuple(missing),
    )


_Parts = tuple[Quantity | None, Quantity | None]  # keeping, saving


def _s3(saves: _Saves, _: Mapping[str, Any]) -> _Parts:
    return month_in_s3(saves.kept_gib * GIB, saves.region, saves.currency, saves.facts), _puts(S3, saves)


def _express(saves: _Saves, _: Mapping[str, Any]) -> _Parts:
    """Every byte uploaded is charged as well."""
    storage = saves.facts.price(EXPRESS, "storage", saves.region)
    upload = saves.facts.price(EXPRESS, "upload", saves.region)
    puts = _puts(EXPRESS, saves)
    saving = None if puts is None or upload is None else (puts + upload * saves.written_gib).named(saves.currency)
    return _money(storage, saves.kept_gib, saves), saving


def _fsx(saves: _Saves, configuration: Mapping[str, Any]) -> _Parts:
    """Capacity is bought, and writing to it is free.

    Low: the checkpoints' share of a file system that is there anyway.  High: one of its own, of the plan's type and in
    the steps AWS sells.
    """
    name = _type_of(configuration, saves.facts)
    price = None if name is None else saves.facts.price(FSX, "storage", saves.region, name)
    if name is None or price is None:
        return None, Quantity(0.0, 0.0, 0.0, saves.currency)
    share, own = saves.kept_gib, allowed_capacity(saves.facts.fsx[name], saves.kept_gib.high)
    wanted = Quantity(share.low, share.value, own, "", share.basis, share.sources)
    return _money(price, wanted, saves), Quantity(0.0, 0.0, 0.0, saves.currency)


def _s3_files(saves: _Saves, _: Mapping[str, Any]) -> _Parts:
    """Kept on its own storage and, exported, in the bucket; writing and exporting are charged per GB.

    Assumption: a checkpoint is deleted before it would leave the file system's own storage, and versions that are
    replaced are expired by a lifecycle rule.  References: s3-files-metering.
    """
    price = {item: saves.facts.price(S3_FILES, item, saves.region) for item in ("storage", "read", "write")}
    bucket, puts = _s3(saves, {})
    own = _money(price["storage"], saves.kept_gib, saves)
    keeping = None if own is None or bucket is None else (own + bucket).named(saves.currency)
    if price["write"] is None or price["read"] is None or puts is None:
        return keeping, None
    moved = (price["write"] + price["read"]) * saves.written_gib  # an export is billed as a read
    return keeping, (moved + puts).named(saves.currency)


def _puts(option: str, saves: _Saves) -> Quantity | None:
    requests = Quantity.exact(saves.requests * saves.per_month)
    paid = requests_price(option, "put", requests, saves.region, saves.facts)
    return None if paid is None else paid.named(saves.currency)


def _money(price: Quantity | None, amount: Quantity, saves: _Saves) -> Quantity | None:
    return None if price is None else (price * amount).named(saves.currency)


def _type_of(configuration: Mapping[str, Any], facts: Facts) -> str | None:
    """The name in fsx.toml of a configuration that was ordered."""

    def is_it(section: Section) -> bool:
        per_tib = section.quantity("per_unit_throughput")
        return (
            section.get_value("deployment_type") == configuration.get("deployment_type")
            and section.get_value("storage_type") == configuration.get("storage_type")
            and per_tib is not None
            and per_tib.value == configuration.get("throughput_mb_per_s_per_tib")
        )

    return next((name for name, section in facts.fsx.items() if is_it(section)), None)


_OPTIONS = {S3: _s3, EXPRESS: _express, FSX: _fsx, S3_FILES: _s3_files}
