"""Money a probe may spend: set aside before each request, so that a budget is never passed."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field

from gpufeed.facts import load

GIB = 1024**3
# What a probe of a priced store may spend when nobody said otherwise, in the price list's currency.
DEFAULT_BUDGET = 0.10


@dataclass(frozen=True, slots=True)
class RequestPrices:
    """What reading costs: per GET, per LIST, and per byte where the option itself charges for bytes read.

    Transfer to another region or to the internet is not in it: run the probe where the data is.
    """

    get: float
    list: float
    byte: float = 0.0
    currency: str = "USD"


FREE = RequestPrices(0.0, 0.0)


def prices_of(option: str, region: str) -> RequestPrices | None:
    """The published prices of reading ``option`` in ``region``; None when they are not known."""
    facts = load()
    get, listing = facts.price(option, "get", region), facts.price(option, "list", region)
    if get is None or listing is None:
        return None
    retrieval = facts.price(option, "retrieval", region)
    currency = next(row.currency for row in facts.price_bands(option, "get", region))
    return RequestPrices(
        get=get.high / 1000,
        list=listing.high / 1000,
        byte=retrieval.high / GIB if retrieval else 0.0,
        currency=currency,
    )


@dataclass(slots=True)
class Ledger:
    """Spends at most ``budget`` (None: unlimited).  A request sets aside what it could cost with all its repeats."""

    budget: float | None
    prices: RequestPrices
    attempts: int  # a request is sent at most this often
    spent: float = 0.0
    requests: int = 0  # sent, repeats and lists included
    refused: bool = False
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def spend_lists(self, requests: int) -> None:
        """Count list requests that were made."""
        self.spent += requests * self.prices.list
        self.requests += requests

    def reserve(self, nbytes: int) -> bool:
        """False, and nothing set aside, when the request could pass the budget."""
        most = self.attempts * self._cost(nbytes)
        with self._lock:
            if self.budget is not None and self.spent + most > self.budget:
                self.refused = True
                return False
            self.spent += most
            return True

    def settle(self, nbytes: int, attempts: int) -> None:
        """Give back what the request did not need."""
        with self._lock:
            self.spent -= (self.attempts - attempts) * self._cost(nbytes)

    def _cost(self, nbytes: int) -> float:
        return self.prices.get + nbytes * self.prices.byte
