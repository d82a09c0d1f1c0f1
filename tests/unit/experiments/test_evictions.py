"""Misses of a call by what else ran: small caches, counted by hand."""

from __future__ import annotations

from collections import OrderedDict
from random import Random

import pytest

from motecrypt.measuring.experiments.evictions import CacheShape, misses_after, without_repeats

TWO_SETS = CacheShape(sets=2, ways=2)


def test_repeats_of_the_line_just_used_are_left_out() -> None:
    assert list(without_repeats([1, 1, 2, 2, 1, 1, 3])) == [1, 2, 1, 3]
    assert list(without_repeats([])) == []


@pytest.mark.parametrize(
    ("setup", "call", "other", "misses"),
    [
        ([0], [1], 0, 0),  # all of it stays
        ([], [0, 1], 2, 0),  # lines 2 and 3 take the second ways
        ([], [0, 1], 3, 1),  # 2, 3 and 4: set 0 holds 4 and 2
        ([], [0, 1], 4, 2),
        ([], [0, 2, 4], 0, 3),  # three lines of a set of two always miss
        ([0], [0, 1], 4, 1),  # the set-up brought line 0 back
        ([], [], 4, 0),
    ],
)
def test_misses_by_hand(setup: list[int], call: list[int], other: int, misses: int) -> None:
    assert misses_after(TWO_SETS, setup, call, other) == misses


def test_it_is_a_cache_that_replaces_the_line_least_recently_used() -> None:
    """Against another way to write it."""
    for seed in range(30):
        random = Random(seed)
        shape = CacheShape(random.choice((1, 2, 4)), random.choice((1, 2, 3)))
        setup, call = ([random.randrange(12) for _ in range(random.randrange(30))] for _ in range(2))
        other = random.randrange(10)
        behind = max((*setup, *call), default=0) + 1
        sets: list[OrderedDict[int, None]] = [OrderedDict() for _ in range(shape.sets)]
        for _ in range(3):
            missed = 0
            for number, line in enumerate((*setup, *call, *range(behind, behind + other))):
                held = sets[line % shape.sets]
                missed += line not in held and len(setup) <= number < len(setup) + len(call)
                held[line] = None
                held.move_to_end(line)
                if len(held) > shape.ways:
                    held.popitem(last=False)
        assert misses_after(shape, setup, call, other) == missed
