"""Ids by the names people know them by, in the language in force."""

from __future__ import annotations

from gpufeed.facts.messages import catalogue, language, text
from gpufeed.model import recommendation as said


def option(id_: str | None) -> str:
    return text(f"option.{id_}") if id_ else text("present.none")


def on_bucket(option_id: str, backed_by: str | None) -> str:
    """The option, and what backs it where it is a way onto a bucket."""
    if not backed_by or backed_by == option_id:
        return option(option_id)
    return text("present.backed-by", option=option(option_id), backing=option(backed_by))


def system(answer: said.OptionAnswer) -> str:
    """One of the five systems, as it is named beside its figures."""
    return on_bucket(answer.option, answer.backed_by)


def saver(answer: said.OptionAnswer, saving: said.Saving) -> str:
    """One of the five systems as the place of the checkpoints: a file system for them may be another than the one that
    stands beside the figures of the reads.
    """
    configuration = saving.supply.configuration
    if configuration == answer.supply.configuration:
        return system(answer)
    holds = "checkpoints-alone" if saving.own is not None else "reads-and-checkpoints"
    return text(f"present.file-system.{holds}", gib=f"{configuration['storage_capacity_gib']:,.0f}")


def role(id_: str) -> str:
    return text(f"role.{id_}")


def task(id_: str) -> str:
    return text(f"task.{id_}")


def yes_no(answer: bool | None) -> str:
    """A condition that holds, does not, or is not known."""
    return text("present.unknown" if answer is None else "present.yes" if answer else "present.no")


def limit(id_: str | None) -> str:
    """What an option's rate is limited by."""
    return text(f"limit.{id_}") if id_ else text("present.unknown")


def verdict(id_: str) -> str:
    return text(f"verdict.{id_}")


def decided_by(id_: str) -> str:
    return text(f"decided-by.{id_}")


def measured(placed: said.Placement) -> str:
    """What a measurement says of a data role, and what it was good for."""
    if not placed.measured_used_as:
        return text("present.nothing-measured")
    on = option(placed.measured) if placed.measured else text("present.no-option")
    return text("present.used-as", option=on, used_as=text(f"used-as.{placed.measured_used_as}"))


def rule(id_: str) -> str:
    """The sentence of a published rule."""
    return text(f"rule.{id_}")


def gap(id_: str) -> str:
    """What the published rule leaves open, and how it was settled here."""
    return text(f"rule.gap.{id_}")


def figure(name: str) -> str:
    """What a figure of the plan is called; one that has no name of its own here keeps its id."""
    said_as = catalogue(language())
    if name.startswith(f"{said.FOR_SAVES}."):
        return text("figure-of.for-saves", figure=figure(name.removeprefix(f"{said.FOR_SAVES}.")))
    *_, group, last = ("", *name.split("."))
    if group == "limits":
        return text("figure-of.limit", limit=limit(last))
    if name.startswith("cost.lines."):
        what, _, again = last.partition("-")  # lines of one name are graduated bands, counted on
        of_line = text(f"figure-of-line.{what}", line=text(f"cost.{group}"))
        return text("figure-of.band", figure=of_line, number=again) if again else of_line
    return said_as.get(f"figure.{name}", name)


def cost_line(line: said.CostLine) -> str:
    """What a line of the bill is for, and where its price is no ordinary one, which."""
    named = text(f"cost.{line.id}")
    return text("cost-price.by-capacity-block", line=named) if line.by_capacity_block else named


def basis(id_: str) -> str:
    """Where a number comes from, by mark and word: published, measured, stated, assumed or derived."""
    return text(f"basis.{id_}")


def trait(name: str) -> str:
    """The label of a workload field."""
    return text(f"field.{name}")


def region(id_: str) -> str:
    """Id and name of a Region, id first so that typing it finds it in a list: ``eu-central-1 · Europe (Frankfurt)``."""
    return text("present.named-region", region=id_, name=text(f"region.{id_}"))
