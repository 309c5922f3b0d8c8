"""Commands that answer with a plan: recommend, fields, record, recheck, report, infrastructure."""

from __future__ import annotations

import argparse
from datetime import UTC, datetime
from functools import partial
from typing import Any

from gpufeed import __version__
from gpufeed.cli.output import print_json, print_lines, say
from gpufeed.cli.parser import path
from gpufeed.facts import load
from gpufeed.facts.errors import InputError
from gpufeed.facts.messages import text


def add(commands: Any) -> None:
    """Their names and options."""
    recommend = commands.add_parser("recommend", help=text("shell.recommend"))
    _question(recommend)
    recommend.add_argument("--explain", action="store_true", help=text("shell.option.explain"))
    recommend.add_argument("--short", action="store_true", help=text("shell.option.short"))
    recommend.set_defaults(command=_recommend)

    commands.add_parser("fields", help=text("shell.fields")).set_defaults(command=_fields)

    record = commands.add_parser("record", help=text("shell.record"))
    _question(record)
    record.set_defaults(command=_record)

    recheck = commands.add_parser("recheck", help=text("shell.recheck"))
    recheck.add_argument("record", type=path, metavar="R.json", help=text("shell.option.record"))
    recheck.set_defaults(command=_recheck)

    report = commands.add_parser("report", help=text("shell.report"))
    _question(report)
    report.add_argument("--output", type=path, required=True, metavar="FILE", help=text("shell.option.report"))
    report.set_defaults(command=_report)

    infrastructure = commands.add_parser("infrastructure", help=text("shell.infrastructure"))
    _question(infrastructure)
    infrastructure.add_argument("--format", required=True, metavar="FORMAT", help=text("shell.option.format"))
    infrastructure.add_argument("--output", type=path, metavar="DIR", help=text("shell.option.output"))
    infrastructure.set_defaults(command=_infrastructure)

    for command in (recommend, record, recheck, infrastructure):
        command.add_argument("--json", action="store_true", help=text("shell.option.json"))


def _question(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("workload", type=path, metavar="WORKLOAD.toml", help=text("shell.option.workload"))
    parser.add_argument("--profile", type=path, metavar="P.json", help=text("shell.option.profile"))
    parser.add_argument("--measurement", type=path, metavar="M.json", help=text("shell.option.measurement"))


def _asked(arguments: argparse.Namespace) -> tuple[Any, Any, Any]:
    """(workload, profile, measurement) of a question, read from its files."""
    from gpufeed.model.measurement import Measurement
    from gpufeed.model.profile import PrefixProfile
    from gpufeed.model.workload import Workload
    from gpufeed.observe.documents import read_as, read_toml

    workload = Workload.from_mapping(read_toml(arguments.workload), load())
    profile = read_as(arguments.profile, PrefixProfile.from_json) if arguments.profile else None
    measurement = read_as(arguments.measurement, Measurement.from_json) if arguments.measurement else None
    return workload, profile, measurement


def _recommend(arguments: argparse.Namespace) -> int:
    from gpufeed.model.advise import recommend
    from gpufeed.model.alternatives import alternatives, unjudged
    from gpufeed.model.course import course
    from gpufeed.model.explain import explain
    from gpufeed.model.flip import STEPS_PER_DECADE, flip_points, sensitivities
    from gpufeed.present import contract, derivation, plain, tables

    if arguments.short and (arguments.json or arguments.explain):
        raise InputError("usage.short-alone")
    facts = load()
    workload, profile, measurement = _asked(arguments)
    plan = recommend(workload, facts, profile=profile, measurement=measurement)
    if arguments.short:
        print_lines(plain.short(plan))
        return 0
    steps = course(plan, facts, profile)
    others = alternatives(plan, facts, profile=profile, measurement=measurement)
    if arguments.json:
        flips, searched = flip_points(plan, facts, profile=profile, measurement=measurement)
        document = contract.recommendation(plan, facts, flips, searched)
        document["alternatives"] = contract.alternatives(others)
        document["alternatives_unjudged"] = contract.reasons(unjudged(plan))
        document["timeline"] = contract.timeline(steps)
        if arguments.explain:
            figures = explain(plan, facts, profile=profile, measurement=measurement)
            document["steps"] = derivation.document(figures)
        print_json(document)
    else:
        print_lines([*plain.recommendation(plan), *plain.alternatives(plan, others), *plain.course(steps)])
        if arguments.explain:
            found = list(sensitivities(plan, facts, profile=profile, measurement=measurement))
            print_lines([text("panel.flips"), *tables.flips(found), text("flip.how", steps=STEPS_PER_DECADE)])
            figures = explain(plan, facts, profile=profile, measurement=measurement)
            print_lines([text("panel.explain"), *derivation.lines(figures, facts)])
    return 0


def _fields(_: argparse.Namespace) -> int:
    from gpufeed.present import reference

    print_lines(list(reference.lines(load())))
    return 0


def _record(arguments: argparse.Namespace) -> int:
    from gpufeed.model.record import record

    workload, profile, measurement = _asked(arguments)
    print_json(record(workload, load(), made=_now(), version=__version__, profile=profile, measurement=measurement))
    return 0


def _recheck(arguments: argparse.Namespace) -> int:
    from gpufeed.model.record import recheck
    from gpufeed.observe.documents import read_as
    from gpufeed.present import changes

    found = read_as(arguments.record, partial(recheck, facts=load(), version=__version__))
    if arguments.json:
        print_json(changes.document(found))
    else:
        print_lines(changes.lines(found))
    return 0


def _report(arguments: argparse.Namespace) -> int:
    from gpufeed.model.study import Study
    from gpufeed.notebook import report

    workload, profile, measurement = _asked(arguments)
    study = Study(workload, profile, measurements=[] if measurement is None else [measurement])
    say(report(study, arguments.output))
    return 0


def _infrastructure(arguments: argparse.Namespace) -> int:
    from gpufeed.model.advise import recommend
    from gpufeed.observe.documents import make_folder, write_text
    from gpufeed.present.infrastructure import files

    facts = load()
    workload, profile, measurement = _asked(arguments)
    plan = recommend(workload, facts, profile=profile, measurement=measurement)
    written = files(plan, facts, arguments.format, version=__version__)
    if arguments.output is not None:
        make_folder(arguments.output)
        for name, content in written.items():
            write_text(arguments.output / name, content)
            say(text("notebook.written", path=arguments.output / name))
    if arguments.json:
        print_json({"files": written})
    elif arguments.output is None:
        for content in written.values():
            print_lines(content.splitlines())
    return 0


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
