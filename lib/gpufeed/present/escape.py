"""Keys and bucket names on a page: any legal key is shown as what it is, and none can act on the page."""

from __future__ import annotations

import html
import unicodedata

LONGEST_SHOWN = 80  # characters; a key may have 1,024 bytes

# Characters that draw nothing, or that turn the reading direction of what follows: control, format, surrogate,
# private use, unassigned, line and paragraph separators.
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_CONTROL_PICTURES, _DELETE = 0x2400, 0x7F


def visible(text: str, longest: int = LONGEST_SHOWN) -> str:
    """The text with unseen characters made visible (``␉``, ``⟨U+202E⟩``) and its middle cut out when it is long.

    For display only: the key itself is never changed.
    """
    if len(text) > longest:
        head = longest // 2
        tail = longest - head - 1
        return f"{_seen(text[:head])}…{_seen(text[-tail:])}"
    return _seen(text)


def escaped(text: object, longest: int = LONGEST_SHOWN) -> str:
    """The same, safe inside HTML text and attributes."""
    return html.escape(visible(str(text), longest))


def _seen(text: str) -> str:
    return "".join(_character(c) for c in text)


def _character(c: str) -> str:
    if unicodedata.category(c) not in _UNSEEN:
        return c
    code = ord(c)
    if code < ord(" "):
        return chr(_CONTROL_PICTURES + code)
    return "␡" if code == _DELETE else f"⟨U+{code:04X}⟩"
