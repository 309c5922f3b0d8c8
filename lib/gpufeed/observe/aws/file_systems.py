"""The FSx for Lustre file systems of an account: their settings, what of S3 they are linked to, and the quota.

Reads with DescribeFileSystems, DescribeDataRepositoryAssociations and ListServiceQuotas; changes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from gpufeed.facts.errors import GpufeedError, InputError
from gpufeed.facts.messages import Sentence
from gpufeed.model.file_system import FileSystem, Link
from gpufeed.observe.aws.client import connect, refusal

ID = re.compile(r"fs-[0-9a-f]{8,18}")
#: Deployment type → the name of the quota on the capacity of all file systems of that kind together [GiB].
QUOTAS = {
    "PERSISTENT_1": "Lustre Persistent_1 storage capacity",
    "PERSISTENT_2": "Lustre Persistent_2 storage capacity",
    "SCRATCH_1": "Lustre Scratch storage capacity",
    "SCRATCH_2": "Lustre Scratch storage capacity",
}


@dataclass(frozen=True, slots=True)
class Found:
    """One file system, and what could not be read beside it."""

    file_system: FileSystem
    warnings: tuple[Sentence, ...] = ()


def file_system(id_: str, region: str | None = None, *, fsx: Any = None, quotas: Any = None) -> Found:
    """The file system with this id, its links to S3 and its quota.

    ``fsx`` and ``quotas`` are boto3 clients; made here where they are not given.  Raises InputError for what is no id
    or no Region, GpufeedError where AWS refuses or has no such file system.  A quota that may not be read is a warning.
    """
    if not ID.fullmatch(id_):
        raise InputError("aws.not-a-file-system-id", id=id_)
    fsx = fsx or connect("fsx", region)
    where = fsx.meta.region_name
    try:
        described = _pages(fsx.describe_file_systems, "FileSystems")
    except Exception as error:  # noqa: BLE001 — botocore raises many kinds; all become one sentence
        raise refusal(error, "fsx", where, "fsx:DescribeFileSystems") from None
    here = [one for one in described if one.get("FileSystemType") == "LUSTRE"]
    wanted = next((one for one in described if one.get("FileSystemId") == id_), None)
    if wanted is None:
        ids = ", ".join(str(one["FileSystemId"]) for one in here) or "–"
        raise GpufeedError("aws.no-such-file-system", id=id_, region=where, others=ids)
    if wanted.get("FileSystemType") != "LUSTRE":
        raise GpufeedError("aws.not-lustre", id=id_, type=wanted.get("FileSystemType") or "…")
    try:
        filters = [{"Name": "file-system-id", "Values": [id_]}]
        linked = _pages(fsx.describe_data_repository_associations, "Associations", Filters=filters)
    except Exception as error:  # noqa: BLE001 — as above
        raise refusal(error, "fsx", where, "fsx:DescribeDataRepositoryAssociations") from None
    found = _file_system(wanted, linked, where)
    used = sum(
        float(one.get("StorageCapacity") or 0)
        for one in here
        if QUOTAS.get(_lustre(one).get("DeploymentType", "")) == QUOTAS.get(found.deployment_type)
    )
    try:
        quota = _quota(found.deployment_type, quotas or connect("service-quotas", where))
    except Exception as error:  # noqa: BLE001 — as above; the comparison stands without it
        why = refusal(error, "service-quotas", where, "servicequotas:ListServiceQuotas")
        return Found(found, (Sentence("aws.quota-not-read", {"reason": str(why)}),))
    return Found(replace(found, quota_gib=quota, used_gib=used))


def _pages(ask: Any, rows: str, **request: Any) -> list[Mapping[str, Any]]:
    """All pages of an answer.  A token that comes a second time ends it: it would never end."""
    found: list[Mapping[str, Any]] = []
    seen: set[str] = set()
    while True:
        page = ask(**request)
        found += page.get(rows, ())
        token = page.get("NextToken")
        if not token or token in seen:
            return found
        seen.add(token)
        request["NextToken"] = token


def _quota(deployment_type: str, quotas: Any) -> float | None:
    """The quota [GiB] by its name; None where AWS lists none under it."""
    rows = _pages(quotas.list_service_quotas, "Quotas", ServiceCode="fsx")
    named = (row for row in rows if row.get("QuotaName") == QUOTAS.get(deployment_type))
    return next((float(row["Value"]) for row in named if "Value" in row), None)


def _lustre(described: Mapping[str, Any]) -> Mapping[str, Any]:
    settings: Mapping[str, Any] = described.get("LustreConfiguration") or {}
    return settings


def _file_system(described: Mapping[str, Any], linked: Iterable[Mapping[str, Any]], region: str) -> FileSystem:
    settings = _lustre(described)
    metadata = settings.get("MetadataConfiguration") or {}
    return FileSystem(
        id=described["FileSystemId"],
        region=region,
        lifecycle=described.get("Lifecycle", ""),
        deployment_type=settings.get("DeploymentType", ""),
        storage_type=described.get("StorageType", "SSD"),
        capacity_gib=_number(described.get("StorageCapacity")),
        mb_per_s_per_tib=_number(settings.get("PerUnitStorageThroughput")),
        throughput_mb_per_s=_number(settings.get("ThroughputCapacity")),
        metadata_mode=metadata.get("Mode"),
        metadata_iops=_number(metadata.get("Iops")),
        efa=bool(settings.get("EfaEnabled")),
        read_cache=settings.get("DriveCacheType"),
        lustre_version=described.get("FileSystemTypeVersion"),
        links=(*map(_link, linked), *_old_links(settings)),
    )


def _link(association: Mapping[str, Any]) -> Link:
    s3 = association.get("S3") or {}
    return Link(
        path=association.get("FileSystemPath", ""),
        repository=association.get("DataRepositoryPath", ""),
        lifecycle=association.get("Lifecycle", ""),
        imports=tuple((s3.get("AutoImportPolicy") or {}).get("Events", ())),
        exports=tuple((s3.get("AutoExportPolicy") or {}).get("Events", ())),
    )


def _old_links(settings: Mapping[str, Any]) -> Iterable[Link]:
    """The way of linking before associations: the whole file system to one prefix, set when it was created."""
    old = settings.get("DataRepositoryConfiguration") or {}
    if old.get("ImportPath"):
        policy = old.get("AutoImportPolicy", "NONE")
        events = () if policy == "NONE" else tuple(policy.split("_"))
        yield Link("/", old["ImportPath"], old.get("Lifecycle", ""), events)


def _number(value: Any) -> float | None:
    """A capacity of 0 stands for "grows by itself", which is none."""
    return float(value) if value else None
