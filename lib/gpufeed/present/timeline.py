"""What to do when: before the GPUs are paid for, while they train, and before anything is deleted."""

from __future__ import annotations

from collections.abc import Iterator

from gpufeed.facts.messages import text
from gpufeed.model.recommendation import Recommendation
from gpufeed.model.rules import EXPRESS, FSX, S3_FILES
from gpufeed.present import words

#: What has to be created, in the zone of the instances, before data is there.
_CREATED = (FSX, S3_FILES, EXPRESS)
#: First epochs that wait for data to be loaded from S3.
_LOADING = ("hydrate", "import")


def steps(plan: Recommendation) -> dict[str, list[str]]:
    """When → what, in order."""
    found: dict[str, list[str]] = {}
    for when, what in _steps(plan):
        found.setdefault(text(f"timeline.{when}"), []).append(what)
    return found


def _steps(plan: Recommendation) -> Iterator[tuple[str, str]]:
    placed = plan.placements
    used = {option for place in placed.values() for option in (place.option, place.backed_by)}
    created = [option for option in _CREATED if option in used]
    saves, kept, scratch = placed["checkpoints"], placed["key_checkpoints"], placed["scratch"]
    for option in created:
        yield "before", text(f"timeline.create.{option}")
    first = plan.option(plan.recommended).first_epoch
    if first.limited_by in _LOADING:
        yield "before", text("timeline.load", seconds=words.quantity(first.seconds))
    yield (
        "while",
        text(
            "timeline.save",
            option=words.option(saves.option),
            every=words.duration(saves.interval),
            durable=words.option(kept.option),
        ),
    )
    if saves.option in created:
        yield "after", text(f"timeline.prove.{saves.option}")
    for option in created:
        yield "after", text("timeline.delete", option=words.option(option))
    if scratch.delete_when:
        when = text(f"delete-when.{scratch.delete_when}")
        yield "after", text("timeline.scratch", option=words.option(scratch.option), when=when)
