"""Where the time of a run goes, worked by hand."""

from __future__ import annotations

import math
from dataclasses import replace
from types import SimpleNamespace
from typing import cast

import pytest

from gpufeed.facts.quantity import Quantity
from gpufeed.model.checkpoint import outpaced
from gpufeed.model.formulas import daly_interval, young_interval
from gpufeed.model.goodput import Losses, best_interval, goodput, intervals, shares
from gpufeed.model.recommendation import CheckpointStall, Demand

MINUTE, HOUR = 60.0, 3600.0


def losses(save: float, mean: float, lag: float | None = None, recovery: float = 0.0) -> Losses:
    exact = [Quantity.exact(seconds, "seconds") for seconds in (save, recovery, mean)]
    return Losses(exact[0], None if lag is None else Quantity.exact(lag, "seconds"), *exact[1:])


def test_the_published_example_of_young_and_daly() -> None:
    # Saving takes 4 min, failures come every 360 min: Young sqrt(2 × 4 × 360) = 53.67 min.
    assert young_interval(4, 360) == pytest.approx(53.6656, rel=1e-5)
    # Daly: 53.6656 × (1 + sqrt(4/720)/3 + 4/720/9) − 4 = 53.6656 × (1 + 0.0248452 + 0.0006173) − 4 = 51.0321
    assert daly_interval(4, 360) == pytest.approx(51.0321, rel=1e-5)


def test_where_saving_takes_as_long_as_two_times_between_failures_daly_saves_once_each() -> None:
    assert daly_interval(720, 360) == 360
    assert daly_interval(1000, 360) == 360


def test_the_shares_of_the_published_example() -> None:
    # 54 min of training and 4 of saving, failures every 360: W = 360 × (e^(58/360) − 1) = 62.9334 min.
    found = shares(54, 4, 0, 0, 360)
    wall = 360 * (math.exp(58 / 360) - 1)
    assert wall == pytest.approx(62.9334, rel=1e-5)
    assert found.goodput == pytest.approx(54 / wall)
    assert found.saving == pytest.approx(4 / wall)
    assert found.rework == pytest.approx(1 - 58 / wall)
    assert found.restart == 0
    # The first order, C/T + T/2M = 4/54 + 54/720, says 14.9 % are lost; the full formula 14.2 %.
    assert 1 - found.goodput == pytest.approx(4 / 54 + 54 / 720, abs=0.01)


def test_restart_takes_its_share_whatever_the_interval() -> None:
    # 1 − e^(−R/M) with R = 15 min and M = 10 h
    for interval in (MINUTE, HOUR, 10 * HOUR):
        assert shares(interval, 30, 0, 15 * MINUTE, 10 * HOUR).restart == pytest.approx(1 - math.exp(-0.025))


def test_a_save_that_is_still_being_written_is_done_again_and_not_counted_as_restart() -> None:
    without, with_lag = shares(HOUR, 1, 0, 600, 10 * HOUR), shares(HOUR, 1, 600, 600, 10 * HOUR)
    # Recovery and lag together are 1 − e^(−1200/36000) = 3.278 %; half of it each.
    assert with_lag.restart == pytest.approx((1 - math.exp(-1 / 30)) / 2)
    assert with_lag.rework > without.rework
    assert sum(with_lag) == pytest.approx(1)


@pytest.mark.parametrize("mean", [1.0, 60.0, 1e4, 1e8])
@pytest.mark.parametrize("interval", [1e-3, 1.0, 1e3, 1e8])
def test_the_shares_always_add_up_to_one_and_none_is_negative(interval: float, mean: float) -> None:
    found = shares(interval, 30.0, 5.0, 600.0, mean)
    assert sum(found) == pytest.approx(1)
    assert min(found) >= -1e-12


@pytest.mark.parametrize(("save", "mean"), [(1.0, 1e5), (60.0, 1e5), (600.0, 2e4)])
def test_no_interval_near_dalys_wastes_less(save: float, mean: float) -> None:
    at_best = shares(daly_interval(save, mean), save, 0, 0, mean).goodput
    for factor in (0.5, 0.8, 1.25, 2.0):
        assert shares(daly_interval(save, mean) * factor, save, 0, 0, mean).goodput < at_best


def test_the_best_asynchronous_interval_is_no_shorter_than_the_save_takes_to_write() -> None:
    assert best_interval(losses(0.1, 10 * HOUR, lag=900)) == 900
    assert best_interval(losses(0.1, 10 * HOUR, lag=10)) == daly_interval(0.1, 10 * HOUR)
    slow = replace(losses(0.1, 10 * HOUR), lag=Quantity(300, 600, 1500, "seconds"))
    assert best_interval(slow) == 1500


def test_the_best_interval_is_no_shorter_than_a_step() -> None:
    # sqrt(2 × 10 × 1000) × (1 + sqrt(0.005) / 3 + 0.005 / 9) − 10 = 134.8 s
    ten, thousand = Quantity.exact(10.0, "seconds"), Quantity.exact(1000.0, "seconds")
    lost = Losses(ten, None, ten, thousand)
    assert best_interval(lost) == pytest.approx(134.83, abs=0.01)
    assert best_interval(replace(lost, step=Quantity.exact(200.0, "seconds"))) == 200.0
    assert best_interval(replace(lost, step=Quantity.exact(100.0, "seconds"))) == best_interval(lost)


@pytest.mark.parametrize(
    ("mode", "blocks", "save", "said"),
    [
        # Daly's interval is 1,000 s from 2,000 s on, and for 500 s 1,000 × (1 + 0.5 / 3 + 0.25 / 9) − 500 = 694 s.
        ("sync", 2000.0, 2000.0, True),
        ("sync", 500.0, 500.0, False),
        ("async", 1.0, 1000.0, True),
        ("async", 1.0, 999.0, False),
    ],
)
def test_failures_that_outpace_saves_leave_less_than_half_of_the_time(
    mode: str, blocks: float, save: float, said: bool
) -> None:
    mean, stop, written = (Quantity.exact(seconds, "seconds") for seconds in (1000.0, blocks, save))
    lost = losses(blocks, 1000.0, save if mode == "async" else None)
    best = best_interval(lost)
    stalled = CheckpointStall(written, stop, 1800.0, best, None, None, None, stop, None)
    asked = SimpleNamespace(checkpoint_mode=mode, mean_time_to_failure=mean)
    assert outpaced(stalled, cast(Demand, asked)) is said
    if said:
        assert goodput(lost, best).goodput.value < 0.5


def test_what_reaches_into_the_next_interval_stops_the_gpus() -> None:
    # Written in 900 s, saved every 600 s: 300 s and the copy of 1 s are waited for each time.
    found = goodput(losses(1, 1e9, lag=900), 600)
    assert found.saving.value == pytest.approx(301 / 901, rel=1e-4)
    assert goodput(losses(1, 1e9, lag=599), 600).saving.value == pytest.approx(1 / 601, rel=1e-4)


def test_the_range_runs_from_slow_saves_and_many_failures_to_quick_saves_and_few() -> None:
    found = goodput(
        Losses(
            Quantity(10, 20, 40, "seconds"), None, Quantity(60, 60, 120, "seconds"), Quantity(1e4, 5e4, 1e5, "seconds")
        ),
        600,
    )
    assert found.goodput.low == pytest.approx(shares(600, 40, 0, 120, 1e4).goodput)
    assert found.goodput.high == pytest.approx(shares(600, 10, 0, 60, 1e5).goodput)
    assert found.lost.low == pytest.approx(1 - found.goodput.high)
    assert "daly-2006" in found.goodput.sources


def test_the_intervals_of_a_curve_reach_a_decade_beyond_what_is_marked() -> None:
    drawn = intervals([600, 3600])
    assert (drawn[0], drawn[-1]) == (60, pytest.approx(36_000))
    assert len(drawn) == 41
