"""Corners of the devices of the Pico, in assembly: empty transfers, resets of what runs, slow clocks."""

from __future__ import annotations

from pathlib import Path

import pytest
from pico_assembly import STOP, TOLD, launch, run, said, store

from tool_sets import needs_tool_set

pytestmark = needs_tool_set("pico")

SHORT = ("--chip", "RP2040", "--bus", "2:3:1", "--free", "--max-seconds", "0.01")
UART_ON = "    ldr r0, =1\n    str r0, [r4, #0x24]\n    ldr r0, =0x301\n    str r0, [r4, #0x30]\n"
DMA, ADC, CLOCKS, RESETS = 0x50000000, 0x4004C000, 0x40008000, 0x4000C000
TRIGGER, ALWAYS, WORDS = DMA + 0x430, 0x3F << 15, 2 << 2
PAUSE = "    nop\n" * 30 + "    b 1f\n1:\n"


def transfer(channel: int, source: int, target: int, count: int, control: int) -> str:
    """A channel with its four registers, not yet started."""
    at = DMA + 0x40 * channel
    return store(at, source) + store(at + 4, target) + store(at + 8, count) + store(at + 0x10, control | 1)


def test_two_transfers_of_nothing_that_start_each_other(tmp_path: Path) -> None:
    """They never end, as on the chip, and the core continues."""
    code = UART_ON + transfer(0, 0, 0x20004000, 0, 1 << 11 | ALWAYS)
    code += transfer(1, 0, 0x20004000, 0, ALWAYS) + store(TRIGGER, 1) + PAUSE + said("k")
    code += store(DMA + 0x444, 3) + STOP
    ran = run(code, tmp_path, *SHORT)
    assert (ran.code, ran.output) == (0, b"k"), ran.events


def test_a_transfer_pauses_while_its_channel_is_disabled(tmp_path: Path) -> None:
    """100 bytes, one in 50 cycles: none moves in a loop of 3,000 cycles without EN, all in 5,000 with it."""
    paced = 0x3B << 15 | 1 << 4
    code = UART_ON + store(DMA + 0x420, 1 << 16 | 50) + transfer(0, 0x10000100, 0x20004000, 100, paced)
    code += store(TRIGGER, 1) + store(DMA + 0x10, paced)
    left = f"    ldr r1, ={DMA + 8:#x}\n    ldr r0, [r1]\n" + TOLD
    code += left + "    ldr r0, =1000\n1:  subs r0, #1\n    bne 1b\n" + left
    code += f"    ldr r1, ={DMA + 0x10:#x}\n    ldr r0, [r1]\n    lsrs r0, #24\n" + TOLD
    code += (
        store(DMA + 0x10, paced | 1)
        + PAUSE
        + left
        + "    ldr r0, =2000\n1:  subs r0, #1\n    bne 1b\n"
        + left
    )
    first, same, busy, next_left, last = run(code + STOP, tmp_path, *SHORT).output
    assert (first, busy, last) == (same, 1, 0) and 98 <= first <= 100 and first - next_left <= 1


@pytest.mark.parametrize(("x", "y", "moved"), [(2, 5, 240), (3, 10, 180), (1, 4, 150), (7, 7, 255)])
def test_a_pacing_timer_keeps_parts_of_a_cycle(tmp_path: Path, x: int, y: int, moved: int) -> None:
    """What has moved after 600 cycles, give or take what stopping it takes."""
    paced = 0x3B << 15
    code = UART_ON + store(DMA + 0x420, x << 16 | y) + transfer(0, 0x10000100, 0x20004000, 255, paced)
    code += store(TRIGGER, 1) + "    ldr r0, =197\n1:  subs r0, #1\n    bne 1b\n"
    code += f"    ldr r1, ={DMA + 8:#x}\n    ldr r0, [r1]\n" + TOLD
    (left,) = run(code + STOP, tmp_path, *SHORT).output
    assert abs(255 - left - moved) <= 8 and left <= 255


def test_a_transfer_that_resets_its_own_controller(tmp_path: Path) -> None:
    code = UART_ON + store(0x20004000, 1 << 2) + transfer(0, 0x20004000, RESETS, 4, WORDS | ALWAYS)
    code += store(TRIGGER, 1) + PAUSE + f"    ldr r1, ={DMA:#x}\n    ldr r0, [r1, #8]\n    adds r0, #'0'\n"
    ran = run(code + TOLD + STOP, tmp_path, *SHORT)
    assert (ran.code, ran.output) == (0, b"0"), "no word is left of a channel in reset"


def test_repeated_conversions_that_take_less_than_a_cycle(tmp_path: Path) -> None:
    """clk_adc is 100 MHz, clk_sys some tens of kHz."""
    pll = (
        store(0x4002C004, 0)
        + store(0x4002C008, 100)
        + store(0x4002C000, 1)
        + store(0x4002C00C, 5 << 16 | 5 << 12)
    )
    code = UART_ON + store(0x40024000, 0xFAB000) + store(CLOCKS + 0x30, 2) + pll + store(CLOCKS + 0x64, 0x100)
    code += store(CLOCKS + 0x40, 0x100 * 400) + store(ADC, 9) + PAUSE + said("k")
    ran = run(code + STOP, tmp_path, *SHORT)
    assert (ran.code, ran.output) == (0, b"k"), ran.events


@pytest.mark.parametrize("address", [0x880, 0x8F0, 0x980])
def test_a_call_between_the_boot_rom_s_tables_of_floats(tmp_path: Path, address: int) -> None:
    code = UART_ON + f"    ldr r3, ={address | 1:#x}\n    blx r3\n" + said("k")
    ran = run(code + STOP, tmp_path, *SHORT)
    assert ran.output == b"", "the code there is a trap"


def test_dma_does_not_write_the_boot_rom(tmp_path: Path) -> None:
    code = UART_ON + store(0x20004000, 0x4E4F5247) + transfer(0, 0x20004000, 0x10, 1, WORDS | ALWAYS)
    code += store(TRIGGER, 1) + PAUSE + "    movs r1, #0x10\n    ldrb r0, [r1]\n" + TOLD
    assert run(code + STOP, tmp_path, *SHORT).output == b"M"


def test_an_exception_with_its_stack_in_flash(tmp_path: Path) -> None:
    code = UART_ON + "    ldr r0, =0x10000180\n    mov sp, r0\n    svc #1\n" + said("k")
    ran = run(code + STOP, tmp_path, *SHORT)
    assert (ran.output, ran.end["event"]) == (b"", "fault")
    assert "finds no stack: stack pointer 0x10000160" in ran.end["detail"]


#: Says 1 and enables an interrupt; the second time it says its PRIMASK and ISER's bit 7.
STARTED = launch("""
first:
    cpsid i
    ldr r1, =0xE000E100
    ldr r0, =0x80
    str r0, [r1]
    ldr r4, =0x40034000
    movs r0, #'1'
    str r0, [r4]
5:  nop
    b 5b
second:
    ldr r4, =0x40034000
    mrs r0, primask
    adds r0, #'0'
    str r0, [r4]
    ldr r1, =0xE000E100
    ldr r0, [r1]
    lsrs r0, #7
    adds r0, #'0'
    str r0, [r4]
6:  nop
    b 6b
""")
DELAY = "    ldr r0, =2000\n1:  subs r0, #1\n    bne 1b\n"


def test_a_reset_of_core_1_clears_its_masks_and_interrupts(tmp_path: Path) -> None:
    code = UART_ON + STARTED + "    ldr r0, =first+1\n    bl launch\n" + DELAY
    code += store(0x40010004, 1 << 16) + DELAY + store(0x40010004, 0) + DELAY
    code += "    ldr r0, =second+1\n    bl launch\n" + DELAY + said("e")
    assert run(code + STOP, tmp_path, *SHORT).output == b"100e"


def test_a_write_to_the_boot_rom_changes_nothing(tmp_path: Path) -> None:
    """TinyUSB writes to address 0. The ROM reads as before afterwards, and the next write is ignored too."""
    code = UART_ON + "    movs r3, #0\n    ldr r5, [r3]\n    movs r6, #2\n"
    code += "1:  str r4, [r3]\n    strb r4, [r3, #16]\n    b 2f\n"
    code += "2:  ldr r0, [r3]\n    subs r0, r5\n    str r0, [r4]\n"
    code += "    subs r6, #1\n    bne 1b\n" + STOP
    ran = run(code, tmp_path, *SHORT)
    assert (ran.end["event"], ran.output) == ("stop", b"\0\0")
