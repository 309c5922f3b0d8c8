"""How every figure of a plan comes about: its equation, what went in, and on which facts it rests.

The plan is worked out once more on numbers that remember (:mod:`gpufeed.model.trace`), so nothing is said here that was
not computed.  It takes some ten evaluations' time, and is done when somebody asks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from fractions import Fraction
from itertools import chain
from typing import Any

from gpufeed.facts import Facts
from gpufeed.facts.fact import Fact
from gpufeed.facts.quantity import Quantity
from gpufeed.model.advise import recommend
from gpufeed.model.measurement import Measurement
from gpufeed.model.profile import PrefixProfile
from gpufeed.model.recommendation import (
    FOR_SAVES,
    Cost,
    CostLine,
    FirstEpoch,
    OptionAnswer,
    Recommendation,
    Saving,
)
from gpufeed.model.rules import SYSTEMS
from gpufeed.model.trace import Known, Made, origin, remembering_facts, remembering_workload

_BINDS = {"+": 1, "−": 1, "×": 2, "/": 2, "^": 3}
_NOT_COMMUTATIVE = frozenset({"−", "/"})
#: Numbers that need a name to be recognised.
_CONSTANTS: dict[float, str] = {
    2**30: "bytes_per_GiB",
    2**20: "bytes_per_MiB",
    3600: "seconds_per_hour",
    10**6: "bytes_per_MB",
    1000: "GiB_per_billed_TiB",
}
#: Those that are something else in an amount that is billed in this unit.
_BILLED: dict[str, dict[float, str]] = {
    "1000 requests": {1000: "requests_per_billed_unit", 2: "requests_to_open_and_close"},
    "1000000 objects": {10**6: "objects_per_billed_unit"},
    "1000000 objects-month": {10**6: "objects_per_billed_unit"},
}


@dataclass(frozen=True, slots=True)
class Input:
    """One name in an equation: a fact, what was stated, or another figure (then ``figure`` is its id)."""

    name: str
    quantity: Quantity
    fact: Fact | None = None
    figure: str | None = None

    def same_as(self, other: Input) -> bool:
        return (self.quantity, self.fact and self.fact.id, self.figure) == (
            other.quantity,
            other.fact and other.fact.id,
            other.figure,
        )


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure of the plan.  ``id`` is its path: ``demand.read_bytes_per_s``, ``s3-standard.stall.share``.

    The equation is that of the middle value, over the names of the inputs; low and high follow by interval arithmetic.
    It is empty where the number is not worked out here: it was measured, or is the same for every plan.
    """

    id: str
    result: Quantity
    equation: str
    inputs: tuple[Input, ...]

    @property
    def option(self) -> str | None:
        """The option it belongs to; None for the demand and for what holds for the whole plan."""
        head, _, _ = self.id.partition(".")
        return head if head in SYSTEMS else None

    @property
    def name(self) -> str:
        """What it is, whichever option it belongs to: ``stall.share``."""
        return _name(self.id)


def explain(
    plan: Recommendation,
    facts: Facts,
    *,
    profile: PrefixProfile | None = None,
    measurement: Measurement | None = None,
) -> dict[str, Figure]:
    """Every figure of the plan by its id: first the demand, then option by option."""
    workload = remembering_workload(plan.workload, plan.currency)
    again = recommend(workload, remembering_facts(facts), profile=profile, measurement=measurement)
    figures = dict(_figures(again))
    owners = _owners(figures)
    return _as_weak_as_their_inputs({id_: _Equation(id_, figures, owners).figure() for id_ in figures})


def _as_weak_as_their_inputs(figures: dict[str, Figure]) -> dict[str, Figure]:
    """The same, each resting on all that goes into it: a number that was bare on its way has lost that."""
    found: dict[str, Figure] = {}

    def resting(id_: str) -> Figure:
        if id_ not in found:
            figure = found[id_] = figures[id_]
            rests_on = figure.result
            for given in figure.inputs:
                rests_on = rests_on + (given.quantity if given.figure is None else resting(given.figure).result)
            result = figure.result._replace(basis=rests_on.basis, sources=rests_on.sources)
            found[id_] = replace(figure, result=result)
        return found[id_]

    return {id_: resting(id_) for id_ in figures}


def _owners(figures: Mapping[str, Quantity]) -> dict[int, str]:
    """Which figure a number is, by the number's identity: the first that has it; before all, what others are taken
    from: the price of the cluster, which is in the lines of bills, and the size of an object, which a read may have.

    A known number has its own name, and a plain 0 or 1 belongs to nobody.
    """
    owners: dict[int, str] = {}
    for id_, quantity in sorted(figures.items(), key=lambda figure: figure[0] not in _TAKEN_FROM):
        where_from = origin(quantity.value)
        if isinstance(where_from, Made) or (where_from is None and quantity.value not in (0.0, 1.0)):
            owners.setdefault(_identity(quantity.value), id_)
    return owners


_TAKEN_FROM = frozenset({"gpu_hour_price", "demand.object_bytes"})


def _identity(number: float) -> int:
    """The same for a number and its rounding to itself."""
    return id(origin(number) or number)


def _figures(plan: Recommendation) -> Iterator[tuple[str, Quantity]]:
    """(id, quantity) of every figure.  An id that stands twice, as of two price bands, is counted on."""
    found = chain(_in("demand", plan.demand.intermediates), _in("demand", plan.demand))
    for answer in plan.options:
        found = chain(found, _of_option(answer, plan.saving(answer.option)))
    of_the_plan = {name: getattr(plan, name) for name in _OF_THE_PLAN}
    times: Counter[str] = Counter()
    for id_, quantity in chain(found, *(_in(name, value) for name, value in of_the_plan.items())):
        times[id_] += 1
        unit = f"{plan.currency}/{quantity.unit[4:]}" if quantity.unit.startswith("per ") else quantity.unit
        yield (id_ if times[id_] == 1 else f"{id_}-{times[id_]}"), quantity.named(unit)


def _of_option(answer: OptionAnswer, saving: Saving) -> Iterator[tuple[str, Quantity]]:
    """Figures of one option.  What saves are worked out for may be another file system than that of the reads: then
    their times stand beside its rates."""
    apart = saving.supply.configuration != answer.supply.configuration
    for id_, quantity in _in(answer.option, answer):
        if not (apart and id_.startswith(f"{answer.option}.stall.")):
            yield id_, quantity
    if apart:
        yield from _in(f"{answer.option}.{FOR_SAVES}.supply", saving.supply)
        yield from _in(f"{answer.option}.{FOR_SAVES}.stall", saving.stall)


#: Figures that belong to no option, beside the demand.
_OF_THE_PLAN = ("gpu_hour_price", "traffic", "cost")
_NO_FIGURES = frozenset({"intermediates", "warnings", "reasons"})
#: Settings that are numbers, and what they count.
_SETTINGS = {"storage_capacity_gib": "GiB", "metadata_iops": "IOPS"}


def _in(path: str, value: Any) -> Iterator[tuple[str, Quantity]]:
    """All quantities in what is made of dataclasses, mappings and tuples of rows that have an id."""
    if isinstance(value, Quantity):
        yield path, value
    elif is_dataclass(value):
        inside = {field.name: getattr(value, field.name) for field in fields(value) if field.name not in _NO_FIGURES}
        # Rows and ceilings first: a sum of one row, or the least of the ceilings, is shown as taken from there.
        for name in sorted(inside, key=lambda name: not _is_rows(inside[name])):
            yield from _in(f"{path}.{name}", _shown(value, name, inside[name]))
    elif isinstance(value, Mapping):
        for name, inner in value.items():
            setting = name in _SETTINGS and origin(inner) is not None
            yield from _in(f"{path}.{name}", _quantity(inner, _SETTINGS[name]) if setting else inner)
    elif isinstance(value, tuple):
        for row in value:
            if is_dataclass(row):
                yield from _in(f"{path}.{getattr(row, 'id', 'row')}", row)


#: Times and costs of what is brought in, of which only the most that a source names is known.
_AT_MOST = frozenset({"load_seconds", "load_cost", "waits_seconds", "waits_cost", "quantity", "amount", "elsewhere"})


def _shown(owner: Any, name: str, value: Any) -> Any:
    """A figure as it is shown: without an upper end where nothing is known of one."""
    if isinstance(owner, Cost) and name == "loading":
        return owner.loading_shown
    at_most = name in _AT_MOST and isinstance(owner, FirstEpoch | CostLine) and isinstance(value, Quantity)
    return owner.bound(value) if at_most else value


def _is_rows(value: Any) -> bool:
    """Rows of a bill or named ceilings; a quantity is a tuple as well."""
    return isinstance(value, tuple | Mapping) and not isinstance(value, Quantity)


def _quantity(number: float, unit: str) -> Quantity:
    """A bare number with the weakest basis and all sources of the known numbers that it is made of."""
    rests_on = Quantity.exact(0.0)
    for known in _known_in(number):
        rests_on = rests_on + known
    return Quantity(number, number, number, unit, rests_on.basis, rests_on.sources)


def _plain(quantity: Quantity) -> Quantity:
    """The same without memory."""
    low, value, high = (float(bound) for bound in quantity[:3])
    return quantity._replace(low=low, value=value, high=high)


def _known_in(number: float) -> Iterator[Quantity]:
    where_from = origin(number)
    if isinstance(where_from, Known):
        yield where_from.quantity
    elif isinstance(where_from, Made):
        for operand in where_from.operands:
            yield from _known_in(operand)


class _Equation:
    """The equation of one figure, and the names in it."""

    def __init__(self, figure_id: str, figures: Mapping[str, Quantity], owners: Mapping[int, str]) -> None:
        self._id, self._figures, self._owner = figure_id, figures, owners
        self._inputs: dict[str, Input] = {}
        self._constants: dict[float, str] = {**_CONSTANTS, **_BILLED.get(figures[figure_id].unit, {})}

    def figure(self) -> Figure:
        result = self._figures[self._id]
        number = result.value
        where_from = origin(number)
        owner = self._owner.get(_identity(number), self._id)
        # The same figure of another option, or of an option in the bill of the plan, has its steps here as well: a
        # number that is said to be itself explains nothing.
        if _name(owner) != _name(self._id):
            equation = self._named(number)
        elif where_from is None:
            equation = ""
        else:
            equation = self._made(where_from)[0] if isinstance(where_from, Made) else self._named(number)
        return Figure(self._id, _plain(result), equation, tuple(self._inputs.values()))

    def _term(self, number: float) -> tuple[str, int]:
        """A number inside an equation, and how strongly it binds."""
        where_from = origin(number)
        if _identity(number) in self._owner or isinstance(where_from, Known):
            return self._named(number), 9
        if where_from is None:
            return self._bare(number)
        return self._made(where_from)

    def _bare(self, number: float) -> tuple[str, int]:
        """A number without a name; one that no few digits write, as an exponent of a third, as a fraction."""
        written = f"{number:.12g}"
        fraction = Fraction(number).limit_denominator(1000)
        if number in self._constants or len(written.partition(".")[2]) < 6 or abs(fraction - number) > 1e-15:
            return self._constants.get(number, written), 9
        return f"{fraction.numerator} / {fraction.denominator}", _BINDS["/"]

    def _made(self, made: Made) -> tuple[str, int]:
        terms = [self._term(operand) for operand in made.operands]
        binds = _BINDS.get(made.operation)
        if binds is None:
            return f"{made.operation}({', '.join(term for term, _ in terms)})", 9
        (left, left_binds), (right, right_binds) = terms
        if left_binds < binds:
            left = f"({left})"
        if right_binds < binds or (right_binds == binds and made.operation in _NOT_COMMUTATIVE):
            right = f"({right})"
        return f"{left} {made.operation} {right}", binds

    def _named(self, number: float) -> str:
        """The name of another figure or of a known number, which becomes an input."""
        where_from = origin(number)
        if isinstance(where_from, Known) and _identity(number) not in self._owner:
            made = Input(where_from.name, where_from.quantity, where_from.fact)
        else:
            id_ = self._owner[_identity(number)]
            made = Input(_symbol(id_), _plain(self._figures[id_]), figure=id_)
        return self._without_clash(made)

    def _without_clash(self, wanted: Input) -> str:
        """The same name for the same input, another for another."""
        name, count = wanted.name, 1
        while name in self._inputs and not self._inputs[name].same_as(wanted):
            count += 1
            name = f"{wanted.name}_{count}"
        self._inputs[name] = Input(name, wanted.quantity, wanted.fact, wanted.figure)
        return name


def _name(figure_id: str) -> str:
    """A figure's id without the option that it belongs to."""
    head, _, rest = figure_id.partition(".")
    return rest if head in SYSTEMS else figure_id


def _symbol(figure_id: str) -> str:
    """A figure's name in an equation: ``demand.read_bytes_per_s``, ``request_latency``."""
    if figure_id.startswith("demand."):
        return figure_id
    if figure_id == "gpu_hour_price":  # the field of that name is the price of one instance
        return "cluster_hour_price"
    *_, before, last = ("", *figure_id.split("."))
    alone = last not in ("amount", "quantity", "unit_price") and before not in ("first_epoch", "later_epochs")
    return (last if alone else f"{before}_{last}").replace("-", "_")
