"""What each option costs, in parts and line by line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gpufeed.facts import load
from gpufeed.facts.messages import text
from gpufeed.facts.quantity import Quantity
from gpufeed.model.cost import sum_of
from gpufeed.model.recommendation import Cost, Recommendation
from gpufeed.present import words
from gpufeed.present.tables.frame import table

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class Costing:
    """What is compared by its cost: its total, and the parts that make it, by column; None is "not priced"."""

    option: str | None  # None: the whole plan
    name: str  # with what backs it
    cost: Cost
    parts: Mapping[str, Quantity | None]


def costs(recommendation: Recommendation) -> pd.DataFrame:
    """What the run costs, in parts, as :func:`costings` orders it; each row says what it holds."""
    parts = cost_parts(recommendation)
    return table(
        ("option", "holds", *parts, "total", "not-priced"),
        (
            (
                row.name,
                _holds(row, recommendation),
                *(amount(row.parts[name], row.cost) if name in row.parts else "–" for name in parts),
                amount(row.cost.total, row.cost),
                not_priced(row.cost),
            )
            for row in costings(recommendation)
        ),
    )


def _holds(row: Costing, plan: Recommendation) -> str:
    """What is in a total: those of options leave the checkpoints out, so they stand beside each other alone."""
    if row.option is None:
        return text("cost-holds.reads-and-checkpoints")
    if row.option != plan.recommended:
        return text("cost-holds.reads")
    answer = plan.option(row.option)
    with_room = answer.without_checkpoints is not None or answer.without_checkpoints_elsewhere is not None
    return text("cost-holds.reads-with-room" if with_room else "cost-holds.reads-of-plan")


def costings(recommendation: Recommendation) -> list[Costing]:
    """The whole plan where checkpoints are in its bill, then reading alone from each option.

    Options are ordered by their total; those whose total is not known are ranked apart, after the others.
    """
    ranked = sorted(
        recommendation.options,
        key=lambda answer: (answer.cost.total is None, answer.cost.total.value if answer.cost.total else 0),
    )
    reading = [Costing(answer.option, words.system(answer), answer.cost, _parts(answer.cost)) for answer in ranked]
    return [_whole(recommendation), *reading] if recommendation.bills_checkpoints else reading


def _whole(plan: Recommendation) -> Costing:
    """The parts of the reads, the checkpoints beside them, and the GPUs that wait for either."""
    kept = [line for line in plan.saving(plan.placements["checkpoints"].option).lines if line.part != "idle-gpu"]
    apart = {"checkpoints": sum_of(plan.currency, kept), "idle-gpus": plan.cost.idle_gpu}
    return Costing(None, text("cost.whole-plan"), plan.cost, {**_parts(plan.option(plan.recommended).cost), **apart})


#: The parts of a total, in the order they are shown: column → field of the cost.
_COST_PARTS = {
    "storage": "storage",
    "requests": "requests",
    "transfer": "transfer",
    "kms": "kms",
    "loading": "loading_shown",
    "checkpoints": "",  # of the whole plan only
    "idle-gpus": "idle_gpu",
}
_ONLY_WHERE_CHARGED = ("transfer", "kms", "loading", "checkpoints")


def cost_parts(recommendation: Recommendation) -> list[str]:
    """The parts that a total is made of here: the way to the bucket and its keys only where an option pays for them."""

    charged = {line.part for answer in recommendation.options for line in answer.cost.lines}
    if recommendation.bills_checkpoints:
        charged.add("checkpoints")
    return [name for name in _COST_PARTS if name not in _ONLY_WHERE_CHARGED or name in charged]


def _parts(cost: Cost) -> dict[str, Quantity | None]:
    """The amounts of one bill by the name of their columns."""
    return {name: getattr(cost, field) for name, field in _COST_PARTS.items() if field}


def bill(recommendation: Recommendation, option: str | None = None) -> pd.DataFrame:
    """The cost of the whole plan, or of one option, line by line, each an amount × a price, then the sums."""
    cost = recommendation.cost if option is None else recommendation.option(option).cost
    sources = load().sources
    rows = [
        (
            words.cost_line(line),
            words.quantity(line.bound(line.quantity), "present.no-amount"),
            words.unit_price(line.unit_price, line.unit, cost.currency),
            amount(line.bound(line.amount), cost),
            words.cited(line.unit_price, sources),
        )
        for line in cost.lines
    ]
    sums = (("beyond-base", cost.beyond_base), ("total", cost.total))
    rows += [(text(f"cost-sum.{name}"), "", "", amount(sum_, cost), "") for name, sum_ in sums]
    return table(("cost-line", "billed", "unit-price", "cost", "sources"), rows)


def amount(part: Quantity | None, cost: Cost) -> str:
    """Money in the cost's currency, or "not priced"."""
    return words.priced(part, cost.currency)


def not_priced(cost: Cost) -> str:
    """The lines without an amount, by name; empty where all are priced."""
    return text("present.list-separator").join(text(f"cost.{part}") for part in cost.not_priced)
