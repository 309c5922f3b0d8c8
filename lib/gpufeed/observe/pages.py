"""Reads the pages of ListObjectsV2 many times faster than botocore does, and hands botocore the rest.

A page is some hundred kilobytes of XML of which four columns matter.  :func:`take_contents` runs as a botocore
``before-parse`` hook, ahead of every other handler: from a complete page it takes the ``<Contents>`` out and leaves the
skeleton, so that tokens, common prefixes, error bodies and cut pages go botocore's own way, retries included.  A page
it does not understand stays as it is, and :func:`page_of` reads what botocore made of it: slower, never different.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC
from typing import Any
from urllib.parse import unquote_plus

# The wildcard in place of the service, with register_first, comes before botocore's own handlers of before-parse.s3.*;
# under the full name it would come after one that parses every page a second time.
EVENT = "before-parse.*.ListObjectsV2"
SLOT = "GpufeedPage"

_KEY, _SIZE, _MODIFIED, _CLASS = (
    re.compile(f"<{tag}>([^<]*)</{tag}>") for tag in ("Key", "Size", "LastModified", "StorageClass")
)
_STANDARD = "<StorageClass>STANDARD</StorageClass>"
# What a column-wise reading could get wrong: left to a real XML parser.
_STRANGE = ("<!", "<Contents/", "<Contents ")
# The references XML knows.  html.unescape would also read names and drop control characters that XML keeps.
_REFERENCE = re.compile(r"&(?:#x([0-9A-Fa-f]+)|#([0-9]+)|(amp|lt|gt|quot|apos));")
_NAMED = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'"}


class ForeignAnswer(Exception):
    """A success that is no listing, as a web server at the wrong port gives: it must not pass for an empty prefix."""


@dataclass(frozen=True, slots=True)
class Page:
    """The objects of one page, column by column: full keys, sizes [bytes], ISO 8601 times in UTC, storage classes."""

    keys: Sequence[str] = ()
    sizes: Sequence[int] = ()
    modified: Sequence[str] | None = None
    classes: Sequence[str | None] | None = None

    def __len__(self) -> int:
        return len(self.keys)

    def only(self, kept: Sequence[bool]) -> Page:
        """The rows for which ``kept`` is true."""
        return Page(
            [key for key, keep in zip(self.keys, kept, strict=True) if keep],
            [size for size, keep in zip(self.sizes, kept, strict=True) if keep],
            self.modified and [when for when, keep in zip(self.modified, kept, strict=True) if keep],
            self.classes and [name for name, keep in zip(self.classes, kept, strict=True) if keep],
        )


def split_page(body: bytes) -> tuple[Page, bytes] | None:
    """The objects of a complete page, and the page without them; None for anything else.

    The columns are found one by one, since stores order the elements differently, and each must have as many entries
    as there are ``<Contents>``.
    """
    if not body.rstrip().endswith(b"</ListBucketResult>"):
        return None
    try:
        text = body.decode()
    except UnicodeDecodeError:
        return None
    count = text.count("<Contents>")
    if not count or any(mark in text for mark in _STRANGE):
        return None
    first = text.index("<Contents>")
    end = text.rfind("</Contents>") + len("</Contents>")
    rows = text[first:end]
    if rows.count("</Contents><Contents>") == count - 1:
        skeleton = text[:first] + text[end:]
    else:
        pieces = text.split("<Contents>")
        skeleton = pieces[0] + "".join(piece.partition("</Contents>")[2] for piece in pieces[1:])
    keys, sizes, modified = _KEY.findall(rows), _SIZE.findall(rows), _MODIFIED.findall(rows)
    if not (rows.count("</Contents>") == len(keys) == len(sizes) == len(modified) == count):
        return None
    classes: list[str | None] | None
    if rows.count(_STANDARD) == count:
        classes = ["STANDARD"] * count
    else:
        classes = _CLASS.findall(rows) or None
        if classes is not None and len(classes) != count:
            return None
    try:
        numbers = list(map(int, sizes))
        names = _decoded(keys, "<EncodingType>url</EncodingType>" in skeleton)
    except ValueError:
        return None
    return Page(names, numbers, modified, classes), skeleton.encode()


def _decoded(keys: list[str], url_encoded: bool) -> list[str]:
    """XML first, then the URL encoding when the store says it used it: each exactly once."""
    joined = "".join(keys)
    if "&" in joined:
        keys = [_REFERENCE.sub(_referenced, key) for key in keys]
    if url_encoded and ("%" in joined or "+" in joined or "&" in joined):
        keys = [unquote_plus(key) if "%" in key or "+" in key else key for key in keys]
    return keys


def _referenced(match: re.Match[str]) -> str:
    hexadecimal, decimal, name = match.groups()
    if name:
        return _NAMED[name]
    code = int(hexadecimal, 16) if hexadecimal else int(decimal)
    if 0xD800 <= code <= 0xDFFF or code > 0x10FFFF:
        raise ValueError("no character")
    return chr(code)


def take_contents(response_dict: dict[str, Any], customized_response_dict: dict[str, Any], **_: Any) -> None:
    """The hook: move the objects of a complete page into the parsed response, leave the skeleton to botocore.

    Raises ForeignAnswer for an answer that botocore would read as a page with nothing on it.
    """
    if not 200 <= response_dict["status_code"] < 300:
        return
    body: bytes = response_dict["body"]
    if b"ListBucketResult" not in body and b"<Error" not in body:
        raise ForeignAnswer
    found = split_page(body)
    if found is not None:
        customized_response_dict[SLOT], response_dict["body"] = found


def page_of(response: dict[str, Any]) -> Page:
    """The objects in a response of ListObjectsV2, whoever parsed it."""
    page = response.get(SLOT)
    if isinstance(page, Page):
        return page
    rows = response.get("Contents", ())
    return Page(
        [row["Key"] for row in rows],
        [row["Size"] for row in rows],
        [row["LastModified"].astimezone(UTC).isoformat() for row in rows],
        [row.get("StorageClass") for row in rows],
    )
