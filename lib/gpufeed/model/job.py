"""The job as the options are judged by it: its demand, how it reads and writes, and what a run moves and keeps."""

from __future__ import annotations

from functools import lru_cache

from gpufeed.facts import Facts
from gpufeed.facts.quantity import Quantity, least, most
from gpufeed.model.cost import Run, bill_of, copy_requests
from gpufeed.model.demand import counted, demand, gets_of_profile
from gpufeed.model.epochs import Passes, covered, hours_of, passes_of, touched
from gpufeed.model.frozen import changed, frozen
from gpufeed.model.parts import part_of_saves
from gpufeed.model.paths import kms_calls, kms_requests, nat_bandwidth
from gpufeed.model.profile import PrefixProfile
from gpufeed.model.recommendation import Caveat, Demand, Evaluation, Traffic
from gpufeed.model.rules import EXPRESS, FSX, S3
from gpufeed.model.stated_twice import stated_twice
from gpufeed.model.supply import Load, Parts, mountpoint_backing
from gpufeed.model.traffic import beside_training, evaluating, evaluation_of, evaluations_in, traffic_of
from gpufeed.model.upload import Upload, gets_of, puts_of, upload_of
from gpufeed.model.workload import DEFAULT_REGION, Workload

#: Two ways to work out the same differ by no more.
_EQUAL = 1e-9


@frozen
class Job:
    """Everything about the job that the options are judged by."""

    workload: Workload
    facts: Facts
    region: str
    demand: Demand
    load: Load  # training reads
    bulk: Load  # checkpoints and base weights: large parts, all ranks at once, under prefixes of their own
    run: Run
    passes: Passes
    traffic: Traffic

    def mounting(self, bucket: str) -> Job:
        """The same job with this kind of bucket behind Mountpoint."""
        if bucket == self.load.mounted:
            return self
        load, bulk, run = (changed(one, mounted=bucket) for one in (self.load, self.bulk, self.run))
        return changed(self, load=load, bulk=bulk, run=run)


def job_of(workload: Workload, facts: Facts, profile: PrefixProfile | None) -> tuple[Job, list[Caveat]]:
    """The job of a workload, and a caveat for each default that its answer rests on.

    A profile of the real prefix replaces the stated size and number of objects.
    """
    asked = demand(workload, facts, profile)
    warnings = list(stated_twice(workload, profile, facts))
    region = workload.region or DEFAULT_REGION
    if workload.region is None:
        warnings.append(Caveat("default-region", {"region": region}))
    part = facts.model.known("part_bytes")
    object_bytes = asked.object_bytes or part
    request_bytes = asked.request_bytes or part
    if asked.object_bytes is None:
        warnings.append(Caveat("no-object-size", {"bytes": part.value}))
    s3_network, file_network, efa_network = network_of(workload, facts)
    if s3_network is None:
        warnings.append(Caveat("network-unknown"))
    load = Load(
        nodes=workload.instances,
        request_bytes=request_bytes,
        object_bytes=object_bytes,
        in_flight=asked.in_flight,
        processes=reading_processes(workload, asked, facts),
        client=workload.client,
        writers=asked.checkpoint_writers,
        writing_ranks=asked.checkpoint_writers,
        prefixes=asked.prefixes,
        jobs=asked.jobs,
        possible_prefixes=None if workload.prefixes else facts.model.known("prefixes"),
        s3_network=s3_network,
        file_network=file_network,
        efa_network=efa_network,
        operations=frozenset(workload.file_operations),
        mounted=mountpoint_backing(frozenset(workload.file_operations)),
        nat=nat_bandwidth(workload, facts),
        kms_requests=kms_requests(workload, region, facts),
    )
    load, bulk = _with_parts(asked.checkpoint_bytes, asked.checkpoint_writers, asked.accelerators, load, facts)
    asked = _saving_in_parts_of(load, asked)
    dataset = _dataset_bytes(workload, asked, facts, profile, warnings)
    passes = passes_of(workload, dataset, facts)
    evaluation, told = evaluation_of(workload, asked, passes, facts)
    hours = _hours(workload, asked, passes, evaluation, facts=facts, warnings=warnings)
    passes = _within(hours[1], workload, asked, passes, warnings)
    run = _run(workload, asked, facts, region=region, profile=profile, passes=passes, hours=hours, dataset=dataset)
    passes = _with_epochs_of(run, passes, warnings)
    warnings += told
    traffic = traffic_of(workload, asked, evaluation, run.objects, facts)
    passes = changed(passes, covered=covered(passes, run.read_bytes))
    run = _with_evaluations(run, evaluation, asked)
    if traffic.starts.base_model_bytes is not None:
        run = changed(run, weights=traffic.starts.base_model_once, weights_read=traffic.starts.base_model_bytes)
    read = touched(workload, passes, evaluation, opens_an_object=load.opens_an_object)
    passes, run = changed(passes, touched=read), changed(run, touched_bytes=read or passes.bytes)
    passes = changed(passes, copied_by=copy_requests(bill_of(run, facts)))
    if run.gpu_hour_price is None:
        found = {"region": region} | ({} if run.gpu_price_elsewhere is None else {"price": run.gpu_price_elsewhere})
        warnings.append(Caveat("gpu-priced-elsewhere" if "price" in found else "gpu-not-priced", found))
    elif run.by_capacity_block:
        warnings.append(_at_capacity_block(workload, region, facts))
    elif workload.gpu_hour_price is not None:
        own = Quantity.exact(workload.gpu_hour_price, f"{run.currency}/hour")
        warnings.append(Caveat("own-gpu-price", {"price": own}))
    instance = None if workload.region is None else workload.instance_type
    if instance is not None and not facts.offers(region, instance):
        warnings.append(Caveat("instance-not-confirmed", {"region": region, "instance": instance}))
    if asked.all_jobs is not None:
        together = asked.all_jobs
        said = {"jobs": asked.jobs, "rate": together.read_bytes_per_s, "requests": together.read_requests_per_s}
        warnings.append(Caveat("jobs-at-once", said))
    if run.discount:
        warnings.append(Caveat("own-discount", {"share": run.discount}))
    return Job(workload, facts, region, asked, load, bulk, run, passes, traffic), warnings


@lru_cache(maxsize=64)  # a search for what would change a plan asks for the same again and again
def _with_parts(saved: Quantity | None, writers: int, ranks: int, load: Load, facts: Facts) -> tuple[Load, Load]:
    """(how a checkpoint is saved, in the part that is chosen for each kind of bucket, how it is read again).

    Restoring, every rank reads, also where one alone has written.  A checkpoint, and the weights of a base model, do
    not lie under the prefixes of the data: each is taken to lie under the default number of them.
    """
    part, prefixes = facts.model.known("part_bytes"), facts.model.known("prefixes")
    at_once = facts.model.known("checkpoint_parts_in_flight")
    elsewhere, on_s3, on_express = Parts(part, part, at_once * writers, part), None, None
    if saved is not None:
        own = upload_of(saved.value, writers, facts)
        elsewhere = _saved(saved, writers, part, own, at_once)
        chosen = [part_of_saves(place, saved, load, facts, writers=writers, ranks=ranks) for place in (S3, EXPRESS)]
        on_s3, on_express = (_saved(saved, writers, one, own.in_parts_of(one.value), at_once) for one in chosen)
    load = changed(
        load,
        writers=elsewhere.under_way,
        part_bytes=elsewhere.sent,
        bytes_per_put=elsewhere.each_request,
        on_s3=on_s3,
        on_express=on_express,
    )
    bulk = changed(
        load,
        request_bytes=part,
        object_bytes=part * 2.0,
        in_flight=at_once * ranks,
        prefixes=round(prefixes.value),
        possible_prefixes=prefixes,
        whole=True,
        processes=ranks,
    )
    return load, bulk


def _saving_in_parts_of(load: Load, asked: Demand) -> Demand:
    on_s3, on_express = (None if parts is None else parts.part for parts in (load.on_s3, load.on_express))
    return changed(asked, checkpoint_part_bytes=on_s3, checkpoint_part_bytes_express=on_express)


def reading_processes(workload: Workload, asked: Demand, facts: Facts) -> float:
    """Loader processes of the whole job: each accelerator has its workers."""
    workers = workload.workers_per_accelerator or facts.model.known("workers_per_accelerator").value
    return asked.accelerators * workers


def _saved(saved: Quantity, writers: int, part: Quantity, upload: Upload, at_once: Quantity) -> Parts:
    """A save in such parts: no more of them under way than a rank's share fills, and at least the one it has.

    A rank with a little more than one part would otherwise count as two, and one more node make the save slower.
    """
    of_a_rank = Quantity.exact(max(1.0, upload.file_bytes / upload.part_bytes), "count")
    each = _each_request(part + saved, part, upload)
    return Parts(part, least(part, saved / writers), least(at_once, of_a_rank) * writers, each)


def _each_request(rests_on: Quantity, part: Quantity, upload: Upload) -> Quantity:
    """Bytes of a file for each request of its upload: file / (whole parts + what opens and closes it).

    Of a file of the middle size: the time of a save has the size above the fraction as well.
    """

    def each(bound: float) -> float:
        return upload.file_bytes / upload.in_parts_of(bound).requests

    low, value, high = (each(bound) for bound in part[:3])
    return rests_on.bounded(low, value, high, "bytes")


def network_of(workload: Workload, facts: Facts) -> tuple[Quantity | None, Quantity | None, Quantity | None]:
    """bytes/s of one node towards S3, towards a file system, and over EFA towards FSx for Lustre; None: not known."""
    if workload.instance_type is None:
        return None, None, None
    instance = facts.instances[workload.instance_type]
    total = instance.quantity("total_network")
    # A type is taken to reach FSx for Lustre over EFA only where a source names it.
    by_efa = workload.instance_type in (facts.options[FSX].get_value("gds_clients") or ())
    return (
        instance.quantity("s3_network") or total,
        instance.quantity("ena_network") or total,
        total if by_efa else None,
    )


def _hours(
    workload: Workload,
    asked: Demand,
    passes: Passes,
    evaluation: Evaluation | None,
    *,
    facts: Facts,
    warnings: list[Caveat],
) -> tuple[float, float]:
    """(length of the run, of it training) at full GPU speed.

    As stated, and evaluations are within that; else training of the stated epochs, else of the default length, and
    evaluations come on top.  Hours that are longer than the epochs take, by more than the demand's range, are told;
    hours then decide what is paid for by the hour, epochs what is read.  Of the contrary see :func:`_within`.
    """
    of_epochs, more = hours_of(passes, asked), 1.0 + beside_training(evaluation)
    known = passes.bytes.basis != "assumed"
    if workload.run_hours is not None:
        training = workload.run_hours / more
        if of_epochs is not None and known and training > of_epochs.high:
            found = {"hours": workload.run_hours, "epochs": workload.epochs, "of_epochs": of_epochs}
            warnings.append(Caveat("epochs-against-hours", found))
        hours, told = workload.run_hours, "evaluations-within-run"
    elif of_epochs is not None and known:
        warnings.append(Caveat("run-hours-of-epochs", {"of_epochs": of_epochs, "epochs": workload.epochs}))
        training, told = of_epochs.value, "evaluations-beside-training"
        hours = training * more
    else:
        training, told = facts.model.known("run_hours").value / 3600.0, "evaluations-beside-training"
        hours = training * more
        warnings.append(Caveat("default-run-hours", {"hours": training}))
    seconds = evaluating(evaluation)
    if seconds is not None and more > 1.0:
        both = {"training": Quantity.exact(training, "hours"), "hours": Quantity.exact(hours, "hours")}
        warnings.append(Caveat(told, {"seconds": seconds} | both))
    return hours, training


def _within(training: float, workload: Workload, asked: Demand, passes: Passes, warnings: list[Caveat]) -> Passes:
    """Epochs as stated, but no more than the stated hours hold at the most that the GPUs are taken to ask for.

    Equation: epochs = high end of bytes/s × hours of training × 3,600 / bytes of one epoch.
    """
    rate, stated = asked.read_bytes_per_s, passes.epochs
    if workload.run_hours is None or rate is None or stated is None:
        return passes
    most = rate.high * training * 3600.0 / passes.bytes.value
    if stated <= most * (1.0 + _EQUAL):
        return passes
    hours = Quantity.exact(training, "hours")
    found = {"hours": hours, "epochs": stated, "of_epochs": hours_of(passes, asked), "possible": most}
    warnings.append(Caveat("epochs-beyond-hours", found, grave=True))
    return changed(passes, epochs=most)


def _with_epochs_of(run: Run, passes: Passes, warnings: list[Caveat]) -> Passes:
    """Epochs as stated; else those that a run of this length makes of data whose size is known.

    What the bill counts as read again is then what a memory may hold.
    """
    read, once = run.read_bytes, passes.bytes
    if passes.epochs is not None or read is None or once.basis == "assumed" or read.value <= once.value:
        return passes
    epochs = read.value / once.value
    warnings.append(Caveat("epochs-of-run-hours", {"hours": run.training_hours, "epochs": epochs, "bytes": once}))
    return changed(passes, epochs=epochs)


def _run(
    workload: Workload,
    asked: Demand,
    facts: Facts,
    *,
    region: str,
    profile: PrefixProfile | None,
    passes: Passes,
    hours: tuple[float, float],
    dataset: Quantity,
) -> Run:
    object_bytes = asked.object_bytes or facts.model.known("part_bytes")
    objects = workload.objects or max(1.0, dataset.value / object_bytes.value)
    if profile is not None and profile.objects:
        objects = profile.objects
    gets, puts = _once(workload, asked, facts, profile=profile, dataset=dataset, objects=objects)
    whole, training = hours
    seconds = training * 3600.0
    read = None if asked.read_bytes_per_s is None else asked.read_bytes_per_s * seconds
    requests = None if asked.read_requests_per_s is None else asked.read_requests_per_s * seconds
    if passes.epochs is not None:
        read = passes.bytes.times(passes.epochs, "bytes")
        size = asked.request_bytes
        requests = None if size is None else read.per(counted(size, profile), "requests")
    price, elsewhere, by_block = _gpu_hour_price(workload, region, facts)
    return Run(
        region=region,
        currency=facts.currency_of(region),
        hours=whole,
        training=training,
        dataset_bytes=dataset,
        objects=objects,
        object_bytes=object_bytes,
        gets_once=gets,
        puts_once=puts,
        read_bytes=read,
        requests=requests,
        gpu_hour_price=price,
        gpu_price_elsewhere=elsewhere,
        by_capacity_block=by_block,
        mounted=mountpoint_backing(frozenset(workload.file_operations)),
        network_path=workload.network_path,
        kms_calls=kms_calls(workload.encryption, facts),
        discount=workload.storage_discount or 0.0,
        jobs=asked.jobs,
        uploads=workload.data_in_s3 is False,
    )


def _once(
    workload: Workload,
    asked: Demand,
    facts: Facts,
    *,
    profile: PrefixProfile | None,
    dataset: Quantity,
    objects: float,
) -> tuple[Quantity, Quantity]:
    """(GET, PUT) requests that move the data set once.  Assumption: as for :func:`gpufeed.model.demand.demand`."""
    part = facts.model.known("part_bytes").value
    if profile is not None and profile.objects:
        return gets_of_profile(profile, part), profile.requests(float(part), lambda size: puts_of(size, facts))
    if asked.object_bytes is not None:
        each, count = asked.object_bytes.value, dataset / asked.object_bytes.middle()
    else:  # objects of a part each, unless their number says otherwise
        each, count = (part, dataset / part) if workload.objects is None else (dataset.value / objects, dataset)
    if workload.objects is not None:
        count = dataset.at(objects)
    count = most(count, Quantity.exact(1.0))
    return count.times(gets_of(each, part), "requests"), count.times(puts_of(each, facts), "requests")


def _with_evaluations(run: Run, evaluation: Evaluation | None, asked: Demand) -> Run:
    """The same run with what its evaluations read."""
    count = evaluations_in(run.training_hours, evaluation)
    if evaluation is None or count is None or run.read_bytes is None:
        return run
    more, requests = evaluation.bytes.times(count, "bytes"), run.requests
    if requests is not None and asked.request_bytes is not None:
        requests = requests.plus(more / asked.request_bytes.middle(), "requests")
    read = run.read_bytes.plus(more, "bytes")
    return changed(run, read_bytes=read, requests=requests, evaluation=evaluation, trained_bytes=run.read_bytes)


def _gpu_hour_price(workload: Workload, region: str, facts: Facts) -> tuple[Quantity | None, Quantity | None, bool]:
    """(what an hour of the whole cluster costs, at the user's own price, else on demand; where that is not known, the
    same by the prices of other Regions; whether it is the price of a Capacity Block, of a type not sold on demand).
    """
    instance, price, elsewhere, block = workload.instance_type, None, None, None
    if workload.gpu_hour_price is not None:
        price = Quantity.exact(workload.gpu_hour_price)
    elif instance is not None:
        price = facts.instance_price(instance, region)
        elsewhere = facts.instance_price_elsewhere(instance, region) if price is None else None
        block = facts.capacity_block_price(instance, region) if price is None and elsewhere is None else None
        price = price if block is None else block.quantity
    unit = f"{facts.currency_of(region)}/hour"
    of_all = (None if each is None else each.times(workload.instances, unit) for each in (price, elsewhere))
    return next(of_all), next(of_all), block is not None


def _at_capacity_block(workload: Workload, region: str, facts: Facts) -> Caveat:
    """That the GPUs are priced by a Capacity Block of such instances, with the date of that price."""
    block = facts.capacity_block_price(workload.instance_type or "", region)
    assert block is not None  # noqa: S101 - the run is priced by it
    return Caveat("gpu-priced-by-capacity-block", {"price": block.quantity, "as_of": block.as_of})


def _dataset_bytes(
    workload: Workload, asked: Demand, facts: Facts, profile: PrefixProfile | None, warnings: list[Caveat]
) -> Quantity:
    if profile is not None and profile.objects:
        return Quantity.exact(float(profile.bytes), "bytes", "measured")
    if workload.dataset_bytes is not None:
        return Quantity.exact(workload.dataset_bytes, "bytes")
    if workload.objects is not None and asked.object_bytes is not None:
        return asked.object_bytes.times(workload.objects, "bytes")
    lora = workload.task in ("lora", "qlora")
    default = (facts.workloads["lora"] if lora else facts.model).known("dataset_bytes")
    warnings.append(Caveat("default-dataset", {"bytes": default.value}))
    return default
