"""Hill climbing over the code of a kernel, by an estimate of its cycles, for the simulator to judge."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from motecrypt.base.errors import MotecryptError
from tune.code import Line, computed
from tune.kernels import Kernel
from tune.moves import Code, Mover
from tune.values import Algebra, State, Word

WARMEST = 1.0
COLDEST = 0.1
KEPT = 16


class Meaning:
    """What a kernel leaves behind: registers, flags that are read, and memory."""

    def __init__(self, kernel: Kernel, code: Sequence[Line]) -> None:
        self._algebra: Algebra = kernel.core.algebra()
        self._flags = {"C", "N", "V"} if kernel.flags else set()
        registers = {name for line in code for name in (*line.registers, *line.form.reads, *line.form.writes)}
        self.used = tuple(name for name in kernel.core.registers if name in registers)
        self.leaves = frozenset(self.used) - kernel.dead
        self._wanted = self.of(code)

    def of(self, code: Sequence[Line]) -> tuple[tuple[Word, ...], dict[tuple[object, int, int], Word]]:
        """The expressions in the end."""
        state = computed(code, State(self._algebra))
        names = sorted(self.leaves | self._flags)
        return tuple(map(state.get, names)), state.memory

    def same(self, code: Sequence[Line]) -> bool:
        """Whether other code leaves the same."""
        return self.of(code) == self._wanted


@dataclass(frozen=True)
class Walk:
    """What one walk found: different code with the best estimate, and how many steps were right."""

    found: tuple[Code, ...]
    steps: int
    right: int


def walk(
    code: Code, kernel: Kernel, meaning: Meaning, random: Random, steps: int, warmest: float = WARMEST
) -> Walk:
    """Change code at random, `steps` times; a worse estimate is taken less and less often.

    Raises
    ------
    MotecryptError
        A change of places was not right: the search itself is wrong.
    """
    carries = frozenset() if any("C" in line.reads for line in code) else frozenset("C")
    mover = Mover(meaning.used, meaning.leaves, carries)
    estimated = kernel.core.estimated
    now, cost, right = code, estimated(code), 0
    best, found = cost, {code: cost}
    for step in range(steps):
        made = mover.propose(now, random)
        if made is None:
            continue
        new = estimated(made)
        heat = warmest * (COLDEST / warmest) ** (step / steps)
        if new > cost and random.random() >= math.exp((cost - new) / heat):
            continue
        if not meaning.same(made):
            continue
        right += 1
        now, cost = made, new
        if cost <= best:
            best = cost
            found = {**{c: e for c, e in found.items() if e <= best + 1}, now: cost}
            if len(found) > KEPT:
                found.pop(next(iter(found)))
    if not all(meaning.same(c) for c in found):
        raise MotecryptError(f"{kernel.name}: a walk ended with wrong code")
    order = sorted(found, key=lambda c: found[c])
    return Walk(tuple(order[:KEPT]), steps, right)
