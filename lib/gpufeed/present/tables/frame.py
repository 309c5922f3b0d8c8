"""How a table is made: text under translated headings."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from gpufeed.facts.messages import text

if TYPE_CHECKING:
    import pandas as pd


def table(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> pd.DataFrame:
    """Rows of text under translated headings (``column.<id>``)."""
    import pandas as pd

    return pd.DataFrame(list(rows), columns=[text(f"column.{name}") for name in columns])
