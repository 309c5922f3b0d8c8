"""Files that people hand over and take away: workloads as TOML; profiles, measurements and studies as JSON."""

from __future__ import annotations

import json
import os
import tempfile
import tomllib
from collections.abc import Mapping
from pathlib import Path
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
    write_text(path, json.dumps(document, ensure_ascii=False, indent=1, allow_nan=False) + "\n")


def write_text(path: str | Path, content: str) -> None:
    """Write all of it or nothing: a stop in between leaves the old file.  Raises GpufeedError when it cannot."""
    target = Path(path)
    try:
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(content)
        Path(temporary).replace(target)
    except OSError as error:
        raise GpufeedError("document.not-written", path=_shown(path), reason=error.strerror) from None


def make_folder(path: str | Path) -> None:
    """Make a folder unless it is there.  Raises GpufeedError when it cannot be made."""
    try:
        Path(path).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise GpufeedError("document.not-written", path=_shown(path), reason=error.strerror) from None


def _text(path: str | Path) -> str:
    try:
        return Path(path).read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputError("document.not-read", path=_shown(path), reason=error.strerror) from None
    except (UnicodeDecodeError, ValueError):
        raise InputError("document.not-text", path=_shown(path)) from None


def _shown(path: str | Path) -> str:
    return " ".join(str(path).split())
