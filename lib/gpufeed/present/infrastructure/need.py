"""What a plan needs to have built, whatever language it is then written in."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from gpufeed.facts import Facts
from gpufeed.facts.catalogue import Section
from gpufeed.facts.messages import text
from gpufeed.facts.place import data_directory
from gpufeed.model.fsx import automatic_metadata_iops
from gpufeed.model.limits import MANY_OBJECTS
from gpufeed.model.paths import NAT, OTHER_REGION, kms_calls
from gpufeed.model.plan_cost import storage_per_month
from gpufeed.model.recommendation import Recommendation
from gpufeed.model.release import exported_every
from gpufeed.model.rules import EXPRESS, FSX, MOUNTPOINT, S3, S3_FILES
from gpufeed.model.savers import through_mount
from gpufeed.model.zones import prefix
from gpufeed.present import words

#: Settings of a file system that the templates write; one that is not here must not be dropped silently.
_SETTINGS = frozenset(
    {"deployment_type", "storage_type", "storage_capacity_gib", "throughput_mb_per_s_per_tib", "metadata_iops", "efa"}
)
#: What a file system uses the key of a linked bucket for, and as which role: one of its own for each file system.
FSX_ACTIONS = ("kms:Encrypt", "kms:Decrypt", "kms:ReEncrypt*", "kms:GenerateDataKey*", "kms:DescribeKey")
FSX_ROLE = "aws-service-role/s3.data-source.lustre.fsx.amazonaws.com/AWSServiceRoleForFSxS3Access_fs-*"


@dataclass(frozen=True, slots=True)
class FileSystem:
    """One FSx for Lustre file system, in AWS's own terms.  ``metadata_iops`` None: those that come with it."""

    deployment_type: str
    storage_type: str
    capacity_gib: int
    throughput_per_tib: int | None  # None where the type has one and it cannot be chosen
    has_metadata_configuration: bool
    metadata_iops: int | None
    efa: bool
    holds_data: bool  # that the loaders read
    holds_checkpoints: bool
    lustre_version: str
    ports: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Needed:
    """Everything to build.  Days are those of the lifecycle rules; ``about`` are the lines that head each file."""

    region: str
    makes_bucket: bool  # unless it is named; False: the data set is in S3, and its bucket has to be named
    file_system: FileSystem | None
    directory_bucket: bool
    checkpoints_in_directory_bucket: bool
    imports_changes: bool  # a bucket of the same Region tells the file system what changes there
    s3_files: bool
    accepts_bucket_warning: bool  # more objects than S3 Files takes without a warning, at which its creation may fail
    checkpoints_in_s3_files: bool
    abort_multipart_days: int
    noncurrent_days: int
    chunk_mib: int
    nfs_port: int
    endpoints: tuple[str, ...]  # gateway endpoints: "s3", "s3express"
    through_nat: bool  # S3 is reached through a NAT gateway now
    encrypts_with_kms: bool
    bucket_key: bool
    zones: tuple[str, ...]  # zones of the Region that have directory buckets
    zone: str | None  # of the instances, where it was stated and can have one
    about: tuple[str, ...]
    about_bucket: tuple[str, ...]  # lines more at the head of a template

    @property
    def makes_key(self) -> bool:
        """For the buckets that are made here: one that is there already keeps its own."""
        return self.encrypts_with_kms and (self.makes_bucket or self.directory_bucket)


def needed(plan: Recommendation, facts: Facts, version: str) -> Needed:
    placed = plan.placements
    options = {placement.option for placement in placed.values()}
    backed_by = {placement.backed_by for placement in placed.values()}
    bucket = facts.options[S3]
    workload = plan.workload
    directory_bucket, zones = EXPRESS in options | backed_by, _zones(plan.region, facts)
    return Needed(
        region=plan.region,
        makes_bucket=not workload.data_in_s3,
        file_system=_file_system(plan, facts) if FSX in options else None,
        directory_bucket=directory_bucket,
        checkpoints_in_directory_bucket=placed["checkpoints"].lies_on == EXPRESS,
        imports_changes=workload.network_path != OTHER_REGION,
        s3_files=S3_FILES in options,
        accepts_bucket_warning=any(reason.id == MANY_OBJECTS for reason in plan.option(S3_FILES).reasons),
        checkpoints_in_s3_files=placed["checkpoints"].option == S3_FILES,
        abort_multipart_days=_in_unit(bucket, "abort_multipart_after"),
        noncurrent_days=_in_unit(bucket, "noncurrent_versions_kept"),
        chunk_mib=_in_unit(facts.options[FSX], "imported_file_chunk"),
        nfs_port=_in_unit(facts.options[S3_FILES], "port"),
        endpoints=(
            # A gateway endpoint reaches the buckets of its own Region alone.
            *(["s3"] if workload.network_path != OTHER_REGION else []),
            *(["s3express"] if directory_bucket else []),
        ),
        through_nat=workload.network_path == NAT,
        encrypts_with_kms=kms_calls(workload.encryption, facts) is not None,
        bucket_key=workload.encryption == "sse-kms-bucket-key",
        zones=zones,
        zone=workload.zone if not zones or workload.zone in zones else None,
        about=_about(plan, facts, version),
        about_bucket=tuple(_about_bucket(plan, facts)),
    )


def _file_system(plan: Recommendation, facts: Facts) -> FileSystem:
    """The one that the plan names: of the training reads, or one for the checkpoints alone."""
    settings = next(
        placed.configuration for placed in plan.placements.values() if placed.option == FSX and placed.configuration
    )
    if unknown := settings.keys() - _SETTINGS:
        raise ValueError(f"settings that no template writes: {sorted(unknown)}")
    chosen = facts.options[FSX]
    section = next(
        section
        for section in facts.fsx.values()
        if section.get_value("deployment_type") == settings["deployment_type"]
        and section.get_value("storage_type") == settings["storage_type"]
    )
    capacity = settings["storage_capacity_gib"]
    iops = settings.get("metadata_iops")
    with_capacity = automatic_metadata_iops(capacity, facts)
    return FileSystem(
        deployment_type=settings["deployment_type"],
        storage_type=settings["storage_type"],
        capacity_gib=int(capacity),
        throughput_per_tib=None
        if settings["deployment_type"].startswith("SCRATCH")
        else int(settings["throughput_mb_per_s_per_tib"]),
        has_metadata_configuration=bool(section.get_value("metadata_configuration")),
        metadata_iops=None if iops is None or iops <= with_capacity else int(iops),
        efa=bool(settings.get("efa")),
        holds_data=plan.recommended == FSX,
        holds_checkpoints=plan.placements["checkpoints"].option == FSX,
        lustre_version=str(chosen.get_value("lustre_version")),
        ports=tuple((first, last) for first, last in chosen.get_value("ports")),
    )


def _in_unit(section: Section, name: str) -> int:
    """A whole number as the data writes it, in the unit it is written in: days, MiB."""
    published = section[name].published
    assert published is not None  # noqa: S101 — each of these facts is a number
    return int(published.value)


def _zones(region: str, facts: Facts) -> tuple[str, ...]:
    """Zone ids of a Region with directory buckets."""
    begin = f"{prefix(region)}-"
    return tuple(zone for zone in facts.options[EXPRESS].get_value("zones") if zone.startswith(begin))


def _about(plan: Recommendation, facts: Facts, version: str) -> tuple[str, ...]:
    """What it is for, what it costs a month, and when it may be deleted."""
    workload = plan.workload
    # The snapshot, and the user's own newer prices where there are some.
    dates = [
        date for file, age in facts.as_of().items() if "prices" in file for date in (age.oldest, age.newest) if date
    ]
    saved = plan.placements["checkpoints"]
    checkpoints = saved.option
    lines = [
        text(
            "infrastructure.about",
            version=version,
            task=words.task(workload.task),
            instances=words.count(workload.instances),
            machine=workload.instance_type or workload.accelerator,
            region=plan.region,
        ),
        *_monthly(plan),
        text("infrastructure.prices", oldest=min(dates), newest=max(dates)),
    ]
    if workload.storage_discount:
        lines.append(text("infrastructure.discount", share=words.share(workload.storage_discount)))
    if workload.network_path == NAT:
        lines.append(text("infrastructure.nat"))
    if workload.encryption == "sse-kms":
        lines.append(text("infrastructure.no-bucket-key"))
    if checkpoints == MOUNTPOINT:
        lines += [words.reason(said) for said in through_mount(saved.lies_on, facts)]
    if checkpoints in (FSX, S3_FILES):
        lines.append(text("infrastructure.release"))
    elif saved.lies_on == EXPRESS:
        lines.append(text("infrastructure.copy-first"))
    every = exported_every(checkpoints, saved.configuration, plan.demand, facts)
    if every > 1:
        lines.append(text("infrastructure.export-behind", every=every))
    return tuple(lines)


def _about_bucket(plan: Recommendation, facts: Facts) -> Iterator[str]:
    """What is left to the user of a bucket that is there already."""
    if not plan.workload.data_in_s3:
        return
    yield text("infrastructure.existing-bucket")
    if kms_calls(plan.workload.encryption, facts) is not None:
        yield text("infrastructure.existing-bucket-key")
    if S3_FILES in {placed.option for placed in plan.placements.values()}:
        yield text("infrastructure.existing-bucket-versioning")


def _monthly(plan: Recommendation) -> Iterator[str]:
    """What the storage costs a month, in all and for each kind of data on it."""
    total, parts = storage_per_month(plan)
    yield text("infrastructure.monthly", cost=words.priced(total, plan.currency))
    for (option, line), cost in parts.items():
        yield text(
            "infrastructure.monthly-part",
            option=words.option(option),
            line=text(f"cost.{line}"),
            cost=words.priced(cost, plan.currency),
        )
    if not plan.bills_checkpoints:
        yield text("infrastructure.monthly-without-checkpoints")
    if plan.demand.jobs > 1:
        yield text("infrastructure.monthly-of-all-jobs", jobs=plan.demand.jobs)


def heading(need: Needed, form: str) -> str:
    """The comment that heads a template: what it is for, what it costs, and the sources of its values."""
    sources = (data_directory() / "templates" / f"{form}.txt").read_text(encoding="utf-8")
    return "".join(f"# {line}\n" for line in (*need.about, *need.about_bucket)) + sources


def parameters(need: Needed) -> Mapping[str, Any]:
    """Named placeholders, ``data/templates/parameters.toml``: nobody's account or network stands in a template."""
    found: dict[str, Any] = {**_parameters()}
    if not need.makes_bucket:
        found["existing_bucket_name"] = found["data_bucket_name"] | {"cloudformation": "ExistingBucketName"}
        # Nor is it known under which keys the data set lies there.
        found["data_prefix"] = {name: it for name, it in found["data_prefix"].items() if name != "default"}
    del found["data_bucket_name"]
    if need.through_nat:
        # There is no gateway endpoint yet: which route tables get one cannot be left open.
        found["route_table_ids"] = {name: it for name, it in found["route_table_ids"].items() if name != "default"}
    if need.zone is not None:
        found["availability_zone_id"] = {**found["availability_zone_id"], "default": need.zone}
    return found


@cache
def _parameters() -> Mapping[str, Any]:
    return tomllib.loads((data_directory() / "templates" / "parameters.toml").read_text(encoding="utf-8"))
