"""The one runner for long work: progress, rate, time left, Stop, single flight, errors kept for the caller.

Panels and the shell use the same one.  The work is a function that takes a :class:`Control`; it reports how far it is,
looks at ``control.stopping`` and, when asked to stop, returns what it has.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from types import FrameType
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the work is: ``done`` of ``total`` (None: not known), after ``seconds``, with a message for people."""

    done: float = 0
    total: float | None = None
    seconds: float = 0.0
    message: str = ""

    @property
    def rate(self) -> float | None:
        """Units done per second since the start; None before anything was done."""
        return self.done / self.seconds if self.done and self.seconds > 0 else None

    @property
    def seconds_left(self) -> float | None:
        """Seconds to the end at the rate so far; None when the total or the rate is not known."""
        rate = self.rate
        return None if rate is None or self.total is None else max(self.total - self.done, 0) / rate


class Control:
    """What the work sees of its run."""

    def __init__(self, report: Callable[[float, float | None, str], None] | None = None) -> None:
        self.stopping = threading.Event()
        self._report = report

    def report(self, done: float, total: float | None = None, message: str = "") -> None:
        """Say how far the work is; cheap, to be called as often as wished."""
        if self._report is not None:
            self._report(done, total, message)


class Run(Generic[T]):
    """One piece of work in a background thread.

    ``on_progress`` is called at the start, then at most every ``interval`` seconds, then once with the last figures;
    ``on_end`` is called once when the work has ended in any way.  Both run in the background thread.  A callback that
    fails never harms the work: it is not called again and its error stays in ``callback_error``; ``on_end`` is always
    called, since someone may wait for it.
    """

    def __init__(
        self,
        work: Callable[[Control], T],
        *,
        on_progress: Callable[[Progress], None] | None = None,
        on_end: Callable[[Run[T]], None] | None = None,
        interval: float = 0.2,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.control = Control(self._receive)
        self.progress = Progress()
        self.error: BaseException | None = None
        self.callback_error: Exception | None = None
        self._work = work
        self._on_progress = on_progress
        self._on_end = on_end
        self._interval = interval
        self._clock = clock
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None
        self._value: T | None = None
        self._began = 0.0
        self._shown = 0.0

    def start(self) -> Run[T]:
        """Begin, once: a second start returns the same run."""
        with self._lock:
            if self._thread is None:
                self._began = self._shown = self._clock()
                self._thread = threading.Thread(target=self._go, name="gpufeed-run", daemon=True)
                self._thread.start()
        return self

    def stop(self) -> None:
        """Ask the work to end; it keeps what it has.  Nothing happens when it has ended."""
        if not self.ended:
            self.control.stopping.set()

    @property
    def running(self) -> bool:
        return self._thread is not None and not self._ended.is_set()

    @property
    def ended(self) -> bool:
        return self._ended.is_set()

    @property
    def stopped(self) -> bool:
        """The work ended without an error after it was asked to stop: its result is partial."""
        return self.ended and self.error is None and self.control.stopping.is_set()

    def wait(self, timeout: float | None = None) -> bool:
        """True once the work has ended; False when ``timeout`` seconds passed first."""
        return self._ended.wait(timeout)

    def result(self, timeout: float | None = None) -> T:
        """What the work returned, partial after a stop; raises what the work raised, or TimeoutError."""
        if not self.wait(timeout):
            raise TimeoutError("the work has not ended")
        if self.error is not None:
            raise self.error
        return self._value  # type: ignore[return-value]  # set before _ended whenever there is no error

    def _go(self) -> None:
        self._call(self._on_progress, self.progress)
        try:
            self._value = self._work(self.control)
        except BaseException as error:  # noqa: BLE001 — kept for the caller: a thread has nobody else to tell
            self.error = error
        finally:
            self._call(self._on_progress, self.progress)
            self._ended.set()
            self._call(self._on_end, self)

    def _receive(self, done: float, total: float | None, message: str) -> None:
        now = self._clock()
        with self._lock:
            self.progress = progress = Progress(done, total, now - self._began, message)
            due = now - self._shown >= self._interval
            if due:
                self._shown = now
        if due:
            self._call(self._on_progress, progress)

    def _call(self, callback: Callable[..., None] | None, argument: object) -> None:
        drawing_failed = self.callback_error is not None and callback is not self._on_end
        if callback is None or drawing_failed:
            return
        try:
            callback(argument)
        except Exception as error:  # noqa: BLE001 — drawing must never end the work
            self.callback_error = error


class SingleFlight:
    """Holds at most one running :class:`Run`: a second press while it runs gives the running one."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.current: Run[object] | None = None

    def start(self, run: Run[T]) -> Run[T]:
        """Start ``run`` and return it, or return the one that is still running (then ``run`` never starts)."""
        with self._lock:
            if self.current is not None and self.current.running:
                return self.current  # type: ignore[return-value]  # one flight holds runs of one kind
            self.current = run  # type: ignore[assignment]
            return run.start()


def run_in_foreground(run: Run[T]) -> T:
    """Start ``run`` and wait for its result; Ctrl-C and SIGTERM stop it and what it has is returned.

    A second Ctrl-C raises KeyboardInterrupt at once.  Outside the main thread no signal is touched.
    """
    if threading.current_thread() is not threading.main_thread():
        return run.start().result()

    def on_signal(_number: int, _frame: FrameType | None) -> None:
        if run.control.stopping.is_set():
            raise KeyboardInterrupt
        run.stop()

    before = {number: signal.signal(number, on_signal) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        return run.start().result()
    finally:
        run.stop()
        for number, handler in before.items():
            signal.signal(number, handler)
