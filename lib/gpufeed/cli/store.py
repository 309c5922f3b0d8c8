"""Commands that look at a store: scan and probe, and the sample server that both can look at."""

from __future__ import annotations

import argparse
import os
import sys
from typing import Any

from gpufeed.cli.output import end_progress, print_json, print_lines, say, show_progress
from gpufeed.cli.parser import path
from gpufeed.facts import load
from gpufeed.facts.errors import InputError
from gpufeed.facts.known import entered
from gpufeed.facts.messages import text


def add(commands: Any) -> None:
    """Their names and options."""
    scan = commands.add_parser("scan", help=text("shell.scan"))
    scan.add_argument("url", metavar="s3://bucket/prefix", help=text("shell.option.url"))
    _store_options(scan)
    scan.add_argument("--concurrency", type=int, default=16, metavar="N", help=text("shell.option.concurrency"))
    scan.add_argument("--limit", type=int, metavar="KEYS", help=text("shell.option.limit"))
    scan.add_argument("--resume", type=path, metavar="FILE", help=text("shell.option.resume"))
    scan.set_defaults(command=_scan)

    probe = commands.add_parser("probe", help=text("shell.probe"))
    probe.add_argument("target", metavar="s3://bucket/prefix|PATH", help=text("shell.option.target"))
    _store_options(probe)
    probe.add_argument("--concurrency", metavar="1,4,16,…", help=text("shell.option.sweep"))
    probe.add_argument("--seconds", type=float, metavar="S", help=text("shell.option.seconds"))
    probe.add_argument("--budget", type=float, metavar="USD", help=text("shell.option.budget"))
    probe.set_defaults(command=_probe)

    for command in (scan, probe):
        command.add_argument("--json", action="store_true", help=text("shell.option.json"))

    demo = commands.add_parser("demo", help=text("shell.demo"))
    demo.add_argument("--port", type=int, metavar="N", help=text("shell.option.port"))
    demo.set_defaults(command=_demo)


def _store_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--endpoint-url", metavar="U", help=text("shell.option.endpoint"))
    parser.add_argument("--region", metavar="R", help=text("shell.option.region"))
    parser.add_argument("--anonymous", action="store_true", help=text("shell.option.anonymous"))
    parser.add_argument("--requester-pays", action="store_true", help=text("shell.option.requester-pays"))


def _store(arguments: argparse.Namespace) -> Any:
    from gpufeed.observe.store import StoreOptions

    if arguments.region is not None and not arguments.region.strip():
        raise InputError("store.bad-region")
    return StoreOptions(
        endpoint_url=arguments.endpoint_url,
        region=arguments.region,
        anonymous=arguments.anonymous,
        requester_pays=arguments.requester_pays,
    )


def _scan(arguments: argparse.Namespace) -> int:
    from gpufeed.model.small_files import listing_cost, small_files
    from gpufeed.model.workload import DEFAULT_REGION
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

    result = run_in_foreground(Run(work, on_progress=show_progress, interval=0.5))
    end_progress()
    region = arguments.region or DEFAULT_REGION
    found = small_files(result.profile, facts, concurrency=arguments.concurrency, region=region)
    if arguments.json:
        document = result.to_json() | contract.small_files(found)
        # Only AWS charges AWS's prices.
        cost = listing_cost(result.requests, region, facts) if options.on_aws else None
        document["listing"]["cost"] = None if cost is None else cost.value
        print_json(document)
    else:
        print_lines(plain.scan(result, found, facts.currency_of(region)))
    if result.incomplete_because is not None:
        say(str(result.incomplete_because))
    for warning in result.warnings:
        say(str(warning))
    if kept is not None and result.complete:
        sys.stdout.flush()  # the answer is out before the way back to it goes
        kept.unlink(missing_ok=True)
    elif kept is not None:
        say(text("shell.resume", path=kept))
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

    measured = run_in_foreground(Run(work, on_progress=show_progress, interval=0.5))
    end_progress()
    if arguments.json:
        print_json(measured.to_json())
    else:
        print_lines(plain.measurement(measured))
    if measured.failure is not None:
        say(str(measured.failure))
    for warning in measured.warnings:
        say(str(warning))
    return 0 if measured.status == "ok" else 1


def _sweep(stated: str | None) -> tuple[int, ...]:
    if stated is None:
        return ()
    try:
        return tuple(int(number) for number in stated.split(","))
    except ValueError:
        raise InputError("shell.not-numbers", value=entered(stated)) from None


def _demo(arguments: argparse.Namespace) -> int:
    from gpufeed.demo import serve

    return serve(arguments.port)
