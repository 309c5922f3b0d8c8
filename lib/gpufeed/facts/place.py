"""Where ``data/`` lies: inside the installed wheel, or beside ``lib/`` in a checkout."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

#: Names a file of one's own prices; empty means the snapshot alone.
PRICES_VARIABLE = "GPUFEED_PRICES"


@cache
def data_directory() -> Path:
    """The folder of this installation's facts, messages and templates."""
    package = Path(__file__).resolve().parents[1]
    in_wheel = package / "data"
    return in_wheel if in_wheel.is_dir() else package.parents[1] / "data"


def own_prices_are_named() -> bool:
    """Whether the user says which file it is: then it has to be there."""
    return bool(os.environ.get(PRICES_VARIABLE))


def own_prices() -> Path | None:
    """Where refreshed prices are kept: ``$GPUFEED_PRICES``, else ``gpufeed/prices.toml`` in the user's own settings.

    None where the variable is set and empty: then the snapshot in ``data/`` holds alone.
    """
    named = os.environ.get(PRICES_VARIABLE)
    if named is not None:
        return Path(named) if named else None
    settings = os.environ.get("XDG_CONFIG_HOME") or "~/.config"
    try:
        return Path(settings).expanduser() / "gpufeed" / "prices.toml"
    except RuntimeError:  # no home folder
        return None
