"""What every guided notebook begins and ends with: the store to talk to, and the study handed to the next notebook."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from gpufeed import __version__, demo
from gpufeed.facts import load
from gpufeed.facts.errors import GpufeedError, InputError
from gpufeed.facts.messages import Sentence, text
from gpufeed.facts.place import data_directory
from gpufeed.model.measurement import Measurement
from gpufeed.model.study import Study
from gpufeed.model.workload import Workload
from gpufeed.observe.documents import make_folder, read_as, read_json, read_toml, write_json, write_text
from gpufeed.present import take_away as taken
from gpufeed.present.report import render

#: The endpoint that means "the S3 server on this machine, started when it does not run yet".
EMBEDDED = "embedded"
EXAMPLE = "image-fine-tuning"


class Said(str):
    """A sentence that a notebook shows as it is, without quotes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


@dataclass(frozen=True, slots=True, repr=False)
class Connection:
    """The store that this notebook's S3 requests go to; "" is AWS itself, as panels and boto3 understand it."""

    endpoint_url: str
    embedded: bool = False

    def __repr__(self) -> str:
        if self.embedded:
            return text("notebook.embedded", endpoint=self.endpoint_url)
        return text("notebook.endpoint", endpoint=self.endpoint_url) if self.endpoint_url else text("notebook.aws")


def connect(endpoint: str | None = EMBEDDED) -> Connection:
    """Where S3 requests go from now on: ``"embedded"``, another server's address, or None for AWS.

    "embedded" finds the server that `make lab` or `gpufeed demo` runs, else starts one that ends with this kernel.  AWS
    is reached with the credentials, profile and region that boto3 finds.  Raises GpufeedError when the embedded server
    cannot start.
    """
    if endpoint == EMBEDDED:
        return Connection(demo.connect_or_start().use().endpoint_url, embedded=True)
    demo.leave()
    return Connection(endpoint or "")


def example() -> Study:
    """The study that the guided notebooks begin with, planned."""
    facts = load()
    stated = read_toml(data_directory() / "examples" / f"{EXAMPLE}.toml")
    study = Study(Workload.from_mapping(stated, facts))
    study.recommend(facts)
    return study


def open_study(folder: str | Path, *steps: str) -> Study:
    """The study as the first of these notebooks that was run left it in ``folder``; the example when none was.

    Raises InputError when the file is there and cannot be used.
    """
    kept = next((path for step in steps if (path := _file(folder, step)).is_file()), None)
    return example() if kept is None else read_as(kept, partial(Study.from_json, facts=load()))


def keep_study(study: Study, folder: str | Path, step: str) -> Said:
    """Keep the study for the notebooks that follow; says where.  Raises GpufeedError when it cannot be written."""
    path = _file(folder, step)
    make_folder(path.parent)
    write_json(path, study.to_json())
    return Said(text("notebook.kept", file=path.as_posix()))


def report(study: Study, path: str | Path) -> Said:
    """Write the report of a study, HTML or Markdown as the ending says, to be read without gpufeed or a network.

    Raises InputError for another ending or a folder, GpufeedError when it cannot be written.
    """
    if Path(path).is_dir():
        raise InputError("report.folder", folder=Path(path), example=Path(path) / "report.html")
    if not Path(path).parent.is_dir():  # said now, and not after the charts are drawn
        raise GpufeedError("document.not-written", path=path, reason=Sentence("os.ENOENT"))
    made = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    write_text(path, render(study, path, load(), made=made, version=__version__))
    return Said(text("notebook.written", path=Path(path).as_posix()))


def take_away(study: Study, folder: str | Path, *kinds: str) -> Said:
    """Write what is to be taken away of a study into a folder, and say what: report, decision record, templates.

    ``kinds`` are among "report", "markdown", "record", "cloudformation", "terraform" and "snippets"; without any, all
    are written.  Raises InputError for another kind, GpufeedError when something cannot be written.
    """
    written = taken.write(study, folder, load(), *kinds)
    return Said("\n".join(text("notebook.written", path=path.as_posix()) for path in written))


def changed_since(folder: str | Path) -> Said:
    """What has changed since the decision record in a folder was made.  Raises InputError where there is none."""
    return Said("\n".join(taken.changed_since(folder, load())))


def published_measurement() -> Measurement:
    """A published sweep of real S3, to read beside one's own: ``data/measurements`` names its source."""
    return Measurement.from_json(read_json(data_directory() / "measurements" / "s3-standard-c5.4xlarge.json"))


def _file(folder: str | Path, step: str) -> Path:
    return Path(folder) / f"{step}.json"
