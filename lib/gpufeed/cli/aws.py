"""Commands that can ask AWS itself: fsx and prices."""

from __future__ import annotations

import argparse
from datetime import UTC, date, datetime
from typing import Any

from gpufeed.cli.output import print_json, print_lines, say
from gpufeed.cli.parser import path
from gpufeed.facts import Facts, load
from gpufeed.facts.errors import GpufeedError, InputError
from gpufeed.facts.known import entered, instead
from gpufeed.facts.messages import text


def add(commands: Any) -> None:
    """Their names and options."""
    fsx = commands.add_parser("fsx", help=text("shell.fsx"))
    fsx.add_argument("workload", type=path, metavar="WORKLOAD.toml", help=text("shell.option.workload"))
    fsx.add_argument("--profile", type=path, metavar="P.json", help=text("shell.option.profile"))
    fsx.add_argument("--file-system", metavar="ID", help=text("shell.option.file-system"))
    fsx.add_argument("--region", metavar="R", help=text("shell.option.file-system-region"))
    fsx.set_defaults(command=_fsx)

    prices = commands.add_parser("prices", help=text("shell.prices"))
    prices.add_argument("--region", metavar="R", help=text("shell.option.price-region"))
    prices.add_argument("--refresh", action="store_true", help=text("shell.option.refresh"))
    prices.add_argument("--offer", type=path, action="append", metavar="FILE", help=text("shell.option.offer"))
    prices.add_argument("--to", type=path, metavar="FILE", help=text("shell.option.to"))
    prices.set_defaults(command=_prices)

    for command in (fsx, prices):
        command.add_argument("--json", action="store_true", help=text("shell.option.json"))


def _fsx(arguments: argparse.Namespace) -> int:
    from gpufeed.model.advise import recommend
    from gpufeed.model.file_system import compare, sized
    from gpufeed.model.profile import PrefixProfile
    from gpufeed.model.workload import Workload
    from gpufeed.observe.documents import read_as, read_toml
    from gpufeed.present import contract, plain

    facts = load()
    _check_region(arguments.region, facts)
    stated = read_toml(arguments.workload)
    if arguments.region is not None and arguments.file_system is None:
        stated["region"] = arguments.region
    workload = Workload.from_mapping(stated, facts)
    profile = read_as(arguments.profile, PrefixProfile.from_json) if arguments.profile else None
    plan = recommend(workload, facts, profile=profile)
    found = sized(workload, facts, profile, plan=plan)
    if arguments.file_system is None:
        if arguments.json:
            print_json(contract.file_systems(found))
        else:
            print_lines(plain.file_systems(found, plan))
        return 0
    from gpufeed.observe.aws.file_systems import file_system

    read = file_system(arguments.file_system, arguments.region or workload.region)
    comparison = compare(read.file_system, found.compared_by, facts)
    currency = facts.currency_of(read.file_system.region)
    if arguments.json:
        print_json(contract.comparison(comparison, currency, found))
    else:
        print_lines(plain.comparison(comparison, currency, found))
    for warning in read.warnings:
        say(str(warning))
    return 0


def _check_region(region: str | None, facts: Facts) -> None:
    known = facts.regions
    if region is not None and region not in known:
        raise InputError("prices.unknown-region", region=entered(region), instead=instead(region, known))


def _prices(arguments: argparse.Namespace) -> int:
    from gpufeed.model.workload import DEFAULT_REGION
    from gpufeed.present import prices

    refresh = bool(arguments.refresh or arguments.offer)
    facts = load(to_refresh=True) if refresh else load()
    region, today = arguments.region or DEFAULT_REGION, datetime.now(UTC).date()
    _check_region(arguments.region, facts)
    if arguments.refresh and arguments.offer:
        raise InputError("prices.two-ways")
    if refresh:
        return _refresh_prices(arguments, region, facts, today)
    if arguments.to is not None:
        raise InputError("prices.to-alone", path=arguments.to)
    if arguments.json:
        print_json(prices.document(region, facts, today))
    else:
        print_lines(list(prices.lines(region, facts, today)))
    return 0


def _refresh_prices(arguments: argparse.Namespace, region: str, facts: Facts, today: date) -> int:
    """Today's prices into a file that later answers prefer.  Exit 1 where the Price List gave none."""
    from gpufeed.facts.place import own_prices
    from gpufeed.facts.prices import as_toml
    from gpufeed.observe.aws import price_list
    from gpufeed.observe.documents import make_folder, read_as, write_text
    from gpufeed.present import prices

    place = arguments.to or own_prices()
    if place is None:
        raise InputError("prices.no-place")
    if arguments.offer:
        products = [product for path in arguments.offer for product in read_as(path, price_list.products_of_offer)]
        found = price_list.from_offers(products, region, facts, today=today)
    else:
        found = price_list.ask(region, facts, today=today)
    if not found.prices:
        raise GpufeedError("prices.nothing-found", region=region)
    rows, sources = price_list.in_one_file(found, facts)
    make_folder(place.parent)
    write_text(place, as_toml(rows, sources, text("prices.about")))
    changed = price_list.changes(found, facts)
    if arguments.json:
        print_json(prices.refreshed_document(found, changed, str(place)))
    else:
        print_lines(list(prices.refreshed_lines(found, changed, str(place))))
    return 0
