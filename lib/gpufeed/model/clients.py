"""How the clients on one instance are set up, so that they ask for what the plan counts on."""

from __future__ import annotations

import math

from gpufeed.facts import Facts
from gpufeed.model.recommendation import Recommendation
from gpufeed.model.rules import MOUNTPOINT, S3
from gpufeed.model.upload import default_part_bytes, upload_of_saves

BITS = 8
GIGA = 10**9


def mount_threads(plan: Recommendation, facts: Facts) -> int:
    """Concurrent file operations one mount has to serve: reads in flight on one instance, at least its own default.

    Equation: max(default, in flight / instances).  References: mountpoint-configuration.
    """
    of_one = math.ceil(plan.demand.in_flight / plan.workload.instances)
    return max(int(facts.options[MOUNTPOINT].known("maximum_threads").value), of_one)


def largest_written_file(plan: Recommendation, facts: Facts) -> float:
    """The largest file that a mount can write with the parts of this plan's checkpoints [bytes].

    Equation: part × parts of an upload.  References: mountpoint-configuration, s3-multipart.
    """
    part = part_of_saves(plan, facts)
    if part is None:
        return facts.options[MOUNTPOINT].known("maximum_written_object").value
    return part * facts.options[S3].known("multipart_maximum_parts").value


def part_of_saves(plan: Recommendation, facts: Facts) -> int | None:
    """Part size [bytes] that checkpoints are uploaded and billed in; None where it is the clients' own default."""
    upload = upload_of_saves(plan.demand, plan.placements["checkpoints"].lies_on, facts)
    return None if upload is None or upload.part_bytes == default_part_bytes(facts) else upload.part_bytes


def part_of_copies(plan: Recommendation, facts: Facts) -> int:
    """Part size [bytes] in which saves are copied out of a directory bucket, and billed: the one chosen for S3."""
    upload = upload_of_saves(plan.demand, S3, facts)
    return default_part_bytes(facts) if upload is None else upload.part_bytes


def gigabits_per_process(plan: Recommendation, facts: Facts, *, each: float = 1) -> int | None:
    """Target throughput of one process [Gbit/s], ``each`` accelerator having so many; None: network not known.

    Equation: network of an instance towards S3 / its processes.  References: s3-connector-pytorch.
    """
    if plan.workload.instance_type is None:
        return None
    network = facts.instances[plan.workload.instance_type].quantity("s3_network")
    if network is None:
        return None
    processes = plan.demand.accelerators / plan.workload.instances * each
    return max(1, math.floor(network.value * BITS / GIGA / processes))
