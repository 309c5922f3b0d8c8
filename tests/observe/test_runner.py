"""The runner: progress, Stop, single flight, errors kept for the caller."""

import os
import signal
import threading

import pytest

from gpufeed.observe.runner import Progress, Run, SingleFlight, run_in_foreground


def test_a_run_gives_the_result_of_its_work():
    run = Run(lambda control: 42).start()
    assert run.result(5) == 42
    assert run.ended and not run.running and not run.stopped


def test_an_error_is_kept_for_the_caller():
    def work(control):
        raise ValueError("broken")

    run = Run(work).start()
    assert run.wait(5)
    with pytest.raises(ValueError, match="broken"):
        run.result()
    assert isinstance(run.error, ValueError) and not run.stopped


def test_a_stopped_run_keeps_its_partial_result_and_says_so():
    seen = []

    def work(control):
        for n in range(1_000_000):
            seen.append(n)
            if control.stopping.wait(0.001):
                break
        return len(seen)

    run = Run(work).start()
    run.stop()
    assert run.result(5) == len(seen) < 1_000_000
    assert run.stopped


def test_a_second_start_while_running_returns_the_running_one():
    release, flight, started = threading.Event(), SingleFlight(), []

    def work(control):
        started.append(1)
        return release.wait(5)

    first = flight.start(Run(work))
    assert flight.start(Run(work)) is first
    assert first.start() is first
    release.set()
    assert first.result(5) is True
    second = flight.start(Run(work))
    assert second is not first
    assert second.result(5) is True
    assert len(started) == 2


def test_progress_is_shown_at_the_start_then_at_most_every_interval_then_at_the_end():
    now = iter([0.0, 0.05, 0.1, 0.15, 0.25, 0.3])
    shown = []

    def work(control):
        for done in range(1, 6):
            control.report(done, 10, f"at {done}")

    Run(work, on_progress=shown.append, interval=0.1, clock=lambda: next(now)).start().result(5)
    assert [progress.done for progress in shown] == [0, 2, 4, 5]
    assert shown[-1] == Progress(5, 10, 0.3, "at 5")


def test_rate_and_time_left_follow_from_what_is_done():
    progress = Progress(done=200, total=1000, seconds=4)
    assert (progress.rate, progress.seconds_left) == (50, 16)
    assert Progress(200, None, 4).seconds_left is None
    assert Progress(0, 10, 4).rate is None


def test_a_failing_callback_does_not_harm_the_work():
    def broken(progress):
        raise RuntimeError("widget is gone")

    told = threading.Event()
    run = Run(lambda control: "kept", on_progress=broken, on_end=lambda _: told.set()).start()
    assert run.result(5) == "kept"
    assert isinstance(run.callback_error, RuntimeError)
    assert told.wait(5)  # whoever waits for the end must not wait for ever


def test_the_end_is_announced_after_the_result_is_there():
    results, told = [], threading.Event()

    def on_end(run):
        results.append(run.result(0))
        told.set()

    Run(lambda control: 7, on_end=on_end).start()
    assert told.wait(5)
    assert results == [7]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_foreground_work_and_gives_what_it_has(number):
    def work(control):
        os.kill(os.getpid(), number)
        assert control.stopping.wait(5)
        return "partial"

    before = signal.getsignal(number)
    run = Run(work)
    assert run_in_foreground(run) == "partial"
    assert run.stopped
    assert signal.getsignal(number) is before


def test_foreground_work_that_was_not_stopped_is_whole():
    run = Run(lambda control: 1)
    assert run_in_foreground(run) == 1
    run.stop()
    assert not run.stopped


def test_foreground_work_raises_its_own_error():
    def work(control):
        raise KeyError("missing")

    with pytest.raises(KeyError, match="missing"):
        run_in_foreground(Run(work))
