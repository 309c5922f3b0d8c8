"""Keeping checkpoints: how much lies there, and what keeping and saving cost per month on each option."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from gpufeed.facts import Facts
from gpufeed.facts.catalogue import Section
from gpufeed.facts.quantity import Quantity, least
from gpufeed.model.cost import Bill, Run, bill_of, stored, sum_of, summed
from gpufeed.model.frozen import frozen
from gpufeed.model.fsx import GIB, Configuration, allowed_capacity
from gpufeed.model.paths import kms_calls
from gpufeed.model.recommendation import CostLine, Demand, Recommendation, Supply
from gpufeed.model.release import export_seconds, exported_every
from gpufeed.model.rules import EXPRESS, FSX, S3, S3_FILES
from gpufeed.model.supply import lies_on
from gpufeed.model.upload import upload_of_saves
from gpufeed.model.workload import Workload

_SECONDS_PER_HOUR = 3600.0


@frozen
class Retention:
    """Per month of running.  Money in ``currency``; a part that is not priced is None and named."""

    kept: Quantity  # checkpoints
    gib_months: Quantity
    currency: str
    keeping: Quantity | None
    saving: Quantity | None  # requests, what is charged per GB written, the way there and its keys
    total: Quantity | None
    not_priced: tuple[str, ...]


@frozen
class Saves:
    """What saving puts on an option in the time of a bill.  Bytes."""

    size: Quantity
    kept: Quantity
    count: float
    requests_each: float  # of one save in parts as clients make them, and what opens and closes them
    requests_on_express: float  # of one save to a directory bucket: the part is chosen
    parts_on_s3: float  # of one save to S3 itself, or copied there: the part is chosen
    requests_on_s3: float
    lying: Quantity  # those kept; on FSx for Lustre what is being exported, too, which stays until it is
    exported_every: int = 1  # out of FSx for Lustre, one save in so many

    @property
    def kept_bytes(self) -> Quantity:
        return self.kept * self.size

    @property
    def written_bytes(self) -> Quantity:
        return self.size * self.count

    @property
    def copies(self) -> float:
        """That a file system exports to the bucket, or that are copied there out of a directory bucket.

        The last save is one of them.
        """
        return max(self.count / self.exported_every, min(self.count, 1.0))

    @property
    def kept_in_s3_bytes(self) -> Quantity:
        """No more than get there."""
        return _of_those_made(self.kept, self.copies) * self.size

    @property
    def put_on_express(self) -> Quantity:
        return self.size.at(self.count * self.requests_on_express)

    @property
    def copied_parts(self) -> Quantity:
        return self.size.at(self.copies * self.parts_on_s3)


def kept_checkpoints(workload: Workload, facts: Facts) -> Quantity:
    """How many are kept: as stated, or the default with its range."""
    if workload.checkpoints_kept is not None:
        return Quantity.exact(float(workload.checkpoints_kept), "count")
    return facts.model.known("checkpoints_kept")


def kept_of(hours: float, workload: Workload, demand: Demand, facts: Facts) -> Quantity:
    """How many are kept of those that so many hours make: never more than there are, and one at least."""
    return _of_those_made(kept_checkpoints(workload, facts), _made(hours, demand))


def with_unexported(hours: float, workload: Workload, demand: Demand, facts: Facts, *, in_s3: float) -> Quantity:
    """How many lie on a file system where ``in_s3`` seconds after a save began its copy is in S3.

    Those kept count the one that is being written: where as many others follow before its copy is there, a save has to
    go before it may.  An export ends before the next save that is exported, so no two of them last so long.  At the
    slow end of exports only those stay longer that never end, and for these no room is enough.
    Equation: kept + 1 where in_s3 > kept × interval, no more than are made.
    """
    kept, interval = kept_checkpoints(workload, facts), demand.checkpoint_interval
    low, value, high = (bound + 1.0 if in_s3 > bound * interval else bound for bound in kept[:3])
    return _of_those_made(kept.bounded(low, value, high, kept.unit), _made(hours, demand))


def _of_those_made(kept: Quantity, made: float) -> Quantity:
    whole = max(1.0, math.ceil(made))
    return kept if kept.high <= whole else least(kept, kept.at(whole))


def _made(hours: float, demand: Demand) -> float:
    return hours * _SECONDS_PER_HOUR / demand.checkpoint_interval


def exported(saves: Saves, bill: Bill) -> Iterator[CostLine]:
    """What an FSx for Lustre file system exports to the bucket: kept there, and each part that brings it there.

    Exporting itself is free.  Where saves come faster than they are exported, one in ``every`` is.
    Assumptions: parts as clients make them, since how FSx for Lustre cuts what it exports is not published; copies of
    checkpoints that are no longer kept are deleted in the bucket, too, which automatic export does only if it was told
    to.  References: fsx-data-repositories.
    """
    yield from _in_s3(saves, bill, saves.requests_each)
    if bill.run.network_path == "other-region":
        written = saves.size * saves.copies
        yield bill.line("checkpoint-transfer", "transfer", "network", "other-region", written)


def saves_in(
    hours: float,
    workload: Workload,
    demand: Demand,
    facts: Facts,
    exporting: Mapping[str, Any] | None = None,
    *,
    written: float | None = None,
) -> Saves | None:
    """The saves of so many hours; None where the size of a checkpoint is not known.

    ``exporting``: settings of the FSx for Lustre file system that exports them; None where none does.  ``written``:
    seconds that a save to it takes; None where that is not known, and it may take all of its interval.
    """
    size, writers = demand.checkpoint_bytes, demand.checkpoint_writers
    upload, on_s3, on_express = (upload_of_saves(demand, place, facts) for place in (None, S3, EXPRESS))
    if size is None or upload is None or on_s3 is None or on_express is None:
        return None
    kept = kept_of(hours, workload, demand, facts)
    every, lying = 1, kept
    if exporting is not None:
        every, export = exported_every(FSX, exporting, demand, facts), export_seconds(FSX, exporting, demand, facts)
        taken = demand.checkpoint_interval if written is None else written
        in_s3 = math.inf if export is None else taken + export.value
        lying = with_unexported(hours, workload, demand, facts, in_s3=in_s3)
    return Saves(
        size=size,
        kept=kept,
        count=_made(hours, demand),
        requests_each=writers * upload.requests,
        requests_on_express=writers * on_express.requests,
        parts_on_s3=writers * on_s3.parts,
        requests_on_s3=writers * on_s3.requests,
        lying=lying,
        exported_every=every,
    )


def retention(option: str, plan: Recommendation, supply: Supply, facts: Facts) -> Retention | None:
    """What keeping and saving cost per month on one option; None where the size of a checkpoint is not known."""
    hours = facts.model.known("hours_per_month").value
    exporting = supply.configuration if option == FSX else None
    taken = plan.saving(option).stall.save_seconds
    written = None if taken is None else taken.value
    saves = saves_in(hours, plan.workload, plan.demand, facts, exporting, written=written)
    if saves is None:
        return None
    nothing = Quantity.exact(0.0)
    discount = plan.workload.storage_discount or 0.0
    month = Run(
        *(plan.region, plan.currency, hours, plan.dataset_bytes, 0.0, nothing, None, None, None),
        jobs=plan.demand.jobs,
        network_path=plan.workload.network_path,
        kms_calls=kms_calls(plan.workload.encryption, facts),
        discount=discount,
    )
    bill, own = bill_of(month, facts), plan.saving(option).own
    if own is not None:
        lines = (own_file_system(own, bill), *exported(saves, bill))
    else:
        lines = tuple(saving_lines(option, saves, bill, plan.mounted, supply.configuration))
    sums = summed(plan.currency, 1.0, lines)
    return Retention(
        kept=saves.kept,
        gib_months=saves.lying * saves.size / GIB,
        currency=plan.currency,
        keeping=sums.storage,
        saving=sum_of(plan.currency, (line for line in lines if line.part in ("requests", "transfer", "kms"))),
        total=sums.total,
        not_priced=sums.not_priced,
    )


def own_file_system(own: Configuration, bill: Bill) -> CostLine:
    """A file system for the checkpoints alone, for as long as the run: no metadata IOPS, and nothing to fill."""
    held = Quantity.exact(own.capacity_gib * GIB * bill.months)
    return bill.line("checkpoint-file-system", "storage", FSX, "storage", held, kind=own.name)


def saving_lines(
    option: str, saves: Saves, bill: Bill, mounted: str, configuration: Mapping[str, Any]
) -> Iterator[CostLine]:
    """What checkpoints on this option add to a bill: what is kept there, and what is charged for each save."""
    return _OPTIONS[lies_on(option, mounted)](saves, bill, configuration)


def _s3(saves: Saves, bill: Bill, _: Mapping[str, Any]) -> Iterator[CostLine]:
    yield from _in_s3(saves, bill, saves.requests_on_s3)
    yield from _way(saves, bill)


def _in_s3(saves: Saves, bill: Bill, each: float, *, what: str = "checkpoint") -> Iterator[CostLine]:
    """What is kept in S3 Standard of what gets there, each part that brings it, and the keys it is encrypted with."""
    requests = saves.size.at(saves.copies * each)
    # On top of the data set, which every plan keeps there and which fills the first of the graduated bands.
    yield from stored(bill, f"{what}-storage", "storage", saves.kept_in_s3_bytes, bill.run.dataset_bytes)
    yield bill.line(f"{what}-puts", "requests", S3, "put", requests)
    if bill.run.kms_calls is not None:
        yield bill.line("checkpoint-kms", "kms", "encryption", "kms", requests * bill.run.kms_calls)


def _way(saves: Saves, bill: Bill) -> Iterator[CostLine]:
    """The way of what the instances themselves write to a bucket.  References: nat-pricing-copies."""
    if bill.run.network_path in ("nat", "other-region"):
        yield bill.line("checkpoint-transfer", "transfer", "network", bill.run.network_path, saves.written_bytes)


def _express(saves: Saves, bill: Bill, _: Mapping[str, Any]) -> Iterator[CostLine]:
    """Every byte uploaded is charged as well, and each save is copied to S3: a directory bucket lies in one zone.

    A directory bucket always uses a bucket key, so KMS is asked for the copy alone.
    Assumption: it is copied in the part that is chosen for saves to S3, which the script of the copy sets, and each
    part is a read of the directory bucket.
    """
    yield bill.line("checkpoint-storage", "storage", EXPRESS, "storage", saves.kept_bytes * bill.months)
    yield bill.line("checkpoint-puts", "requests", EXPRESS, "put", saves.put_on_express)
    yield bill.line("checkpoint-upload", "requests", EXPRESS, "upload", saves.written_bytes)
    yield bill.line("checkpoint-copy-gets", "requests", EXPRESS, "get", saves.copied_parts)
    yield bill.line("checkpoint-copy-retrieval", "requests", EXPRESS, "retrieval", saves.written_bytes)
    yield from _in_s3(saves, bill, saves.requests_on_s3, what="checkpoint-copy")
    yield from _way(saves, bill)


def _fsx(saves: Saves, bill: Bill, configuration: Mapping[str, Any]) -> Iterator[CostLine]:
    """Capacity is bought, and writing to it is free; what is exported is kept in S3 as well.

    Low: the checkpoints' share of a file system that is there anyway.  High: this job's part of one for the checkpoints
    of all jobs, of the plan's type and in the steps AWS sells.
    """
    name = _type_of(configuration, bill.facts)
    if name is None:
        yield bill.line("checkpoint-own-storage", "storage", FSX, "storage", None)
        return
    share, jobs = saves.lying * saves.size, bill.run.jobs
    own = allowed_capacity(bill.facts.fsx[name], share.high * jobs / GIB) * GIB / jobs
    held = Quantity(share.low, share.value, own, "", share.basis, share.sources) * bill.months
    yield bill.line("checkpoint-own-storage", "storage", FSX, "storage", held, kind=name)
    yield from exported(saves, bill)


def _s3_files(saves: Saves, bill: Bill, _: Mapping[str, Any]) -> Iterator[CostLine]:
    """Kept on its own storage and, exported, in the bucket; writing and exporting are charged per GB.

    Assumption: a checkpoint is deleted before it would leave the file system's own storage, and versions that are
    replaced are expired by a lifecycle rule.  An export is billed as a read.  References: s3-files-metering.
    """
    yield bill.line("checkpoint-own-storage", "storage", S3_FILES, "storage", saves.kept_bytes * bill.months)
    yield bill.line("checkpoint-writes", "requests", S3_FILES, "write", saves.written_bytes)
    yield bill.line("checkpoint-exports", "requests", S3_FILES, "read", saves.written_bytes)
    yield from _in_s3(saves, bill, saves.requests_each)


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
