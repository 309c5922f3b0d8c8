"""What each option costs, in parts and line by line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpufeed.facts import load
from gpufeed.facts.messages import text
from gpufeed.facts.quantity import Quantity
from gpufeed.model.recommendation import Cost, OptionAnswer, Recommendation
from gpufeed.present import words
from gpufeed.present.tables.frame import table

if TYPE_CHECKING:
    import pandas as pd


def costs(recommendation: Recommendation) -> pd.DataFrame:
    """What each option costs for the run; options with a part that is not priced come last and name it."""
    parts = cost_parts(recommendation)
    return table(
        ("option", *parts, "total", "not-priced"),
        (
            (
                words.system(answer),
                *(amount(part_of(answer, name), answer.cost) for name in parts),
                amount(answer.cost.total, answer.cost),
                not_priced(answer),
            )
            for answer in priced_first(recommendation)
        ),
    )


#: The parts of a total, in the order they are shown: column → field of the cost.
_COST_PARTS = {
    "storage": "storage",
    "requests": "requests",
    "transfer": "transfer",
    "kms": "kms",
    "loading": "loading",
    "idle-gpus": "idle_gpu",
}
_ONLY_WHERE_CHARGED = ("transfer", "kms", "loading")


def cost_parts(recommendation: Recommendation) -> list[str]:
    """The parts that a total is made of here: the way to the bucket and its keys only where an option pays for them."""

    charged = {line.part for answer in recommendation.options for line in answer.cost.lines}
    return [name for name in _COST_PARTS if name not in _ONLY_WHERE_CHARGED or name in charged]


def part_of(answer: OptionAnswer, name: str) -> Quantity | None:
    """The amount of one part, by the name of its column; None is "not priced"."""
    part: Quantity | None = getattr(answer.cost, _COST_PARTS[name])
    return part


def bill(recommendation: Recommendation, option: str | None = None) -> pd.DataFrame:
    """The cost of the whole plan, or of one option, line by line, each an amount × a price, then the sums."""
    cost = recommendation.cost if option is None else recommendation.option(option).cost
    sources = load().sources
    rows = [
        (
            text(f"cost.{line.id}"),
            words.quantity(line.quantity, "present.no-amount"),
            words.unit_price(line.unit_price, line.unit, cost.currency),
            amount(line.amount, cost),
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


def priced_first(recommendation: Recommendation) -> list[OptionAnswer]:
    """Options by their total; those whose total is not known are ranked apart, after the others."""
    return sorted(
        recommendation.options,
        key=lambda answer: (answer.cost.total is None, answer.cost.total.value if answer.cost.total else 0),
    )


def not_priced(answer: OptionAnswer) -> str:
    """The lines without an amount, by name; empty where all are priced."""
    return text("present.list-separator").join(text(f"cost.{part}") for part in answer.cost.not_priced)
