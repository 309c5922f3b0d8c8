"""Fit ``data/utilisation.toml`` once, on every row of ``measurements.csv`` that gives tokens/s of one accelerator.

    python tests/published/fit_utilisation.py

Two shares per training stack and accelerator family: of the peak at the run's precision in the products of weights, and
of the bf16 peak in those of attention.  No row is singled out:

- attention: the share on a grid that leaves the least sum of absolute errors (in logarithms) over the rows of a group,
  where there are four or more; smaller groups take that of all stacks together.
- weights: per precision, the median of what each row implies.
- size: what those two leave, as a power of the number of parameters by least squares, where there are four or more
  rows; shares fall with size or stay.  Then attention and weights again, with it.  A size outside those of the runs
  counts as the nearest of them.
- range: from the slowest to the fastest row of the group, and at least the spread each way: what 95 % of all rows stay
  within when each is predicted from the others of its group (leave one out).

Mixtures of experts are left out of the groups and give one share of their own (``model.toml``).
"""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass, replace
from pathlib import Path

from published_rows import Row, accelerator_of, precision_of, stack_of, token_rows

from gpufeed.facts import load
from gpufeed.model import formulas

#: A causal mask halves the products that the formula counts, and the best kernel published (FlashAttention-3) reaches
#: 75 % of the peak: no share above 1.5.
ATTENTION_SHARES = [round(0.05 * step, 2) for step in range(3, 31)]
ENOUGH_ROWS = 4
WITHIN = 0.95
TOKENS = 8192  # the default of llm-text, for rows that state no sequence length
TITLES = {
    "published-runs": "Every run, whatever the stack: used where none is named.",
    "llm-foundry": "MosaicML LLM Foundry, 2023 to 2024.",
    "torchtitan": "PyTorch torchtitan, AWS's test case on p5 included.",
    "megatron-bridge": "NVIDIA Megatron-Bridge and NeMo, as NVIDIA tunes them.",
    "whole-run": "Tokens over all accelerator hours of a whole run, from model cards: downtime and restarts included.",
}
SOURCE_IDS = {
    "mfu-lf-": "llm-foundry",
    "mfu-tt-": "torchtitan",
    "mfu-aws-": "aws-p5-torchtitan",
    "mfu-mb": "megatron-bridge",
    "mfu-card-": "llama-model-cards",
}


@dataclass(frozen=True)
class Run:
    """One row, in the terms of the formula: FLOPs per token, peaks in FLOP/s."""

    row: Row
    weights: float
    attention: float
    peak: float
    bf16_peak: float
    tokens: float

    @property
    def precision(self) -> str:
        return precision_of(self.row)

    @property
    def family(self) -> str:
        return str(load().accelerators[accelerator_of(self.row)].get_value("family"))

    @property
    def parameters(self) -> float:
        return self.weights / 6.0

    def implied(self, attention_share: float, size: Size) -> float:
        """The share of the weights' products that gives the reported rate; infinite where attention alone is slower."""
        left = size.factor(self) / self.tokens - self.attention / (attention_share * self.bf16_peak)
        return self.weights / (left * self.peak) if left > 0 else math.inf


@dataclass(frozen=True)
class Size:
    """How the shares fall with the number of parameters: (middle / parameters) ^ fall."""

    fall: float
    middle: float
    smallest: float
    largest: float

    def factor(self, run: Run) -> float:
        within = min(max(run.parameters, self.smallest), self.largest)
        return formulas.smaller_for_larger(within, self.middle, self.fall)


@dataclass(frozen=True)
class Fit:
    attention: float
    weights: dict[str, float]  # by precision
    size: Size

    def error(self, run: Run) -> float:
        """ln(modelled / reported)."""
        in_weights = run.weights / (self.weights[run.precision] * run.peak)
        in_attention = run.attention / (self.attention * run.bf16_peak)
        return math.log(self.size.factor(run) / (in_weights + in_attention) / run.tokens)


def run_of(row: Row) -> Run:
    facts = load()
    chip, precision = facts.accelerators[accelerator_of(row)], precision_of(row)
    bf16_peak = chip.known("peak_bf16").value
    times = 1.0 if precision == "bf16" else chip.known(f"{precision}_multiplier").value
    parameters = row.inputs.get("active_params") or row.inputs["params"]
    attention = formulas.attention_flops_per_token(
        parameters, row.inputs.get("seq_len", TOKENS), facts.model.known("width_per_layer")
    )
    return Run(row, 6.0 * parameters, attention.value, bf16_peak * times, bf16_peak, row.reported)


def fitted(runs: list[Run], shares: list[float], *, by_size: bool = True) -> Fit:
    """Shares and their change with size; ``shares`` are the attention shares tried."""
    sizes = [run.parameters for run in runs]
    none = Size(0.0, statistics.geometric_mean(sizes), min(sizes), max(sizes))
    fit = _least_error(runs, shares, none)
    if not by_size or len(runs) < ENOUGH_ROWS or none.smallest == none.largest:
        return fit
    larger = [math.log(run.parameters / none.middle) for run in runs]
    left = [-fit.error(run) for run in runs]
    mean = statistics.mean(left)
    slope = sum(x * (y - mean) for x, y in zip(larger, left, strict=True)) / sum(x**2 for x in larger)
    return _least_error(runs, shares, replace(none, fall=max(0.0, -slope)))


def _least_error(runs: list[Run], shares: list[float], size: Size) -> Fit:
    """The fit with the least sum of absolute errors at this dependence on size."""

    def at(share: float) -> Fit:
        precisions = sorted({run.precision for run in runs})
        weights = {p: statistics.median(r.implied(share, size) for r in runs if r.precision == p) for p in precisions}
        # A share without bound means that this attention share is impossible for most of the runs.
        return Fit(share, {p: min(value, 10.0) for p, value in weights.items()}, size)

    return min(map(at, shares), key=lambda fit: sum(abs(fit.error(run)) for run in runs))


def groups() -> dict[tuple[str, str], list[Run]]:
    """(stack, family) → its dense runs; ``published-runs`` has those of all stacks."""
    dense = [run_of(row) for row in token_rows() if "active_params" not in row.inputs]
    found: dict[tuple[str, str], list[Run]] = {}
    for stack in TITLES:
        for run in dense:
            if stack in ("published-runs", stack_of(run.row)):
                found.setdefault((stack, run.family), []).append(run)
    return found


def shares_for(key: tuple[str, str], runs: list[Run], pooled: dict[str, Fit]) -> list[float]:
    """The attention shares to try: a grid, or for a small group the one of all stacks."""
    if key[0] == "published-runs" or len(runs) >= ENOUGH_ROWS:
        return ATTENTION_SHARES
    return [pooled[key[1]].attention]


def fits() -> dict[tuple[str, str], Fit]:
    found = groups()
    return {key: fitted(runs, shares_for(key, runs, _pooled(found))) for key, runs in found.items()}


def _pooled(found: dict[tuple[str, str], list[Run]]) -> dict[str, Fit]:
    """By family, all stacks together."""
    return {key[1]: fitted(runs, ATTENTION_SHARES) for key, runs in found.items() if key[0] == "published-runs"}


def left_out_errors(key: tuple[str, str]) -> list[float]:
    """ln(modelled / reported) of each run of a group, the group fitted without it; runs that are alone are left out."""
    found = groups()
    runs, pooled = found[key], _pooled(found)
    errors = []
    for run in runs:
        rest = [other for other in runs if other is not run]
        if any(other.precision == run.precision for other in rest):
            errors.append(fitted(rest, shares_for(key, rest, pooled)).error(run))
    return errors


def spread() -> float:
    """What 95 % of all runs stay within, either way, when predicted from the others of their stack and family."""
    sizes = sorted(abs(error) for key in groups() if key[0] != "published-runs" for error in left_out_errors(key))
    return math.exp(sizes[math.ceil(WITHIN * len(sizes)) - 1])


def mixture_share() -> float:
    """What a mixture of experts reaches in the products of its weights, as a share of what a dense model reaches."""
    dense = fits()["megatron-bridge", "Blackwell"]
    runs = [run_of(row) for row in token_rows() if "active_params" in row.inputs]
    return statistics.median(run.implied(dense.attention, dense.size) / dense.weights["fp8"] for run in runs)


def toml() -> str:
    found, least = groups(), spread()
    lines = [
        "# Shares of an accelerator's peak that training reaches, by training stack, accelerator family and precision.",
        "# Written by tests/published/fit_utilisation.py from tests/published/measurements.csv; do not edit by hand.",
        "#   share_in_weights    of the peak at this precision, in the products of the weights",
        "#   share_in_attention  of the bf16 peak, in attention: 12 × layers × width × sequence FLOPs per token",
        "#   size_of_runs        parameters at which the shares hold; low and high: the sizes of the runs",
        "#   fall_with_size      both are × (size of runs / parameters) ^ this, within the sizes of the runs",
        "#   runs                how many published runs of this precision they were fitted on",
        f"# low and high span all of these runs, and at least a factor of {least:.2f} each way.",
    ]
    for stack, title in TITLES.items():
        lines += ["", f"# {title}"]
        for key, fit in fits().items():
            if key[0] == stack:
                for precision in fit.weights:
                    lines += _table(key, fit, [run for run in found[key] if run.precision == precision], least)
    return "\n".join(lines) + "\n"


def _table(key: tuple[str, str], fit: Fit, runs: list[Run], least: float) -> list[str]:
    precision = runs[0].precision
    faster = [math.exp(-fit.error(run)) for run in runs]
    low, high = min(*faster, 1.0 / least), max(*faster, least)
    ids = [source for start, source in SOURCE_IDS.items() if any(run.row.id.startswith(start) for run in runs)]
    cited = f'basis = "measured", source = [{", ".join(f"{chr(34)}{source}{chr(34)}" for source in ids)}]'
    lines = [f"[{'.'.join(key)}.{precision}]"]
    for fact, share in (("share_in_weights", fit.weights[precision]), ("share_in_attention", fit.attention)):
        # Rounded outwards, so that no run falls outside by its last digit.
        lowest, highest = math.floor(share * low * 1000) / 1000, math.ceil(share * high * 1000) / 1000
        bounds = f"value = {share:.3f}, low = {lowest:.3f}, high = {highest:.3f}"
        lines.append(f'{fact} = {{ {bounds}, unit = "share", {cited} }}')
    size = fit.size
    lines.append(f'fall_with_size = {{ value = {size.fall:.3f}, unit = "ratio", {cited} }}')
    bounds = f"value = {size.middle:.4g}, low = {size.smallest:.10g}, high = {size.largest:.10g}"
    lines.append(f'size_of_runs = {{ {bounds}, unit = "count", {cited} }}')
    return [*lines, f'runs = {{ value = {len(runs)}, unit = "count", {cited} }}']


if __name__ == "__main__":
    (Path(__file__).parents[2] / "data" / "utilisation.toml").write_text(toml(), encoding="utf-8")
