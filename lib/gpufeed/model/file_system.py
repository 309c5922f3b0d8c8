"""The file system a job needs, and whether one that exists is enough: what it has, what is short, what to change."""

from __future__ import annotations

import math
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import NamedTuple

from gpufeed.facts import Facts
from gpufeed.facts.catalogue import Section
from gpufeed.facts.quantity import Quantity, least
from gpufeed.model import epochs, fsx
from gpufeed.model.file_system_need import need_of, need_of_saves
from gpufeed.model.fsx import GIB, MB, Carried, Configuration, Configurations, Need
from gpufeed.model.job import Job, job_of
from gpufeed.model.profile import PrefixProfile
from gpufeed.model.recommendation import Reason, Recommendation
from gpufeed.model.rules import FSX
from gpufeed.model.saving_file_system import file_system_with_waiting
from gpufeed.model.workload import Workload

INTELLIGENT_TIERING = "INTELLIGENT_TIERING"
READS, SAVES = "training_reads", "checkpoints"
AUTOMATIC = "AUTOMATIC"  # metadata IOPS that come with the capacity


# ---- what a job needs ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class LeftOut:
    """What a file system is not sized for, since the plan has it elsewhere, and what it would need with it."""

    role: str
    option: str
    need_with_it: Need


@dataclass(frozen=True, slots=True)
class Sized:
    """A job's need and every file system that would do."""

    need: Need
    region: str
    currency: str
    found: Configurations
    left_out: LeftOut | None = None
    held_against: Need | None = None  # by an existing one: its saves keep within the tolerance, or as fast as pays

    @property
    def compared_by(self) -> Need:
        return self.held_against or self.need


def sized(
    workload: Workload, facts: Facts, profile: PrefixProfile | None = None, *, plan: Recommendation | None = None
) -> Sized:
    """Every file system that would do for a workload, side by side.

    It is sized for what ``plan`` has it for: training reads and checkpoints, or one of them; for both where there is no
    plan, or the plan has none.  Where memory may serve the later epochs there are two sizes to choose from, and it is
    the one that the plan has taken.  The plan's own stands first: one that saves go to may be another than the cheapest
    (see :mod:`gpufeed.model.saving_file_system`).
    """
    job, _ = job_of(workload, facts, profile)
    holds = set() if plan is None else {role for role, placed in plan.placements.items() if placed.option == FSX}
    own = None if plan is None else plan.saving(FSX).own
    if plan is not None and own is not None and SAVES in holds:
        left_out = LeftOut(READS, _place(plan, READS), need_of(job))
        found = replace(_sized(need_of_saves(job), job, own), left_out=left_out)
        return replace(found, held_against=_as_fast_as_pays(need_of_saves(job, tolerated=True), found))
    saves = SAVES in holds or not holds
    shares = epochs.shares_to_size_for(job.passes)
    needs = [need_of(job, share, saves=saves) for share in shares]
    if plan is None:
        return _sized(needs[0], job)
    chosen = plan.option(FSX).supply.configuration
    sizes = [_sized(need, job, file_system_with_waiting(need, job, saves=saves)) for need in needs]
    first = next((one for one in sizes if one.found.all and one.found.all[0].settings == chosen), sizes[0])
    if saves:
        share = shares[sizes.index(first)]
        first = replace(first, held_against=_as_fast_as_pays(need_of(job, share, tolerated=True), first))
    both = need_of(job)
    return first if saves or not both.saves else replace(first, left_out=LeftOut(SAVES, _place(plan, SAVES), both))


def _as_fast_as_pays(need: Need, sized_: Sized) -> Need:
    """A need whose saves keep within the tolerance, but where a slower file system costs less than the GPUs that wait.

    The plan's own stands first, and has the least sum of both.
    """
    if not sized_.found.all:
        return need
    most = sized_.found.all[0].write_bytes_per_s.value

    def slower(carried: Carried | None) -> Carried | None:
        return None if carried is None else carried._replace(write=min(carried.write, most))

    return replace(
        need,
        write_bytes_per_s=min(need.write_bytes_per_s, most),
        over_tcp=slower(need.over_tcp),
        over_efa=slower(need.over_efa),
    )


def _place(plan: Recommendation, role: str) -> str:
    return plan.placements[role].option


def _sized(need: Need, job: Job, first: Configuration | None = None) -> Sized:
    found = fsx.configurations(need, job.region, job.facts)
    if first is not None and first.per_month is not None:
        found = replace(found, priced=(first, *(one for one in found.priced if one.settings != first.settings)))
    return Sized(need, job.region, job.facts.currency_of(job.region), found)


# ---- one that exists -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Link:
    """A directory of a file system that stands for a prefix in S3.  ``imports`` and ``exports`` name what follows."""

    path: str
    repository: str
    lifecycle: str
    imports: tuple[str, ...] = ()
    exports: tuple[str, ...] = ()

    @property
    def serves(self) -> bool:
        return self.lifecycle in ("AVAILABLE", "UPDATING")


@dataclass(frozen=True, slots=True)
class FileSystem:
    """An FSx for Lustre file system as AWS describes it.  None: the type has no such setting, or it is not known.

    ``quota_gib`` and ``used_gib`` are those of all file systems of its deployment type in the account and Region.
    """

    id: str
    region: str
    lifecycle: str
    deployment_type: str
    storage_type: str
    capacity_gib: float | None = None
    mb_per_s_per_tib: float | None = None
    throughput_mb_per_s: float | None = None  # Intelligent-Tiering
    metadata_mode: str | None = None
    metadata_iops: float | None = None
    efa: bool = False
    read_cache: str | None = None
    lustre_version: str | None = None
    links: tuple[Link, ...] = ()
    quota_gib: float | None = None
    used_gib: float | None = None


@dataclass(frozen=True, slots=True)
class Compared:
    """One trait: what the file system has beside what the job needs.

    ``verdict``: "enough", "short", "unknown", or "not-asked" where the job needs none (or its demand is not known).
    """

    id: str
    has: Quantity | bool | str | None
    needs: Quantity | bool | str | None
    verdict: str
    note: Reason | None = None

    @property
    def short(self) -> bool:
        return self.verdict == "short"

    @property
    def short_by(self) -> Quantity | None:
        """What is missing, where it is a number."""
        if not self.short or not isinstance(self.has, Quantity) or not isinstance(self.needs, Quantity):
            return None
        return Quantity.exact(self.needs.value - self.has.value, self.needs.unit)

    @property
    def share(self) -> float:
        """How much of the need is there, 0–1 and above."""
        if isinstance(self.has, Quantity) and isinstance(self.needs, Quantity) and self.needs.value:
            return self.has.value / self.needs.value
        return 0.0 if self.short else math.inf


@dataclass(frozen=True, slots=True)
class Comparison:
    """Whether a file system is enough, and what to do where it is not.

    ``enough`` is None where something could not be told.  ``changes`` can be made to the file system as it stands;
    where none suffices, ``instead`` is the one to create.  Prices are per month; None is "not priced".
    """

    file_system: FileSystem
    need: Need
    rows: tuple[Compared, ...]
    binds: str | None
    enough: bool | None
    changes: tuple[Reason, ...]
    instead: Configuration | None
    per_month_now: Quantity | None
    per_month_then: Quantity | None


def compare(has: FileSystem, need: Need, facts: Facts) -> Comparison:
    """A file system beside what a job needs of it.

    The whole capacity counts: what else lies on it cannot be seen from outside.  Rates are those of its disks, not of
    the memory in front of them.
    """
    section = section_of(has, facts)
    rows = tuple(_rows(has, section, need, facts))
    short = [row for row in rows if row.short]
    asked = [row for row in rows if row.verdict in ("short", "enough") and isinstance(row.has, Quantity)]
    binds = min(short or asked, key=lambda row: row.share, default=None)
    unknown = any(row.verdict == "unknown" for row in rows)
    changes: tuple[Reason, ...] = ()
    now = then = _price_now(has, section, facts)
    instead = None
    if short:
        changes, then = _changes(has, section, need, {row.id for row in short}, facts)
        if not changes:
            instead = fsx.cheapest(need, has.region, facts)
            then = None if instead is None else instead.per_month
    return Comparison(
        file_system=has,
        need=need,
        rows=rows,
        binds=None if binds is None else binds.id,
        enough=False if short else None if unknown else True,
        changes=changes,
        instead=instead,
        per_month_now=now,
        per_month_then=then,
    )


def section_of(has: FileSystem, facts: Facts) -> Section | None:
    """The facts of its type; None for one that has none here."""
    for section in facts.fsx.values():
        same = section.get_value("deployment_type"), section.get_value("storage_type")
        per_tib = section.quantity("per_unit_throughput")
        chosen = has.mb_per_s_per_tib is None or per_tib is None or per_tib.value == has.mb_per_s_per_tib
        if same == (has.deployment_type, has.storage_type) and chosen:
            return section
    return None


def _rows(has: FileSystem, section: Section | None, need: Need, facts: Facts) -> Iterator[Compared]:
    yield _lifecycle_row(has)
    yield _capacity_row(has, section, need)
    opens, carried = _opens(has, facts), need.carried(efa=has.efa)
    less = {reason.id: reason for reason in fsx.carried_less(need, efa=has.efa)}
    for trait, gives, asked, unit in (
        ("read", _rate(has, section, "read", need, facts), carried.read, "bytes/s"),
        ("write", _rate(has, section, "write", need, facts), carried.write, "bytes/s"),
        ("opens", opens, carried.opens, "opens/s"),
    ):
        if trait in need.unknown:
            yield Compared(trait, gives, None, "unknown", Reason("fsx-demand-not-known"))
            continue
        row = _number_row(trait, gives, asked, unit, _not_published(trait, has))
        if row.short and trait == "read" and has.read_cache == "READ":
            row = replace(row, note=Reason("fsx-read-cache", {}, "fsx-ssd-storage"))
        bound = [less[id_] for id_ in _bounds_of(trait) if id_ in less]
        yield replace(row, note=bound[0]) if bound and row.note is None else row
    yield from _while_saving_row(has, section, need, facts)
    yield from _efa_rows(has, need, facts)
    yield _link_row(has, section)
    yield from _export_row(has, need)
    replicated = None if section is None else section.get_value("replicated")
    if replicated is False:
        yield Compared("replicated", False, True, "short", fsx.not_replicated(need, "fsx-using"))
    else:
        yield Compared("replicated", replicated, True, "enough" if replicated else "unknown")


def _while_saving_row(has: FileSystem, section: Section | None, need: Need, facts: Facts) -> Iterator[Compared]:
    """Asynchronous saves beside the training reads, where there are any: the disks have one rate for both."""
    read, written = need.carried(efa=has.efa).while_saving
    if not written:
        return
    gives, writes = (_rate(has, section, direction, need, facts) for direction in ("read", "write"))
    asked = read + written
    if gives is not None and writes is not None:
        asked = read + written * gives.value / writes.value
    yield _number_row("while-saving", gives, asked, "bytes/s")


def _efa_rows(has: FileSystem, need: Need, facts: Facts) -> Iterator[Compared]:
    """EFA where the rates want it, and the connections over it, at least one for each client."""
    advised, said = fsx.efa_advised(need, facts), next(fsx.of_efa(need, facts, efa=has.efa), None)
    if advised and not has.efa:
        yield Compared("efa", False, True, "short", Reason("fsx-efa-fixed", {}, "fsx-efa"))
    else:
        note = None if has.efa else said
        yield Compared("efa", has.efa, advised or None, "enough" if advised else "not-asked", note)
    if has.efa and need.efa:
        most = facts.options[FSX].known("efa_connections")
        yield replace(_number_row("efa-connections", most, need.clients, "count"), note=said)


def _export_row(has: FileSystem, need: Need) -> Iterator[Compared]:
    """Whether saves come to S3 by themselves: a link that only imports copies none of them.

    New files alone are not all: a save that is written over an older one is a change.
    """
    serving = [link for link in has.links if link.serves]
    if not need.saves or not serving:
        return
    if any({"NEW", "CHANGED"} <= set(link.exports) for link in serving):
        yield Compared("s3-export", True, True, "enough")
    else:
        without = {"path": serving[0].repository}
        yield Compared("s3-export", False, True, "short", Reason("fsx-not-exported", without, "fsx-link-repository"))


def _bounds_of(trait: str) -> tuple[str, ...]:
    """Which notes say of this trait that the clients carry less than is asked."""
    return {
        "read": (fsx.CARRIED_LESS["read"], fsx.CARRIED_LESS["restore"]),
        "write": (fsx.CARRIED_LESS["write"],),
    }.get(trait, ())


def _lifecycle_row(has: FileSystem) -> Compared:
    """It serves files while it is available, and while a change of its settings is under way."""
    serves = has.lifecycle in ("AVAILABLE", "UPDATING")
    return Compared("available", has.lifecycle, "AVAILABLE", "enough" if serves else "short")


#: What is asked may be so many times less than an assumed figure for it to be enough all the same.
_FAR_FROM_ASSUMED = 100.0


def _not_published(trait: str, has: FileSystem) -> Reason:
    """Why no source gives a rate, and what to do: files open by metadata IOPS, of which some have none set."""
    if trait != "opens":
        return Reason("fsx-not-published")
    return Reason("fsx-opens-not-stated" if has.metadata_mode else "fsx-opens-not-published")


def _number_row(
    trait: str, has: Quantity | None, asked: float, unit: str, not_published: Reason | None = None
) -> Compared:
    if not asked:
        return Compared(trait, has, None, "not-asked")
    needs = Quantity.exact(asked, unit)
    guessed = trait == "opens" and has is not None and has.basis == "assumed"
    if has is None or (guessed and asked > has.value / _FAR_FROM_ASSUMED):
        return Compared(trait, None, needs, "unknown", not_published or Reason("fsx-not-published"))
    # A sum of floats may miss the rate it was sized for by its last digit.
    if has.value >= asked * (1 - 1e-9):
        return Compared(trait, has, needs, "enough")
    return Compared(trait, has, needs, "short", Reason("fsx-burst-only") if has.high >= asked else None)


def _capacity_row(has: FileSystem, section: Section | None, need: Need) -> Compared:
    """Room for all that lies there at its throughput; where that is not known, also for what is being exported."""
    holds = need.holds_at(_ordered(has, section))
    if has.storage_type == INTELLIGENT_TIERING:
        needs = Quantity.exact(holds, "bytes")
        return Compared("capacity", None, needs, "enough", Reason("fsx-grows", {}, "fsx-intelligent-tiering"))
    capacity = None if has.capacity_gib is None else Quantity.exact(has.capacity_gib * GIB, "bytes", "published")
    row = _number_row("capacity", capacity, holds, "bytes")
    linked = any(link.serves for link in has.links)
    return replace(row, note=Reason("fsx-release", {}, "fsx-data-repositories")) if row.short and linked else row


def _ordered(has: FileSystem, section: Section | None) -> float | None:
    """bytes/s that it was ordered with; None where that is not known."""
    if has.storage_type == INTELLIGENT_TIERING:
        return None if has.throughput_mb_per_s is None else has.throughput_mb_per_s * MB
    if section is None or has.capacity_gib is None:
        return None
    return fsx.ordered_throughput(section, has.capacity_gib)


def _rate(has: FileSystem, section: Section | None, direction: str, need: Need, facts: Facts) -> Quantity | None:
    """bytes/s from or to disk, or what few clients get of its servers; for Intelligent-Tiering what was bought."""
    if has.storage_type == INTELLIGENT_TIERING:
        bought = has.throughput_mb_per_s
        return None if bought is None else Quantity.exact(bought * MB, "bytes/s", "published")
    if section is None or has.capacity_gib is None or section.quantity("disk_read_baseline") is None:
        return None
    disk, servers = fsx.disk_rate(section, has.capacity_gib, direction), fsx.servers_of(section, has.capacity_gib)
    clients = need.clients if direction == "read" else need.writing_clients
    if has.efa or servers is None or not clients:
        return disk
    return least(disk, fsx.server_connections(servers, clients, facts)).named("bytes/s")


def _iops(has: FileSystem, facts: Facts) -> float | None:
    """Metadata IOPS; None without a metadata configuration, for which AWS publishes no rate."""
    if has.metadata_iops is None and has.metadata_mode == AUTOMATIC and has.capacity_gib is not None:
        return fsx.automatic_metadata_iops(has.capacity_gib, facts)
    return has.metadata_iops


def _opens(has: FileSystem, facts: Facts) -> Quantity | None:
    """Files opened per second; assumed, as for a new one, where there is no metadata configuration."""
    iops = _iops(has, facts)
    if iops is not None:
        return fsx.opens_per_s(iops, facts)
    if has.capacity_gib is None:
        return None
    return fsx.opens_per_s(fsx.automatic_metadata_iops(has.capacity_gib, facts), facts, published=False)


def _link_row(has: FileSystem, section: Section | None) -> Compared:
    linked = next((link for link in has.links if link.serves), None)
    if linked is not None:
        return Compared("s3-link", True, True, "enough", Reason("fsx-linked", {"path": linked.repository}))
    if has.links:
        broken = {"path": has.links[0].repository, "lifecycle": has.links[0].lifecycle}
        return Compared("s3-link", False, True, "short", Reason("fsx-link-broken", broken))
    able = None if section is None else section.get_value("s3_link")
    if able is None:
        return Compared("s3-link", False, True, "unknown", Reason("fsx-not-linked", {}, "fsx-link-repository"))
    why = "fsx-not-linked" if able else "fsx-no-s3-link"
    return Compared("s3-link", False, True, "short", Reason(why, {}, "fsx-link-repository"))


# ---- what to change --------------------------------------------------------------------------------------------------


class Grown(NamedTuple):
    """The same file system with other settings, and its price per month."""

    section: Section
    capacity_gib: float
    metadata_iops: float | None
    price: Quantity | None

    @property
    def rank(self) -> tuple[bool, float, float]:
        return self.price is None, self.capacity_gib if self.price is None else self.price.value, self.capacity_gib


def _changes(
    has: FileSystem, section: Section | None, need: Need, short: AbstractSet[str], facts: Facts
) -> tuple[tuple[Reason, ...], Quantity | None]:
    """What makes it enough as it stands, and its price then; nothing where no change in place suffices.

    EFA, with the connections over it, replication and a metadata configuration are fixed at creation.
    References: fsx-efa, fsx-metadata.
    """
    by_waiting = {"CREATING": "fsx-change-wait", "MISCONFIGURED": "fsx-change-repair"}.get(has.lifecycle)
    links_to_s3 = section is not None and section.get_value("s3_link")
    fixed = {"efa": True, "efa-connections": True, "replicated": True}
    fixed |= {"available": not by_waiting, "s3-link": not links_to_s3}
    if section is None or any(fixed.get(trait) for trait in short) or ("opens" in short and not has.metadata_mode):
        return (), None
    simple = [Reason(by_waiting)] if by_waiting and "available" in short else []
    if "s3-link" in short:
        repaired = "fsx-change-link-repair" if has.links else "fsx-change-link"
        simple.append(Reason(repaired, {}, "fsx-link-repository"))
    if "s3-export" in short:
        simple.append(Reason("fsx-change-export", {}, "fsx-link-repository"))
    if not short & {"capacity", "read", "write", "while-saving", "opens"}:
        return tuple(simple), _price_now(has, section, facts)
    if has.capacity_gib is None or not section.get_value("can_grow"):
        return (), None
    grown = [_grown(has, other, need, facts) for other in _settable(has, section, facts)]
    enough = [one for one in grown if one is not None]
    if not enough:
        return (), None
    best = min(enough, key=lambda one: one.rank)
    return (*simple, *_differences(has, best, facts)), best.price


def _settable(has: FileSystem, section: Section, facts: Facts) -> Iterator[Section]:
    """Its own type, and those with other MB/s per TiB where that can be set.  References: fsx-update-api, fsx-efa."""
    yield section
    if section.get_value("throughput_settable") and not has.efa:
        for other in facts.fsx.values():
            kind = other.get_value("deployment_type"), other.get_value("storage_type")
            if other is not section and kind == (has.deployment_type, has.storage_type):
                yield other


def _grown(has: FileSystem, section: Section, need: Need, facts: Facts) -> Grown | None:
    """The file system at the MB/s per TiB of ``section``, grown until it is enough; None where it never is."""
    capacity = max(has.capacity_gib or 0.0, fsx.capacity_for(section, need, facts, efa=has.efa))
    iops = None
    if has.metadata_mode is not None:
        opens = need.carried(efa=has.efa).opens
        enough, _ = fsx.metadata_iops(section, capacity, opens, facts)
        iops = max(enough, _iops(has, facts) or 0.0)
        if fsx.opens_per_s(iops, facts).value < opens:
            return None
    return Grown(section, capacity, iops, _price(section, capacity, iops, has.region, facts))


def _differences(has: FileSystem, grown: Grown, facts: Facts) -> Iterator[Reason]:
    per_tib = grown.section.known("per_unit_throughput").value
    if has.mb_per_s_per_tib is not None and per_tib != has.mb_per_s_per_tib:
        change = {"before": has.mb_per_s_per_tib, "after": per_tib}
        yield Reason("fsx-change-throughput", change, "fsx-throughput-capacity")
    apart = facts.options[FSX].known("changes_apart").value
    if grown.capacity_gib != has.capacity_gib:
        change = {"before": has.capacity_gib or 0.0, "after": grown.capacity_gib}
        yield Reason("fsx-change-capacity", {**change, "interval": apart}, "fsx-update-api")
        if has.quota_gib is not None and has.used_gib is not None:
            total = has.used_gib + change["after"] - change["before"]
            if total > has.quota_gib:
                yield Reason("fsx-change-quota", {"total": total, "quota": has.quota_gib}, "fsx-quotas")
    by_itself = has.metadata_mode == AUTOMATIC and fsx.automatic_metadata_iops(grown.capacity_gib, facts)
    before = _iops(has, facts)
    if grown.metadata_iops and before is not None and grown.metadata_iops > max(before, by_itself or 0.0):
        change = {"before": before, "after": grown.metadata_iops, "interval": apart}
        yield Reason("fsx-change-metadata", change, "fsx-metadata")


def _price_now(has: FileSystem, section: Section | None, facts: Facts) -> Quantity | None:
    """Storage and ordered metadata IOPS; Intelligent-Tiering is billed by what lies on it, which is not known here."""
    if section is None or has.capacity_gib is None:
        return None
    return _price(section, has.capacity_gib, _iops(has, facts), has.region, facts)


def _price(section: Section, gib: float, iops: float | None, region: str, facts: Facts) -> Quantity | None:
    included = fsx.automatic_metadata_iops(gib, facts)
    ordered = 0.0 if iops is None else max(0.0, iops - included)
    name = section.id.removeprefix("fsx.")
    storage, metadata = fsx.prices(fsx.Order(name, gib, iops or included, ordered, efa=False), region, facts)
    return None if storage is None or metadata is None else storage.plus(metadata, "per month")
