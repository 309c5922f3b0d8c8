"""A report to leave behind: one file, HTML or Markdown, that needs no network to be read."""

from __future__ import annotations

from pathlib import Path

from gpufeed.facts import Facts
from gpufeed.facts.errors import GpufeedError, InputError
from gpufeed.model.study import Study

FORMATS = (".html", ".md")


def render(study: Study, path: str | Path, facts: Facts, *, made: str, version: str) -> str:
    """The report of a study as HTML or Markdown, whichever the ending of ``path`` says.

    ``made`` and ``version`` (of gpufeed) stand in it: the same study, facts, time and version give the same text.
    Raises InputError for another ending or a study without a workload, and GpufeedError where the packages that draw
    charts are missing.
    """
    name = Path(path)
    ending = name.suffix.lower()
    if not ending:
        example = name.with_name("report.html") if name.name.startswith(".") else name.with_suffix(".html")
        raise InputError("report.no-ending", name=name, example=example)
    if ending not in FORMATS:
        raise InputError("report.format", ending=ending, formats=", ".join(FORMATS))
    try:
        from gpufeed.present.report import html, markdown
        from gpufeed.present.report.content import content
    except ModuleNotFoundError as missing:
        raise GpufeedError("report.needs-notebook", package=missing.name) from None
    found = content(study, facts, made=made, version=version)
    return html.page(found) if ending == ".html" else markdown.page(found)
