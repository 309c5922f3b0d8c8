"""The published rule of thumb, exactly as the source states it (``data/rules.toml``, ids and thresholds there).

Each rule is one predicate here and one entry in the data; a test holds that neither is without the other.  Where the
source leaves a gap the answer offers every option it leaves open and names the tie-break as ours.
"""

from __future__ import annotations

from collections.abc import Callable

from gpufeed.facts import Facts
from gpufeed.model.frozen import frozen
from gpufeed.model.workload import Workload

S3 = "s3-standard"
EXPRESS = "s3-express-one-zone"
FSX = "fsx-for-lustre"
S3_FILES = "s3-files"
MOUNTPOINT = "mountpoint-s3"
NVME = "instance-nvme"
#: The five systems of the source, in its order.
SYSTEMS = (S3, FSX, EXPRESS, S3_FILES, MOUNTPOINT)

COMPLEX_OPERATIONS = frozenset({"random-write", "lock", "hard-link", "append"})


@frozen
class Traits:
    """What the published rules look at, in their own words."""

    task: str
    instances: int
    accelerators: int
    streaming: bool
    frequent: bool
    fast_restore: bool
    wants_files: bool
    object_interface: bool
    complex_posix: bool
    operations: frozenset[str]
    data_in_s3: bool
    avoid_parallel: bool
    many_small_files: bool
    # Thresholds, from data/rules.toml
    small_cluster_most: float
    multi_node_least: float
    multi_node_most: float
    very_large_accelerators: float

    @property
    def files_on_s3(self) -> bool:
        return self.data_in_s3 and self.wants_files

    @property
    def triggers(self) -> tuple[str, ...]:
        """Which of the five triggers of ``s3-needs-a-second-look`` hold."""
        named = {
            "many-small-files": self.many_small_files,
            "frequent-checkpoints": self.frequent,
            "many-readers": self.instances > self.small_cluster_most,
            "posix": self.complex_posix,
            "fast-restore": self.fast_restore,
        }
        return tuple(name for name, holds in named.items() if holds)


@frozen
class RuleAnswer:
    """One option for the cluster's working storage, what else the source leaves open, and the rules that fired."""

    option: str
    also_allowed: tuple[str, ...]
    rules: tuple[str, ...]
    verdict: str  # "choose" | "evaluate"
    triggers: tuple[str, ...] = ()
    gaps: tuple[str, ...] = ()


def traits_of(
    workload: Workload,
    accelerators: int,
    facts: Facts,
    *,
    frequent: bool,
    fast_restore: bool = False,
    many_small_files: bool = False,
) -> Traits:
    """``frequent``, ``fast_restore`` and ``many_small_files`` have no number in the source: the model derives them."""
    operations = frozenset(workload.file_operations)
    interface = workload.interface or "any"
    return Traits(
        task=workload.task,
        # A cluster is all that reads from the storage.
        instances=workload.instances * (workload.jobs or 1),
        accelerators=accelerators * (workload.jobs or 1),
        streaming=workload.reads != "random",
        frequent=frequent,
        fast_restore=fast_restore,
        wants_files=interface in ("posix", "file-paths"),
        object_interface=interface == "s3-api",
        complex_posix=interface == "posix" or bool(operations & COMPLEX_OPERATIONS),
        operations=operations,
        data_in_s3=workload.data_in_s3 is not False,  # a data set is in S3 unless it was said not to be
        avoid_parallel=bool(workload.avoid_parallel_file_system),
        many_small_files=many_small_files,
        small_cluster_most=facts.rules["small-cluster"].known("instances_to").value,
        multi_node_least=facts.rules["multi-node"].known("instances_from").value,
        multi_node_most=facts.rules["multi-node"].known("instances_to").value,
        very_large_accelerators=facts.rules["very-large-object"].known("gpus_from").value,
    )


def _reference_architecture(t: Traits) -> bool:
    # "Most enterprises": S3 as the base and FSx for Lustre during training, so it goes with every answer that is FSx.
    return (
        PREDICATES["frequent-checkpoints"](t)
        or PREDICATES["posix"](t)
        or PREDICATES["files-on-s3-but"](t)
        or (PREDICATES["multi-node"](t) and not PREDICATES["files-on-s3"](t))
    )


PREDICATES: dict[str, Callable[[Traits], bool]] = {
    "durable-base": lambda _: True,
    "small-cluster": lambda t: t.instances <= t.small_cluster_most,
    "light-fine-tuning": lambda t: t.task in ("lora", "qlora") and t.instances <= t.small_cluster_most and t.streaming,
    "s3-needs-a-second-look": lambda t: bool(t.triggers),
    "multi-node": lambda t: t.multi_node_least <= t.instances <= t.multi_node_most,
    "frequent-checkpoints": lambda t: t.frequent or t.fast_restore,
    "posix": lambda t: t.complex_posix,
    "very-large-object": lambda t: (
        t.accelerators >= t.very_large_accelerators and t.object_interface and not t.complex_posix
    ),
    "beyond-500": lambda t: t.instances > t.multi_node_most,
    "files-on-s3": lambda t: t.files_on_s3 and not (t.complex_posix or t.frequent or t.fast_restore),
    "files-on-s3-but": lambda t: t.files_on_s3 and (t.complex_posix or t.frequent or t.fast_restore),
    "temporary": lambda _: True,
    "reference-architecture": _reference_architecture,
}


_FOR_A_FILE_SYSTEM = ("posix", "frequent-checkpoints", "files-on-s3-but")


def precedence(answer: RuleAnswer) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    """(rules that decided, rules that fired too and say something else); None where none gave way."""
    for winners, losers in (
        (_FOR_A_FILE_SYSTEM, ("small-cluster", "light-fine-tuning")),
        (("files-on-s3",), ("small-cluster", "light-fine-tuning", "multi-node", "very-large-object", "beyond-500")),
    ):
        won, lost = (tuple(rule for rule in answer.rules if rule in group) for group in (winners, losers))
        if won and lost:
            return won, lost
    return None


def published_rule(t: Traits, facts: Facts) -> RuleAnswer:
    """The published rule alone.

    Precedence: ``posix``, ``frequent-checkpoints`` and ``files-on-s3-but`` decide for FSx for Lustre, also on a small
    cluster; ``files-on-s3`` yields to those three and beats the size rules; then the size rules.
    """
    fired = tuple(rule for rule, holds in PREDICATES.items() if holds(t))
    option, also, verdict, gaps = _decide(t, fired, facts)
    # Said of every answer that sits on the boundary, whichever rule decided.
    if t.instances == t.small_cluster_most:
        gaps = (*gaps, "sixteen-instances")
    return RuleAnswer(option, also, fired, verdict, t.triggers, gaps)


_Decision = tuple[str, tuple[str, ...], str, tuple[str, ...]]


def _decide(t: Traits, fired: tuple[str, ...], facts: Facts) -> _Decision:
    if any(rule in fired for rule in _FOR_A_FILE_SYSTEM):
        return _decided_for_fsx(t, fired, facts)
    if "files-on-s3" in fired:
        return _files_on_s3(t)
    if "beyond-500" in fired:
        if t.object_interface:
            return EXPRESS, (), "evaluate", ()
        if t.wants_files:
            return FSX, (), "choose", ()
        # Rare checkpoints point to Express, no stated interface points nowhere: both stay open, the tie-break is ours.
        return FSX, (EXPRESS,), "evaluate", ("beyond-500-no-preference",)
    if t.instances > t.small_cluster_most:
        if t.accelerators >= t.very_large_accelerators and not t.wants_files:
            gap = ("instances-against-gpus",)
            if t.object_interface:
                return EXPRESS, (FSX,), "evaluate", gap
            return FSX, (EXPRESS,), "choose", gap
        return FSX, (), "choose", ()
    return _small_cluster(t, fired)


def _decided_for_fsx(t: Traits, fired: tuple[str, ...], facts: Facts) -> _Decision:
    also: tuple[str, ...] = ()
    if "files-on-s3-but" in fired and t.avoid_parallel:
        can = frozenset(facts.rules["files-on-s3-but"].get_value("s3_files_operations"))
        if t.operations <= can:
            also = (S3_FILES,)
    if "beyond-500" in fired and t.object_interface and not t.complex_posix:
        # Interface says Express, checkpoints say FSx for Lustre: reads from the one, checkpoints on the other.
        return EXPRESS, (FSX,), "evaluate", ("beyond-500-collision",)
    if "very-large-object" in fired:
        return FSX, (EXPRESS, *also), "choose", ("instances-against-gpus",)
    return FSX, also, "choose", ()


def _files_on_s3(t: Traits) -> _Decision:
    # The source does not decide between the two; documented semantics do, and the tie-break is labelled ours.
    gaps = ("s3-files-against-mountpoint",)
    if t.operations:  # rename or overwrite: Mountpoint can do neither on a general-purpose bucket
        return S3_FILES, (), "evaluate", gaps
    if t.many_small_files or not t.streaming:
        return S3_FILES, (MOUNTPOINT,), "evaluate", gaps
    return MOUNTPOINT, (S3_FILES,), "evaluate", gaps


def _small_cluster(t: Traits, fired: tuple[str, ...]) -> _Decision:
    gaps: tuple[str, ...] = ("two-to-sixteen",) if t.instances > 1 else ()
    also: list[str] = []
    if "multi-node" in fired or "s3-needs-a-second-look" in fired:
        also.append(FSX)
    if "very-large-object" in fired:
        also.append(EXPRESS)
    verdict = "evaluate" if "s3-needs-a-second-look" in fired else "choose"
    return S3, tuple(also), verdict, gaps
