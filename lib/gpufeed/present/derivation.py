"""How each figure of a plan comes about, for people: opened one inside the other on a page, or as lines of text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from html import escape
from typing import Any

from gpufeed.facts import Facts
from gpufeed.facts.fact import Fact
from gpufeed.facts.messages import text
from gpufeed.facts.quantity import Quantity
from gpufeed.facts.sources import UNDATED, Source
from gpufeed.model.explain import Figure, Input
from gpufeed.model.workload import NUMBERS
from gpufeed.present import words

#: What is worked out from others, whatever those rest on.
DERIVED = "derived"


def page(figures: Mapping[str, Figure], facts: Facts, first: str) -> str:
    """All figures, closed: the demand, then the options, ``first`` before the others.  HTML, everything escaped."""
    options = dict.fromkeys([first, *(figure.option for figure in figures.values() if figure.option)])
    groups: dict[str | None, str] = {
        None: text("explain.demand"),
        "cost": text("explain.cost"),
        **{option: words.option(option) for option in options},
    }
    shown = (
        _group(title, inside, figures, facts) for option, title in groups.items() if (inside := _of(figures, option))
    )
    return "".join((_STYLE, _legend(), *shown))


def _of(figures: Mapping[str, Figure], option: str | None) -> list[Figure]:
    return [figure for figure in figures.values() if _belongs_to(figure) == option]


def _belongs_to(figure: Figure) -> str | None:
    """An option, "cost" for the bill of the whole plan, or None for what the job asks."""
    return "cost" if figure.id.startswith("cost.") else figure.option


def _group(title: str, of_group: Iterable[Figure], figures: Mapping[str, Figure], facts: Facts) -> str:
    inside = "".join(_figure(figure, figures, facts, figure.name) for figure in of_group)
    return f'<details class="group"><summary>{escape(title)}</summary>{inside}</details>'


def _figure(figure: Figure, figures: Mapping[str, Figure], facts: Facts, name: str) -> str:
    """One figure, closed; open: its equation, and each input with where it comes from."""
    kind = _kind(figure)
    head = f"{escape(words.figure(name))}: <b>{escape(amount(figure.result))}</b> {_badge(kind)}"
    if not figure.equation:
        return f"<div class='leaf'>{head}{_cited(figure.result, facts)}</div>"
    rests_on = text("explain.rests-on", basis=words.basis(figure.result.basis))
    inputs = "".join(f"<li>{_input(given, figures, facts)}</li>" for given in figure.inputs)
    return (
        f"<details><summary>{head}</summary><p><code>{escape(figure.equation)}</code></p>"
        f"<ul>{inputs}</ul><p class='note'>{escape(rests_on)}</p></details>"
    )


def _kind(figure: Figure) -> str:
    """How a figure is marked.  What was stated is an input of an equation; a figure without one follows from the plan,
    as that nothing is transferred, unless it was measured or is known."""
    return DERIVED if figure.equation or figure.result.basis == "stated" else figure.result.basis


def _input(given: Input, figures: Mapping[str, Figure], facts: Facts) -> str:
    name = f"<code>{escape(given.name)}</code> "
    if given.figure is not None:
        return name + _figure(figures[given.figure], figures, facts, figures[given.figure].name)
    said = f"{name}<b>{escape(amount(given.quantity, given.name))}</b> {_badge(given.quantity.basis)}"
    if given.fact is None:
        return said
    about = ". ".join(filter(None, (given.fact.id, given.fact.note)))
    return f"{said}{_cited(given.quantity, facts, given.fact)} <span class='note'>{escape(about)}</span>"


def _cited(quantity: Quantity, facts: Facts, fact: Fact | None = None) -> str:
    """The sources as links, each with its date."""
    cited = "; ".join(_link(source, date) for source, date in _sources(quantity, facts, fact))
    return f" <span class='sources'>{cited}</span>" if cited else ""


def _link(source: Source, date: str) -> str:
    title = escape(source.title)
    if source.url and source.url.startswith(("https://", "http://")):
        title = f'<a href="{escape(source.url)}" target="_blank" rel="noopener noreferrer">{title}</a>'
    return f"{title} ({escape(date)})"


def _sources(quantity: Quantity, facts: Facts, fact: Fact | None) -> list[tuple[Source, str]]:
    """Each source of a number with the date of what it says; a fact from one source may have a date of its own."""
    # A fact keeps its own order: the first is what its value is from, the others bear on its range.
    ids = sorted(quantity.sources) if fact is None else [*fact.sources, *sorted(quantity.sources - set(fact.sources))]
    sources = [facts.sources[id_] for id_ in ids if id_ in facts.sources]
    if fact is not None and fact.as_of and len(sources) == 1:
        return [(sources[0], _dated(fact.as_of))]
    return [(source, _dated(source.as_of)) for source in sources]


def _dated(as_of: str) -> str:
    return text("explain.undated") if as_of == UNDATED else text("explain.dated", as_of=as_of)


def _badge(kind: str) -> str:
    return f'<span class="basis {escape(kind)}">{escape(words.basis(kind))}</span>'


def _legend() -> str:
    kinds = " ".join(_badge(kind) for kind in ("published", "measured", "stated", "assumed", DERIVED))
    return f"<p>{escape(text('explain.how'))}</p><p>{kinds}</p>"


def amount(quantity: Quantity, trait: str = "") -> str:
    """A number with its range and unit; one that was stated, as its field is read."""
    if trait in NUMBERS and quantity.basis == "stated":
        return words.trait_value(quantity.value, quantity.unit)
    if quantity.unit == "1000 requests":
        # As the equation counts them, so that it can be worked out by hand.
        return text("explain.thousands", requests=words.quantity(quantity), units=words.number(quantity.value))
    return words.quantity(quantity)


def sentences(figures: Iterable[Figure]) -> list[str]:
    """Each figure with its equation, without what went into it."""
    return [
        text(
            "explain.sentence", figure=words.figure(figure.name), equation=figure.equation, amount=amount(figure.result)
        )
        for figure in figures
        if figure.equation
    ]


def lines(figures: Mapping[str, Figure], facts: Facts) -> Iterator[str]:
    """The same as text: a line for the figure and its equation, then one for each input."""
    for figure in figures.values():
        owner = f"{words.option(figure.option)} · " if figure.option else ""
        kind = words.basis(_kind(figure))
        yield f"{owner}{words.figure(figure.name)}: {amount(figure.result)} {kind}"
        if figure.equation:
            yield f"    = {figure.equation}"
        for given in figure.inputs:
            yield f"    {given.name}: {_source_line(given, facts)}"


def _source_line(given: Input, facts: Facts) -> str:
    if given.figure is not None:
        return f"{amount(given.quantity)} {words.basis(DERIVED)}"
    said = [amount(given.quantity, given.name), words.basis(given.quantity.basis)]
    cited = _sources(given.quantity, facts, given.fact)
    said.append("; ".join(f"{source.title} ({date}) {source.url or ''}".strip() for source, date in cited))
    said += [given.fact.id, given.fact.note] if given.fact else []
    return " ".join(filter(None, said))


def document(figures: Mapping[str, Figure]) -> list[dict[str, Any]]:
    """The same for a program: every figure with its equation and inputs; ``figure`` is the id of another."""
    return [
        {
            "id": figure.id,
            "text": words.figure(figure.name),
            "option": figure.option,
            "equation": figure.equation,
            "result": figure.result.to_json(),
            "unit": figure.result.unit,
            "basis": figure.result.basis if figure.equation else _kind(figure),
            "sources": sorted(figure.result.sources),
            "inputs": [
                {
                    "name": given.name,
                    "figure": given.figure,
                    "fact": given.fact and given.fact.id,
                    "value": given.quantity.to_json(),
                    "unit": given.quantity.unit,
                    "basis": DERIVED if given.figure else given.quantity.basis,
                    "sources": sorted(given.quantity.sources),
                    "as_of": given.fact and given.fact.as_of,
                    "note": given.fact.note if given.fact else "",
                }
                for given in figure.inputs
            ],
        }
        for figure in figures.values()
    ]


# Each kind of basis has its own mark (in the word), line and colour: none is told apart by colour alone.
_STYLE = """<style>
.gpufeed details { margin: 3px 0 3px 4px; padding-left: 8px; border-left: 2px solid var(--jp-border-color2, #ccc); }
.gpufeed details.group { margin: 8px 0; border-left: none; padding-left: 0; }
.gpufeed details.group > summary { font-weight: 600; }
.gpufeed summary { cursor: pointer; }
.gpufeed li > details { display: inline-block; vertical-align: top; max-width: 100%; }
.gpufeed details ul { margin: 2px 0; padding-left: 18px; }
.gpufeed code { white-space: pre-wrap; overflow-wrap: anywhere; }
.gpufeed .sources a { color: var(--jp-content-link-color, #0072B2); text-decoration: underline; }
.gpufeed .leaf { margin: 3px 0 3px 4px; padding-left: 22px; }
.gpufeed .basis { padding: 0 5px; border-radius: 3px; font-size: 12px; white-space: nowrap; border: 1px solid; }
.gpufeed .basis.published { border-color: #0072B2; }
.gpufeed .basis.measured { border-color: #009E73; border-width: 2px; }
.gpufeed .basis.assumed { border: 2px dashed #D55E00; }
.gpufeed .basis.stated { border-color: #767676; border-style: dotted; }
.gpufeed .basis.derived { border-color: #CC79A7; border-style: double; border-width: 3px; }
</style>"""
