"""A report as one HTML file: no script, no request, light and dark, on a screen and on paper."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import escape

import pandas as pd

from gpufeed.facts.messages import language, text
from gpufeed.facts.place import data_directory
from gpufeed.present.charts import Drawing
from gpufeed.present.escape import escaped
from gpufeed.present.page import cards, grid
from gpufeed.present.report.content import Address, Block, Cited, Content, Section

_LONGEST = 2000  # characters of one sentence
_DATE = re.compile(r"\d{4}(-\d\d){0,2}")
_WEB = ("https://", "http://")


def page(content: Content) -> str:
    style = (data_directory() / "templates" / "report.css").read_text(encoding="utf-8") + cards(".scroll")
    body = "".join(_body(content))
    return (
        f'<!DOCTYPE html>\n<html lang="{language().replace("_", "-")}">\n<head>\n<meta charset="utf-8">\n'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{_said(content.title)}</title>\n<style>\n{style}</style>\n</head>\n<body>\n<main>\n{body}</main>\n"
        "</body>\n</html>\n"
    )


def _body(content: Content) -> Iterator[str]:
    yield f'<header>\n<p class="job">{_said(content.job)}</p>\n<h1>{_said(content.title)}</h1>\n'
    yield f'<p class="headline">{_said(content.headline)}</p>\n<p class="verdict">{_said(content.verdict)}</p>\n'
    figures = "".join(f"<div><dt>{_said(what)}</dt><dd>{_said(much)}</dd></div>" for what, much in content.figures)
    yield f'<dl class="figures">{figures}</dl>\n<p class="note">{_said(content.made)}</p>\n</header>\n'
    yield _contents(content.sections)
    charts = _Charts()
    for number, section in enumerate(content.sections, start=1):
        yield _section(section, 2, charts, f' id="{_ANCHOR}{number}"')


_ANCHOR = "section-"


def _contents(sections: Sequence[Section]) -> str:
    """The titles of all sections, to go to: the page is long."""
    titles = "".join(
        f'<li><a href="#{_ANCHOR}{number}">{_said(section.title)}</a></li>\n'
        for number, section in enumerate(sections, start=1)
    )
    return f'<nav aria-label="{_said(text("report.contents"))}">\n<ol>\n{titles}</ol>\n</nav>\n'


class _Charts:
    """Counts the pictures of a page: an id inside one must not meet that of another."""

    def __init__(self) -> None:
        self.drawn = 0

    def figure(self, drawing: Drawing) -> str:
        self.drawn += 1
        prefix = f"chart{self.drawn}-"
        svg = re.sub(r'(\bid="|url\(#|href="#)', rf"\g<1>{prefix}", drawing.svg)
        return f'<figure role="img" aria-label="{escape(drawing.description)}">{svg}</figure>\n'


def _section(section: Section, level: int, charts: _Charts, anchor: str = "") -> str:
    style = ' class="appendix"' if section.appendix else ""
    blocks = "".join(_block(block, charts) for block in section.blocks)
    parts = "".join(_section(part, level + 1, charts) for part in section.parts)
    return f"<section{anchor}{style}>\n<h{level}>{_said(section.title)}</h{level}>\n{blocks}{parts}</section>\n"


def _block(block: Block, charts: _Charts) -> str:
    if isinstance(block, str):
        return f"<p>{_said(block)}</p>\n"
    if isinstance(block, pd.DataFrame):
        return _table(block)
    if isinstance(block, list):
        return f"<ul>{''.join(f'<li>{_cell(line)}</li>' for line in block)}</ul>\n" if block else ""
    return charts.figure(block)


def _table(rows: pd.DataFrame) -> str:
    return grid(list(rows.columns), ([_cell(cell) for cell in row] for row in rows.itertuples(index=False)))


def _cell(cell: object) -> str:
    if isinstance(cell, Address):
        shown = _said(cell.title)
        if cell.url is not None and cell.url.startswith(_WEB):
            shown = f'<a href="{escape(cell.url)}">{shown}</a>'
        return f'<span id="source-{escape(cell.anchor)}">{shown}</span>'
    if isinstance(cell, Cited):
        links = (f'<a class="source" href="#source-{escape(name)}">{_said(name)}</a>' for name in cell.sources)
        return " ".join([_said(cell.sentence), *links]).strip()
    shown = _said(cell)
    return f"<time>{shown}</time>" if _DATE.fullmatch(shown) else shown


def _said(sentence: object) -> str:
    return escaped(sentence, _LONGEST)
