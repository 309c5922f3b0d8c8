"""The form for a workload: one widget per field of ``WORKLOAD.toml``, read into a checked, frozen Workload."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from html import escape
from typing import Any

import ipywidgets as widgets

from gpufeed.facts import Facts
from gpufeed.facts.errors import InputError
from gpufeed.facts.messages import text
from gpufeed.facts.units import Unit
from gpufeed.model import workload as model
from gpufeed.model.workload import Workload
from gpufeed.present import words
from gpufeed.present.escape import escaped
from gpufeed.present.fields import FIELDS, MORE, Field, shown

_ITEM = {"description_width": "200px"}
_LAYOUT = {"width": "380px", "max_width": "calc(100% - 4px)"}  # 4px: the margins of a widget
_LONGEST = 300  # characters of a sentence beside a field
#: The style of the page knows these: a box of fields, one of them, and one whose value was refused.
FIELDS_TOGETHER, FIELD, REFUSED = "gpufeed-fields", "gpufeed-field", "gpufeed-refused"


class Form:
    """The widgets of all fields.  ``widgets`` maps field names to them; an empty one means "not stated"."""

    def __init__(self, facts: Facts, workload: Workload | None, changed: Callable[[], None]) -> None:
        self._facts = facts
        self._changed = changed
        self._quiet = False
        self._refused: str | None = None
        self.widgets: dict[str, Any] = {}
        self.operations = {name: _checkbox(name) for name in model.FILE_OPERATIONS}
        for field in (*FIELDS, *MORE):
            if field.kind != "operations":
                self.widgets[field.name] = _widget(field, facts)
        self.fill(workload)
        for widget in self._each():
            widget.observe(self._heard, names="value")

    def fill(self, workload: Workload | None) -> None:
        """Show this workload; one change is told, not one per field."""
        stated = workload.to_mapping() if workload else {}
        self._quiet = True
        try:
            for field in (*FIELDS, *MORE):
                if field.kind == "operations":
                    for name, box in self.operations.items():
                        box.value = name in stated.get(field.name, ())
                else:
                    self.widgets[field.name].value = shown(field, stated.get(field.name))
        finally:
            self._quiet = False

    def read(self) -> Workload:
        """The workload as entered.  Raises InputError that names the field and what is wrong with it, and marks it."""
        self._mark(None)
        entered = {field.name: self._entered(field) for field in (*FIELDS, *MORE)}
        stated = {name: value for name, value in entered.items() if value is not None}
        try:
            return Workload.from_mapping(stated, self._facts)
        except InputError as error:
            labelled = self._as_labelled(error)
            self._mark(str(error.parameters.get("field")), str(labelled))
            raise labelled from None

    def _mark(self, refused: str | None, why: str = "") -> None:
        """Say of one field, beside it, why it cannot be used; and of the field before no longer."""
        if self._refused in self.widgets:
            self.widgets[self._refused].remove_class(REFUSED)
            self.widgets[self._refused].description = _label(self._refused)
        self._refused = refused
        if refused in self.widgets:
            self.widgets[refused].add_class(REFUSED)
            self.widgets[refused].description = _label(refused, why)

    def _as_labelled(self, error: InputError) -> InputError:
        """The same refusal with the label of the field, what was typed there, and bounds in the unit of the label."""
        said = dict(error.parameters)
        field = next((field for field in (*FIELDS, *MORE) if field.name == said.get("field")), None)
        if field is None or field.kind != "number":
            return error
        said |= {"field": words.trait(field.name), "value": self.widgets[field.name].value.strip()}
        said |= {bound: shown(field, float(said[bound])) for bound in ("least", "most") if bound in said}
        return InputError(error.message_id, **said)

    def main(self) -> widgets.Box:
        """The fields most people need."""
        return _flow([self._shown_widget(field) for field in FIELDS])

    def more(self) -> widgets.Accordion:
        accordion = widgets.Accordion([_flow([self._shown_widget(field) for field in MORE])], selected_index=None)
        accordion.set_title(0, text("panel.more"))
        return accordion

    def some(self, names: Iterable[str]) -> widgets.Box:
        """These fields alone; the others keep what they hold, unseen."""
        by_name = {field.name: field for field in (*FIELDS, *MORE)}
        return _flow([self._shown_widget(by_name[name]) for name in names])

    def _shown_widget(self, field: Field) -> Any:
        if field.kind != "operations":
            return self.widgets[field.name]
        label = widgets.Label(words.trait(field.name), layout=widgets.Layout(width="100%", margin="6px 0 0 0"))
        return _flow([label, *self.operations.values()])

    def _entered(self, field: Field) -> Any:
        if field.kind == "operations":
            return tuple(name for name, box in self.operations.items() if box.value) or None
        value = self.widgets[field.name].value
        if field.kind == "flag":
            return None if value == "" else value
        if field.kind == "number":
            return _typed(value, field.unit)
        return (value or "").strip() or None

    def _each(self) -> Iterator[Any]:
        yield from self.widgets.values()
        yield from self.operations.values()

    def _heard(self, _: Mapping[str, Any]) -> None:
        if not self._quiet:
            self._changed()


def _widget(field: Field, facts: Facts) -> Any:
    widget = _empty(field, facts)
    widget.description, widget.description_allow_html = _label(field.name), True
    widget.add_class(FIELD)
    return widget


def _label(name: str, refused: str = "") -> str:
    """The label of a field, or why its value was refused; and what it means, when the mouse rests on it.

    A widget with a description shows no tooltip of its own.
    """
    said = refused or words.trait(name)
    return f'<span title="{escape(text(f"field-about.{name}"))}">{escaped(said, _LONGEST)}</span>'


def _empty(field: Field, facts: Facts) -> Any:
    layout = widgets.Layout(**_LAYOUT)
    if field.kind == "choice":
        # "" and not None: a Dropdown whose value is None may show nothing as chosen.
        options = [(text("panel.not-stated"), ""), *((field.shown(value), value) for value in field.choices(facts))]
        return widgets.Dropdown(options=options, style=_ITEM, layout=layout)
    if field.kind == "flag":  # three, since what is left out may mean yes
        answers: dict[str, Any] = {text("panel.not-stated"): "", text("present.yes"): True, text("present.no"): False}
        return widgets.Dropdown(options=answers, style=_ITEM, layout=layout)
    return widgets.Text(placeholder=text("panel.not-stated"), continuous_update=False, style=_ITEM, layout=layout)


def _checkbox(name: str) -> widgets.Checkbox:
    return widgets.Checkbox(description=name, indent=False, layout=widgets.Layout(width="130px"))


def _flow(children: list[Any]) -> widgets.Box:
    flow = widgets.Box(children, layout=widgets.Layout(flex_flow="row wrap", width="100%"))
    flow.add_class(FIELDS_TOGETHER)
    return flow


def _typed(entered: str, unit: Unit) -> float | int | str | None:
    """A number in base units; what is no number stays as typed, for the model to refuse by name."""
    plain = entered.strip().replace(",", "")
    if not plain:
        return None
    try:
        number = float(plain)
    except ValueError:
        return entered.strip()
    base = unit.to_base(number)
    return int(base) if base.is_integer() else base
