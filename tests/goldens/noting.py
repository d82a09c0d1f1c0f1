"""A source of chance that notes what it is asked: a range wider by one hardly ever draws another number."""

from __future__ import annotations

from random import Random
from typing import Any


class Noting(Random):
    """Draws what Random draws, and keeps each range that a number is drawn from."""

    def __init__(self, seed: Any = None) -> None:
        super().__init__(seed)
        self.ranges: list[tuple[int, ...]] = []

    def randrange(self, *given: int) -> int:  # type: ignore[override]
        """As Random's."""
        self.ranges.append(given)
        return super().randrange(*given)
