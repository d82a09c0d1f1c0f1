"""The timing rules of RISC-V cores by themselves: the branch predictor, the fetch unit and division, next to
models that are written from the same rules (SiFive FE310-G002 Manual, 3.2 and 3.3; docs/riscv.md)."""

from __future__ import annotations

import random
from collections import deque
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tool_sets import needs_tool_set
from unit.drivers.natively import HERE, ask, compiled

pytestmark = needs_tool_set("host")
COSTS = (
    "alu load load_word_result load_narrow_result store multiply multiply_result divide divide_least_result"
)
COSTS += (
    " divide_most_result csr csr_result atomic atomic_result fence branch branch_taken jump jump_register"
)
COSTS += " mispredicted fetch_word fetch_ahead"
COST = {name: number for number, name in enumerate(COSTS.split())}


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("timing")
    return compiled("../riscv/timing_harness.c", folder, f"-I{HERE}")


@dataclass
class Predictor:
    """Targets: first in, first out. Directions: counters of two bits. Returns: a stack, losing its oldest."""

    targets: int
    directions: int
    returns: int
    btb: dict[int, int] = field(default_factory=dict)
    counters: dict[int, int] = field(default_factory=dict)
    history: int = 0
    stack: deque[int] = field(default_factory=deque)
    met: set[int] = field(default_factory=set)
    is_region: bool = False

    def begin(self, is_region: bool) -> None:
        self.btb, self.counters, self.history, self.is_region = {}, {}, 0, is_region
        if is_region:
            self.met = set()

    def learn(self, pc: int, target: int) -> None:
        if pc not in self.btb and len(self.btb) == self.targets:
            del self.btb[next(iter(self.btb))]
        self.btb[pc] = target

    def meet(self, pc: int, target: int) -> bool:
        """Whether its target is there; in a region it is when it is met for the first time."""
        if pc not in self.btb and self.is_region and pc not in self.met:
            self.learn(pc, target)
        self.met.add(pc)
        return pc in self.btb

    def branch(self, pc: int, target: int, taken: bool) -> bool:
        place = (pc >> 2 ^ self.history) % self.directions
        if not self.meet(pc, target):
            if taken:
                self.counters[place] = 2
                self.learn(pc, target)
            return taken
        untrained = (2 if target < pc else 1) if self.is_region else 0
        counter = self.counters.get(place, untrained)
        self.counters[place] = min(counter + 1, 3) if taken else max(counter - 1, 0)
        self.history = (self.history << 1 | taken) % self.directions
        return (counter >= 2) != taken

    def jump(self, pc: int, target: int, after: int, calls: bool, returns: bool) -> bool:
        known = self.meet(pc, target)
        expected = self.btb.get(pc)
        if returns and self.stack:
            right = known and self.stack.pop() == target if known else bool(self.stack.pop()) and False
        else:
            right = known and expected == target
        if calls:
            self.stack.append(after)
            if len(self.stack) > self.returns:
                self.stack.popleft()
        if expected != target:
            self.learn(pc, target)
        return not right


@pytest.mark.parametrize("is_region", [False, True])
@pytest.mark.parametrize("sizes", [(1, 1, 1), (2, 4, 2), (28, 512, 6)])
def test_the_predictor(program: Path, sizes: tuple[int, int, int], is_region: bool) -> None:
    draw = random.Random(repr((sizes, is_region)))
    model = Predictor(*sizes)
    lines: list[tuple[object, ...]] = [("sizes", *sizes)]
    expected = [0]
    for _ in range(6):
        model.begin(is_region)
        lines.append(("begin", int(is_region)))
        expected.append(0)
        depth = 0
        for _ in range(400):
            pc = 0x1000 + 2 * draw.randrange(40 if sizes[0] > 2 else 4)
            target = pc + draw.choice((-64, -2, 6, 64))
            if draw.random() < 0.6:
                taken = draw.random() < 0.7
                lines.append(("branch", pc, target, int(taken)))
                expected.append(model.branch(pc, target, taken))
                continue
            calls, returns = draw.choice(((1, 0), (0, 1), (0, 0)))
            if returns and depth > 0 and draw.random() < 0.8 and model.stack:
                target = model.stack[-1]
            # Deeper than the stack of returns is a test of its own.
            calls = int(calls and depth < sizes[2])
            returns = int(returns and depth > 0)
            depth += calls - returns
            lines.append(("jump", pc, target, pc + 4, calls, returns))
            expected.append(model.jump(pc, target, pc + 4, bool(calls), bool(returns)))
        while depth > 0:
            depth -= 1
            lines.append(("jump", 0x1000, 0x2000, 0x1004, 0, 1))
            expected.append(model.jump(0x1000, 0x2000, 0x1004, False, True))
    assert ask(program, lines=lines) == [int(each) for each in expected]


def test_calls_deeper_than_the_stack_of_returns_overwrite_the_oldest(program: Path) -> None:
    """Each return is in the BTB already, so only the stack decides."""
    lines: list[tuple[object, ...]] = [("sizes", 8, 1, 2), ("begin", 1)]
    lines += [("jump", 0x100 + 4 * n, 0x200, 0x104 + 4 * n, 1, 0) for n in range(3)]
    lines += [("jump", 0x340 + 4 * n, 0x10C - 4 * n, 0, 0, 1) for n in range(3)]
    assert ask(program, lines=lines)[-3:] == [0, 0, 1]
    lines = [
        ("sizes", 8, 1, 2),
        ("begin", 1),
        ("jump", 0x340, 0x700, 0, 0, 1),
        ("jump", 0x340, 0x700, 0, 0, 1),
    ]
    assert ask(program, lines=lines)[-2:] == [0, 0], "nothing is on the stack: as any jump"
    lines = [
        ("sizes", 8, 1, 2),
        ("begin", 1),
        ("jump", 0x100, 0x200, 0x104, 1, 1),
        ("jump", 0x340, 0x104, 0, 0, 1),
    ]
    assert ask(program, lines=lines)[-1] == 0


def test_the_fetch_unit(program: Path) -> None:
    """Words come one after the other, so many cycles each; as many as `ahead` before they are needed."""
    draw = random.Random(5)
    for cycles in (1, 2, 3):
        for ahead in (0, 1, 2, 5):
            lines: list[tuple[object, ...]] = [
                ("costs", COST["fetch_word"], cycles, COST["fetch_ahead"], ahead)
            ]
            expected, now = [0], 100
            for _ in range(20):
                word = draw.choice((0, 1, 1000, 2**30 - 4))
                first, there, begun = word, now - 1, {}
                lines.append(("restart", word, now))
                expected.append(0)
                for _ in range(12):
                    while first <= word:  # it is asked for immediately, or when there is room
                        since = now if ahead == 0 else begun.get(first - ahead, 0)
                        there = max(there, since) + cycles
                        first += 1
                    lines.append(("until", word % 2**32, now))
                    now = max(now, there)
                    begun[word] = now
                    expected.append(now)
                    now += draw.choice((0, 1, 1, 4))
                    word += draw.choice((0, 1, 1, 2)) if ahead < 2 else draw.choice((0, 1))
            assert ask(program, lines=lines) == expected


def test_division_takes_a_cycle_for_each_bit_of_the_quotient(program: Path) -> None:
    draw = random.Random(6)
    lines: list[tuple[object, ...]] = [
        ("costs", COST["divide_least_result"], 1, COST["divide_most_result"], 32)
    ]
    expected = [0]
    numbers = [0, 1, 2, 3, 7, 8, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFF8]
    pairs = [(a, b) for a in numbers for b in numbers]
    pairs += [
        (draw.getrandbits(draw.randrange(33)), draw.getrandbits(draw.randrange(33))) for _ in range(200)
    ]
    for dividend, divisor in pairs:
        for is_signed in (0, 1):
            a, b = (abs(n - (1 << 32) * (n >> 31 if is_signed else 0)) for n in (dividend, divisor))
            bits = a.bit_length() - b.bit_length() + 1 if a >= b else 0
            lines.append(("divide", dividend, divisor, is_signed))
            expected.append(1 + (31 if b == 0 else min(31, bits)))
    assert ask(program, lines=lines) == expected


@pytest.mark.parametrize("name", COST)
def test_results_come_late_where_one_of_them_does(program: Path, name: str) -> None:
    late = int(name.endswith("_result"))
    first = int.from_bytes((name + "\0" * 8)[:8].encode(), "big")
    lines = [("costs", COST[name], 1), ("late",)]
    assert ask(program, lines=lines) == [0, late]
    if len(name) >= 7:
        assert ask(program, lines=[("named", COST[name])]) == [first]
