"""The same calls from a shell, for nodes without Jupyter and for checks.

Results go to standard output, progress and messages to standard error.  Exit 0: done.  1: the question has no good
answer.  2: wrong input.  Never a traceback, never a secret.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence

from gpufeed import __version__
from gpufeed.cli import aws, plan, store
from gpufeed.cli.output import print_json, say
from gpufeed.cli.parser import Parser
from gpufeed.facts.errors import GpufeedError
from gpufeed.facts.messages import text, unknown_language


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code."""
    wants_json = "--json" in (sys.argv[1:] if arguments is None else arguments)
    if wanted := unknown_language():
        say(text("shell.unknown-language", wanted=wanted))
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
        print_json({"error": {"id": message_id, "text": sentence}})
    say(sentence)
    return exit_code


def _parser() -> argparse.ArgumentParser:
    parser = Parser(prog="gpufeed", description=text("shell.description"))
    parser.add_argument("--version", action="version", version=__version__, help=text("shell.option.version"))
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for group in (plan, store, aws):
        group.add(commands)
    return parser
