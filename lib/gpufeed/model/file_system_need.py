"""What a file system has to hold and to move for a job."""

from __future__ import annotations

from gpufeed.facts.quantity import Quantity
from gpufeed.model.fsx import Need
from gpufeed.model.job import Job


def need_of(job: Job, share: float = 1.0, *, saves: bool = True) -> Need:
    """What a file system that the job reads from has to hold and to move.

    With ``saves`` it has room for the last good checkpoints beside the data, takes the saves, and reads for a restore
    where that is more.  ``share`` is that of the training reads which reach it: the memory of the instances may serve
    the others.  Several jobs are sized for all of them at once: reading, saving, or restoring.
    Assumption: a file is opened once for all of it that is read, also where it is read in parts.
    """
    asked, load, facts, jobs = job.demand, job.load, job.facts, job.load.jobs
    opens = None if asked.read_bytes_per_s is None else asked.read_bytes_per_s / load.object_bytes.middle()
    demands = {"read": asked.read_bytes_per_s, "opens": opens}
    demands |= {"write": asked.checkpoint_write_bytes_per_s} if saves else {}
    small_files = load.opens_an_object and load.object_bytes.value < facts.model.known("part_bytes").value
    read, data = _value(asked.read_bytes_per_s) * share, _data_bytes(job)
    return Need(
        holds_bytes=data + _checkpoints_bytes(job) * jobs if saves else data,
        leaves_bytes=job.run.dataset_bytes.value - data,
        read_bytes_per_s=(max(read, _restore_rate(job)) if saves else read) * jobs,
        write_bytes_per_s=_save_rate(job) * jobs if saves else 0.0,
        opens_per_s=_value(opens) * share * jobs,
        clients=load.nodes * jobs,
        writing_clients=load.writing_nodes * jobs if saves else 0,
        efa=load.efa_network is not None,
        read_again_bytes=job.passes.bytes.high if job.passes.later else None,
        random_reads=job.workload.reads == "random" or small_files,
        unknown=frozenset(name for name, demand in demands.items() if demand is None),
    )


def need_of_saves(job: Job) -> Need:
    """What a file system for the checkpoints alone has to hold and to move: those kept, the saves, and a restore."""
    load, jobs = job.load, job.load.jobs
    return Need(
        holds_bytes=_checkpoints_bytes(job) * jobs,
        read_bytes_per_s=_restore_rate(job) * jobs,
        write_bytes_per_s=_save_rate(job) * jobs,
        clients=load.nodes * jobs,
        writing_clients=load.writing_nodes * jobs,
        efa=load.efa_network is not None,
        unknown=frozenset() if job.demand.checkpoint_bytes is not None else frozenset({"write"}),
    )


def _save_rate(job: Job) -> float:
    """What must be provisioned for the saves [bytes/s].

    A deadline has to hold at the slowest share of a provisioned rate that was published, a tolerance at the middle one:
    an asynchronous save that is not written when the next begins stops every GPU, while a synchronous one that is
    slower costs as much more as it is slower.
    References: mlperf-storage-checkpoints-v3.0, megatron-scaling-paper.
    """
    reached = job.facts.model.known("checkpoint_rate_share")
    asked = _value(job.demand.checkpoint_write_bytes_per_s)
    return asked / (reached.low if job.demand.checkpoint_mode == "async" else reached.value)


def _restore_rate(job: Job) -> float:
    """What must be provisioned for a restore [bytes/s]: its target is a deadline, as in :func:`_save_rate`."""
    return _value(job.demand.restore_bytes_per_s) / job.facts.model.known("checkpoint_rate_share").low


def _value(asked: Quantity | None) -> float:
    return 0.0 if asked is None else asked.value


def _data_bytes(job: Job) -> float:
    """The data set, or what the run reads of it: linked to S3, what is never read is never loaded.

    At the high end of what it reads, each job something else: a file system that runs full stops the jobs.
    """
    whole, touched = job.run.dataset_bytes.value, job.passes.touched
    return whole if touched is None else min(whole, touched.high * job.load.jobs)


def _checkpoints_bytes(job: Job) -> float:
    """Room for checkpoints beside the data: the last good one stays while the next is written."""
    size = job.demand.checkpoint_bytes
    kept = job.workload.checkpoints_kept or job.facts.model.known("checkpoints_kept").value
    return 0.0 if size is None else size.value * kept
