"""Errors that people see: one sentence with the next step, never a traceback, never a secret."""

from __future__ import annotations

from typing import Any

from gpufeed.facts.messages import text


class GpufeedError(Exception):
    """The question has no good answer (exit 1); ``message_id`` and ``parameters`` give the sentence."""

    exit_code = 1

    def __init__(self, message_id: str, **parameters: Any) -> None:
        super().__init__(message_id, parameters)
        self.message_id = message_id
        self.parameters = parameters
        self.file: str | None = None  # where it was found, set by whoever read the file

    def __str__(self) -> str:
        sentence = text(self.message_id, **self.parameters)
        return sentence if self.file is None else text("document.in-file", file=self.file, sentence=sentence)

    def _render_traceback_(self) -> list[str]:
        """What a notebook shows instead of a traceback (IPython looks for this name)."""
        return [str(self)]


class InputError(GpufeedError):
    """What was entered cannot be used (exit 2)."""

    exit_code = 2
