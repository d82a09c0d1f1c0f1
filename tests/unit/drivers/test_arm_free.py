"""Free runs of the ARM driver: ends, stack, the line's pace, notes and a pseudo-terminal."""

from __future__ import annotations

import json
import os
import subprocess
import time
from pathlib import Path

import pytest
from arm_assembly import (
    AT,
    ENTRY,
    FREE,
    PRELUDE_CYCLES,
    PRELUDE_INSTRUCTIONS,
    STOP,
    TOLD,
    VECTORS,
    assemble,
    options,
    run,
)
from driver_runs import ended
from natively import ended_in_time

from motecrypt.build.toolchain.drivers import driver
from motecrypt.simulate.emulate.images import ARM, Segment, elf_of
from tool_sets import needs_tool_set

pytestmark = needs_tool_set("pico")


#: The UART on at 6.5 MHz and 115,207 baud: as many cycles a byte as ten bits take, 564.
UART_ON = (
    "    movs r0, #3\n    str r0, [r4, #0x24]\n    movs r0, #34\n    str r0, [r4, #0x28]\n"
    "    ldr r0, =0x301\n    str r0, [r4, #0x30]\n"
)
BYTE = int(10.0 * 6.5e6 / (4 * 6.5e6 / (3 * 64 + 34)))
SEND = "    movs r0, #'{0}'\n    str r0, [r4]\n"


def test_a_free_run_ends_as_it_is_told(tmp_path: Path) -> None:
    ran = run(STOP, tmp_path, *FREE)
    ended(ran, 0, "stop", "it has ended: an empty loop with interrupts off")
    assert ran.end["stack"] == 0 and ran.end["clock_hz"] == 6500000
    assert ran.end["cycle"] == PRELUDE_CYCLES + 1 + 2 + 2 * (
        ran.end["instructions"] - PRELUDE_INSTRUCTIONS - 2
    )
    assert ran.end["seconds"] == pytest.approx(ran.end["cycle"] / 6.5e6, abs=1e-6)
    ran = run("    b .\n", tmp_path, *FREE)
    ended(ran, 0, "limit", "time limit reached")
    # It looks at the time at its first block and each millisecond of 6500 cycles from there.
    assert (ran.end["cycle"], ran.end["pc"]) == (PRELUDE_CYCLES + 2 + 65000, AT)
    twice = run("    b .\n", tmp_path, "--free", "--max-seconds", "0.02")
    assert twice.end["cycle"] - ran.end["cycle"] == pytest.approx(65000, abs=10)
    ran = run("    udf #0\n", tmp_path, *FREE)
    assert (ran.code, ran.end["event"]) == (3, "fault") and "kind" not in ran.end
    ran = run("".join(map(SEND.format, "abcd")) + STOP, tmp_path, *FREE, "--until", "bc")
    ended(ran, 0, "until", "found the --until text")
    assert ran.output == b"abc"
    ran = run("".join(map(SEND.format, "abcd")) + STOP, tmp_path, *FREE, "--max-output", "2")
    ended(ran, 0, "flood", "more than 2 bytes came from the UART")
    assert ran.output == b"abc"
    ran = run(SEND.format("a") + STOP, tmp_path, *FREE, "--stamps")
    assert ran.output == b"     0.000001  a"
    bare = run(STOP, tmp_path, *FREE, "--bare")
    assert bare.end["event"] == "limit" and bare.end["stack"] == 0


def test_the_deepest_stack_of_a_free_run(tmp_path: Path) -> None:
    for code, deepest in (
        ("    push {r0-r3}\n    pop {r0-r3}\n    push {r0}\n", 16),
        (
            "    push {r0}\n    b over\nover:\n    push {r0, r1}\n    pop {r0}\n    b more\n"
            "more:\n    push {r0}\n    sub sp, #4\n",
            16,
        ),
        ("    sub sp, #508\n    add sp, #508\n", 508),
        ("    mov r0, sp\n    subs r0, #100\n    mov sp, r0\n    b over\nover:\n    push {r0}\n", 104),
        ("    bl f\n    b g\nf:\n    push {r4, lr}\n    pop {r4, pc}\ng:\n    push {r0}\n", 8),
        # Three times deeper by a block that has run before.
        (
            "    movs r1, #0\n    b again\nagain:\n    mov r0, sp\n    subs r0, r1\n    mov sp, r0\n"
            "    b over\n"
            "over:\n    push {r0}\n    pop {r0}\n    adds r1, #40\n    cmp r1, #120\n"
            "    bne again\n",
            0 + 40 + 80 + 4,
        ),
        ("", 0),
    ):
        assert run(code + "    b last\nlast:\n" + STOP, tmp_path, *FREE).end["stack"] == deepest, code


def test_a_byte_goes_at_the_lines_pace(tmp_path: Path) -> None:
    flags = "    ldr r0, [r4, #0x18]\n    ldr r1, =0x14000030\n    nop\n"
    code = (
        UART_ON
        + "    ldr r0, [r4, #0x18]\n    strb r0, [r2]\n"
        + SEND.format("a")
        + "    ldr r0, [r4, #0x18]\n    strb r0, [r2, #1]\n"
    )
    code += (
        SEND.format("b")
        + "    ldr r0, [r4, #0x18]\n    strb r0, [r2, #2]\n"
        + "".join(SEND.format("c") for _ in range(30))
    )
    code += "    ldr r0, [r4, #0x18]\n    strb r0, [r2, #3]\n" + SEND.format("d") + SEND.format("e")
    code += "    ldr r0, [r4, #0x18]\n    strb r0, [r2, #4]\n" + flags
    count = (
        "    movs r1, #0\nidle:\n    adds r1, #1\n    ldr r0, [r4, #0x18]\n    lsrs r0, #4\n    bcs idle\n"
    )
    told = "".join(f"    ldrb r0, [r2, #{n}]\n    str r0, [r4]\n" for n in range(5))
    told += (
        "    strh r1, [r2]\n    ldrb r0, [r2]\n    str r0, [r4]\n    ldrb r0, [r2, #1]\n    str r0, [r4]\n"
    )
    ran = run(code + count + told + STOP, tmp_path, *FREE)
    *flags_seen, low, high = ran.output[34:]
    idle, waiting = 0x90, 0x10
    assert flags_seen == [idle, idle | 0x08, waiting | 0x08, waiting | 0x08, waiting | 0x28]
    # 34 bytes leave in 34 times ten bits; each look takes 1 + 2 + 1 + 1 + 1 cycles.
    assert abs((low | high << 8) * 6 - 34 * BYTE) < 300


def test_input_comes_at_the_lines_pace(tmp_path: Path) -> None:
    echo = (
        UART_ON + "    movs r3, #0\nagain:\n    adds r3, #1\n    ldr r0, [r4, #0x18]\n    lsls r0, #27\n"
        "    bmi again\n    ldr r0, [r4]\n    str r0, [r4]\n    b again\n"
    )
    ran = run(
        echo, tmp_path, "--free", "--max-seconds", "1", "--input", "--until", "z", given=b"a" * 99 + b"z"
    )
    ended(ran, 0, "until", "found the --until text")
    assert ran.output == b"a" * 99 + b"z"
    assert 99 * BYTE < ran.end["cycle"] < 6500 * 2 + 101 * BYTE
    empty = UART_ON + "    ldr r0, [r4]\n    adds r0, #'a'\n" + TOLD + STOP
    assert run(empty, tmp_path, *FREE, "--input", given=b"xyz").output == b"a"
    assert run(echo, tmp_path, *FREE, given=b"xyz").output == b"", "only when it is asked for"
    off = echo.replace("ldr r0, =0x301", "ldr r0, =0x300")
    assert run(off, tmp_path, *FREE, "--input", given=b"xyz").output == b"", "its receiver is off"


NOTED = [
    (0x40038000, 0x4003BFFC, "UART1: not modelled; nothing is sent or received", True),
    (0x4003C000, 0x40043FFC, "SPI: not modelled; its registers only keep what is written", True),
    (0x40044000, 0x4004BFFC, "I2C: not modelled; its registers only keep what is written", True),
    (0x40050000, 0x40053FFC, "PWM: not modelled; its registers only keep what is written", True),
    (0x50200000, 0x503FFFFC, "PIO: not modelled; its registers only keep what is written", True),
    (0x4005C000, 0x4005FFFC, "RTC: not modelled; its registers only keep what is written", True),
    (
        0xD0000080,
        0xD00000FC,
        "the interpolators: not modelled; their registers only keep what is written",
        True,
    ),
]


@pytest.mark.parametrize(
    ("first", "last", "what", "by_reading"), NOTED, ids=[n[2].split(":")[0] for n in NOTED]
)
def test_what_is_not_modelled_is_said_once(
    tmp_path: Path, first: int, last: int, what: str, by_reading: bool
) -> None:
    def noted(code: str) -> list[str]:
        return [e["detail"] for e in run(code + STOP, tmp_path, *FREE).events if e["event"] == "note"]

    both = (
        f"    ldr r0, ={first}\n    str r5, [r0]\n    ldr r0, ={last}\n    str r5, [r0]\n    str r5, [r0]\n"
    )
    assert noted(both) == [what]
    assert noted(f"    ldr r0, ={last}\n    str r5, [r0]\n") == [what]
    assert noted(f"    ldr r0, ={last}\n    strb r5, [r0, #3]\n") == [what]
    read = f"    ldr r0, ={first}\n    ldr r1, [r0]\n"
    assert noted(read) == ([what] if by_reading else [])
    outside = f"    ldr r0, ={first - 4}\n    ldr r1, [r0]\n    ldr r0, ={last + 4}\n    ldr r1, [r0]\n"
    assert what not in noted(outside)
    if first >> 28 == 4:
        assert noted(f"    ldr r0, ={first & ~0x3000 | 0x2000 | first & 0xFFF}\n    str r5, [r0]\n") == [what]


def test_a_note_has_its_time(tmp_path: Path) -> None:
    ran = run("    ldr r0, =0x40044000\n    str r5, [r0]\n" + STOP, tmp_path, *FREE)
    assert ran.events[0] == {"event": "note", "detail": NOTED[2][2], "cycle": ran.events[0]["cycle"]}
    assert abs(ran.events[0]["cycle"] - PRELUDE_CYCLES - 4) <= 4


def test_a_pseudo_terminal_in_real_time(tmp_path: Path) -> None:
    echo = (
        UART_ON + "again:\n    ldr r0, [r4, #0x18]\n    lsls r0, #27\n    bmi again\n    ldr r0, [r4]\n"
        "    adds r0, #1\n    str r0, [r4]\n    b again\n"
    )
    (tmp_path / "f.elf").write_bytes(elf_of([Segment(VECTORS, assemble(echo, tmp_path))], ARM, ENTRY | 1))
    command = [driver("arm"), *options(), "--free", "--real", "--pty", "pty", tmp_path / "f.elf"]
    running = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    with ended_in_time(running):
        assert running.stderr is not None
        port = json.loads(running.stderr.readline())
        assert port["event"] == "port"
        terminal = os.open(port["detail"], os.O_RDWR | os.O_NOCTTY)
        started = time.monotonic()
        time.sleep(0.2)
        os.write(terminal, b"HAL")
        got = b""
        while len(got) < 3 and time.monotonic() < started + 20:
            got += os.read(terminal, 3)
        assert got == b"IBM"
        running.terminate()
        _, said = running.communicate(timeout=20)
        passed = time.monotonic() - started
        os.close(terminal)
    end = json.loads(said.decode().splitlines()[-1])
    assert (end["event"], end["detail"], running.returncode) == ("stopped", "stopped by a signal", 0)
    assert end["seconds"] < passed + 5, "it is not ahead of the wall clock"
