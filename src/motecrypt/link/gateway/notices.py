"""Lines for the user about nodes, few of each: what a node does fills no log."""

from __future__ import annotations

import time
from collections.abc import Callable

LINES_MAX = 10
"""Lines about one node that may come together."""
EVERY_S = 60.0
"""After these, one in so many seconds."""


class _LinesOfNode:
    """How many lines may come now, since when that is known, and how many were left out."""

    def __init__(self, now_s: float) -> None:
        self.lines, self.since_s, self.omitted = float(LINES_MAX), now_s, 0


class NodeNotices:
    """Called with a node and a line about it.

    Parameters
    ----------
    notice : callable
        Gets one line for the user.
    clock : callable
        Seconds, of a monotonic clock.
    """

    def __init__(self, notice: Callable[[str], None], clock: Callable[[], float] = time.monotonic) -> None:
        self._notice, self._clock = notice, clock
        self._told: dict[int, _LinesOfNode] = {}

    def __call__(self, node: int, line: str) -> None:
        """Print it, unless there were many about this node."""
        now_s = self._clock()
        told = self._told.setdefault(node, _LinesOfNode(now_s))
        told.lines = min(LINES_MAX, told.lines + (now_s - told.since_s) / EVERY_S)
        told.since_s = now_s
        if told.lines < 1:
            told.omitted += 1
            return
        told.lines -= 1
        omitted, told.omitted = told.omitted, 0
        self._notice(f"{line} ({omitted} more lines about this node were omitted)" if omitted else line)
