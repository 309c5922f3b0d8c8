"""What stands in a report, whatever it is written as: sections of sentences, tables and charts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import pandas as pd

from gpufeed.facts import Fact, Facts, Price, Source, WatchedFacts
from gpufeed.facts.errors import InputError
from gpufeed.facts.messages import text
from gpufeed.model.advise import recommend
from gpufeed.model.alternatives import alternatives, what_pays
from gpufeed.model.checkpoint_plan import checkpoint_plan
from gpufeed.model.course import course
from gpufeed.model.explain import Figure, explain
from gpufeed.model.flip import STEPS_PER_DECADE, sensitivities
from gpufeed.model.recommendation import OptionAnswer, Placement, Reason, Recommendation
from gpufeed.model.study import Study
from gpufeed.present import answer, charts, derivation, tables, words
from gpufeed.present.charts import Drawing
from gpufeed.present.fields import stated
from gpufeed.present.tables.cost import amount
from gpufeed.present.tables.frame import table
from gpufeed.present.tables.plan import configuration, placed_on


@dataclass(frozen=True, slots=True)
class Cited:
    """A sentence, or a cell of a table, and the ids of the sources it rests on."""

    sentence: str
    sources: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Address:
    """A title that leads to an address; None where no address is known."""

    title: str
    url: str | None
    anchor: str = ""  # the id by which the rest of the report points here


#: A sentence, a list of sentences, a table of text, or a chart.
Block: TypeAlias = "str | list[Cited] | pd.DataFrame | Drawing"


@dataclass(frozen=True, slots=True)
class Section:
    """A title, what stands under it, and sections of its own."""

    title: str
    blocks: tuple[Block, ...] = ()
    parts: tuple[Section, ...] = ()
    appendix: bool = False  # for looking things up: set smaller


@dataclass(frozen=True, slots=True)
class Content:
    title: str
    job: str
    headline: str
    verdict: str
    figures: tuple[tuple[str, str], ...]  # (what, how much)
    made: str
    sections: tuple[Section, ...]


def content(study: Study, facts: Facts, *, made: str, version: str) -> Content:
    """The plan of a study made anew, with what it rests on.  Raises InputError for a study without a workload."""
    workload = study.workload
    if workload is None:
        raise InputError("study.no-workload")
    watched = facts.watched()
    plan = recommend(workload, watched, profile=study.profile, measurement=study.measurement)
    reads = plan.option(plan.recommended)
    checkpoints = plan.option(plan.placements["checkpoints"].option)
    cost_of = "report.figure.cost" if plan.bills_checkpoints else "report.figure.cost-of-reads"
    machine = workload.instance_type or workload.accelerator
    return Content(
        title=text("report.title"),
        job=text(
            "report.job", task=words.task(workload.task), instances=words.count(workload.instances), machine=machine
        ),
        headline=answer.headline(plan),
        verdict=answer.verdict(plan),
        figures=(
            (text("report.figure.demand"), words.quantity(plan.demand.read_bytes_per_s)),
            (text("report.figure.supply"), words.quantity(reads.supply.read_bytes_per_s)),
            (text(cost_of), amount(plan.cost.total, plan.cost)),
            (text("report.figure.stall"), words.quantity(checkpoints.stall.share)),
        ),
        made=text("report.made", made=made, version=version, region=plan.region),
        sections=tuple(_sections(study, plan, facts, watched)),
    )


def _sections(study: Study, plan: Recommendation, facts: Facts, watched: WatchedFacts) -> Iterator[Section]:
    yield _warnings(plan)
    yield Section(text("report.plan"), parts=tuple(_role(placed) for placed in plan.placements.values()))
    yield _alternatives(study, plan, watched)
    yield _course(study, plan, watched)
    yield _options(plan)
    yield Section(text("panel.epochs"), (tables.epochs(plan),))
    yield Section(text("panel.bursts"), (tables.bursts(plan),))
    bill = Section(answer.bill_heading(plan), (tables.bill(plan),))
    yield Section(text("report.costs"), (text("report.costs.note"), charts.cost(plan), tables.costs(plan)), (bill,))
    yield _checkpoints(plan, watched)
    yield _flips(study, plan, facts)
    yield Section(text("report.rules"), (_cited(answer.rule_sentences(plan)),))
    yield from _seen(study, plan)
    yield Section(text("report.workload"), (_table(("trait", "stated"), stated(plan.workload, plan.currency)),))
    yield _steps(study, plan, facts)
    yield _assumptions(watched)
    yield _facts(watched)
    yield _sources(plan, facts, watched)


def _warnings(plan: Recommendation) -> Section:
    said = _cited(answer.warnings(plan)) or [Cited(text("report.no-warnings"))]
    return Section(text("report.warnings"), (said,))


def _role(placed: Placement) -> Section:
    """Where one kind of data goes: configuration, who decided, the opinions, and why."""
    said = []
    if placed.configuration or placed.mode:
        said.append(Cited(text("report.configuration", configuration=configuration(placed))))
    said += [
        Cited(
            text(
                "report.opinions",
                decided_by=words.decided_by(placed.decided_by),
                rule=words.option(placed.rule),
                model=words.option(placed.model) if placed.model else text("present.unknown"),
                measured=words.measured(placed),
            )
        ),
        *_reasons(placed.reasons),
    ]
    if placed.delete_when:
        said.append(Cited(text("report.delete", when=text(f"delete-when.{placed.delete_when}"))))
    return Section(text("report.role", role=words.role(placed.role), option=placed_on(placed)), (said,))


def _alternatives(study: Study, plan: Recommendation, facts: Facts) -> Section:
    """Other settings of the job that would pay, with what each saves."""
    found = alternatives(plan, facts, profile=study.profile, measurement=study.measurement)
    return Section(text("alternatives.heading"), (_reasons(what_pays(plan, found)),))


def _course(study: Study, plan: Recommendation, facts: Facts) -> Section:
    """The course of the run, a step a row."""
    return Section(text("course.heading"), (tables.course(course(plan, facts, study.profile)),))


def _options(plan: Recommendation) -> Section:
    """The five systems side by side, then why each one is, or is not, the answer."""
    rows = (
        (
            words.system(system),
            words.verdict(system.verdict),
            words.quantity(system.supply.read_bytes_per_s),
            words.quantity(system.fed),
            words.limit(system.supply.limited_by),
        )
        for system in plan.options
    )
    compared = table(("option", "verdict", "read-rate", "fed", "limited-by"), rows)
    why = tuple(_why(system) for system in plan.options)
    return Section(text("report.options"), (charts.supply_vs_demand(plan), compared), why)


def _why(system: OptionAnswer) -> Section:
    title = text("report.option", option=words.system(system), verdict=words.verdict(system.verdict))
    return Section(title, (_reasons(system.reasons) or [Cited(text("report.nothing-against"))],))


def _checkpoints(plan: Recommendation, facts: Facts) -> Section:
    """A save from its first byte to the copy that lasts, what it costs the run, and what restoring takes."""
    found = checkpoint_plan(plan, facts)
    said = _cited([answer.checkpoint_heading(plan), *tables.checkpoint_sentences(found)])
    if found.size is None:
        return Section(text("report.checkpoints"), (said,))
    parts = (
        Section(text("panel.timeline"), (charts.save_timeline(found), tables.timelines(found))),
        Section(text("panel.goodput"), (charts.goodput_over_interval(found), tables.goodput(found))),
        Section(text("panel.saves"), (tables.saves(found),)),
        Section(text("panel.restores"), (tables.restores(found),)),
        Section(text("panel.retention"), (tables.retention(found),)),
    )
    return Section(text("report.checkpoints"), (said,), parts)


def _flips(study: Study, plan: Recommendation, facts: Facts) -> Section:
    """The nearest change of each trait that changes a placement, and how far was searched."""
    found = list(sensitivities(plan, facts, profile=study.profile, measurement=study.measurement))
    how = text("flip.how", steps=STEPS_PER_DECADE)
    blocks = (charts.sensitivity(found), _cited(tables.flips(found)), tables.sensitivity(found), how)
    return Section(text("report.flips"), blocks)


def _steps(study: Study, plan: Recommendation, facts: Facts) -> Section:
    """How every figure comes about: those of the demand, then those of the option that the plan takes."""
    figures = explain(plan, facts, profile=study.profile, measurement=study.measurement)
    parts = tuple(
        Section(title, (_derived(figure for figure in figures.values() if figure.option == option),), appendix=True)
        for option, title in ((None, text("explain.demand")), (plan.recommended, words.option(plan.recommended)))
    )
    return Section(text("report.steps"), (text("report.steps.note"),), parts, appendix=True)


def _derived(figures: Iterable[Figure]) -> pd.DataFrame:
    """One row for each figure: what it is, its equation, and the facts that it rests on."""
    rows = (
        (
            words.figure(figure.name),
            derivation.amount(figure.result),
            figure.equation,
            Cited(words.basis(figure.result.basis), tuple(sorted(figure.result.sources))),
        )
        for figure in figures
    )
    return _table(("figure", "value", "equation", "source"), rows)


def _seen(study: Study, plan: Recommendation) -> Iterator[Section]:
    """What was listed and what was measured, where something was."""
    if study.profile is not None:
        yield Section(text("report.inspected"), (charts.size_histogram(study.profile, None),))
    if study.measurement is not None:
        said = [*tables.findings(study.measurement, plan.demand), *map(str, study.measurement.warnings)]
        chart = charts.throughput(study.measurement, plan.demand)
        sweep = tables.sweep(study.measurement, plan.demand)
        yield Section(text("report.measured"), (_cited(said), chart, sweep))


def _assumptions(watched: WatchedFacts) -> Section:
    """Numbers that no source gives: ours, to be replaced by the reader's own."""
    assumed = [fact for _, fact in sorted(watched.facts_seen.items()) if fact.basis == "assumed"]
    rows = ((fact.id, _shown(fact), Cited("", fact.sources)) for fact in assumed)
    return Section(
        text("report.assumptions"),
        (text("report.assumptions.note"), _table(("fact", "value", "source"), rows)),
        appendix=True,
    )


def _facts(watched: WatchedFacts) -> Section:
    """Every other number and price that was looked up for this plan."""
    others = [fact for _, fact in sorted(watched.facts_seen.items()) if fact.basis not in ("assumed", None)]
    unknown = [fact for _, fact in sorted(watched.facts_seen.items()) if fact.basis is None]
    prices = [price for _, price in sorted(watched.prices_seen.items())]
    columns = ("fact", "value", "basis", "as-of", "source")
    rows = ((fact.id, _shown(fact), _basis(fact), _date(fact), Cited("", fact.sources)) for fact in others)
    blocks: list[Block] = [text("report.facts.note"), _table(columns, rows)]
    if unknown:
        blocks += [text("report.unknown.note"), _cited(fact.id for fact in unknown)]
    blocks.append(_table(columns, map(_price_row, prices)))
    return Section(text("report.facts"), tuple(blocks), appendix=True)


def _shown(fact: Fact) -> str:
    """What a fact says: a number with its range, a yes or no, a list or a text."""
    if fact.quantity is not None:
        return words.quantity(fact.quantity)
    if isinstance(fact.value, bool):
        return words.yes_no(fact.value)
    if isinstance(fact.value, tuple):
        return text("present.list-separator").join(str(part) for part in fact.value) or text("present.none")
    return str(fact.value)


def _price_row(price: Price) -> tuple[object, ...]:
    return (
        price.id,
        words.quantity(price.quantity, "present.not-priced"),
        _basis(price.quantity),
        _date(price),
        Cited("", price.sources),
    )


def _basis(it: object) -> str:
    basis = getattr(it, "basis", None)
    return words.basis(basis) if basis else "–"


def _date(it: Fact | Price | Source) -> str:
    return text("report.undated") if it.as_of in ("undated", None) else str(it.as_of)


def _sources(plan: Recommendation, facts: Facts, watched: WatchedFacts) -> Section:
    """Each source once, with its date, and how old the facts are, file by file."""
    cited = {source for fact in watched.facts_seen.values() for source in fact.sources}
    cited |= {source for price in watched.prices_seen.values() for source in price.sources}
    cited |= {reason.source for option in plan.options for reason in option.reasons if reason.source}
    rows = [
        (Address(source.title, source.url, name), _date(source), source.retrieved, source.confidence)
        for name in sorted(cited)
        for source in [facts.sources[name]]
    ]
    ages = [
        (file, age.oldest or "–", age.newest or "–", words.count(age.undated)) for file, age in facts.as_of().items()
    ]
    return Section(
        text("report.sources"),
        (
            text("report.sources.note"),
            _table(("title", "as-of", "retrieved", "confidence"), rows),
            text("report.ages"),
            _table(("file", "oldest", "newest", "undated"), ages),
        ),
        appendix=True,
    )


def _reasons(reasons: Iterable[Reason]) -> list[Cited]:
    return [Cited(words.reason(reason), (reason.source,) if reason.source else ()) for reason in reasons]


def _cited(sentences: Iterable[str]) -> list[Cited]:
    return [Cited(sentence) for sentence in sentences]


def _table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> pd.DataFrame:
    return pd.DataFrame(list(rows), columns=[text(f"report.column.{name}") for name in columns], dtype=object)
