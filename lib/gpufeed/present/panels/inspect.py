"""Inspect: list a prefix live and see whether its objects starve the GPUs."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import ipywidgets as widgets
import traitlets

from gpufeed import facts as facts_floor
from gpufeed.facts.messages import text
from gpufeed.model.profile import PrefixProfile
from gpufeed.model.rules import S3
from gpufeed.model.small_files import SmallFiles, small_files
from gpufeed.model.study import Study
from gpufeed.model.workload import DEFAULT_REGION
from gpufeed.observe import scan as scanning
from gpufeed.observe.runner import Control, Progress
from gpufeed.observe.scan import ScanResult
from gpufeed.observe.store import StoreOptions
from gpufeed.present import charts, page, tables, words
from gpufeed.present.page import Summary
from gpufeed.present.panels.panel import WorkingPanel, entry, html, row


class InspectPanel(WorkingPanel):
    """``profile`` is what lies under the prefix; ``start()`` and ``wait()`` do what the Scan button does."""

    finding = "profile"
    profile = traitlets.Instance(PrefixProfile, allow_none=True)

    def __init__(self, study: Study, url: str = "", endpoint_url: str = "") -> None:
        super().__init__(study, text("panel.scan"))
        self._facts = facts_floor.load()
        self.url = entry("panel.url", url)
        self.endpoint = entry("panel.endpoint", endpoint_url)
        self.anonymous = widgets.Checkbox(description=text("panel.anonymous"), indent=False)
        self.concurrency = widgets.BoundedIntText(
            value=inspect.signature(scanning.scan).parameters["concurrency"].default,
            min=1,
            max=256,
            description=text("panel.parallel"),
            style={"description_width": "160px"},
            layout=widgets.Layout(width="260px"),
        )
        self._cost = html(page.block(page.STYLE, page.paragraph(self._cost_sentence(), "note")))
        self._answer, self._sizes, self._prefixes, self._details = html(), html(), html(), html()
        for picture in (self._sizes, self._prefixes):
            picture.layout.width = "auto"
        self.children = [
            row(self.url, self.endpoint, self.concurrency, self.anonymous),
            self._cost,
            row(self.start_button, self.stop_button, self.progress_line),
            self._error_line,
            self._answer,
            row(self._sizes, self._prefixes, align="flex-start"),
            self._details,
        ]
        if study.scan is not None:
            self.show(study.scan)

    def work(self) -> Callable[[Control], ScanResult]:
        url, concurrency = self.url.value.strip(), self.concurrency.value
        options = StoreOptions(endpoint_url=self.endpoint.value.strip() or None, anonymous=self.anonymous.value)
        return lambda control: scanning.scan(url, options=options, concurrency=concurrency, control=control)

    def progress_sentence(self, progress: Progress) -> str:
        said = text("panel.listed", keys=words.count(progress.done), duration=words.duration(progress.seconds))
        return said if progress.rate is None else said + text("panel.list-rate", rate=words.count(progress.rate))

    def show(self, result: ScanResult) -> None:
        """Show a scan and keep it in the study; what was listed before a failure is kept."""
        if not result.answered:
            self.error = result.failure
            return
        self.study.scan = result
        self.study.profile = result.profile
        if self.study.workload is not None:
            self.study.recommend(self._facts)  # the verdict compares with what the GPUs ask for at these sizes
        self.profile = result.profile
        self.refresh()
        self.error = result.failure

    def refresh(self) -> None:
        """Draw again, as after the workload changed."""
        profile, result = self.profile, self.study.scan
        if profile is None or result is None:
            return
        found = self._small_files(profile)
        threshold = found.headline.threshold_bytes.value if found else None
        self._answer.value = page.block(
            page.STYLE,
            page.paragraph(tables.scan_sentence(result), "headline"),
            page.listed(sentences(result, found)),
        )
        if not profile.objects:
            self._sizes.value = self._prefixes.value = self._details.value = ""
            return
        self._sizes.value = charts.size_histogram(profile, threshold).image
        self._prefixes.value = charts.by_prefix(profile).image
        self._details.value = page.block(
            *(page.heading(title) + page.table(rows) for title, rows in self._tables(profile, found))
        )

    def summary(self) -> Summary:
        if self.profile is None:
            return Summary([("", text("panel.no-profile"))])
        result, found = self.study.scan, self._small_files(self.profile)
        said = sentences(result, found)
        return Summary([("", tables.scan_sentence(result)), ("", said), *self._tables(self.profile, found)])

    @property
    def small_files(self) -> SmallFiles | None:
        """The small-file verdict for what was inspected; None before that, or when nothing has a known size."""
        return None if self.profile is None else self._small_files(self.profile)

    def _small_files(self, profile: PrefixProfile) -> SmallFiles | None:
        """For the workload of the study where there is one, else at the concurrency entered here."""
        return small_files(
            profile,
            self._facts,
            concurrency=self.concurrency.value,
            region=self._region(),
            plan=self.study.recommendation,
        )

    def _cost_sentence(self) -> str:
        """What a scan costs, before it starts."""
        region = self._region()
        price = self._facts.price(S3, "list", region)
        currency = self._facts.regions[region].get_value("currency")
        return text("panel.scan-cost", price=words.money(price.value if price else None, currency), region=region)

    def _region(self) -> str:
        return self.study.recommendation.region if self.study.recommendation else DEFAULT_REGION

    def _tables(self, profile: PrefixProfile, found: SmallFiles | None) -> list[tuple[str, Any]]:
        currency = self._facts.regions[self._region()].get_value("currency")
        verdicts = [(text("panel.per-option"), tables.small_files(found, currency))] if found else []
        return [
            *verdicts,
            (text("panel.by-size"), tables.sizes(profile)),
            (text("panel.by-prefix"), tables.prefixes(profile)),
            (text("panel.by-extension"), tables.extensions(profile)),
            (text("panel.by-storage-class"), tables.storage_classes(profile)),
        ]


def sentences(result: ScanResult, found: SmallFiles | None) -> list[str]:
    """Whether the list is whole, what the sizes mean, and what else to know."""
    partial = [] if result.complete else [text("panel.partial", reason=str(result.incomplete_because))]
    return [*partial, *(tables.small_file_sentences(found) if found else []), *map(str, result.warnings)]
