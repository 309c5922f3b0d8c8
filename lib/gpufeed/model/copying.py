"""What it costs to copy the data set to every instance's own drives once, beside reading it where the plan has it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from gpufeed.facts.quantity import Quantity
from gpufeed.model import formulas
from gpufeed.model.cost import bill_of, sum_of
from gpufeed.model.job import Job
from gpufeed.model.paths import NAT, OTHER_REGION
from gpufeed.model.recommendation import CopyOnce, OptionAnswer, Placement, Reason
from gpufeed.model.rules import FSX, S3
from gpufeed.model.weigh import least_saving

_SOURCE = "ec2-instance-specifications"
#: Lines of a bill that stay with the copy: the data set reaches S3 first, and the weights come to the GPUs as before.
_AS_BEFORE = frozenset({"upload-puts", "upload-kms", "weights-gpu"})


def worth_naming(copy: CopyOnce | None, reads: OptionAnswer, job: Job) -> CopyOnce | None:
    """The copy with what it costs; None where even the least of it is more than the reads of the plan cost.

    Cents beside what the GPUs cost decide nothing: the copy may still be the simpler plan.

    Equation: cost = requests and transfer of nodes × data set + (copy + run × (1 / fed − 1)) × GPU price + what stays.
    Assumption: the GPUs wait for the copy.  Fed as by the random reads that are published, it costs the most; fed in
    full, the least.
    """
    if copy is None or copy.seconds is None:
        return copy
    read, price, fed = _read_once(job), job.run.gpu_hour_price, copy.fed_at_least
    stays = sum_of(job.run.currency, (line for line in reads.cost.lines if line.id in _AS_BEFORE))
    if read is None or price is None or stays is None:
        return copy
    read = read + stays
    copying, hours = copy.seconds / 3600.0, job.run.training_hours
    least = (read + copying * price).named(job.run.currency)
    most = None
    if fed is not None:
        most = (read + (copying + formulas.idle_hours(hours, fed)) * price).named(job.run.currency)
    now = reads.cost.beyond_base
    if now is not None and least.value >= now.value + least_saving(job):
        return None
    return replace(copy, cost_at_most=most, cost_at_least=least)


def _read_once(job: Job) -> Quantity | None:
    """What S3, the way from it and its keys ask for each instance's copy; None where a part is not priced.

    Equation: requests = nodes × those that read the data set once.
    """
    run, nodes = job.run, job.workload.instances
    bill = bill_of(run, job.facts)
    requests = run.gets_once * nodes
    lines = [bill.line("gets", "requests", S3, "get", requests)]
    if run.network_path in (NAT, OTHER_REGION):
        across = run.dataset_bytes.times(nodes, "bytes")
        lines.append(bill.line("transfer", "transfer", "network", run.network_path, across))
    if run.kms_calls is not None:
        lines.append(bill.line("kms", "kms", "encryption", "kms", requests * run.kms_calls))
    return sum_of(run.currency, lines)


def explained(reads: Placement, answer: OptionAnswer, copy: CopyOnce | None) -> Placement:
    """The placement of the training reads with the copy that may replace it; beside a file system it is told apart."""
    if copy is None or reads.option == FSX:
        return reads
    found: dict[str, Any] = {"bytes": copy.bytes_per_node, "capacity": copy.capacity, "seconds": copy.seconds}
    found |= costs(copy, answer)
    if copy.fits and copy.fed_at_least is not None:
        found["fed"] = copy.fed_at_least
        told = Reason("copy-once" if "cost" in found else "copy-once-not-priced", found, _SOURCE)
    else:
        told = Reason("copy-once-if-it-fits" if "least" in found else "copy-once-if-it-fits-not-priced", found)
    return replace(reads, reasons=(*reads.reasons, told))


def costs(copy: CopyOnce, reads: OptionAnswer) -> dict[str, Any]:
    """What it costs at most and at least, beside what the reads of the plan do, as far as it is known."""
    now = reads.cost.beyond_base
    known = {"cost": copy.cost_at_most, "least": copy.cost_at_least}
    if now is None or copy.cost_at_least is None:
        return {}
    return {name: cost for name, cost in known.items() if cost is not None} | {
        "other_cost": now,
        "option": reads.option,
    }
