"""What is said of work in progress: how much is done, running and left, and how long the rest takes. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

STEPS = 10
"""The most lines printed for one stage, if there is no bar."""
SILENCE_S = 60.0
"""Seconds without a line after which one is printed in any case."""
NAMES = 3
"""The most running items that are named."""


def duration(seconds: float) -> str:
    """A time to come, as exactly as it can be known: 40 s, 3 min, 1 h 20 min."""
    if seconds < 60:
        return f"{max(1, round(seconds)):d} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


@dataclass
class Stage:
    """One stage of the work: so many parts, done one after the other or side by side.

    `clock` gives seconds. A report with less done than before, or of another total, begins another stage.
    """

    clock: Callable[[], float]
    done: int = 0
    total: int = 0
    what: str = ""
    running: tuple[str, ...] = ()
    begun_s: float = field(init=False)

    def __post_init__(self) -> None:
        self.begun_s = self.clock()

    def report(self, done: int, total: int, what: str) -> bool:
        """Take in a report; whether another stage begins with it."""
        another = total != self.total or done < self.done
        if another:
            self.begun_s = self.clock()
        self.done, self.total, self.what = done, total, what
        return another

    @property
    def left_s(self) -> float | None:
        """Seconds until the end, if the rest takes as long as what is done; None before anything is done."""
        if not 0 < self.done < self.total:
            return None
        return (self.clock() - self.begun_s) / self.done * (self.total - self.done)

    def state(self) -> str:
        """How much is done, running and left, and how long that takes."""
        if not self.total:
            return f"preparing, {duration(self.clock() - self.begun_s)}"
        waiting = self.total - self.done - len(self.running)
        parts = [f"{self.done} of {self.total} done"]
        parts += [f"{len(self.running)} running"] if self.running else []
        parts += [f"{waiting} left"] if waiting > 0 else []
        if self.left_s is not None:
            parts.append(f"about {duration(self.left_s)}")
        return ", ".join(parts)

    def names(self) -> str:
        """What is running, or what ended last."""
        shown = ", ".join(self.running[:NAMES])
        more = len(self.running) - NAMES
        return (f"{shown} and {more} more" if more > 0 else shown) or self.what


class Lines:
    """Progress as lines, for a pipe or a file: at the beginning of a stage, after each tenth and at the end.

    A line is printed once, however often the same is reported."""

    def __init__(self, title: str, clock: Callable[[], float], write: Callable[[str], None]) -> None:
        self._title, self._clock, self._write = title, clock, write
        self._stage = Stage(clock)
        self._told = -1
        self._told_s = clock()

    def __call__(self, done: int, total: int, what: str) -> None:
        """Some parts of all are done; what it was or is."""
        another = self._stage.report(done, total, what)
        if another:
            self._told = -1
        silent_s = self._clock() - self._told_s
        step = max(1, total // STEPS)
        if done == self._told and silent_s < SILENCE_S:
            return
        if another or done == total or done >= self._told + step or silent_s >= SILENCE_S:
            self._told, self._told_s = done, self._clock()
            names = self._stage.names()
            self._write(f"{self._title}: {self._stage.state()}" + (f" ({names})" if names else ""))

    def running(self, titles: Sequence[str]) -> None:
        """What is running now."""
        self._stage.running = tuple(titles)
