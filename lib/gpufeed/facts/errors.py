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

    def __str__(self) -> str:
        return text(self.message_id, **self.parameters)

    def _render_traceback_(self) -> list[str]:
        """What a notebook shows instead of a traceback (IPython looks for this name)."""
        return [str(self)]


class InputError(GpufeedError):
    """What was entered cannot be used (exit 2)."""

    exit_code = 2
