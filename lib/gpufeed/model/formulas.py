"""The arithmetic of storage and GPUs: pure functions, one equation each.

All numbers are :class:`~gpufeed.facts.quantity.Quantity` in bytes, seconds and requests; ranges, sources and the
weakest basis run through.
"""

from __future__ import annotations

import math

from gpufeed.facts.quantity import Quantity, least


def llm_tokens_per_second(
    weights: Quantity, weights_rate: Quantity, attention: Quantity, attention_rate: Quantity
) -> Quantity:
    """Tokens one accelerator trains on per second.

    Parameters: FLOPs per token of the weights (k × N) and of attention, and the FLOP/s reached in each.
    Assumptions: a token costs k FLOPs per active parameter (6 in full training, 4 with a frozen base) plus the
    attention products; the two follow each other, and attention runs slower and never in fp8 or fp4.
    Equation: tokens/s = 1 / (k × N / weights rate + attention / attention rate), attention = 12 × layers × width ×
    sequence.  With one rate for both it is MFU × peak / (k × N + attention).
    References: llm-foundry.
    """
    return (1.0 / (weights / weights_rate + attention / attention_rate)).named("tokens/s")


def smaller_for_larger(parameters: float, reference: float, fall: float) -> float:
    """What a share of the peak at ``reference`` parameters is multiplied by at another size.

    Equation: (reference / parameters) ^ fall.
    """
    times: float = (reference / parameters) ** fall
    return times


def on_the_line(size: float, smaller: tuple[float, float], larger: tuple[float, float]) -> float:
    """What lies between two known points, each (size, amount), on a straight line in logarithms.

    Equation: amount of the smaller × (size / its size) ^ slope, slope = log(ratio of amounts) / log(ratio of sizes).
    """
    slope = math.log(larger[1] / smaller[1]) / math.log(larger[0] / smaller[0])
    amount: float = smaller[1] * (size / smaller[0]) ** slope
    return amount


def attention_flops_per_token(parameters: float, sequence_length: float, aspect: Quantity) -> Quantity:
    """FLOPs per token of the attention products, estimated from the size alone.

    Parameters: total parameters, tokens per sequence, aspect = width / layers (an assumed range).
    Assumption: a dense decoder has N ≈ 12 × layers × width², so layers = (N / (12 × aspect²))^(1/3).
    Equation: 12 × layers × width × sequence = 12 × aspect × layers² × sequence.
    """

    def flops(ratio: float) -> float:
        layers: float = (parameters / (12.0 * ratio * ratio)) ** (1.0 / 3.0)
        return 12.0 * ratio * layers * layers * sequence_length

    # A wider model of the same size has fewer layers and so costs less attention: the bounds turn round.
    return Quantity(flops(aspect.high), flops(aspect.value), flops(aspect.low), "FLOP", aspect.basis, aspect.sources)


def request_seconds(request_bytes: Quantity, first_byte: Quantity, per_request_rate: Quantity) -> Quantity:
    """How long one read takes: t = L0 + size / b.  References: durner-2023."""
    return first_byte.plus(request_bytes / per_request_rate, "seconds")


def in_flight_rate(in_flight: Quantity | float, request_bytes: Quantity, seconds: Quantity) -> Quantity:
    """Bytes/s that ``in_flight`` simultaneous requests bring: c × size / t.

    The size stands in numerator and time alike, so it is taken at its middle and only the time's range runs through.
    """
    return (request_bytes.middle() * in_flight).per(seconds, "bytes/s")


def part_that_lasts(in_flight: float, requests_per_s: float, first_byte: float, per_request_rate: float) -> float:
    """Bytes of a request with which ``in_flight`` of them at a time are just ``requests_per_s``: (c / r − L0) × b.

    Of larger ones the time that they take is the limit, of smaller ones their number.
    """
    part: float = (in_flight / requests_per_s - first_byte) * per_request_rate
    return part


def half_time_size(first_byte: Quantity, per_request_rate: Quantity) -> Quantity:
    """The object size at which waiting for the first byte is half of the time: L0 × b.

    Smaller objects spend most of the time waiting.  "Small" has no number in the published rule; this is ours.
    """
    return first_byte.times(per_request_rate, "bytes")


def fed(supply: Quantity, demand: Quantity) -> Quantity:
    """The share of steady-state reads delivered at full GPU speed, 0–1: min(1, supply / demand)."""
    return least(supply.per(demand, "share"), _ALL)


_ALL = Quantity(1.0, 1.0, 1.0)


def share_asked_again(nodes: int, later_epochs: float) -> float:
    """Mean share of reads that the epochs after the first still ask of storage, while each node's cache fills.

    Parameters: nodes N, epochs after the first m.
    Assumption: each node reads another random 1/N of the data in each epoch and keeps it.
    Equation: 1/m × Σ (1 − 1/N)^k for k = 1 … m = (N − 1) × (1 − (1 − 1/N)^m) / m.
    """
    share: float = (nodes - 1) * (1.0 - (1.0 - 1 / nodes) ** later_epochs) / later_epochs
    return share


def slowdown_as_caches_fill(load: float, nodes: int, later_epochs: float) -> float:
    """How much longer the epochs after the first take than at full GPU speed, on the mean.

    Parameters: load = demand / supply of the storage, nodes N, epochs after the first m.
    Equation: 1/m × Σ max(1, load × (1 − 1/N)^k) for k = 1 … m; the first ``slow`` terms are above 1.
    """
    if load <= 1.0 or nodes <= 1:
        return 1.0
    if math.isinf(load):
        return load
    kept = 1.0 - 1 / nodes
    slow = min(later_epochs, math.floor(math.log(load) / -math.log(kept)))
    mean: float = (load * (nodes - 1) * (1.0 - kept**slow) + later_epochs - slow) / later_epochs
    return mean


def idle_hours(run_hours: float, fed_share: Quantity) -> Quantity:
    """Hours a run lasts longer because it is fed at f: hours × (1/f − 1)."""

    def extra(share: float) -> float:
        if share > 1.0:  # by the last digit of a sum of shares
            return 0.0
        return run_hours * (1.0 / share - 1.0) if share > 0 else float("inf")

    return Quantity(
        extra(fed_share.high), extra(fed_share.value), extra(fed_share.low), "hours", fed_share.basis, fed_share.sources
    )


def filling_wait(data: Quantity, brought_in: Quantity, served: Quantity) -> Quantity:
    """Seconds that GPUs wait beyond the ordinary while data comes from further away: data × (1/brought in − 1/served).

    Parameters: bytes, the rate at which they are brought in [bytes/s], the rate at which they are read once they are
    there [bytes/s].  Nothing where they come faster than they are read.
    """

    def wait(amount: float, far: float, near: float) -> float:
        return amount * (1.0 / far - 1.0 / near) if far < near else 0.0

    rests_on = data + brought_in + served
    return rests_on.bounded(
        wait(data.low, brought_in.high, served.low),
        wait(data.value, brought_in.value, served.value),
        wait(data.high, brought_in.low, served.high),
        "seconds",
    )


def young_interval(save_cost_seconds: float, mean_time_to_failure: float) -> float:
    """Checkpoint interval that wastes least, first order: T = sqrt(2 × C × M).  References: young-1974."""
    interval: float = (2.0 * save_cost_seconds * mean_time_to_failure) ** 0.5
    return interval


def daly_interval(save_cost_seconds: float, mean_time_to_failure: float) -> float:
    """Checkpoint interval that wastes least, higher order: also right where saving is not short against M.

    Parameters: what a save costs [s], mean time to failure [s].
    Assumption: failures come independently (exponentially distributed); the interval is training time between saves.
    Equation: T = sqrt(2 × C × M) × (1 + 1/3 × sqrt(C / 2M) + 1/9 × C / 2M) − C where C < 2M, else T = M.
    References: daly-2006.
    """
    cost, mean = save_cost_seconds, mean_time_to_failure
    if cost >= 2.0 * mean:
        return mean
    ratio = cost / (2.0 * mean)
    return float(young_interval(cost, mean) * (1.0 + ratio**0.5 / 3.0 + ratio / 9.0) - cost)


def whole_checkpoint_seconds(size: Quantity, rate: Quantity, reached: Quantity) -> Quantity:
    """How long a whole checkpoint takes until the slowest rank has its part: bytes / (rate × share that is reached)."""
    return size.per(rate * reached, "seconds")


def checkpoint_bytes(parameters: float, bytes_per_parameter: Quantity) -> Quantity:
    """Bytes of one full checkpoint: parameters × (weights + optimizer state) bytes per parameter."""
    return bytes_per_parameter.times(parameters, "bytes")
