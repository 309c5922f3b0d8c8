"""The command line as argparse reads it, and what is wrong with one in a sentence of the language in force."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NoReturn

from gpufeed.facts.errors import InputError
from gpufeed.facts.known import entered, instead
from gpufeed.facts.messages import text

#: What argparse says in English only, and the message that says it; groups are the parameters of the message.
_FAULTS = {
    r"the following arguments are required: (?P<names>.+)": "usage.required",
    r"unrecognized arguments: (?P<names>.+)": "usage.unrecognized",
    r"argument (?P<name>\S+): expected one argument": "usage.no-value",
    r"argument (?P<name>\S+): invalid int value: '(?P<value>.*)'": "usage.not-whole",
    r"argument (?P<name>\S+): invalid float value: '(?P<value>.*)'": "usage.not-a-number",
    r"argument (?P<name>\S+): ignored explicit argument '?(?P<value>.*?)'?": "usage.takes-no-value",
}
_NO_COMMAND = re.compile(r"argument COMMAND: invalid choice: '(?P<command>.*?)' \(choose", re.DOTALL)


def path(stated: str) -> Path:
    """A file or folder that is named.  ``--output "$DIR"`` with nothing in it must not mean the folder we are in."""
    if not stated.strip():
        raise InputError("usage.no-path")
    return Path(stated)


class _Formatter(argparse.HelpFormatter):
    """Help whose own words are in the language in force too."""

    def add_usage(self, usage: Any, actions: Any, groups: Any, prefix: str | None = None) -> None:
        super().add_usage(usage, actions, groups, text("usage.usage") if prefix is None else prefix)


class Parser(argparse.ArgumentParser):
    """Says what is wrong in one sentence, as every other error does.  Options are written out, never abbreviated."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings, add_help=False, allow_abbrev=False, formatter_class=_Formatter)
        for group, title in zip(self._action_groups, ("usage.arguments", "usage.options"), strict=True):
            group.title = text(title)
        self.add_argument("-h", "--help", action="help", help=text("usage.help"))

    def commands(self) -> Iterable[str]:
        """The names that may stand first."""
        return [name for action in self._actions if isinstance(action.choices, dict) for name in action.choices]

    def error(self, message: str) -> NoReturn:
        if named := _NO_COMMAND.match(message):
            known = instead(named["command"], self.commands())
            raise InputError("usage.no-command", command=entered(named["command"]), instead=known, program=self.prog)
        for pattern, id_ in _FAULTS.items():
            if found := re.fullmatch(pattern, message, re.DOTALL):
                raise InputError(
                    id_, **{name: entered(it) for name, it in found.groupdict().items()}, command=self.prog
                )
        raise InputError("usage.other", reason=message, command=self.prog)
