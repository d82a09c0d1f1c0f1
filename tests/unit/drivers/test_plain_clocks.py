"""At what the core and the UART run by the registers of clocks: numbers from the chips' reference manuals."""

from __future__ import annotations

from pathlib import Path

import pytest

from tool_sets import needs_tool_set
from unit.drivers.natively import ask, compiled

pytestmark = needs_tool_set("host")
MHZ = 1_000_000
L1_RCC, L1_UART = 0x40023800, 0x40004400
F1_RCC, F1_UART = 0x40021000, 0x40013800
PMC, SAM_UART = 0x400E0600, 0x400E0800
NRF_UART = 0x40002000
SYSCTRL, GCLK, SERCOM = 0x40000800, 0x40000C00, 0x42001C00
DIVIDERS = {0: 1, 7: 1, 8: 2, 9: 4, 10: 8, 11: 16, 12: 64, 13: 128, 14: 256, 15: 512}
"""HPRE of an STM32: there is no 32."""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled("plain_harness.c", tmp_path_factory.mktemp("plain"))


def found(program: Path, chip: str, writes: dict[int, int], what: str) -> int:
    lines = [("begin",), *(("write", at, value, 4) for at, value in writes.items()), (what,)]
    return ask(program, chip, lines=lines)[-1]


def l1(switch: int, factor: int = 0, divider: int = 0, crystal: bool = False) -> dict[int, int]:
    return {L1_RCC + 8: switch | crystal << 16 | factor << 18 | divider << 22}


def f1(switch: int, factor: int = 0, crystal: bool = False, halved: bool = False) -> dict[int, int]:
    return {F1_RCC + 4: switch | crystal << 16 | halved << 17 | factor << 18}


def sam(master: int, main: int = 0, pll: int = 0) -> dict[int, int]:
    return {PMC + 0x20: main, PMC + 0x28: pll, PMC + 0x30: master}


@pytest.mark.parametrize(
    ("chip", "writes", "hz"),
    [
        # RM0038, 6.3: MSI after a reset and in other ranges, HSI, HSE, the PLL from each of them
        ("STM32L100RC", {}, 2_097_152),
        ("STM32L100RC", {L1_RCC + 4: 6 << 13}, 4_194_304),
        ("STM32L100RC", {L1_RCC + 4: 0}, 65_536),
        ("STM32L100RC", l1(1), 16 * MHZ),
        ("STM32L100RC", l1(2), 8 * MHZ),
        *(
            ("STM32L100RC", l1(3, number, 2, True), 8 * MHZ * factor // 3)
            for number, factor in enumerate((3, 4, 6, 8, 12, 16, 24, 32, 48))
            if factor % 3 == 0
        ),
        ("STM32L100RC", l1(3, 1, 1), 32 * MHZ),
        ("STM32L100RC", l1(3, 5, 3, True), 32 * MHZ),
        ("STM32L100RC", l1(3, 7, 3, True), 64 * MHZ),
        ("STM32L100RC", l1(3, 3, 3), 32 * MHZ),
        ("STM32L100RC", l1(3, 9, 3), 12 * MHZ),
        # RM0008, 7.3.2
        ("STM32F103C8", {}, 8 * MHZ),
        ("STM32F103C8", f1(1), 8 * MHZ),
        ("STM32F103C8", f1(2, 7, True), 72 * MHZ),
        ("STM32F103C8", f1(2, 7, True, True), 36 * MHZ),
        ("STM32F103C8", f1(2, 7), 36 * MHZ),
        ("STM32F103C8", f1(2, 14), 64 * MHZ),
        ("STM32F103C8", f1(2, 15), 64 * MHZ),
        ("STM32F051R8", f1(2, 10), 48 * MHZ),
        # Atmel 11057, 28.15: slow, RC of 4, 8 and 12 MHz, the crystal, the PLL; divided by 2 to 64, and by 3
        ("AT91SAM3X8E", {}, 4 * MHZ),
        ("AT91SAM3X8E", sam(0), 32_768),
        ("AT91SAM3X8E", sam(1, 1 << 4), 8 * MHZ),
        ("AT91SAM3X8E", sam(1, 2 << 4), 12 * MHZ),
        ("AT91SAM3X8E", sam(1, 1 << 24), 12 * MHZ),
        ("AT91SAM3X8E", sam(2 | 1 << 4, 1 << 24, 13 << 16 | 1), 84 * MHZ),
        ("AT91SAM3X8E", sam(2 | 7 << 4, 1 << 24, 13 << 16 | 2), 28 * MHZ),
        ("AT91SAM3X8E", sam(1 | 6 << 4, 1 << 24), 187_500),
        ("AT91SAM3X8E", sam(2, 1 << 24), 0),
        # always
        ("nRF52840", {}, 64 * MHZ),
        ("nRF51822", {}, 16 * MHZ),
        # DS40001882, 15.8.4, 17: 8 MHz divided by 8, 1 and 4, the DFLL, another generator, another source
        ("SAMD21G18A", {}, 1 * MHZ),
        ("SAMD21G18A", {SYSCTRL + 0x20: 0}, 8 * MHZ),
        ("SAMD21G18A", {SYSCTRL + 0x20: 0x200}, 2 * MHZ),
        ("SAMD21G18A", {GCLK + 4: 0x10700}, 48 * MHZ),
        ("SAMD21G18A", {GCLK + 4: 0x10701}, 1 * MHZ),
        ("SAMD21G18A", {GCLK + 4: 0x10300}, 32_768),
    ],
)
def test_the_core_runs_at(program: Path, chip: str, writes: dict[int, int], hz: int) -> None:
    assert found(program, chip, writes, "hz") == hz


@pytest.mark.parametrize(("field", "divider"), DIVIDERS.items())
def test_an_stm32_divides_for_its_bus(program: Path, field: int, divider: int) -> None:
    assert found(program, "STM32F103C8", {F1_RCC + 4: field << 4}, "hz") == round(8 * MHZ / divider)
    assert found(program, "STM32L100RC", {L1_RCC + 8: 1 | field << 4}, "hz") == round(16 * MHZ / divider)


@pytest.mark.parametrize(
    ("chip", "writes", "baud"),
    [
        *(
            (chip, {divisor: 69, control: bits}, 115_942 if bits == on else 0)
            for chip, divisor, control, on in (
                ("STM32F103C8", F1_UART + 8, F1_UART + 12, 0x200C),
                ("STM32F051R8", F1_UART + 12, F1_UART, 0xD),
            )
            for bits in (on, on & ~4, on & ~8, on & 0xC)
        ),
        ("STM32L100RC", {L1_UART + 8: 0x10000 | 139, L1_UART + 12: 0x200C, **l1(1)}, 115_108),
        ("STM32L100RC", {L1_UART + 12: 0x200C, **l1(1)}, 0),
        (
            "AT91SAM3X8E",
            {SAM_UART + 0x20: 46, SAM_UART: 0x50, **sam(2 | 1 << 4, 1 << 24, 13 << 16 | 1)},
            114_130,
        ),
        ("AT91SAM3X8E", {SAM_UART + 0x20: 46, SAM_UART: 0x10}, 0),
        ("AT91SAM3X8E", {SAM_UART: 0x50}, 0),
        ("nRF52840", {NRF_UART + 0x500: 4, NRF_UART + 0x524: 0x01D7E000}, 115_204),
        ("nRF51822", {NRF_UART + 0x500: 0x14, NRF_UART + 0x524: 0x00275000}, 9_598),
        ("nRF51822", {NRF_UART + 0x500: 0, NRF_UART + 0x524: 0x00275000}, 0),
        ("SAMD21G18A", {GCLK + 4: 0x10700, SERCOM + 12: 63_019, SERCOM: 2}, 115_219),
        ("SAMD21G18A", {GCLK + 4: 0x10700, SERCOM + 12: 63_019, SERCOM: 1}, 0),
    ],
)
def test_the_uart_runs_at(program: Path, chip: str, writes: dict[int, int], baud: int) -> None:
    assert found(program, chip, writes, "baud") == baud
