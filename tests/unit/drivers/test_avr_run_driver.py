"""The AVR driver of free runs by itself: its options, where a run starts, and how it ends."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from avr_snippets import CHIP, LOOP, RUNS, SHORT, STOP, UART, assemble, avr_run, outcome, profile_options
from driver_runs import ended

from motecrypt.build.toolchain.drivers import driver
from tool_sets import needs_tool_set

pytestmark = needs_tool_set("avr")
BEYOND = "    nop\n    ldi r26, 0\n    ldi r27, 9\n    st X, r16\n    nop\n    nop\n"  # of its RAM


# --- the command line -----------------------------------------------------------------------------------


def test_what_cannot_be_run_is_said(tmp_path: Path) -> None:
    (tmp_path / "image").write_bytes(LOOP)
    (tmp_path / "empty").touch()
    image = ("--image", tmp_path / "image")
    needs = "avr_run: needs --image, --clock and open events"
    for arguments, said in (
        ((*CHIP, *image, "--nonesuch", "1"), "avr_run: unknown option: --nonesuch"),
        ((*CHIP, *image, "nonesuch"), "avr_run: unknown option: nonesuch"),
        (CHIP, needs),
        ((*CHIP, *image, "--clock"), needs),  # without its value
        (("--mcu", "atmega328p", *image), needs),
        ((*CHIP, *image, "--events", "77"), needs),
        ((*image, "--clock", "1"), "avr_run: libsimavr does not know the chip: "),
        (("--mcu", "z80", "--clock", "1", *image), "avr_run: libsimavr does not know the chip: z80"),
        ((*CHIP, "--image", "none"), "avr_run: cannot be loaded: none"),
        ((*CHIP, "--image", tmp_path / "empty"), f"avr_run: cannot be loaded: {tmp_path / 'empty'}"),
        ((*CHIP, *image, "--base", "32769"), f"avr_run: cannot be loaded: {tmp_path / 'image'}"),
        ((*CHIP, *image, "--data", "none"), "avr_run: cannot be loaded: none"),
        (
            (*CHIP, *image, "--eeprom", tmp_path),
            f"avr_run: cannot be opened as this chip's EEPROM: {tmp_path}",
        ),
        ((*CHIP, *image, "--port", "none"), "avr_run: No such file or directory: none"),
        ((*CHIP, *image, "--pty", tmp_path), f"avr_run: File exists: {tmp_path}"),
        (
            (*CHIP, *image, "--profile", tmp_path / "p", "--functions", "none"),
            "avr_run: cannot be read: none",
        ),
    ):
        ran = outcome([driver("avr_run"), *arguments])
        assert (ran.code, ran.said, ran.events, ran.output) == (2, [said], [], b""), arguments


def test_the_image_lies_where_it_is_told_and_starts_there(tmp_path: Path) -> None:
    send = assemble(UART + "    ldi r24, 'x'\n    rcall send\n" + STOP, tmp_path)
    assert avr_run(send, tmp_path, *SHORT, "--base", "0x7000", "--start", "0x7000").output == b"x"
    assert avr_run(send, tmp_path, *SHORT, "--base", "0x7000").output == b"x", "erased flash is passed over"
    two = "    rjmp one\n    .org 0x80\n" + UART + "    ldi r24, 'y'\n    rcall send\n" + STOP
    two += "one:\n    ldi r24, 'x'\n    rjmp .-2\n"
    assert avr_run(two, tmp_path, *SHORT, "--start", "0x80").output == b"y"
    ran = avr_run(LOOP, tmp_path, *SHORT, "--base", "32766", "--start", "32766")
    assert (ran.end["event"], ran.end["pc"]) == ("stop", 32766)
    ran = avr_run(bytes(32766) + b"\xff\xcf\x00\x00", tmp_path, *SHORT)
    assert (ran.end["event"], ran.end["pc"]) == ("stop", 32766), "what lies beyond is not loaded"


def test_a_reset_leads_to_where_it_starts(tmp_path: Path) -> None:
    """The watchdog's, after 16 ms; what is at 0 is not run."""
    code = "    rjmp other\n    .org 0x80\n" + UART + "    ldi r24, 'y'\n    rcall send\n"
    code += "    ldi r17, 0x18\n    ldi r16, 8\n    sts 0x60, r17\n    sts 0x60, r16\nfor_ever:\n    nop\n"
    code += "    rjmp for_ever\nother:\n    ldi r24, 'x'\n    rcall send\n" + STOP
    most = ("--max-cycles", "1000000")
    assert avr_run(code, tmp_path, *most, "--start", "0x80", "--until", "yy").output == b"yy"


# --- how runs end ---------------------------------------------------------------------------------------


def test_ends(tmp_path: Path) -> None:
    ran = avr_run(b"\0\0" + LOOP, tmp_path)
    ended(ran, 0, "stop", "it has ended: an empty loop with interrupts off")
    assert ran.events == [
        {**ran.end, "event": "stop", "cycle": 3, "pc": 2, "stack": 0, "interrupts": 0, "resets": 0}
    ]
    for most in (1, 16000, 16001, 20001):
        ran = avr_run(RUNS, tmp_path, "--max-cycles", str(most))
        ended(ran, 0, "limit", "time limit reached")
        assert most <= ran.end["cycle"] <= most + 1 and ran.end["pc"] == 2
    ran = avr_run("    cli\n    ldi r16, 1\n    out 0x33, r16\n    sleep\n    nop\n", tmp_path)
    ended(ran, 0, "sleep", "it sleeps with interrupts off")
    for profiled in (False, True):
        more = profile_options(tmp_path, "0 8\n") if profiled else ()
        ran = avr_run(BEYOND, tmp_path, *more)
        ended(ran, 3, "fault", "the firmware crashed at 0x6")
        assert ran.said == []
        ran = avr_run("    cli\n    ldi r16, 1\n    out 0x33, r16\n    sleep\n    nop\n", tmp_path, *more)
        ended(ran, 0, "sleep", "it sleeps with interrupts off")
        ran = avr_run(RUNS, tmp_path, "--max-cycles", "20001", *more)
        assert (ran.end["event"], ran.end["cycle"]) == ("limit", 20001)
    assert avr_run(RUNS, tmp_path, "--max-cycles", "0x4e21").end["cycle"] == 20001


def test_a_sleep_that_nothing_ends_lasts_as_long_as_the_run(tmp_path: Path) -> None:
    """Nor is it taken for a loop that waits, though one follows it."""
    code = "    ldi r16, 1\n    out 0x33, r16\n    sei\n    sleep\n1:  rjmp 1b\n"
    for more in ((), ("--bare",), profile_options(tmp_path, "0 8\n")):
        ran = avr_run(code, tmp_path, "--max-cycles", "20001", *more)
        ended(ran, 0, "limit", "time limit reached")
        assert (ran.end["cycle"], ran.end["pc"], ran.end["waited"]) == (20001, 8, 0), more


def test_output_that_nobody_takes_ends_it_quietly(tmp_path: Path) -> None:
    (tmp_path / "image").write_bytes(assemble(UART + "1:  rcall send\n    rjmp 1b\n", tmp_path))
    command = [driver("avr_run"), *CHIP, "--image", tmp_path / "image", *SHORT]
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, stdout=writer, stderr=subprocess.PIPE, timeout=40, check=False
    )
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_bare_run_looks_at_nothing_but_its_time(tmp_path: Path) -> None:
    ran = avr_run(LOOP, tmp_path, "--bare", "--max-cycles", "20000")
    ended(ran, 0, "limit", "time limit reached")
    assert (ran.end["cycle"], ran.end["stack"]) == (20000, 0)
    ran = avr_run(BEYOND, tmp_path, "--bare")
    assert ran.code == 3 and "the firmware crashed at 0x" in ran.end["detail"]


def test_an_empty_loop_may_wait_for_the_watchdog(tmp_path: Path) -> None:
    code = "    cli\n    ldi r16, {bits}\n    ldi r17, 0x18\n    sts 0x60, r17\n    sts 0x60, r16\n"
    code += "    ldi r18, 40\nb:\n    ldi r19, 250\na:\n    dec r19\n    brne a\n    dec r18\n    brne b\n"
    for bits, event in ((0x0E, "limit"), (0x00, "stop"), (0x46, "limit"), (0x27, "stop"), (0x80, "stop")):
        ran = avr_run(code.format(bits=bits) + "    rjmp .-2\n", tmp_path, *SHORT)
        assert ran.end["event"] == event, bits


def test_the_deepest_stack(tmp_path: Path) -> None:
    code = "    push r0\n    push r0\n    push r0\n    pop r0\n    pop r0\n    pop r0\n"
    code += (
        "    in r28, 0x3d\n    in r29, 0x3e\n    sbiw r28, {frame}\n    out 0x3e, r29\n    out 0x3d, r28\n"
        + STOP
    )
    for frame, deepest in ((0, 3), (3, 3), (4, 4), (40, 40)):
        assert avr_run(code.format(frame=frame), tmp_path).end["stack"] == deepest
    crossing = "    ldi r28, 0x10\n    ldi r29, 8\n    out 0x3e, r29\n    out 0x3d, r28\n" + code.format(
        frame=40
    )
    assert avr_run(crossing, tmp_path).end["stack"] == 0x8FF - 0x810 + 40
    for profiled in (False, True):
        more = profile_options(tmp_path, "0 8\n") if profiled else ()
        push = "    push r0\n    push r0\n" + STOP
        pushless = avr_run("    nop\n" + STOP, tmp_path, "--data-end", "0x900", *more)
        assert pushless.end["event"] == "stop", "it has not moved"
        assert avr_run(push, tmp_path, "--data-end", str(0x8FD), *more).end["event"] == "stop"
        ran = avr_run(push, tmp_path, "--data-end", str(0x8FE), *more)
        detail = "the stack ran into the data: stack pointer 0x8fd, data end at 0x8fe, at 0x2"
        ended(ran, 3, "fault", detail)
