"""What would change the answer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from gpufeed.facts.messages import text
from gpufeed.model.flip import Sensitivity
from gpufeed.model.flip_traits import Trait
from gpufeed.model.recommendation import FlipPoint
from gpufeed.present import words
from gpufeed.present.tables.frame import table

if TYPE_CHECKING:
    import pandas as pd


def sensitivity(found: Sequence[Sensitivity]) -> pd.DataFrame:
    """One row per trait, the nearest flip first: its value now, and the first change on either side of it."""
    return table(
        ("trait", "today", "less", "more"),
        (
            (
                text(f"trait.{one.trait.name}"),
                today(one.trait),
                _first_change(one, one.below, one.trait.low),
                _first_change(one, one.above, one.trait.high),
            )
            for one in nearest_first(found)
        ),
    )


def nearest_first(found: Iterable[Sensitivity]) -> list[Sensitivity]:
    """Traits by how little they have to change."""
    return sorted(found, key=lambda one: one.factor)


def today(trait: Trait) -> str:
    """Its value now; a default is called one."""
    if trait.now is None:
        return text("flip.not-stated")
    value = words.trait_value(trait.now, trait.unit)
    return value if trait.stated else text("flip.by-default", value=value)


def _first_change(one: Sensitivity, flip: FlipPoint | None, end: float) -> str:
    """All roles that change there, and to what; or how far the answer stays."""
    trait = one.trait
    if flip is not None:
        return moved([other for other in one.flips if other.at == flip.at])
    if trait.now == end:
        return text("flip.end")
    return text("flip.none-above" if end == trait.high else "flip.none-below", at=words.trait_value(end, trait.unit))


def moved(flips: Sequence[FlipPoint]) -> str:
    """Flips at one value in a few words; roles that go to the same option together."""
    options = dict.fromkeys(flip.option for flip in flips)
    separator = text("present.list-separator")
    return separator.join(
        text(
            "flip.moved",
            roles=separator.join(words.role(flip.role) for flip in flips if flip.option == option),
            option=words.option(option),
            at=words.trait_value(flips[0].at, flips[0].unit),
        )
        for option in options
    )


def flips(found: Iterable[Sensitivity]) -> list[str]:
    """A sentence for each flip, with the reason, the nearest first; one that says so where there is none."""
    said = [words.flip_point(flip) for one in nearest_first(found) for flip in one.flips]
    return said or [text("flip.nothing")]
