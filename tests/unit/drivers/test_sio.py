"""The SIO of RP2040: what both cores share there, and what each has for itself."""

from __future__ import annotations

from pathlib import Path

import pytest
from natively import compiled
from test_rp2040_registers import ONES, SIO, Chip

from tool_sets import needs_tool_set

pytestmark = needs_tool_set("host")
STATUS, WRITE, READ, LOCKS = SIO + 0x50, SIO + 0x54, SIO + 0x58, SIO + 0x100
VALID, READY, OVERFLOWN, READ_EMPTY = 1, 2, 4, 8


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled("rp2040_harness.c", tmp_path_factory.mktemp("sio"))


def test_each_core_reads_its_number(program: Path) -> None:
    chip = Chip(program)
    chip.reads(SIO, 0).do("core", 1).reads(SIO, 1).do("core", 0).reads(SIO, 0).done()


def test_the_boot_roms_core_1_has_said_that_it_waits(program: Path) -> None:
    chip = Chip(program).reads(STATUS, VALID | READY).reads(READ, 0).reads(STATUS, READY)
    chip.do("core", 1).reads(STATUS, READY).done()


def test_eight_words_fit_into_each_direction(program: Path) -> None:
    chip = Chip(program).reads(READ, 0)
    for core in (0, 1):
        chip.do("core", core).tells(0, "interrupts", 1 - core)
        for word in range(8):
            chip.reads(STATUS, READY | (VALID if core else 0)).put(WRITE, 10 * core + word)
        chip.reads(STATUS, VALID if core else 0).put(WRITE, 99).tells(1, "interrupts", 1 - core)
        chip.reads(STATUS, OVERFLOWN | (VALID if core else 0)).tells(1, "interrupts", core)
        chip.put(STATUS, 0).reads(STATUS, VALID if core else 0)
    for core in (1, 0):
        chip.do("core", core)
        for word in range(8):
            chip.reads(READ, 10 * (1 - core) + word)
        chip.reads(STATUS, READY if core == 0 else 0).tells(0, "interrupts", core)
        chip.reads(READ, 10 * (1 - core) + 7).tells(1, "interrupts", core)
        chip.reads(STATUS, READ_EMPTY | (READY if core == 0 else 0)).put(STATUS, ONES)
    chip.done()


def test_a_lock_is_taken_by_reading_and_given_back_by_writing(program: Path) -> None:
    chip = Chip(program).reads(SIO + 0x5C, 0)
    for lock in (0, 1, 31):
        chip.do("core", 0).reads(LOCKS + 4 * lock, 1 << lock).reads(LOCKS + 4 * lock, 0)
        chip.do("core", 1).reads(LOCKS + 4 * lock, 0)
    chip.reads(SIO + 0x5C, 1 << 31 | 3).put(LOCKS + 4, 5).reads(SIO + 0x5C, 1 << 31 | 1)
    chip.reads(LOCKS + 4, 2).do("core", 0).reads(LOCKS + 4, 0).put(SIO + 0x5C, 0).reads(
        SIO + 0x5C, 1 << 31 | 3
    )
    chip.put(SIO + 0x180, 4).reads(SIO + 0x180, 0).done()


@pytest.mark.parametrize("signed", [False, True])
def test_the_divider(program: Path, signed: bool) -> None:
    base = SIO + (0x68 if signed else 0x60)
    chip = Chip(program)
    for dividend, divisor in (
        (17, 5),
        (2**31, 3),
        (ONES, 7),
        (5, ONES),
        (2**31, ONES),
        (0, 9),
        (-17 & ONES, -5 & ONES),
    ):
        chip.put(base, dividend).put(base + 4, divisor)
        a, b = dividend, divisor
        if signed:
            a, b = (n - 2**32 if n >= 2**31 else n for n in (a, b))
        quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
        chip.reads(SIO + 0x70, quotient & ONES).reads(SIO + 0x74, a - quotient * b & ONES)
        chip.reads(SIO + 0x60, dividend).reads(SIO + 0x64, divisor)
        chip.reads(SIO + 0x68, dividend).reads(SIO + 0x6C, divisor)
    chip.put(base + 4, 0).put(base, 7).reads(SIO + 0x70, ONES).reads(SIO + 0x74, 7)
    chip.put(base, 2**31).reads(SIO + 0x70, 1 if signed else ONES).reads(SIO + 0x74, 2**31)
    chip.put(base, 0).reads(SIO + 0x70, ONES)
    chip.done()


def test_each_core_has_a_divider_that_takes_8_cycles(program: Path) -> None:
    chip = Chip(program).reads(SIO + 0x78, 1).do("at", 100).put(SIO + 0x60, 100).put(SIO + 0x64, 7)
    chip.do("at", 107).reads(SIO + 0x78, 2).do("at", 108).reads(SIO + 0x78, 3)
    chip.do("core", 1).reads(SIO + 0x78, 1).reads(SIO + 0x60, 0).put(SIO + 0x60, 9).put(SIO + 0x64, 2)
    chip.reads(SIO + 0x70, 4).do("core", 0).reads(SIO + 0x74, 2).reads(SIO + 0x78, 3).reads(SIO + 0x70, 14)
    chip.reads(SIO + 0x78, 1).put(SIO + 0x70, 5).put(SIO + 0x74, 6).reads(SIO + 0x78, 3)
    chip.reads(SIO + 0x74, 6).reads(SIO + 0x70, 5).reads(SIO + 0x78, 1).done()


@pytest.mark.parametrize("first", [0x10, 0x20, 0x30, 0x40])
def test_pins_are_set_cleared_and_toggled_for_both_cores(program: Path, first: int) -> None:
    chip = Chip(program).put(SIO + first, 0b1100).reads(SIO + first, 0b1100)
    chip.do("core", 1).put(SIO + first + 4, 0b0001).reads(SIO + first, 0b1101)
    chip.put(SIO + first + 8, 0b0100).reads(SIO + first, 0b1001).put(SIO + first + 12, 0b0011)
    chip.do("core", 0).reads(SIO + first, 0b1010)
    for other in {0x10, 0x20, 0x30, 0x40} - {first}:
        chip.reads(SIO + other, 0)
    chip.done()


def test_a_pin_reads_what_it_puts_out(program: Path) -> None:
    chip = Chip(program).put(SIO + 0x10, 0b110).put(SIO + 0x20, 0b011).reads(SIO + 4, 0b010).reads(SIO + 8, 0)
    chip.put(SIO + 0x30, 1).put(SIO + 0x40, 1).reads(SIO + 8, 1).put(SIO + 4, 0).reads(SIO + 4, 0b010).done()


def test_each_core_has_registers_of_interpolators(program: Path) -> None:
    chip = Chip(program).put(SIO + 0x80, 3).put(SIO + 0xFC, 4)
    chip.do("core", 1).reads(SIO + 0x80, 0).put(SIO + 0xFC, 5).do("core", 0).reads(SIO + 0x80, 3)
    chip.reads(SIO + 0xFC, 4).done()


def test_each_core_has_private_peripherals(program: Path) -> None:
    chip = Chip(program).put(0xE000ED08, 0x10000100).do("core", 1).reads(0xE000ED08, 0)
    chip.do("at", 50).put(0xE000E014, 99).put(0xE000E018, 0).put(0xE000E010, 5)
    chip.do("at", 60).reads(0xE000E018, 90).do("core", 0).reads(0xE000E018, 0).done()
