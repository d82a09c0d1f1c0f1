"""The board around the chip in a free run of the AVR: EEPROM, analogue inputs, notes, timers, its port."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import time
from pathlib import Path

import pytest
from avr_snippets import CHIP, LOOP, RUNS, SHORT, STOP, UART, assemble, avr_run, profile_options
from natively import ended_in_time

from motecrypt.build.toolchain.drivers import driver
from tool_sets import needs_tool_set

pytestmark = needs_tool_set("avr")

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
    for other in (bytes(1023), bytes(1025), b":10000000" + bytes(2900)):  # the last as Arduino's .eep files
        kept.write_bytes(other)
        ran = avr_run(code, tmp_path, "--eeprom", kept)
        told = "is not this chip's EEPROM byte for byte; give such a copy, or the name of a new file"
        assert (ran.code, ran.said) == (2, [f"avr_run: {told}: {kept}"])
        assert kept.read_bytes() == other
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


@pytest.mark.parametrize(
    ("millivolts", "value"), [(0, 0), (5, 1), (1000, 204), (2500, 511), (4999, 1022), (5000, 1023)]
)
def test_the_analogue_inputs(tmp_path: Path, millivolts: int, value: int) -> None:
    for channel in (0x40, 0x47):
        code = UART + ADC.format(start=0xC7).replace("0x40", hex(channel)) + STOP
        ran = avr_run(code, tmp_path, "--adc", str(millivolts), "--max-cycles", "100000")
        assert int.from_bytes(ran.output, "little") == value
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


def test_a_note_comes_however_soon_it_ends(tmp_path: Path) -> None:
    (tmp_path / "notes").write_text("text\t0x66:1:any\n")
    ran = avr_run(STORE.format(0x66, 1) + STOP, tmp_path, "--notes", tmp_path / "notes")
    assert [event["event"] for event in ran.events] == ["note", "stop"]
    assert ran.events[0] == {"event": "note", "detail": "text", "cycle": ran.end["cycle"]}


def test_a_board_that_nobody_opens_is_not_reset(tmp_path: Path) -> None:
    assert avr_run(RUNS, tmp_path, *SHORT, "--board").end["resets"] == 0


def test_a_pseudo_terminal_alone_resets_nothing(tmp_path: Path) -> None:
    """Nor is what comes in lost: an echo, to anyone who opens it."""
    code = UART + "    sei\nagain:\n    rcall take\n    rcall send\n    rjmp again\n"
    (tmp_path / "image").write_bytes(assemble(code, tmp_path))
    command = [driver("avr_run"), *CHIP, "--image", tmp_path / "image", "--pty", "pty", "--real"]
    running = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    with ended_in_time(running):
        assert running.stderr is not None
        terminal = os.open(json.loads(running.stderr.readline())["detail"], os.O_RDWR | os.O_NOCTTY)
        os.write(terminal, b"x")
        assert os.read(terminal, 1) == b"x"
        running.send_signal(signal.SIGINT)
        _, said = running.communicate(timeout=20)
        os.close(terminal)
    end = json.loads(said.decode().splitlines()[-1])
    assert (end["event"], end["detail"], end["resets"]) == ("stopped", "stopped by a signal", 0)


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
        assert (ran.code, ran.said) == (2, [f"avr_run: is not a list of notes: {tmp_path / 'notes'}"])


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
    code += f"    ldi r18, 0x34\n    sts {count}, r18\n" + read + read  # set while it is stopped
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
    # It counts its starts in RAM, which a reset leaves, shows why it started, and waits.
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
