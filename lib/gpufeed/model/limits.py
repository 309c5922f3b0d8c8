"""What a Region does not have and what remains there, and limits of a service that no rate expresses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from gpufeed.facts import Facts
from gpufeed.model.job import Job
from gpufeed.model.recommendation import Caveat, Placement, Reason
from gpufeed.model.rules import S3_FILES, SYSTEMS


def reasons(option: str, job: Job) -> Iterator[Reason]:
    """What is said against an option for how many objects and clients the job has."""
    if option != S3_FILES:
        return
    chosen = job.facts.options[S3_FILES]
    objects, clients = chosen.known("objects_without_warning"), chosen.known("maximum_connections")
    if job.run.objects > objects.value:
        said = {"objects": job.run.objects, "most": objects.value}
        yield Reason("s3-files-many-objects", said, "s3-files-performance")
    mounted = job.load.nodes * job.load.jobs
    if mounted > clients.value:
        said = {"clients": mounted, "most": clients.value}
        yield Reason("s3-files-connections", said, "s3-files-quotas")


def caveats(region: str, facts: Facts, placements: Iterable[Placement]) -> Iterator[Caveat]:
    """What the Region lacks, with what remains in its place, and what the chosen options ask of the bucket."""
    here = facts.regions[region]
    offered = {option: here.get_value(option) for option in SYSTEMS}
    gone = tuple(option for option, there in offered.items() if there is False)
    if gone:
        left = tuple(option for option, there in offered.items() if there)
        unconfirmed = tuple(option for option, there in offered.items() if there is None)
        yield Caveat("region-without", {"region": region, "gone": gone, "left": left, "unconfirmed": unconfirmed})
    types = here.get_value("fsx_deployment_types")
    if types is not None:
        yield Caveat("fsx-types-in-region", {"region": region, "types": types})
    if any(placed.option == S3_FILES for placed in placements):
        yield Caveat("s3-files-versioning")
