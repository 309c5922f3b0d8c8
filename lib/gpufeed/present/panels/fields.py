"""The form for a workload: one widget per field of ``WORKLOAD.toml``, read into a checked, frozen Workload."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import ipywidgets as widgets

from gpufeed.facts import Facts
from gpufeed.facts.errors import InputError
from gpufeed.facts.messages import text
from gpufeed.facts.units import UNITS, Unit
from gpufeed.model import workload as model
from gpufeed.model.workload import Workload
from gpufeed.present import words

_ITEM = {"description_width": "200px"}
_LAYOUT = {"width": "360px", "max_width": "calc(100% - 4px)"}  # 4px: the margins of a widget
_PLAIN = Unit("count")
_BILLIONS = Unit("count", 10**9)


@dataclass(frozen=True)
class Field:
    """One field: its kind, what can be chosen, and the unit in which people type it."""

    name: str
    kind: str  # "choice" | "number" | "flag" | "words" | "operations"
    choices: Callable[[Facts], Iterable[str]] = lambda _: ()
    unit: Unit = _PLAIN


def _choice(name: str, *values: str) -> Field:
    return Field(name, "choice", lambda _: values)


def _number(name: str, unit: Unit = _PLAIN) -> Field:
    return Field(name, "number", unit=unit)


FIELDS = (
    _choice("task", *model.TASKS),
    _number("instances"),
    Field("instance_type", "choice", lambda facts: facts.instances),
    Field("accelerator", "choice", lambda facts: facts.accelerators),
    _number("accelerators_per_instance"),
    Field("preset", "choice", lambda facts: facts.workloads),
    _choice("interface", *model.INTERFACES),
    _choice("reads", *model.READS),
    _choice("checkpoints", *model.CHECKPOINT_FREQUENCIES),
    _number("checkpoint_interval", UNITS["minutes"]),
    _number("dataset_bytes", UNITS["GB"]),
    _number("objects"),
    _number("model_parameters", _BILLIONS),
    Field("region", "choice", lambda facts: facts.regions),
    _number("run_hours"),
    _number("gpu_hour_price"),
    Field("data_in_s3", "flag"),
    Field("avoid_parallel_file_system", "flag"),
    Field("file_operations", "operations"),
)
MORE = (
    _number("active_parameters", _BILLIONS),
    _number("sequence_length"),
    _choice("precision", *model.PRECISIONS),
    Field("training_stack", "choice", lambda facts: facts.utilisation),
    _number("sample_bytes", UNITS["KB"]),
    _number("samples_per_second_per_accelerator"),
    _number("request_bytes", UNITS["KB"]),
    _number("workers_per_accelerator"),
    _number("requests_in_flight_per_worker"),
    _number("epochs"),
    _number("prefixes"),
    _number("jobs"),
    _number("batch_size"),
    _number("evaluation_every", UNITS["minutes"]),
    _number("evaluation_bytes", UNITS["GB"]),
    _number("base_model_bytes", UNITS["GB"]),
    _number("working_set_bytes", UNITS["GB"]),
    _number("host_memory_bytes", UNITS["GB"]),
    _choice("network_path", *model.NETWORK_PATHS),
    Field("zone", "words"),
    _choice("encryption", *model.ENCRYPTIONS),
    Field("optimizer", "choice", lambda facts: facts.model.parts["checkpoint_bytes_per_parameter"]),
    _number("lora_rank"),
    _choice("checkpoint_mode", *model.CHECKPOINT_MODES),
    _number("checkpoint_bytes", UNITS["GB"]),
    _number("checkpoint_writers"),
    _number("checkpoints_kept"),
    _number("restore_target", UNITS["minutes"]),
    _number("stall_tolerance", UNITS["%"]),
    _number("storage_discount", UNITS["%"]),
)


class Form:
    """The widgets of all fields.  ``widgets`` maps field names to them; an empty one means "not stated"."""

    def __init__(self, facts: Facts, workload: Workload | None, changed: Callable[[], None]) -> None:
        self._facts = facts
        self._changed = changed
        self._quiet = False
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
                    self.widgets[field.name].value = _shown(field, stated.get(field.name))
        finally:
            self._quiet = False

    def read(self) -> Workload:
        """The workload as entered.  Raises InputError that names the field and what is wrong with it."""
        entered = {field.name: self._entered(field) for field in (*FIELDS, *MORE)}
        stated = {name: value for name, value in entered.items() if value is not None}
        try:
            return Workload.from_mapping(stated, self._facts)
        except InputError as error:
            raise self._as_labelled(error) from None

    def _as_labelled(self, error: InputError) -> InputError:
        """The same refusal with the label of the field, what was typed there, and bounds in the unit of the label."""
        said = dict(error.parameters)
        field = next((field for field in (*FIELDS, *MORE) if field.name == said.get("field")), None)
        if field is None or field.kind != "number":
            return error
        said |= {"field": words.trait(field.name), "value": self.widgets[field.name].value.strip()}
        said |= {bound: _shown(field, float(said[bound])) for bound in ("least", "most") if bound in said}
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
            return value or None
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
    label = words.trait(field.name)
    layout = widgets.Layout(**_LAYOUT)
    if field.kind == "choice":
        # "" and not None: a Dropdown whose value is None may show nothing as chosen.
        options = [(text("panel.not-stated"), ""), *((value, value) for value in field.choices(facts))]
        return widgets.Dropdown(options=options, description=label, style=_ITEM, layout=layout)
    if field.kind == "flag":
        return widgets.Checkbox(description=label, indent=False, layout=layout)
    return widgets.Text(
        description=label, placeholder=text("panel.not-stated"), continuous_update=False, style=_ITEM, layout=layout
    )


def _checkbox(name: str) -> widgets.Checkbox:
    return widgets.Checkbox(description=name, indent=False, layout=widgets.Layout(width="130px"))


def _flow(children: list[Any]) -> widgets.Box:
    return widgets.Box(children, layout=widgets.Layout(flex_flow="row wrap", width="100%"))


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


def stated(workload: Workload) -> list[tuple[str, str]]:
    """Label and value of each field that was stated, in the units of the labels; all others have their defaults."""
    values = workload.to_mapping()
    return [
        (words.trait(field.name), _said(field, values[field.name])) for field in FIELDS + MORE if field.name in values
    ]


def _said(field: Field, value: Any) -> str:
    if field.kind == "flag":
        return text("present.yes" if value else "present.no")
    if field.kind == "operations":
        return text("present.list-separator").join(value)
    return words.number(float(_shown(field, value))) if field.kind == "number" else str(value)


def _shown(field: Field, stated: Any) -> Any:
    if field.kind == "flag":
        return bool(stated)
    if field.kind == "number":
        return "" if stated is None else f"{stated * field.unit.divisor / field.unit.multiplier:.12g}"
    return stated or ""
