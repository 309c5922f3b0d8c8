"""What a saver of checkpoints does with files, and which options can do that."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from gpufeed.facts import Facts
from gpufeed.model.recommendation import Placement, Reason
from gpufeed.model.rules import EXPRESS, MOUNTPOINT, S3, SYSTEMS
from gpufeed.model.workload import FILE_OPERATIONS

#: PyTorch's own: one rank writes one file, or each rank its shard and one of them what is in the shards.
ONE_FILE, IN_SHARDS = "pytorch-save", "pytorch-dcp-files"


@dataclass(frozen=True, slots=True)
class Ability:
    """What a saver finds on one option.  ``backing`` tells the two kinds of bucket behind Mountpoint apart."""

    option: str
    backing: str | None
    operations: frozenset[str]
    flags: frozenset[str]  # those of them that a flag of the mount allows
    serves_files: bool


def abilities(facts: Facts) -> tuple[Ability, ...]:
    """What can be done with a file, or an object, on each option."""
    found = []
    for name in SYSTEMS:
        section = facts.options[name]
        files = bool(frozenset(section.get_value("interfaces")) & {"file-paths", "posix"})
        if name != MOUNTPOINT:
            found.append(Ability(name, None, frozenset(section.get_value("operations")), frozenset(), files))
            continue
        for backing, part in ((S3, section), (EXPRESS, section.parts[EXPRESS])):
            plain, flagged = frozenset(part.get_value("operations")), frozenset(part.get_value("operations_with_flags"))
            found.append(Ability(name, backing, plain | flagged, flagged - plain, files))
    return tuple(found)


def ability_of(placed: Placement, facts: Facts) -> Ability:
    """What can be done where this kind of data lies."""
    return _ability(placed.option, placed.backed_by if placed.option == MOUNTPOINT else None, facts)


def _ability(option: str, backing: str | None, facts: Facts) -> Ability:
    return next(one for one in abilities(facts) if (one.option, one.backing) == (option, backing))


def lacking(ability: Ability, needed: frozenset[str]) -> tuple[str, ...]:
    """Of what a saver needs, what an option cannot do, in the contract's order."""
    return tuple(name for name in FILE_OPERATIONS if name in needed - ability.operations)


def saver_of(writers: int) -> str:
    """The saver that a plan counts on where so many ranks write."""
    return ONE_FILE if writers == 1 else IN_SHARDS


def needs(saver: str, facts: Facts) -> frozenset[str] | None:
    """What it does beside writing new files from their beginning to their end; None where that is not known."""
    operations = facts.model.parts["savers"].get_value(saver)
    return None if operations is None else frozenset(operations)


def can_use(saver: str, ability: Ability, facts: Facts) -> bool:
    """Whether it can write its files there, doing all that it does."""
    needed = needs(saver, facts)
    return ability.serves_files and needed is not None and not lacking(ability, needed)


def through_mount(backing: str, facts: Facts) -> Iterator[Reason]:
    """Which savers can write through Mountpoint to this kind of bucket, and which cannot.

    References: mountpoint-semantics, pytorch-dcp-writer, transformers-staging.
    """
    ability = _ability(MOUNTPOINT, backing, facts)
    known = {saver: needed for saver in facts.model.parts["savers"] if (needed := needs(saver, facts)) is not None}
    takes = tuple(saver for saver in known if can_use(saver, ability, facts))
    yield Reason("mount-takes-savers", {"savers": takes}, _SEMANTICS)
    yield from _refuses(tuple(saver for saver in known if saver not in takes), ability, facts)
    if facts.options[MOUNTPOINT].get_value("renames_directories") is False:
        yield Reason("mount-renames-no-directory", {}, "transformers-staging")
    if unknown := tuple(saver for saver in facts.model.parts["savers"] if saver not in known):
        yield Reason("mount-savers-unknown", {"savers": unknown})


def refused(backing: str, writers: int, facts: Facts) -> Iterator[Reason]:
    """That the saver of the plan cannot write through Mountpoint to this kind of bucket, where it cannot."""
    saver, ability = saver_of(writers), _ability(MOUNTPOINT, backing, facts)
    if not can_use(saver, ability, facts):
        yield from _refuses((saver,), ability, facts)


_SEMANTICS = "mountpoint-semantics"


def _refuses(savers: tuple[str, ...], ability: Ability, facts: Facts) -> Iterator[Reason]:
    needed = frozenset[str]().union(*(needs(saver, facts) or () for saver in savers))
    if savers:
        yield Reason("mount-refuses-savers", {"savers": savers, "operations": lacking(ability, needed)}, _SEMANTICS)
