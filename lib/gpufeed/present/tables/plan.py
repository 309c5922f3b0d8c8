"""The plan: where each data role goes and why, and what each option gives."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from gpufeed.facts.messages import text
from gpufeed.model.course import Step
from gpufeed.model.recommendation import FirstEpoch, LaterEpochs, Placement, Recommendation, Saving
from gpufeed.present import words
from gpufeed.present.tables.frame import table

if TYPE_CHECKING:
    import pandas as pd


def placements(recommendation: Recommendation) -> pd.DataFrame:
    """Where each data role goes, and what to order for it."""
    return table(
        ("role", "option", "configuration"),
        ((words.role(p.role), placed_on(p), configuration(p)) for p in recommendation.placements.values()),
    )


def opinions(recommendation: Recommendation) -> pd.DataFrame:
    """The published rule, the model and a measurement side by side per data role, and which of them decided."""
    return table(
        ("role", "rule", "model", "measured", "decided-by"),
        (
            (
                words.role(p.role),
                words.option(p.rule),
                words.option(p.model) if p.model else text("present.unknown"),
                words.measured(p),
                words.decided_by(p.decided_by),
            )
            for p in recommendation.placements.values()
        ),
    )


def why(recommendation: Recommendation) -> list[str]:
    """For each data role, why it goes where it goes."""
    return [
        text("panel.why", role=words.role(p.role), reasons=words.sentences(*(words.reason(r) for r in p.reasons)))
        for p in recommendation.placements.values()
    ]


def placed_on(p: Placement) -> str:
    """The option, and what backs it where it is a way onto a bucket."""
    return words.on_bucket(p.option, p.backed_by)


def configuration(p: Placement) -> str:
    """Settings that go with the placement: configuration, and for checkpoints mode and interval."""
    settings = [words.setting(name, value) for name, value in p.configuration.items() if value]
    if p.mode:
        settings.append(text(f"mode.{p.mode}"))
    if p.interval is not None:
        settings.append(text("present.every", duration=words.duration(p.interval)))
    return text("present.list-separator").join(settings) or "–"


def options(recommendation: Recommendation) -> pd.DataFrame:
    """The five systems: verdict, rate, how fed, what limits, and why."""
    return table(
        ("option", "verdict", "read-rate", "fed", "limited-by", "reasons"),
        (
            (
                words.system(answer),
                words.verdict(answer.verdict),
                words.quantity(answer.supply.read_bytes_per_s),
                words.quantity(answer.fed),
                words.limit(answer.supply.limited_by),
                words.sentences(*map(words.reason, answer.reasons)),
            )
            for answer in recommendation.options
        ),
    )


def epochs(recommendation: Recommendation) -> pd.DataFrame:
    """The first pass over the data on each system, apart from the later ones and what serves those.

    It stands as it is when S3 is read through, also where the plan loads before the GPUs start.
    """
    return table(
        (
            "option",
            "loaded-before",
            "first-epoch-time",
            "first-epoch-fed",
            "first-epoch-limit",
            "later-epochs-fed",
            "later-epochs-from",
        ),
        (
            (
                words.system(answer),
                "–"
                if answer.first_epoch.loading is None
                else words.quantity(answer.first_epoch.bound(answer.first_epoch.loading)),
                words.quantity(answer.first_epoch.takes),
                words.quantity(answer.first_epoch.fed),
                _first_limit(answer.first_epoch),
                *_later(answer.later_epochs),
            )
            for answer in recommendation.options
        ),
    )


def _first_limit(first: FirstEpoch) -> str:
    return text("epochs.gpu-speed") if first.at_gpu_speed else words.limit(first.limited_by)


def bursts(recommendation: Recommendation) -> pd.DataFrame:
    """The start of a job and of an epoch, and evaluations, on each system; only columns in which something is known."""
    answers = recommendation.options
    known = {
        name: [getattr(answer.bursts, name.replace("-", "_")) for answer in answers]
        for name in ("base-model-seconds", "first-batch-seconds", "listing-seconds", *_OF_EVALUATIONS)
    }
    shown = {name: values for name, values in known.items() if any(value is not None for value in values)}
    rows = zip((words.option(answer.option) for answer in answers), *shown.values(), strict=True)
    return table(("option", *shown), ((name, *map(words.quantity, row)) for name, *row in rows))


_OF_EVALUATIONS = ("evaluation-seconds", "evaluation-fed")


def _later(later: LaterEpochs | None) -> tuple[str, str]:
    if later is None:
        return "–", text("epochs.only-one")
    return words.quantity(later.fed), words.served_by(later)


def checkpoints(recommendation: Recommendation) -> pd.DataFrame:
    """Saving and restoring on each system: how long, what of it the GPUs wait for, and what that costs."""
    currency = recommendation.currency
    return table(
        ("option", "save-time", "stall-time", "stall-share", "fits-interval", "restore-time", "saving-total"),
        (
            (
                words.saver(answer, recommendation.saving(answer.option)),
                words.quantity(answer.stall.save_seconds),
                words.quantity(answer.stall.stall_seconds),
                words.quantity(answer.stall.share),
                words.yes_no(answer.stall.fits_interval),
                words.quantity(answer.stall.restore_seconds),
                _saving_total(recommendation.saving(answer.option), currency),
            )
            for answer in recommendation.options
        ),
    )


def _saving_total(saving: Saving, currency: str) -> str:
    missing = "present.not-priced" if saving.lines else "present.unknown"
    return words.quantity(saving.total and saving.total.named(currency), missing)


def supplies(recommendation: Recommendation) -> pd.DataFrame:
    """What each option gives beside what the GPUs ask."""
    demand = recommendation.demand.read_bytes_per_s
    return table(
        ("option", "read-rate", "demand", "fed", "limited-by"),
        (
            (
                words.system(answer),
                words.quantity(answer.supply.read_bytes_per_s),
                words.quantity(demand),
                words.quantity(answer.fed),
                words.limit(answer.supply.limited_by),
            )
            for answer in recommendation.options
        ),
    )


def course(steps: Iterable[Step]) -> pd.DataFrame:
    """The course of the run, a step a row: when, what, and how long it takes; deleting is not waited for."""
    return table(
        ("when", "step", "takes"),
        (
            (text(f"course.when.{step.when}"), words.step(step), words.quantity(step.seconds) if step.timed else "–")
            for step in steps
        ),
    )
