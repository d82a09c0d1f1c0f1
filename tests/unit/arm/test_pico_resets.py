"""Parts of the Pico that are paused or held in reset: the watchdog's count, and the timer's.

Small programs in assembly; expected figures follow from the RP2040 datasheet, 2.14 and 4.7.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from pico_assembly import STOP, TOLD, run, store
from test_pico_firmware import CHIP, CRYSTAL, UART_ON

from tool_sets import needs_tool_set

pytestmark = needs_tool_set("pico")
SHORT = (*CHIP[:-1], "0.05")
DOG, RESETS, TIMER = 0x40058000, 0x4000C000, 1 << 21
SPENDS = "    ldr r0, =8000\n1:  subs r0, #1\n    bne 1b\n"
"""2 ms at 12 MHz."""
ONCE = f"    ldr r1, ={DOG + 8:#x}\n    ldr r0, [r1]\n    cmp r0, #0\n    beq 6f\n{STOP}    .pool\n6:\n"
TIME = "    ldr r1, =0x40054000\n    ldr r0, [r1, #0x28]\n"


def test_the_watchdog_is_paused_until_it_is_enabled(tmp_path: Path) -> None:
    """1 ms was loaded; 2 ms later, it still has it."""
    code = UART_ON + CRYSTAL + ONCE + store(DOG + 4, 2000) + SPENDS + store(DOG, 1 << 30)
    ran = run(code + "    b .\n", tmp_path, *SHORT)
    assert [event["event"] for event in ran.events][-2:] == ["note", "stop"]
    assert abs(ran.end["cycle"] - 3 * 12000) < 500


def test_the_watchdog_keeps_its_count_while_it_is_not_enabled(tmp_path: Path) -> None:
    """Of 3 ms, 2 pass; then it is paused for 2, and the last one passes. CTRL shows what is left."""
    code = UART_ON + CRYSTAL + ONCE + store(DOG + 4, 6000) + store(DOG, 1 << 30) + SPENDS + store(DOG, 0)
    code += SPENDS + f"    ldr r1, ={DOG:#x}\n    ldr r0, [r1]\n    lsrs r0, #4\n" + TOLD
    ran = run(code + store(DOG, 1 << 30) + "    b .\n", tmp_path, *SHORT)
    assert abs(ran.output[0] - 2000 // 16) <= 1
    assert abs(ran.end["cycle"] - 5 * 12000) < 500


@pytest.mark.parametrize("held", ["", SPENDS], ids=["briefly", "for 2 ms"])
def test_the_timer_begins_at_0_when_it_leaves_its_reset(tmp_path: Path, held: str) -> None:
    code = UART_ON + CRYSTAL + SPENDS + store(RESETS, TIMER) + held + store(RESETS, 0) + TIME
    code += "    lsrs r0, #4\n" + TOLD + SPENDS + TIME + "    lsrs r0, #4\n" + TOLD
    assert [*run(code + STOP, tmp_path, *SHORT).output] == [0, 2000 // 16]


def test_an_alarm_that_was_set_while_the_timer_was_in_reset_is_not_armed(tmp_path: Path) -> None:
    code = UART_ON + CRYSTAL + store(RESETS, TIMER) + store(0x40054010, 500) + store(RESETS, 0)
    code += "    ldr r1, =0x40054000\n    ldr r0, [r1, #0x20]\n" + TOLD
    assert run(code + STOP, tmp_path, *SHORT).output == b"\0"


def test_an_alarm_that_is_taken_back_does_not_go_off(tmp_path: Path) -> None:
    """A one to ARMED (4.6.5); before that it reads as armed."""
    code = UART_ON + CRYSTAL + store(0x40054014, 1000)
    code += "    ldr r1, =0x40054000\n    ldr r0, [r1, #0x20]\n" + TOLD
    code += store(0x40054020, 2) + SPENDS + "    ldr r1, =0x40054000\n    ldr r0, [r1, #0x20]\n" + TOLD
    code += "    ldr r1, =0x40054000\n    ldr r0, [r1, #0x34]\n" + TOLD
    assert run(code + STOP, tmp_path, *SHORT).output == b"\2\0\0"
