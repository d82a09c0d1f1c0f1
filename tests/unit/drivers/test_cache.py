"""The flash cache's model next to the plainest one, and the shapes that it takes."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from natively import ask, compiled

from tool_sets import needs_tool_set

pytestmark = needs_tool_set("host")
REFUSED = 2**64 - 1


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled("arm_parts_harness.c", tmp_path_factory.mktemp("cache"))


@pytest.mark.parametrize(
    ("shape", "answer"),
    [
        ((16384, 2, 8), 0),
        ((65536, 8, 8), 0),  # as many lines and ways as there are
        ((131072, 8, 8), REFUSED),
        ((65536, 64, 8), 0),
        ((65536, 128, 8), REFUSED),
        ((16, 2, 8), 0),
        ((8, 2, 8), REFUSED),  # less than a line for each way
        ((8, 1, 8), 0),
        ((0, 2, 8), REFUSED),
        ((16384, 0, 8), REFUSED),
        ((16384, 2, 0), REFUSED),
        ((16383, 2, 8), REFUSED),
        ((16384, 3, 8), REFUSED),
        ((16384, 2, 7), REFUSED),
        ((24576, 2, 8), REFUSED),
    ],
)
def test_shapes(program: Path, shape: tuple[int, int, int], answer: int) -> None:
    assert ask(program, lines=[("geometry", *shape)]) == [answer]


@pytest.mark.parametrize(
    "shape", [(16384, 2, 8), (256, 4, 16), (64, 1, 4), (128, 8, 16), (65536, 8, 8), (2, 1, 2)]
)
def test_a_second_model_misses_as_often(program: Path, shape: tuple[int, int, int]) -> None:
    size, ways, line_bytes = shape
    source = random.Random(7)
    # First every line of the cache twice: what fits stays.
    walk = [n * line_bytes for n in range(size // line_bytes)] * 2
    addresses = [*walk, *(source.randrange(3 * size) & ~source.choice((0, line_bytes)) for _ in range(3000))]
    addresses += [0xFFFFFFFF, 0, 0xFFFFFFFF - line_bytes, 0xFFFFFFFF]
    sets: dict[int, list[int]] = {}
    expected, looked_up, last = [], 0, None
    for address in addresses:
        line = address // line_bytes
        kept = sets.setdefault(line % (size // line_bytes // ways), [])
        looked_up += line != last
        last = line
        expected.append(int(line not in kept))
        if line in kept:
            kept.remove(line)
        kept.append(line)
        del kept[:-ways]
    asked = [
        ("geometry", *shape),
        *(("look_up", a) for a in addresses),
        ("flush",),
        ("look_up", addresses[-1]),
    ]
    _, *answers, counts, again = ask(program, lines=asked)
    assert answers == expected
    assert counts == looked_up << 32 | sum(expected)
    assert again == 1, "a flushed cache has nothing"
