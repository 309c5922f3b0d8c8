"""gpufeed: does your storage feed your GPUs?

Four floors, imports go down only: ``facts`` (sourced numbers), ``model`` (arithmetic), ``observe`` (the world),
``present`` (what people see).  Names below load on first use, so ``import gpufeed`` stays fast.
"""

from __future__ import annotations

import importlib
from typing import Any

__version__ = "0.1.0"

# name -> module that defines it; kept lazy because pandas, altair and boto3 take seconds to import.
_WHERE: dict[str, str] = {}

__all__ = [*_WHERE, "__version__"]


def __getattr__(name: str) -> Any:
    if name in _WHERE:
        return getattr(importlib.import_module(_WHERE[name]), name)
    raise AttributeError(f"module 'gpufeed' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
