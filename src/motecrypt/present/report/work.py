"""The one measurement at a time that the served report has made: begun, watched, stopped, with a deadline.

Knows neither HTTP nor what measuring is: that is a function which the command line passes.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from motecrypt.base.errors import MotecryptError
from motecrypt.present.report.orders import PageOrder

JOIN_S = 30.0  # for a stopped measurement to end: a firmware that runs is ended at the next look


class StoppedError(MotecryptError):
    """A measurement was stopped, by its reader, its deadline or the end of the server."""


class BusyError(MotecryptError):
    """A measurement is running: there is one at a time."""


class Watch:
    """Progress of a measurement, as `bench.ensure` reports it. Raises StoppedError where it must end."""

    def __init__(self, work: Work) -> None:
        self._work = work

    def __call__(self, done: int, total: int, what: str) -> None:
        """Take in how many parts are done."""
        self._work.told(done, total, what)

    def running(self, titles: Sequence[str]) -> None:
        """What is running now."""
        self._work.told(running=tuple(titles))


Measure = Callable[[PageOrder, Watch], str]
"""Measures an order, and returns a sentence about what it did. Raises MotecryptError."""


@dataclass(frozen=True)
class WorkState:
    """How far the work is.

    Attributes
    ----------
    number
        Counts the orders, so that a page knows whose state this is; 0 before the first.
    state
        idle, running, done, failed or stopped.
    done, total, what, running
        As `bench.ensure` reports them.
    message
        For the reader: what was done, or why not.
    seconds, deadline_s
        Since the beginning, and after how many it is stopped.
    """

    number: int = 0
    state: str = "idle"
    done: int = 0
    total: int = 0
    what: str = ""
    running: tuple[str, ...] = ()
    message: str = ""
    seconds: float = 0.0
    deadline_s: float = 0.0


class Work:
    """At most one measurement, in a thread of its own."""

    def __init__(
        self,
        measure: Measure,
        deadline_s: float,
        changed: Callable[[], None] = lambda: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._measure, self._deadline_s, self._changed, self._clock = measure, deadline_s, changed, clock
        self._lock = threading.Lock()
        self._state = WorkState(deadline_s=deadline_s)
        self._begun_s = clock()
        self._stop = ""
        self._closed = False
        self._thread: threading.Thread | None = None

    def begin(self, order: PageOrder) -> int:
        """Begin an order; its number. BusyError while another one runs."""
        with self._lock:
            if self._closed:
                raise BusyError("the server is ending")
            if self._state.state == "running":
                raise BusyError("another measurement is running: wait for it, or stop it")
            self._stop, self._begun_s = "", self._clock()
            self._state = WorkState(
                number=self._state.number + 1, state="running", deadline_s=self._deadline_s
            )
            self._thread = threading.Thread(target=self._run, args=(order,), name="measurement", daemon=True)
            self._thread.start()
            return self._state.number

    def state(self) -> WorkState:
        """How far it is."""
        with self._lock:
            if self._state.state != "running":
                return self._state
            return replace(self._state, seconds=round(self._clock() - self._begun_s, 1))

    def stop(self, why: str = "stopped") -> None:
        """End what is running at the next look; what is measured is kept."""
        with self._lock:
            self._stop = self._stop or why

    def close(self) -> bool:
        """Stop, take no more orders and wait for the end; whether it came in time."""
        with self._lock:
            self._closed = True
            thread = self._thread
        self.stop("stopped with the server")
        if thread is not None:
            thread.join(JOIN_S)
        return thread is None or not thread.is_alive()

    def told(
        self,
        done: int | None = None,
        total: int | None = None,
        what: str | None = None,
        running: tuple[str, ...] | None = None,
    ) -> None:
        """Take in progress; StoppedError where the measurement must end."""
        with self._lock:
            given = {"done": done, "total": total, "what": what, "running": running}
            self._state = replace(self._state, **{k: v for k, v in given.items() if v is not None})  # type: ignore[arg-type]
            why = self._stop
            if not why and self._clock() - self._begun_s > self._deadline_s:
                why = f"stopped after {self._deadline_s:g} s, its deadline"
        if why:
            raise StoppedError(f"{why}; what was measured before is kept")

    def _run(self, order: PageOrder) -> None:
        try:
            ended, message = "done", self._measure(order, Watch(self))
        except StoppedError as error:
            ended, message = "stopped", str(error)
        except MotecryptError as error:
            ended, message = "failed", str(error)
        except Exception as error:  # the server continues; the reader sees it
            ended, message = "failed", f"{type(error).__name__}: {error}"
        self._changed()
        with self._lock:
            seconds = round(self._clock() - self._begun_s, 1)
            self._state = replace(self._state, state=ended, message=message, running=(), seconds=seconds)
