"""A report as Markdown, for a repository or a wiki: charts are there as their tables."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pandas as pd

from gpufeed.facts.messages import text
from gpufeed.present.escape import visible
from gpufeed.present.report.content import Address, Block, Cited, Content, Section

_LONGEST = 2000  # characters of one sentence
_ACTING = re.compile(r"([\\`*_{}\[\]<>#|~&!])")


def page(content: Content) -> str:
    return "\n\n".join(_body(content)) + "\n"


def _body(content: Content) -> Iterator[str]:
    yield f"# {_said(content.title)}"
    yield _said(content.job)
    yield f"**{_said(content.headline)}**"
    yield _said(content.verdict)
    yield "\n".join(f"- {_said(text('report.figure', what=what, much=much))}" for what, much in content.figures)
    yield _said(content.made)
    for section in content.sections:
        yield from _section(section, 2)


def _section(section: Section, level: int) -> Iterator[str]:
    yield f"{'#' * level} {_said(section.title)}"
    for block in section.blocks:
        if shown := _block(block, section.blocks):
            yield shown
    for part in section.parts:
        yield from _section(part, level + 1)


def _block(block: Block, beside: tuple[Block, ...]) -> str:
    if isinstance(block, str):
        return _said(block)
    if isinstance(block, list):
        return "\n".join(f"- {_cell(line)}" for line in block)
    if isinstance(block, pd.DataFrame):
        return _table(block)
    # A chart that has a table beside it is said by that table.
    return "" if any(isinstance(other, pd.DataFrame) for other in beside) else _table(block.table)


def _table(rows: pd.DataFrame) -> str:
    lines = [[_said(name) for name in rows.columns], ["---"] * len(rows.columns)]
    lines += [[_cell(cell) for cell in row] for row in rows.itertuples(index=False)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cell(cell: object) -> str:
    if isinstance(cell, Address):
        name = f" ({_said(cell.anchor)})" if cell.anchor else ""
        return (f"[{_said(cell.title)}](<{cell.url}>)" if cell.url else _said(cell.title)) + name
    if isinstance(cell, Cited):
        names = text("present.list-separator").join(_said(name) for name in cell.sources)
        return f"{_said(cell.sentence)} [{names}]".strip() if names else _said(cell.sentence)
    return _said(cell)


def _said(sentence: object) -> str:
    """Text in which nothing acts on the page."""
    return _ACTING.sub(r"\\\1", visible(str(sentence), _LONGEST))
