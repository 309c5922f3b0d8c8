"""A file system that saves go to: the one whose price and whose waiting GPUs together cost least."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

from gpufeed.facts.catalogue import Section
from gpufeed.model import fsx
from gpufeed.model.cost import bill_of
from gpufeed.model.file_system_need import clients_carry, need_of_saves
from gpufeed.model.fsx import GIB, Configuration, Need, Order
from gpufeed.model.job import Job

#: What set its size: a smaller one would meet the need, and cost more in GPUs that wait.
WAITING = "waiting-gpus"


def file_system_for_saves(job: Job) -> Configuration | None:
    """What to order where the training reads lie elsewhere; None where the Region has no type that would do.

    It has room for the checkpoints that are kept and brings the rates that saves and a restore need.
    """
    return file_system_with_waiting(need_of_saves(job), job)


def file_system_with_waiting(need: Need, job: Job) -> Configuration | None:
    """What meets a need that saves are part of; None where the Region has no type that would do.

    Of all types and all larger capacities it has the least sum of its price over the run and of what the GPUs that wait
    for saves cost.  Where the GPUs or the file systems are not priced it is the cheapest that meets the need, and so
    where saves are asynchronous: written before the next begins, they keep nobody waiting for a faster one.
    Assumption: middle of all facts, disks at their baseline.
    """
    facts, waited_for = job.facts, job.demand.checkpoint_mode != "async"
    orders = fsx.best_orders(need, job.region, facts) if waited_for else []
    advised = fsx.efa_advised(need, facts)
    able = [order for order in orders if order.efa or not advised]
    sums = [one for order in able for one in _orders_by_sum(order, need, job)]
    _, _, best = min(sums, key=lambda one: one[:2], default=(0.0, 0.0, None))
    if best is None or best == orders[0]:
        return fsx.cheapest(need, job.region, facts)
    chosen = fsx.configured(best, job.region, facts, need)
    return chosen if best in orders else replace(chosen, size_set_by=WAITING)


@dataclass(frozen=True, slots=True)
class _Sum:
    """Price and waiting GPUs over the capacity C [GiB] of one type, for one job's share of it, if several share it.

    Rates in bytes/s, money for the whole run.

    Equation: p × C + w / min(k × C, servers × what each gives, ceiling), where no more than all the time is waited.
    """

    per_gib: float  # p: price
    per_iops: float  # price of metadata IOPS that do not come with the capacity
    disks: float  # k: rate of one GiB
    per_server: tuple[float, float]  # GiB of one server, and what it gives all clients
    ceiling: float  # what the instances reach, however large it is
    at_one: float  # w: what waiting would cost at one byte/s
    stopped: float  # what the GPUs cost that wait all the time

    def rate(self, gib: float) -> float:
        size, each = self.per_server
        return min(self.disks * gib, each * math.ceil(gib / size), self.ceiling)

    def at(self, gib: float) -> float:
        return self.per_gib * gib + min(self.at_one / self.rate(gib), self.stopped)

    def of(self, order: Order) -> float:
        return self.at(float(order.capacity_gib)) + self.per_iops * float(order.ordered_iops)

    def least_of_disks(self) -> float:
        """Where the sum is least as long as the disks bind: C = sqrt(w / (p × k)), no larger than the ceiling uses."""
        by_sum: float = (self.at_one / (self.per_gib * self.disks)) ** 0.5
        return min(by_sum, self.ceiling / self.disks)

    def no_more_than(self, most: float) -> tuple[float, float]:
        """The capacities between which the sum can be that low: the roots of p × C² − most × C + w / k = 0.

        Outside of them it is larger with the disks alone, and the servers and the ceiling only make it larger.
        """
        half, product = most / (2 * self.per_gib), self.at_one / (self.disks * self.per_gib)
        reach = math.sqrt(max(0.0, half * half - product))
        return half - reach, half + reach


def _orders_by_sum(least: Order, need: Need, job: Job) -> Iterator[tuple[float, float, Order]]:
    """(sum, GiB, order) of each capacity of one type, from its least, that may have the least sum; unpriced: none.

    Metadata IOPS that are ordered beside the capacity are in the sum; a larger capacity brings more of them with it.
    """
    section = job.facts.fsx[least.name]
    summed = _sum_of(least, section, job)
    if summed is None:
        return
    first = float(least.capacity_gib)
    yield summed.of(least), first, least
    by_disks = max(fsx.accepted(section, summed.least_of_disks(), efa=least.efa), least.capacity_gib)
    near = fsx.enlarged(least, by_disks, need, job.facts)
    low, high = map(float, summed.no_more_than(min(summed.of(least), summed.of(near))))
    between = _accepted_between(max(first, low), high, section, summed, efa=least.efa)
    beside = (_steps_from(by_disks, capacity, section, efa=least.efa) for capacity in between)
    for order in (near, *(fsx.enlarged(least, capacity, need, job.facts) for capacity in beside)):
        if order.capacity_gib > first:
            yield summed.of(order), float(order.capacity_gib), order


def _steps_from(start: float, capacity: float, section: Section, *, efa: bool) -> float:
    """The same capacity, as so many steps from another: what is found by trying has no equation of its own."""
    step = section.known("efa_capacity_step" if efa and "efa_capacity_step" in section else "capacity_step").value / GIB
    steps = float((capacity - start) / step)
    if not steps.is_integer():
        return capacity
    return start + steps * step if steps >= 0.0 else start - -steps * step


def _accepted_between(low: float, high: float, section: Section, summed: _Sum, *, efa: bool) -> Iterator[float]:
    """Capacities that AWS accepts, up to the first that no larger one is faster than."""
    capacity = fsx.accepted(section, low, efa=efa)
    while capacity <= high:
        yield capacity
        if summed.rate(capacity) >= summed.ceiling:
            return
        capacity = fsx.accepted(section, capacity + 1.0, efa=efa)


def _sum_of(order: Order, section: Section, job: Job) -> _Sum | None:
    run, demand, facts, jobs = job.run, job.demand, job.facts, job.load.jobs
    a_gib, an_iops = fsx.weighed_unit_prices(order.name, job.region, facts)
    if (
        a_gib is None
        or (an_iops is None and order.ordered_iops)
        or run.weighed_gpu_price is None
        or demand.checkpoint_bytes is None
    ):
        return None
    reached = facts.model.known("checkpoint_rate_share").value
    stopped = run.weighed_gpu_price.value * run.hours
    size, each = section.quantity("storage_per_server"), math.inf
    if size is not None and not order.efa:
        each = float(fsx.server_connections(1, job.load.writing_nodes, facts).value)
    months = bill_of(run, facts).months * (1.0 - run.discount) / jobs
    return _Sum(
        per_gib=a_gib.value * months,
        per_iops=0.0 if an_iops is None else float(an_iops.value * months),
        disks=section.known("disk_write_baseline").value / fsx.GIB_PER_BILLED_TIB * fsx.MB / jobs,
        per_server=(1.0 if size is None else float(size.value) / GIB, each / jobs),
        ceiling=min(clients_carry(job.load, facts, efa=order.efa)["write"].values()),
        at_one=stopped * demand.checkpoint_bytes.value / reached / demand.checkpoint_interval,
        stopped=stopped,
    )
