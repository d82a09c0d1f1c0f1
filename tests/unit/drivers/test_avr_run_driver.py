"""The AVR driver of free runs by itself: its options, its line, the board around the chip, its ends."""

from __future__ import annotations

import json
import os
import select
import subprocess
import time
from pathlib import Path

import pytest
from avr_snippets import CHIP, STOP, UART, Outcome, assemble, avr_run, outcome
from natively import ended_in_time

from kits import needs_kit
from motecrypt.toolchain.drivers import driver

pytestmark = needs_kit("avr")

LOOP = b"\xff\xcf"  # to itself, interrupts off
RUNS = b"\x78\x94\xff\xcf"  # the same with interrupts on: one cycle, then two each
BEYOND = "    nop\n    ldi r26, 0\n    ldi r27, 9\n    st X, r16\n    nop\n    nop\n"  # of its RAM
SHORT = ("--max-cycles", "200000")


def ended(ran: Outcome, code: int, event: str, detail: str) -> None:
    assert (ran.code, ran.end["event"], ran.end["detail"]) == (code, event, detail)


def words(*values: int) -> bytes:
    return b"".join(value.to_bytes(2, "little") for value in values)


# --- the command line ------------------------------------------------------------------------------------


def test_what_cannot_be_run_is_said(tmp_path: Path) -> None:
    (tmp_path / "image").write_bytes(LOOP)
    (tmp_path / "empty").touch()
    image = ("--image", tmp_path / "image")
    needs = "avr_run: needs --image, --clock and open events"
    for arguments, said in (
        ((*CHIP, *image, "--nonesuch", "1"), "avr_run: unknown option: --nonesuch"),
        ((*CHIP, *image, "nonesuch"), "avr_run: unknown option: nonesuch"),
        (CHIP, needs),
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
    """The watchdog's, after 16 ms; what lies at 0 is not run."""
    code = "    rjmp other\n    .org 0x80\n" + UART + "    ldi r24, 'y'\n    rcall send\n"
    code += "    ldi r17, 0x18\n    ldi r16, 8\n    sts 0x60, r17\n    sts 0x60, r16\nfor_ever:\n    nop\n"
    code += "    rjmp for_ever\nother:\n    ldi r24, 'x'\n    rcall send\n" + STOP
    most = ("--max-cycles", "1000000")
    assert avr_run(code, tmp_path, *most, "--start", "0x80", "--until", "yy").output == b"yy"


# --- how runs end ----------------------------------------------------------------------------------------


def test_ends(tmp_path: Path) -> None:
    ran = avr_run(b"\0\0" + LOOP, tmp_path)
    ended(ran, 0, "stop", "it has ended: an empty loop with interrupts off")
    assert ran.events == [
        {**ran.end, "event": "stop", "cycle": 3, "pc": 2, "stack": 0, "interrupts": 0, "resets": 0}
    ]
    for most in (1, 16000, 16001, 20001):
        ran = avr_run(RUNS, tmp_path, "--max-cycles", str(most))
        ended(ran, 0, "limit", "the time is over")
        assert most <= ran.end["cycle"] <= most + 1 and ran.end["pc"] == 2
    ran = avr_run("    cli\n    ldi r16, 1\n    out 0x33, r16\n    sleep\n    nop\n", tmp_path)
    ended(ran, 0, "sleep", "it sleeps with interrupts off")
    ran = avr_run(BEYOND, tmp_path)
    ended(ran, 3, "fault", "the firmware crashed at 0x6 (no such instruction, or beyond the flash)")
    assert avr_run(RUNS, tmp_path, "--max-cycles", "0x4e21").end["cycle"] == 20001


def test_a_bare_run_looks_at_nothing_but_its_time(tmp_path: Path) -> None:
    ran = avr_run(LOOP, tmp_path, "--bare", "--max-cycles", "20000")
    ended(ran, 0, "limit", "the time is over")
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
        assert avr_run(push, tmp_path, "--data-end", str(0x8FD), *more).end["event"] == "stop"
        ran = avr_run(push, tmp_path, "--data-end", str(0x8FE), *more)
        detail = "the stack ran into the data: stack pointer 0x8fd, data end at 0x8fe, at 0x2"
        ended(ran, 3, "fault", detail)


# --- the line --------------------------------------------------------------------------------------------


def line_settings(control_a: int, control_b: int, control_c: int, divisor: int) -> str:
    return f"""
    ldi r24, {control_a}
    sts 0xC0, r24
    ldi r24, {control_c}
    sts 0xC2, r24
    ldi r24, {divisor >> 8}
    sts 0xC5, r24
    ldi r24, {divisor & 255}
    sts 0xC4, r24
    ldi r24, {control_b}
    sts 0xC1, r24
"""


SENDS = """
    rjmp on
send:
    lds r25, 0xC0
    sbrs r25, 5
    rjmp send
    sts 0xC6, r24
    ret
on:
    ldi r20, 40
more:
    ldi r24, 'a'
    rcall send
    dec r20
    brne more
    ldi r24, 'z'
    rcall send
"""


@pytest.mark.parametrize(
    ("a", "c", "divisor", "bit", "bits"),
    [
        (2, 0x06, 16, 8 * 17, 10),
        (0, 0x06, 16, 16 * 17, 10),
        (2, 0x26, 16, 8 * 17, 11),  # parity
        (2, 0x0E, 16, 8 * 17, 11),  # two stop bits
        (2, 0x00, 16, 8 * 17, 7),
        (2, 0x02, 16, 8 * 17, 8),
        (2, 0x04, 16, 8 * 17, 9),
        (2, 0x2C, 16, 8 * 17, 11),
        (2, 0x06, 0x103, 8 * 0x104, 10),
        (2, 0x06, 0x200, 8 * 0x201, 10),
    ],
)
def test_a_byte_takes_its_bits(tmp_path: Path, a: int, c: int, divisor: int, bit: int, bits: int) -> None:
    code = line_settings(a, 0x08, c, divisor) + SENDS + STOP
    ran = avr_run(code, tmp_path, "--until", "z", "--max-cycles", "9000000")
    ended(ran, 0, "until", "the text has come")
    assert ran.output == b"a" * 40 + b"z"
    # Two bytes are buffered: the last leaves the buffer about 39 bytes after the first.
    assert abs(ran.end["cycle"] / (bit * bits) - 40) < 1.6


ECHO = (
    "again:\n    lds r25, 0xC0\n    sbrs r25, 7\n    rjmp again\n    lds r24, 0xC6\n"
    "    rcall send\n    rjmp again\n"
)


def test_input_comes_at_the_pace_of_the_line(tmp_path: Path) -> None:
    code = (
        UART
        + "    ldi r24, 6\n    sts 0xC2, r24\n    ldi r24, {divisor}\n    sts 0xC4, r24\n    sei\n"
        + ECHO
    )
    for divisor, byte in ((16, 1360), (67, 5440)):
        given = b"a" * 99 + b"z"
        until = ("--input", "--until", "z", "--max-cycles", "9000000")
        ran = avr_run(code.format(divisor=divisor), tmp_path, *until, given=given)
        ended(ran, 0, "until", "the text has come")
        assert ran.output == given
        assert 99 * byte < ran.end["cycle"] < 16000 + 103 * byte
    assert avr_run(code.format(divisor=16), tmp_path, *SHORT, given=b"abc").output == b"", (
        "only when it is asked for"
    )


def test_input_waits_for_the_receiver_and_is_lost_when_it_goes(tmp_path: Path) -> None:
    wait = "    ldi r18, 100\nb:\n    ldi r19, 250\na:\n    dec r19\n    brne a\n    dec r18\n    brne b\n"
    late = UART.replace("ldi r24, 0x18", "ldi r24, 0x08") + "    sei\n" + wait
    ran = avr_run(
        late + "    ldi r24, 0x18\n    sts UCSR0B, r24\n" + ECHO, tmp_path, "--input", *SHORT, given=b"abc"
    )
    assert ran.output == b"abc"
    gone = (
        UART + "    sei\n    ldi r20, 3\nmore:\n    rcall take\n    rcall send\n    dec r20\n    brne more\n"
    )
    gone += (
        "    ldi r24, 0x08\n    sts UCSR0B, r24\n" + wait + "    ldi r24, 0x18\n    sts UCSR0B, r24\n" + ECHO
    )
    ran = avr_run(gone, tmp_path, "--input", *SHORT, given=b"abcdefgh")
    assert ran.output.startswith(b"abc") and not {*b"fgh"} & {*ran.output}


def test_stamps_and_limits_of_output(tmp_path: Path) -> None:
    code = UART + "    ldi r24, 10\nmore:\n    rcall send\n    rjmp more\n"
    ran = avr_run(code, tmp_path, "--stamps", "--max-output", "3")
    ended(ran, 0, "flood", "more than 3 bytes came from the UART")
    stamps = [float(line) for line in ran.output.decode().splitlines()]
    assert len(stamps) == 4 and all(0 < stamp < 0.0001 for stamp in stamps)
    assert ran.end["cycle"] < 1000, "at once, not when the millisecond ends"
    half = outcome(
        [
            driver("avr_run"),
            "--mcu",
            "atmega328p",
            "--clock",
            "8000000",
            "--image",
            tmp_path / "image",
            "--stamps",
            "--max-output",
            "3",
        ]
    )
    assert [float(line) for line in half.output.decode().splitlines()][3] == pytest.approx(
        2 * stamps[3], abs=2e-6
    )


# --- the board -------------------------------------------------------------------------------------------

READ_EEPROM = (
    "    ldi r26, {low}\n    ldi r27, {high}\n    out 0x21, r26\n    out 0x22, r27\n"
    "    sbi 0x1f, 0\n    in r24, 0x20\n    rcall send\n"
)
WRITE_EEPROM = """
    ldi r26, {low}
    ldi r27, {high}
    out 0x21, r26
    out 0x22, r27
    ldi r24, {value}
    out 0x20, r24
    sbi 0x1f, 2
    sbi 0x1f, 1
busy{n}:
    sbic 0x1f, 1
    rjmp busy{n}
"""


def test_the_eeprom_is_what_its_file_says_and_keeps_what_is_written(tmp_path: Path) -> None:
    code = UART
    for at in (0, 1, 1023):
        code += READ_EEPROM.format(low=at & 255, high=at >> 8)
    code += WRITE_EEPROM.format(low=2, high=0, value=0x77, n=1) + WRITE_EEPROM.format(
        low=255, high=3, value=0x78, n=2
    )
    code += STOP
    assert avr_run(code, tmp_path).output == b"\xff\xff\xff"
    (tmp_path / "data").write_bytes(b"\x12\x34")
    assert avr_run(code, tmp_path, "--data", tmp_path / "data").output == b"\x12\x34\xff"
    kept = tmp_path / "eeprom"
    ran = avr_run(code, tmp_path, "--data", tmp_path / "data", "--eeprom", kept)
    assert ran.output == b"\x12\x34\xff", "what is not there gets ours"
    assert kept.read_bytes() == b"\x12\x34\x77" + b"\xff" * 1020 + b"\x78"
    assert kept.stat().st_mode & 0o777 == 0o600
    (tmp_path / "data").write_bytes(b"\x99")
    ran = avr_run(code, tmp_path, "--data", tmp_path / "data", "--eeprom", kept)
    assert ran.output == b"\x12\x34\x78", "what is there counts"
    kept.write_bytes(bytes(1023))
    ran = avr_run(code, tmp_path, "--eeprom", kept)
    assert (ran.code, ran.said) == (2, [f"avr_run: cannot be read as this chip's EEPROM: {kept}"])
    ran = avr_run(code, tmp_path, "--eeprom", "/dev/full")
    assert (ran.code, ran.said) == (2, ["avr_run: cannot be written: /dev/full"])


def test_what_is_written_last_is_kept(tmp_path: Path) -> None:
    code = (
        UART + WRITE_EEPROM.format(low=7, high=0, value=0x55, n=1).split("busy1")[0] + "    nop\n" * 8 + STOP
    )
    assert avr_run(code, tmp_path, "--eeprom", tmp_path / "kept").end["event"] == "stop"
    assert (tmp_path / "kept").read_bytes() == b"\xff" * 7 + b"\x55" + b"\xff" * 1016


def test_an_eeprom_is_written_while_it_runs(tmp_path: Path) -> None:
    kept = tmp_path / "eeprom"
    code = UART + WRITE_EEPROM.format(low=0, high=0, value=0x77, n=1)
    code += "    ldi r16, 1\n    sts 0x66, r16\n    sei\n    rjmp .-2\n"
    reader, writer = os.pipe()
    command = [driver("avr_run"), *CHIP, "--image", tmp_path / "image", "--eeprom", kept, "--real"]
    (tmp_path / "notes").write_text("touched\t0x66:0xFF:any\n")
    command += ["--notes", tmp_path / "notes"]
    (tmp_path / "image").write_bytes(assemble(code, tmp_path))
    started = time.monotonic()
    running = subprocess.Popen(command, stdin=reader, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    with ended_in_time(running):
        assert running.stderr is not None
        assert json.loads(running.stderr.readline())["event"] == "note", "at once"
        ends = time.monotonic() + 20
        while time.monotonic() < ends and not (kept.exists() and kept.read_bytes()[:1] == b"\x77"):
            time.sleep(0.01)
        assert kept.read_bytes() == b"\x77" + b"\xff" * 1023
        time.sleep(0.3)
        running.terminate()
        _, said = running.communicate(timeout=20)
        passed = time.monotonic() - started
    os.close(reader)
    os.close(writer)
    end = json.loads(said.decode().splitlines()[-1])
    assert (end["event"], end["detail"], running.returncode) == ("stopped", "stopped by a signal", 0)
    assert end["cycle"] / 16e6 <= passed + 0.01, "never ahead of the wall clock"


ADC = """
    ldi r24, 0x40
    sts 0x7C, r24
    ldi r24, {start}
    sts 0x7A, r24
wait:
    lds r24, 0x7A
    sbrc r24, 6
    rjmp wait
    lds r24, 0x78
    rcall send
    lds r24, 0x79
    rcall send
"""


@pytest.mark.parametrize(("millivolts", "value"), [(0, 0), (1000, 204), (2500, 511), (5000, 1023)])
def test_the_analogue_inputs(tmp_path: Path, millivolts: int, value: int) -> None:
    for channel in (0x40, 0x47):
        code = UART + ADC.format(start=0xC7).replace("0x40", hex(channel)) + STOP
        ran = avr_run(code, tmp_path, "--adc", str(millivolts), "--max-cycles", "100000")
        assert abs(int.from_bytes(ran.output, "little") - value) <= 1
        assert [e["event"] for e in ran.events] == ["stop"]


STORE = "    ldi r16, {1}\n    sts {0}, r16\n"


def noted(folder: Path, lines: str, *stores: tuple[int, int]) -> list[str]:
    """The notes that come of some stores."""
    (folder / "notes").write_text(lines)
    code = "".join(STORE.format(*store) for store in stores)
    ran = avr_run(
        code + "    sei\n    rjmp .-2\n", folder, "--notes", folder / "notes", "--max-cycles", "40000"
    )
    told = [event for event in ran.events if event["event"] == "note"]
    assert all(16000 <= event["cycle"] <= 16010 for event in told)
    return [event["detail"] for event in told]


def test_notes_come_once_where_their_conditions_hold(tmp_path: Path) -> None:
    lines = "bits\t0x66:0x0F:any\nvalue\t0x82:0xC0:0x40\nboth\t0x3E:0xFF:1 0x4A:0x0F:2\n"
    for store, expected in (
        ((0x66, 0xF0), []),
        ((0x66, 0x08), ["bits"]),
        ((0x66, 0x01), ["bits"]),
        ((0x82, 0x3F), []),
        ((0x82, 0x40), ["value"]),
        ((0x82, 0x7F), ["value"]),
        ((0x82, 0xC0), []),
        ((0x67, 0x0F), []),
    ):
        assert noted(tmp_path, lines, store, store) == expected, store
    assert noted(tmp_path, lines, (0x3E, 1)) == noted(tmp_path, lines, (0x4A, 2)) == []
    assert noted(tmp_path, lines, (0x3E, 1), (0x4A, 0xF2)) == ["both"]
    assert noted(tmp_path, lines, (0x4A, 2), (0x3E, 1)) == ["both"]
    assert noted(tmp_path, lines, (0x4A, 3), (0x3E, 1)) == []
    assert noted(tmp_path, lines, (0x82, 0x40), (0x66, 1), (0x66, 2)) == ["bits", "value"], (
        "in the list's order"
    )
    assert noted(tmp_path, "", (0x66, 1)) == []


def test_a_watched_register_works_as_before(tmp_path: Path) -> None:
    (tmp_path / "notes").write_text("line\t0xC1:0x18:any\nother\t0x66:0xFF:any\n")
    code = UART + STORE.format(0x66, 0x5A) + "    lds r24, 0x66\n    rcall send\n    rcall send\n" + STOP
    assert avr_run(code, tmp_path, "--notes", tmp_path / "notes").output == b"ZZ"


@pytest.mark.parametrize(
    ("lines", "good"),
    [
        ("text\t0x20:1:any\n", True),
        ("text\t0x1F:1:any\n", False),
        ("text\t0xFF:1:any\n", True),
        ("text\t0x100:1:any\n", False),
        ("text\n", False),
        ("text\t\n", False),
        ("text 0x66:1:any\n", False),
        ("text\t0x66:1:any 0x67:1:any 0x68:1:any 0x69:1:any\n", True),
        ("text\t0x66:1:any 0x67:1:any 0x68:1:any 0x69:1:any 0x6A:1:1\n", False),
        ("t" * 199 + "\t0x66:1:any\n", True),
        ("t" * 200 + "\t0x66:1:any\n", False),
        ("text\t0x66:1:any\n" * 48, True),
        ("text\t0x66:1:any\n" * 49, False),
        ("".join(f"text\t{n}:1:any {n + 1}:1:any\n" for n in range(0x80, 0xC0, 2)), True),
        ("".join(f"text\t{n}:1:any {n + 1}:1:any\n" for n in range(0x80, 0xC2, 2)), False),
    ],
    ids=lambda value: "",
)
def test_a_list_of_notes_has_its_form(tmp_path: Path, lines: str, good: bool) -> None:
    (tmp_path / "notes").write_text(lines)
    ran = avr_run(LOOP, tmp_path, "--notes", tmp_path / "notes")
    if good:
        assert ran.end["event"] == "stop"
    else:
        assert (ran.code, ran.said) == (2, [f"avr_run: is no list of notes: {tmp_path / 'notes'}"])


@pytest.mark.parametrize(("control", "count", "high"), [(0x81, 0x84, 0x85), (0x45, 0x46, 0), (0xB1, 0xB2, 0)])
def test_a_timer_that_stands_keeps_its_count(tmp_path: Path, control: int, count: int, high: int) -> None:
    read = f"    lds r24, {count}\n    rcall send\n" + (
        f"    lds r24, {high}\n    rcall send\n" if high else ""
    )
    code = UART + f"    ldi r16, 0\n    ldi r17, 1\n    sts {control}, r17\n    nop\n" + "    nop\n" * 300
    code += f"    sts {control}, r16\n" + read + read  # stopped: about 303
    code += f"    sts {control}, r17\n" + "    nop\n" * 8 + f"    sts {control}, r16\n" + read  # and on
    if high:
        code += f"    ldi r18, 2\n    sts {high}, r18\n"
    code += f"    ldi r18, 0x34\n    sts {count}, r18\n" + read + read  # set while it stands
    code += f"    sts {control}, r17\n" + "    nop\n" * 8 + f"    sts {control}, r16\n" + read + STOP
    ran = avr_run(code, tmp_path, "--max-cycles", "100000")
    width = 2 if high else 1
    got = [int.from_bytes(ran.output[n : n + width], "little") for n in range(0, len(ran.output), width)]
    wrap = 65536 if high else 256
    first, second, later, placed, again, last = got
    assert first == second and abs(first - 303 % wrap) <= 2
    assert abs(later - first - 10) <= 2
    assert placed == again == (0x234 if high else 0x34) and abs(last - placed - 10) <= 2


def test_a_running_timer_is_the_chips_own(tmp_path: Path) -> None:
    code = UART + "    ldi r17, 1\n    sts 0x81, r17\n" + "    nop\n" * 700
    code += "    lds r24, 0x84\n    lds r23, 0x85\n    rcall send\n    mov r24, r23\n    rcall send\n" + STOP
    ran = avr_run(code, tmp_path, "--max-cycles", "100000")
    assert abs(int.from_bytes(ran.output, "little") - 702) <= 2
    code = (
        UART
        + "    ldi r17, 1\n    sts 0x81, r17\n    ldi r18, 3\n    sts 0x85, r18\n    sts 0x84, r18\n    nop\n"
    )
    code += "    lds r24, 0x84\n    lds r23, 0x85\n    rcall send\n    mov r24, r23\n    rcall send\n" + STOP
    ran = avr_run(code, tmp_path, "--max-cycles", "100000")
    assert abs(int.from_bytes(ran.output, "little") - 0x303 - 3) <= 2


def test_a_pseudo_terminal_that_is_opened_resets_the_board(tmp_path: Path) -> None:
    # It counts its starts in RAM, which a reset leaves, tells why it started, and waits.
    code = (
        UART + "    lds r24, 0x200\n    inc r24\n    sts 0x200, r24\n    rcall send\n"
        "    in r24, 0x34\n    rcall send\n    sei\n    rjmp .-2\n"
    )
    (tmp_path / "image").write_bytes(assemble(code, tmp_path))
    command = [driver("avr_run"), *CHIP, "--image", tmp_path / "image", "--pty", "pty", "--board", "--real"]
    running = subprocess.Popen(
        [*command, *profile_options(tmp_path, "0 200\n")], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    with ended_in_time(running):
        assert running.stdout is not None and running.stderr is not None
        port = json.loads(running.stderr.readline())
        assert port["event"] == "port"
        first = running.stdout.read(2)
        assert first[0] == 1
        for start in (2, 3):
            told = b""
            while not told:  # once more when it had not seen yet that nobody was there
                terminal = os.open(port["detail"], os.O_RDWR | os.O_NOCTTY)
                if select.select([running.stdout], [], [], 2)[0]:
                    told = running.stdout.read(2)
                    assert told, "it has ended"
                os.close(terminal)
                time.sleep(0.1)
            assert told == bytes([start, 2]), "an external reset"
        running.terminate()
        _, said = running.communicate(timeout=20)
    end = json.loads(said.decode().splitlines()[-1])
    assert (end["event"], end["resets"]) == ("stopped", 2)
    costs = [json.loads(line) for line in (tmp_path / "p").read_text().splitlines()]
    assert sum(cost["c"] for cost in costs if "pc" in cost) == end["cycle"]
    functions = [cost for cost in costs if "function" in cost]
    assert functions[0]["calls"] == 3 and sum(cost["self"] for cost in functions) == end["cycle"]


# --- profiles --------------------------------------------------------------------------------------------


def profile_options(folder: Path, functions: str) -> tuple[str | Path, ...]:
    (folder / "functions").write_text(functions)
    return ("--profile", folder / "p", "--functions", folder / "functions")


def costs(folder: Path) -> tuple[dict[int, dict[str, int]], dict[int, tuple[int, int]]]:
    """Functions by their number, and how often and how long the instruction at each address ran."""
    told = [json.loads(line) for line in (folder / "p").read_text().splitlines()]
    functions = {cost["function"]: cost for cost in told if "function" in cost}
    return functions, {cost["pc"]: (cost["n"], cost["c"]) for cost in told if "pc" in cost}


def test_each_instruction_is_counted_where_it_is(tmp_path: Path) -> None:
    code = """
    ldi r16, 3       ; 0
again:
    rcall work       ; 2
    dec r16          ; 4
    brne again       ; 6
    call far         ; 8
    ldi r30, 16      ; 12: work, in words
    ldi r31, 0       ; 14
    icall            ; 16
    rcall .+0        ; 18: makes room
    pop r0           ; 20
    pop r0           ; 22
    ldi r30, 19      ; 24
    ijmp             ; 26: far, which never returns
    nop              ; 28
    nop              ; 30
work:
    nop              ; 32
    ret              ; 34
    nop              ; 36
far:
    nop              ; 38
    push r0          ; 40
    pop r0           ; 42
    sbrc r16, 0      ; 44
    jmp 32           ; 46
    dec r16          ; 50
    cli              ; 52
    ret              ; 54
"""
    ran = avr_run(code, tmp_path, *profile_options(tmp_path, "0 20\n20 24\n26 38\n"), "--max-cycles", "150")
    functions, counts = costs(tmp_path)
    assert ran.end["event"] in ("limit", "stop", "fault")
    assert counts[0] == (1, 1) and counts[2] == (3, 9) and counts[4] == (3, 3) and counts[6] == (3, 5)
    assert counts[8] == (1, 4) and counts[16] == (1, 3) and counts[18] == (1, 3) and counts[26] == (1, 2)
    root, first, work, far = (functions[n] for n in range(4))
    assert (root["calls"], root["self"], root["inclusive"]) == (1, 37, 85)
    # The last `far` jumps to `work`, which finds no address to return to: 0xFFFF beyond the RAM, the end.
    assert (work["calls"], work["inclusive"], work["self_range"], work["stack"]) == (5, 25, [5, 5, 5], 2)
    assert (far["calls"], far["self"], far["inclusive"], far["stack"]) == (2, 14 + 9, 14 + 9 + 5, 3)
    assert counts[32] == (5, 5) and counts[34] == (5, 20) and counts[40] == (2, 4) and counts[44] == (2, 4)
    assert counts[46] == (1, 3) and counts[54] == (1, 4) and 28 not in counts and 36 not in counts
    assert sum(cycles for _, cycles in counts.values()) == ran.end["cycle"] == 85
    assert (first["calls"], first["self"]) == (1, 0), "where it ended"


def test_rounds_of_a_wait_for_the_eeprom_are_counted_as_if_each_had_been_made(tmp_path: Path) -> None:
    code = "    sbi 0x1f, 2\n    sbi 0x1f, 1\nwait:\n    sbic 0x1f, 1\n    rjmp wait\n" + STOP
    ran = avr_run(code, tmp_path, *profile_options(tmp_path, "0 8\n"))
    functions, counts = costs(tmp_path)
    rounds, cycles = counts[6]
    assert rounds > 10_000 and cycles == 2 * rounds
    assert counts[4] == (rounds + 1, rounds + 2)
    assert sum(cycles for _, cycles in counts.values()) == ran.end["cycle"]
    assert sum(cost["self"] for cost in functions.values()) == ran.end["cycle"]


def test_interrupts_in_a_profile(tmp_path: Path) -> None:
    """Timer 0 overflows every 256 cycles; its handler takes as many cycles as it always does."""
    code = """
    rjmp start
    .org 0x40
    rjmp handler
    .org 0x80
handler:
    nop
    nop
    reti
start:
    ldi r16, 1
    sts 0x6E, r16
    out 0x25, r16
    sei
wait:
    rcall work
    rjmp wait
work:
    nop
    nop
    ret
"""
    end = 0x80 + 6
    functions = f"80 86\n{end:x} {end + 14:x}\n{end + 14:x} {end + 20:x}\n"
    ran = avr_run(code, tmp_path, *profile_options(tmp_path, functions), "--max-cycles", "26000")
    found, counts = costs(tmp_path)
    interrupts = ran.end["interrupts"]
    assert 99 <= interrupts <= 101
    assert found[1]["calls"] == interrupts
    low, middle, high = found[1]["inclusive_range"]  # type: ignore[misc]
    assert (low, middle, high) == (4 + 2 + 2 + 4,) * 3
    assert counts[0x80] == (interrupts, interrupts) and counts[0x40] == (interrupts, 2 * interrupts)
    assert found[3]["inclusive_range"] == [6, 6, 6]
    assert found[3]["stack"] == 2 and found[1]["stack"] == 2
    assert sum(cost["self"] for cost in found.values()) == ran.end["cycle"]
    unprofiled = avr_run(code, tmp_path, "--max-cycles", "26000")
    assert unprofiled.end == ran.end


def test_a_call_that_makes_room_is_stack_and_no_call(tmp_path: Path) -> None:
    code = "    rcall f\n" + STOP + "f:\n    rcall .+0\n    pop r0\n    pop r0\n    ret\n"
    avr_run(code, tmp_path, *profile_options(tmp_path, "6 10\n"))
    functions, _ = costs(tmp_path)
    assert (functions[1]["calls"], functions[1]["stack"]) == (1, 4)
    assert set(functions) == {0, 1}


def test_code_without_symbols_that_jumps_is_one_piece(tmp_path: Path) -> None:
    code = (
        "    rjmp a\n    nop\na:\n    ldi r30, lo8(gs(b))\n    ldi r31, hi8(gs(b))\n    ijmp\n    nop\nb:\n"
        + STOP
    )
    avr_run(code, tmp_path, *profile_options(tmp_path, ""))
    functions, _ = costs(tmp_path)
    assert set(functions) == {0} and functions[0]["calls"] == 1


def test_a_profile_of_the_end_of_the_flash(tmp_path: Path) -> None:
    code = "    rcall f\n    rjmp .+2\nf:\n    ret\n" + STOP
    base = 32768 - 10
    options = profile_options(tmp_path, f"{base + 4:x} {base + 6:x}\n{base + 6:x} {base + 10:x}\n")
    ran = avr_run(code, tmp_path, "--base", str(base), "--start", str(base), *options)
    assert ran.end["event"] == "stop" and ran.end["pc"] == 32766
    functions, counts = costs(tmp_path)
    assert (functions[1]["calls"], functions[1]["inclusive"]) == (1, 4)
    assert (functions[2]["calls"], functions[2]["self"]) == (1, 3)
    assert counts[32766] == (1, 2)
