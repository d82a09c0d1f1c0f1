"""The AVR driver's line in a free run: the pace of bytes, stamps, and limits of the output."""

from __future__ import annotations

from pathlib import Path

import pytest
from avr_snippets import SHORT, STOP, UART, avr_run, outcome
from driver_runs import ended

from motecrypt.build.toolchain.drivers import driver
from tool_sets import needs_tool_set

pytestmark = needs_tool_set("avr")


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
    ended(ran, 0, "until", "found the --until text")
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
        ended(ran, 0, "until", "found the --until text")
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
