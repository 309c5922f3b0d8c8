"""What a command prints: results on standard output, sentences and progress on standard error."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import Any

from gpufeed.facts.messages import text
from gpufeed.present.escape import visible

LONGEST_SENTENCE = 2000  # characters


def say(sentence: str) -> None:
    # Keys and names from outside stand in it: none may act on the terminal.
    print(visible(sentence, LONGEST_SENTENCE), file=sys.stderr, flush=True)


def print_lines(lines: Sequence[str]) -> None:
    if not lines:
        return  # not even an empty one
    shown = "\n".join(visible(line, LONGEST_SENTENCE) for line in lines)
    encoding = sys.stdout.encoding or "utf-8"
    print(shown.encode(encoding, "backslashreplace").decode(encoding))


def print_json(document: dict[str, Any]) -> None:
    written = json.dumps(document, ensure_ascii=False, allow_nan=False)
    try:
        written.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:  # an old terminal, or a path that is no Unicode: JSON's own escapes say it as well
        written = json.dumps(document, allow_nan=False)
    print(written)


def show_progress(progress: Any) -> None:
    """One line on a terminal, rewritten; silent where nobody watches."""
    if not sys.stderr.isatty():
        return
    from gpufeed.present import words

    line = progress.message
    if not line:
        line = text("shell.progress", done=words.count(progress.done), rate=words.number(progress.rate))
        if progress.seconds_left is not None:
            line = text("shell.progress-and-left", done=line, seconds=words.duration(progress.seconds_left))
    print(f"\r\033[K{line}", end="", file=sys.stderr, flush=True)


def end_progress() -> None:
    if sys.stderr.isatty():
        print("\r\033[K", end="", file=sys.stderr, flush=True)
