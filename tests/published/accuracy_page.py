"""``docs/accuracy.md``: what the model reproduces of published measurements, and what not.

python tests/published/accuracy_page.py
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from pathlib import Path

from approaches import APPROACHES, left_out
from fit_utilisation import WITHIN, spread
from reproduction import (
    Compared,
    Score,
    checkpoint_sizes,
    checkpoint_transfers,
    failures,
    flops_reported,
    images,
    not_compared,
    object_rates,
    reads,
    request_times,
    score,
    tokens,
    unseen,
)

from gpufeed.facts import load

PAGE = Path(__file__).parents[2] / "docs" / "accuracy.md"
JOB_GPUS = 1024

START_TEXT = """\
Every row of `tests/published/measurements.csv` goes through the functions that a recommendation goes through. *Inside*
counts rows whose reported value lies inside low–high; *widest* is the largest high / low. The rows are one half of what
was collected; nothing here was looked up from the other half.
"""

TOKENS_TEXT = """\
## Tokens per second of one accelerator

Goal per source: median error ≤ 15 %, reported value inside low–high in ≥ 85 % of rows, range no wider than 3 ×.
No utilisation (MFU) is given: the model has the parameters (active ones of a mixture of experts), the accelerator, the
precision (`bf16`; amp_fp8, float8, FP8-CS and MXFP8 are `fp8`; NVFP4 is `fp4`) and the sequence length, 8,192 where a
row states none.

    tokens/s = 1 / (weights / (share in weights × peak) + attention / (share in attention × bf16 peak))
    weights = 6 × parameters, attention = 12 × layers × width × sequence length

The two shares are fitted per training stack and accelerator family by `tests/published/fit_utilisation.py` and
committed in `data/utilisation.toml`; no row is singled out, and a test holds that the file is what the fit gives.
"""

STACK_TEXT = """\
What a run reaches depends on the software as much as on the GPU: 8B parameters in fp8 on H100 reach 8,380 tokens/s with
torchtitan on 128 GPUs and 14,451 with Megatron-Bridge on 8. Name yours (`training_stack` in WORKLOAD.toml:
{stacks}) and the shares are those of its own runs.
`whole-run` is tokens over all GPU hours of a run, downtime and restarts included:
"""

BOUNDS_TEXT = """\
### What is not reached, and what bounds it

- **Meta's model cards without a stack named: {default:.1%} against 15 %.** They divide all tokens by all GPU hours of
  runs whose GPU count, batch and lost time are not stated; storage is asked for at full speed, which such a figure does
  not tell. Named as `whole-run` the error is {named:.1%}, but only in sample: predicted from each other the four have
  {left_out:.1%}, because on H100 the 8B run reached 21 % of the peak and the 70B run 32 %, and two runs cannot say why.
- **Unseen stacks.** The errors above are in sample. The table below predicts each run from the others of its group:
  with the stack named, what generalises is well within 15 % for every source but the cards; without, Megatron-Bridge's
  H100 runs are half again as fast as the middle of all stacks and only the range holds them.
- **Small groups.** Mixtures of experts rest on two runs of one model, fp4 on one run, torchtitan in bf16 on two. Their
  range is the spread of all fits, a factor of {spread:.2f} either way: what {within:.0%} of all runs stay within when
  predicted from the others.
- **Blackwell in bf16, and accelerators without a published run** (Trainium, L4, L40S, A10G): an assumed utilisation,
  shown as assumed.

Approaches measured, median error of each run predicted from the others of its group (leave one out):
"""

UNSEEN_TEXT = """\
A source on which nothing was fitted, KempnerForge on H200 in bf16 with 4,096 tokens (sizes "7B" and "13B" taken as
round; its slower runs on 16 and 32 GPUs split each layer over 4):
"""

IMAGES_TEXT = """\
The presets have no input for resolution or TF32, so their ranges span both (256 and 512 px; mixed precision and TF32):
the middle is one of these, and no goal is set.
"""

READS_TEXT = """\
An identity, given the accelerator utilisation (AU) that the run had: accelerators × batch / compute time × record × AU.
The first step's input counts for the reported rate but not for AU. Goal: median error ≤ 3 %.
"""

CHECKPOINT_TEXT = """\
## Checkpoints

Goal: sizes within 1 % of exact byte counts; time or rate from a provisioned rate or the servers' network inside
low–high in ≥ 80 % of runs, range no wider than 4 ×. Size: parameters × bytes per parameter of the optimizer. Time:
bytes / (rate × share of it that whole saves and restores reach). The middle is the whole rate that was provisioned;
published runs reach 80 % of it at the median, which is why the middle is too fast by a fifth and the low end (40 %,
Megatron's writes) matters.
"""

OBJECT_TEXT = """\
## Object throughput by size and concurrency

Goal: inside low–high in ≥ 85 % of the rows whose inputs suffice, range no wider than 4 ×.

    t = first byte + size / rate of one request,  rate of c requests = c × size / t, at most 87–92 % of the card

| | first byte | rate of one request | source |
|---|---|---|---|
| low | {low_ms:.0f} ms | {low_rate:.0f} MB/s | AWS's own planning: P50 of its client; 100 Gbit/s in 250 connections |
| middle | {ms:.0f} ms | {rate:.0f} MB/s | the same P50; 85–90 MB/s of the S3 guide |
| high | {high_ms:.0f} ms | {high_rate:.0f} MB/s | best published fit: P50s of s3-benchmark, 4 to 16 MB |

The guide also says "roughly 100–200 ms" for small objects. That is a slow request, not the mean that many requests side
by side see: with it as the low end the range of a 1 KB read would be 22 × wide. It stays the low end of opening a file
through Mountpoint, where a public case measured 130 ms.
"""

OUTSIDE_TEXT = """\
Outside: {ids}, whose card is sold as *up to* 25 Gbit/s: what a small instance reaches for minutes, not what
it keeps. Of the other cards this benchmark reaches 87 to 92 %, and the model counts on as much of every card on the way
to S3 (`card_share` in `data/model.toml`, fitted on the three rows that a card bounds, which say nothing more about it).
"""

FAILURE_TEXT = """\
## Time between failures

Each source counts something else as a failure, so they stand side by side and are never averaged.
`mean_time_to_failure` spans them: the middle is RSC-1's rate per node, low and high the most and least often failing
of the published jobs.
"""


def page() -> str:
    default, named = tokens(stack=False), tokens(stack=True)
    of_cards = "Meta model cards, whole runs"
    s3 = load().options["s3-standard"]
    latency, rate = s3.known("first_byte_latency"), s3.known("per_request_read")
    stacks = ", ".join(f"`{name}`" for name in load().utilisation if name != "published-runs")
    parts = [
        "# How well the model reproduces what others measured",
        "<!-- Written by tests/published/accuracy_page.py; a test fails when it and the model differ. -->",
        START_TEXT,
        TOKENS_TEXT,
        "From these traits alone, against every published run of the accelerator's family:",
        _scores(default),
        STACK_TEXT.format(stacks=stacks).rstrip(),
        _scores(named),
        BOUNDS_TEXT.format(
            default=score(default[of_cards]).median_error,
            named=score(named[of_cards]).median_error,
            left_out=statistics.median(left_out(APPROACHES[_IN_USE], named=True)[of_cards]),
            spread=spread(),
            within=WITHIN,
        ).rstrip(),
        _approaches(),
        UNSEEN_TEXT.rstrip(),
        _rows(unseen(), "tokens/s"),
        "Runs that report FLOP/s or MFU only, from the traits alone (GPT-3, OPT and BLOOM, 2,048 tokens):",
        _rows(flops_reported(), None),
        "## Images and latents",
        IMAGES_TEXT,
        _scores(images()),
        "## Reads of MLPerf Storage",
        READS_TEXT,
        _scores({"reads with AU": reads()}, ranged=False),
        CHECKPOINT_TEXT.rstrip(),
        _scores({"size": checkpoint_sizes()}, ranged=False),
        _scores({"time or rate": checkpoint_transfers()}),
        OBJECT_TEXT.format(
            low_ms=latency.high * 1e3,
            ms=latency.value * 1e3,
            high_ms=latency.low * 1e3,
            low_rate=rate.low / 1e6,
            rate=rate.value / 1e6,
            high_rate=rate.high / 1e6,
        ).rstrip(),
        _scores({"throughput": object_rates(), "time of one request": request_times()}),
        OUTSIDE_TEXT.format(ids=_outside(object_rates())),
        FAILURE_TEXT.rstrip(),
        _failures(),
        "Against the range for a job (or fleet) of each row's own size:",
        _rows(failures(), None),
        "## Rows that cannot be compared",
        "\n".join(f"- {reason}: {', '.join(ids)}" for reason, ids in not_compared().items()),
    ]
    return "\n\n".join(part.strip("\n") for part in parts) + "\n"


_IN_USE = next(name for name in APPROACHES if "in use" in name)


def _table(head: tuple[str, ...], lines: Iterable[tuple[str, ...]]) -> str:
    marks = tuple("---" if column == 0 else "---:" for column in range(len(head)))
    return "\n".join(f"| {' | '.join(line)} |" for line in (head, marks, *lines))


def _scores(groups: dict[str, list[Compared]], *, ranged: bool = True) -> str:
    head = ("source", "rows", "median error", *(("inside", "widest") if ranged else ("largest error",)))

    def line(name: str, group: list[Compared]) -> tuple[str, ...]:
        found: Score = score(group)
        start = (name, str(found.count), f"{found.median_error:.1%}")
        if not ranged:
            return (*start, f"{max(one.error for one in group):.1%}")
        return (*start, f"{found.inside} of {found.count}", f"{found.widest:.1f} ×")

    return _table(head, (line(name, group) for name, group in groups.items()))


def _rows(compared: list[Compared], unit: str | None) -> str:
    def line(one: Compared) -> tuple[str, ...]:
        numbers = (f"{n:,.4g}" if n < 1000 else f"{n:,.0f}" for n in (one.row.reported, *one.modelled[:3]))
        return (one.row.id, *numbers, unit or one.row.unit)

    return _table(("row", "reported", "low", "middle", "high", "unit"), map(line, compared))


def _approaches() -> str:
    lines = []
    for name, approach in APPROACHES.items():
        for named in (True, False):
            errors = left_out(approach, named=named)
            medians = [f"{statistics.median(errors[source]):.1%}" for source in errors]
            lines.append((name, "yes" if named else "no", *medians))
    sources = tuple(left_out(APPROACHES[_IN_USE], named=True))
    return _table(("approach", "stack named", *sources), lines)


def _outside(compared: list[Compared]) -> str:
    return " and ".join(one.row.id for one in compared if not one.inside)


def _failures() -> str:
    """Every definition scaled to one job, longest time first."""
    failed = load().model.parts["failures"]
    rate = failed.known("node_failure_rate").value
    of_nodes = 1.0 / (rate * JOB_GPUS / 8) / 3600
    each = f"{rate * 86_400_000:.3g} per 1,000 node-days"
    lines = [(of_nodes, ("node failures of the whole RSC-1 cluster, any job", each, f"{of_nodes:.1f} h"))]
    for row in failed.parts.values():
        gpus, published = row.known("gpus").value, row.known("mean_time_to_failure").value / 3600
        here = published * gpus / JOB_GPUS
        lines.append((here, (row.get_value("counts"), f"{published:.3g} h with {gpus:,.0f} GPUs", f"{here:.1f} h")))
    head = ("counts as a failure", "published", f"for {JOB_GPUS:,} GPUs")
    return _table(head, (line for _, line in sorted(lines, reverse=True)))


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
