"""Brings items from the spool to one sink, in a thread of its own: what it waits for delays nobody else."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from motecrypt.base.errors import MotecryptError
from motecrypt.link.gateway.guard import TOLD_MAX
from motecrypt.link.gateway.sinks import Sink, SinkClosed
from motecrypt.link.gateway.spool import SpoolReader

FIRST_S, LONGEST_S = 0.5, 60.0
"""Seconds after a fault until the first retry; doubled each time up to the longest."""
IDLE_S = 0.1


class Drain(threading.Thread):
    """One sink's thread.

    Parameters
    ----------
    done : int
        The place of the last item that the sink has.
    notice : callable
        Gets one line for the user when a fault begins and ends.
    closed : callable
        Called when nobody will ever take items there again.

    Attributes
    ----------
    done : the same, as it grows; the gateway makes it durable.
    delivered, faults : counts since the start.
    trouble : what is wrong now; empty when nothing is.
    """

    def __init__(
        self,
        sink: Sink,
        spool: Path,
        done: int,
        notice: Callable[[str], None],
        closed: Callable[[], None] = lambda: None,
        first_s: float = FIRST_S,
    ) -> None:
        super().__init__(name=sink.name, daemon=True)
        self.sink, self.done = sink, done
        self._spool, self._notice, self._closed, self._first_s = spool, notice, closed, first_s
        self._reader: SpoolReader | None = None
        self._wake, self._stop_asked = threading.Event(), threading.Event()
        self.delivered = 0
        self.faults = 0
        self.trouble = ""
        self._told: set[str] = set()  # of the present fault

    def wake(self) -> None:
        """There is something new."""
        self._wake.set()

    def stop(self) -> None:
        """End soon, even if the sink hangs."""
        self._stop_asked.set()
        self._wake.set()
        self.sink.hurry()

    def run(self) -> None:
        """Deliver until `stop`."""
        pause_s = self._first_s
        try:
            while not self._stop_asked.is_set():
                if self.attempt():
                    pause_s = self._first_s
                else:
                    self._stop_asked.wait(pause_s)
                    pause_s = min(2 * pause_s, LONGEST_S)
        except SinkClosed as closed:
            self._notice(str(closed))
            self._closed()
        self.finish()

    def attempt(self) -> bool:
        """Deliver what comes next, or wait for it a little; False after a fault. SinkClosed: never again."""
        try:
            self._turn()
        except SinkClosed:
            raise
        except Exception as error:  # any error affects this sink alone
            if not self._stop_asked.is_set():
                told = isinstance(error, MotecryptError | sqlite3.Error)
                self._troubled(str(error) if told else f"{type(error).__name__}: {error}")
            return False
        return True

    def finish(self) -> None:
        """Let go of the sink and the spool; the last call."""
        with suppress(Exception):
            self.sink.finish()
        if self._reader is not None:
            self._reader.close()

    def _turn(self) -> None:
        self._wake.clear()
        if self._reader is None:
            self._reader = SpoolReader(self._spool)
        items = self._reader.after(self.done, self.sink.batch)
        if items:
            self.sink.deliver(items)
            self.done = items[-1].seq
            self.delivered += len(items)
            self._well()
        elif self.sink.idle(IDLE_S):
            self._well()
        else:
            self._wake.wait(10 * IDLE_S)

    def _troubled(self, why: str) -> None:
        self.faults += 1
        if why not in self._told and len(self._told) < TOLD_MAX:
            self._notice(f"sink {self.sink.name}: {why}; its messages wait and are tried again")
            self._told.add(why)
        self.trouble = why

    def _well(self) -> None:
        if self.trouble:
            self._notice(f"sink {self.sink.name}: works again")
            self._told.clear()
        self.trouble = ""
