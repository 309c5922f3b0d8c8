"""What one evaluation of the model returns: numbers, reason ids and parameters.  Sentences are rendered when shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Any

from gpufeed.facts.quantity import Quantity
from gpufeed.model.frozen import frozen
from gpufeed.model.rules import MOUNTPOINT, RuleAnswer
from gpufeed.model.workload import Workload

if TYPE_CHECKING:
    from gpufeed.model.fsx import Configuration


@frozen
class Reason:
    """A sentence to be: message ``reason.<id>`` with these parameters, and the source it rests on."""

    id: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    source: str | None = None


@frozen
class Caveat:
    """Something the reader must know: message ``warning.<id>`` with these parameters.

    A ``grave`` one puts the whole answer in doubt, and is said before it.
    """

    id: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    grave: bool = False


@frozen
class AllJobs:
    """What several equal jobs ask of one storage together, when all read, save or restore at once."""

    read_bytes_per_s: Quantity | None
    read_requests_per_s: Quantity | None
    checkpoint_write_bytes_per_s: Quantity | None
    restore_bytes_per_s: Quantity | None


@frozen
class Demand:
    """What one job asks of its storage at full GPU speed (AU = 1).  None is "not known", never 0."""

    accelerators: int
    samples_per_s: Quantity | None
    tokens_per_s_per_accelerator: Quantity | None
    read_bytes_per_s: Quantity | None
    read_requests_per_s: Quantity | None
    request_bytes: Quantity | None  # mean size of one read
    object_bytes: Quantity | None  # mean size of one object
    in_flight: float  # reads under way at once, all nodes together
    prefixes: int  # key prefixes the reads are spread over
    checkpoint_bytes: Quantity | None
    checkpoint_write_bytes_per_s: Quantity | None  # to stay within the stall tolerance (sync) or the interval (async)
    restore_bytes: Quantity | None  # what all nodes together read to go on after a failure
    restore_bytes_per_s: Quantity | None  # null without a restore target
    mean_time_to_failure: Quantity | None  # seconds, of the whole job
    checkpoint_mode: str  # "sync" | "async"
    checkpoint_interval: float  # seconds
    checkpoint_writers: int  # ranks that write: all of a sharded save, one of adapters
    checkpoint_part_bytes: Quantity | None = None  # on S3: as saved and read again; None: as clients make them
    checkpoint_part_bytes_express: Quantity | None = None  # the same in a directory bucket
    jobs: int = 1  # like this one, on the same storage
    all_jobs: AllJobs | None = None  # None: there is one
    intermediates: Mapping[str, Quantity] = field(default_factory=dict)  # by name: what the figures above are made of
    warnings: tuple[Caveat, ...] = ()

    @property
    def read_bytes_per_s_per_accelerator(self) -> Quantity | None:
        return None if self.read_bytes_per_s is None else self.read_bytes_per_s.per(self.accelerators, "bytes/s")


@frozen
class Evaluation:
    """Evaluations between the training steps.  None: not known."""

    every: Quantity | None  # seconds of training from one to the next
    bytes: Quantity  # read by one, all nodes together
    read_bytes_per_s: Quantity | None  # at full GPU speed: only the forward pass is computed
    read_requests_per_s: Quantity | None
    share_of_reads: Quantity | None  # of all that the job reads, 0–1


@frozen
class Starts:
    """What the start of a job or of an epoch asks for at once, all nodes together.  None: not known, or nothing."""

    base_model_bytes: Quantity | None  # weights that the job starts from
    first_batches_bytes: Quantity | None  # until every worker has its first batch
    queue_bytes: Quantity | None  # until the prefetch queues of all workers are full
    list_requests: Quantity  # to list all keys once, in order to shuffle them
    base_model_once: Quantity | None = None  # one copy of those weights


@frozen
class Traffic:
    """What a job reads beside the steady stream of training samples; ``evaluation`` is None where none was stated."""

    evaluation: Evaluation | None
    starts: Starts


@frozen
class Bursts:
    """How long one option takes for that traffic [s].  None: not known, or there is nothing of it."""

    base_model_seconds: Quantity | None = None
    first_batch_seconds: Quantity | None = None
    listing_seconds: Quantity | None = None
    evaluation_seconds: Quantity | None = None  # of one evaluation
    evaluation_fed: Quantity | None = None  # how fed the GPUs are in it


@frozen
class Supply:
    """What one option gives this job.  ``limits`` holds every ceiling by name; ``limited_by`` is the least of them."""

    option: str
    configuration: Mapping[str, Any]
    read_bytes_per_s: Quantity | None
    write_bytes_per_s: Quantity | None
    limited_by: str | None
    limits: Mapping[str, Quantity] = field(default_factory=dict)
    request_seconds: Quantity | None = None


@frozen
class CheckpointStall:
    """What saving costs the GPUs.  Times in seconds, ``share`` of run time 0–1."""

    save_seconds: Quantity | None  # until the bytes are on the option
    stall_seconds: Quantity | None  # GPUs waiting per save
    interval: float
    best_interval: float | None  # wastes least: Daly's, or if longer a step, or the slowest asynchronous save
    share: Quantity | None
    restore_seconds: Quantity | None  # all that the job reads for it, on all nodes at once
    fits_interval: bool | None  # async: the save ends before the next begins
    blocks_seconds: Quantity | None  # of the stall: what each save stops the GPUs for, however long the interval
    beyond_seconds: Quantity | None  # of the stall: what of an async save reaches into the next interval

    @property
    def may_reach_beyond(self) -> float | None:
        """Seconds by which an async save that fits its interval at its slowest does not; None: it always does."""
        late = 0.0 if self.beyond_seconds is None else self.beyond_seconds.high
        return late if self.fits_interval and late > 0.0 else None


#: The two ways to fill an option from the bucket.
BEFORE, WHILE_READING = "before", "while-reading"


@frozen
class FirstEpoch:
    """The first pass over the data, when nothing is near yet.  All None where the option gives nothing.

    A directory bucket is always filled before: its pass reads a copy that is there.

    The first four are of a pass that fills the option while it is read.  Where that makes the GPUs wait, the other way
    is to load all that the run reads before they start; ``way`` says which one the plan takes and its bill holds:
    "before", "while-reading", or None where there is nothing to choose: the option is not filled, or it fills faster
    than the GPUs read.
    """

    fed: Quantity | None = None
    seconds: Quantity | None = None
    read_bytes_per_s: Quantity | None = None
    limited_by: str | None = None
    part: Quantity | None = None  # bytes of it that the run reads; None: it reads all
    load_seconds: Quantity | None = None  # before the GPUs start, of the data and of weights that the job starts from
    waits_seconds: Quantity | None = None  # of the GPUs, beyond what they wait in later epochs
    load_cost: Quantity | None = None  # of the way "before"
    waits_cost: Quantity | None = None  # of the way "while-reading"
    way: str | None = None
    at_most: bool = False  # only the most that is brought in is known: times and costs are at least so large

    def bound(self, figure: Quantity | None) -> Quantity | None:
        """A time or a cost of it as it is shown: without an upper end where nothing is known of one.

        The model itself reckons with the most that is named: a sum without an end could not be compared with any.
        """
        return figure.at_least() if self.at_most and figure is not None else figure

    @property
    def takes(self) -> Quantity | None:
        """``seconds`` as they are shown."""
        return self.bound(self.seconds) if self.limited_by == "import" and not self.at_gpu_speed else self.seconds

    @property
    def loading(self) -> Quantity | None:
        """Seconds of loading before the GPUs start that the plan has and its bill holds; None: it loads nothing."""
        return self.load_seconds if self.way == BEFORE else None

    @property
    def at_gpu_speed(self) -> bool:
        """The GPUs set its pace, so the least of the ceilings limits nothing."""
        return self.fed is not None and self.fed.value >= 1.0


@frozen
class LaterEpochs:
    """The passes after the first: how fed, what serves most of them in the end, and what they ask of the option."""

    fed: Quantity | None
    served_by: str  # "host-memory", or the option
    asked_again: Quantity  # mean share of reads that still goes to the option, 0–1


@frozen
class CopyOnce:
    """All the data copied to the drives of each node before the job begins.  Sizes in bytes."""

    bytes_per_node: Quantity
    capacity: Quantity | None  # of the drives of one node
    fits: bool | None
    seconds: Quantity | None  # out of S3; the drives may take longer
    fed_at_least: Quantity | None  # from the random reads that are published; the drives' own rate is unknown
    cost_at_most: Quantity | None = None  # fed no better than that; the GPUs wait for the copy.  None: not priced
    cost_at_least: Quantity | None = None  # fed in full


@frozen
class CostLine:
    """One line of the bill for the run: message ``cost.<id>``; ``amount`` = ``quantity`` × ``unit_price``.

    ``part`` is the sum it belongs to: "base", "storage", "requests", "transfer", "kms", "idle-gpu" or "loading".
    ``quantity`` counts billing units (``unit``).  A price that is not known, or an amount that follows from a demand
    that is not known, is None; then so is ``amount``.  ``elsewhere`` is the amount by the prices of other Regions,
    where this one has none: options are compared by it, and no sum that is shown as the bill has it in.
    """

    id: str
    part: str
    unit: str
    quantity: Quantity | None
    unit_price: Quantity | None
    amount: Quantity | None
    elsewhere: Quantity | None = None
    option: str | None = None  # by whose prices it is billed; None: hours of the cluster
    at_most: bool = False  # it lasts as long as AWS names at the most that is brought in, and so at least that long
    by_capacity_block: bool = False  # hours at the price of a Capacity Block, of instances that are not sold on demand

    @property
    def weighed(self) -> Quantity | None:
        return self.elsewhere if self.amount is None else self.amount

    def bound(self, figure: Quantity | None) -> Quantity | None:
        """Its quantity or amount as it is shown: see :meth:`FirstEpoch.bound`."""
        return figure.at_least() if self.at_most and figure else figure


@frozen
class Cost:
    """Cost of one option, or of the whole plan, for the run, in ``currency``: ``lines``, and their sums.

    ``storage`` holds the data set in S3 as well; ``total`` = storage for the run + reading + transfer + KMS + loading
    before the GPUs start + idle GPUs, and ``beyond_base`` is the total without that S3 storage, which every plan has.
    Each is None when a line in it is not priced; ``not_priced`` names those lines.  ``elsewhere`` is then
    ``beyond_base`` with those lines by the prices of other Regions: options are compared by it.
    """

    currency: str
    storage_per_month: Quantity | None
    storage: Quantity | None
    requests: Quantity | None
    idle_gpu: Quantity | None
    total: Quantity | None
    beyond_base: Quantity | None
    transfer: Quantity | None = None  # through a NAT gateway, or out of another Region
    kms: Quantity | None = None
    loading: Quantity | None = None  # storage while it is filled, before the GPUs start
    not_priced: tuple[str, ...] = ()
    lines: tuple[CostLine, ...] = ()
    elsewhere: Quantity | None = None
    months: float = 1.0  # that the run lasts

    @property
    def weighed(self) -> Quantity | None:
        return self.elsewhere if self.beyond_base is None else self.beyond_base

    @property
    def loading_shown(self) -> Quantity | None:
        """``loading`` as it is shown: see :meth:`FirstEpoch.bound`."""
        at_most = self.loading is not None and any(line.at_most for line in self.lines if line.part == "loading")
        return self.loading.at_least() if at_most and self.loading else self.loading


@frozen
class OptionAnswer:
    """One of the five systems: what it gives, what it costs, and why it is or is not the answer."""

    option: str
    verdict: str  # "recommended" | "works" | "works-but" | "ruled-out"
    reasons: tuple[Reason, ...]
    supply: Supply
    fed: Quantity | None  # steady state: of the later epochs, where there are any
    stall: CheckpointStall
    cost: Cost
    first_epoch: FirstEpoch = FirstEpoch()
    later_epochs: LaterEpochs | None = None  # None: there is one epoch
    bursts: Bursts = Bursts()
    backed_by: str | None = None  # the kind of bucket that a mount is a way onto
    # Its cost of reads, where its bill has room for checkpoints in it; the other by the prices of other Regions
    without_checkpoints: Quantity | None = None
    without_checkpoints_elsewhere: Quantity | None = None

    @property
    def lies_on(self) -> str:
        """What keeps the bytes: the option, or the bucket behind Mountpoint."""
        return self.option if self.backed_by is None else self.backed_by

    @property
    def cost_of_reads(self) -> Quantity | None:
        """What it costs beyond the base as the place of the training reads alone; None where that is not priced."""
        return self.without_checkpoints or self.cost.beyond_base

    @property
    def weighed(self) -> Quantity | None:
        """What options are compared by as the place of the reads: that, or what it would be by prices elsewhere."""
        return self.without_checkpoints or self.without_checkpoints_elsewhere or self.cost.weighed


@frozen
class Saving:
    """One option as the place of this plan's checkpoints: what saving there stalls, and what it adds to the bill.

    ``lines`` are those of keeping, saving, and GPUs that wait, for the run; none where the size of a checkpoint is not
    known.  ``total`` is what saving there costs: the lines, and ``room``, which the file system that the reads are on
    costs more for holding the checkpoints as well.  It is None where a part of it is not priced; ``elsewhere``
    then counts that part by the prices of other Regions, and options are compared by it.
    ``own`` is a file system for the checkpoints alone.
    """

    option: str
    supply: Supply
    stall: CheckpointStall
    lines: tuple[CostLine, ...]
    total: Quantity | None
    room: Quantity | None = None
    own: Configuration | None = None
    elsewhere: Quantity | None = None

    @property
    def weighed(self) -> Quantity | None:
        return self.elsewhere if self.total is None else self.total


#: Names the figures of a file system for the checkpoints that is another than that of the reads.
FOR_SAVES = "for-saves"


@frozen
class Placement:
    """Where one data role goes, and the opinions side by side."""

    role: str
    option: str
    backed_by: str | None
    configuration: Mapping[str, Any]
    decided_by: str  # "rule" | "model" | "measured"
    rule: str
    model: str | None
    measured: str | None = None
    measured_used_as: str | None = None  # "decision" | "calibration" | "shown-only"
    reasons: tuple[Reason, ...] = ()
    mode: str | None = None  # checkpoints: "sync" | "async"
    interval: float | None = None  # checkpoints: seconds
    delete_when: str | None = None  # scratch: message id

    @property
    def lies_on(self) -> str:
        """What keeps the bytes: the option, or the bucket behind Mountpoint."""
        return self.backed_by if self.option == MOUNTPOINT and self.backed_by is not None else self.option


@frozen
class FlipPoint:
    """The smallest change of one trait that changes where a role goes, from ``from_option`` to ``option``, and why.

    ``at`` is the nearest value with the other option.  ``stated`` is False where ``now`` is a default, and ``now`` is
    None where the trait has no value until it is stated (a restore target).  ``unit`` is that of both.
    """

    trait: str
    now: float | None
    at: float
    role: str
    option: str
    from_option: str
    reason: Reason
    unit: str
    stated: bool = True


@frozen
class Recommendation:
    """The plan for one workload."""

    workload: Workload
    region: str
    currency: str
    rule: RuleAnswer
    demand: Demand
    options: tuple[OptionAnswer, ...]
    placements: Mapping[str, Placement]
    fed: Quantity | None  # of the recommended option for training reads
    gpu_hour_price: Quantity | None  # of the whole cluster
    traffic: Traffic
    cost: Cost  # of the whole plan: reads and, where :attr:`bills_checkpoints`, checkpoints
    dataset_bytes: Quantity  # that lies in S3, of all jobs
    savings: tuple[Saving, ...] = ()  # each of the five systems as the place of the checkpoints
    least_saving: float = 0.0  # what another option has to save on the run to take the place of the rule's
    copy_once: CopyOnce | None = None  # an alternative to reading from where the data lies; None: not worth it
    warnings: tuple[Caveat, ...] = ()

    @property
    def recommended(self) -> str:
        return self.placements["training_reads"].option

    @property
    def bills_checkpoints(self) -> bool:
        """Whether ``cost`` has the checkpoints in it; where the size of one is not known, it is that of the reads."""
        return self.demand.checkpoint_bytes is not None

    @property
    def mounted(self) -> str:
        """The bucket behind Mountpoint, wherever the plan uses that."""
        return self.option(MOUNTPOINT).lies_on

    def option(self, name: str) -> OptionAnswer:
        return next(answer for answer in self.options if answer.option == name)

    def saving(self, name: str) -> Saving:
        return next(saving for saving in self.savings if saving.option == name)
