"""Facts: what is in ``data/``, loaded once, each number with its unit, range, basis, sources and date."""

from gpufeed.facts.catalogue import Catalogue, Facts, NoSuchName, Section, WatchedFacts, load, read
from gpufeed.facts.fact import Fact
from gpufeed.facts.prices import Price
from gpufeed.facts.quantity import Quantity
from gpufeed.facts.sources import UNDATED, Age, Source

__all__ = [
    "UNDATED",
    "Age",
    "Catalogue",
    "Fact",
    "Facts",
    "NoSuchName",
    "Price",
    "Quantity",
    "Section",
    "Source",
    "WatchedFacts",
    "load",
    "read",
]
