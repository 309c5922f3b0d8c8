"""Pieces of a page: HTML that takes JupyterLab's colours, and summaries that need no widgets.

Everything that comes from outside is escaped here, so that a panel cannot forget it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any

from gpufeed.present.escape import escaped

if TYPE_CHECKING:
    import pandas as pd

_LONGEST_SENTENCE = 1200

#: A table of so many columns and more becomes cards, one for each row, in a place narrower than so many pixels.
_NEEDS = ((4, 520), (6, 700), (9, 820))


def cards(scroll: str) -> str:
    """Style: a table too wide for its place, inside ``scroll``, is shown as a card a row, a line a cell.

    A cell's ``data-column`` is its heading; the first cell of a row is the title of its card.
    """
    return "\n".join(_cards(pixels, f"{scroll} .columns-{columns}") for columns, pixels in _NEEDS)


def _cards(pixels: int, table: str) -> str:
    return f"""@container (max-width: {pixels}px) {{
{table} thead {{ position: absolute; clip-path: inset(50%); width: 1px; height: 1px; }}
{table}, {table} :is(tbody, tr, td) {{ display: block; width: auto; }}
{table} tr {{ padding: 4px 0 8px; background: none; }}
{table} td {{ max-width: none; border: none; padding: 1px 0; }}
{table} td:first-child {{ font-weight: 600; border-bottom: 1px solid var(--jp-border-color2, #888); }}
{table} td:not(:first-child) {{ display: grid; grid-template-columns: 9em minmax(0, 1fr); gap: 8px; }}
{table} td:not(:first-child)::before {{ content: attr(data-column); opacity: 0.8; }}
}}"""


#: Class of an answer while a newer one is worked out.
WORKING = "gpufeed-working"
_ARROW = (
    "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 18 18'%3E"
    "%3Cpath fill='%23DDD' d='M5.2 5.9L9 9.7l3.8-3.8 1.2 1.2-4.9 5-4.9-5z'/%3E%3C/svg%3E"
)

# JupyterLab's own variables, with a fallback for pages that are not JupyterLab: light and dark both read.
STYLE = """<style>
.gpufeed { color: var(--jp-ui-font-color1, #222); font: 14px/1.5 var(--jp-ui-font-family, system-ui, sans-serif); }
.widget-html-content:has(> .gpufeed) { min-width: 0; width: 100%; }
.widget-text input { min-width: 0; }
.gpufeed-fields { container-type: inline-size; }
.gpufeed-field { height: auto; }
.gpufeed-field .widget-label { white-space: normal; overflow: visible; line-height: 1.2; height: auto;
  align-self: center; }
@container (max-width: 440px) {
.gpufeed-field { flex-wrap: wrap; }
.gpufeed-field .widget-label { width: 100% !important; text-align: left; }
}
.gpufeed-field select { text-overflow: ellipsis; }
[data-jp-theme-light="false"] .gpufeed-field select { background-image: url("@@ARROW@@"); color-scheme: dark; }
.gpufeed-field select { min-height: 28px; }
.gpufeed-refused :is(input, select) { box-shadow: 0 0 0 2px #D55E00; }
.gpufeed-working { opacity: 0.5; }
.vega-embed svg.marks { max-width: 100%; height: auto; }
.gpufeed h3 { margin: 14px 0 4px; font-size: 15px; font-weight: 600; }
.gpufeed p { margin: 4px 0; max-width: 75em; white-space: normal; }
.gpufeed .headline { font-size: 22px; line-height: 1.3; font-weight: 600; }
.gpufeed .error { border-left: 4px solid #D55E00; padding: 4px 10px; background: var(--jp-layout-color2, #f3f3f3); }
.gpufeed .note { color: var(--jp-ui-font-color2, #555); }
.gpufeed .scroll { overflow-x: auto; container-type: inline-size; }
.gpufeed table { border-collapse: collapse; margin: 4px 0; font-size: 13px; }
.gpufeed .scroll th, .gpufeed .scroll td { text-align: left; vertical-align: top; padding: 4px 10px 4px 0;
  border-bottom: 1px solid var(--jp-border-color2, #ccc); white-space: pre-wrap; min-width: 4em; max-width: 26em; }
.gpufeed th { font-weight: 600; }
@@CARDS@@
</style>""".replace("@@CARDS@@", cards(".gpufeed .scroll")).replace("@@ARROW@@", _ARROW)


def block(*parts: str) -> str:
    return f'<div class="gpufeed">{"".join(parts)}</div>'


def heading(title: str) -> str:
    return f"<h3>{escape(title)}</h3>"


def paragraph(sentence: str, style: str = "") -> str:
    return f'<p class="{style}">{escaped(sentence, _LONGEST_SENTENCE)}</p>' if sentence else ""


def alert(sentence: str) -> str:
    """An error: read aloud at once by a screen reader."""
    return f'<p class="error" role="alert">{escaped(sentence, _LONGEST_SENTENCE)}</p>' if sentence else ""


def status(sentence: str) -> str:
    """What came of a press of a button: read aloud when a screen reader has said what it is saying."""
    return f'<p role="status">{escaped(sentence, _LONGEST_SENTENCE)}</p>'


def closed(title: str, *parts: str) -> str:
    """A section that opens when its title is pressed; works with the keyboard and without scripts."""
    return f'<details class="group"><summary>{escape(title)}</summary>{"".join(parts)}</details>'


def doubt(sentence: str) -> str:
    """Something that puts the answer in doubt: seen as an error is, though nothing went wrong."""
    return f'<p class="error">{escaped(sentence, _LONGEST_SENTENCE)}</p>' if sentence else ""


def listed(sentences: list[str]) -> str:
    items = "".join(f"<li>{escaped(sentence, _LONGEST_SENTENCE)}</li>" for sentence in sentences)
    return f"<ul>{items}</ul>" if items else ""


def table(rows: pd.DataFrame) -> str:
    """A table of text; in a place too narrow for it a card for each row."""
    return grid(
        list(rows.columns),
        ([escaped(cell, _LONGEST_SENTENCE) for cell in row] for row in rows.itertuples(index=False)),
    )


def grid(columns: Sequence[object], rows: Iterable[Sequence[str]]) -> str:
    """A table whose cells are HTML, for pages with the style of :func:`cards`."""
    names = [escape(str(name)) for name in columns]
    head = "".join(f'<th scope="col">{name}</th>' for name in names)
    body = "".join(f"<tr>{''.join(map(_cell, names, row))}</tr>\n" for row in rows)
    needs = next((f"columns-{least}" for least, _ in reversed(_NEEDS) if len(names) >= least), "")
    return (
        f'<div class="scroll"><table class="{needs}"><thead><tr>{head}</tr></thead>\n'
        f"<tbody>\n{body}</tbody></table></div>\n"
    )


def _cell(column: str, shown: str) -> str:
    return f'<td data-column="{column}"><span>{shown}</span></td>'


@dataclass(frozen=True, eq=False)
class Summary:
    """What a panel shows, without widgets: the form stored in a notebook and read on the web."""

    parts: list[tuple[str, str | list[str] | pd.DataFrame]] = field(default_factory=list)  # (title, content)

    def _repr_mimebundle_(self, **_: object) -> dict[str, Any]:
        return {"text/plain": str(self), "text/html": self.html}

    @property
    def html(self) -> str:
        shown = [STYLE]
        for title, content in self.parts:
            shown.append(heading(title) if title else "")
            if isinstance(content, str):
                shown.append(paragraph(content))
            else:
                shown.append(listed(content) if isinstance(content, list) else table(content))
        return block(*shown)

    def __str__(self) -> str:
        lines: list[str] = []
        for title, content in self.parts:
            lines += [title] if title else []
            if isinstance(content, str):
                lines.append(content)
            elif isinstance(content, list):
                lines += [f"- {sentence}" for sentence in content]
            else:
                lines += [" | ".join(content.columns)]
                lines += [" | ".join(str(cell) for cell in row) for row in content.itertuples(index=False)]
        return "\n".join(lines)


def summary(*contents: str | list[str] | pd.DataFrame) -> Summary:
    """Sentences and tables, one below the other, as panels show them."""
    return Summary([("", content) for content in contents])
