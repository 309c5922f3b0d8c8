"""The answer of a plan in sentences, as panels and reports say it alike."""

from __future__ import annotations

from collections.abc import Callable

from gpufeed.facts.messages import text
from gpufeed.model.recommendation import Recommendation
from gpufeed.model.rules import RuleAnswer, precedence
from gpufeed.present import words
from gpufeed.present.tables.plan import placed_on


def headline(recommendation: Recommendation | None) -> str:
    """The one number: how fed the GPUs are."""
    fed = recommendation.fed if recommendation else None
    return text("panel.headline", fed=words.quantity(fed))


def verdict(recommendation: Recommendation) -> str:
    """What the training reads go to, and what the published rule alone says."""
    placement = recommendation.placements["training_reads"]
    rule = recommendation.rule
    said = text(
        "panel.recommended",
        option=placed_on(placement),
        decided_by=words.decided_by(placement.decided_by),
        verdict=words.verdict(rule.verdict),
        rule_option=words.option(rule.option),
    )
    if rule.also_allowed:
        names = text("present.list-separator").join(words.option(option) for option in rule.also_allowed)
        said += text("panel.also-allowed", options=names)
    return said + text("present.full-stop")


def bill_heading(recommendation: Recommendation) -> str:
    """Whose bill it is."""
    return text("panel.bill" if recommendation.bills_checkpoints else "panel.bill-without-checkpoints")


def checkpoint_heading(recommendation: Recommendation) -> str:
    """What is saved, and how often."""
    demand = recommendation.demand
    return text(
        "panel.checkpoints",
        size=words.quantity(demand.checkpoint_bytes),
        interval=words.duration(demand.checkpoint_interval),
        mode=text(f"mode.{demand.checkpoint_mode}"),
    )


def rule_sentences(recommendation: Recommendation) -> list[str]:
    """Each rule that fired, with its id, and what the source leaves open."""
    rule = recommendation.rule
    fired = [text("panel.rule", id=id_, sentence=words.rule(id_)) for id_ in rule.rules]
    return fired + precedences(rule) + [words.gap(gap) for gap in rule.gaps]


def precedences(rule: RuleAnswer) -> list[str]:
    """Which of the rules that fired gave way to which; nothing where they agree."""
    found = precedence(rule)
    if found is None:
        return []
    won, lost = (text("present.list-separator").join(ids) for ids in found)
    return [text("panel.rule-precedence", won=won, lost=lost)]


def warnings(recommendation: Recommendation, field: Callable[[str], str] | None = None) -> list[str]:
    """What the reader must know, grave or not; ``field`` as for :func:`words.warning`."""
    return [words.warning(warning, field) for warning in recommendation.warnings]
