"""Charts: the only door to altair.  Each function returns a :class:`Drawing` — picture, description and table."""

from gpufeed.present.charts.checkpoints import goodput_over_interval, save_timeline, time_between_failures
from gpufeed.present.charts.drawing import MOST_ROWS, Drawing, thinned
from gpufeed.present.charts.measured import over_time, throughput
from gpufeed.present.charts.plan import cost, supply_vs_demand
from gpufeed.present.charts.prefix import by_prefix, size_histogram
from gpufeed.present.charts.sensitivity import sensitivity

__all__ = [
    "MOST_ROWS",
    "Drawing",
    "by_prefix",
    "cost",
    "goodput_over_interval",
    "over_time",
    "save_timeline",
    "sensitivity",
    "size_histogram",
    "supply_vs_demand",
    "thinned",
    "throughput",
    "time_between_failures",
]
