"""What the charts and panels show, as tables: the form that is read aloud, copied, and stored in a notebook."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from gpufeed.facts.messages import text
from gpufeed.facts.quantity import Quantity
from gpufeed.model.profile import PrefixProfile, Tally
from gpufeed.model.recommendation import OptionAnswer, Placement, Recommendation
from gpufeed.present import words
from gpufeed.present.escape import visible

if TYPE_CHECKING:
    import pandas as pd

ROWS_SHOWN = 12


def table(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> pd.DataFrame:
    """Rows of text under translated headings (``column.<id>``)."""
    import pandas as pd

    return pd.DataFrame(list(rows), columns=[text(f"column.{name}") for name in columns])


# ---- choose ----------------------------------------------------------------------------------------------------------


def placements(recommendation: Recommendation) -> pd.DataFrame:
    """Where each data role goes, who decided, and the three opinions side by side."""
    return table(
        ("role", "option", "configuration", "decided-by", "rule", "model", "measured"),
        (_placement(placement) for placement in recommendation.placements.values()),
    )


def _placement(p: Placement) -> tuple[str, ...]:
    measured = words.option(p.measured) if p.measured_used_as else text("present.nothing-measured")
    if p.measured_used_as:
        measured = text("present.used-as", option=measured, used_as=text(f"used-as.{p.measured_used_as}"))
    return (
        words.role(p.role),
        placed(p),
        configuration(p),
        words.decided_by(p.decided_by),
        words.option(p.rule),
        words.option(p.model),
        measured,
    )


def placed(p: Placement) -> str:
    """The option, and what backs it where it is a way onto a bucket."""
    name = words.option(p.option)
    if not p.backed_by or p.backed_by == p.option:
        return name
    return text("present.backed-by", option=name, backing=words.option(p.backed_by))


def configuration(p: Placement) -> str:
    """Settings that go with the placement: configuration, and for checkpoints mode and interval."""
    settings = [words.setting(name, value) for name, value in p.configuration.items() if value is not None]
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
                words.option(answer.option),
                words.verdict(answer.verdict),
                words.quantity(answer.supply.read_bytes_per_s),
                words.quantity(answer.fed),
                words.limit(answer.supply.limited_by),
                " ".join(words.reason(reason) for reason in answer.reasons),
            )
            for answer in recommendation.options
        ),
    )


def costs(recommendation: Recommendation) -> pd.DataFrame:
    """What each option costs for the run; options with a part that is not priced come last and name it."""
    return table(
        ("option", "storage", "requests", "idle-gpus", "total", "not-priced"),
        (
            (
                words.option(answer.option),
                *(
                    words.quantity(part, "present.not-priced")
                    for part in (answer.cost.storage, answer.cost.requests, answer.cost.idle_gpu, answer.cost.total)
                ),
                not_priced(answer),
            )
            for answer in priced_first(recommendation)
        ),
    )


def priced_first(recommendation: Recommendation) -> list[OptionAnswer]:
    """Options by their total; those whose total is not known are ranked apart, after the others."""
    return sorted(
        recommendation.options,
        key=lambda answer: (answer.cost.total is None, answer.cost.total.value if answer.cost.total else 0),
    )


def not_priced(answer: OptionAnswer) -> str:
    return text("present.list-separator").join(text(f"cost.{part}") for part in answer.cost.not_priced)


def supplies(recommendation: Recommendation) -> pd.DataFrame:
    """What each option gives beside what the GPUs ask."""
    demand = recommendation.demand.read_bytes_per_s
    return table(
        ("option", "read-rate", "demand", "fed", "limited-by"),
        (
            (
                words.option(answer.option),
                words.quantity(answer.supply.read_bytes_per_s),
                words.quantity(demand),
                words.quantity(answer.fed),
                words.limit(answer.supply.limited_by),
            )
            for answer in recommendation.options
        ),
    )


# ---- measure ---------------------------------------------------------------------------------------------------------


def sweep(steps: Sequence[tuple[int, float]], demand: Quantity | None) -> pd.DataFrame:
    """Measured rate per concurrency beside what the GPUs ask."""
    asked = words.network_rate(demand.value) if demand else words.quantity(None)
    return table(
        ("concurrency", "read-rate", "demand"),
        ((words.count(concurrency), words.network_rate(rate), asked) for concurrency, rate in steps),
    )


def series(points: Sequence[tuple[float, float]]) -> pd.DataFrame:
    """Rate over time, as drawn: seconds and bytes/s."""
    return table(("seconds", "bytes-per-second"), points)


# ---- inspect ---------------------------------------------------------------------------------------------------------


def sizes(profile: PrefixProfile) -> pd.DataFrame:
    """Objects and bytes by size."""
    return table(
        ("up-to", "objects", "bytes"),
        (
            (words.binary_size(row["up_to"]), words.count(row["objects"]), words.size(row["bytes"]))
            for row in profile.by_size()
        ),
    )


def prefixes(profile: PrefixProfile) -> pd.DataFrame:
    return _tally("prefix", profile.prefixes)


def extensions(profile: PrefixProfile) -> pd.DataFrame:
    return _tally("extension", profile.extensions)


def storage_classes(profile: PrefixProfile) -> pd.DataFrame:
    return _tally("storage-class", profile.storage_classes)


def largest(tally: Tally, rows: int = ROWS_SHOWN) -> list[tuple[str, int, int]]:
    """(name, objects, bytes) of the largest rows, and one last row that sums all others."""
    ordered = tally.largest_first()
    shown = [(_name(name), objects, size) for name, objects, size in ordered[:rows]]
    rest = [(objects, size) for _, objects, size in ordered[rows:]] + [(tally.other[0], tally.other[1])]
    objects, size = (sum(row[column] for row in rest) for column in (0, 1))
    return [*shown, (text("present.all-others"), objects, size)] if objects else shown


def _name(name: str | None) -> str:
    return text("present.none-given") if not name else visible(name)


def _tally(label: str, tally: Tally) -> pd.DataFrame:
    return table(
        (label, "objects", "bytes"),
        ((name, words.count(objects), words.size(size)) for name, objects, size in largest(tally)),
    )
