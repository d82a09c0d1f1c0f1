"""What other code between two passes of a loop leaves of the flash cache: misses of a call, by how much ran.

Set-up and call are played from their traces on a cache that replaces the line least recently used, as the
ARM simulator's does; the other code runs through consecutive lines behind them. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class CacheShape:
    """Sets, and lines of each."""

    sets: int
    ways: int


class _Cache:
    def __init__(self, shape: CacheShape) -> None:
        self._ways = shape.ways
        self._sets: list[list[int]] = [[] for _ in range(shape.sets)]

    def run(self, lines: Iterable[int]) -> int:
        """Play accesses and count those that miss."""
        misses = 0
        for line in lines:
            held = self._sets[line % len(self._sets)]
            if held and held[0] == line:
                continue
            if line in held:
                held.remove(line)
            else:
                misses += 1
                del held[self._ways - 1 :]
            held.insert(0, line)
        return misses


def without_repeats(lines: Iterable[int]) -> Iterator[int]:
    """Accesses without those to the line just used, which always hit."""
    last = None
    for line in lines:
        if line != last:
            yield line
        last = line


def misses_after(shape: CacheShape, setup: Sequence[int], call: Sequence[int], other_lines: int) -> int:
    """Misses of the call in any pass but the first of a loop: set-up, call, other code.

    Parameters
    ----------
    setup, call
        The lines that they access, in order.
    other_lines
        How many lines the other code runs through, one after the other.
    """
    cache = _Cache(shape)
    behind = max((*setup, *call), default=0) + 1
    for lines in (setup, call, range(behind, behind + other_lines), setup):
        cache.run(lines)
    return cache.run(call)
