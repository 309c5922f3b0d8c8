"""Settings of the clients: mount commands, loaders, checkpoint writers, volumes for EKS.

The texts are in ``data/templates/snippets``, each with the ids of its sources and the version it is for; ``@name@``
stands where the plan has a value.
"""

from __future__ import annotations

from collections.abc import Mapping

from gpufeed.facts import Facts
from gpufeed.facts.place import data_directory
from gpufeed.model.clients import (
    gigabits_per_process,
    largest_written_file,
    mount_threads,
    part_of_copies,
    part_of_saves,
)
from gpufeed.model.recommendation import Recommendation
from gpufeed.model.release import exported_every
from gpufeed.model.rules import EXPRESS, FSX, MOUNTPOINT, S3, S3_FILES
from gpufeed.model.savers import ONE_FILE, ability_of, can_use, saver_of
from gpufeed.model.upload import default_part_bytes
from gpufeed.present import words
from gpufeed.present.infrastructure.need import Needed

_OBJECT_STORES = (S3, EXPRESS)
#: Which of the two kinds of bucket BUCKET is in a snippet, and the form of its name.
_BUCKET = {True: "the directory bucket, NAME--ZONE-ID--x-s3", False: "the general purpose bucket"}
#: How checkpoints are saved: (as files, where their place can do all that the saver does with them; by one rank).
_WRITERS = {
    (True, False): "dcp-checkpoint.py",
    (True, True): "one-rank-checkpoint.py",
    (False, False): "s3-connector-checkpoint.py",
    (False, True): "s3-connector-one-rank-checkpoint.py",
}
#: What becomes of a save under the path of the checkpoints.
_LINKED = {
    **dict.fromkeys((FSX, S3_FILES), "which is exported to S3"),
    EXPRESS: "in the directory bucket; directory-bucket-copy.sh brings it to S3 Standard",
}


def snippets(plan: Recommendation, need: Needed, facts: Facts) -> dict[str, str]:
    """One file for each client that the plan has; a comment at its top says what it costs and where it comes from."""
    saved = plan.placements["checkpoints"]
    reads, checkpoints = plan.placements["training_reads"].option, saved.option
    values = _values(plan, need, facts)
    names = ["s3-lifecycle.sh"]
    if plan.placements["training_reads"].lies_on == EXPRESS:
        names.append("directory-bucket-load.sh")
    if saved.lies_on == EXPRESS:
        names.append("directory-bucket-copy.sh")
    if MOUNTPOINT in (reads, checkpoints):
        names += ["mountpoint.sh", "mountpoint-eks.yaml"]
    if FSX in (reads, checkpoints):
        names += ["fsx.sh", "fsx-eks.yaml"]
    if reads == FSX and plan.option(FSX).first_epoch.loading is not None:
        names.append("fsx-load.sh")
    if checkpoints == FSX:
        names.append("fsx-release.sh")
    if S3_FILES in (reads, checkpoints):
        names.append("s3-files.sh")
    if reads in _OBJECT_STORES:
        random = plan.workload.reads == "random"
        names.append("s3-connector-random.py" if random else "s3-connector-dataset.py")
    saver = saver_of(plan.demand.checkpoint_writers)
    names.append(_WRITERS[can_use(saver, ability_of(saved, facts), facts), saver == ONE_FILE])
    head = "".join(f"# {line}\n" for line in need.about)
    return {name: head + _filled(name, values) for name in names}


def _values(plan: Recommendation, need: Needed, facts: Facts) -> dict[str, str]:
    flags = _mount_flags(plan, facts)
    placed = plan.placements["checkpoints"]
    workers = plan.workload.workers_per_accelerator or facts.model.known("workers_per_accelerator").value
    saved, working = placed.option, (plan.placements["training_reads"], placed)
    return {
        "abort_days": str(need.abort_multipart_days),
        "flags": " ".join(f"--{flag}" for flag in flags),
        "options": "\n".join(f"    - {flag}" for flag in flags),
        "capacity": "" if need.file_system is None else str(need.file_system.capacity_gib),
        "region": plan.region,
        "target": _target(gigabits_per_process(plan, facts)),
        "read_target": _target(gigabits_per_process(plan, facts, each=workers)),
        "request": "" if plan.demand.request_bytes is None else f"{plan.demand.request_bytes.value:.0f}",
        "part": str(default_part_bytes(facts)),
        "save_part": str(part_of_saves(plan, facts) or default_part_bytes(facts)),
        "copy_part": str(part_of_copies(plan, facts)),
        "largest": words.gibibytes(largest_written_file(plan, facts)),
        "threads": f"{facts.model.known('checkpoint_parts_in_flight').value:.0f}",
        "every": str(exported_every(saved, placed.configuration, plan.demand, facts) if saved == FSX else 1),
        "linked": _LINKED.get(placed.lies_on, "in S3"),
        "saves_in": _BUCKET[placed.lies_on == EXPRESS],
        "reads_in": _BUCKET[plan.placements["training_reads"].lies_on == EXPRESS],
        "mount_of": _BUCKET[any(role.option == MOUNTPOINT and role.lies_on == EXPRESS for role in working)],
        "save": "async_save" if placed.mode == "async" else "save",
        "result": "" if placed.mode == "async" else ".result()",
    }


def _mount_flags(plan: Recommendation, facts: Facts) -> list[str]:
    """Read only where nothing is written; else what the job's file operations need and the bucket can do, no more."""
    # Threads for the loaders that read through it; saves alone keep the default.
    flags = [f"max-threads {mount_threads(plan, facts)}"] if plan.recommended == MOUNTPOINT else []
    saved = plan.placements["checkpoints"]
    if saved.option != MOUNTPOINT:
        return [*flags, "read-only"]
    operations = ability_of(saved, facts).operations.intersection(plan.workload.file_operations)
    flags.append("allow-delete")
    if "overwrite" in operations or "rename" in operations:
        flags.append("allow-overwrite")
    if "append" in operations:
        flags.append("incremental-upload")
    part = part_of_saves(plan, facts)
    if part is not None:
        flags += [f"write-part-size {part}", f"read-part-size {part}"]
    return flags


def _target(gigabits: int | None) -> str:
    return "" if gigabits is None else f"throughput_target_gbps={gigabits}, "


def _filled(name: str, values: Mapping[str, str]) -> str:
    text = (data_directory() / "templates" / "snippets" / name).read_text(encoding="utf-8")
    for key, value in values.items():
        text = text.replace(f"@{key}@", value)
    return text
