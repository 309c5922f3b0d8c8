"""Where ``data/`` lies: inside the installed wheel, or beside ``lib/`` in a checkout."""

from __future__ import annotations

from functools import cache
from pathlib import Path


@cache
def data_directory() -> Path:
    package = Path(__file__).resolve().parents[1]
    in_wheel = package / "data"
    return in_wheel if in_wheel.is_dir() else package.parents[1] / "data"
