"""The timers of an ATmega328P in every mode, without a core: count, flags and outputs at the cycles that its
data sheet's timing diagrams give (DS40002061B, 15.7, 16.9 and 18.7)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pytest
from facts import wrong
from natively import ask, compiled

from motecrypt.build.toolchain.drivers import RECIPES
from tool_sets import needs_tool_set

pytestmark = needs_tool_set("avr")
START = 1000
TOV, OCFA, OCFB, ICF = 1, 2, 4, 32
CLEARS, SETS = 2, 3  # COMnx


@dataclass(frozen=True)
class Timer:
    """Where its registers are; the number of each divider."""

    number: int
    control: int
    count: int
    compare: tuple[int, int]
    flags: int
    dividers: tuple[int, ...]
    wide: bool = False


USUAL = (1, 8, 64, 256, 1024)
TIMERS = [
    Timer(0, 0x44, 0x46, (0x47, 0x48), 0x35, USUAL),
    Timer(1, 0x80, 0x84, (0x88, 0x8A), 0x36, USUAL, wide=True),
    Timer(2, 0xB0, 0xB2, (0xB3, 0xB4), 0x37, (1, 8, 32, 64, 128, 256, 1024)),
]
CAPTURE = 0x86
NARROW_MODES = {
    0: ("normal", 0xFF),
    1: ("phase", 0xFF),
    2: ("ctc", "A"),
    3: ("fast", 0xFF),
    5: ("phase", "A"),
}
NARROW_MODES |= {7: ("fast", "A")}
WIDE_MODES: dict[int, tuple[str, int | str]] = {0: ("normal", 0xFFFF), 4: ("ctc", "A"), 12: ("ctc", "I")}
WIDE_MODES |= {
    1: ("phase", 0xFF),
    2: ("phase", 0x1FF),
    3: ("phase", 0x3FF),
    10: ("phase", "I"),
    11: ("phase", "A"),
}
WIDE_MODES |= {
    5: ("fast", 0xFF),
    6: ("fast", 0x1FF),
    7: ("fast", 0x3FF),
    14: ("fast", "I"),
    15: ("fast", "A"),
}
WIDE_MODES |= {8: ("frequency", "I"), 9: ("frequency", "A")}


@dataclass(frozen=True)
class Case:
    """A timer in a mode: with both compares, what its top may be, its divider and its outputs."""

    timer: Timer
    mode: int
    a: int
    b: int
    divider: int = 1
    outputs: int = 0

    @cached_property
    def kind(self) -> str:
        return (WIDE_MODES if self.timer.wide else NARROW_MODES)[self.mode][0]

    @cached_property
    def top_is(self) -> int | str:
        return (WIDE_MODES if self.timer.wide else NARROW_MODES)[self.mode][1]

    @cached_property
    def top(self) -> int:
        return {"A": self.a, "I": 300}.get(str(self.top_is)) or int(self.top_is)

    @cached_property
    def two(self) -> bool:
        return self.kind in ("phase", "frequency")

    @cached_property
    def period(self) -> int:
        return 2 * self.top if self.two else self.top + 1

    def count(self, n: int) -> int:
        """After n counts from 0."""
        place = n % self.period
        return 2 * self.top - place if place > self.top else place

    def happens(self, what: int, n: int) -> bool:
        """Whether a flag is set at the n-th count."""
        if n < 1:
            return False
        before = (n - 1) % self.period  # what has come is seen one count later
        if what in (OCFA, OCFB):
            return self.count(n - 1) == (self.a if what == OCFA else self.b)
        if what == TOV:
            highest = 0xFFFF if self.timer.wide else 0xFF
            overflows = self.kind in ("normal", "fast") or self.top == highest
            return n > 1 and before == 0 if self.two else overflows and before == self.top
        return self.top_is == "I" and before == self.top

    def edges(self, which: int, last: int) -> tuple[int, int]:
        """How often the output was set and cleared up to a count."""
        matches = [n for n in range(1, last + 1) if self.happens((OCFA, OCFB)[which], n)]
        falling = [n for n in matches if self.two and (n - 1) % self.period >= self.top]
        bottoms = [n for n in range(1, last + 1) if self.kind == "fast" and (n - 1) % self.period == self.top]
        same, other = len(matches) - len(falling), len(falling) + len(bottoms)
        return (same, other) if self.outputs == SETS else (other, same)


def wide(timer: Timer, address: int, value: int) -> list[tuple[object, ...]]:
    """A write of a register, high byte first where it has one."""
    high: list[tuple[object, ...]] = [("put", address + 1, value >> 8)] if timer.wide else []
    return [*high, ("put", address, value & 0xFF)]


def followed(case: Case) -> tuple[list[tuple[object, ...]], list[int | None]]:
    """What is asked, and the answers."""
    timer = case.timer
    lines: list[tuple[object, ...]] = [("fresh",), ("at", START)]
    for address, value in zip(timer.compare, (case.a, case.b), strict=True):
        lines += wide(timer, address, value)
    if timer.wide:
        lines += wide(timer, CAPTURE, 300)
    clock = timer.dividers.index(case.divider) + 1
    lines.append(("put", timer.control, case.mode & 3 | case.outputs << 6 | case.outputs << 4))
    lines.append(("put", timer.control + 1, clock | (case.mode >> 2) << 3))
    expected: list[int | None] = [None] * len(lines)
    top, period = case.top, case.period
    places = {0, 1, 2, case.a, case.b, top, 2 * top, period, period + case.a, 2 * period, 2 * period + case.b}
    times = sorted(
        {START + (n + by) * case.divider + off for n in places for by in (-1, 0, 1, 2) for off in (0, -1)}
    )
    flags, done, cleared = 0, 0, False
    for time in times:
        if time < START:
            continue
        n = (time - START) // case.divider
        for what in (TOV, OCFA, OCFB, ICF):
            flags |= what * any(case.happens(what, each) for each in range(done + 1, n + 1))
        done = n
        lines += [("at", time), ("get", timer.count), ("get", timer.flags)]
        expected += [None, case.count(n) & 0xFF, flags]
        if timer.wide:
            lines.append(("get", timer.count + 1))
            expected.append(case.count(n) >> 8)
        if n > period + 3 and not cleared:
            lines.append(("clear", timer.flags, 0xFF))
            expected.append(None)
            flags, cleared = 0, True
    for which in (0, 1) if case.outputs else ():
        first = 2 * timer.number + which
        lines += [("highs", first), ("lows", first)]
        expected += case.edges(which, done)
    return lines, expected


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled("timer_harness.c", tmp_path_factory.mktemp("timers"), "-w", *RECIPES["simavr"].flags())


def cases() -> list[Case]:
    found = []
    for timer in TIMERS:
        for mode in WIDE_MODES if timer.wide else NARROW_MODES:
            if timer.wide and mode == 0:  # 65,536 counts
                found.append(Case(timer, mode, 200, 0x1234, outputs=SETS))
                continue
            found.append(Case(timer, mode, 200, 90, outputs=CLEARS))
            found += [
                Case(timer, mode, 150, 40, outputs=SETS),
                Case(timer, mode, 91, 0),
                Case(timer, mode, 60, 60),
            ]
            found += [Case(timer, mode, 120, 230, divider=8)]
        found += [
            Case(timer, 2 if not timer.wide else 4, 30, 7, divider=divider) for divider in timer.dividers
        ]
        found += [
            Case(timer, 2 if not timer.wide else 4, 0xFF, 7),
            Case(timer, 3 if not timer.wide else 5, 255, 254),
        ]
    return found


def test_every_mode(program: Path) -> None:
    lines: list[tuple[object, ...]] = []
    expected: list[tuple[Case, int | None]] = []
    for case in cases():
        asked, answers = followed(case)
        lines += asked
        expected += [(case, answer) for answer in answers]
    found = ask(program, lines=lines)
    wrong = [
        (case.timer.number, case.mode, case.a, case.b, case.divider, case.outputs, line, got, want)
        for line, got, (case, want) in zip(lines, found, expected, strict=True)
        if want is not None and got != want
    ]
    assert not wrong, (len(wrong), wrong[:8])


NAMES = {"A": 0x44, "B": 0x45, "COUNT": 0x46, "OCRA": 0x47, "OCRB": 0x48, "FLAGS": 0x35}
NAMES |= {"A1": 0x80, "B1": 0x81, "COUNT1": 0x84, "OCRA1": 0x88, "OCRB1": 0x8A, "ICR1": 0x86, "FLAGS1": 0x36}
#: A compare register is taken over immediately, with PWM at the top or the bottom; a count that was written
#: matches nothing at first.
WRITES = {
    "normal": """
        at 1000; put OCRB 20; put B 1; at 1050; put OCRB 100; clear FLAGS 0xFF; at 1100; get FLAGS = 0
        at 1101; get FLAGS = 4
    """,
    "fast: at the bottom": """
        at 1000; put OCRB 20; put A 3; put B 1; at 1050; put OCRB 100; clear FLAGS 0xFF; at 1255
        get FLAGS = 0
        at 1256; get FLAGS = 1; clear FLAGS 1; at 1257; get FLAGS = 2; at 1356; get FLAGS = 2; at 1357
        get FLAGS = 6
    """,
    "phase correct: at the top": """
        at 1000; put OCRB 20; put A 1; put B 1; at 1050; put OCRB 100; clear FLAGS 0xFF; at 1410
        get FLAGS = 0
        at 1411; get FLAGS = 4; clear FLAGS 0xFF; at 1510; get FLAGS = 0; at 1511; get FLAGS = 3
    """,
    "phase and frequency correct: at the bottom": """
        at 1000; put OCRA1 200; put OCRB1 20; put A1 1; put B1 0x11; at 1050; put OCRB1 120; put OCRA1 150
        clear FLAGS1 0xFF; at 1200; get FLAGS1 = 0; at 1201; get FLAGS1 = 2; clear FLAGS1 0xFF; at 1380
        get FLAGS1 = 0
        at 1381; get FLAGS1 = 4; clear FLAGS1 0xFF; at 1520; get FLAGS1 = 1; clear FLAGS1 1; at 1521
        get FLAGS1 = 4
        at 1551; get FLAGS1 = 6; get COUNT1 = 149
    """,
    "a top below the count": """
        at 1000; put OCRA 100; put A 2; put B 1; at 1050; put OCRA 30; clear FLAGS 0xFF; at 1255
        get COUNT = 255
        get FLAGS = 0; at 1256; get COUNT = 0; get FLAGS = 1; at 1286; get COUNT = 30; get FLAGS = 5
        at 1287; get COUNT = 0; get FLAGS = 7 # OCRB is 0
    """,
    "a top above the count": """
        at 1000; put OCRA 100; put A 2; put B 1; at 1050; put OCRA 60; clear FLAGS 0xFF; at 1060
        get FLAGS = 0
        at 1061; get COUNT = 0; get FLAGS = 2
    """,
    "the count": """
        at 1000; put OCRB 100; put B 1; at 1050; clear FLAGS 0xFF; put COUNT 100; at 1053
        get COUNT = 103; get FLAGS = 0
        put COUNT 98; at 1055; get COUNT = 100; get FLAGS = 0; at 1056; get FLAGS = 4; put B 0; at 2000
        get COUNT = 101
        put COUNT 7; at 3000; get COUNT = 7; put B 2; at 3007; get COUNT = 7; at 3008; get COUNT = 8
        put B 1; at 3010
        get COUNT = 10
    """,
    "one of 16 bits": """
        at 1000; put COUNT1+1 0x12; put COUNT1 0x34; put B1 1; at 1001; get COUNT1 = 0x35
        get COUNT1+1 = 0x12
        at 1204; get COUNT1 = 0; get COUNT1+1 = 0x13; at 1300; get COUNT1+1 = 0x13; get COUNT1 = 0x60
    """,
    "a mode that changes goes on from the count": """
        at 1000; put OCRA 100; put B 1; at 1050; put A 2; get COUNT = 50; at 1100; get COUNT = 100
        at 1101; get COUNT = 0
        at 1111; put A 0; at 1121; get COUNT = 20
    """,
}


@pytest.mark.parametrize("what", WRITES)
def test_writes(program: Path, what: str) -> None:
    found = wrong(program, f"fresh\n{WRITES[what]}", NAMES)
    assert not found, "\n".join(found[:5])
