"""A file system that GPUs wait for: the one whose price and whose waiting GPUs together cost least."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

from gpufeed.facts import Facts
from gpufeed.facts.catalogue import Section
from gpufeed.model import fsx
from gpufeed.model.cost import bill_of
from gpufeed.model.epochs import shares_to_size_for
from gpufeed.model.file_system_need import clients_carry, need_of, need_of_saves
from gpufeed.model.frozen import changed
from gpufeed.model.fsx import GIB, Configuration, Need, Order
from gpufeed.model.job import Job
from gpufeed.model.recommendation import OptionAnswer, Reason
from gpufeed.model.rules import FSX

#: How many capacities of one type are tried at once.
MOST_TRIED = 64
#: What set its size: a smaller one would meet the need, and cost more in GPUs that wait.
WAITING = "waiting-gpus"


def file_system_for_saves(job: Job) -> Configuration | None:
    """What to order where the training reads lie elsewhere; None where the Region has no type that would do.

    It has room for the checkpoints that are kept and brings the rates that saves and a restore need.
    """
    return file_system_with_waiting(need_of_saves(job), job, weights=False)


def file_system_with_waiting(need: Need, job: Job, *, saves: bool = True, weights: bool = True) -> Configuration | None:
    """What meets a need of which ``saves`` and the ``weights`` are part that the job starts from, or one of them.

    Of all types and all larger capacities it has the least sum of its price over the run and of what the GPUs that wait
    for saves, and at the start for weights, cost.  Where the GPUs or the file systems are not priced it is the cheapest
    that meets the need, and so where nobody waits: asynchronous saves, written before the next begins, keep nobody
    waiting for a faster one.  None where the Region has no type that would do.
    Assumption: middle of all facts, disks at their baseline.
    """
    return _cheapest(_case_of(need, job, saves=saves, weights=weights), job.facts)


@lru_cache(maxsize=64)  # a search for what would change a plan asks for the same again and again
def _cheapest(case: _Case, facts: Facts) -> Configuration | None:
    need, region = case.need, case.region
    orders = fsx.best_orders(need, region, facts) if case.waits else []
    _, best = _least_sum(orders, case, facts)
    if best is None or best == orders[0]:
        return fsx.cheapest(need, region, facts)
    chosen = fsx.configured(best, region, facts, need)
    return chosen if best in orders else changed(chosen, size_set_by=WAITING)


def unpriced_with_waiting(
    chosen: Mapping[str, Any], needs: Iterable[Need], job: Job, *, saves: bool = True, weights: bool = True
) -> Iterator[Reason]:
    """A type without a price here that may cost less together with the GPUs that wait, by the prices of other Regions.

    Nothing where waiting did not decide: the cheapest is compared with those without a price where it is chosen.
    """
    facts = job.facts
    for case in (_case_of(need, job, saves=saves, weights=weights) for need in needs):
        if not case.waits:
            return
        need, orders = case.need, fsx.best_orders(case.need, job.region, facts)
        least, best = _least_sum(orders, case, facts)
        if best is None or best == orders[0] or fsx.configured(best, job.region, facts, need).settings != chosen:
            continue
        unpriced = fsx.unpriced_orders(need, job.region, facts)
        much, other = _least_sum(unpriced, case, facts, most=least)
        if other is not None and much < least:
            said = {"configuration": other.name, "gib": other.capacity_gib, "region": job.region}
            said |= {"share": much / least, "chosen": best.name, "chosen_gib": best.capacity_gib}
            yield Reason(fsx.UNPRICED_WITH_WAITING, said)


def _least_sum(orders: list[Order], case: _Case, facts: Facts, *, most: float = math.inf) -> tuple[float, Order | None]:
    """The least sum of all types and larger capacities, and its order; of equals the smaller.  None: none is priced."""
    advised = fsx.efa_advised(case.need, facts)
    least, gib, best = most, math.inf, None
    for order in (order for order in orders if order.efa or not advised):
        for one in _orders_by_sum(order, case, facts, most=least):
            if one[:2] < (least, gib) and not _wants_efa(one[2], case, facts):
                least, gib, best = one
    return least, best


def dearer_for_weights(reads: OptionAnswer, job: Job) -> Iterator[Reason]:
    """That a file system for the reads alone could be had for less, if nobody waited for the weights."""
    needs = [need_of(job, share, saves=False) for share in shares_to_size_for(job.passes)]
    cheapest = [found for need in needs if (found := fsx.cheapest(need, job.region, job.facts)) is not None]
    if cheapest and all(one.settings != reads.supply.configuration for one in cheapest):
        would_do = {"configuration": cheapest[0].name, "gib": cheapest[0].capacity_gib}
        yield Reason("reads-file-system-pays", would_do)


def _wants_efa(order: Order, case: _Case, facts: Facts) -> bool:
    """Whether it writes faster than AWS advises without EFA, which clients, type and Region have.

    References: fsx-efa.
    """
    section = facts.fsx[order.name]
    offered = section.get_value("efa") and fsx.efa_offered(case.region, facts) is not False
    if order.efa or not fsx.efa_for_all(case.need, facts) or not offered:
        return False
    above = facts.options[FSX].known("efa_above").value
    return bool(fsx.disk_rate(section, order.capacity_gib, "write").value > above)


class _Waiting(NamedTuple):
    """GPUs that wait until the job has written or read so many bytes."""

    what: str  # as the clients carry it: "write" or "restore"
    at_one: float  # what waiting would cost at one byte/s
    most: float  # what it costs however slow that is
    clients: int  # of one job, that move it
    ceilings: tuple[float, float]  # bytes/s that they reach, however large the file system is: without EFA, over it


class _Case(NamedTuple):
    """All that decides which file system costs least together with the GPUs that wait for it."""

    need: Need
    waits: tuple[_Waiting, ...]
    region: str
    months: float  # that one job pays for of a whole one: its part of the run, less its discount
    jobs: int


def _case_of(need: Need, job: Job, *, saves: bool, weights: bool) -> _Case:
    run, jobs = job.run, job.load.jobs
    months = bill_of(run, job.facts).months * (1.0 - run.discount) / jobs
    return _Case(need, tuple(_waits_of(job, saves=saves, weights=weights)), job.region, months, jobs)


def _waits_of(job: Job, *, saves: bool, weights: bool) -> Iterator[_Waiting]:
    """Synchronous saves, which are waited for no more than all the time, and the weights, once; unpriced: nothing."""
    run, demand, price = job.run, job.demand, job.run.weighed_gpu_price
    reached, load = job.facts.model.known("checkpoint_rate_share").value, job.load
    if price is None:
        return
    carried = [clients_carry(load, job.facts, efa=efa) for efa in (False, True)]

    def ceilings(what: str) -> tuple[float, float]:
        without, over = (min(by[what].values()) for by in carried)
        return without, over

    if saves and demand.checkpoint_mode != "async" and demand.checkpoint_bytes is not None:
        stopped = price.value * run.training_hours
        at_one = stopped * demand.checkpoint_bytes.value / reached / demand.checkpoint_interval
        yield _Waiting("write", at_one, stopped, load.writing_nodes, ceilings("write"))
    if weights and run.weights_read is not None:
        at_one = price.value / 3600.0 * run.weights_read.value / reached
        yield _Waiting("restore", at_one, math.inf, load.nodes, ceilings("restore"))


class _Rate(NamedTuple):
    """bytes/s over the capacity C [GiB] of one type: min(k × C, servers × what each gives, ceiling)."""

    disks: float  # k: rate of one GiB
    per_server: tuple[float, float]  # GiB of one server, and what it gives all clients
    ceiling: float  # what the instances reach, however large it is
    waiting: _Waiting

    def at(self, gib: float) -> float:
        size, each = self.per_server
        return min(self.disks * gib, each * math.ceil(gib / size), self.ceiling)

    def costs(self, gib: float) -> float:
        return min(self.waiting.at_one / self.at(gib), self.waiting.most)


@dataclass(frozen=True, slots=True)
class _Sum:
    """Price and waiting GPUs over the capacity C [GiB] of one type, for one job's share of it, if several share it.

    Rates in bytes/s, money for the whole run.

    Equation: p × C + f + Σ w / rate(C) over all that a larger one shortens, where no more than all the time is waited.
    """

    per_gib: float  # p: price
    per_iops: float  # price of metadata IOPS that do not come with the capacity
    rates: tuple[_Rate, ...]
    fixed: float = 0.0  # f: waiting for what the instances move no faster, however large it is

    def at(self, gib: float) -> float:
        return self.per_gib * gib + self.fixed + sum(rate.costs(gib) for rate in self.rates)

    def of(self, order: Order) -> float:
        return self.at(float(order.capacity_gib)) + self.per_iops * float(order.ordered_iops)

    def by_disks(self) -> float:
        """Where the sum is least as long as the disks bind: C = sqrt(Σ w / k / p)."""
        by_sum: float = sum(rate.waiting.at_one / (self.per_gib * rate.disks) for rate in self.rates) ** 0.5
        return by_sum

    def least_of_disks(self) -> float:
        """The same, no larger than the ceilings use."""
        return min(self.by_disks(), max((rate.ceiling / rate.disks for rate in self.rates), default=0.0))

    def never_less(self, gib: float) -> float:
        """What the sum is at least at each capacity from this one on: that of the disks alone, where it is least."""
        if any(rate.waiting.at_one > rate.waiting.most * rate.disks * gib for rate in self.rates):
            return self.per_gib * gib + self.fixed  # all the time is waited, whatever the disks give
        least = max(gib, self.by_disks())
        waiting = sum(rate.waiting.at_one / (rate.disks * least) for rate in self.rates)
        return self.per_gib * least + self.fixed + waiting

    def no_more_than(self, most: float) -> tuple[float, float]:
        """The capacities between which the sum can be that low: the roots of p × C² − (most − f) × C + Σ w / k = 0.

        Outside of them it is larger with the disks alone, and the servers and the ceilings only make it larger.
        """
        half = (most - self.fixed) / (2 * self.per_gib)
        product = sum(rate.waiting.at_one / (rate.disks * self.per_gib) for rate in self.rates)
        reach = math.sqrt(max(0.0, half * half - product))
        return half - reach, half + reach

    def as_fast_as_possible(self, gib: float) -> bool:
        """Whether nothing is waited for that a larger capacity would bring sooner."""
        return all(rate.at(gib) >= rate.ceiling for rate in self.rates)


def _orders_by_sum(least: Order, case: _Case, facts: Facts, *, most: float) -> Iterator[tuple[float, float, Order]]:
    """(sum, GiB, order) of each capacity of one type, from its least, that may have the least sum; unpriced: none.

    ``most`` is the least sum of the types before: what cannot be less is left out.  Metadata IOPS that are ordered
    beside the capacity are in the sum; a larger capacity brings more of them with it.
    """
    need, section = case.need, facts.fsx[least.name]
    summed = _sum_of(least, case, section, facts)
    if summed is None:
        return
    first = float(least.capacity_gib)
    if summed.never_less(first) > most:
        return
    yield summed.of(least), first, least
    by_disks = max(fsx.accepted(section, summed.least_of_disks(), efa=least.efa), least.capacity_gib)
    near = fsx.enlarged(least, by_disks, need, facts)
    low, high = map(float, summed.no_more_than(min(summed.of(least), summed.of(near), most)))
    between = _accepted_between(max(first, low), high, section, summed, efa=least.efa)
    beside = (_steps_from(by_disks, capacity, section, efa=least.efa) for capacity in between)
    for order in (near, *(fsx.enlarged(least, capacity, need, facts) for capacity in beside)):
        if order.capacity_gib > first:
            yield summed.of(order), float(order.capacity_gib), order


def _steps_from(start: float, capacity: float, section: Section, *, efa: bool) -> float:
    """The same capacity, as so many steps from another: what is found by trying has no equation of its own."""
    step = _step(section, efa=efa)
    steps = float((capacity - start) / step)
    if not steps.is_integer():
        return capacity
    return start + steps * step if steps >= 0.0 else start - -steps * step


def _step(section: Section, *, efa: bool) -> float:
    return section.known("efa_capacity_step" if efa and "efa_capacity_step" in section else "capacity_step").value / GIB


def _accepted_between(low: float, high: float, section: Section, summed: _Sum, *, efa: bool) -> Iterator[float]:
    """Capacities that AWS accepts, up to the first that no larger one is faster than.

    Where they are many, so many of them evenly spread, then those around the best of these, and so on: over that many
    servers the sum falls and rises once but for the last server, which is little then.
    """
    while True:
        stride = (high - low) / MOST_TRIED
        found = list(_every(max(stride, 1.0), low, high, section, summed, efa=efa))
        yield from found
        if not found or stride <= _step(section, efa=efa):
            return
        best = min(found, key=summed.at)
        low, high = max(low, best - stride), min(high, best + stride)


def _every(stride: float, low: float, high: float, section: Section, summed: _Sum, *, efa: bool) -> Iterator[float]:
    capacity = fsx.accepted(section, low, efa=efa)
    while capacity <= high:
        yield capacity
        if summed.as_fast_as_possible(capacity):
            return
        capacity = fsx.accepted(section, capacity + stride, efa=efa)


def _sum_of(order: Order, case: _Case, section: Section, facts: Facts) -> _Sum | None:
    a_gib, an_iops = fsx.weighed_unit_prices(order.name, case.region, facts)
    if a_gib is None or (an_iops is None and order.ordered_iops):
        return None
    first = float(order.capacity_gib)
    rates = [_rate_of(waiting, order, section, case.jobs, facts) for waiting in case.waits]
    return _Sum(
        per_gib=a_gib.value * case.months,
        per_iops=0.0 if an_iops is None else float(an_iops.value * case.months),
        rates=tuple(rate for rate in rates if rate.at(first) < rate.ceiling),
        fixed=sum(rate.costs(first) for rate in rates if rate.at(first) >= rate.ceiling),
    )


def _rate_of(waiting: _Waiting, order: Order, section: Section, jobs: int, facts: Facts) -> _Rate:
    size, each = section.quantity("storage_per_server"), math.inf
    if size is not None and not order.efa:
        each = float(fsx.server_connections(1, waiting.clients, facts).value)
    per_tib = section.known("disk_write_baseline" if waiting.what == "write" else "disk_read_baseline").value
    return _Rate(
        disks=per_tib / fsx.GIB_PER_BILLED_TIB * fsx.MB / jobs,
        per_server=(1.0 if size is None else float(size.value) / GIB, each / jobs),
        ceiling=waiting.ceilings[order.efa],
        waiting=waiting,
    )
