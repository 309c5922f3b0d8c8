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
- all stacks together: each stack weighs the same, however many rows it published, because the next run is of another
  stack, not of another row.
- range of a named stack: from its slowest to its fastest row, and at least ``spread`` each way: what 95 % of all rows
  stay within when each is predicted from the other models of its group (leave one model out).
- range of all stacks: from the slowest to the fastest row, and as far as 95 % of the family's rows stay within when
  each is predicted without its stack (leave one stack out), but no wider than ``WIDEST``.  Where one stack alone has
  runs on a family, it reaches down to what the slowest other stack makes of this one's share on the families where
  both have runs.

- no range reaches above the best single matrix product measured on the family, but for runs that do.

Mixtures of experts are left out of the groups and give one share of their own (``model.toml``).
"""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from published_rows import Row, accelerator_of, family_of, precision_of, rows, stack_of, token_rows

from gpufeed.facts import load
from gpufeed.model import formulas

#: No share above 0.55.  Where attention is nearly all of the work, NVIDIA's own stack reaches 549 TFLOP/s with 512k
#: tokens and 536 with 1M on H100 (NeMo 24.03, Llama 2 7B, as this formula counts them): 0.55 of the bf16 peak.  Runs of
#: one sequence length cannot tell attention from weights, and without this bound gave 1.5.
ATTENTION_SHARES = [round(0.05 * step, 2) for step in range(3, 12)]
ENOUGH_ROWS = 4
#: Forward 2 and gradients of the activations 2; NVIDIA counts 673 TFLOP/s for 25,206 tokens/s of 6.74e9 parameters.
ADAPTER_FLOPS = 4.0
WITHIN = 0.95
WIDEST = 2.95  # high / low; the goal is 3, less what rounding outwards adds
TOKENS = 8192  # the default of llm-text, for rows that state no sequence length
ANY_STACK = "published-runs"
TITLES = {
    ANY_STACK: "Every run, whatever the stack, each stack weighing the same: used where none is named.",
    "llm-foundry": "MosaicML LLM Foundry, 2023 to 2024.",
    "torchtitan": "PyTorch torchtitan, AWS's test case on p5 included.",
    "megatron-bridge": "NVIDIA Megatron-Bridge and NeMo, as NVIDIA tunes them.",
    "neuron": "AWS NeuronX Distributed, 2023: AWS's own benchmarks.",
    "whole-run": "Tokens over all accelerator hours of a whole run, from model cards: downtime and restarts included.",
}
SOURCE_IDS = {
    "mfu-lf-": "llm-foundry",
    "mfu-tt-": "torchtitan",
    "mfu-aws-": "aws-p5-torchtitan",
    "mfu-mb": "megatron-bridge",
    "mfu-card-": "llama-model-cards",
    "mfu-trn1-": "neuron-training-benchmarks",
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
        """That of its family of precisions: the fit tells bf16, fp8 and fp4 apart, variants by their pairs."""
        return family_of(precision_of(self.row))

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


#: Of runs that are not told apart by size.
NO_SIZE = Size(0.0, 1.0, 1.0, 1.0)


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
    chip, precision = facts.accelerators[accelerator_of(row)], family_of(precision_of(row))
    bf16_peak = chip.known("peak_bf16").value
    times = 1.0 if precision == "bf16" else chip.known(f"{precision}_multiplier").value
    parameters = row.inputs.get("active_params") or row.inputs["params"]
    attention = formulas.attention_flops_per_token(
        parameters, row.inputs.get("seq_len", TOKENS), facts.model.known("width_per_layer")
    )
    return Run(row, 6.0 * parameters, attention.value, bf16_peak * times, bf16_peak, row.reported)


def fitted(runs: list[Run], shares: list[float], *, by_size: bool = True, by_stack: bool = True) -> Fit:
    """Shares and their change with size; ``shares`` are the attention shares tried."""
    sizes = [run.parameters for run in runs]
    none = Size(0.0, statistics.geometric_mean(sizes), min(sizes), max(sizes))
    counts = _counts(runs) if by_stack else [1.0] * len(runs)
    fit = _least_error(runs, shares, none, counts)
    if not by_size or len(runs) < ENOUGH_ROWS or none.smallest == none.largest:
        return fit
    larger = [math.log(run.parameters / none.middle) for run in runs]
    left = [-fit.error(run) for run in runs]
    mean, middle = _mean(left, counts), _mean(larger, counts)
    square = sum(count * (x - middle) ** 2 for x, count in zip(larger, counts, strict=True))
    slope = sum(n * (x - middle) * (y - mean) for x, y, n in zip(larger, left, counts, strict=True)) / square
    return _least_error(runs, shares, replace(none, fall=max(0.0, -slope)), counts)


def _counts(runs: list[Run]) -> list[float]:
    """What each run counts: 1, or with several stacks 1 for all runs of a stack at one precision together."""
    of_stack = Counter((stack_of(run.row), run.precision) for run in runs)
    several = len({stack for stack, _ in of_stack}) > 1
    return [1.0 / of_stack[stack_of(run.row), run.precision] if several else 1.0 for run in runs]


def _mean(values: list[float], counts: list[float]) -> float:
    return sum(n * value for value, n in zip(values, counts, strict=True)) / sum(counts)


def _median(values: list[float], counts: list[float]) -> float:
    """The value that half of the counts lie below; between two values, their geometric mean."""
    pairs = sorted(zip(values, counts, strict=True))
    half, below = sum(counts) / 2, 0.0
    for (value, count), (following, _) in zip(pairs, [*pairs[1:], pairs[-1]], strict=True):
        below += count
        if math.isclose(below, half):
            return math.sqrt(value * following)
        if below > half:
            return value
    raise AssertionError


def _least_error(runs: list[Run], shares: list[float], size: Size, counts: list[float]) -> Fit:
    """The fit with the least sum of absolute errors at this dependence on size."""
    precisions = sorted({run.precision for run in runs})

    def at(share: float) -> Fit:
        weights = {}
        for precision in precisions:
            each = [
                (run.implied(share, size), n) for run, n in zip(runs, counts, strict=True) if run.precision == precision
            ]
            # A share without bound means that this attention share is impossible for most of the runs.
            weights[precision] = min(_median([x for x, _ in each], [n for _, n in each]), 10.0)
        return Fit(share, weights, size)

    return min(map(at, shares), key=lambda fit: sum(n * abs(fit.error(r)) for r, n in zip(runs, counts, strict=True)))


@cache
def groups() -> dict[tuple[str, str], list[Run]]:
    """(stack, family) → its dense runs; ``published-runs`` has those of all stacks."""
    dense = [run_of(row) for row in token_rows() if "active_params" not in row.inputs]
    found: dict[tuple[str, str], list[Run]] = {}
    for stack in TITLES:
        for run in dense:
            if stack in (ANY_STACK, stack_of(run.row)):
                found.setdefault((stack, run.family), []).append(run)
    return found


def shares_for(key: tuple[str, str], runs: list[Run], pooled: dict[str, Fit]) -> list[float]:
    """The attention shares to try: a grid, or for a small group the one of all stacks."""
    if key[0] == ANY_STACK or len(runs) >= ENOUGH_ROWS:
        return ATTENTION_SHARES
    return [pooled[key[1]].attention]


@cache
def fits() -> dict[tuple[str, str], Fit]:
    found = groups()
    return {key: fitted(runs, shares_for(key, runs, _pooled(found))) for key, runs in found.items()}


def _pooled(found: dict[tuple[str, str], list[Run]]) -> dict[str, Fit]:
    """By family, all stacks together."""
    return {key[1]: fitted(runs, ATTENTION_SHARES) for key, runs in found.items() if key[0] == ANY_STACK}


def without_its_model(key: tuple[str, str]) -> list[tuple[Run, float]]:
    """Each run of a group with ln(modelled / reported), the group fitted without all runs of its model.

    A model that another run of the group has at another number of accelerators would be all but known.
    """
    found = groups()
    runs, pooled = found[key], _pooled(found)
    errors = []
    for run in runs:
        rest = [other for other in runs if other.row.inputs["model"] != run.row.inputs["model"]]
        if any(other.precision == run.precision for other in rest):
            errors.append((run, fitted(rest, shares_for(key, rest, pooled)).error(run)))
    return errors


@cache
def spread() -> float:
    """What 95 % of all runs stay within, either way, when predicted from the other models of their stack and family."""
    return _within(error for key in groups() if key[0] != ANY_STACK for _, error in without_its_model(key))


def _within(errors: Iterable[float]) -> float:
    sizes = sorted(map(abs, errors))
    return math.exp(sizes[math.ceil(WITHIN * len(sizes)) - 1])


@cache
def without_its_stack(family: str) -> list[tuple[Run, float]]:
    """Each run of a family with ln(modelled / reported), all other stacks fitted without its own."""
    runs = groups()[ANY_STACK, family]
    found = []
    for stack in sorted({stack_of(run.row) for run in runs}):
        rest = [run for run in runs if stack_of(run.row) != stack]
        if rest:
            fit = fitted(rest, ATTENTION_SHARES)
            mine = [run for run in runs if stack_of(run.row) == stack and run.precision in fit.weights]
            found += [(run, fit.error(run)) for run in mine]
    return found


def errors_left_out(*, named: bool) -> list[tuple[Run, float, bool]]:
    """Each run with ln(modelled / reported), fitted without its model (``named``) or stack, and if it is inside."""
    found = []
    for key in groups():
        if (key[0] != ANY_STACK) is named:
            for run, error in without_its_model(key) if named else without_its_stack(key[1]):
                low, high = bounds(key, run.precision)
                found.append((run, error, low <= math.exp(-error) <= high))
    return found


@cache
def times_slower(stack: str) -> float:
    """What the slowest other stack takes longer than ``stack``, at the median of its runs, where both have runs."""
    times = []
    for (name, family), fit in fits().items():
        if name == stack:
            others: dict[str, list[float]] = {}
            for run in groups()[ANY_STACK, family]:
                if run.precision in fit.weights:
                    others.setdefault(stack_of(run.row), []).append(math.exp(fit.error(run)))
            times += [statistics.median(each) for each in others.values()]
    return max(times)


def best_product(family: str) -> float:
    """The best share of the peak measured in one large matrix product: no training reaches more."""
    chips = [chip for chip in load().accelerators.values() if chip.get_value("family") == family]
    measured = [(chip.quantity("achievable_bf16"), chip.known("peak_bf16")) for chip in chips]
    return max((best.value / peak.value for best, peak in measured if best is not None), default=1.0)


def bounds(key: tuple[str, str], precision: str) -> tuple[float, float]:
    """(low, high) of what the runs of a group reach, as multiples of its fit."""
    fit, least = fits()[key], spread()
    runs = groups()[key]
    stacks = sorted({stack_of(run.row) for run in runs})
    faster = [math.exp(-fit.error(run)) for run in runs if run.precision == precision]
    slowest, fastest = min(faster), max(faster)
    if key[0] == ANY_STACK and len(stacks) > 1:
        least = max(least, _within(error for _, error in without_its_stack(key[1])))
    low, high = min(slowest, 1.0 / least), max(fastest, least)
    if key[0] == ANY_STACK and len(stacks) == 1:
        low = min(low, 1.0 / times_slower(stacks[0]))
    high = max(fastest, min(high, best_product(key[1]) / fit.weights[precision]))
    # Too wide: each end gives way to the other, but not past a run.
    high = max(fastest, min(high, low * WIDEST))
    return min(slowest, max(low, high / WIDEST)), high


def variant_share(precision: str) -> tuple[float, float, float]:
    """(low, value, high) of what a variant of a precision reaches of one scale a tensor: median of pairs of runs.

    The two runs of a pair differ in the variant alone, or in how the model was split besides.
    """
    pairs = [row for row in rows("variant", "collected.csv") if row.inputs["precision"] == precision]
    assert len(pairs) >= ENOUGH_ROWS
    shares = [row.reported / row.inputs["base_tokens"] for row in pairs]
    return min(shares), _median(shares, [1.0] * len(shares)), max(shares)


def mixture_share() -> float:
    """What a mixture of experts reaches in the products of its weights, as a share of what a dense model reaches."""
    dense = fits()["megatron-bridge", "Blackwell"]
    runs = [run_of(row) for row in token_rows() if "active_params" in row.inputs]

    def share(run: Run) -> float:
        told = load().model.parts["precisions"].parts[precision_of(run.row)].known("share_of_family").value
        return run.implied(dense.attention, dense.size) / (dense.weights["fp8"] * told)

    return statistics.median(map(share, runs))


def mixture_share_of_hopper() -> tuple[float, float, float]:
    """(low, value, high) of the fp8 peak that mixtures of experts reach on H100, in the products of their weights.

    One stack alone has published them, so the high end, which another may reach, is as far as the goal allows.
    """
    attention, found = fits()[ANY_STACK, "Hopper"].attention, rows("mixture", "collected.csv")
    low, value, _ = _by_model((row.inputs["model"], run_of(row).implied(attention, NO_SIZE)) for row in found)
    return low, value, low * WIDEST


def hybrid_share() -> tuple[float, float, float]:
    """(low, value, high) of the bf16 peak that models of Mamba layers reach, whatever the precision."""
    runs = [(row.inputs["model"], run_of(row)) for row in rows("hybrid", "collected.csv")]
    return _by_model((model, run.weights * run.tokens / run.bf16_peak) for model, run in runs)


def _by_model(shares: Iterable[tuple[str, float]]) -> tuple[float, float, float]:
    """Each model counts the same: the geometric mean of their medians; range: all medians, and ``spread`` each way."""
    of_model: dict[str, list[float]] = {}
    for model, share in shares:
        of_model.setdefault(model, []).append(share)
    medians = [statistics.median(each) for each in of_model.values()]
    value = statistics.geometric_mean(medians)
    return min(*medians, value / spread()), value, max(*medians, value * spread())


def adapter_share() -> tuple[float, float, float]:
    """(low, value, high) of the peak that training an adapter reaches, weights and attention alike.

    Value: the geometric mean of the sources' medians.  Range: all runs, and what one source is off when predicted from
    the other, no wider than ``WIDEST``.
    """
    by_source: dict[str, list[float]] = {}
    for row in rows("adapter", "collected.csv"):
        run = run_of(row)
        flops = ADAPTER_FLOPS * run.parameters / run.peak + run.attention / run.bf16_peak
        by_source.setdefault(row.source, []).append(run.tokens * flops)
    medians = {source: statistics.median(shares) for source, shares in by_source.items()}
    value = statistics.geometric_mean(medians.values())
    off = [
        share / medians[other]
        for source, each in by_source.items()
        for share in each
        for other in medians
        if other != source
    ]
    least = _within(math.log(ratio) for ratio in off)
    slowest, fastest = min(map(min, by_source.values())), max(map(max, by_source.values()))
    low = min(slowest, value / least)
    return low, value, max(fastest, min(value * least, low * WIDEST))


def toml() -> str:
    found = groups()
    lines = [
        "# Shares of an accelerator's peak that training reaches, by training stack, accelerator family and precision.",
        "# Written by tests/published/fit_utilisation.py from measurements.csv and collected.csv; do not edit by hand.",
        "#   share_in_weights    of the peak at this precision, in the products of the weights",
        "#   share_in_attention  of the bf16 peak, in attention: 12 × layers × width × sequence FLOPs per token",
        "#   size_of_runs        parameters at which the shares hold; low and high: the sizes of the runs",
        "#   fall_with_size      both are × (size of runs / parameters) ^ this, within the sizes of the runs",
        "#   runs                how many published runs of this precision they were fitted on",
        f"# low and high of a named stack span its runs, and at least a factor of {spread():.2f} each way; those of",
        "# all stacks span theirs and what a stack that is not among them may reach (see the script).",
    ]
    for stack, title in TITLES.items():
        lines += ["", f"# {title}"]
        for key, fit in fits().items():
            if key[0] == stack:
                for precision in fit.weights:
                    lines += _table(key, fit, [run for run in found[key] if run.precision == precision])
    return "\n".join(lines) + "\n"


def _table(key: tuple[str, str], fit: Fit, runs: list[Run]) -> list[str]:
    precision = runs[0].precision
    low, high = bounds(key, precision)
    ids = [source for start, source in SOURCE_IDS.items() if any(run.row.id.startswith(start) for run in runs)]
    cited = f'basis = "measured", source = [{", ".join(f"{chr(34)}{source}{chr(34)}" for source in ids)}]'
    lines = [f"[{'.'.join(key)}.{precision}]"]
    for fact, share in (("share_in_weights", fit.weights[precision]), ("share_in_attention", fit.attention)):
        # Rounded outwards, so that no run falls outside by its last digit.
        lowest, highest = math.floor(share * low * 1000) / 1000, math.ceil(share * high * 1000) / 1000
        numbers = f"value = {share:.3f}, low = {lowest:.3f}, high = {highest:.3f}"
        lines.append(f'{fact} = {{ {numbers}, unit = "share", {cited} }}')
    size = fit.size
    lines.append(f'fall_with_size = {{ value = {size.fall:.3f}, unit = "ratio", {cited} }}')
    numbers = f"value = {size.middle:.4g}, low = {size.smallest:.10g}, high = {size.largest:.10g}"
    lines.append(f'size_of_runs = {{ {numbers}, unit = "count", {cited} }}')
    return [*lines, f'runs = {{ value = {len(runs)}, unit = "count", {cited} }}']


if __name__ == "__main__":
    (Path(__file__).parents[2] / "data" / "utilisation.toml").write_text(toml(), encoding="utf-8")
