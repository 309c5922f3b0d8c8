"""Which of the documents that gpufeed writes and reads a document is, so that a mistaken one is called by its name."""

from __future__ import annotations

from typing import Any

from gpufeed.facts.errors import InputError
from gpufeed.facts.messages import Sentence

#: Names that stand together in one kind of document and in no other; message ``kind.<kind>``.  A kind that holds others
#: comes before them.
_MARKS = {
    "record": {"gpufeed_version", "answer", "figures"},
    "study": {"workload", "measurements"},
    "unfinished-scan": {"ranges", "splits"},
    "recheck": {"answer_changed", "changes"},
    "plan": {"recommended", "placements"},
    "file-systems": {"need", "priced"},
    "comparison": {"file_system", "enough"},
    "offer": {"offerCode", "products"},
    "prices": {"region", "prices"},
    "templates": {"files"},
    "measurement": {"tool", "records"},
    "scan": {"objects", "by_size"},
    "workload": {"task", "instances"},
    "failure": {"error"},
}


def kind_of(document: Any) -> str | None:
    """The kind by the names that stand in a document; None for one that is none of ours."""
    if not isinstance(document, dict):
        return None
    return next((kind for kind, marks in _MARKS.items() if marks <= document.keys()), None)


def expect(document: Any, wanted: str) -> None:
    """Raises InputError for a document that is clearly of another kind; what is none of ours is left to its reader."""
    found = kind_of(document)
    if found not in (None, wanted):
        raise InputError("document.wrong-kind", found=Sentence(f"kind.{found}"), wanted=Sentence(f"kind.{wanted}"))
