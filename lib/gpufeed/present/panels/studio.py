"""The four panels on one page: what one of them finds, the others use."""

from __future__ import annotations

from typing import Any

import ipywidgets as widgets
import traitlets

from gpufeed.facts.messages import text
from gpufeed.model.measurement import Measurement
from gpufeed.model.profile import PrefixProfile
from gpufeed.model.recommendation import Recommendation
from gpufeed.model.study import Study
from gpufeed.model.workload import Workload
from gpufeed.present import answer, page
from gpufeed.present.page import Summary
from gpufeed.present.panels.checkpoints import CheckpointsPanel
from gpufeed.present.panels.choose import ChoosePanel
from gpufeed.present.panels.inspect import InspectPanel
from gpufeed.present.panels.measure import MeasurePanel
from gpufeed.present.panels.panel import Panel, html


class StudioPanel(Panel):
    """``choose``, ``inspect``, ``measure`` and ``checkpoints`` as tabs under the headline "GPUs fed: N %"."""

    workload = traitlets.Instance(Workload, allow_none=True)
    recommendation = traitlets.Instance(Recommendation, allow_none=True)
    profile = traitlets.Instance(PrefixProfile, allow_none=True)
    measurement = traitlets.Instance(Measurement, allow_none=True)

    def __init__(self, study: Study, url: str = "", endpoint_url: str = "") -> None:
        super().__init__(study)
        self.choose = ChoosePanel(study, headed=False)
        self.inspect = InspectPanel(study, url, endpoint_url)
        self.measure = MeasurePanel(study, url, endpoint_url)
        self.checkpoints = CheckpointsPanel(study, drawn=False)
        self._headline = html()
        panels = [self.choose, self.inspect, self.measure, self.checkpoints]
        tabs = widgets.Tab(panels, layout=widgets.Layout(width="calc(100% - 4px)"))  # 4px: its margins
        for index, name in enumerate(("panel.choose", "panel.inspect", "panel.measure", "panel.checkpoints-tab")):
            tabs.set_title(index, text(name))
        self.tabs = tabs
        self.children = [self._headline, tabs]
        for panel, name in (
            (self.choose, "workload"),
            (self.choose, "recommendation"),
            (self.inspect, "profile"),
            (self.measure, "measurement"),
        ):
            traitlets.dlink((panel, name), (self, name))
        for panel in panels:
            traitlets.dlink((panel, "error"), (self, "error"))
        self.choose.observe(self._recommended, names="recommendation")
        self.inspect.observe(lambda _: self.choose.refresh(), names="profile")
        self.measure.observe(lambda _: self.choose.refresh(), names="measurement")
        self.checkpoints.observe(self._checkpoints_entered, names="workload")
        # Only what is seen is drawn: a chart that nobody looks at would make each change slow.
        self._stale: set[Panel] = set()
        tabs.observe(lambda _: self._redraw(), names="selected_index")
        self._recommended()

    def summary(self) -> Summary:
        panels = (self.choose, self.inspect, self.measure, self.checkpoints)
        return Summary([part for panel in panels for part in panel.summary().parts])

    def _recommended(self, _: Any = None) -> None:
        self._headline.value = page.block(page.STYLE, page.paragraph(answer.headline(self.recommendation), "headline"))
        self._stale = {self.inspect, self.measure}
        if self.checkpoints.recommendation != self.recommendation:
            self._stale.add(self.checkpoints)
        self._redraw()

    def _checkpoints_entered(self, _: Any = None) -> None:
        """A trait that was changed among the checkpoints is one of the job."""
        if self.checkpoints.workload != self.choose.workload:
            self.choose.form.fill(self.checkpoints.workload)
            self.choose.refresh()

    def _redraw(self) -> None:
        seen = self.tabs.children[self.tabs.selected_index or 0]
        if seen in self._stale:
            self._stale.discard(seen)
            seen.refresh()
