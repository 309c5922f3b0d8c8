"""Files that people hand over and take away: workloads as TOML; profiles, measurements and studies as JSON."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from secrets import token_hex
from typing import Any

from gpufeed.facts.errors import GpufeedError, InputError


def read_toml(path: str | Path) -> dict[str, Any]:
    """The table of a TOML file.  Raises InputError with one sentence when it cannot be read."""
    try:
        return tomllib.loads(_text(path))
    except tomllib.TOMLDecodeError as error:
        raise InputError("document.bad-toml", path=_shown(path), reason=str(error)) from None


def read_json(path: str | Path) -> dict[str, Any]:
    """The object of a JSON file.  Raises InputError with one sentence when it cannot be read."""
    try:
        document = json.loads(_text(path))
    except json.JSONDecodeError as error:
        raise InputError("document.bad-json", path=_shown(path), reason=str(error)) from None
    except (ValueError, RecursionError) as error:  # a number of thousands of digits; too many brackets
        reason = "too deeply nested" if isinstance(error, RecursionError) else "a number is too long"
        raise InputError("document.bad-json", path=_shown(path), reason=reason) from None
    if not isinstance(document, dict):
        raise InputError("document.no-object", path=_shown(path))
    return document


def write_json(path: str | Path, document: Mapping[str, Any]) -> None:
    """The document as JSON; see :func:`write_text`."""
    write_text(path, as_json(document))


def as_json(document: Mapping[str, Any]) -> str:
    """A document as it stands in a file: a name on each line, so that two of them can be compared."""
    return json.dumps(document, ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def write_text(path: str | Path, content: str) -> None:
    """Write all of it or nothing: a stop in between leaves the old file.  Raises GpufeedError when it cannot."""
    target = Path(path)
    # Not a temporary file of the system's: that would be for this user's eyes only, and so would what is handed over.
    temporary = target.with_name(f".{target.name}.{token_hex(4)}")
    try:
        with temporary.open("x", encoding="utf-8") as file:
            file.write(content)
        temporary.replace(target)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise GpufeedError("document.not-written", path=_shown(path), reason=error.strerror) from None


def make_folder(path: str | Path) -> None:
    """Make a folder unless it is there.  Raises GpufeedError when it cannot be made."""
    try:
        Path(path).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise GpufeedError("document.not-written", path=_shown(path), reason=error.strerror) from None
    except ValueError as error:  # a name that no file system takes
        raise GpufeedError("document.not-written", path=_shown(path), reason=error) from None


def _text(path: str | Path) -> str:
    try:
        return Path(path).read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputError("document.not-read", path=_shown(path), reason=error.strerror) from None
    except (UnicodeDecodeError, ValueError):
        raise InputError("document.not-text", path=_shown(path)) from None


def _shown(path: str | Path) -> str:
    return " ".join(str(path).split())
