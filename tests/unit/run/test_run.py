"""`motecrypt run`: sketches that nobody here wrote, time that agrees with their own, and how runs end."""

from __future__ import annotations

import json
import os
import re
import select
import subprocess
import sys
import time
import tty
from itertools import pairwise
from pathlib import Path

import pytest

from motecrypt.base.errors import InputError
from motecrypt.build.toolchain import BuildError
from motecrypt.build.toolchain.arduino import CORE, build_sketch, sketch_source
from motecrypt.catalog import Catalog
from motecrypt.simulate.emulate.images import read_image
from motecrypt.simulate.emulate.run import ChipSettings, Ended, FreeRun, Uart, run_freely
from tool_sets import needs_tool_set

DEADLINE_S = 120.0  # for what hangs: a busy machine is slow, independent of the code
UNO = Catalog.load().device("uno")
# More of them, without installing Debian's IDE and its Java: apt-get download arduino arduino-mk; dpkg-deb -x
# each into a folder; MOTECRYPT_ARDUINO_EXAMPLES=that folder.
UNPACKED = Path(os.environ.get("MOTECRYPT_ARDUINO_EXAMPLES", "/"))
EXAMPLES = [
    *sorted((CORE / "libraries").glob("*/examples/*/*.ino")),
    *sorted((UNPACKED / "usr/share/doc/arduino/examples").glob("0[1-8]*/*/*.ino")),
    *sorted((UNPACKED / "usr/share/doc/arduino-mk/examples").glob("*/*.ino")),
]
#: need what the UNO or Debian has not: a second UART, an ATtiny's pins, Ethernet, LiquidCrystal
OTHER_BOARDS = {
    "MultiSerial",
    "SerialPassthrough",
    "ATtinyBlink",
    "TinySoftwareSerial",
    "WebServer",
    "HelloWorld",
    "Blink",
}

pytestmark = needs_tool_set("avr", "arduino")


def run(elf: Path, **how: object) -> tuple[Ended, str]:
    text = bytearray()
    ended = run_freely(read_image(elf, UNO), UNO, FreeRun(**how), text.extend)  # type: ignore[arg-type]
    return ended, text.decode("utf-8", "replace")


def sketch(folder: Path, body: str) -> Path:
    path = folder / "Sketch" / "Sketch.ino"
    path.parent.mkdir(exist_ok=True)
    path.write_text(body)
    return build_sketch(path)


def command(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "motecrypt", *arguments],
        capture_output=True,
        text=True,
        timeout=DEADLINE_S,
        check=False,
    )


# --- sketches that nobody here wrote ---------------------------------------------------------------------


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: f"{p.parent.parent.name}-{p.stem}")
def test_debians_examples_build_and_run(path: Path) -> None:
    if path.stem in OTHER_BOARDS and not (path.stem == "Blink" and "arduino-mk" not in str(path)):
        pytest.skip(f"{path.stem} is for another board")
    ended, _ = run(build_sketch(path), max_seconds=0.3)
    assert ended.reason == "limit", ended.detail
    assert ended.stack_bytes is not None and 0 < ended.stack_bytes < 400


def test_the_wire_scanner_finds_an_empty_bus_and_says_so() -> None:
    ended, text = run(
        build_sketch(CORE / "libraries/Wire/examples/i2c_scanner/i2c_scanner.ino"), max_seconds=2
    )
    assert "I2C Scanner" in text
    assert any(note.startswith("TWI") for note in ended.notes)


def test_the_eeprom_example_keeps_its_eeprom(tmp_path: Path) -> None:
    elf = build_sketch(CORE / "libraries/EEPROM/examples/eeprom_put/eeprom_put.ino")
    eeprom = tmp_path / "eeprom"
    _, text = run(elf, max_seconds=1.0, chip=ChipSettings(eeprom=eeprom))
    assert "Written" in text or "written" in text
    content = eeprom.read_bytes()
    assert len(content) == 1024 and content != b"\xff" * 1024
    assert b"Working!" in content


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("more.h", "more.h: cannot be read: not a regular file"),
        ("more.c", "more.c: cannot be read: not a reg"),
    ],
)
def test_a_pipe_beside_a_sketch_is_not_waited_for(name: str, told: str, tmp_path: Path) -> None:
    (tmp_path / "Sketch").mkdir()
    os.mkfifo(tmp_path / "Sketch" / name)
    with pytest.raises(InputError, match=told):
        sketch(tmp_path, "void setup() {}\nvoid loop() {}\n")


def test_files_of_another_sketch_are_not_a_library(tmp_path: Path) -> None:
    for name, number in (("Other", 1), ("Library", 2)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "shared.h").write_text("int answer(void);\n")
        (tmp_path / name / "shared.cpp").write_text(f"int answer(void) {{ return {number}; }}\n")
    (tmp_path / "Other" / "Other.ino").write_text("void setup() {}\nvoid loop() {}\n")
    source = """#include <shared.h>
void setup() { Serial.begin(9600); Serial.print("answer "); Serial.println(answer()); Serial.flush(); }
void loop() {}
"""
    (tmp_path / "Library").rename(tmp_path / "ZLibrary")
    _, text = run(sketch(tmp_path, source), until="answer 2", max_seconds=1)
    assert "answer 2" in text


def test_a_precompiled_header_beside_a_sketch_is_refused(tmp_path: Path) -> None:
    (tmp_path / "Sketch").mkdir()
    (tmp_path / "Sketch" / "more.h.gch").touch()
    with pytest.raises(BuildError, match=r"more\.h\.gch: a precompiled header"):
        sketch(tmp_path, "void setup() {}\nvoid loop() {}\n")


# --- time ------------------------------------------------------------------------------------------------

TIMED = """
volatile uint16_t sink;
void work(uint16_t n) __attribute__((noinline));
void work(uint16_t n) { for (uint16_t i = 0; i < n; i++) { sink += i; } }
void setup() {
  Serial.begin(%d);
  for (int i = 0; i < 5; i++) {
    Serial.flush();
    unsigned long from = micros();
    %s
    unsigned long to = micros();
    Serial.print("t ");
    Serial.println(to - from);
  }
  Serial.print("end ");
  Serial.println(micros());
}
void loop() {}
"""


@pytest.mark.parametrize(
    ("baud", "work"),
    [(9600, "work(30000);"), (115200, "delay(100);"), (57600, "work(10000); delay(20); work(10000);")],
)
def test_a_sketchs_own_micros_agree_with_the_cycles(tmp_path: Path, baud: int, work: str) -> None:
    elf = sketch(tmp_path, TIMED % (baud, work))
    ended, text = run(elf, until="end ", uart=Uart(stamps=True), max_seconds=5)
    lines = re.findall(r"^ *([0-9.]+)  (t [0-9]+|end)", text, re.MULTILINE)
    assert ended.reason == "until" and len(lines) == 6
    stamps = [float(stamp) for stamp, _ in lines]
    told = [int(line.split()[1]) for _, line in lines[:-1]]
    for n in range(4):
        # From line to line there pass the sketch's own measure, and the printing of a line that is known to
        # last as long each time: so measures must differ as the stamps do.
        assert stamps[n + 1] - stamps[n] > told[n + 1] / 1e6
    from motecrypt.simulate.emulate.profiling import profile

    counted = profile(read_image(elf, UNO), UNO, FreeRun(until="end ", max_seconds=5), lambda data: None)
    if "delay" not in work:
        busy = next(c for c in counted.functions if c.name.startswith("work"))
        ticks = next(c for c in counted.functions if c.name == "__vector_16")
        assert busy.cycles_range is not None and ticks.cycles_range is not None
        own = busy.cycles_range[1]
        # The sketch's measure holds the interrupts of its clock, one each 16,384 cycles.
        whole = own * 16384 / (16384 - ticks.cycles_range[1])
        assert all(abs(us * 16 / whole - 1) < 0.0005 for us in told), (told, whole / 16)


def test_micros_at_the_end_is_the_simulated_time(tmp_path: Path) -> None:
    body = (
        "void setup() { Serial.begin(115200); delay(2000); unsigned long t = micros(); Serial.println(t); }"
    )
    _, text = run(
        sketch(tmp_path, body + "\nvoid loop() {}\n"), until="\n", uart=Uart(stamps=True), max_seconds=5
    )
    stamp, told = text.split()[:2]
    # println begins to send within microseconds of the reading
    assert abs(int(told) / 1e6 / float(stamp) - 1) < 0.0005


def test_differences_of_micros_are_those_of_the_cycles(tmp_path: Path) -> None:
    body = """
    void setup() { Serial.begin(9600); for (int i = 0; i < 6; i++) { delay(100 + 77 * i); tell(); } }
    void tell() { Serial.flush(); unsigned long now = micros(); Serial.println(now); }
    void loop() {}
    """
    ended, text = run(sketch(tmp_path, body), uart=Uart(stamps=True), max_seconds=3)
    rows = [tuple(map(float, line.split())) for line in text.split("\r\n") if line.strip()]
    assert len(rows) == 6 and ended.reason == "limit"
    for (from_s, from_us), (to_s, to_us) in pairwise(rows):
        assert abs((to_us - from_us) / 1e6 / (to_s - from_s) - 1) < 0.0005


@pytest.mark.parametrize("baud", [1200, 9600, 38400, 115200])
def test_a_byte_takes_ten_bits_on_the_line(tmp_path: Path, baud: int) -> None:
    body = "void setup() { Serial.begin(%d); for (int i = 0; i < 400; i++) Serial.write('x');"
    elf = sketch(tmp_path, body % baud + " Serial.write('e'); }\nvoid loop() {}\n")
    ended, _ = run(elf, until="e", max_seconds=5)
    divisor = round(16e6 / 8 / baud)  # the UART's own rate, which is what the chip can do
    assert ended.seconds == pytest.approx(400 * 10 * divisor * 8 / 16e6, rel=0.02)


# --- how runs end ----------------------------------------------------------------------------------------


def test_the_command_shows_the_uart_and_the_figures(tmp_path: Path) -> None:
    elf = sketch(tmp_path, 'void setup() { Serial.begin(9600); Serial.println("hello"); }\nvoid loop() {}\n')
    done = command("run", str(elf), "--until", "hello")
    assert done.returncode == 0 and done.stdout == "hello\n"
    assert re.search(r"cycles, 0\.00\d+ s simulated, deepest stack \d+, variables \d+, flash", done.stderr)
    told = json.loads(command("run", str(elf), "--until", "hello", "--json").stdout)
    assert told["uart"] == "hello" and told["reason"] == "until" and told["cycles"] > 0


def test_a_text_that_never_comes_is_an_error(tmp_path: Path) -> None:
    elf = sketch(tmp_path, "void setup() {}\nvoid loop() {}\n")
    done = command("run", str(elf), "--until", "hello", "--max-seconds", "0.1")
    assert done.returncode == 1
    assert "'hello' did not come within 0.1 s of simulated time" in done.stderr


def test_a_firmware_that_floods_is_one_line(tmp_path: Path) -> None:
    elf = sketch(tmp_path, "void setup() { Serial.begin(2000000); }\nvoid loop() { Serial.write('x'); }\n")
    done = command("run", str(elf), "--max-output", "5000")
    assert done.returncode == 1 and "floods its UART: more than 5000 bytes" in done.stderr


def test_a_firmware_that_ends_says_so(tmp_path: Path) -> None:
    ended, _ = run(sketch(tmp_path, "void setup() { cli(); for (;;) {} }\nvoid loop() {}\n"))
    assert ended.reason == "stop" and ended.seconds < 0.01


def test_a_stack_that_runs_into_the_data_is_a_fault(tmp_path: Path) -> None:
    body = "volatile int x;\nint down(int n) { volatile char a[50]; a[0] = n; x = down(n + 1); return a[0]; }"
    ended, _ = run(sketch(tmp_path, body + "\nvoid setup() { down(0); }\nvoid loop() {}\n"), max_seconds=1)
    assert ended.reason == "fault" and "the stack ran into the data" in ended.detail


ECHO = """
void setup() { Serial.begin(%d); }
void loop() { if (Serial.available()) Serial.write(Serial.read() + 1); }
"""


def test_what_is_piped_in_arrives(tmp_path: Path) -> None:
    elf = sketch(tmp_path, ECHO % 9600)
    reader, writer = os.pipe()
    os.write(writer, b"HAL")
    os.close(writer)
    _, text = run(elf, until="IBM", uart=Uart(input=reader), max_seconds=2)
    os.close(reader)
    assert text == "IBM"


def test_a_pseudo_terminal_carries_both_ways_in_real_time(tmp_path: Path) -> None:
    elf = sketch(tmp_path, ECHO % 115200)
    port = tmp_path / "port"
    line = [sys.executable, "-m", "motecrypt", "run", str(elf), "--uart", str(port)]
    running = subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    try:
        deadline = time.monotonic() + 30
        while not port.is_symlink() and time.monotonic() < deadline:
            time.sleep(0.02)
        from motecrypt.base.serial_port import SerialPort

        with SerialPort(str(port)) as opened:
            time.sleep(0.3)
            opened.write(b"HAL")
            got = b""
            while len(got) < 3 and time.monotonic() < deadline:
                got += opened.read()
                time.sleep(0.01)
        assert got == b"IBM"
    finally:
        running.terminate()
        _, said = running.communicate(timeout=DEADLINE_S)
    assert "stopped by a signal" in said
    assert not port.is_symlink()


def test_a_serial_port_that_is_there_is_joined(tmp_path: Path) -> None:
    elf = sketch(tmp_path, ECHO % 115200)
    master, slave = os.openpty()
    tty.setraw(slave)
    line = [sys.executable, "-m", "motecrypt", "run", str(elf), "--uart", os.ttyname(slave)]
    running = subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        time.sleep(1.0)
        os.write(master, b"HAL")
        got = b""
        deadline = time.monotonic() + DEADLINE_S
        while len(got) < 3 and time.monotonic() < deadline:
            if select.select([master], [], [], 0.5)[0]:
                got += os.read(master, 100)
        assert got == b"IBM"
    finally:
        running.terminate()
        running.wait(DEADLINE_S)
        os.close(master)
        os.close(slave)


def test_what_a_pico_has_not_is_said(tmp_path: Path) -> None:
    from motecrypt.simulate.emulate.images import ARM, Segment, elf_of

    path = tmp_path / "f.elf"
    path.write_bytes(elf_of([Segment(0x10000100, bytes(16))], ARM, 0x10000109))
    done = command("run", str(path), "--device", "pico", "--millivolts", "5")
    assert done.returncode == 2 and "--millivolts: pico does not have it" in done.stderr


def test_a_sketch_with_an_error_says_where(tmp_path: Path) -> None:
    path = tmp_path / "Bad" / "Bad.ino"
    path.parent.mkdir()
    path.write_text("void setup() {}\nvoid loop() { nothing(); }\n")
    done = command("run", str(path))
    assert done.returncode == 1 and "Bad.ino:2" in done.stderr and "nothing" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


# --- what the IDE does to a sketch -----------------------------------------------------------------------


def test_functions_are_declared_before_the_first_and_lines_stay() -> None:
    text = "#include <x.h>\n// void no() {\nint a = 3;\nvoid setup() { go(1); }\n"
    text += 'char *go(int n) { return "{"; }\n'
    made = sketch_source([(Path("/s/s.ino"), text)])
    before, _, after = made.partition('#line 4 "/s/s.ino"\n')
    assert "void setup();\nchar *go(int n);\n" in before
    assert after.startswith("void setup() { go(1); }")
    assert "no()" not in before.replace("// void no()", "")
