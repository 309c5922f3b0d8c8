"""Time between failures of this job as each published cluster would have it: each counts something else as one."""

from __future__ import annotations

from gpufeed.facts import Facts
from gpufeed.facts.quantity import Quantity
from gpufeed.model.frozen import frozen
from gpufeed.model.recommendation import Demand
from gpufeed.model.workload import Workload

#: RSC-1 is published as a rate per node, the others as a time between failures of one job or cluster.
NODE_RATE = "rsc-1-node-rate"


@frozen
class FailureDefinition:
    """One published figure, and what it comes to for a job of another size.  Message ``failure.counts.<id>``."""

    id: str
    gpus: int | None  # of the published job; None for a rate per node
    published: Quantity | None  # seconds, at that size
    here: Quantity  # seconds, for this job


def by_definition(workload: Workload, demand: Demand, facts: Facts) -> tuple[FailureDefinition, ...]:
    """Every published figure scaled to this job, longest time first.  They are never averaged.

    Assumption: time between failures falls as the number of GPUs (or nodes) rises; large jobs have failed more often.
    Equation: M_here = M_published × GPUs_published / GPUs_here; from a rate per node, 1 / (nodes × rate).
    References: rsc-reliability.
    """
    rows = facts.model.parts["failures"]
    rate = rows.known("node_failure_rate").middle()
    found = [FailureDefinition(NODE_RATE, None, None, (1.0 / (rate * workload.instances)).named("seconds"))]
    for name, row in rows.parts.items():
        gpus, published = int(row.known("gpus").value), row.known("mean_time_to_failure")
        here = published.times(gpus / demand.accelerators, "seconds")
        found.append(FailureDefinition(name, gpus, published, here))
    return tuple(sorted(found, key=lambda definition: -definition.here.value))
