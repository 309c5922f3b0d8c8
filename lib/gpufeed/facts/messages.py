"""Every sentence people read, in English and Simplified Chinese, from the gettext catalogues in ``data/messages``.

A message has a stable id (``scan.denied``) and named ``{placeholders}``; both languages are catalogues, so neither can
drift unseen.  One setting chooses: ``GPUFEED_LANGUAGE`` = ``en`` (default) or ``zh_CN``.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from string import Formatter
from typing import Any

from gpufeed.facts.place import data_directory

LANGUAGES = ("en", "zh_CN")
#: Other ways to write them; upper and lower case are one, "-" is "_", and what follows a dot (``.UTF-8``) is left out.
_MEANT = {
    **dict.fromkeys(("", "en", "en_us", "en_gb", "c", "posix"), "en"),
    **dict.fromkeys(("zh", "zh_cn", "zh_hans", "zh_hans_cn", "zh_sg"), "zh_CN"),
}


def language() -> str:
    """The language in force; an unknown setting falls back to English."""
    return _meant() or "en"


def unknown_language() -> str | None:
    """What ``GPUFEED_LANGUAGE`` asks for where that is no language of ours, to be said once where a person sees it."""
    return None if _meant() else os.environ.get("GPUFEED_LANGUAGE")


def _meant() -> str | None:
    wanted = os.environ.get("GPUFEED_LANGUAGE", "").strip()
    return _MEANT.get(wanted.partition(".")[0].replace("-", "_").lower())


@cache
def catalogue(code: str) -> dict[str, str]:
    """All messages of one language: id → text, from every ``*.po`` file of that language."""
    from babel.messages.pofile import read_po  # 40 ms: only when a sentence is first shown

    messages: dict[str, str] = {}
    for path in sorted((data_directory() / "messages" / code).glob("*.po")):
        with path.open("rb") as file:
            for message in read_po(file):
                if isinstance(message.id, str) and message.id and message.string:
                    if message.id in messages:
                        raise ValueError(f"{path.name}: message id {message.id!r} stands twice")
                    messages[message.id] = str(message.string)
    return messages


def text(message_id: str, **parameters: Any) -> str:
    """The sentence with this id in the language in force.

    Raises KeyError for an id that no catalogue has: a missing sentence is a defect, not an empty string.
    """
    code = language()
    sentence = catalogue(code)[message_id]
    if code == "en":
        return sentence.format(**parameters)
    shown = ""
    for literal, placeholder in _pieces(sentence):
        shown = _joined(shown, literal)
        shown = _joined(shown, placeholder.format(**parameters))
    return shown


@cache
def _pieces(sentence: str) -> tuple[tuple[str, str], ...]:
    """Each stretch of a sentence and the placeholder that follows it."""
    return tuple(
        (literal, "" if name is None else _placeholder(name, spec, how))
        for literal, name, spec, how in Formatter().parse(sentence)
    )


def _placeholder(name: str, spec: str | None, how: str | None) -> str:
    return f"{{{name}{f'!{how}' if how else ''}{f':{spec}' if spec else ''}}}"


_STOPS = "，。：；！？、（）"


def _joined(left: str, right: str) -> str:
    """Two stretches of Chinese: a blank between Chinese and Latin letters or digits, none within Chinese.

    Which of the two a value is, the sentence around it cannot know.
    """
    before, after = left.rstrip(" "), right.lstrip(" ")
    if not before or not after:
        return left + right
    last, first = before[-1], after[0]
    if last in _STOPS or first in _STOPS or (_is_chinese(last) and _is_chinese(first)):
        return before + after
    if (_is_chinese(last) and _is_latin(first)) or (_is_latin(last) and _is_chinese(first)):
        return f"{before} {after}"
    return left + right


def _is_chinese(character: str) -> bool:
    return "\u4e00" <= character <= "\u9fff"


def _is_latin(character: str) -> bool:
    return character.isascii() and character.isalnum()


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence to be: id and parameters travel, the words are chosen in the language in force when it is shown."""

    message_id: str
    parameters: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return text(self.message_id, **self.parameters)
