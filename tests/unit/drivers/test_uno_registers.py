"""The UNO's hal.c and the paper's node natively, register by register, look by look."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from natively import DEADLINE_S, HERE, compiled, limited, told

from motecrypt.catalog import FIRMWARE
from tool_sets import needs_tool_set

pytestmark = needs_tool_set("host")
PAPER = FIRMWARE / "nodes" / "paper"
RECEIVED, ROOM = 1 << 7, 1 << 5
KEY = bytes(range(16))


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    sources = [str(FIRMWARE / "devices" / "uno" / "hal.c"), str(PAPER / "uno.c")]
    flags = [f"-I{HERE / 'avr_native'}", f"-I{PAPER}", "-DF_CPU=16000000UL", "-D_end=memory", "-O0"]
    return compiled("uno_harness.c", tmp_path_factory.mktemp("uno"), *flags, *sources)


LINE = ["UCSR0A = 2", "UBRR0 = {}", "UCSR0C = 6", "UCSR0B = 18"]


@pytest.mark.parametrize(("simulated", "divisor"), [(0, "10"), (1, "0"), (2, "10"), (3, "0")])
def test_the_line_is_set_up(program: Path, simulated: int, divisor: str) -> None:
    """DS40002061B, 20.11: twice the speed, 8 bits, both directions; 2 Mbaud where GPIOR1's bit 0 reports
    it."""
    answers, done = told(program, f"init {simulated}")
    assert done == [line.format(divisor) for line in LINE] and answers == [16_000_000]


def test_the_sensor_is_set_up(program: Path) -> None:
    """24.9: 1.1 V, channel 8; on, and 16 MHz / 128 = 125 kHz."""
    _, done = told(program, "wake 0")
    assert done == [*(line.format("10") for line in LINE), "ADMUX = c8", "ADCSRA = 87"]


def test_bytes_go_and_come_when_the_line_is_ready(program: Path) -> None:
    asked = [f"receive {RECEIVED} {n}" for n in (1, 2, 5)]
    asked += [f"give {ROOM} {n} 0x7e {node}" for n in (1, 3) for node in (0, 1)]
    answers, done = told(program, *asked)
    assert answers == [1129, 2129, 5129, 1, 1, 3, 3]
    assert done == ["UDR0 = 7e"] * 4


def test_a_mark_is_a_store(program: Path) -> None:
    assert told(program, "mark 1", "mark 0")[1] == ["GPIOR0 = 1", "GPIOR0 = 0"]


@pytest.mark.parametrize("simulated", [0, 1])
def test_the_timer_counts_from_0(program: Path, simulated: int) -> None:
    """16.11: stopped, emptied, its old overflow cleared; then on, at the core's clock."""
    _, done = told(program, f"begin {simulated}")
    begins = ["TCCR1A = 0", "TCCR1B = 0", "TCNT1 = 0", "TIFR1 = 1", "TIMSK1 = 1", "TCCR1B = 1"]
    assert done == [*begins, *(["sei"] if not simulated else [])]


def test_an_overflow_counts_once_whether_its_interrupt_came_or_waits(program: Path) -> None:
    for overflows, flags, count, cycles in (
        (0, 0, 5, 5),
        (0, 0xFE, 0xFFFF, 0xFFFF),
        (0, 1, 3, 0x10003),
        (2, 0, 0x1234, 0x21234),
        (2, 0xFF, 0, 0x30000),
        (300, 0, 7, 300 << 16 | 7),
    ):
        answers, done = told(program, "begin 0", f"cycles {overflows} {flags} {count}")
        assert answers[1] == cycles
        assert done[-2:] == ["TCCR1B = 0", "cli"], "it stands still while it is read"
    assert told(program, "begin 0", "cycles 9 0 0", "begin 0", "cycles 0 0 1")[0][3] == 1


def test_the_stack_is_painted_up_to_the_callers(program: Path) -> None:
    answers, _ = told(program, "paint 200", "depth 150 200", "paint 200 1", "depth 20 200", "paint 7 1")
    assert answers == [192, 50, 192, 180, 20]
    assert told(program, "paint 200", "depth 250 190", "depth 250 200")[0] == [192, 0, 8]
    assert told(program, "paint 7")[0] == [300_300] and told(program, "paint 9")[0] == [1], (
        "nothing, and a byte"
    )


def test_the_depth_is_exact_to_the_byte(program: Path) -> None:
    for place in range(60, 200):
        painted = min(place, 192)
        assert told(program, "paint 200", f"depth {place} 200")[0][1] == 200 - painted


@pytest.mark.parametrize(
    ("place", "blocks"), [(7, 0), (71, 0), (72, 1), (79, 1), (80, 2), (191, 15), (250, 16)]
)
def test_what_a_run_has_not_reached_is_not_painted_again(program: Path, place: int, blocks: int) -> None:
    """Of the whole blocks of 8 bytes that are still painted, all but 8; a register keeps how many."""
    answers, done = told(program, "paint 200", f"depth {place} 200", "paint 200")
    assert done == ([f"GPIOR2 = {blocks:x}"] if blocks else [])
    assert answers[2] == 8 * blocks * 1000 + 192
    _, done = told(program, "paint 200", f"depth {place} 200", "paint 200 1", "depth 3 200")
    assert done == ([f"GPIOR2 = {blocks:x}", "GPIOR2 = 0"] if blocks else []), "a deeper run paints more"


def test_waiting(program: Path) -> None:
    assert told(program, "rest 0", "rest 1", "rest 1500")[0] == [0, 1000, 1_500_000]


@pytest.mark.parametrize(
    ("adc", "tenths"), [(0, -2890), (269, 2889 - 2890), (317, 514), (1000, 7850), (292, 246)]
)
def test_a_temperature_is_read_when_it_has_been_converted(program: Path, adc: int, tenths: int) -> None:
    """23.8: 1.074 mV a step, 314 mV at 25 C and about 1 mV a degree."""
    answers, done = told(program, f"temperature {adc} 4")
    assert answers == [tenths & 0xFFFF] and tenths == adc * 1074 // 100 - 2890
    assert done == ["ADCSRA = c1", "converted after 4"]


# --- the paper's node ------------------------------------------------------------------------------------


def paper(folder: Path, *arguments: object) -> str:
    flags = [f"-I{PAPER}", f"-I{HERE}", "-DNODE_INTERVAL_MS=123", "-w"]
    flags += [f"-DNODE_KEY={','.join(map(str, KEY))}", '-DCIPHER_HEADER="bench_cipher.h"']
    program = compiled("sensor_harness.c", folder, *flags, "-DCIPHER_TAG_BYTES=8")
    done = subprocess.run(
        [program, *map(str, arguments)],
        capture_output=True,
        timeout=DEADLINE_S,
        check=True,
        preexec_fn=limited,
    )
    return done.stdout.decode()


READINGS = [
    (214, "21.4"),
    (-5, "-0.5"),
    (-123, "-2.3"),
    (999, "99.9"),
    (7, "00.7"),
    (0, "00.0"),
    (1234, "23.4"),
]


def test_readings_in_the_papers_mode_are_hexadecimal(tmp_path: Path) -> None:
    said = paper(tmp_path, 0, *(tenths for tenths, _ in READINGS))
    assert said.startswith(f"init\nsetup {KEY.hex()}\n")
    lines = said.splitlines()[2:]
    for number, (_, text) in enumerate(READINGS, 1):
        block = f"n={number:04d} t={text}C".encode() + b"\2\2"
        line = 3 * (number - 1)
        assert lines[line] == f"nonce {bytes(16).hex()}" and lines[line + 1] == f"encrypt {block.hex()}"
        shown = bytes(byte ^ KEY[0] for byte in block).hex().upper()
        assert lines[line + 2] == f"{shown}wait 123"
    nothing = paper(tmp_path, 2, 214, 214).splitlines()
    assert [line for line in nothing if line.startswith("wait")] == ["wait 123"] * 2, "and nothing goes out"


def test_the_number_of_a_reading_has_four_digits(tmp_path: Path) -> None:
    said = paper(tmp_path, 0, *([5] * 10_001)).splitlines()
    sent = [bytes.fromhex(line[8:]) for line in said if line.startswith("encrypt")]
    assert [sent[n][:6] for n in (0, 9, 998, 9998, 9999)] == [
        b"n=0001",
        b"n=0010",
        b"n=0999",
        b"n=9999",
        b"n=0000",
    ]


def test_with_an_unusable_key_it_is_silent(tmp_path: Path) -> None:
    said = paper(tmp_path, 1, 214).splitlines()
    assert said[-3:] == ["wait 1000"] * 3 and not any(line.startswith("encrypt") for line in said)
