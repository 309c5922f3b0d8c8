"""The decision record: a plan with everything it rests on, to be run again later and asked what has changed.

A record is a JSON document.  What was entered stands in it whole, so that :func:`recheck` can evaluate the model anew;
what came out stands in sections of named values, which the two evaluations are compared by.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from math import isfinite
from typing import Any

from gpufeed.facts import Fact, Facts, Price, Source
from gpufeed.facts.errors import InputError
from gpufeed.facts.quantity import Quantity
from gpufeed.model.advise import recommend
from gpufeed.model.checkpoint_plan import CheckpointPlan, checkpoint_plan
from gpufeed.model.flip import Sensitivity, sensitivities
from gpufeed.model.kind import expect
from gpufeed.model.measurement import Measurement
from gpufeed.model.profile import PrefixProfile
from gpufeed.model.recommendation import FlipPoint, Reason, Recommendation
from gpufeed.model.workload import Workload

SCHEMA_VERSION = 1
#: The sections of named values that two records are compared by, the answer first.
SECTIONS = ("answer", "figures", "checkpoints", "flips", "warnings", "facts", "prices", "sources")

#: Those that hold what the evaluation looked up: another answer looks up others, which is no change of theirs.
LOOKED_UP = ("facts", "prices", "sources")

#: Fields that are no figures of their own: part of the answer, sentences, and the way to a figure.
_ELSEWHERE = frozenset({"configuration", "reasons", "warnings", "steps"})


@dataclass(frozen=True, slots=True)
class Change:
    """One named value that is not what it was; None where it was, or is, not there."""

    section: str
    name: str
    then: Any
    now: Any


@dataclass(frozen=True, slots=True)
class Recheck:
    """A record beside the same question asked of today's facts.  ``not_kept``: sections that the record is without.

    ``no_longer_used`` and ``newly_used`` name, by section, what one of the two evaluations did not look up: the first
    are as they were, and what the second were the record does not say.
    """

    made: str
    version_then: str
    version_now: str
    changes: tuple[Change, ...]
    not_kept: tuple[str, ...] = ()
    workload: Workload | None = None  # of the record
    no_longer_used: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    newly_used: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def answer_changed(self) -> bool:
        return any(change.section == "answer" for change in self.changes)


def record(
    workload: Workload,
    facts: Facts,
    *,
    made: str,
    version: str,
    profile: PrefixProfile | None = None,
    measurement: Measurement | None = None,
) -> dict[str, Any]:
    """The plan for one workload as a document.

    ``made`` is the time of the decision (ISO 8601) and ``version`` that of gpufeed: the model knows neither.
    ``facts``, ``prices`` and ``sources`` hold what the evaluation looked up and nothing else.
    """
    watched = facts.watched()
    plan = recommend(workload, watched, profile=profile, measurement=measurement)
    checkpoints = dict(_checkpoints(checkpoint_plan(plan, watched)))
    flips = dict(_flips(sensitivities(plan, watched, profile=profile, measurement=measurement)))
    used, prices = watched.facts_seen, watched.prices_seen
    cited = {source for fact in used.values() for source in fact.sources}
    cited |= {source for price in prices.values() for source in price.sources}
    cited |= {reason.source for answer in plan.options for reason in answer.reasons if reason.source}
    return {
        "schema_version": SCHEMA_VERSION,
        "made": made,
        "gpufeed_version": version,
        "workload": workload.to_mapping(),
        "profile": None if profile is None else profile.to_json(),
        "measurement": None if measurement is None else measurement.to_json(),
        "answer": dict(_flat(_answer(plan))),
        "figures": dict(_figures(plan)),
        "checkpoints": checkpoints,
        "flips": flips,
        "warnings": _warnings(plan),
        "facts": {name: _fact(used[name]) for name in sorted(used)},
        "prices": {name: _price(prices[name]) for name in sorted(prices)},
        "sources": {name: _source(facts.sources[name]) for name in sorted(cited)},
    }


def recheck(document: Mapping[str, Any], facts: Facts, *, version: str) -> Recheck:
    """Ask the question of a record again and name everything that differs.

    A section that an older record is without is named and not compared.  Raises InputError for a document that is no
    record of this schema, or whose workload this version cannot read.
    """
    expect(document, "record")
    kept = [section for section in SECTIONS if section in document]
    wanted = {"made": str, "gpufeed_version": str, "schema_version": int, "workload": Mapping, "answer": Mapping}
    for name, kind in (wanted | dict.fromkeys(kept, Mapping)).items():
        if not isinstance(document.get(name), kind):
            raise InputError("record.unreadable", field=name)
    if document["schema_version"] != SCHEMA_VERSION:
        raise InputError("record.version", found=document["schema_version"], expected=SCHEMA_VERSION)
    profile, measurement = document.get("profile"), document.get("measurement")
    workload = Workload.from_mapping(document["workload"], facts)
    now = record(
        workload,
        facts,
        made=document["made"],
        version=version,
        profile=None if profile is None else PrefixProfile.from_json(profile),
        measurement=None if measurement is None else Measurement.from_json(measurement),
    )
    used = {section: now[section] for section in LOOKED_UP if section in kept}
    no_longer = {section: _no_longer_used(document[section], used[section], _today(section, facts)) for section in used}
    newly = {section: [name for name in used[section] if name not in document[section]] for section in used}
    changes = (
        change
        for section in kept
        for change in _changes(section, document[section], now[section] | no_longer.get(section, {}))
        if change.name not in newly.get(section, ())
    )
    return Recheck(
        document["made"],
        document["gpufeed_version"],
        version,
        tuple(changes),
        tuple(section for section in SECTIONS if section not in kept),
        workload,
        {
            section: tuple(name for name, today in rows.items() if today == document[section][name])
            for section, rows in no_longer.items()
        },
        {section: tuple(names) for section, names in newly.items()},
    )


def _no_longer_used(then: Mapping[str, Any], now: Mapping[str, Any], today: Mapping[str, Any]) -> dict[str, Any]:
    """What was looked up and is not any more, as it is today; what there is no more is left out."""
    return {name: today[name] for name in then if name not in now and name in today}


def _today(section: str, facts: Facts) -> Mapping[str, Any]:
    """All that there is to be looked up, as a record has it."""
    if section == "facts":
        return {fact.id: _fact(fact) for fact in facts.all_facts()}
    if section == "prices":
        return {price.id: _price(price) for price in facts.prices}
    return {name: _source(source) for name, source in facts.sources.items()}


def _changes(section: str, then: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[Change]:
    for name in [*then, *(name for name in now if name not in then)]:
        # Both come from the same arithmetic on the same machine's doubles, and JSON keeps each digit: equal is equal.
        if then.get(name) != now.get(name):
            yield Change(section, name, then.get(name), now.get(name))


def _answer(plan: Recommendation) -> dict[str, Any]:
    """What was decided: the published rule, and for each data role where it goes, by whom and how configured."""
    rule = plan.rule
    answer: dict[str, Any] = {"region": plan.region, "currency": plan.currency}
    answer["rule"] = {"option": rule.option, "verdict": rule.verdict, "rules": list(rule.rules)}
    for role, placed in plan.placements.items():
        answer[role] = {
            "option": placed.option,
            "backed_by": placed.backed_by,
            "decided_by": placed.decided_by,
            "opinion_of_rule": placed.rule,
            "opinion_of_model": placed.model,
            "opinion_of_measurement": placed.measured,
            "mode": placed.mode,
            "interval": placed.interval,
            "configuration": placed.configuration,
        }
    for option in plan.options:
        answer[option.option] = {"verdict": option.verdict, "reasons": [reason.id for reason in option.reasons]}
    return answer


def _warnings(plan: Recommendation) -> dict[str, Any]:
    """Parameters by id; a warning given more than once is numbered."""
    named: dict[str, Any] = {}
    for warning in plan.warnings:
        times = sum(name.partition("#")[0] == warning.id for name in named)
        named[f"{warning.id}#{times + 1}" if times else warning.id] = _plain(warning.parameters)
    return named


def _figures(plan: Recommendation) -> Iterator[tuple[str, Any]]:
    """Every number of the plan under its path, such as ``options.s3-files.cost.total``."""
    yield from _numbers("fed", plan.fed)
    yield from _numbers("gpu_hour_price", plan.gpu_hour_price)
    yield from _numbers("demand", plan.demand)
    for answer in plan.options:
        yield from _numbers(f"options.{answer.option}", answer)


def _checkpoints(found: CheckpointPlan) -> Iterator[tuple[str, Any]]:
    """What the checkpoint plan says of each option, of failures and of host memory, such as ``s3-files.lost.daly``."""
    yield from _numbers("size", found.size)
    yield from _numbers("bytes_per_file", found.bytes_per_file)
    yield "writers", found.writers
    for option in found.options:
        yield f"{option.option}.verdict", option.verdict
        yield f"{option.option}.reasons", [reason.id for reason in (*option.cannot, *option.but)]
        for part in ("restore", "lost", "retention", "timeline"):
            yield from _numbers(f"{option.option}.{part}", getattr(option, part))
    for effect in found.failures:
        yield from _numbers(f"failures.{effect.definition.id}", effect)
    yield from _numbers("memory_first", found.memory_first)


def _flips(found: Iterator[Sensitivity]) -> Iterator[tuple[str, Any]]:
    """Each flip under trait, role and side, such as ``instances.training_reads.above``, and how far was searched."""
    for one in found:
        yield f"{one.trait.name}.searched", [one.trait.low, one.trait.high]
        for flip in one.flips:
            where = {"at": _plain(flip.at), "option": flip.option, "because": flip.reason.id}
            yield f"{flip.trait}.{flip.role}.{_side(flip)}", where


def _side(flip: FlipPoint) -> str:
    if flip.now is None or flip.at == flip.now:
        return "stated"  # a value that stands where none was stated
    return "above" if flip.at > flip.now else "below"


def _numbers(name: str, it: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(it, Quantity | int | float) and not isinstance(it, bool):
        yield name, _plain(it)
    elif isinstance(it, Mapping):
        for key, part in it.items():
            yield from _numbers(f"{name}.{key}", part)
    elif isinstance(it, tuple):
        # Lines of a bill and the like, each under its own id.
        for part in it:
            yield from _numbers(f"{name}.{getattr(part, 'id', '')}", part)
    elif is_dataclass(it):
        for each in fields(it):
            if each.name not in _ELSEWHERE:
                yield from _numbers(f"{name}.{each.name}", getattr(it, each.name))


def _flat(table: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    """Nested tables as one, under dotted names: each value can then be compared by its name."""
    for key, value in table.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{above}{key}.")
        else:
            yield f"{above}{key}", _plain(value)


def _plain(value: Any) -> Any:
    """A value as JSON holds it; what is unbounded is null."""
    if isinstance(value, Quantity):
        return {**value.to_json(), "unit": value.unit, "basis": value.basis, "sources": sorted(value.sources)}
    if isinstance(value, Reason):
        return {"id": value.id, "parameters": _plain(value.parameters)}
    if isinstance(value, Mapping):
        return {str(key): _plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    if isinstance(value, set | frozenset):
        return sorted(map(str, value))
    if isinstance(value, float) and not isfinite(value):
        return None
    return value


def _fact(fact: Fact) -> dict[str, Any]:
    number = fact.quantity.to_json() if fact.quantity else {"value": _plain(fact.value)}
    unit = fact.quantity.unit if fact.quantity else fact.unit
    return {**number, "unit": unit, "basis": fact.basis, "sources": list(fact.sources), "as_of": fact.as_of}


def _price(price: Price) -> dict[str, Any]:
    number = price.quantity.to_json() if price.quantity else {"value": None}
    unit = f"{price.currency}/{price.unit}"
    basis = price.quantity.basis if price.quantity else None
    return {**number, "unit": unit, "basis": basis, "sources": list(price.sources), "as_of": price.as_of}


def _source(source: Source) -> dict[str, Any]:
    return {"title": source.title, "url": source.url, "as_of": source.as_of, "retrieved": source.retrieved}
