"""Virtual time: what happens when, in order, and ties in the order in which they were put there."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable


class Schedule:
    """Events to come. `now_us` is the time that has passed."""

    def __init__(self) -> None:
        self._events: list[tuple[float, int, bool, Callable[[float], None]]] = []
        self._order = itertools.count()
        self.now_us = 0.0

    def at(self, time_us: float, happen: Callable[[float], None], arrival: bool = False) -> None:
        """Call `happen` with the time when it has come; `arrival`: a program can see what it does."""
        heapq.heappush(self._events, (time_us, next(self._order), arrival, happen))

    def next_us(self) -> float | None:
        """When something happens next; None when all is quiet."""
        return self._events[0][0] if self._events else None

    def next_is_arrival(self) -> bool:
        """Whether a program can see what happens next; the rest happens inside the radios."""
        return bool(self._events) and self._events[0][2]

    def pass_until(self, until_us: float) -> None:
        """Let time pass and happen what is due by then."""
        events = self._events
        while events and events[0][0] <= until_us:
            time_us, _, _, happen = heapq.heappop(events)
            if time_us > self.now_us:
                self.now_us = time_us
            happen(time_us)
        self.now_us = max(self.now_us, until_us)
