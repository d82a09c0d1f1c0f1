"""Misses of the flash cache make time pass, and do not make an interrupt late."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tool_sets import needs_tool_set

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "drivers"))
from arm_assembly import CACHE, STOP, run

pytestmark = needs_tool_set("pico")

CHIP = ("--chip", "RP2040", "--bus", "2:3:1", "--free", "--max-seconds", "100")
PERIOD, TICKS, ENTRY, MISS = 5000, 40, 15, 50
CODE = f"""
    ldr r0, =1
    str r0, [r4, #0x24]
    ldr r0, =0x301
    str r0, [r4, #0x30]
    ldr r0, =0x20001000
    ldr r1, =0xE000ED08
    str r0, [r1]
    ldr r1, =tick+1
    str r1, [r0, #60]
    movs r6, #0
    ldr r1, =0xE000E010
    ldr r0, ={PERIOD - 1}
    str r0, [r1, #4]
    str r0, [r1, #8]
    movs r0, #7
    str r0, [r1]
    movs r3, #0
    b work
    .pool
    .balign 8
tick:                       @ sends by how many cycles it is late
    ldr r0, [r1, #8]
    ldr r5, ={PERIOD - 1}
    subs r0, r5, r0
    str r0, [r4]
    lsrs r0, #8
    str r0, [r4]
    adds r6, #1
    cmp r6, #{TICKS}
    beq over
    bx lr
over:
    {STOP}
    .pool
    .balign 8
"""
FLASH_WORK = "work:\n" + "    adds r3, #1\n" * 900 + "    b work\n"
"""1,800 bytes through a cache of 1 KB: every line is missed in every round."""


def late(output: bytes) -> list[int]:
    return [int.from_bytes(output[at : at + 2], "little") for at in range(0, len(output), 2)]


@pytest.mark.parametrize("more", [(), ("--contention",)])
def test_a_tick_is_on_time_however_often_the_flash_is_missed(tmp_path: Path, more: tuple[str, ...]) -> None:
    without = late(run(CODE + FLASH_WORK, tmp_path, *CHIP).output)
    assert without == [ENTRY - 1] * TICKS, "SysTick has its period's end for a cycle"
    ran = run(CODE + FLASH_WORK, tmp_path, *CHIP, *CACHE, *more)
    ticks = late(ran.output)
    assert len(ticks) == TICKS, "none is lost"
    # The instruction before may wait for the flash, and the handler's first one too.
    assert all(ENTRY - 1 <= cycles <= ENTRY - 1 + 2 * MISS for cycles in ticks)
    assert ran.end["interrupts"] == TICKS
