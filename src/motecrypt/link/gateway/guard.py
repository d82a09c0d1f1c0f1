"""What the loop does while the spool cannot be written: it accepts nothing, and tries again later."""

from __future__ import annotations

from collections.abc import Callable

from motecrypt.base.errors import MotecryptError
from motecrypt.link.gateway.clock import LoopClock
from motecrypt.link.gateway.spool import Spool
from motecrypt.link.gateway.tally import GatewayTally

TOLD_MAX = 10
"""Lines on one fault: a full disk alone has several causes in turn."""
REST_S = 1.0
"""Seconds without accepting messages after the spool could not be written."""


class SpoolGuard:
    """Called with what writes the spool.

    Parameters
    ----------
    notice : callable
        Gets one line for the user when a fault begins and ends.

    Attributes
    ----------
    until_s : until when nothing is accepted, by `LoopClock.now_s`.
    """

    def __init__(
        self, spool: Spool, tally: GatewayTally, notice: Callable[[str], None], clock: LoopClock
    ) -> None:
        self._spool, self._tally, self._notice, self._clock = spool, tally, notice, clock
        self.until_s = 0.0
        self._writes = 0
        self._faults: set[str] = set()  # the present ones that were reported

    def rests(self, now_s: float) -> bool:
        """Whether nothing is accepted now."""
        return now_s < self.until_s

    def __call__(self, act: Callable[[], None]) -> None:
        """Do it. What cannot be kept is not answered; a little later it is tried again."""
        try:
            act()
        except (MotecryptError, OSError) as error:
            self._spool.undo()
            self._tally.storage_faults += 1
            self.until_s = self._clock.now_s() + REST_S
            self._writes = self._spool.writes
            if str(error) not in self._faults and len(self._faults) < TOLD_MAX:
                self._notice(f"{error}; until this is fixed no message is accepted")
                self._faults.add(str(error))
        else:
            if self._faults and self._spool.writes > self._writes:
                self._notice(f"state file {self._spool.path}: can be written again")
                self._faults.clear()
