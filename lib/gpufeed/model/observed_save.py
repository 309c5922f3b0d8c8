"""A save that somebody watched: what its seconds say, and what they do not."""

from __future__ import annotations

from dataclasses import dataclass

from gpufeed.facts import Facts
from gpufeed.facts.errors import InputError
from gpufeed.model.rules import S3


@dataclass(frozen=True, slots=True)
class ObservedSave:
    """What a save comes to.  ``cause`` is message ``observed.<cause>``; what is not known is None."""

    seconds: float
    bytes: float | None
    bytes_per_s: float | None
    gpu_wait_seconds: float | None  # None for an asynchronous save: its seconds are not what the GPUs waited
    floor_bytes_per_s: float | None  # what the storage is known to write
    floor_seconds: float | None  # the save at that rate
    share_of_floor: float | None
    cause: str  # "ask-bytes" | "not-the-disk" | "near-the-floor" | "above-the-floor" | "single-stream" | "ask-floor"


def judge_save(
    facts: Facts,
    *,
    seconds: float,
    bytes: float | None = None,  # noqa: A002 — the word of the JSON and of every other field here
    floor_bytes_per_s: float | None = None,
    option: str = S3,
    mode: str = "sync",
) -> ObservedSave:
    """Judge one save by its bytes, its seconds, and the rate its storage is known to write at.

    Rules: without bytes nothing can be said about a rate, so they are asked for.  Far below the storage's own rate, it
    was not the storage, and a faster tier would change nothing.  Without such a rate, one that a single request stream
    to ``option`` brings anyway points at one stream: write in parallel parts, in the background.
    Raises InputError for numbers that no save can have.
    """
    for name, value in (("seconds", seconds), ("bytes", bytes), ("floor_bytes_per_s", floor_bytes_per_s)):
        if value is not None and not 0.0 < value < float("inf"):
            raise InputError("observed.not-positive", field=name, value=value)
    waited = seconds if mode == "sync" else None
    if bytes is None:
        return ObservedSave(seconds, None, None, waited, floor_bytes_per_s, None, None, "ask-bytes")
    rate = bytes / seconds
    if floor_bytes_per_s is None:
        one_stream = facts.options[option].known("per_request_write").high
        cause = "single-stream" if rate <= one_stream else "ask-floor"
        return ObservedSave(seconds, bytes, rate, waited, None, None, None, cause)
    share = rate / floor_bytes_per_s
    near = facts.model.known("save_near_floor").value
    cause = "above-the-floor" if share > 1.0 else "near-the-floor" if share >= near else "not-the-disk"
    return ObservedSave(seconds, bytes, rate, waited, floor_bytes_per_s, bytes / floor_bytes_per_s, share, cause)
