"""``docs/accuracy.md``: what the model reproduces of published measurements, and what not.

python tests/published/accuracy_page.py
"""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from approaches import APPROACHES, left_out
from fit_utilisation import (
    ATTENTION_SHARES,
    WITHIN,
    errors_left_out,
    hybrid_share,
    mixture_share_of_hopper,
    spread,
    variant_share,
)
from published_rows import rows, source_of
from reproduction import (
    Compared,
    Score,
    Unseen,
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
counts rows whose reported value lies inside low–high; *widest* is the largest high / low. Rows of other sources stand
in `unseen.csv` and `unseen_storage.csv`: nothing is fitted on them, and they were scored before anything was changed.
"""

TOKENS_TEXT = """\
## Tokens per second of one accelerator

Goal per source: median error ≤ 15 %, reported value inside low–high in ≥ 85 % of rows, range no wider than 3 ×.
No utilisation (MFU) is given: the model has the parameters (active ones of a mixture of experts), the accelerator, the
precision as the row states it (amp_fp8 and float8 are `fp8`, FP8-CS `fp8-current`, MXFP8 `mxfp8`, NVFP4 `nvfp4`) and
the sequence length, 8,192 where a row states none.

    tokens/s = 1 / (weights / (share in weights × peak) + attention / (share in attention × bf16 peak))
    weights = 6 × parameters, attention = 12 × layers × width × sequence length

The two shares are fitted per training stack and accelerator family by `tests/published/fit_utilisation.py` and
committed in `data/utilisation.toml`; no row is singled out, and a test holds that the file is what the fit gives. AWS's
own Trainium rows, the adapters below, and the pairs and runs of the next table were collected besides the shared rows
(`collected.csv`).

Of fp8 and fp4 the variants are told apart where pairs of runs were published that differ in it; the two of a pair are
one with one scale a tensor (current, delayed or tensorwise scaling, which no pair tells apart) and one in the variant.
Mixtures on H100 and models of Mamba layers have shares of their own, because they gain little from fp8 or fp4 (Nemotron
3 Super in NVFP4 is 0.89 to 1.04 times as fast as in MXFP8): a Mamba model reaches one share of the bf16 peak at any
precision.
"""

STACK_TEXT = """\
What a run reaches depends on the software as much as on the GPU: 8B parameters in fp8 on H100 reach 8,380 tokens/s with
torchtitan on 128 GPUs and 14,451 with Megatron-Bridge on 8. Name yours (`training_stack` in WORKLOAD.toml:
{stacks}) and the shares are those of its own runs.
`whole-run` is tokens over all GPU hours of a run, downtime and restarts included:
"""

LEFT_OUT_TEXT = """\
### Predicted from other runs than their own

The errors above are in sample. What counts for the next run is how well it is predicted from others, by the same fit:
with no stack named, from the runs of the *other stacks* of the family; with the stack named, from the *other models* of
the stack (the same model at another number of GPUs would be all but known). Inside is against the committed range.
"""

LEFT_OUT_AFTER_TEXT = """\
- **A stack nobody published on a family is not predicted within 15 %.** Left out, torchtitan and Megatron-Bridge on
  H100 are off by a quarter to a half, because stacks differ by that much; only the range holds. It is as wide as the
  goal allows (Hopper), or as far as left-out stacks were off (A100). Name the stack, or measure 20 steps and enter
  `samples_per_second_per_accelerator`.
- **A model of another size than the stack's runs** is off by a third where the stack published two sizes (torchtitan:
  8B predicted from 70B and back); the range of a named stack is what {within:.0%} of models stay within:
  ×/÷ {spread:.2f}.
- **Constants.** Each earns its keep, or is gone: one rate for weights and attention does worse wherever sequences are
  long; the change with size is kept for the named stacks, where without it torchtitan and Megatron-Bridge do worse; the
  number of accelerators brings nothing when a model is left out and is not used. Gone: the exponent with which a
  mixture of experts was slower the fewer parameters are active (it came from two models, and missed three of six
  others threefold), and attention shares above {attention:.2f}, which runs of one sequence length cannot tell.
- **All stacks together weigh the same,** not each row, because 75 rows of one stack say little of the next stack. On
  the shared rows that brings every source within the goal; on stacks left out and on unseen rows it is no better and no
  worse than rows of equal weight. So the {cards:.1%} of the model cards is in sample: unseen cards have
  {unseen_cards:.1%}.

Approaches measured, median error of each run predicted from others:
"""

UNSEEN_TEXT = """\
### Rows that nothing was fitted on

{count} published runs of other sources, releases, accelerators and kinds, *as first scored* before this page's model
was changed, *as it is now*, and with the training software named where it is one of the five. The groups from
Megatron-Bridge 26.06 down were collected last, with the precision as stated, and first scored with each fp8 and fp4 as
one. Megatron-Bridge's are later releases of the tables whose older ones are in `collected.csv`: new releases, not new
runs of somebody else.
"""

UNSEEN_AFTER_TEXT = """\
Only *first* is blind: what to mend was chosen by looking at these rows, and Trainium1's share and the bound of
attention come from other rows of the same AWS and NVIDIA pages. What was wrong by kind, and what was done about it
without fitting on a row above:

{kinds}

**Model cards are not full speed less downtime.** Where a run's rate and its GPU hours are both published, the average
over all hours is 90 to 101 % of it ({run_average}). So lost
time explains a tenth at most; yet Meta's Llama 3 runs reached 21 % of the peak with 8B and 33 % with 405B, where
llm-foundry trains 7B at 44 %. Neither GPU count nor batch is stated. No factor is applied to the demand, which is at
full speed; `whole-run` is what such cards reach, and with it the unseen ones have {named_cards:.1%}.
"""

KINDS = (
    (
        "mixtures with few active parameters (Qwen3-30B, GPT-OSS, Mixtral)",
        "1.2 to 3.4 × too slow",
        "an exponent taken from two models",
        "one share of the dense rate; range of six published runs, and attention's own",
    ),
    (
        "Blackwell in fp8, earlier releases and other stacks",
        "1.5 to 2.2 × too fast, 5 of 12 inside",
        "one stack, its newest releases",
        "the low end is what other stacks reach of this one on Hopper; the middle stays the tuned one",
    ),
    (
        "long sequences on H100, stack named",
        "1.9 × too fast",
        "an attention share of 1.5, fitted on one length",
        "at most 0.55, what NVIDIA's stack reaches where attention is all (512k and 1M tokens)",
    ),
    (
        "Trainium1",
        "1.3 × too fast",
        "40 % of the peak, assumed",
        "AWS's own runs of NeuronX Distributed: 30 %",
    ),
    (
        "MXFP8 and rowwise fp8",
        "6 to 60 % and 80 to 98 % too fast",
        "all fp8 was one",
        "94 % and 78 % of one scale a tensor, from 17 and 4 pairs",
    ),
    (
        "Mamba hybrids (Nemotron 3)",
        "0.5 to 2.9 × the rate, 10 of 16 inside",
        "attention in every layer, gain from fp8 and fp4",
        "a preset of their own: 27 % of the bf16 peak at any precision; Ultra, the largest, is faster still",
    ),
    (
        "NVIDIA's stack in bf16 on H100, named (blind: collected after all else)",
        "1.2 to 1.8 × too slow, 6 of 9 inside",
        "no run of it in bf16 among the rows fitted on, so all stacks stood for it",
        "as far from all stacks as in fp8: 5 %, 9 of 9 inside",
    ),
    (
        "dense Mamba hybrids (Nemotron-H 56B)",
        "12 % (39 % named), all inside",
        "runs as a dense transformer of its size",
        "the same: the preset's own shares are for mixtures",
    ),
    (
        "mixtures in fp8 on H100, stack named",
        "1.9 and 2.4 × too fast",
        "a share of the dense rate in fp8, which mixtures do not gain there",
        "11.5 % of the fp8 peak, from 9 older runs",
    ),
    (
        "405B on 512 H100 with 32k tokens and more",
        "2 × too fast",
        "what splitting one sequence over many GPUs costs",
        "not mended: how a model is split is not an input",
    ),
    (
        "torchtitan on B200, power-limited, one sequence a GPU",
        "1.7 (bf16) to 3 × (fp8) too fast",
        "one stack has runs on Blackwell, tuned by NVIDIA",
        "not mended: the rows fitted on are NVIDIA's alone there, and the plan says that none is of the stack",
    ),
    (
        "adapters (LoRA)",
        "range 4.8 × wide",
        "4 to 6 FLOPs per parameter, assumed",
        "4, as NVIDIA counts; share of the peak between NVIDIA's stack and PEFT",
    ),
    (
        "whole runs of small models (Llama 3.1 8B, Llama 3.2, Pythia 1B)",
        "1.5 to 4.6 × too fast",
        "how those runs were made, not lost time (below)",
        "not mended",
    ),
    (
        "full fine-tuning of 7B on two GPUs with ZeRO-3",
        "2 × too fast",
        "one sample per GPU and step",
        "not mended: the batch is not an input",
    ),
)

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
bytes / (rate × share of it that whole saves and restores reach): 80 % in the middle, the median of nine published runs,
and 40 % (Megatron's writes) to 103 %. To S3 the rate is that of the parts which each rank has under way: 10, boto3's
default and the least of AWS's own client, to 25, what that one opens for its default target of 10 Gbit/s (100 Gbit/s in
250), as S3 Connector for PyTorch does. No published save to S3 states its parts, so none of the rows below scores it.
"""

CHECKPOINT_UNSEEN_TEXT = """\
Unseen (`unseen_storage.csv`, AIStore in MLPerf Storage v3.0; the fewer of servers and clients × 100 Gbit/s; the largest
run moves 98 % of that). Outside: {ids}.
All three are saves of 8 ranks a client, each one upload stream of 0.38 to 0.47 GB/s: the streams bind, not the network,
and the model of a save has no rate of one stream.
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

CLIENT_TEXT = """\
What one process reads with more and more in flight is bound by its client, not by S3 and seldom by the whole card. A
plan of training has many processes (accelerators × workers), whose shares add up until the card binds; a benchmark has
one. Two classes, each with a constant of its own, fitted on rows that are not among the unseen ones (`collected.csv`);
the boto3 rows are of other instances of the same benchmark:

- **boto3 without AWS CRT** (`client = "boto3"`): threads of one Python process share one interpreter lock. 0.34 GB/s in
  the middle, the geometric mean of the medians of four instances; 0.21 (their slowest) to 0.82 (4 × that).
- **any other client, or none named**: 80 % of the card, the median of six runs into memory (Go, Rust, 32 to 92.5 %);
  low 24 %, as far below as the goal allows, which clients that write into files come near to. Of
  s3bench's on cards from 10 Gbit/s, AWS CRT and s5cmd write to a temporary file and reach 27 to 55 %, Go and Rust drop
  what they read and reach 47 to 81 %.

Before, with neither, 19 of the 34 unseen rows were inside. What was tried, with boto3 named where the row names it:
"""

CLIENT_APPROACHES = (
    ("no bound by the client", "19 of 34", "2.2 ×", "too fast by up to 5 ×"),
    ("a rate of one process for boto3 alone", "20 of 34", "3.9 ×", "other clients are slower than the card as well"),
    (
        "and a rate of one process of any other: 1.25 GB/s, the default target of AWS's own, to 10.6, its best",
        "26 of 34",
        "8.5 ×",
        "wider than the goal on cards from 50 Gbit/s",
    ),
    (
        "and a rate per vCPU: 38 to 386 MB/s on the instances of the fitted rows and of AWS's best",
        "28 of 34",
        "10.2 ×",
        "wider than the goal: the processor is not what binds",
    ),
    ("and a share of the card: 32 to 92.5 %, as the fitted rows", "29 of 34", "3.9 ×", "none of them writes to a file"),
    ("and a share of the card: 24 to 92.5 % (in use)", "30 of 34", "3.9 ×", ""),
)

OBJECT_UNSEEN_TEXT = """\
Outside with the client named: {ids}.
Not named: {not_named}.
The first reads 10,000 objects in 1.5 seconds, 6,500 a second where AWS promises "at least 5,500" of one prefix: the
limit is a floor, and the model takes it as a ceiling.
Those of the same page with a command line tool are too fast by 2 to 12 ×: listing and opening 10,000 small files binds
a tool that does it in one thread. An object of many parts ends with its slowest part, which the model does not know of
either.
"""

FAILURE_TEXT = """\
## Time between failures

Each source counts something else as a failure, so they stand side by side and are never averaged.
`mean_time_to_failure` spans them: the middle is RSC-1's rate per node, low and high the most and least often failing
of the published jobs.
"""


def page() -> str:
    default, named = tokens(stack=False), tokens(stack=True)
    seen = unseen()
    rates, saves = object_rates("unseen_storage.csv"), checkpoint_transfers("unseen_storage.csv")
    not_named = object_rates("unseen_storage.csv", client=False)
    s3 = load().options["s3-standard"]
    latency, rate = s3.known("first_byte_latency"), s3.known("per_request_read")
    stacks = ", ".join(f"`{name}`" for name in load().utilisation if name != "published-runs")
    parts = [
        "# How well the model reproduces what others measured",
        "<!-- Written by tests/published/accuracy_page.py; a test fails when it and the model differ. -->",
        START_TEXT,
        TOKENS_TEXT,
        _shares_of_their_own(),
        "From these traits alone, against every published run of the accelerator's family:",
        _scores(default),
        STACK_TEXT.format(stacks=stacks).rstrip(),
        _scores(named),
        LEFT_OUT_TEXT.rstrip(),
        _left_out(),
        LEFT_OUT_AFTER_TEXT.format(
            within=WITHIN,
            spread=spread(),
            attention=ATTENTION_SHARES[-1],
            cards=score(default[CARDS]).median_error,
            unseen_cards=score(one.now for one in seen[UNSEEN_CARDS]).median_error,
        ).rstrip(),
        _approaches(),
        UNSEEN_TEXT.format(count=sum(map(len, seen.values()))).rstrip(),
        _unseen(seen),
        UNSEEN_AFTER_TEXT.format(
            kinds=_table(("kind", "first", "cause", "now"), KINDS, numbers=False),
            run_average=RUN_AVERAGE,
            named_cards=score(one.named for one in seen[UNSEEN_CARDS] if one.named).median_error,
        ),
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
        _scores({"time or rate": checkpoint_transfers(), "time or rate, unseen": saves}),
        CHECKPOINT_UNSEEN_TEXT.format(ids=_outside(saves)),
        OBJECT_TEXT.format(
            low_ms=latency.high * 1e3,
            ms=latency.value * 1e3,
            high_ms=latency.low * 1e3,
            low_rate=rate.low / 1e6,
            rate=rate.value / 1e6,
            high_rate=rate.high / 1e6,
        ).rstrip(),
        _scores(
            {
                "throughput": object_rates(),
                "time of one request": request_times(),
                "throughput, unseen": rates,
                "the same, client not named": not_named,
            }
        ),
        CLIENT_TEXT,
        _table(("tried", "unseen rows inside", "widest", "why not"), CLIENT_APPROACHES, numbers=False),
        OBJECT_UNSEEN_TEXT.format(ids=_outside(rates), not_named=_outside(not_named)),
        FAILURE_TEXT.rstrip(),
        _failures(),
        "Against the range for a job (or fleet) of each row's own size:",
        _rows(failures(), None),
        "## Rows that cannot be compared",
        "\n".join(f"- {reason}: {', '.join(ids)}" for reason, ids in not_compared().items()),
    ]
    return "\n\n".join(part.strip("\n") for part in parts) + "\n"


CARDS, UNSEEN_CARDS = "Meta model cards, whole runs", "whole runs"
#: fms-fsdp: 3,500 of 3,760 tokens/s; Llama 3.1 405B: 15 to 15.6T tokens in 30.84M hours, 135 to 141 of the 150 that
#: 40 % of the peak are (arXiv 2407.21783, as quoted by others); LLaMA 65B: 380 of 380; SmolLM3: 14,141 of 14,000.
RUN_AVERAGE = "fms-fsdp 7B 93, Llama 3.1 405B 90 to 94, LLaMA 65B 100, SmolLM3 101"
_IN_USE = next(name for name in APPROACHES if "in use" in name)


def _table(head: tuple[str, ...], lines: Iterable[tuple[str, ...]], *, numbers: bool = True) -> str:
    marks = tuple("---:" if numbers and column > 0 else "---" for column in range(len(head)))
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


def _shares_of_their_own() -> str:
    """What is told apart besides the stack and the family of precisions, and how many runs it rests on."""
    counts = Counter(
        row.inputs["precision"] if kind == "variant" else kind
        for kind in ("variant", "mixture", "hybrid")
        for row in rows(kind, "collected.csv")
    )
    found = (
        ("`mxfp8`", "one scale a tensor", "pairs", counts["mxfp8"], variant_share("mxfp8")),
        ("`fp8-rowwise`", "one scale a tensor", "pairs", counts["fp8-rowwise"], variant_share("fp8-rowwise")),
        ("mixture of experts in fp8 on H100", "the fp8 peak", "runs", counts["mixture"], mixture_share_of_hopper()),
        ("model of Mamba layers", "the bf16 peak", "runs", counts["hybrid"], hybrid_share()),
    )
    lines = [(what, of, f"{count} {unit}", *(f"{n:.1%}" for n in share)) for what, of, unit, count, share in found]
    return _table(("what", "share of", "rests on", "low", "middle", "high"), lines)


def _approaches() -> str:
    sources = tuple(left_out(APPROACHES[_IN_USE], named=True))
    lines = []
    for name, approach in APPROACHES.items():
        for named in (True, False):
            errors = left_out(approach, named=named)
            medians = (f"{statistics.median(errors[one]):.1%}" if one in errors else "no other" for one in sources)
            lines.append((name, "yes" if named else "no", *medians))
    return _table(("approach", "stack named", *sources), lines)


def _left_out() -> str:
    """By source: in sample, without its stack, without its model."""
    in_sample = {named: tokens(stack=named) for named in (False, True)}
    lines = []
    for source in in_sample[False]:
        line = [source]
        for named in (False, True):
            line.append(f"{score(in_sample[named][source]).median_error:.1%}")
            errors = [one for one in errors_left_out(named=named) if source_of(one[0].row) == source]
            inside = sum(inside for *_, inside in errors)
            median = statistics.median(abs(math.exp(error) - 1.0) for _, error, _ in errors) if errors else None
            line.append("no other" if median is None else f"{median:.1%}, {inside} of {len(errors)} inside")
        lines.append(tuple(line))
    head = ("source", "no stack named", "from other stacks", "stack named", "from other models")
    return _table(head, lines)


def _unseen(seen: dict[str, list[Unseen]]) -> str:
    lines = []
    for group, runs in seen.items():
        first, now = score(one.first for one in runs), score(one.now for one in runs)
        named = [one.named for one in runs if one.named]
        line = [group, str(len(runs))]
        for found in (first, now, score(named) if named else None):
            line += ["", ""] if found is None else [f"{found.median_error:.0%}", f"{found.inside} of {found.count}"]
        lines.append((*line, f"{now.widest:.1f} ×"))
    head = ("group", "rows", "first: error", "inside", "now: error", "inside", "named: error", "inside", "widest")
    return _table(head, lines)


def _outside(compared: list[Compared]) -> str:
    *first, last = (one.row.id for one in compared if not one.inside)
    return f"{', '.join(first)} and {last}" if first else last


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
