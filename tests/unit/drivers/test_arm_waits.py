"""Waiting loops on the Pico: skipped, with the same cycles, output and profile as stepped."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from arm_assembly import ENTRY, STOP, assemble, run
from test_arm_free import BYTE, SEND, UART_ON

from tool_sets import needs_tool_set

pytestmark = needs_tool_set("pico")

TICK = "    ldr r3, =0x4005802c\n    ldr r0, =0x206\n    str r0, [r3]\n    ldr r3, =0x40054000\n"
"""The timer counts microseconds of the ring oscillator's 6.5 MHz, 6 cycles each; r3: the timer."""
EMPTY = "{0}:\n    ldr r0, [r4, #0x18]\n    lsls r0, #28\n    bmi {0}\n"
"""Until the UART has sent everything: BUSY is bit 3."""
FULL = "{0}:\n    ldr r0, [r4, #0x18]\n    movs r1, #0x20\n    tst r0, r1\n    bne {0}\n"
CAME = "{0}:\n    ldr r0, [r4, #0x18]\n    lsrs r0, #5\n    bcs {0}\n    ldrb r0, [r4]\n    str r0, [r4]\n"
LATER = (
    "    ldr r1, ={1}\n    ldr r6, [r3, #0x28]\n"
    "{0}:\n    ldr r0, [r3, #0x28]\n    subs r0, r6\n    cmp r0, r1\n    blo {0}\n"
)
HALF_WORD = "    movs r1, #8\n{0}:\n    ldrh r0, [r4, #0x18]\n    ands r0, r1\n    bne {0}\n"
PIECES = (SEND.format("x") * 3, SEND.format("y") * 40, EMPTY, FULL, LATER, HALF_WORD)
LOOP = "{{0}}:\n    ldr r0, [r4, #0x18]\n{0}    lsls r0, #28\n    bmi {{0}}\n{1}"
"""Until BUSY is clear, with something else in each round and after the last one."""
TOLD = "    str r1, [r4]\n"
STEPPED_ONES = (
    # What they change they read: a count, a sum with the carry of the round before, a rotated number; two
    # registers of the chip; a store.
    "    movs r1, #0\n" + LOOP.format("    adds r1, #1\n", TOLD),
    LOOP.format("    adcs r1, r0\n", TOLD),
    LOOP.format("    rors r1, r0\n", TOLD),
    LOOP.format("    ldr r1, [r3, #0x28]\n", TOLD),
    "    mov r1, r2\n" + LOOP.format("    strb r0, [r1]\n", ""),
)


def both(code: str, folder: Path, *more: str, given: bytes = b"") -> int:
    """The same end, output and profile, stepped and not; its cycles."""
    image = assemble(code, folder)
    (folder / "functions").write_text(f"{ENTRY:#x} {ENTRY + 0x1000:#x} f\n")
    told = []
    for flags in ((), ("--stepped",)):
        asked = ("--free", "--max-seconds", "0.2", "--stamps", *more, *flags)
        ran = run(image, folder, *asked, given=given)
        profile = ("--profile", folder / "p", "--functions", folder / "functions")
        profiled = run(image, folder, *asked, *profile, given=given)
        assert profiled.output == ran.output
        told.append((ran.code, ran.output, ran.events, profiled.events, (folder / "p").read_text()))
    assert told[0] == told[1]
    return int(told[0][2][-1]["cycle"])


@pytest.mark.parametrize("bus", [(), ("--bus", "2:3:1")], ids=["plain", "bridge"])
@pytest.mark.parametrize("seed", range(8))
def test_programs_that_wait_are_the_same_stepped_and_not(
    tmp_path: Path, seed: int, bus: tuple[str, ...]
) -> None:
    source = random.Random(seed)
    code = UART_ON + TICK
    for number in range(12):
        piece = source.choice((*PIECES, *STEPPED_ONES))
        code += piece.format(f"l{number}", source.choice((1, 7, 60, 500, 3000)))
        code += "    .ltorg\n".join(["    b n{0}\n", "n{0}:\n"]).format(number)
    assert both(code + STOP, tmp_path, *bus) > 500


def test_what_comes_ends_a_wait_when_it_comes(tmp_path: Path) -> None:
    code = UART_ON + "".join(CAME.format(f"l{n}") for n in range(20)) + STOP
    assert both(code, tmp_path, "--input", given=bytes(range(65, 85))) > 20 * BYTE
    never = UART_ON + CAME.format("l") + STOP
    assert both(never, tmp_path, "--input", given=b"") > 0.2 * 6.5e6


@pytest.mark.parametrize("piece", STEPPED_ONES)
def test_a_loop_that_reads_what_it_changes_is_stepped(tmp_path: Path, piece: str) -> None:
    code = UART_ON + TICK + SEND.format("x") * 5 + "    movs r1, #0\n" + piece.format("l") + STOP
    both(code, tmp_path)


def test_an_hour_of_an_empty_loop_and_of_a_slow_line_take_no_hour(tmp_path: Path) -> None:
    """Stepped, each takes longer than a driver may (driver_runs.DEADLINE_S)."""
    assert run("    b .\n", tmp_path, "--free", "--max-seconds", "3600").end["cycle"] >= 3600 * 6.5e6
    slow = UART_ON.replace("movs r0, #3", "ldr r0, =0xffff")
    sends = (
        f"    ldr r6, =600\nagain:\n{FULL.format('full')}{SEND.format('x')}    subs r6, #1\n    bne again\n"
    )
    ran = run(slow + sends + STOP, tmp_path, "--free", "--max-seconds", "3600")
    assert ran.end["event"] == "stop" and ran.end["cycle"] > 560 * 10 * 16 * 0xFFFF
