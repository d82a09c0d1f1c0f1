"""Registers of a chip that keep what is written, and its clocks, by formulas of the RP2350's datasheet."""

from __future__ import annotations

from pathlib import Path

import pytest

from tool_sets import needs_tool_set
from unit.drivers.natively import ask, compiled

pytestmark = needs_tool_set("host")
CLOCKS, XOSC_HZ = 0x40010000, 12_000_000
PLL, UART = 0x40050000, 0x40070000
RAM_LIKE = 0x40080000
"""The registers of the SPI: nothing is modelled of it."""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled("plain_harness.c", tmp_path_factory.mktemp("plain"))


def results(program: Path, *lines: tuple[object, ...]) -> list[int]:
    return ask(program, "RP2350", lines=[("begin",), *lines])[1:]


def pll(reference: int, factor: int, first: int, second: int) -> list[tuple[object, ...]]:
    """REFDIV, FBDIV, and POSTDIV1 and 2 (8.6.3)."""
    return [
        ("write", PLL, reference, 4),
        ("write", PLL + 8, factor, 4),
        ("write", PLL + 12, first << 16 | second << 12, 4),
    ]


def test_aliases_change_single_bits_and_other_writes_all(program: Path) -> None:
    writes = [(0, 0xF0F0), (0x1000, 0xFF00), (0x2000, 1), (0x3000, 0x00F0), (0, 0x1234)]
    lines = [
        line for at, value in writes for line in (("write", RAM_LIKE + at, value, 4), ("read", RAM_LIKE))
    ]
    assert results(program, *lines)[1::2] == [0xF0F0, 0x0FF0, 0x0FF1, 0x0F01, 0x1234]


def test_a_byte_and_a_half_word_leave_the_others(program: Path) -> None:
    lines: list[tuple[object, ...]] = [("write", RAM_LIKE, 0x11223344, 4), ("write", RAM_LIKE + 1, 0x1AA, 1)]
    lines += [("read", RAM_LIKE), ("write", RAM_LIKE + 2, 0xBBCC, 2), ("read", RAM_LIKE)]
    lines += [("read", RAM_LIKE + 4), ("write", RAM_LIKE + 7, 0xDD, 1), ("read", RAM_LIKE + 4)]
    found = results(program, *lines)
    assert (found[2], found[4], found[5], found[7]) == (0x1122AA44, 0xBBCCAA44, 0, 0xDD000000)


@pytest.mark.parametrize(
    ("reference", "factor", "first", "second"), [(1, 125, 5, 2), (2, 200, 6, 1), (1, 63, 7, 3)]
)
def test_the_pll_runs_at_what_its_dividers_give(
    program: Path, reference: int, factor: int, first: int, second: int
) -> None:
    lines = [*pll(reference, factor, first, second), ("write", CLOCKS + 0x3C, 1, 4), ("hz",)]
    assert results(program, *lines)[-1] == round(XOSC_HZ / reference * factor / first / second)


@pytest.mark.parametrize("dividers", [(0, 125, 5, 2), (1, 125, 0, 2), (1, 125, 5, 0)])
def test_a_divider_of_0_stops_it(program: Path, dividers: tuple[int, int, int, int]) -> None:
    assert results(program, *pll(*dividers), ("write", CLOCKS + 0x3C, 1, 4), ("hz",))[-1] == 0


def test_the_core_runs_from_the_ring_the_crystal_or_the_pll(program: Path) -> None:
    lines: list[tuple[object, ...]] = [("hz",), ("write", CLOCKS + 0x30, 2, 4), ("hz",)]
    lines += [*pll(1, 125, 5, 2), ("hz",), ("write", CLOCKS + 0x3C, 1, 4), ("hz",)]
    found = results(program, *lines)
    ring, crystal, still, fast = (found[n] for n in (0, 2, 6, 8))
    assert ring not in (0, XOSC_HZ) and (crystal, still, fast) == (XOSC_HZ, XOSC_HZ, 150_000_000)


@pytest.mark.parametrize(
    ("whole", "part", "control", "on"),
    [(6, 33, 0x301, 1), (1, 0, 0x301, 1), (6, 33, 0x300, 0), (0, 0, 0x301, 0)],
)
def test_the_uart_divides_the_cores_clock(
    program: Path, whole: int, part: int, control: int, on: int
) -> None:
    """12.1.7: by 16 and by a whole number and 64ths."""
    lines: list[tuple[object, ...]] = [("write", CLOCKS + 0x30, 2, 4), ("write", UART + 0x24, whole, 4)]
    lines += [("write", UART + 0x28, part, 4), ("write", UART + 0x30, control, 4), ("baud",)]
    expected = round(XOSC_HZ / (16 * (whole + part / 64))) if on else 0
    assert results(program, *lines)[-1] == expected


def test_time_goes_on_when_the_clock_changes(program: Path) -> None:
    lines: list[tuple[object, ...]] = [("write", CLOCKS + 0x30, 2, 4), ("later", XOSC_HZ), *pll(1, 125, 5, 2)]
    lines += [("write", CLOCKS + 0x3C, 1, 4), ("later", 75_000_000)]
    found = results(program, *lines)
    assert (found[1], found[-1]) == (1_000_000_000, 1_500_000_000)


def test_a_byte_leaves_by_the_uarts_register_alone(program: Path) -> None:
    lines: list[tuple[object, ...]] = [
        ("write", UART + 4, 0x41, 4),
        ("write", UART, 0x42, 4),
        ("write", UART + 0x30, 0x43, 4),
    ]
    assert results(program, *lines) == [0, 0x42, 0x42]
    (status,) = results(program, ("read", UART + 0x18))
    assert status == 0x90, "nothing has come, and all has gone"
