"""What a file system has to hold and to move for a job."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from gpufeed.facts import Facts
from gpufeed.facts.quantity import Quantity
from gpufeed.model import fsx
from gpufeed.model.fsx import GIB, Bound, Carried, Need
from gpufeed.model.job import Job
from gpufeed.model.release import provisioned_throughput, provisioned_to_export
from gpufeed.model.retention import kept_of, with_unexported
from gpufeed.model.rules import FSX
from gpufeed.model.supply import Load


def need_of(job: Job, share: float = 1.0, *, saves: bool = True, tolerated: bool = False) -> Need:
    """What a file system that the job reads from has to hold and to move.

    Beside the data it has room for the weights that the job starts from; equal jobs are taken to start from the same.
    With ``saves`` it has room for the last good checkpoints as well, takes the saves, and reads for a restore
    where that is more.  ``share`` is that of the training reads which reach it: the memory of the instances may serve
    the others.  Several jobs are sized for all of them at once: reading, saving, or restoring.  ``tolerated``: saves as
    fast as the tolerance asks, also where their price would decide.
    Assumption: a file is opened once for all of it that is read, also where it is read in parts.
    """
    asked, load, facts, jobs = job.demand, job.load, job.facts, job.load.jobs
    opens = None if asked.read_bytes_per_s is None else asked.read_bytes_per_s / load.object_bytes.middle()
    demands = {"read": asked.read_bytes_per_s, "opens": opens}
    demands |= {"write": asked.checkpoint_write_bytes_per_s} if saves else {}
    small_files = load.opens_an_object and load.object_bytes.value < facts.model.known("part_bytes").value
    data, weights = _data_bytes(job), 0.0 if job.run.weights is None else job.run.weights.high
    reads_from = data + weights
    return Need(
        holds_bytes=reads_from + _checkpoints_bytes(job) * jobs if saves else reads_from,
        leaves_bytes=job.run.dataset_bytes.value - data,
        clients=load.nodes * jobs,
        writing_clients=load.writing_nodes * jobs if saves else 0,
        efa=load.efa_network is not None,
        efa_interfaces=_efa_interfaces(job),
        read_again_bytes=job.passes.bytes.high if job.passes.later else None,
        random_reads=job.workload.reads == "random" or small_files,
        **(_until_exported(job, tolerated=tolerated) if saves else {}),
        unknown=frozenset(name for name, demand in demands.items() if demand is None),
        **_rates(_value(asked.read_bytes_per_s) * share, _value(opens) * share, job, saves=saves, tolerated=tolerated),
    )


def holds_everything(configuration: Mapping[str, Any], job: Job, *, saves: bool) -> bool:
    """Whether what was ordered has room for the whole data set, not only for what the run reads of it."""
    need, ordered = need_of(job, saves=saves), provisioned_throughput(configuration)
    capacity: float = configuration["storage_capacity_gib"] * GIB
    return capacity >= need.holds_at(ordered) + need.leaves_bytes


def need_of_saves(job: Job, *, tolerated: bool = False) -> Need:
    """What a file system for the checkpoints alone has to hold and to move: those kept, the saves, and a restore."""
    load, jobs = job.load, job.load.jobs
    return Need(
        holds_bytes=_checkpoints_bytes(job) * jobs,
        clients=load.nodes * jobs,
        writing_clients=load.writing_nodes * jobs,
        efa=load.efa_network is not None,
        efa_interfaces=_efa_interfaces(job),
        unknown=frozenset() if job.demand.checkpoint_bytes is not None else frozenset({"write"}),
        **_until_exported(job, tolerated=tolerated),
        **_rates(0.0, 0.0, job, saves=True, tolerated=tolerated),
    )


# ---- rates -----------------------------------------------------------------------------------------------------------


def _rates(read: float, opens: float, job: Job, *, saves: bool, tolerated: bool = False) -> dict[str, Any]:
    """The rates of a need, those of all jobs: what is asked, and what of it the clients carry."""
    asked, beside = {"read": read}, 0.0
    load, demand = job.load, job.demand
    if saves:
        asked |= {"restore": _restore_rate(job), "write": _save_rate(job, tolerated=tolerated)}
        beside = _value(demand.checkpoint_write_bytes_per_s) if demand.checkpoint_mode == "async" and read else 0.0

    def over(*, efa: bool) -> Carried:
        return carried(asked, opens, clients_carry(load, job.facts, efa=efa), load.jobs, beside)

    everything = carried(asked, opens, {}, load.jobs)
    return {
        "read_bytes_per_s": everything.read,
        "write_bytes_per_s": everything.write,
        "opens_per_s": everything.opens,
        "over_tcp": over(efa=False),
        "over_efa": None if load.efa_network is None else over(efa=True),
    }


def carried(
    asked: Mapping[str, float],
    opens: float,
    ceilings: Mapping[str, Mapping[str, float]],
    jobs: int = 1,
    beside: float = 0.0,
) -> Carried:
    """The least of what is asked and what the clients carry; files are opened as fast as they are read.

    ``beside`` is what saves write while the training reads go on.
    """
    carries, bounds = dict(asked), []
    for what, limits in ceilings.items():
        limit = min(limits, key=limits.__getitem__)
        if asked.get(what, 0.0) > limits[limit]:
            carries[what] = limits[limit]
            bounds.append(Bound(what, limit, asked[what] * jobs, limits[limit] * jobs))
    served = carries["read"] / asked["read"] if asked["read"] else 1.0
    return Carried(
        read=max(carries["read"], carries.get("restore", 0.0)) * jobs,
        write=carries.get("write", 0.0) * jobs,
        opens=opens * served * jobs,
        bounds=tuple(bounds),
        while_saving=(carries["read"] * jobs, min(beside, carries.get("write", 0.0)) * jobs),
    )


@lru_cache(maxsize=64)  # a search for what would change a plan asks for the same again and again
def clients_carry(load: Load, facts: Facts, *, efa: bool) -> dict[str, dict[str, float]]:
    """bytes/s that one job's instances move at most, however large the file system, by what binds.

    These are the limits of :func:`gpufeed.model.supply.supply` that no capacity moves, at their middle: the network
    cards, each client, and one file a rank for saves.  How many reads a loader has under way is left out: that is a
    setting of the job, which may change after the file system has been ordered.
    """
    chosen, network = facts.options[FSX], load.efa_network if efa else load.file_network
    client = chosen.known("per_client_read_efa" if efa else "per_client_read").value
    card = math.inf if network is None else network.value
    share = 1.0 if efa else facts.model.parts["network"].known("card_share").value
    ranks = math.inf if load.writing_ranks is None else chosen.known("per_request_write").value * load.writing_ranks
    nodes, writing = load.nodes, load.writing_nodes
    return {
        "read": {"network-card": card * share * nodes, "client-limit": client * nodes},
        # Of a whole checkpoint every ceiling has its share already: model/checkpoint.
        "restore": {"network-card": card * nodes, "client-limit": client * nodes},
        "write": {"network-card": card * writing, "client-limit": client * writing, "one-file-per-rank": ranks},
    }


def _save_rate(job: Job, *, tolerated: bool = False) -> float:
    """What must be provisioned for the saves [bytes/s].

    A deadline has to hold at the slowest share of a provisioned rate that was published, a tolerance at the middle one:
    a save that is not written when the next begins stops every GPU, while a synchronous one that is slower costs as
    much more as it is slower.  Where no tolerance was stated and waiting has a price, that price decides how much
    faster than the deadline it is (:mod:`gpufeed.model.saving_file_system`).
    References: mlperf-storage-checkpoints-v3.0, megatron-scaling-paper.
    """
    reached, demand = job.facts.model.known("checkpoint_rate_share"), job.demand
    if demand.checkpoint_mode != "async" and (tolerated or not by_price(job)):
        return _value(demand.checkpoint_write_bytes_per_s) / reached.value
    return _value(demand.checkpoint_bytes) / demand.checkpoint_interval / reached.low


def by_price(job: Job) -> bool:
    """Whether synchronous saves are as fast as pays: no tolerance was stated, and waiting and capacity have prices."""
    if job.demand.checkpoint_mode == "async" or job.workload.stall_tolerance is not None:
        return False
    return job.run.weighed_gpu_price is not None and fsx.any_priced(job.region, job.facts)


def _restore_rate(job: Job) -> float:
    """What must be provisioned for a restore [bytes/s]: its target is a deadline, as in :func:`_save_rate`."""
    asked = job.demand.restore_bytes_per_s
    return (0.0 if asked is None else asked.high) / job.facts.model.known("checkpoint_rate_share").low


def _value(asked: Quantity | None) -> float:
    return 0.0 if asked is None else asked.value


def _efa_interfaces(job: Job) -> int:
    instance = job.workload.instance_type
    each = None if instance is None else job.facts.instances[instance].quantity("efa_interfaces")
    return 0 if each is None else round(each.value)


def _data_bytes(job: Job) -> float:
    """The data set, or what the run reads of it: linked to S3, what is never read is never loaded.

    At the high end of what it reads, each job something else: a file system that runs full stops the jobs.
    """
    whole, touched = job.run.dataset_bytes.value, job.passes.touched
    return whole if touched is None else min(whole, touched.high * job.load.jobs)


def _checkpoints_bytes(job: Job) -> float:
    """Room for checkpoints beside the data: the last good one stays while the next is written."""
    size = job.demand.checkpoint_bytes
    if size is None:
        return 0.0
    kept = kept_of(job.run.training_hours, job.workload, job.demand, job.facts).value
    return size.value * kept


def _until_exported(job: Job, *, tolerated: bool) -> dict[str, Any]:
    """Room for a checkpoint that others have followed, as many as are kept, before its export has ended.

    Until then it can be neither released nor deleted.  How long its export takes follows from what is ordered, so the
    need says from what throughput on none takes that long: the intervals of those kept, without what a save takes.
    Assumption: a save takes as long as one may at the slowest published share of what its rate is sized for, which is
    all of its interval where no tolerance decides.
    References: fsx-release-api, megatron-scaling-paper.
    """
    size, made = job.demand.checkpoint_bytes, (job.run.training_hours, job.workload, job.demand, job.facts)
    if size is None:
        return {}
    kept = kept_of(*made).value
    more = with_unexported(*made, in_s3=math.inf).value - kept
    if not more:
        return {}
    interval = job.demand.checkpoint_interval
    ceilings = clients_carry(job.load, job.facts, efa=False)["write"].values()
    rate = min(_save_rate(job, tolerated=tolerated), *ceilings)
    slowest = size.value / (rate * job.facts.model.known("checkpoint_rate_share").low)
    seconds = kept * interval - min(slowest, interval)
    return {
        "until_exported_bytes": size.value * more * job.load.jobs,
        "exported_in_time_at": provisioned_to_export(seconds, job.demand, job.facts),
    }
