"""The Pico's hal.c register by register, natively: how it starts the chip, and what it waits for."""

from __future__ import annotations

from pathlib import Path

import pytest
from natively import HERE, compiled, told

from motecrypt.catalog import FIRMWARE
from tool_sets import needs_tool_set

pytestmark = needs_tool_set("host")
AT = "#define AT(address) (*(volatile uint32_t *)(address))"
STACK_POINTER = '__asm__ volatile(READ_STACK_POINTER : "=r"(sp));'
CLOCK_MHZ = 125
SIMULATED = 0x53494D55


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pico")
    source = (FIRMWARE / "devices" / "pico" / "hal.c").read_text()
    stack = (FIRMWARE / "include" / "hal_stack_arm.h").read_text()
    assert source.count(AT) == stack.count(STACK_POINTER) == 1
    (folder / "hal.c").write_text(source.replace(AT, "#define AT(address) (*at(address))"))
    (folder / "hal_stack_arm.h").write_text(stack.replace(STACK_POINTER, "sp = test_stack_pointer();"))
    return compiled("pico_harness.c", folder, f"-I{folder}", f"-I{HERE}", "-w")


def until(address: str) -> list[str]:
    """It looks until the third look is right."""
    return [f"look {address}"] * 3


#: RP2040 datasheet 2.15 (clocks), 2.16 (crystal), 2.18 (PLL), 2.14 (resets), 4.2 (UART), 2.1.2 (aliases).
STARTS = [
    *("40024000 = aa0", "4002400c = 2f", "40026000 = fab000", *until("40024004")),
    *("4000b03c = 1", *until("40008044"), "40008030 = 2", *until("40008038")),
    *("4000e000 = 1000", "4000f000 = 1000", *until("4000c008")),
    *("look 40028000", "40028000 = 1", "40028008 = 7d", "4002b004 = 21", *until("40028000")),
    *("4002800c = 62000", "4002b004 = 8", "4000803c = 0", "4000a03c = 1", *until("40008044")),
    *("40008048 = 800", "4005802c = 20c", "4000f000 = 600120", *until("4000c008")),
    *("40014004 = 2", "4001400c = 2", "40034024 = 43", "40034028 = 34", "4003402c = 70", "40034030 = 301"),
    *("e000e014 = ffffff", "e000e018 = 0", "e000e010 = 5"),
]


def test_it_starts_the_chip_step_by_step(program: Path) -> None:
    answers, done = told(program, "init")
    assert done == STARTS and answers == [125_000_000]


def test_the_line_is_waited_for(program: Path) -> None:
    answers, done = told(program, "receive 0x10", "give 0x20 0x7e", "mark 1", "mark 0")
    assert done == [*until("40034018"), *until("40034018"), "40034000 = 7e", "4005800c = 1", "4005800c = 0"]
    assert answers[0] == 0x0F, "what the register held"


def timed(cycles: int, us_before: int, ticks_before: int, off: int = 0) -> str:
    """The state of both timers before and after; the microseconds are `off` by so many."""
    us = cycles // CLOCK_MHZ + off
    after = (ticks_before - cycles) & 0xFFFFFF
    return f"timed {us_before} {ticks_before} {(us_before + us) & 0xFFFFFFFF} {after}"


def test_cycles_of_any_length_are_exact(program: Path) -> None:
    """SysTick has 24 bits, the timer microseconds, read a little before or after."""
    long = (0, 1, 124, 125, 126, 1000, 0x7FFFFF, 0x800000, 0xFFFFFF, 0x1000000, 0x1000001, 0x12345678)
    long = (*long, 0x800000 - 130, 0x800000 + 130, 0xFFFFFF - 200, 4_000_000_000, 4_294_000_000)
    lines, expected = [], []
    for cycles in long:
        for off in (-2, -1, 0, 1, 2):
            if cycles // CLOCK_MHZ + off >= 0:
                for us_before, ticks_before in ((0, 0), (5, 100), (0xFFFFFFF0, 0xFFFFFF), (7777, 0x800001)):
                    lines.append(timed(cycles, us_before, ticks_before, off))
                    expected.append(cycles)
    assert told(program, *lines)[0] == expected


def test_what_is_too_long_for_32_bits_is_the_greatest_number(program: Path) -> None:
    most = 0xFFFFFFFF // CLOCK_MHZ - 1
    answers, _ = told(program, f"timed 0 0 {most} 0", f"timed 0 0 {most + 1} 0", "timed 9 0 8 0")
    assert answers[0] < 0xFFFFFFFF and answers[1:] == [0xFFFFFFFF] * 2
    # The nearest number to the timer's whose low 24 bits are SysTick's, also at half way.
    halves = [(0x800000 // CLOCK_MHZ + 1) * CLOCK_MHZ + part for part in (0x7FFFFF, 0x800000, -0x800000)]
    lines = [f"timed 0 0 {0x800000 // CLOCK_MHZ + 1} {-cycles & 0xFFFFFF}" for cycles in halves]
    assert told(program, *lines)[0] == [halves[0], halves[2], halves[2]]


@pytest.mark.parametrize("told_so", [SIMULATED, 0, SIMULATED + 1])
def test_how_much_of_the_stack_is_painted(program: Path, told_so: int) -> None:
    sizes = (1, 1000, 1023, 1024, 1025, 4000)
    answers, _ = told(program, *(f"paint {words} {told_so}" for words in sizes))
    for words, painted in zip(sizes, answers, strict=True):
        first = max(0, words - 1024) if told_so == SIMULATED else 0
        assert divmod(painted, 10000) == (first, words)


def test_the_depth_is_what_was_written_below(program: Path) -> None:
    lines = [
        f"paint 4000 {SIMULATED}",
        "depth 4500",
        "depth 3999",
        "depth 3500",
        "depth 3000",
        "depth 2976",
        "depth 9",
    ]
    assert told(program, *lines)[0][1:] == [0, 4, 2000, 4000, 4096, 4096]
    assert told(program, "paint 4000 0", "depth 10", "depth 0")[0][1:] == [15960, 16000]
