"""What to enter instead of a name that is not known."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from gpufeed.facts.messages import Sentence

FEW = 16  # names that a sentence can hold


def entered(value: object) -> str:
    """What was entered, as a sentence holds it: on one line, true and false as documents have them, nothing as “”."""
    if isinstance(value, bool):
        return str(value).lower()
    return " ".join(str(value).split()) or "“”"


def nearest(name: object, names: Iterable[str]) -> list[str]:
    """The known name that is spelled most alike, else those that hold ``name``; upper and lower case are one."""
    typed, known = str(name).strip().lower(), {each.lower(): each for each in names}
    close = get_close_matches(typed, known, 1)
    return [known[each] for each in close or known if close or (typed and typed in each)]


def instead(name: object, names: Iterable[str]) -> Sentence:
    """The nearest; where nothing is near, all of them, or where to read them when they are many."""
    known = list(names)
    near = nearest(name, known)
    if near and len(near) <= FEW:
        return Sentence("known.nearest", {"names": ", ".join(near)})
    if len(known) <= FEW:
        return Sentence("known.all", {"names": ", ".join(known)})
    return Sentence("known.many", {"count": len(known)})


def nearest_or_none(name: object, names: Iterable[str]) -> Sentence:
    """The nearest alone, for a sentence that says itself what to do."""
    near = nearest(name, names)
    return Sentence("known.names", {"names": ", ".join(near)}) if near else Sentence("known.none")
