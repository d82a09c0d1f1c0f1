"""The registers of RP2040 that firmware brings itself up with: what they read, and when."""

from __future__ import annotations

from pathlib import Path

import pytest
from natively import ask, compiled

from tool_sets import needs_tool_set

pytestmark = needs_tool_set("host")

SET, CLEAR, XOR = 0x2000, 0x3000, 0x1000
CLOCKS, RESETS, XOSC = 0x40008000, 0x4000C000, 0x40024000
PLL_SYS, PLL_USB, UART, TIMER, WATCHDOG = 0x40028000, 0x4002C000, 0x40034000, 0x40054000, 0x40058000
REF_CTRL, REF_DIV, REF_SELECTED = CLOCKS + 0x30, CLOCKS + 0x34, CLOCKS + 0x38
SYS_CTRL, SYS_DIV, SYS_SELECTED = CLOCKS + 0x3C, CLOCKS + 0x40, CLOCKS + 0x44
SIO, SYSTICK, XIP, SSI = 0xD0000000, 0xE000E010, 0x14000000, 0x18000000
TICK = WATCHDOG + 0x2C
ONES = 2**32 - 1
OTHER = "nothing more is asked"


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled("rp2040_harness.c", tmp_path_factory.mktemp("rp2040"))


class Chip:
    """What is done to the chip and what must come of it; all of it happens in `done`."""

    def __init__(self, program: Path, sender: int = 0) -> None:
        self._program = program
        self._lines: list[tuple[object, ...]] = [("reset", sender)]
        self._expected: list[int | None] = [None]

    def do(self, *line: object) -> Chip:
        self._lines.append(line)
        self._expected.append(None)
        return self

    def put(self, address: int, value: int) -> Chip:
        return self.do("put", address, value)

    def reads(self, address: int, value: int) -> Chip:
        return self.tells(value, "get", address)

    def tells(self, value: int, *line: object) -> Chip:
        self._lines.append(line)
        self._expected.append(value)
        return self

    def done(self) -> None:
        answers = ask(self._program, lines=self._lines)
        told = zip(self._lines, self._expected, answers, strict=True)
        wrong = [
            (n, line, want, got)
            for n, (line, want, got) in enumerate(told)
            if want is not None and want != got
        ]
        assert not wrong, wrong[:5]


def pll(chip: Chip, base: int, reference: int, multiply: int, first: int, second: int) -> Chip:
    return (
        chip.put(base, reference)
        .put(base + 8, multiply)
        .put(base + 12, first << 16 | second << 12)
        .put(base + 4, 0)
    )


def from_pll(chip: Chip) -> Chip:
    """125 MHz, as hal.c and the SDK set it up, with ticks of a microsecond."""
    return pll(chip, PLL_SYS, 1, 125, 6, 2).put(REF_CTRL, 2).put(SYS_CTRL, 1).put(TICK, 12 | 1 << 9)


def test_the_last_peripheral_has_registers_of_its_own(program: Path) -> None:
    last = 0x4006C000
    chip = Chip(program).put(SIO + 0x10, 5).put(last + 0x10, 7).put(last + 0xFFC, 9)
    chip.reads(SIO + 0x10, 5).reads(SIO + 0xFFC, 0).reads(last + 0x10, 7).reads(last + 0xFFC, 9)
    chip.put(last - 0x4000 + 0xFFC, 3).reads(last, 0).reads(last - 0x4000 + 0xFFC, 3)
    chip.put(SIO + 0xFFC, 4).put(0xE000EFFC, 5).reads(SIO + 0xFFC, 0).reads(0xE000E000, 0).reads(
        0xE000EFFC, 5
    )
    chip.reads(XIP, 3).done()


def test_windows(program: Path) -> None:
    chip = Chip(program)
    windows = [
        (0x40000000, 0x40070000, 0),
        (0xD0000000, 0xD0001000, 1),
        (0xE0000000, 0xE0100000, 2),
        (0x14000000, 0x14004000, 3),
        (0x18000000, 0x18004000, 4),
    ]
    for begin, end, kind in windows:
        chip.tells(kind, "kind", begin).tells(kind, "kind", end - 1)
        chip.tells(99, "kind", begin - 1).tells(99, "kind", end)
    chip.done()


def test_what_reset_leaves(program: Path) -> None:
    chip = Chip(program)
    expected = {RESETS: 0x01FFFFFF, RESETS + 8: 0, REF_DIV: 256, SYS_DIV: 256, PLL_SYS: 1, PLL_USB: 1, XIP: 3}
    expected |= {REF_CTRL: 0, SYS_CTRL: 0, XOSC: 0, UART + 0x30: 0, WATCHDOG + 12: 0, SYSTICK: 0, SIO + 16: 0}
    for address, value in expected.items():
        chip.reads(address, value)
    chip.tells(6_500_000, "hz").tells(0, "baud").tells(0, "ns")
    chip.done()


def test_a_plain_register_keeps_what_was_written_and_has_three_aliases(program: Path) -> None:
    chip = Chip(program)
    for base in (0x40014000, 0x4006C000, 0x40000000):
        chip.put(base + 0xFFC, 0xF0F0F0F0).put(base + 0xFF8, 1).reads(base + 0xFFC, 0xF0F0F0F0)
        chip.put(base + XOR + 0xFFC, 0xFF).reads(base + 0xFFC, 0xF0F0F00F)
        chip.put(base + SET + 0xFFC, 0x100).reads(base + 0xFFC, 0xF0F0F10F)
        chip.put(base + CLEAR + 0xFFC, 0xF).reads(base + 0xFFC, 0xF0F0F100)
        for alias in (XOR, SET, CLEAR):
            chip.reads(base + alias + 0xFFC, 0xF0F0F100)
        chip.reads(base + 0xFFE, 0xF0F0F100).reads(base + 0xFF8, 1)
        chip.put(base + 0xFFF, 7).reads(base + 0xFFC, 7)
    chip.put(0x40038400, 7).reads(0x40048000, 0).reads(0x40038400, 7)  # each block has its own
    chip.done()


def test_what_has_left_its_reset_says_so(program: Path) -> None:
    chip = Chip(program).put(RESETS + CLEAR, 1 << 22 | 1).reads(RESETS + 8, 1 << 22 | 1)
    chip.put(RESETS, 0).reads(RESETS + 8, 0x01FFFFFF).put(RESETS, ONES).reads(RESETS + 8, 0)
    chip.done()


def test_clocks_say_what_they_have_switched_to(program: Path) -> None:
    chip = Chip(program)
    for source in range(4):
        chip.put(REF_CTRL, 0xFC | source).reads(REF_SELECTED, 1 << source)
    for source in range(2):
        chip.put(SYS_CTRL, 0xE2 | source).reads(SYS_SELECTED, 1 << source)
    for enable, status in (
        (0xFAB000, 0x80001000),
        (0xFABAA0, 0x80001000),
        (0xD1E000, 0),
        (0xFAB000 ^ 0x1000, 0),
    ):
        chip.put(XOSC, enable).reads(XOSC + 4, status)
    chip.done()


def test_a_pll_locks_when_it_has_power_and_something_to_multiply(program: Path) -> None:
    for base in (PLL_SYS, PLL_USB):
        chip = Chip(program).reads(base, 1)
        chip.put(base + 8, 100).reads(
            base, 1 | 1 << 31
        )  # our reset leaves the power on, as written registers do
        for power, locked in ((0x2D, 0), (0x21, 0), (0x20, 0), (0x01, 0), (0x08, 1), (0x0C, 1), (0, 1)):
            chip.put(base + 4, power).reads(base, 1 | locked << 31)
        chip.put(base + 8, 0).reads(base, 1).put(base + 8, 1).reads(base, 1 | 1 << 31)
        chip.done()


@pytest.mark.parametrize("base", [PLL_SYS, PLL_USB])
@pytest.mark.parametrize(
    ("settings", "hz"),
    [
        ((1, 125, 6, 2), 125_000_000),
        ((1, 133, 6, 2), 133_000_000),
        ((2, 100, 5, 5), 24_000_000),
        ((63, 4095, 7, 7), round(12e6 * 4095 / 63 / 49)),
        ((65, 12, 1, 1), 144_000_000),  # six bits of reference
        ((1, 4096 + 12, 9, 10), 72_000_000),  # twelve of the multiplier, three of each divider
        ((0, 125, 6, 2), 0),
        ((1, 125, 0, 2), 0),
        ((1, 125, 6, 0), 0),
    ],
)
def test_the_core_runs_at_what_its_registers_say(
    program: Path, base: int, settings: tuple[int, int, int, int], hz: int
) -> None:
    chip = pll(Chip(program), base, *settings)
    chip.put(SYS_CTRL, 1 | (1 << 5 if base == PLL_USB else 0)).tells(hz, "hz")
    if base == PLL_USB:
        chip.put(SYS_CTRL, 0).put(REF_CTRL, 1).tells(hz, "hz")
    chip.done()


def test_other_sources_and_dividers(program: Path) -> None:
    chip = Chip(program).tells(6_500_000, "hz").put(REF_CTRL, 2).tells(12_000_000, "hz")
    chip.put(REF_CTRL, 3).tells(6_500_000, "hz")
    chip.put(REF_CTRL, 2).put(REF_DIV, 2 << 8).tells(6_000_000, "hz").put(SYS_DIV, 3 << 8).tells(
        2_000_000, "hz"
    )
    chip.put(SYS_DIV, 0x180).tells(4_000_000, "hz").put(SYS_DIV, 0).tells(round(6e6 / 65536), "hz")
    chip.put(SYS_DIV, 255).tells(round(6e6 / 65536), "hz").put(SYS_DIV, 256)
    for source, hz in ((2, 6_500_000), (3, 12_000_000), (4, 6_500_000), (7, 6_500_000)):
        chip.put(SYS_CTRL, 1 | source << 5).tells(hz, "hz")
    chip.put(SYS_CTRL, 0xE0).tells(6_000_000, "hz")
    chip.put(SYS_CTRL, 1 | 8 << 5 | 3 << 5).tells(12_000_000, "hz")
    chip.done()


def test_baud(program: Path) -> None:
    chip = from_pll(Chip(program)).put(UART + 0x24, 67).put(UART + 0x28, 52)
    for control, on in ((0x301, 1), (0x300, 0), (0x201, 0), (0x101, 0), (0x381, 1), (0, 0)):
        chip.put(UART + 0x30, control).tells(round(4e3 * 125e6 / (67 * 64 + 52)) if on else 0, "baud")
    chip.put(UART + 0x30, 0x301).put(UART + 0x28, 0xC0 | 52)
    chip.tells(round(4e3 * 125e6 / (67 * 64 + 52)), "baud")  # six bits
    chip.put(UART + 0x24, 0).tells(round(4e3 * 125e6 / 52), "baud").put(UART + 0x28, 0).tells(0, "baud")
    chip.done()


def test_the_timer_counts_ticks_of_the_reference(program: Path) -> None:
    chip = Chip(program).do("at", 1000).reads(TIMER + 0x28, 0)
    chip = from_pll(chip)  # at cycle 1000, all of it
    for us in (0, 1, 999_999, 2**32 - 1, 2**32 + 5, 3 * 2**32 + 17):
        chip.do("at", 1000 + 125 * us + 60)
        for low, high in ((0x28, 0x24), (0x0C, 0x08)):
            chip.reads(TIMER + low, us & ONES).reads(TIMER + high, us >> 32)
    chip.done()


def test_the_timer_is_set_and_paused(program: Path) -> None:
    chip = from_pll(Chip(program)).do("at", 125 * 100).put(TIMER + 4, 0xFFFFFFF0).reads(TIMER + 0x28, 100)
    chip.put(TIMER, 6).reads(TIMER + 0x24, 6).reads(TIMER + 0x28, 0xFFFFFFF0)
    chip.do("at", 125 * 120).reads(TIMER + 0x0C, 4).reads(TIMER + 0x08, 7)
    chip.put(TIMER + 0x30, 1).do("at", 125 * 200).reads(TIMER + 0x28, 4).reads(TIMER + 0x30, 1)
    chip.put(TIMER + 0x30, 0).reads(TIMER + 0x28, 4).do("at", 125 * 210).reads(TIMER + 0x28, 14)
    chip.put(TIMER + 4, 0).put(TIMER, 0).do("at", 125 * 215).reads(TIMER + 0x28, 5).done()


def test_the_timer_stands_without_ticks_and_keeps_its_count_through_changes(program: Path) -> None:
    twelfths = from_pll(Chip(program)).put(TICK, 1 << 9 | 1)
    twelfths.do("at", 125 * 100).reads(TIMER + 0x28, 1200).done()
    chip = from_pll(Chip(program)).do("at", 125 * 100).reads(TIMER + 0x28, 100)
    chip.put(TICK, 12).do("at", 125 * 200).reads(TIMER + 0x28, 100)
    chip.put(TICK, 1 << 9).do("at", 125 * 300).reads(TIMER + 0x28, 100)
    chip.put(TICK, 1 << 9 | 24).do("at", 125 * 500).reads(TIMER + 0x28, 200)
    chip.put(TICK, 1 << 9 | 12).put(SYS_CTRL, 0)  # 12 MHz now
    chip.do("at", 125 * 500 + 12 * 50).reads(TIMER + 0x28, 250)
    chip.put(SYS_DIV, 2 << 8).do("at", 125 * 500 + 12 * 50 + 6 * 50).reads(TIMER + 0x28, 300)
    chip.put(REF_DIV, 2 << 8).do("at", 125 * 500 + 12 * 50 + 6 * 50 + 3 * 50).reads(TIMER + 0x28, 325)
    chip.put(TICK, 1 << 9 | 511).do("at", 10**9).put(TICK, 0).reads(
        TIMER + 0x28, 325 + round((1e9 - 63550) / 3 * 6 / 511 - 0.5)
    )
    chip.done()


def test_seconds_pass_through_all_changes(program: Path) -> None:
    chip = Chip(program).do("at", 6500).tells(1_000_000, "ns")
    for setting in range(2):
        chip = pll(chip, (PLL_SYS, PLL_USB)[setting], 1, 125, 6, 2)
    chip.put(SYS_CTRL, 1).do("at", 6500 + 125_000).tells(2_000_000, "ns")
    chip.put(PLL_SYS + 12, 6 << 16 | 4 << 12).do("at", 6500 + 125_000 + 62_500).tells(3_000_000, "ns")
    chip.put(PLL_SYS + 8, 0).do("at", 10**9).tells(3_000_000, "ns")  # stopped
    chip.put(REF_CTRL, 2).put(SYS_CTRL, 0).do("at", 10**9 + 12_000).tells(4_000_000, "ns")
    chip.put(SYS_CTRL, 1 | 1 << 5).do("at", 10**9 + 12_000 + 125_000).tells(5_000_000, "ns")
    chip.put(PLL_USB + 8, 250).do("at", 10**9 + 137_000 + 250_000).tells(6_000_000, "ns")
    chip.put(0x40014000, 1).put(XOSC, 0).tells(6_000_000, "ns")
    chip.done()


def test_the_tick_runs_when_it_is_enabled(program: Path) -> None:
    Chip(program).put(TICK, 0x20C).reads(TICK, 0x60C).put(TICK, 0x0C).reads(TICK, 0x0C).put(
        TICK, 0x20D
    ).reads(TICK, 0x60D).done()


def test_the_uart(program: Path) -> None:
    chip = (
        Chip(program).reads(UART + 0x18, 0x90).put(UART, 0x141).put(UART + SET, 0x42).tells(0x4143, "said", 0)
    )
    chip.do("comes", 2).reads(UART + 0x18, 0x80).reads(UART, 0x42).reads(UART, 0x41).reads(UART, 0)
    chip.reads(UART + 0x18, 0x90)
    chip.done()
    Chip(program, sender=1).reads(UART + 0x18, 0x38).do("comes", 1).reads(UART + 0x18, 0x28).done()


def test_systick_counts_down_from_its_reload(program: Path) -> None:
    chip = Chip(program).put(SYSTICK + 4, 9).do("at", 100).put(SYSTICK, 5).reads(SYSTICK + 8, 0)
    for cycle, value in ((1, 9), (2, 8), (9, 1), (10, 0), (11, 9), (4003, 7)):
        chip.do("at", 100 + cycle).reads(SYSTICK + 8, value)
    chip.do("at", 5000).put(SYSTICK + 8, 77).reads(SYSTICK + 8, 0).do("at", 5001).reads(SYSTICK + 8, 9)
    chip.put(SYSTICK + 4, 0xFF000003).reads(SYSTICK + 4, 3)  # 24 bits
    for cycle, value in ((5002, 8), (5010, 0), (5011, 3)):  # at the end of this count
        chip.do("at", cycle).reads(SYSTICK + 8, value)
    chip.put(SYSTICK + 4, 0).do("at", 5014).reads(SYSTICK + 8, 0).do("at", 5100).reads(SYSTICK + 8, 0)
    chip.put(SYSTICK + 4, 9).do("at", 5101).reads(SYSTICK + 8, 9).do("at", 6003).reads(SYSTICK + 8, 7)
    chip.put(SYSTICK, 0).do("at", 6100).reads(SYSTICK + 8, 7).put(SYSTICK, 4).do("at", 6101).reads(
        SYSTICK + 8, 7
    )
    chip.put(SYSTICK, 5).do("at", 6103).reads(SYSTICK + 8, 5)
    chip.put(SYSTICK, 1).do("at", 6500).reads(SYSTICK + 8, 5)  # the divider of the reference clock is off
    chip.put(SYSTICK, 7).do("at", 6501).reads(SYSTICK + 8, 4)
    chip.reads(SYSTICK, 0x10007).reads(SYSTICK, 7).reads(SYSTICK + 4, 9)
    chip.do("at", 7000).put(0xE000E008, 3).do("at", 7001).reads(SYSTICK + 8, 4)
    chip.done()


def test_the_core_names_itself_and_keeps_its_control_space(program: Path) -> None:
    chip = Chip(program).reads(0xE000ED00, 0x410CC601)
    chip.put(0xE000ED08, 0x10000100).reads(0xE000ED08, 0x10000100).put(0xE000EFFC, 5).reads(0xE000EFFC, 5)
    chip.put(0xE000E000, 6).reads(0xE000E000, 6)
    for address in (0xE000DFFC, 0xE000F000, 0xE0000000, 0xE00FFFFC):
        chip.put(address, 9).reads(address, 0)
    chip.reads(0xE000EFFC, 5).reads(0xE000E000, 6)
    chip.done()


def test_the_flash_caches_control(program: Path) -> None:
    chip = Chip(program).reads(XIP, 3).reads(XIP + 8, 3).put(XIP + 4, 1).tells(1, "said", 1).reads(XIP + 4, 0)
    chip.put(XIP + 4, 2).tells(1, "said", 1).reads(XIP + 4, 2).put(XIP, 1).reads(XIP, 1).tells(1, "said", 1)
    chip.put(XIP + 0x3C, 9).reads(XIP + 0x3C, 9).put(XIP + 0x40, 9).reads(XIP + 0x40, 0).put(XIP, 1)
    chip.put(SSI + 0xF4, 4).reads(SSI + 0xF4, 4).reads(SSI + 0x1F4, 4).put(SSI + 0x100, 8).reads(SSI, 8)
    chip.put(SSI + 0xFC, 9).reads(SSI + 0xFC, 9).reads(SSI, 8)
    chip.reads(SSI + 3, 8).put(SSI + 0x2C, 1).reads(SSI + 0x2C, 1).reads(SSI + 0x28, 0)
    chip.done()


def test_a_firmware_that_looks_is_told_that_it_is_simulated(program: Path) -> None:
    chip = Chip(program).do("simulated", 0x40058010).reads(0x40058010, 0x53494D55)
    for address in (0x3FFFFFFC, 0x40070000, 0x20000000):
        chip.do("simulated", address)
    chip.do("simulated", 0x4005801F).reads(0x4005801C, 0x53494D55)
    chip.do("simulated", 0x4006FFFC).reads(0x4006CFFC, 0x53494D55)
    chip.done()
