"""What an option costs for the run, line by line: storage, requests, bytes, and the GPUs that wait for it.

A line is an amount in billing units × a price; every sum is the sum of its lines.  Left out, because they do not
depend on the option: the instances themselves while they are fed, backups, and storage in S3 of the weights that a job
starts from.  Left out, because it is small beside what the GPUs cost then: storage for the time by which waiting makes
the run longer.

===========  =========================================================================
``run``      what a run moves and keeps
``bill``     how a line is priced, and which lines equal jobs share
``bands``    storage in S3, which is priced in bands
``asked``    the requests and bytes that lines count
``options``  the lines of each option: its own storage, what fills it, what is asked of it
``filling``  what filling an option from the bucket costs, before or while it is read
``way``      the way to the bucket, and the keys of its encryption
``waiting``  GPUs that wait
``sums``     what lines come to
``whole``    all of these: the bill of one option
===========  =========================================================================
"""

from gpufeed.model.cost.asked import copy_requests, passes_over
from gpufeed.model.cost.bands import stored
from gpufeed.model.cost.bill import SHARED, Bill, bill_of, requests_price
from gpufeed.model.cost.filling import filling
from gpufeed.model.cost.run import Run
from gpufeed.model.cost.sums import sum_of, summed, weighed_sum
from gpufeed.model.cost.waiting import waiting
from gpufeed.model.cost.whole import cost

__all__ = [
    "SHARED",
    "Bill",
    "Run",
    "bill_of",
    "copy_requests",
    "cost",
    "filling",
    "passes_over",
    "requests_price",
    "stored",
    "sum_of",
    "summed",
    "waiting",
    "weighed_sum",
]
