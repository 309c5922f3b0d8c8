"""The same calls from a shell, for nodes without Jupyter and for checks.

Results go to standard output, progress and messages to standard error.  Exit 0: done.  1: the question has no good
answer.  2: wrong input.  Never a traceback, never a secret.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NoReturn

from gpufeed import __version__
from gpufeed.facts import load
from gpufeed.facts.errors import GpufeedError, InputError
from gpufeed.facts.fact import nearest
from gpufeed.facts.messages import text
from gpufeed.present.escape import visible

LONGEST_SENTENCE = 2000  # characters


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code."""
    wants_json = "--json" in (sys.argv[1:] if arguments is None else arguments)
    try:
        parsed = _parser().parse_args(arguments)
        command: Callable[[argparse.Namespace], int] = parsed.command
        return command(parsed)
    except GpufeedError as error:
        return _say_error(str(error), error.message_id, error.exit_code, wants_json)
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # The reader went away, as `head` does; what is left unsaid must not raise again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except Exception as error:
        if os.environ.get("GPUFEED_DEBUG"):
            raise
        return _say_error(text("shell.bug", kind=type(error).__name__), "shell.bug", 1, wants_json)


def _say_error(sentence: str, message_id: str, exit_code: int, wants_json: bool) -> int:
    if wants_json:
        _print_json({"error": {"id": message_id, "text": sentence}})
    _say(sentence)
    return exit_code


def _say(sentence: str) -> None:
    # Keys and names from outside stand in it: none may act on the terminal.
    print(visible(sentence, LONGEST_SENTENCE), file=sys.stderr, flush=True)


def _print_lines(lines: Sequence[str]) -> None:
    shown = "\n".join(visible(line, LONGEST_SENTENCE) for line in lines)
    encoding = sys.stdout.encoding or "utf-8"
    print(shown.encode(encoding, "backslashreplace").decode(encoding))


def _print_json(document: dict[str, Any]) -> None:
    written = json.dumps(document, ensure_ascii=False, allow_nan=False)
    try:
        written.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:  # an old terminal, or a path that is no Unicode: JSON's own escapes say it as well
        written = json.dumps(document, allow_nan=False)
    print(written)


class _Parser(argparse.ArgumentParser):
    """Says what is wrong in one sentence, as every other error does."""

    def error(self, message: str) -> NoReturn:
        raise InputError("shell.usage", reason=message, command=self.prog)


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="gpufeed", description=text("shell.description"))
    parser.add_argument("--version", action="version", version=__version__, help=text("shell.option.version"))
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    recommend = commands.add_parser("recommend", help=text("shell.recommend"))
    _question(recommend)
    recommend.add_argument("--explain", action="store_true", help=text("shell.option.explain"))
    recommend.set_defaults(command=_recommend)

    commands.add_parser("fields", help=text("shell.fields")).set_defaults(command=_fields)

    record = commands.add_parser("record", help=text("shell.record"))
    _question(record)
    record.set_defaults(command=_record)

    recheck = commands.add_parser("recheck", help=text("shell.recheck"))
    recheck.add_argument("record", metavar="R.json", help=text("shell.option.record"))
    recheck.set_defaults(command=_recheck)

    report = commands.add_parser("report", help=text("shell.report"))
    _question(report)
    report.add_argument("--output", required=True, metavar="FILE", help=text("shell.option.report"))
    report.set_defaults(command=_report)

    infrastructure = commands.add_parser("infrastructure", help=text("shell.infrastructure"))
    _question(infrastructure)
    infrastructure.add_argument("--format", required=True, metavar="FORMAT", help=text("shell.option.format"))
    infrastructure.add_argument("--output", type=Path, metavar="DIR", help=text("shell.option.output"))
    infrastructure.set_defaults(command=_infrastructure)

    scan = commands.add_parser("scan", help=text("shell.scan"))
    scan.add_argument("url", metavar="s3://bucket/prefix", help=text("shell.option.url"))
    _store_options(scan)
    scan.add_argument("--concurrency", type=int, default=16, metavar="N", help=text("shell.option.concurrency"))
    scan.add_argument("--limit", type=int, metavar="KEYS", help=text("shell.option.limit"))
    scan.add_argument("--resume", type=Path, metavar="FILE", help=text("shell.option.resume"))
    scan.set_defaults(command=_scan)

    probe = commands.add_parser("probe", help=text("shell.probe"))
    probe.add_argument("target", metavar="s3://bucket/prefix|PATH", help=text("shell.option.target"))
    _store_options(probe)
    probe.add_argument("--concurrency", metavar="1,4,16,…", help=text("shell.option.sweep"))
    probe.add_argument("--seconds", type=float, metavar="S", help=text("shell.option.seconds"))
    probe.add_argument("--budget", type=float, metavar="USD", help=text("shell.option.budget"))
    probe.set_defaults(command=_probe)

    fsx = commands.add_parser("fsx", help=text("shell.fsx"))
    fsx.add_argument("workload", metavar="WORKLOAD.toml", help=text("shell.option.workload"))
    fsx.add_argument("--profile", metavar="P.json", help=text("shell.option.profile"))
    fsx.add_argument("--file-system", metavar="ID", help=text("shell.option.file-system"))
    fsx.add_argument("--region", metavar="R", help=text("shell.option.file-system-region"))
    fsx.set_defaults(command=_fsx)

    prices = commands.add_parser("prices", help=text("shell.prices"))
    _price_options(prices)
    prices.set_defaults(command=_prices)

    demo = commands.add_parser("demo", help=text("shell.demo"))
    demo.add_argument("--port", type=int, metavar="N", help=text("shell.option.port"))
    demo.set_defaults(command=_demo)

    for command in (recommend, scan, probe, fsx, record, recheck, infrastructure, prices):
        command.add_argument("--json", action="store_true", help=text("shell.option.json"))
    return parser


def _question(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("workload", metavar="WORKLOAD.toml", help=text("shell.option.workload"))
    parser.add_argument("--profile", metavar="P.json", help=text("shell.option.profile"))
    parser.add_argument("--measurement", metavar="M.json", help=text("shell.option.measurement"))


def _price_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--region", metavar="R", help=text("shell.option.price-region"))
    parser.add_argument("--refresh", action="store_true", help=text("shell.option.refresh"))
    parser.add_argument("--offer", type=Path, action="append", metavar="FILE", help=text("shell.option.offer"))
    parser.add_argument("--to", type=Path, metavar="FILE", help=text("shell.option.to"))


def _store_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--endpoint-url", metavar="U", help=text("shell.option.endpoint"))
    parser.add_argument("--region", metavar="R", help=text("shell.option.region"))
    parser.add_argument("--anonymous", action="store_true", help=text("shell.option.anonymous"))
    parser.add_argument("--requester-pays", action="store_true", help=text("shell.option.requester-pays"))


def _asked(arguments: argparse.Namespace) -> tuple[Any, Any, Any]:
    """(workload, profile, measurement) of a question, read from its files."""
    from gpufeed.model.measurement import Measurement
    from gpufeed.model.profile import PrefixProfile
    from gpufeed.model.workload import Workload
    from gpufeed.observe.documents import read_json, read_toml

    workload = Workload.from_mapping(read_toml(arguments.workload), load())
    profile = PrefixProfile.from_json(read_json(arguments.profile)) if arguments.profile else None
    measurement = Measurement.from_json(read_json(arguments.measurement)) if arguments.measurement else None
    return workload, profile, measurement


def _recommend(arguments: argparse.Namespace) -> int:
    from gpufeed.model.advise import recommend
    from gpufeed.model.alternatives import alternatives, unjudged
    from gpufeed.model.course import course
    from gpufeed.model.explain import explain
    from gpufeed.model.flip import flip_points
    from gpufeed.present import contract, derivation, plain, words

    facts = load()
    workload, profile, measurement = _asked(arguments)
    plan = recommend(workload, facts, profile=profile, measurement=measurement)
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
        _print_json(document)
    else:
        _print_lines([*plain.recommendation(plan), *plain.alternatives(plan, others), *plain.course(steps)])
        if arguments.explain:
            flips, _ = flip_points(plan, facts, profile=profile, measurement=measurement)
            _print_lines([text("panel.flips"), *(words.flip_point(flip) for flip in flips)])
            figures = explain(plan, facts, profile=profile, measurement=measurement)
            _print_lines([text("panel.explain"), *derivation.lines(figures, facts)])
    return 0


def _fields(_: argparse.Namespace) -> int:
    from gpufeed.present import reference

    _print_lines(list(reference.lines(load())))
    return 0


def _record(arguments: argparse.Namespace) -> int:
    from gpufeed.model.record import record

    workload, profile, measurement = _asked(arguments)
    _print_json(record(workload, load(), made=_now(), version=__version__, profile=profile, measurement=measurement))
    return 0


def _recheck(arguments: argparse.Namespace) -> int:
    from gpufeed.model.record import recheck
    from gpufeed.observe.documents import read_json
    from gpufeed.present import changes

    found = recheck(read_json(arguments.record), load(), version=__version__)
    if arguments.json:
        _print_json(changes.document(found))
    else:
        _print_lines(changes.lines(found))
    return 0


def _report(arguments: argparse.Namespace) -> int:
    from gpufeed.model.study import Study
    from gpufeed.notebook import report

    workload, profile, measurement = _asked(arguments)
    study = Study(workload, profile, measurements=[] if measurement is None else [measurement])
    _say(report(study, arguments.output))
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
            _say(text("notebook.written", path=arguments.output / name))
    if arguments.json:
        _print_json({"files": written})
    elif arguments.output is None:
        for content in written.values():
            _print_lines(content.splitlines())
    return 0


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _store(arguments: argparse.Namespace) -> Any:
    from gpufeed.observe.store import StoreOptions

    return StoreOptions(
        endpoint_url=arguments.endpoint_url,
        region=arguments.region,
        anonymous=arguments.anonymous,
        requester_pays=arguments.requester_pays,
    )


def _scan(arguments: argparse.Namespace) -> int:
    from gpufeed.model.job import DEFAULT_REGION
    from gpufeed.model.small_files import listing_cost, small_files
    from gpufeed.observe.documents import read_json, write_json
    from gpufeed.observe.runner import Run, run_in_foreground
    from gpufeed.observe.scan import scan
    from gpufeed.present import contract, plain

    facts, options, kept = load(), _store(arguments), arguments.resume
    state = read_json(kept) if kept and os.path.lexists(kept) else None

    def work(control: Any) -> Any:
        return scan(
            arguments.url,
            options=options,
            concurrency=arguments.concurrency,
            limit=arguments.limit,
            control=control,
            resume_from=state,
            checkpoint=None if kept is None else lambda reached: write_json(kept, reached),
        )

    result = run_in_foreground(Run(work, on_progress=_show_progress, interval=0.5))
    _end_progress()
    region = arguments.region or DEFAULT_REGION
    found = small_files(result.profile, facts, concurrency=arguments.concurrency, region=region)
    if arguments.json:
        document = result.to_json() | contract.small_files(found)
        # Only AWS charges AWS's prices.
        cost = listing_cost(result.requests, region, facts) if options.on_aws else None
        document["listing"]["cost"] = None if cost is None else cost.value
        _print_json(document)
    else:
        _print_lines(plain.scan(result, found, facts.currency_of(region)))
    if result.incomplete_because is not None:
        _say(str(result.incomplete_because))
    for warning in result.warnings:
        _say(str(warning))
    if kept is not None and result.complete:
        sys.stdout.flush()  # the answer is out before the way back to it goes
        kept.unlink(missing_ok=True)
    elif kept is not None:
        _say(text("shell.resume", path=kept))
    reached_limit = getattr(result.incomplete_because, "message_id", None) == "scan.limit"
    return 0 if result.complete or reached_limit else 1


def _probe(arguments: argparse.Namespace) -> int:
    from gpufeed.observe import probe as probing
    from gpufeed.observe.runner import Run, run_in_foreground
    from gpufeed.present import plain

    options = _store(arguments)

    def work(control: Any) -> Any:
        return probing.probe(
            arguments.target,
            options,
            concurrency=_sweep(arguments.concurrency) or probing.CONCURRENCY,
            seconds=probing.SECONDS if arguments.seconds is None else arguments.seconds,
            budget=arguments.budget,
            control=control,
        )

    measured = run_in_foreground(Run(work, on_progress=_show_progress, interval=0.5))
    _end_progress()
    if arguments.json:
        _print_json(measured.to_json())
    else:
        _print_lines(plain.measurement(measured))
    if measured.failure is not None:
        _say(str(measured.failure))
    for warning in measured.warnings:
        _say(str(warning))
    return 0 if measured.status == "ok" else 1


def _fsx(arguments: argparse.Namespace) -> int:
    from gpufeed.model.advise import recommend
    from gpufeed.model.file_system import compare, sized
    from gpufeed.model.profile import PrefixProfile
    from gpufeed.model.workload import Workload
    from gpufeed.observe.documents import read_json, read_toml
    from gpufeed.present import contract, plain

    facts = load()
    stated = read_toml(arguments.workload)
    if arguments.region and arguments.file_system is None:
        stated["region"] = arguments.region
    workload = Workload.from_mapping(stated, facts)
    profile = PrefixProfile.from_json(read_json(arguments.profile)) if arguments.profile else None
    found = sized(workload, facts, profile, plan=recommend(workload, facts, profile=profile))
    if arguments.file_system is None:
        if arguments.json:
            _print_json(contract.file_systems(found))
        else:
            _print_lines(plain.file_systems(found))
        return 0
    from gpufeed.observe.aws.file_systems import file_system

    read = file_system(arguments.file_system, arguments.region or workload.region)
    comparison = compare(read.file_system, found.need, facts)
    currency = facts.currency_of(read.file_system.region)
    if arguments.json:
        _print_json(contract.comparison(comparison, currency))
    else:
        _print_lines(plain.comparison(comparison, currency))
    for warning in read.warnings:
        _say(str(warning))
    return 0


def _prices(arguments: argparse.Namespace) -> int:
    from gpufeed.model.job import DEFAULT_REGION
    from gpufeed.present import prices

    facts, region, today = load(), arguments.region or DEFAULT_REGION, datetime.now(UTC).date()
    if arguments.refresh or arguments.offer:
        return _refresh_prices(arguments, region, today)
    if region not in facts.regions:
        raise InputError("prices.unknown-region", region=region, nearest=nearest(region, facts.regions))
    if arguments.json:
        _print_json(prices.document(region, facts, today))
    else:
        _print_lines(list(prices.lines(region, facts, today)))
    return 0


def _refresh_prices(arguments: argparse.Namespace, region: str, today: Any) -> int:
    """Today's prices into a file that later answers prefer.  Exit 1 where the Price List gave none."""
    from gpufeed.facts.place import own_prices
    from gpufeed.facts.prices import as_toml
    from gpufeed.observe.aws import price_list
    from gpufeed.observe.documents import make_folder, read_json, write_text
    from gpufeed.present import prices

    facts, place = load(), arguments.to or own_prices()
    if place is None:
        raise InputError("prices.no-place")
    if arguments.offer:
        offers = [read_json(path) for path in arguments.offer]
        found = price_list.read_offers(offers, region, facts, today=today)
    else:
        found = price_list.ask(region, facts, today=today)
    if not found.prices:
        raise GpufeedError("prices.nothing-found", region=region)
    rows, sources = price_list.in_one_file(found, facts)
    make_folder(place.parent)
    write_text(place, as_toml(rows, sources, text("prices.about")))
    changed = price_list.changes(found, facts)
    if arguments.json:
        _print_json(prices.refreshed_document(found, changed, str(place)))
    else:
        _print_lines(list(prices.refreshed_lines(found, changed, str(place))))
    return 0


def _sweep(stated: str | None) -> tuple[int, ...]:
    if stated is None:
        return ()
    try:
        return tuple(int(number) for number in stated.split(","))
    except ValueError:
        raise InputError("shell.not-numbers", value=stated) from None


def _demo(arguments: argparse.Namespace) -> int:
    from gpufeed.demo import serve

    return serve(arguments.port)


def _show_progress(progress: Any) -> None:
    """One line on a terminal, rewritten; silent where nobody watches."""
    if not sys.stderr.isatty():
        return
    from gpufeed.present import words

    left = "" if progress.seconds_left is None else text("shell.left", seconds=words.duration(progress.seconds_left))
    rate = words.number(progress.rate)
    line = progress.message or text("shell.progress", done=words.count(progress.done), rate=rate, left=left)
    print(f"\r\033[K{line}", end="", file=sys.stderr, flush=True)


def _end_progress() -> None:
    if sys.stderr.isatty():
        print("\r\033[K", end="", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
