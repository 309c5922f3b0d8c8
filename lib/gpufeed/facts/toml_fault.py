"""What is wrong with a TOML document, out of what tomllib says in English."""

from __future__ import annotations

import re

from gpufeed.facts.messages import Sentence

#: What tomllib says of a line, and the message that says it: the first that is found in it.
_REASONS = {
    "twice|overwrite|immutable|redefine|Duplicate": "toml.twice",
    "Invalid value|Invalid date": "toml.value",
    "statement|after a key|key part": "toml.statement",
    "string|character|hex|Expected [\"']{2}": "toml.text",
    "Unclosed|declaration": "toml.list",
}


def toml_fault(said: str) -> dict[str, Sentence]:
    """Where and what, out of tomllib's English sentence.  Nothing of the file itself: it may be one with secrets."""
    at = re.search(r"line (\d+), column (\d+)", said)
    place = Sentence("toml.line", {"line": at[1], "column": at[2]}) if at else Sentence("toml.end")
    reasons = (id_ for pattern, id_ in _REASONS.items() if re.search(pattern, said))
    return {"place": place, "reason": Sentence(next(reasons, "toml.other"))}
