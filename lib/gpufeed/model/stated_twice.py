"""Where a profile of the real prefix and the workload say something else of the same: which of the two was taken."""

from __future__ import annotations

from collections.abc import Iterator

from gpufeed.facts import Facts
from gpufeed.facts.quantity import Quantity
from gpufeed.model.demand import preset_of
from gpufeed.model.profile import PrefixProfile
from gpufeed.model.recommendation import Caveat
from gpufeed.model.workload import Workload


def stated_twice(workload: Workload, profile: PrefixProfile | None, facts: Facts) -> Iterator[Caveat]:
    """What was counted is taken before what was stated; a sample size alone is taken as stated.

    Differences that three digits do not show are none.
    """
    if profile is None:
        return
    if not profile.objects:
        yield Caveat("profile-empty")
        return
    for name, counted, unit in (
        ("dataset_bytes", float(profile.bytes), "bytes"),
        ("objects", float(profile.objects), "count"),
    ):
        stated = getattr(workload, name)
        if stated is not None and _differ(stated, counted):
            found = {"stated": Quantity.exact(float(stated), unit), "counted": Quantity.exact(counted, unit)}
            yield Caveat("profile-taken", {"trait": name, **found})
    yield from _sample(workload, profile, facts)
    read = workload.working_set_bytes
    if read is not None and read > profile.bytes:
        found = {"stated": Quantity.exact(read, "bytes"), "counted": Quantity.exact(float(profile.bytes), "bytes")}
        yield Caveat("profile-below-working-set", found, grave=True)


def _sample(workload: Workload, profile: PrefixProfile, facts: Facts) -> Iterator[Caveat]:
    """Where an object is a sample, its size is said twice."""
    each = facts.workloads[preset_of(workload)].quantity("samples_per_object")
    stated, counted = workload.sample_bytes, profile.mean_bytes
    if stated is None or counted is None or each is None or each.value != 1 or not _differ(stated, counted):
        return
    found = {"stated": Quantity.exact(stated, "bytes"), "counted": Quantity.exact(counted, "bytes")}
    yield Caveat("profile-not-taken", {"trait": "sample_bytes", **found})


def _differ(one: float, other: float) -> bool:
    return f"{one:.3g}" != f"{other:.3g}"
