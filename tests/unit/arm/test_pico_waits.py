"""Loops that a run of the Pico counts in one step, against a run that steps them; and when a run ends.

Small programs wait for the UART, the converter, an alarm or the other core, with and without contention.
"""

from __future__ import annotations

import resource
from pathlib import Path

import pytest
from pico_assembly import STOP, TOLD, Outcome, launch, run, store
from test_pico_firmware import ALARM, CHIP, CRYSTAL, HANDLER, UART_ON, enable, table

from tool_sets import needs_tool_set

pytestmark = needs_tool_set("pico")
SHORT = (*CHIP[:-1], "0.05")


def starting(does: str) -> str:
    """Core 1 starts, works for 9,000 cycles, and `does` something."""
    works = "core1:\n    ldr r0, =3000\n7:  subs r0, #1\n    bne 7b\n    cpsid i\n    ldr r3, =0xD0000000\n"
    return launch(f"{works}    {does}\n    b .\n") + "    ldr r0, =core1+1\n    bl launch\n"


SENDS = starting("str r0, [r3, #0x54]\n    sev")
RESETS = starting("ldr r1, =0x40058000\n    ldr r0, =0x80000000\n    str r0, [r1]")
SPEAKS = starting("ldr r4, =0x40034000\n    movs r0, #'1'\n    str r0, [r4]")
ONCE = "    ldr r1, =0x40058008\n    ldr r0, [r1]\n    cmp r0, #0\n    beq 1f\n" + STOP + "    .pool\n1:\n"
SLOW_UART = UART_ON.replace("=1\n", "=100\n", 1)
SENT = SLOW_UART + "    movs r0, #'x'\n" + TOLD * 40
ADC_CLOCK = store(0x4002C004, 0) + store(0x4002C008, 100) + store(0x4002C000, 1) + store(0x4002C00C, 0x55000)
ADC_START = CRYSTAL + ADC_CLOCK + store(0x40008064, 0x100) + store(0x4004C000, 5)
FIFO = "    ldr r3, =0xD0000000\n1:  ldr r0, [r3, #0x50]\n    lsrs r0, #1\n    bcc 1b\n"

LOOPS = {
    "UARTRIS": SENT + "1:  ldr r0, [r4, #0x3c]\n    lsrs r0, #6\n    bcc 1b\n",
    "UARTMIS": SENT
    + "    movs r0, #0x20\n    str r0, [r4, #0x38]\n1:  ldr r0, [r4, #0x40]\n    lsrs r0, #6\n    bcc 1b\n",
    "ADC": UART_ON + ADC_START + "    ldr r3, =0x4004C000\n1:  ldr r0, [r3]\n    lsrs r0, #9\n    bcc 1b\n",
    "alarm": UART_ON
    + CRYSTAL
    + ALARM.format(us=777)
    + "1:  ldr r0, [r3, #0x34]\n    lsrs r0, #1\n    bcc 1b\n",
    "core 1's word": UART_ON + SENDS + FIFO,
    "core 1's reset": UART_ON + ONCE + RESETS + "    .align 2\n    b .\n",
}


def same(code: str, folder: Path, *more: str) -> Outcome:
    """The run, which must be that of a stepped one, except how many rounds core 1 has begun at the end."""
    skipped, stepped = (run(code, folder, *SHORT, *more, *how) for how in ((), ("--stepped",)))
    for ran in (skipped, stepped):
        ran.end.pop("instructions_core1")
    assert skipped.output == stepped.output and skipped.events == stepped.events
    return skipped


def test_a_stepped_run_steps(tmp_path: Path) -> None:
    """The other tests compare with it: it must not skip. An empty loop costs it far more processor time."""

    def spent(*how: str) -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        run(UART_ON + CRYSTAL + "    b .\n", tmp_path, *CHIP[:-1], "2", *how)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime - before.ru_utime

    assert spent("--stepped") > 2 * spent()


@pytest.mark.parametrize("contention", [(), ("--contention",)])
@pytest.mark.parametrize("loop", LOOPS)
def test_a_wait_is_as_long_as_stepped(tmp_path: Path, loop: str, contention: tuple[str, ...]) -> None:
    ran = same(LOOPS[loop] + STOP, tmp_path, *contention)
    assert ran.end["event"] == "stop"


def test_a_run_goes_on_until_the_watchdog_resets_the_chip(tmp_path: Path) -> None:
    code = UART_ON + CRYSTAL + ONCE + store(0x40058004, 2000) + store(0x40058000, 1 << 30)
    ran = same(code + STOP, tmp_path)
    assert [event["event"] for event in ran.events][-2:] == ["note", "stop"]
    assert ran.end["cycle"] > 1000 * 12


def test_a_run_goes_on_until_core_1_has_done_its_work(tmp_path: Path) -> None:
    ran = same(UART_ON + SPEAKS + STOP, tmp_path)
    assert ran.output == b"1" and ran.end["event"] == "stop" and ran.end["cycle"] > 9000


def test_a_run_goes_on_until_a_transfer_has_ended(tmp_path: Path) -> None:
    channel = store(0x50000000, 0x10000100) + store(0x50000004, 0x40034000) + store(0x50000008, 45)
    code = SLOW_UART + channel + store(0x5000000C, 1 | 1 << 4 | 20 << 15) + STOP
    ran = same(code, tmp_path)
    assert len(ran.output) == 45 and ran.end["event"] == "stop"


def test_a_core_sleeps_at_less_than_1_khz(tmp_path: Path) -> None:
    code = (
        UART_ON + CRYSTAL + store(0x40008040, 0) + table(alarm=16) + enable(0) + ALARM.format(us=100_000_000)
    )
    ran = run(code + "    wfi\n    movs r0, #'m'\n" + TOLD + STOP + HANDLER, tmp_path, *CHIP[:-1], "1000")
    assert ran.output == b"hm" and ran.end["event"] == "stop"


#: Core 1 sends a word at each tick of SysTick, core 0 says "a" at each alarm; both wait in empty loops.
TABLE_OF_CORE1 = "    ldr r0, =0x20001000\n    ldr r1, =0xE000ED08\n    str r0, [r1]\n"
BOTH = f"    b 8f\n    .pool\n    .align 2\ncore1:\n{TABLE_OF_CORE1}"
BOTH += store(0xE000E014, 4999) + store(0xE000E018, 0) + store(0xE000E010, 7)
BOTH += "    b .\n    .pool\n    .align 2\n8:\n"
TICK = "    .pool\n    .align 2\ntick:\n    ldr r3, =0xD0000000\n    str r0, [r3, #0x54]\n    bx lr\n"
GOT = "got:\n    ldr r3, =0xD0000000\n    ldr r0, [r3, #0x58]\n    movs r0, #'w'\n"
GOT += "    ldr r3, =0x40034000\n    str r0, [r3]\n    bx lr\n    .pool\n    .align 2\n"
AGAIN = "alarm:\n    ldr r3, =0x40054000\n    movs r0, #1\n    str r0, [r3, #0x34]\n"
AGAIN += "    ldr r0, [r3, #0x28]\n    ldr r1, =777\n    adds r0, r1\n    str r0, [r3, #0x10]\n"
AGAIN += "    movs r0, #'a'\n    ldr r3, =0x40034000\n    str r0, [r3]\n    bx lr\n"


def test_two_cores_in_empty_loops_are_interrupted_as_stepped(tmp_path: Path) -> None:
    """By SysTick, by the other core's word, and by an alarm: the same output at the same cycles."""
    code = (
        UART_ON
        + CRYSTAL
        + table(tick=15, got=16 + 15, alarm=16)
        + BOTH
        + launch("")
        + "    ldr r0, =core1+1\n"
    )
    code += "    bl launch\n" + enable(15) + store(0xE000E100, 1) + ALARM.format(us=777) + "    b .\n"
    ran = same(code + TICK + GOT + AGAIN, tmp_path)
    assert ran.output.count(b"w") > 100 and ran.output.count(b"a") > 50
    assert ran.end["event"] == "limit"


def test_two_cores_in_empty_loops_come_to_the_limit_together(tmp_path: Path) -> None:
    """Nothing interrupts them: 0.05 s of slices of a millisecond. Core 1 comes to its loop later."""
    works = "core1:\n    ldr r0, =3000\n7:  subs r0, #1\n    bne 7b\n    b .\n"
    code = launch(works) + "    ldr r0, =core1+1\n    bl launch\n    b .\n"
    ran = same(UART_ON + CRYSTAL + code, tmp_path)
    assert ran.end["event"] == "limit" and 0 <= ran.end["cycle"] - 0.05 * 12e6 < 20_000
