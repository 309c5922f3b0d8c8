"""Settings of the clients: mount commands, loaders, checkpoint writers, volumes for EKS.

The texts are in ``data/templates/snippets``, each with the ids of its sources and the version it is for; ``@name@``
stands where the plan has a value.
"""

from __future__ import annotations

from collections.abc import Mapping

from gpufeed.facts import Facts
from gpufeed.facts.place import data_directory
from gpufeed.model.clients import gigabits_per_process, mount_threads, write_part_bytes
from gpufeed.model.recommendation import Recommendation
from gpufeed.model.rules import EXPRESS, FSX, MOUNTPOINT, S3, S3_FILES
from gpufeed.present.infrastructure.need import Needed

_OBJECT_STORES = (S3, EXPRESS)


def snippets(plan: Recommendation, need: Needed, facts: Facts) -> dict[str, str]:
    """One file for each client that the plan has; a comment at its top says what it costs and where it comes from."""
    reads, checkpoints = plan.placements["training_reads"].option, plan.placements["checkpoints"].option
    values = _values(plan, need, facts)
    names = ["s3-lifecycle.sh"]
    if MOUNTPOINT in (reads, checkpoints):
        names += ["mountpoint.sh", "mountpoint-eks.yaml"]
    if FSX in (reads, checkpoints):
        names += ["fsx.sh", "fsx-eks.yaml"]
    if checkpoints == FSX:
        names.append("fsx-release.sh")
    if S3_FILES in (reads, checkpoints):
        names.append("s3-files.sh")
    if reads in _OBJECT_STORES:
        names.append("s3-connector-dataset.py")
    names.append("s3-connector-checkpoint.py" if checkpoints in _OBJECT_STORES else "dcp-checkpoint.py")
    head = "".join(f"# {line}\n" for line in need.about)
    return {name: head + _filled(name, values) for name in names}


def _values(plan: Recommendation, need: Needed, facts: Facts) -> dict[str, str]:
    flags = _mount_flags(plan, facts)
    gigabits = gigabits_per_process(plan, facts)
    return {
        "abort_days": str(need.abort_multipart_days),
        "flags": " ".join(f"--{flag}" for flag in flags),
        "options": "\n".join(f"    - {flag}" for flag in flags),
        "capacity": "" if need.file_system is None else str(need.file_system.capacity_gib),
        "region": plan.region,
        "target": "" if gigabits is None else f"throughput_target_gbps={gigabits}, ",
        "part": f"{facts.model.known('part_bytes').value:.0f}",
        "threads": f"{facts.model.known('checkpoint_parts_in_flight').value:.0f}",
        "save": "async_save" if plan.placements["checkpoints"].mode == "async" else "save",
    }


def _mount_flags(plan: Recommendation, facts: Facts) -> list[str]:
    """Read only where nothing is written; else what the job's file operations need, and no more."""
    flags = [f"max-threads {mount_threads(plan, facts)}"]
    if plan.placements["checkpoints"].option != MOUNTPOINT:
        return [*flags, "read-only"]
    operations = plan.workload.file_operations
    flags.append("allow-delete")
    if "overwrite" in operations or "rename" in operations:
        flags.append("allow-overwrite")
    if "append" in operations:
        flags.append("incremental-upload")
    part = write_part_bytes(plan, facts)
    return [*flags, f"write-part-size {part}"] if part is not None else flags


def _filled(name: str, values: Mapping[str, str]) -> str:
    text = (data_directory() / "templates" / "snippets" / name).read_text(encoding="utf-8")
    for key, value in values.items():
        text = text.replace(f"@{key}@", value)
    return text
