"""Small objects packed into shards: the job that then is, and what packing costs."""

from __future__ import annotations

import math
from dataclasses import replace

from gpufeed.facts.quantity import Quantity
from gpufeed.model.cost import bill_of, sum_of
from gpufeed.model.demand import preset_of
from gpufeed.model.job import Job, job_of
from gpufeed.model.profile import PrefixProfile
from gpufeed.model.rules import S3
from gpufeed.model.small_files import shard_size
from gpufeed.model.workload import Workload


def in_shards(job: Job, profile: PrefixProfile | None) -> Workload | None:
    """The same job on shards, its samples as they are and read in turn; None where there is nothing to pack.

    That is where the number of objects or the size of the data set is not known, where objects are as large as a part,
    so that they are read in no more requests than shards, and where samples are picked from inside of objects.
    """
    workload, run, facts = job.workload, job.run, job.facts
    known = workload.objects is not None or bool(profile and profile.objects)
    small = run.object_bytes.value < facts.model.known("part_bytes").value
    if not known or run.dataset_bytes.basis == "assumed" or not small or _picks_from_inside(job):
        return None
    shards = math.ceil(run.dataset_bytes.value / shard_size(run.dataset_bytes.value, facts, job.demand.in_flight))
    if shards >= run.objects:
        return None
    sample, reads = workload.sample_bytes, workload.reads
    each = facts.workloads[preset_of(workload)].quantity("samples_per_object")
    if sample is None and each is not None and each.value == 1:  # of which the size of an object is that of a sample
        sample = run.object_bytes.value
    return replace(
        workload,
        dataset_bytes=run.dataset_bytes.value,
        objects=shards,
        sample_bytes=sample,
        reads="streaming" if reads == "random" else reads,
    )


def _picks_from_inside(job: Job) -> bool:
    """Random reads of samples that are smaller than the objects."""
    read, samples = job.demand.read_bytes_per_s, job.demand.samples_per_s
    if job.workload.reads != "random" or read is None or samples is None:
        return False
    return read.value / samples.value < job.run.object_bytes.value * _WHOLE


#: Of an object: a sample this large is all of it, but for what a mean and a rounding make of it.
_WHOLE = 0.99


def packing_cost(job: Job, packed: Workload) -> Quantity | None:
    """One GET of each object, the PUTs of the shards, and the calls to KMS of both; None is not priced.

    Data that is not in S3 yet is packed before it is brought there, which asks nothing more of S3.  Left out: the
    instance that packs, and a NAT gateway, which it need not pass.
    """
    run = job.run
    if run.uploads:
        return Quantity.exact(0.0, run.currency)
    puts, bill = job_of(packed, job.facts, None)[0].run.puts_once, bill_of(run, job.facts)
    lines = [
        bill.line("copy-gets", "requests", S3, "get", run.gets_once),
        bill.line("upload-puts", "requests", S3, "put", puts),
    ]
    if run.kms_calls is not None:
        calls = run.gets_once.plus(puts, "requests") * run.kms_calls
        lines.append(bill.line("upload-kms", "kms", "encryption", "kms", calls))
    return sum_of(run.currency, lines)
