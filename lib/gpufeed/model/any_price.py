"""Two bills of which something is not priced in any Region: whether one is the cheaper whatever that costs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from gpufeed.facts.quantity import Quantity
from gpufeed.model.recommendation import CostLine

#: By whose prices, and of what: hours of GPUs that wait have one price, wherever they come from.
_Item = tuple[str | None, str]


class Known(NamedTuple):
    """A bill apart: what of it is priced, and how much there is of all that is not.  None: that is not known."""

    amount: Quantity
    unpriced: dict[_Item, Quantity | None]

    @property
    def parts(self) -> tuple[str, ...]:
        """The lines without a price, for people."""
        return tuple(name for _, name in self.unpriced)


def known_of(lines: Iterable[CostLine], currency: str) -> Known:
    amount, unpriced = Quantity.exact(0.0), dict[_Item, Quantity | None]()
    for line in lines:
        if line.weighed is not None:
            amount = amount + line.weighed
            continue
        item = line.option, "idle-gpu" if line.part == "idle-gpu" else line.id
        before = unpriced.get(item, Quantity.exact(0.0))
        unpriced[item] = None if before is None or line.quantity is None else before + line.quantity
    return Known(amount.named(currency), unpriced)


def cheaper_at_any_price(mine: Known, theirs: Known, least: float) -> bool:
    """Cheaper by more than ``least`` in the middle and not dearer in the worst case, whatever the unknown prices are.

    Of nothing without a price it takes more, in the middle as in the worst case: then no price, however high or low,
    could turn what the priced lines say.
    """
    for item, amount in mine.unpriced.items():
        other = theirs.unpriced.get(item)
        if amount is None or other is None or amount.value > other.value or amount.high > other.high:
            return False
    paid, spared = mine.amount, theirs.amount
    if paid.high > spared.high:
        return False
    if paid.value < spared.value - least:
        return True
    # Equal money, and less of what has no price: cheaper as soon as that costs anything.
    less = any(more is None or more.value > _of(mine, item) for item, more in theirs.unpriced.items())
    return least <= 0.0 and less and paid.value <= spared.value


def _of(bill: Known, item: _Item) -> float:
    amount = bill.unpriced.get(item)
    return 0.0 if amount is None else amount.value
