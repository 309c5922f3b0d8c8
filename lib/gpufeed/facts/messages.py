"""Every sentence people read, in English and Simplified Chinese, from the gettext catalogues in ``data/messages``.

A message has a stable id (``scan.denied``) and named ``{placeholders}``; both languages are catalogues, so neither can
drift unseen.  One setting chooses: ``GPUFEED_LANGUAGE`` = ``en`` (default) or ``zh_CN``.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from gpufeed.facts.place import data_directory

LANGUAGES = ("en", "zh_CN")


def language() -> str:
    """The language in force; an unknown setting falls back to English."""
    wanted = os.environ.get("GPUFEED_LANGUAGE", "en")
    return wanted if wanted in LANGUAGES else "en"


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
    return catalogue(language())[message_id].format(**parameters)


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence to be: id and parameters travel, the words are chosen in the language in force when it is shown."""

    message_id: str
    parameters: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return text(self.message_id, **self.parameters)
