"""A chart that draws with no network: live in JupyterLab, a picture everywhere else, and a table for those who read.

JupyterLab ships Vega-Lite 5 while altair 6 writes version 6 and loads its own renderer from the web.  So each chart
goes out twice: as Vega-Lite 5, which JupyterLab draws itself, and as SVG, which is all that a web page needs.
"""

from __future__ import annotations

import html
import math
import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import altair as alt

from gpufeed.facts.messages import language, text

if TYPE_CHECKING:
    import pandas as pd

Rows = list[dict[str, Any]]

MIMETYPE = "application/vnd.vegalite.v5+json"
SCHEMA = "https://vega.github.io/schema/vega-lite/v5.20.1.json"  # a name, never loaded
_VEGA_LITE = "5.20"
MOST_ROWS = 5000

# Okabe and Ito's colours, told apart with any colour vision, as dark or light as it takes to be seen on white and on
# JupyterLab's dark card (#333); each mark also differs in shape, dash or lightness.  What is lighter has a rim.
BLUE, SKY, ORANGE, RED, GREEN, GREY = "#2B88CC", "#56B4E9", "#E69F00", "#DB6413", "#12A079", "#808080"
# Writing, and the rim around it, take their colours from the card: JupyterLab draws the chart on one of its theme.
_DARK, _LIGHT = "#1A1A1A", "#EEEEEE"
INK = alt.ExprRef(f"luminance(background) < 0.5 ? '{_LIGHT}' : '{_DARK}'")
CARD = alt.ExprRef("background")
WIDTH = 340
_LINE = 72  # letters
_FEW_DECADES = 2

# Chinese falls back to whichever of these the reader's machine has, in the end to its default.
_FONT = "Arial, 'Liberation Sans', 'PingFang SC', 'Microsoft YaHei', 'Noto Sans CJK SC', sans-serif"
# Names no colour of the card or of its guides: those are JupyterLab's theme's.
_CONFIG: dict[str, Any] = {
    "padding": 12,
    "font": _FONT,
    "view": {"stroke": None},
    "axis": {
        "labelFontSize": 12,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "domainColor": GREY,
        "tickColor": GREY,
        "gridColor": GREY,
        "gridOpacity": 0.25,
        "labelSeparation": 6,
    },
    "legend": {"labelFontSize": 12, "titleFontSize": 12, "orient": "bottom", "labelLimit": 340},
    "title": {"fontSize": 14, "anchor": "start", "subtitleFontSize": 12, "offset": 10},
    "text": {"fontSize": 12},
}
# An SVG is as narrow as a narrow page (``page.STYLE``), a canvas is not.
_IN_LAB = {"embedOptions": {"renderer": "svg"}}
# A picture is drawn on white; a page in the dark gives it another card and other ink, marks are seen on both.
_PICTURE: dict[str, Any] = {
    **_CONFIG,
    "background": "white",
    "style": {"guide-label": {"fill": _DARK}, "guide-title": {"fill": _DARK}},
    "title": {**_CONFIG["title"], "color": _DARK, "subtitleColor": _DARK},
}
_STYLE = f"""<style>
.gpufeed-chart {{ --ink: {_DARK}; --card: white; max-width: 100%; height: auto; }}
[data-jp-theme-light="false"] .gpufeed-chart {{ --ink: {_LIGHT}; --card: #2B2B2B; }}
.gpufeed-chart [fill="{_DARK}"] {{ fill: var(--ink); }}
.gpufeed-chart [stroke="{_DARK}"] {{ stroke: var(--ink); }}
.gpufeed-chart [fill="white"] {{ fill: var(--card); }}
.gpufeed-chart [stroke="white"] {{ stroke: var(--card); }}
</style>"""


def _steps(*steps: tuple[float, str], factor: float = 1.0) -> str:
    """A Vega expression that writes a number of base units in the largest unit it reaches."""
    *larger, (smallest, unit) = steps
    written = f"format(datum.value * {factor!r} / {smallest!r}, '~g') + '{unit}'"
    for size, name in reversed(larger):
        number = f"datum.value * {factor!r}"
        written = f"{number} >= {size!r} ? format({number} / {size!r}, '~g') + '{name}' : {written}"
    return written


# How an axis writes its numbers, which are in base units.
AMOUNT_LABEL = "datum.value >= 10 ? format(datum.value, ',.0f') : format(datum.value, '~g')"
DECIMAL_SIZE_LABEL = _steps((1e15, " PB"), (1e12, " TB"), (1e9, " GB"), (1e6, " MB"), (1e3, " KB"), (1.0, " B"))
RATE_LABEL = _steps((1e12, " TB/s"), (1e9, " GB/s"), (1e6, " MB/s"), (1e3, " KB/s"), (1.0, " B/s"))
BIT_RATE_LABEL = _steps(
    (1e12, " Tbit/s"), (1e9, " Gbit/s"), (1e6, " Mbit/s"), (1e3, " kbit/s"), (1.0, " bit/s"), factor=8.0
)
SIZE_LABEL = _steps((2.0**40, " TiB"), (2.0**30, " GiB"), (2.0**20, " MiB"), (2.0**10, " KiB"), (1.0, " B"))


@dataclass(frozen=True, eq=False)
class Drawing:
    """One chart: ``spec`` (Vega-Lite 5), ``svg``, ``description`` (its text alternative) and ``table`` (its data)."""

    chart: alt.TopLevelMixin
    description: str
    table: pd.DataFrame

    @cached_property
    def spec(self) -> dict[str, Any]:
        # The specification is made here and tested as a picture: checking it against a schema costs 30 ms a time.
        spec: dict[str, Any] = self.chart.to_dict(validate=False)
        return {**spec, "$schema": SCHEMA, "description": self.description, "config": _CONFIG, "usermeta": _IN_LAB}

    @cached_property
    def svg(self) -> str:
        drawn = svg_of({**self.spec, "config": _PICTURE})
        return re.sub(r'class="marks"([^>]*)>', rf'class="gpufeed-chart"\1>{_STYLE}', drawn, count=1)

    @property
    def image(self) -> str:
        """The picture on a page, no wider than that, with its description for those who do not see it.

        It stands in the page itself, so that it takes the page's theme; it has no ids that could meet others.
        """
        return f'<div role="img" aria-label="{html.escape(self.description)}">{self.svg}</div>'

    def _repr_mimebundle_(self, **_: object) -> dict[str, Any]:
        return {MIMETYPE: self.spec, "image/svg+xml": self.svg, "text/plain": self.description}


def svg_of(spec: dict[str, Any]) -> str:
    """The picture of a Vega-Lite 5 specification, drawn in this process."""
    import vl_convert

    drawn: str = vl_convert.vegalite_to_svg(spec, vl_version=_VEGA_LITE, allowed_base_urls=[])
    return drawn


def _render(spec: dict[str, Any], **_: Any) -> dict[str, Any]:
    spec = {**spec, "$schema": SCHEMA}
    return {MIMETYPE: spec, "image/svg+xml": svg_of(spec), "text/plain": spec.get("description", "")}


# Charts that people draw themselves with altair beside ours come out the same way, without a network.
alt.renderers.register("gpufeed", _render)
alt.renderers.enable("gpufeed")


def data(rows: Rows) -> alt.Data:
    """Rows inside the chart itself, under no generated name: the same chart is the same text every time."""
    return alt.Data(values=rows)  # type: ignore[no-untyped-call]  # altair's own


def x_at(pixels: float) -> alt.XValue:
    """A fixed place on the page, whatever the data: for labels."""
    return alt.XValue(pixels)  # type: ignore[no-untyped-call]  # altair's own


def y_at(pixels: float) -> alt.YValue:
    return alt.YValue(pixels)  # type: ignore[no-untyped-call]  # altair's own


def written(labels: alt.Chart, **where: Any) -> list[Any]:
    """Labels from the left that stay readable across lines and bands: the letters, on a rim of the card's colour."""
    looks: dict[str, Any] = {"align": "left", "fontSize": 11, "lineBreak": "\n", **where}
    rim = labels.mark_text(color=CARD, stroke=CARD, strokeWidth=3, strokeJoin="round", **looks)
    return [rim, labels.mark_text(color=INK, **looks)]


def decades(low: float, high: float) -> list[float]:
    """Ticks of a logarithmic axis from the power of ten at or below ``low`` to the one at or above ``high``.

    Few decades are divided into 1, 2 and 5, many are not.
    """
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    last = max(last, first + 1)
    between = (1, 2, 5) if last - first <= _FEW_DECADES else (1,)
    return [float(step * 10**power) for power in range(first, last) for step in between] + [float(10**last)]


def lines(sentences: Sequence[str], letters: int = _LINE) -> list[str]:
    """Sentences under a title, broken so that none makes the chart wider; a Chinese character is two letters wide."""
    width = letters // 2 if language() == "zh_CN" else letters
    return [line for sentence in sentences for line in textwrap.wrap(sentence, width)]


def thinned(points: Sequence[tuple[float, float]], most: int = MOST_ROWS) -> list[tuple[float, float]]:
    """At most ``most`` of the points, in order: the lowest and highest of each stretch, so that no spike is lost."""
    if len(points) <= most:
        return list(points)
    stretches = most // 2
    kept: set[int] = set()
    for stretch in range(stretches):
        first, end = len(points) * stretch // stretches, len(points) * (stretch + 1) // stretches
        indices = range(first, end)
        kept.add(min(indices, key=lambda i: points[i][1]))
        kept.add(max(indices, key=lambda i: points[i][1]))
    return [points[i] for i in sorted(kept)]


def thinning_note(all_points: int, drawn: int) -> str:
    """What a thinned chart says about itself; empty when everything is drawn."""
    return text("chart.thinned", drawn=f"{drawn:,}", all=f"{all_points:,}") if drawn < all_points else ""
