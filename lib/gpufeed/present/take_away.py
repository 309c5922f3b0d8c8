"""What people take away of a study: the report, the decision record and the plan as something to build, as files."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import version
from pathlib import Path

from gpufeed.facts import Facts
from gpufeed.facts.errors import InputError
from gpufeed.facts.messages import Sentence, text
from gpufeed.model.advise import recommend
from gpufeed.model.record import recheck, record
from gpufeed.model.study import Study
from gpufeed.model.workload import Workload
from gpufeed.observe.documents import as_json, make_folder, read_as, write_text
from gpufeed.present import changes, infrastructure, report, words

_REPORTS = {"report": "report.html", "markdown": "report.md"}
#: The file that a decision record is kept in, and looked for when it is asked again.
RECORD = "decision.json"
#: What can be taken away; message ``take-away.kind.<kind>``.
KINDS = (*_REPORTS, "record", *infrastructure.FORMATS)


def write(study: Study, folder: str | Path, facts: Facts, *kinds: str) -> list[Path]:
    """Write these ``kinds``, or all of them, into a folder, which is made; a file of the same name is replaced.

    Raises InputError for a kind that is not among ``KINDS``, no folder or a study without a workload, and GpufeedError
    when something cannot be written.
    """
    place = _place(folder)
    if unknown := [kind for kind in kinds if kind not in KINDS]:
        raise InputError("take-away.no-such-kind", kind=unknown[0], kinds=", ".join(KINDS))
    as_it_is = replace(study)  # a panel may go on meanwhile: all of it is of one plan
    written = {name: content for kind in kinds or KINDS for name, content in _files(kind, as_it_is, facts).items()}
    make_folder(place)
    for name, content in written.items():
        write_text(place / name, content)
    return [place / name for name in written]


def _files(kind: str, study: Study, facts: Facts) -> dict[str, str]:
    """File names and their text."""
    if study.workload is None:
        raise InputError("study.no-workload")
    now, made_with = datetime.now(UTC), version("gpufeed")
    if kind in _REPORTS:
        name = _REPORTS[kind]
        return {name: report.render(study, name, facts, made=f"{now:%Y-%m-%d %H:%M} UTC", version=made_with)}
    profile, measurement = study.profile, study.measurement
    if kind == "record":
        made = now.isoformat(timespec="seconds")
        kept = record(study.workload, facts, made=made, version=made_with, profile=profile, measurement=measurement)
        return {RECORD: as_json(kept)}
    plan = recommend(study.workload, facts, profile=profile, measurement=measurement)
    return infrastructure.files(plan, facts, kind, version=made_with)


def changed_since(folder: str | Path, facts: Facts, workload: Workload | None = None) -> list[str]:
    """What has changed since the decision record in a folder was made.  Raises InputError where there is none.

    Where the record is of another job than this ``workload``, that is said first.
    """
    found = read_as(_place(folder) / RECORD, partial(recheck, facts=facts, version=version("gpufeed")))
    then, now = (None if one is None else one.to_mapping() for one in (found.workload, workload))
    if then is None or now is None or then == now:
        return changes.lines(found)
    differ = [words.trait(name) for name in {**then, **now} if then.get(name) != now.get(name)]
    said = text("record.other-job", traits=text("present.list-separator").join(differ))
    return [said, *changes.lines(found)]


def _place(folder: str | Path) -> Path:
    """The folder as a path; "~" is the user's own."""
    entered = str(folder).strip()
    if not entered:
        raise InputError("take-away.no-folder")
    try:
        return Path(entered).expanduser()
    except RuntimeError:  # no such user behind "~"
        raise InputError("document.not-written", path=entered, reason=Sentence("os.bad-name")) from None
