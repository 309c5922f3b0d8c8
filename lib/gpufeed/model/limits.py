"""What a Region does not have and what remains there, and limits of a service that no rate expresses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from gpufeed.facts import Facts
from gpufeed.facts.catalogue import Section
from gpufeed.facts.quantity import Quantity
from gpufeed.model.fsx import BEYOND_PUBLISHED, GIB, SAID_WITH_THE_PLAN
from gpufeed.model.job import Job
from gpufeed.model.recommendation import Caveat, CostLine, OptionAnswer, Placement, Reason
from gpufeed.model.rules import FSX, S3_FILES, SYSTEMS

#: Said against S3 Files where its creation has to accept a warning.
MANY_OBJECTS = "s3-files-many-objects"


def reasons(option: str, job: Job) -> Iterator[Reason]:
    """What is said against an option for how many objects and clients the job has."""
    if option != S3_FILES:
        return
    chosen = job.facts.options[S3_FILES]
    objects, clients = chosen.known("objects_without_warning"), chosen.known("maximum_connections")
    if job.run.objects > objects.value:
        said = {"objects": job.run.objects, "most": objects.value}
        yield Reason(MANY_OBJECTS, said, "s3-files-performance")
    mounted = job.load.nodes * job.load.jobs
    if mounted > clients.value:
        said = {"clients": mounted, "most": clients.value}
        yield Reason("s3-files-connections", said, "s3-files-quotas")


def caveats(region: str, facts: Facts, placements: Iterable[Placement]) -> Iterator[Caveat]:
    """What the Region lacks, with what remains in its place, and what the chosen options ask of the bucket."""
    here, placed = facts.regions[region], tuple(placements)
    offered = {option: here.get_value(option) for option in SYSTEMS}
    gone = tuple(option for option, there in offered.items() if there is False)
    unconfirmed = tuple(option for option, there in offered.items() if there is None)
    if gone:
        left = tuple(option for option, there in offered.items() if there)
        yield Caveat("region-without", {"region": region, "gone": gone, "left": left, "unconfirmed": unconfirmed})
    chosen = {option for placement in placed for option in (placement.option, placement.backed_by)}
    rests_on = tuple(option for option in unconfirmed if option in chosen)
    if rests_on:
        yield Caveat("region-unconfirmed", {"region": region, "unconfirmed": rests_on}, grave=True)
    yield from _file_systems(region, here, [one.configuration for one in placed if one.option == FSX])
    if S3_FILES in chosen:
        yield Caveat("s3-files-versioning")


def _file_systems(region: str, here: Section, ordered: list[Mapping[str, Any]]) -> Iterator[Caveat]:
    """Which FSx for Lustre the Region has, where not all of it; and what of an order no source confirms for it."""
    types, configurations = here.get_value("fsx_deployment_types"), here.get_value("fsx_configurations")
    if configurations is not None:
        yield Caveat("fsx-configurations-in-region", {"region": region, "configurations": configurations})
    elif types is not None and "PERSISTENT_2" not in types:
        yield Caveat("fsx-types-in-region", {"region": region, "types": types})
    elif types is None and ordered:
        yield Caveat("fsx-types-not-confirmed", {"region": region})
    if here.get_value("fsx_efa") is None and any(order.get("efa") for order in ordered):
        yield Caveat("fsx-efa-not-confirmed", {"region": region})


def nothing_priced(region: str, answers: Iterable[OptionAnswer]) -> Iterator[Caveat]:
    """That no cost of any option can be compared, neither by prices of the Region nor by those of others."""
    could_be_used = [answer for answer in answers if answer.verdict != "ruled-out"]
    without = _without_price(could_be_used)
    if without == could_be_used and all(answer.weighed is None for answer in without):
        yield Caveat("nothing-priced", {"region": region}, grave=True)


def unpriced(region: str, answers: Iterable[OptionAnswer]) -> Iterator[Caveat]:
    """The options that could be used, of which a price of the Region has no source; GPUs and transfer apart."""
    without = _without_price(answer for answer in answers if answer.verdict != "ruled-out")
    for caveat, ones in (
        ("region-priced-elsewhere", [answer for answer in without if answer.weighed is not None]),
        ("region-not-priced", [answer for answer in without if answer.weighed is None]),
    ):
        if ones:
            yield Caveat(caveat, {"region": region, "options": tuple(answer.option for answer in ones)})


def _without_price(answers: Iterable[OptionAnswer]) -> list[OptionAnswer]:
    return [answer for answer in answers if any(map(_has_no_price, answer.cost.lines))]


def _has_no_price(line: CostLine) -> bool:
    priced_here = line.part in ("base", "storage", "requests", "kms")
    return priced_here and line.unit_price is None and line.quantity is not None


def short_run(placements: Iterable[Placement], job: Job) -> Iterator[Caveat]:
    """A file system for less than an hour: what is billed beside the run itself.  References: fsx-pricing."""
    seconds = job.run.hours * 3600.0
    if seconds < 3600.0 and any(placed.option == FSX for placed in placements):
        least = job.facts.options[FSX].known("billing_minimum")
        yield Caveat("fsx-short-run", {"seconds": Quantity.exact(seconds, "seconds"), "least": least})


def loading_unmeasured(reads: OptionAnswer, facts: Facts) -> Iterator[Caveat]:
    """Loading a file system far larger than the one whose loading was measured."""
    capacity, first = reads.supply.configuration.get("storage_capacity_gib"), reads.first_epoch
    if reads.option != FSX or capacity is None or first.way is None:
        return
    chosen = facts.options[FSX]
    measured = chosen.known("hydrate_capacity").value / GIB
    if capacity > measured * chosen.known("hydrate_far").value:
        found = {"capacity": capacity, "measured": measured, "factor": capacity / measured}
        yield Caveat("fsx-loading-unmeasured", found | {"seconds": first.load_seconds})


def file_system_caveats(said: Iterable[Reason]) -> Iterator[Caveat]:
    """What to know before a file system of the plan is ordered, of what is said of it.

    One that is larger than any that was published puts the answer in doubt.
    """
    for reason in said:
        if reason.id in SAID_WITH_THE_PLAN:
            yield Caveat(reason.id, reason.parameters, grave=reason.id == BEYOND_PUBLISHED)
