"""The time and the waits of the gateway's loop. A simulation of a gateway gives it others."""

from __future__ import annotations

import select
import time
from collections.abc import Sequence
from typing import Any


class LoopClock:
    """Of this computer."""

    def now_s(self) -> float:
        """Seconds on a clock that never goes back."""
        return time.monotonic()

    def utc_s(self) -> float:
        """Seconds since 1970."""
        return time.time()

    def wait(self, readers: Sequence[Any], writers: Sequence[Any], seconds: float) -> list[Any]:
        """Wait until one of them can be read or written, no longer than that; those that can be read."""
        readable, _, _ = select.select(readers, writers, [], seconds)
        return readable
