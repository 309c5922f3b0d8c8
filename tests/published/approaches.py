"""What was tried for tokens/s, each scored by predicting every run from other runs than its own kind.

With the stack named, from the other models of its stack (leave one model out); without, from the other stacks (leave
one stack out).
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable

from fit_utilisation import ANY_STACK, Run, fits, fitted, groups, shares_for
from published_rows import source_of, stack_of

Predict = Callable[[Run], float]  # ln(modelled / reported)
Approach = Callable[[tuple[str, str], list[Run]], Predict]


def one_rate(_: tuple[str, str], runs: list[Run]) -> Predict:
    """Plain MFU: one share of the peak for weights and attention, the median of each precision."""

    def share(run: Run) -> float:
        return run.tokens * (run.weights + run.attention) / run.peak

    medians = {p: statistics.median(share(r) for r in runs if r.precision == p) for p in {r.precision for r in runs}}
    return lambda run: math.log(medians[run.precision] / share(run))


def two_rates(key: tuple[str, str], runs: list[Run]) -> Predict:
    """Weights and attention each at a rate of its own, whatever the size."""
    return fitted(runs, shares_for(key, runs, _POOLED), by_size=False).error


def with_size(key: tuple[str, str], runs: list[Run]) -> Predict:
    """Two rates that change with the number of parameters, as in data/utilisation.toml."""
    return fitted(runs, shares_for(key, runs, _POOLED)).error


def rows_alike(key: tuple[str, str], runs: list[Run]) -> Predict:
    """The same, but each row weighs the same and not each stack; with one stack they are the same."""
    return fitted(runs, shares_for(key, runs, _POOLED), by_stack=False).error


def with_accelerators(key: tuple[str, str], runs: list[Run]) -> Predict:
    """The same, and a power of the number of accelerators; runs that do not say it are taken to have 8."""
    base = with_size(key, runs)
    counts = {run.row.id: math.log(run.row.inputs.get("gpus", 8)) for run in runs}
    middle, left = statistics.mean(counts.values()), statistics.mean(map(base, runs))
    square = sum((count - middle) ** 2 for count in counts.values())
    slope = sum((counts[run.row.id] - middle) * (base(run) - left) for run in runs) / square if square else 0.0
    return lambda run: base(run) - slope * (math.log(run.row.inputs.get("gpus", 8)) - middle)


_POOLED = {key[1]: fit for key, fit in fits().items() if key[0] == ANY_STACK}
APPROACHES: dict[str, Approach] = {
    "one rate (plain MFU)": one_rate,
    "two rates": two_rates,
    "two rates that change with size (in use)": with_size,
    "the same, each row weighing the same": rows_alike,
    "the same, and with the number of accelerators": with_accelerators,
}


def left_out(approach: Approach, *, named: bool) -> dict[str, list[float]]:
    """By source: |modelled / reported − 1| of each dense run, fitted without its model, or without its stack."""
    kind = (lambda run: run.row.inputs["model"]) if named else (lambda run: stack_of(run.row))
    errors: dict[str, list[float]] = {}
    for key, runs in groups().items():
        if (key[0] != ANY_STACK) is not named:
            continue
        for run in runs:
            rest = [other for other in runs if kind(other) != kind(run)]
            if any(other.precision == run.precision for other in rest):
                error = abs(math.exp(approach(key, rest)(run)) - 1.0)
                errors.setdefault(source_of(run.row), []).append(error)
    return errors
