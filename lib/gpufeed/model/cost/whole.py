"""The whole bill of one option."""

from __future__ import annotations

from functools import lru_cache

from gpufeed.facts import Facts
from gpufeed.facts.quantity import Quantity
from gpufeed.model.cost.bands import stored
from gpufeed.model.cost.bill import bill_of
from gpufeed.model.cost.filling import filling_lines
from gpufeed.model.cost.options import LINES_OF, lookups, uploaded
from gpufeed.model.cost.run import Run
from gpufeed.model.cost.sums import summed
from gpufeed.model.cost.waiting import for_weights, idle, in_evaluations
from gpufeed.model.cost.way import way_to_s3
from gpufeed.model.fsx import Configuration
from gpufeed.model.recommendation import Cost, FirstEpoch
from gpufeed.model.rules import MOUNTPOINT
from gpufeed.model.supply import lies_on


def cost(
    option: str,
    run: Run,
    fed: Quantity | None,
    facts: Facts,
    configuration: Configuration | None,
    *,
    evaluation_fed: Quantity | None = None,
    weights_seconds: Quantity | None = None,
    first: FirstEpoch | None = None,
) -> Cost:
    """Every line that can be priced, and the sums.

    ``weights_seconds`` is how long the GPUs wait at the start until the weights are on all instances.

    The data set always lies in S3 (rule ``durable-base``), so that storage is part of each option's storage; the
    ``beyond_base`` total leaves it out, which is what options are compared by.
    """
    # That of a file system is worked out as soon as two of its configurations are compared.
    work_out = _kept if configuration is None else _cost
    more = {"evaluation_fed": evaluation_fed, "weights_seconds": weights_seconds}
    return work_out(option, run, fed, facts, configuration, **more, first=first)


def _cost(
    option: str,
    run: Run,
    fed: Quantity | None,
    facts: Facts,
    configuration: Configuration | None,
    *,
    evaluation_fed: Quantity | None,
    weights_seconds: Quantity | None,
    first: FirstEpoch | None,
) -> Cost:
    bill = bill_of(run, facts)
    backing = lies_on(option, run.mounted)
    lines = (
        *stored(bill, "base-storage", "base", run.dataset_bytes),
        *uploaded(bill),
        *LINES_OF[backing](bill, configuration),
        *(lookups(bill, backing) if option == MOUNTPOINT else ()),
        *way_to_s3(bill, backing),
        idle(run, fed),
        *in_evaluations(run, evaluation_fed),
        *for_weights(run, weights_seconds),
        *(() if first is None else filling_lines(first.way, option, bill, first, configuration)),
    )
    return summed(run.currency, bill.months, lines)


#: A search for what would change a plan asks for the same again and again.
_kept = lru_cache(maxsize=64)(_cost)
