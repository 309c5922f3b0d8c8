"""What a file system is asked for, ordered as, and offered as."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from gpufeed.facts.quantity import Quantity
from gpufeed.model.frozen import frozen
from gpufeed.model.recommendation import Reason

GIB = 2**30
MB = 10**6
#: AWS calls 1,000 GiB of StorageCapacity a "TiB" when it multiplies by MB/s per TiB.
GIB_PER_BILLED_TIB = 1000


class Bound(NamedTuple):
    """Of one thing that is asked ("read", "restore", "write") the clients carry less.  Bytes/s, all of them together.

    ``limit`` names what binds: "network-card", "client-limit", "one-file-per-rank".
    """

    what: str
    limit: str
    asked: float
    carries: float


class Carried(NamedTuple):
    """What of a need its clients carry, however large the file system.  Bytes/s, opens/s.

    ``while_saving`` is what asynchronous saves write, on the mean, beside the training reads, which go on: (read,
    written).  The network cards carry each direction at their full rate, the disks have one rate for both.
    """

    read: float
    write: float
    opens: float
    bounds: tuple[Bound, ...] = ()
    while_saving: tuple[float, float] = (0.0, 0.0)


@frozen
class Need:
    """What a file system has to hold and to move.  Bytes, bytes/s, opens/s.

    The rates are those that the job asks for; sized is for what of them the clients carry (:meth:`carried`), since
    a larger file system would bring no more of them.  ``unknown`` names what could not be worked out ("read", "write",
    "opens") and so is not sized for.
    """

    holds_bytes: float
    read_bytes_per_s: float = 0.0
    write_bytes_per_s: float = 0.0
    opens_per_s: float = 0.0
    clients: int = 0  # instances that read; 0: not known
    writing_clients: int = 0  # instances that save; 0: not known
    efa: bool = False  # each client can use it
    efa_interfaces: int = 0  # that a client opens towards one file system by default; 0: not known
    read_again_bytes: float | None = None  # read in each of several epochs; None: nothing is
    random_reads: bool = False  # in places all over the data, so that a disk has to move its heads
    leaves_bytes: float = 0.0  # of the data set, that the run never reads: they stay in S3
    until_exported_bytes: float = 0.0  # beside what it holds, where the export of a checkpoint outlasts those kept
    exported_in_time_at: float = 0.0  # bytes/s ordered, from which none does
    unknown: frozenset[str] = frozenset()
    over_tcp: Carried | None = None  # what the clients carry without EFA; None: all that is asked
    over_efa: Carried | None = None

    def holds_at(self, ordered: float | None) -> float:
        """Bytes that lie there at most where so many bytes/s are ordered: what is being exported cannot be deleted.

        Where they are not known it may be under way.
        """
        in_time = (ordered or 0.0) >= self.exported_in_time_at * (1 - 1e-9)
        return self.holds_bytes if in_time else self.holds_bytes + self.until_exported_bytes

    def carried(self, *, efa: bool) -> Carried:
        """The rates to size for, over EFA or without it."""
        carried = self.over_efa if efa else self.over_tcp
        return carried or Carried(self.read_bytes_per_s, self.write_bytes_per_s, self.opens_per_s)

    @property
    def saves(self) -> bool:
        """Whether checkpoints are part of it."""
        return self.write_bytes_per_s > 0 or "write" in self.unknown

    @property
    def rates(self) -> dict[str, float | None]:
        """What is asked by name, "read" and "write" [bytes/s] and "opens" [opens/s]; None: not known."""
        asked = {"read": self.read_bytes_per_s, "write": self.write_bytes_per_s, "opens": self.opens_per_s}
        return {name: None if name in self.unknown else rate for name, rate in asked.items()}


class Order(NamedTuple):
    """What one asks AWS for.  ``ordered_iops`` are the metadata IOPS on top of what comes with the capacity."""

    name: str
    capacity_gib: float
    metadata_iops: float
    ordered_iops: float
    efa: bool


@dataclass(frozen=True, slots=True)
class Configuration:
    """One file system one could order.  Rates in bytes/s.

    A price per month is None where it is "not priced"; ``metadata_per_month`` is 0 where no IOPS are ordered.
    ``asked_gib`` says how much capacity each part of the need asks for, and ``size_set_by`` which of them decided:
    "data", "read", "write", "while-saving" (reads and asynchronous saves at once), "clients" (too few to use fewer
    servers), "metadata" (opens/s) or the type's "minimum".
    ``lacks`` says what keeps it from meeting the need, ``notes`` what else to know before ordering.
    """

    name: str
    settings: Mapping[str, Any]
    capacity_gib: float
    read_bytes_per_s: Quantity
    write_bytes_per_s: Quantity
    opens_per_s: Quantity
    network_bytes_per_s: Quantity | None  # what the file servers send from their memory; None: not published
    memory_bytes: Quantity | None  # of all file servers, for what was read and written
    first_byte_latency: Quantity
    ordered_iops: float  # metadata IOPS on top of what comes with the capacity
    efa: bool
    servers: int | None  # None: not published for this type
    storage_per_month: Quantity | None
    metadata_per_month: Quantity | None
    per_month: Quantity | None
    asked_gib: Mapping[str, float]
    size_set_by: str
    lacks: tuple[Reason, ...] = ()
    notes: tuple[Reason, ...] = ()

    def __hash__(self) -> int:
        """Of what tells most apart: its mappings have none."""
        return hash((self.name, self.capacity_gib, self.ordered_iops, self.efa))


@dataclass(frozen=True, slots=True)
class RuledOut:
    """A type that cannot be used here, whatever its size."""

    name: str
    reasons: tuple[Reason, ...]


@dataclass(frozen=True, slots=True)
class Configurations:
    """All types side by side.

    ``priced`` cheapest first; ``unpriced`` by the prices of other Regions, else smallest first, and never ranked among
    the priced; ``lacking`` hold the data and bring the rates, but lack something else.  ``types_confirmed``: a source
    says which types this Region has.
    """

    priced: tuple[Configuration, ...]
    unpriced: tuple[Configuration, ...]
    lacking: tuple[Configuration, ...]
    ruled_out: tuple[RuledOut, ...]
    types_confirmed: bool

    @property
    def all(self) -> tuple[Configuration, ...]:
        """In the order in which they would be chosen."""
        return (*self.priced, *self.unpriced, *self.lacking)
