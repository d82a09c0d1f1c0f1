"""The command lines of the AVR's two drivers: each option does what it says, bad ones are reported."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from avr_counted import FRAME_CYCLES, assemble

from motecrypt.build.toolchain.drivers import driver
from tool_sets import needs_tool_set

pytestmark = needs_tool_set("avr")

#: Sends "AB" at 1 Mbaud, then each byte that comes plus one, until 'q'.
TALKER = """
    put UBRR0L, 0
    put UCSR0B, 0x18
    ldi r17, 'A'
    rcall send
    ldi r17, 'B'
    rcall send
1:  lds r17, UCSR0A
    sbrs r17, RXC0
    rjmp 1b
    lds r17, UDR0
    inc r17
    rcall send
    cpi r17, 'r'
    brne 1b
    finish
send:
    lds r18, UCSR0A
    sbrs r18, UDRE0
    rjmp send
    sts UDR0, r17
    ret
"""


def start(name: str, *arguments: str | Path, **how: Any) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [driver(name), *map(str, arguments)], capture_output=True, timeout=60, check=False, **how
    )


def flat(folder: Path, body: str) -> Path:
    image = folder / "image"
    subprocess.run(["avr-objcopy", "-O", "binary", assemble(folder, body), image], check=True, timeout=60)
    return image


def run(
    folder: Path, body: str, *arguments: str | Path, data: bytes | None = None
) -> tuple[bytes, dict[str, Any]]:
    """What came from the UART of `body` in avr_run, and the last event."""
    command = ("--mcu", "atmega328p", "--clock", "16000000", "--image", flat(folder, body), *arguments)
    reader, writer = os.pipe()
    os.write(writer, data or b"")
    os.close(writer)
    done = start("avr_run", *command, stdin=reader)
    os.close(reader)
    return done.stdout, json.loads(done.stderr.splitlines()[-1])


# --- avr_run ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--nonsense", "1"), "unknown option: --nonsense"),
        ((), "needs --image, --clock and open events"),
        (("--clock", "1"), "needs --image, --clock and open events"),
        (("--image", "x"), "needs --image, --clock and open events"),
        (("--image", "x", "--clock", "1", "--events", "77"), "needs --image, --clock and open events"),
        (("--image", "x", "--clock", "1", "--mcu", "z80"), "libsimavr does not know the chip: z80"),
        (("--image", "/none", "--clock", "1", "--mcu", "atmega328p"), "cannot be loaded: /none"),
    ],
)
def test_a_bad_command_line_is_one_line(arguments: tuple[str, ...], said: str) -> None:
    done = start("avr_run", *arguments)
    assert done.returncode == 2
    assert done.stderr.decode().splitlines()[-1] == f"avr_run: {said}"


@pytest.mark.parametrize(
    ("option", "said"),
    [
        ("--data", "avr_run: cannot be loaded: /none"),
        ("--eeprom", "avr_run: cannot be opened as this chip's EEPROM: /none/x"),
        ("--port", "avr_run: No such file or directory: /none"),
        ("--notes", "avr_run: is not a list of notes: /none"),
        ("--profile", "avr_run: cannot be read: /none"),
    ],
)
def test_a_file_that_is_not_there_is_one_line(option: str, said: str, tmp_path: Path) -> None:
    path = "/none/x" if option == "--eeprom" else "/none"
    more = ("--functions", path) if option == "--profile" else ()
    command = ("--mcu", "atmega328p", "--clock", "16000000", "--image", flat(tmp_path, "finish"))
    done = start("avr_run", *command, option, path, *more)
    assert (done.returncode, done.stderr.decode().strip()) == (2, said)


@pytest.mark.parametrize(
    "line", ["no tab", "text\t", "text\t0x10:1:1", "text\t0x100:1:1", "t\t" + "0x53:1:1 " * 5]
)
def test_a_bad_list_of_notes_is_refused(line: str, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.write_text(f"good\t0x53:1:1\n{line}\n")
    command = ("--mcu", "atmega328p", "--clock", "16000000", "--image", flat(tmp_path, "finish"))
    done = start("avr_run", *command, "--notes", notes)
    assert (done.returncode, done.stderr.decode().strip()) == (2, f"avr_run: is not a list of notes: {notes}")


def test_the_uart_goes_to_standard_output_and_input_comes_only_if_asked_for(tmp_path: Path) -> None:
    sent, end = run(tmp_path, TALKER, "--input", data=b"xq")
    assert (sent, end["event"]) == (b"AByr", "sleep")
    sent, end = run(tmp_path, TALKER, "--max-cycles", "160000", data=b"xq")
    assert (sent, end["event"]) == (b"AB", "limit") and 160000 <= end["cycle"] < 160003


def test_a_text_ends_the_run(tmp_path: Path) -> None:
    assert run(tmp_path, TALKER, "--until", "B")[1]["event"] == "until"
    assert run(tmp_path, TALKER, "--until", "C", "--max-cycles", "99999")[1]["event"] == "limit"


def test_more_bytes_than_allowed_end_the_run(tmp_path: Path) -> None:
    assert run(tmp_path, TALKER, "--max-output", "1")[1]["event"] == "flood"
    assert run(tmp_path, TALKER, "--max-output", "2", "--max-cycles", "99999")[1]["event"] == "limit"


def test_stamps_begin_a_line_with_its_time(tmp_path: Path) -> None:
    sent, _ = run(tmp_path, TALKER, "--until", "B", "--stamps")
    stamp, text = sent.split()
    assert text == b"AB" and 0 < float(stamp) < 0.001


def test_a_clock_says_what_a_second_is(tmp_path: Path) -> None:
    slow, _ = run(tmp_path, TALKER, "--until", "B", "--stamps", "--clock", "1000000")
    assert 0 < float(slow.split()[0]) < 0.01
    quick, _ = run(tmp_path, TALKER, "--until", "B", "--stamps", "--clock", "100000")
    assert float(quick.split()[0]) > 5 * float(slow.split()[0])


def test_an_image_may_lie_and_start_elsewhere(tmp_path: Path) -> None:
    # At 0x7000 there is the code, at 0 nothing: erased flash runs up to it, two bytes a cycle.
    _, here = run(tmp_path, "finish", "--base", "0x7000", "--start", "0x7000")
    assert (here["event"], here["cycle"], here["pc"] // 0x1000) == ("sleep", FRAME_CYCLES, 7)


def test_data_is_the_eeproms_content_and_a_file_keeps_it(tmp_path: Path) -> None:
    data, kept = tmp_path / "data", tmp_path / "kept"
    data.write_bytes(b"\x01\x02\x03")
    body = "    put EEARL, 1\n put EEDR, 0x55\n sbi REG(EECR), EEMPE\n sbi REG(EECR), EEPE\n finish"
    run(tmp_path, body, "--data", data, "--eeprom", kept)
    assert kept.read_bytes() == b"\x01\x55\x03".ljust(1024, b"\xff")
    run(tmp_path, "finish", "--data", data, "--eeprom", kept)
    assert kept.read_bytes()[:3] == b"\x01\x55\x03", "what is in the file counts"


def test_a_stack_below_the_datas_end_is_a_fault(tmp_path: Path) -> None:
    body = "1:  push r0\n    rjmp 1b\n"
    _, end = run(tmp_path, body, "--data-end", "0x500")
    assert end["event"] == "fault" and end["detail"].startswith(
        "the stack ran into the data: stack pointer 0x4ff,"
    )
    assert end["stack"] == 0x8FF - 0x4FF


def test_a_bare_run_looks_at_no_stack(tmp_path: Path) -> None:
    body = "    .rept 100\n    push r0\n    .endr\n1:  rjmp 1b\n"
    _, end = run(tmp_path, body, "--bare", "--data-end", "0x8F0", "--max-cycles", "5000")
    assert (end["event"], end["cycle"], end["stack"]) == ("limit", 5000, 0)


def test_a_voltage_is_at_the_analogue_inputs(tmp_path: Path) -> None:
    body = (
        "    put ADMUX, 0x40\n put ADCSRA, 0xC2\n1: lds r17, ADCSRA\n sbrc r17, 6\n rjmp 1b\n lds r18, ADCL\n"
    )
    body += "    lds r19, ADCH\n cpi r19, {high}\n brne 2f\n finish\n2: rjmp 2b\n"
    for volts, high in (("5000", 3), ("3000", 2), ("0", 0)):
        assert (
            run(tmp_path, body.format(high=high), "--adc", volts, "--max-cycles", "9999")[1]["event"]
            == "sleep"
        )


def test_events_go_where_they_are_wanted(tmp_path: Path) -> None:
    reader, writer = os.pipe()
    image = flat(tmp_path, "finish")
    command = ("--mcu", "atmega328p", "--clock", "16000000", "--image", image, "--events", str(writer))
    done = start("avr_run", *command, pass_fds=(writer,))
    os.close(writer)
    with os.fdopen(reader) as events:
        assert json.loads(events.read())["event"] == "sleep"
    assert done.stderr == b""


# --- simavr -------------------------------------------------------------------------------------------------

MARKED = """
    ldi r17, 1                  ; 1
    out REG(GPIOR0), r17        ; 1: the region begins at this instruction
    push r17                    ; 2
    lds r18, 0x200              ; 2
    pop r17                     ; 2
    out REG(GPIOR0), r1         ; and ends at this
    finish
"""


def counted(folder: Path, body: str, *arguments: str | Path) -> list[dict[str, Any]]:
    """The events of `body` in the driver of `measure`."""
    elf = assemble(folder, body)
    done = start(
        "simavr", "--mcu", "atmega328p", "--clock", "16000000", *arguments, elf, stdin=subprocess.DEVNULL
    )
    assert done.returncode == 3
    return [json.loads(line) for line in done.stderr.splitlines()]


def test_a_mark_makes_a_region(tmp_path: Path) -> None:
    region, end = counted(tmp_path, MARKED, "--mark", "0x3e")
    assert region == {"event": "region", "cycles": 1 + 2 + 2 + 2}
    assert end["cycle"] == FRAME_CYCLES + 1 + 1 + 6 + 1
    assert [event["event"] for event in counted(tmp_path, MARKED)] == ["fault"], "no mark, no region"
    assert [event["event"] for event in counted(tmp_path, MARKED, "--mark", "0x4a")] == ["fault"]


def test_a_trace_counts_instructions_and_the_stack(tmp_path: Path) -> None:
    dump = tmp_path / "dump"
    region, _ = counted(tmp_path, MARKED, "--mark", "0x3e", "--trace", "--dump", dump)
    assert (region["cycles"], region["instructions"], region["stack"]) == (7, 4, 1)
    lines = dump.read_text().splitlines()
    assert [line.split()[1] for line in lines[:-1]] == ["ffffffff", "200", "ffffffff", "ffffffff"]
    assert lines[-1] == "end"
    other, _ = counted(tmp_path, MARKED.replace("0x200", "0x201"), "--mark", "0x3e", "--trace")
    assert other["trace"] != region["trace"]
    assert counted(tmp_path, MARKED, "--mark", "0x3e", "--trace")[0]["trace"] == region["trace"]


def test_a_wait_is_traced_as_if_each_round_were_stepped(tmp_path: Path) -> None:
    body = "    sbi REG(EECR), EEMPE\n sbi REG(EECR), EEPE\n ldi r17, 1\n out REG(GPIOR0), r17\n"
    body += "1:  sbic REG(EECR), EEPE\n rjmp 1b\n out REG(GPIOR0), r1\n finish\n"
    dump = tmp_path / "dump"
    region, _ = counted(tmp_path, body, "--mark", "0x3e", "--trace", "--dump", dump)
    rounds = (region["cycles"] - 1 - 2) // 3  # 3 each, at last 2, and the store of the mark
    assert rounds > 18_000 and region["instructions"] == 2 * rounds + 2
    lines = dump.read_text().splitlines()
    assert len(lines) == region["instructions"] + 1
    assert lines[0] == lines[2] == lines[2 * rounds] and lines[1] == lines[2 * rounds - 1] != lines[0]


def test_the_simulated_bit_is_set_before_the_start(tmp_path: Path) -> None:
    body = "    in r17, REG(GPIOR1)\n    sbrs r17, 0\n    rjmp 1f\n    nop\n    nop\n    nop\n1:  finish\n"
    plain = counted(tmp_path, body)[-1]["cycle"]
    assert counted(tmp_path, body, "--simulated", "0x4a")[-1]["cycle"] == plain + 2
    assert counted(tmp_path, body, "--simulated", "0x9999")[-1]["cycle"] == plain, "beyond the memory"


def test_a_traced_stack_below_the_datas_end_is_a_fault(tmp_path: Path) -> None:
    body = "    ldi r17, 1\n    out REG(GPIOR0), r17\n1:  push r0\n    rjmp 1b\n"
    end = counted(tmp_path, body, "--mark", "0x3e", "--trace", "--data-end", "0x500")[-1]
    assert (end["event"], end["kind"]) == ("fault", "stack") and "stack pointer 0x4ff" in end["detail"]


def test_a_request_has_a_deadline(tmp_path: Path) -> None:
    end = counted(tmp_path, "1:  rjmp 1b\n", "--max-cycles", "100000")[-1]
    assert (end["kind"], end["detail"][:32]) == ("silent", "no answer within 100000 cycles: ")
    assert 100000 < end["cycle"] < 120000


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (("--nonsense", "1"), 2, "simavr: unknown option --nonsense"),
        ((), 3, "the firmware's file is not named"),
        (("/none",), 3, "the firmware's file cannot be open"),
    ],
)
def test_a_bad_command_line_of_the_other_is_one_line(
    arguments: tuple[str, ...], status: int, said: str
) -> None:
    done = start("simavr", *arguments, stdin=subprocess.DEVNULL)
    assert done.returncode == status
    text = done.stderr.decode().strip()
    assert (text if status == 2 else json.loads(text)["detail"])[: len(said)] == said


def test_a_chip_nobody_knows_is_told(tmp_path: Path) -> None:
    done = start("simavr", "--mcu", "z80", assemble(tmp_path, "finish"), stdin=subprocess.DEVNULL)
    assert json.loads(done.stderr.splitlines()[-1])["detail"] == "libsimavr does not know the chip z80"
