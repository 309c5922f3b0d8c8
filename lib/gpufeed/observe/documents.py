"""Files that people hand over and take away: workloads as TOML; profiles, measurements and studies as JSON."""

from __future__ import annotations

import errno
import json
import tomllib
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from secrets import token_hex
from typing import Any, TypeVar

from gpufeed.facts.errors import GpufeedError, InputError
from gpufeed.facts.known import entered
from gpufeed.facts.messages import Sentence
from gpufeed.facts.toml_fault import toml_fault

T = TypeVar("T")

#: Errors of the file system that have a message ``os.<name>``; others are said as the system says them.
_SAID = frozenset(
    {"ENOENT", "EISDIR", "ENOTDIR", "EACCES", "EPERM", "ENAMETOOLONG", "ENOSPC", "EROFS", "EEXIST", "ELOOP"}
)


def read_toml(path: str | Path) -> dict[str, Any]:
    """The table of a TOML file.  Raises InputError with one sentence when it cannot be read."""
    try:
        return tomllib.loads(text := _text(path))
    except tomllib.TOMLDecodeError as error:
        if text.lstrip().startswith("{"):
            raise InputError("document.json-for-toml", path=_shown(path)) from None
        raise InputError("document.bad-toml", path=_shown(path), **toml_fault(str(error))) from None
    except (RecursionError, ValueError):  # too many brackets; a number of thousands of digits
        raise InputError("document.bad-toml", path=_shown(path), **toml_fault("")) from None


def read_json(path: str | Path) -> dict[str, Any]:
    """The object of a JSON file.  Raises InputError with one sentence when it cannot be read."""
    try:
        document = json.loads(_text(path))
    except json.JSONDecodeError as error:
        raise InputError("document.bad-json", path=_shown(path), line=error.lineno, column=error.colno) from None
    except (ValueError, RecursionError):  # a number of thousands of digits; too many brackets
        raise InputError("document.too-much-json", path=_shown(path)) from None
    if not isinstance(document, dict):
        raise InputError("document.no-object", path=_shown(path))
    return document


def read_as(path: str | Path, reader: Callable[[dict[str, Any]], T]) -> T:
    """What ``reader`` makes of the object of a JSON file; what it refuses is said with the name of the file."""
    document = read_json(path)
    try:
        return reader(document)
    except InputError as error:
        error.file = _shown(path)
        raise


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
        with suppress(OSError):  # it may never have been there
            temporary.unlink()
        raise GpufeedError("document.not-written", path=_shown(path), reason=why(error)) from None
    except ValueError:  # a name that no file system takes
        raise GpufeedError("document.not-written", path=_shown(path), reason=Sentence("os.bad-name")) from None


def make_folder(path: str | Path) -> None:
    """Make a folder unless it is there.  Raises GpufeedError when it cannot be made."""
    try:
        Path(path).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise GpufeedError("document.not-written", path=_shown(path), reason=why(error)) from None
    except ValueError:  # a name that no file system takes
        raise GpufeedError("document.not-written", path=_shown(path), reason=Sentence("os.bad-name")) from None


def _text(path: str | Path) -> str:
    try:
        return Path(path).read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputError("document.not-read", path=_shown(path), reason=why(error)) from None
    except UnicodeDecodeError:
        raise InputError("document.not-text", path=_shown(path)) from None
    except ValueError:  # a name that no file system takes
        raise InputError("document.not-read", path=_shown(path), reason=Sentence("os.bad-name")) from None


def why(error: OSError) -> Sentence | str:
    """What the file system refused, in the language in force."""
    name = errno.errorcode.get(error.errno or 0, "")
    return Sentence(f"os.{name}") if name in _SAID else error.strerror or type(error).__name__


def _shown(path: str | Path) -> str:
    return entered(path)
