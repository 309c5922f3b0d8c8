"""Choose: enter the traits of a job, see where each kind of data belongs and why."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import traitlets

from gpufeed import facts as facts_floor
from gpufeed.facts.messages import text
from gpufeed.model.advise import recommend
from gpufeed.model.alternatives import alternatives, what_pays
from gpufeed.model.course import course
from gpufeed.model.explain import Figure, explain
from gpufeed.model.file_system import sized
from gpufeed.model.flip import STEPS_PER_DECADE, Sensitivity, sensitivities
from gpufeed.model.recommendation import Recommendation
from gpufeed.model.rules import FSX
from gpufeed.model.study import Study
from gpufeed.model.workload import Workload
from gpufeed.observe.runner import Control
from gpufeed.present import answer, charts, derivation, page, tables, words
from gpufeed.present.fields import stated
from gpufeed.present.page import Summary
from gpufeed.present.panels.form import Form
from gpufeed.present.panels.panel import Panel, html, row
from gpufeed.present.panels.section import Section
from gpufeed.present.panels.take_away import TakeAway
from gpufeed.present.tables.frame import table

if TYPE_CHECKING:
    import pandas as pd


class ChoosePanel(Panel):
    """``workload`` and ``recommendation`` follow the widgets, such as ``form.widgets["instances"]``."""

    workload = traitlets.Instance(Workload, allow_none=True)
    recommendation = traitlets.Instance(Recommendation, allow_none=True)

    def __init__(self, study: Study, *, headed: bool = True) -> None:
        """``headed``: with the headline; a page that has its own goes without."""
        super().__init__(study)
        self._headed = headed
        self._facts = facts_floor.load()
        # A change of a widget and the end of a scan may come at the same time, from two threads.
        self._one_at_a_time = threading.RLock()
        self.form = Form(self._facts, study.workload, self.refresh)
        self._answer, self._supply, self._cost, self._details = html(), html(), html(), html()
        self.flips = Section(text("panel.flips"), self._flips, flips_page, text("flip.searching"))
        self.alternatives = Section(text("alternatives.heading"), self._pays, page.listed)
        self.figures = Section(text("panel.explain"), self._explained, self._figures_page, text("explain.working"))
        self.take_away = TakeAway(study, lambda: self.error)
        self.children = [
            self.form.main(),
            self.form.more(),
            self._error_line,
            self._answer,
            row(self._supply, self._cost, align="flex-start"),
            self.alternatives.widget,
            self.flips.widget,
            self.figures.widget,
            self.take_away,
            self._details,
        ]
        for picture in (self._supply, self._cost):
            picture.layout.width = "auto"
        self.refresh()

    def refresh(self) -> None:
        """Read the form and answer; what cannot be used is said, and the last answer stays."""
        with self._one_at_a_time:
            self._answer.add_class(page.WORKING)
            try:
                workload = self.form.read()
                recommendation = recommend(
                    workload, self._facts, profile=self.study.profile, measurement=self.study.measurement
                )
                self._show(recommendation)
            except Exception as error:  # noqa: BLE001 — shown in the panel; the next change is read again
                self.error = error
                return
            finally:
                self._answer.remove_class(page.WORKING)
            self.error = None
            self.study.workload, self.study.recommendation = workload, recommendation
            self.workload, self.recommendation = workload, recommendation
            self.alternatives.renew()
            self.flips.renew()
            self.figures.renew()

    def _flips(self, control: Control) -> list[Sensitivity] | None:
        """What would change the plan that is shown; None when a newer plan has taken its place meanwhile."""
        plan, study = self.recommendation, self.study
        if plan is None:
            return None
        found = []
        for one in sensitivities(plan, self._facts, profile=study.profile, measurement=study.measurement):
            if control.stopping.is_set():
                return None
            found.append(one)
        return found

    def _pays(self, _: Control | None = None) -> list[str]:
        """What else would pay, or why that is not known."""
        plan, study = self.recommendation, self.study
        if plan is None:
            return []
        found = alternatives(plan, self._facts, profile=study.profile, measurement=study.measurement)
        return [words.reason(reason, words.in_form) for reason in what_pays(plan, found)]

    def _course(self, plan: Recommendation) -> pd.DataFrame:
        return tables.course(course(plan, self._facts, self.study.profile))

    def _explained(self, _: Control | None = None) -> dict[str, Figure] | None:
        plan, study = self.recommendation, self.study
        if plan is None:
            return None
        return explain(plan, self._facts, profile=study.profile, measurement=study.measurement)

    def _figures_page(self, figures: dict[str, Figure]) -> str:
        first = self.recommendation.recommended if self.recommendation else ""
        return derivation.page(figures, self._facts, first)

    def summary(self) -> Summary:
        plan = summary(self.recommendation)
        figures = self._explained()
        if self.workload is None or self.recommendation is None or figures is None:
            return plan
        asked = [figure for figure in figures.values() if figure.option is None]
        how = (text("panel.explain"), derivation.sentences(asked))
        entered = table(("trait", "stated"), stated(self.workload, self.recommendation.currency))
        pays = (text("alternatives.heading"), self._pays())
        steps = (text("course.heading"), self._course(self.recommendation))
        return Summary([("", entered), *plan.parts, pays, steps, how])

    def _show(self, recommendation: Recommendation) -> None:
        # Values first: they are there at once, the charts a moment later.
        self._answer.value = page.block(
            page.STYLE,
            page.paragraph(answer.headline(recommendation), "headline") if self._headed else "",
            page.paragraph(answer.verdict(recommendation)),
            # What was entered above and was not taken, next to it.
            *(
                page.paragraph(words.warning(warning, words.in_form), "note")
                for warning in recommendation.warnings
                if warning.id.startswith("profile-") and not warning.grave
            ),
            *(
                page.doubt(words.warning(warning, words.in_form))
                for warning in recommendation.warnings
                if warning.grave
            ),
            page.heading(text("panel.placements")),
            page.table(tables.placements(recommendation)),
            page.heading(text("panel.opinions")),
            page.table(tables.opinions(recommendation)),
            page.listed(tables.why(recommendation)),
        )
        self._details.value = page.block(
            page.heading(text("panel.rules")),
            page.listed(answer.rule_sentences(recommendation)),
            page.heading(text("panel.options")),
            page.table(tables.options(recommendation)),
            self._file_systems(recommendation),
            page.heading(text("panel.epochs")),
            page.table(tables.epochs(recommendation)),
            page.heading(text("panel.bursts")),
            page.table(tables.bursts(recommendation)),
            page.heading(text("panel.costs")),
            page.table(tables.costs(recommendation)),
            page.heading(answer.bill_heading(recommendation)),
            page.table(tables.bill(recommendation)),
            page.heading(answer.checkpoint_heading(recommendation)),
            page.table(tables.checkpoints(recommendation)),
            page.heading(text("course.heading")),
            page.table(self._course(recommendation)),
            page.heading(text("panel.warnings")) if recommendation.warnings else "",
            page.listed(answer.warnings(recommendation, words.in_form)),
        )
        self._supply.value = charts.supply_vs_demand(recommendation).image
        self._cost.value = charts.cost(recommendation).image

    def _file_systems(self, recommendation: Recommendation) -> str:
        """Every file system that would do, closed until somebody looks; nothing where FSx for Lustre is ruled out."""
        if recommendation.option(FSX).verdict == "ruled-out":
            return ""
        found = sized(recommendation.workload, self._facts, self.study.profile, plan=recommendation)
        shown = (page.table(tables.file_systems(found)), page.listed(tables.file_system_sentences(found)))
        return page.closed(text("panel.file-systems"), *shown)


def flips_page(found: list[Sensitivity]) -> str:
    """The chart, its table, a sentence for each flip, and how they were looked for."""
    return "".join(
        (
            charts.sensitivity(found).image,
            page.listed(tables.flips(found)),
            page.table(tables.sensitivity(found)),
            page.paragraph(text("flip.how", steps=STEPS_PER_DECADE), "note"),
        )
    )


def summary(recommendation: Recommendation | None) -> Summary:
    """A recommendation as text and tables."""
    if recommendation is None:
        return Summary([("", text("panel.no-recommendation"))])
    return Summary(
        [
            (answer.headline(recommendation), answer.verdict(recommendation)),
            (text("panel.rules"), answer.rule_sentences(recommendation)),
            (text("panel.placements"), tables.placements(recommendation)),
            (text("panel.opinions"), tables.opinions(recommendation)),
            ("", tables.why(recommendation)),
            (text("panel.options"), tables.options(recommendation)),
            (text("panel.epochs"), tables.epochs(recommendation)),
            (text("panel.bursts"), tables.bursts(recommendation)),
            (text("panel.costs"), tables.costs(recommendation)),
            (answer.bill_heading(recommendation), tables.bill(recommendation)),
            (answer.checkpoint_heading(recommendation), tables.checkpoints(recommendation)),
            (text("panel.warnings"), answer.warnings(recommendation)),
        ]
    )
