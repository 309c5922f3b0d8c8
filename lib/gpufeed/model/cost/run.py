"""What a run moves and keeps, which its bill is made of."""

from __future__ import annotations

from gpufeed.facts.quantity import Quantity
from gpufeed.model.frozen import changed, frozen
from gpufeed.model.recommendation import Evaluation
from gpufeed.model.rules import S3


@frozen
class Run:
    """What a run moves and keeps.  Sizes in bytes; ``read_bytes`` and ``requests`` are those of the whole run.

    ``gets_once`` and ``puts_once`` are the requests that move the data set once.
    """

    region: str
    currency: str
    hours: float
    dataset_bytes: Quantity
    objects: float
    object_bytes: Quantity
    read_bytes: Quantity | None
    requests: Quantity | None
    gpu_hour_price: Quantity | None  # of the whole cluster
    gets_once: Quantity = Quantity.exact(0.0, "requests")
    puts_once: Quantity = Quantity.exact(0.0, "requests")
    gpu_price_elsewhere: Quantity | None = None  # where it is not known: the same by the prices of other Regions
    by_capacity_block: bool = False  # the price of an hour is that of a Capacity Block, not on demand
    mounted: str = S3  # the bucket behind Mountpoint
    network_path: str | None = None
    kms_calls: Quantity | None = None  # calls to KMS for one request to S3; None without SSE-KMS
    discount: float = 0.0  # share off every price but that of instances
    evaluation: Evaluation | None = None  # what its evaluations read is in ``read_bytes`` and ``requests``
    trained_bytes: Quantity | None = None  # of ``read_bytes``, what training reads; None: all
    training: float | None = None  # of ``hours``, those of training; None: all, there are no evaluations
    jobs: int = 1  # that share the data set, its copies and the file system
    uploads: bool = False  # the data set is not in S3 yet
    touched_bytes: Quantity | None = None  # what is brought into a file system at all; None: the whole data set
    weights: Quantity | None = None  # one copy of what the job starts from; None: it starts from nothing
    weights_read: Quantity | None = None  # of them by all instances, at the start

    @property
    def training_hours(self) -> float:
        """Of the run at full GPU speed, without its evaluations."""
        return self.hours if self.training is None else self.training

    @property
    def read_in_all(self) -> Quantity | None:
        """Bytes: samples, and the weights at the start."""
        return self.read_bytes if self.weights_read is None else plus(self.read_bytes, self.weights_read)

    @property
    def weighed_gpu_price(self) -> Quantity | None:
        """By which options are compared."""
        return self.gpu_price_elsewhere if self.gpu_hour_price is None else self.gpu_hour_price

    def read_less(self, share: Quantity) -> Run:
        """The same run where only this share of its reads reaches the storage."""
        if share.low >= 1.0:
            return self
        read, requests = self.read_bytes, self.requests
        return changed(
            self,
            read_bytes=None if read is None else read.times(share, read.unit),
            requests=None if requests is None else requests.times(share, requests.unit),
        )


def plus(read: Quantity | None, more: Quantity) -> Quantity | None:
    return None if read is None else read.plus(more, read.unit)
