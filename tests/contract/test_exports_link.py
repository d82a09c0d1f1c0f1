"""Exports of the secure link: they build for their targets, and what runs is understood by the gateway."""

from __future__ import annotations

import os
import selectors
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from arduino_sketchbook import Sketchbook
from kits import needs_kit, skip_without
from motecrypt import process
from motecrypt.catalog import FIRMWARE, Catalog
from motecrypt.emulate.images import read_image
from motecrypt.emulate.run import FreeRun, run_freely
from motecrypt.export import Export, LinkRadio, choose, plan_link, target
from motecrypt.export.sources import exported_inputs
from motecrypt.link.gateway import Gateway, NodeMessage
from motecrypt.link.provisioning import block_text, eeprom_hex, flash_image
from motecrypt.link.state import MemoryStore
from motecrypt.ports.serial_port import SerialPort
from motecrypt.radios import load_radio
from motecrypt.toolchain import BuildRequest
from motecrypt.toolchain.link import COMMAND, CONFIRMED, LISTENS, SHORT, STREAM, Event, Suite
from motecrypt.toolchain.link_node import FixedRadio, node_inputs, suite_of
from object_code import code_of

CATALOG = Catalog.load()
CIPHERS: dict[str, Suite] = {"aes128-ccm8": "aes128-ccm", "ascon-aead128": "ascon-aead128"}
STRICT = ("-std=gnu99", "-Wall", "-Wextra", "-Wconversion", "-Werror")
MASTER = bytes(range(100, 116))
SRF = LinkRadio(load_radio("srf"))
TWO_WAY = SHORT | LISTENS | STREAM
DEADLINE_S = 120  # nothing waits as long, but on a busy machine


def planned(name: str, cipher: str, radio: LinkRadio | None = None, variant: str | None = None) -> Export:
    meant = target(name, CATALOG)
    body = choose(CATALOG, CATALOG.cipher(cipher), meant, variant)
    return plan_link(CATALOG, meant, CATALOG.cipher(cipher), body, radio=radio)


def run(command: list[str | Path], folder: Path) -> str:
    outcome = process.run([str(part) for part in command], cwd=folder, timeout_s=120)
    assert outcome.ok, f"{command}: {outcome.output}{outcome.errors}"
    return outcome.output


class Station:
    """A gateway at the other end of a line, with all that it got."""

    def __init__(self, suite: Suite, packet_bytes: int = 12, options: int = TWO_WAY) -> None:
        self.gateway = Gateway(MemoryStore(), MASTER, suite, packet_bytes)
        self.image = self.gateway.provision(5, options)
        self.packet_bytes = packet_bytes
        self.messages: list[NodeMessage] = []
        self.events: list[Event] = []
        self._have = b""
        self._last = 0.0

    def take(self, data: bytes, now: float) -> bytes:
        """Bytes of the line, cut by silence; the answers to what was whole."""
        if data and now - self._last > 0.02:
            self._have = b""
        if data:
            self._last = now
        self._have += data
        whole = len(self._have) // self.packet_bytes * self.packet_bytes
        packets = [self._have[at : at + self.packet_bytes] for at in range(0, whole, self.packet_bytes)]
        self._have = self._have[whole:]
        self.gateway.receive(packets, self._hand_over)
        self.gateway.poll(int(now * 1000))
        self.events += [event.event for event in self.gateway.take_events()]
        return b"".join(self.gateway.take_packets())

    def _hand_over(self, messages: list[NodeMessage]) -> list[bool]:  # type: ignore[misc]
        self.messages += messages
        return [True] * len(messages)


def serve(port: SerialPort, station: Station, done: Callable[[], bool], seconds: float) -> None:
    """The gateway at a port until all is done."""
    end = time.monotonic() + seconds
    with selectors.DefaultSelector() as waiting:
        waiting.register(port, selectors.EVENT_READ)
        while not done() and time.monotonic() < end:
            ready = waiting.select(0.01)
            answers = station.take(port.read() if ready else b"", time.monotonic())
            while answers:
                answers = answers[port.write(answers) :]


# --- Arduino


@pytest.fixture(scope="module")
def sketchbook(tmp_path_factory: pytest.TempPathFactory) -> Sketchbook:
    return Sketchbook(tmp_path_factory.mktemp("sketchbook"))


def library(
    sketchbook: Sketchbook, cipher: str, radio: LinkRadio | None, variant: str | None = None
) -> Export:
    made = planned("arduino", cipher, radio, variant)
    folder = sketchbook.folder / "libraries" / made.name
    if not folder.exists():
        made.write(folder)
    return made


def eeprom_of(image: bytes, folder: Path) -> Path:
    """The chip's EEPROM once avrdude has written a provisioned image."""
    (folder / "node.eep").write_bytes(eeprom_hex(image))
    # Not avr-objcopy: Debian 13's (binutils 2.43) reads no ihex at all.
    run(["objcopy", "-I", "ihex", "-O", "binary", "node.eep", "eeprom"], folder)
    file = folder / "eeprom"
    file.write_bytes(file.read_bytes().ljust(1024, b"\xff"))
    return file


@needs_kit("arduino-builder", "avr")
@pytest.mark.long
@pytest.mark.crosscheck
@pytest.mark.parametrize("board", ["uno", "mega:cpu=atmega2560", "leonardo"])
def test_the_sketches_compile_for_the_boards(sketchbook: Sketchbook, board: str) -> None:
    any_radio = library(sketchbook, "aes128-ccm8", None)
    one_radio = library(sketchbook, "ascon-aead128", SRF)
    for example in ("Sensor", "Command", "KeyChange", "Uart"):
        assert sketchbook.build(any_radio, example, board).is_file()
    for example in ("Sensor", "KeyChange"):
        assert sketchbook.build(one_radio, example, board).is_file()


def on_uno(elf: Path, eeprom: Path, uart: Path, seconds: float) -> threading.Thread:
    """A simulated UNO that keeps to the clock, with its serial line at a pseudo-terminal."""
    uno = CATALOG.device("uno")
    how = FreeRun(max_seconds=seconds, max_output=None, uart=str(uart), real_time=True, eeprom=eeprom)
    made = threading.Thread(target=lambda: run_freely(read_image(elf, uno), uno, how, lambda data: None))
    made.start()
    end = time.monotonic() + DEADLINE_S
    while not uart.exists() and time.monotonic() < end:
        time.sleep(0.02)
    return made


@needs_kit("arduino-builder", "avr")
@pytest.mark.long
@pytest.mark.crosscheck
def test_a_simulated_unos_readings_arrive_at_the_gateway(sketchbook: Sketchbook, tmp_path: Path) -> None:
    """The sketch with sleep, at full speed and heard only: its first message goes again, then the next."""
    elf = sketchbook.build(library(sketchbook, "aes128-ccm8", SRF, "small"), "Sensor", "uno")
    station, heard = Station("aes128-ccm"), bytearray()
    uno = CATALOG.device("uno")
    eeprom = eeprom_of(station.image, tmp_path)
    how = FreeRun(max_seconds=15, eeprom=eeprom)
    run_freely(read_image(elf, uno), uno, how, heard.extend)
    assert heard.startswith(b"+++ATSM2\rATDN\r")
    packets = bytes(heard[len(b"+++ATSM2\rATDN\r") :])
    assert len(packets) % 12 == 0 and len(packets) > 10 * 24  # two packets, ten times, and the next reading
    station.gateway.receive([packets[at : at + 12] for at in range(0, len(packets), 12)], station._hand_over)
    numbers = [int.from_bytes(message.content[:2], "little") for message in station.messages]
    assert numbers == [0, 1] and all(message.node == 5 for message in station.messages)
    assert {event.event for event in station.gateway.take_events()} == set()
    assert eeprom.read_bytes()[:188] != station.image and eeprom.read_bytes()[188:] == b"\xff" * 836


@needs_kit("arduino-builder", "avr")
@pytest.mark.long
@pytest.mark.crosscheck
def test_an_unkeyed_uno_sends_nothing(sketchbook: Sketchbook, tmp_path: Path) -> None:
    elf = sketchbook.build(library(sketchbook, "aes128-ccm8", SRF, "small"), "Sensor", "uno")
    heard = bytearray()
    uno = CATALOG.device("uno")
    run_freely(read_image(elf, uno), uno, FreeRun(max_seconds=12), heard.extend)
    assert heard == b"+++ATSM2\rATDN\r"


@needs_kit("arduino-builder", "avr")
@pytest.mark.long
@pytest.mark.crosscheck
@pytest.mark.parametrize("cipher", CIPHERS)
def test_a_simulated_uno_and_the_gateway_talk_both_ways(
    sketchbook: Sketchbook, cipher: str, tmp_path: Path
) -> None:
    """Confirmed messages up and a command down; the LED is the command's."""
    elf = sketchbook.build(library(sketchbook, cipher, SRF), "Command", "uno")
    station = Station(CIPHERS[cipher])
    uart = tmp_path / "uart"
    running = on_uno(elf, eeprom_of(station.image, tmp_path), uart, 6)
    with SerialPort(str(uart), 115200) as port:
        serve(port, station, lambda: bool(station.messages), DEADLINE_S)
        assert [message.content for message in station.messages] == [b"\x00"]  # nobody presses the button
        event = station.gateway.send(5, b"\x01", COMMAND | CONFIRMED)
        assert event is Event.WAITING
        port.write(b"".join(station.gateway.take_packets()))
        serve(port, station, lambda: bool(station.events), DEADLINE_S)
        assert station.events == [Event.ACCEPTED]
        station.events.clear()
        station.gateway.send(5, b"\x07", COMMAND | CONFIRMED)
        port.write(b"".join(station.gateway.take_packets()))
        serve(port, station, lambda: bool(station.events), DEADLINE_S)
        assert station.events == [Event.REFUSED]  # what the sketch does not understand
    running.join(DEADLINE_S)
    assert not running.is_alive()


@needs_kit("arduino-builder", "avr")
@pytest.mark.long
@pytest.mark.crosscheck
def test_new_keys_go_in_by_the_cable(sketchbook: Sketchbook, tmp_path: Path) -> None:
    elf = sketchbook.build(library(sketchbook, "aes128-ccm8", None), "KeyChange", "uno")
    uno, eeprom = CATALOG.device("uno"), tmp_path / "eeprom"
    station = Station("aes128-ccm")
    block = block_text(station.image)
    second = Gateway(MemoryStore(), MASTER, "aes128-ccm", 12)
    images = [second.provision(5, TWO_WAY) for _ in range(2)]
    newer = f"MC2:{images[1][:24].hex()}"
    assert images[0] == station.image
    for lines, said in (
        ([], ["no keys"]),
        (["MC2:00", block + "0", "MC3" + block[3:], block[:-1] + "G"], ["no keys", *["not a key block"] * 4]),
        ([block], ["no keys", "node 5, generation 1"]),
        ([block], ["node 5, generation 1", "refused"]),
        ([], ["node 5, generation 1"]),
        ([newer], ["node 5, generation 1", "node 5, generation 2"]),
        ([block], ["node 5, generation 2", "refused"]),
    ):
        given, heard = tmp_path / "input", bytearray()
        given.write_bytes("".join(f"{line}\r\n" for line in lines).encode())
        with given.open("rb") as file:
            how = FreeRun(max_seconds=4, eeprom=eeprom, input=file.fileno())
            run_freely(read_image(elf, uno), uno, how, heard.extend)
        assert heard.decode().split("\r\n")[:-1] == said
    assert eeprom.read_bytes()[:188] == images[1]


# --- transports: compiled against what their libraries' headers declare, in our own words

RF24_H = """
struct RF24 {
    RF24(uint16_t ce, uint16_t csn);
    bool begin();
    void stopListening();
    void startListening();
    bool write(const void *buffer, uint8_t bytes);
    bool available();
    uint8_t getDynamicPayloadSize();
    void read(void *buffer, uint8_t bytes);
    void setAutoAck(bool on);
    void enableDynamicPayloads();
    void openWritingPipe(const uint8_t *address);
    void openReadingPipe(uint8_t pipe, const uint8_t *address);
};
"""
RADIOLIB_H = """
enum { RADIOLIB_ERR_NONE = 0 };
struct Module { Module(uint32_t cs, uint32_t irq, uint32_t reset, uint32_t gpio); };
struct AnyRadio {
    int16_t begin(float megahertz);
    int16_t transmit(const uint8_t *data, size_t bytes);
    int16_t startReceive();
    void setPacketReceivedAction(void (*function)());
    size_t getPacketLength();
    int16_t readData(uint8_t *data, size_t bytes);
};
struct RF69 : AnyRadio { RF69(Module *module); };
struct SX1276 : AnyRadio { SX1276(Module *module); };
"""
ARDUINO_H = """
#include <stddef.h>
#include <stdint.h>
enum { A0 = 14 };
int analogRead(int);
unsigned long millis(void);
"""


@needs_kit("avr")
@pytest.mark.parametrize(
    ("example", "radio"), [("Rf24", "nrf24"), ("Rfm69", "cc1101"), ("Lora", "lora"), ("Rf24", None)]
)
def test_the_sketches_for_other_radios_fit_their_libraries(
    example: str, radio: str | None, tmp_path: Path
) -> None:
    if process.run(["avr-g++", "--version"], timeout_s=60).ok is False:
        pytest.skip("avr-g++ is not installed")
    only = LinkRadio(load_radio(radio).with_figures(packet_bytes=32)) if radio else None
    made = planned("arduino", "aes128-ccm8", only)
    made.write(tmp_path / "lib")
    for name, text in (
        ("RF24.h", RF24_H),
        ("RadioLib.h", RADIOLIB_H),
        ("Arduino.h", ARDUINO_H),
        ("SPI.h", ""),
    ):
        (tmp_path / name).write_text(text)
    flags = ["-mmcu=atmega328p", "-std=gnu++11", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-I."]
    sketch = Path("lib/examples") / example / f"{example}.ino"
    run(["avr-g++", *flags, "-Ilib/src", "-include", "Arduino.h", "-x", "c++", sketch], tmp_path)


# --- the link's own machine code


@needs_kit("avr", "pico")
@pytest.mark.long
@pytest.mark.parametrize("fixed", [None, SRF.fixed], ids=["any", "srf"])
@pytest.mark.parametrize(("name", "cipher"), [("arduino", "aes128-ccm8"), ("pico-sdk", "ascon-aead128")])
def test_an_export_compiles_to_the_links_own_machine_code(
    name: str, cipher: str, fixed: FixedRadio | None, tmp_path: Path
) -> None:
    """So the figures of docs/link.md, which tests take of these files, are the export's."""
    meant = target(name, CATALOG)
    device = CATALOG.device(meant.device)
    request = BuildRequest(device, choose(CATALOG, CATALOG.cipher(cipher), meant, None), "flash")
    boards = [board for board in meant.link.boards if board not in ("arduino.c", "rp2040.c")]
    given = node_inputs(request, suite_of(CATALOG.cipher(cipher)), fixed, meant.link.storage, boards)
    made = exported_inputs(given, ("node.h",), "mc_prefix_")
    for file, text in made.files.items():
        (tmp_path / file).write_text(text)
    compiler = [device.compiler.command, *device.compiler.machine_flags, *request.cipher_flags, "-std=gnu99"]
    compiler += ["-ffunction-sections", "-fdata-sections", "-fno-common", "-c"]
    own = [*(f"-D{define}" for define in given.defines), *(f"-I{folder}" for folder in given.directories)]
    for source, copy in zip(given.sources, made.compiled, strict=True):
        run([*compiler, *own, source, "-o", "old.o"], tmp_path)
        run([*compiler, copy, "-o", "new.o"], tmp_path)
        new, old = code_of(tmp_path / "new.o", "mc_prefix_"), code_of(tmp_path / "old.o", "mc_prefix_")
        assert any(data for _, data, _ in old)
        assert new == old, source.name


# --- plain C: this computer and aarch64


def talk(command: list[str], station: Station, folder: Path) -> tuple[int, str]:
    """Run a node with its radio at standard input and output; how it ended, and what it said."""
    with subprocess.Popen(
        command, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as node:
        assert node.stdin is not None and node.stdout is not None and node.stderr is not None
        os.set_blocking(node.stdout.fileno(), False)
        end = time.monotonic() + 30
        while node.poll() is None and time.monotonic() < end:
            answers = station.take(node.stdout.read() or b"", time.monotonic())
            if answers:
                node.stdin.write(answers)
                node.stdin.flush()
            time.sleep(0.003)
        node.stdin.close()
        return node.wait(30), node.stderr.read().decode()


def check_node(command: list[str], station: Station, folder: Path) -> None:
    store = folder / "node.store"
    store.write_bytes(station.image)
    store.chmod(0o600)
    for text in ("21.4 C", "a longer message of thirty bytes"):
        assert talk([*command, "node.store", text], station, folder) == (0, "")
    assert [message.content.decode() for message in station.messages] == [
        "21.4 C",
        "a longer message of thirty bytes",
    ]
    store.chmod(0o644)
    code, said = talk([*command, "node.store", "x"], station, folder)
    assert (code, said) == (2, "node: node.store: Operation not permitted\n")
    store.chmod(0o600)
    store.write_bytes(b"\xff" * 188)
    assert talk([*command, "node.store", "x"], station, folder)[0] == 2


@needs_kit("host")
@pytest.mark.parametrize("cipher", CIPHERS)
def test_the_c_export_runs_by_the_line_in_its_readme(cipher: str, tmp_path: Path) -> None:
    made = planned("c", cipher)
    made.write(tmp_path / "lib")
    (line,) = [line for line in made.files["README.md"].decode().splitlines() if line.startswith("gcc ")]
    run(["sh", "-c", line], tmp_path / "lib")
    check_node(["./node"], Station(CIPHERS[cipher], 20), tmp_path / "lib")


@needs_kit("host")
def test_a_node_for_one_radio_takes_no_other_keys(tmp_path: Path) -> None:
    made = planned("c", "aes128-ccm8", SRF)
    made.write(tmp_path / "lib")
    sources = sorted((tmp_path / "lib" / "src").rglob("*.c"))
    main = tmp_path / "lib" / "examples" / "node" / "main.c"
    run(["gcc", *STRICT, "-O2", "-Ilib/src", *sources, main, "-o", "node"], tmp_path)
    check_node(["./node"], Station("aes128-ccm"), tmp_path)
    other = Station("aes128-ccm", 20)
    (tmp_path / "node.store").write_bytes(other.image)
    code, said = talk(["./node", "node.store", "x"], other, tmp_path)
    assert (code, said) == (2, "node: node.store: no keys; provision the node\n")


@needs_kit("arm64")
@pytest.mark.crosscheck
@pytest.mark.parametrize("cipher", CIPHERS)
def test_the_c_export_runs_on_aarch64(cipher: str, tmp_path: Path) -> None:
    planned("c", cipher).write(tmp_path / "lib")
    sources = sorted((tmp_path / "lib" / "src").rglob("*.c"))
    main = tmp_path / "lib" / "examples" / "node" / "main.c"
    compiler = ["aarch64-linux-gnu-gcc", *STRICT, "-O2", "-static", "-Ilib/src"]
    run([*compiler, *sources, main, "-o", "node"], tmp_path)
    check_node(["qemu-aarch64", "./node"], Station(CIPHERS[cipher]), tmp_path)


@needs_kit("cross")
@pytest.mark.crosscheck
def test_cmake_builds_the_c_export(tmp_path: Path) -> None:
    planned("c", "ascon-aead128").write(tmp_path / "lib")
    run(["cmake", "-S", "lib", "-B", "build"], tmp_path)
    run(["cmake", "--build", "build"], tmp_path)
    assert (tmp_path / "build" / "node").is_file()


# --- the Pico, without its SDK

PICO_MAIN = """
/* A node over a flash in RAM that keeps a flash's rules; it sends three readings and ends. */
#include "{folder}.h"
#include "hal.h"
#include <string.h>

static uint8_t memory[{prefix}LINK_FLASH_BYTES];
static const uint8_t first_page[256] = {{{page}}};
static uint8_t buffer[{prefix}LINK_NODE_BYTES(16, 12)];

void {prefix}link_flash_read(uint32_t at, uint8_t *to, uint16_t bytes) {{ memcpy(to, memory + at, bytes); }}
void {prefix}link_flash_write(uint32_t at, const uint8_t *page) {{
    for (int i = 0; i < 256; i++) memory[at + i] &= page[i];
}}
void {prefix}link_flash_erase(uint32_t at) {{ memset(memory + at, 0xff, 4096); }}
uint16_t {prefix}link_clock(struct {prefix}link *link) {{ (void)link; return 0; }}
static void put(struct {prefix}link_node *node, const uint8_t *packet, uint8_t bytes) {{
    (void)node;
    while (bytes-- > 0) hal_write(*packet++);
}}

int main(void) {{
    static struct {prefix}link_flash flash;
    static struct {prefix}link_node node = {{.put = put, .place = &flash}};
    hal_init();
    memset(memory, 0xff, sizeof memory);
    memcpy(memory, first_page, sizeof first_page);
    {prefix}link_flash_open(&flash, 0);
    if ({prefix}link_node_begin(&node, buffer, 16, 12, 250) == {prefix}LINK_NOTHING)
        for (uint8_t i = 0; i < 3; i++) {{
            uint8_t reading[6] = {{i}};
            {prefix}link_node_send(&node, reading, sizeof reading, 0);
        }}
    for (int i = 0; i < 4; i++) hal_write('.');
    for (;;) {{ }}
}}
"""


@needs_kit("pico")
@pytest.mark.parametrize("cipher", CIPHERS)
def test_a_simulated_picos_readings_arrive_at_the_gateway(cipher: str, tmp_path: Path) -> None:
    device = CATALOG.devices["pico"]
    made = planned("pico-sdk", cipher)
    made.write(tmp_path / "lib")
    station = Station(CIPHERS[cipher], options=SHORT | STREAM)
    page = flash_image(station.image)[:256]
    text = PICO_MAIN.format(
        folder=made.prefix.rstrip("_"), prefix=made.prefix, page=", ".join(map(str, page))
    )
    (tmp_path / "program.c").write_text(text)
    sources = [path for path in sorted((tmp_path / "lib" / "src").rglob("*.c")) if path.name != "rp2040.c"]
    include = ["-I.", "-Ilib/src", f"-I{FIRMWARE / 'include'}"]
    flags = [*device.compiler.machine_flags, *device.compiler.flags, "-std=gnu99", *include]
    link = [*device.compiler.link_flags, *device.placements["flash"].link_flags, "-Wl,--gc-sections"]
    link = [flag.replace("{device}", str(device.folder)) for flag in link]
    parts = [*sources, *(device.folder / name for name in device.hal)]
    run([device.compiler.command, *flags, "program.c", *parts, *link, "-o", "program.elf"], tmp_path)
    heard = bytearray()
    how = FreeRun(until="....", max_seconds=2.0)
    run_freely(read_image(tmp_path / "program.elf", device), device, how, heard.extend)
    packets = bytes(heard.split(b"....")[0])
    assert len(packets) == 12 * 4  # the first reading is a long message of two packets
    station.gateway.receive([packets[at : at + 12] for at in range(0, len(packets), 12)], station._hand_over)
    assert [message.content for message in station.messages] == [bytes([i, 0, 0, 0, 0, 0]) for i in range(3)]


# --- SDKs that are not here: compiled against what their headers declare, in our own words

SDKS = {
    "pico-sdk": {
        "hardware/flash.h": "#include <stddef.h>\n#include <stdint.h>\n#define XIP_BASE 0x10000000u\n"
        "void flash_range_erase(uint32_t, size_t);\n"
        "void flash_range_program(uint32_t, const uint8_t *, size_t);\n",
        "hardware/sync.h": "#include <stdint.h>\nuint32_t save_and_disable_interrupts(void);\n"
        "void restore_interrupts(uint32_t);\n",
        "hardware/adc.h": "#include <stdbool.h>\n#include <stdint.h>\nvoid adc_init(void);\n"
        "uint16_t adc_read(void);\n"
        "void adc_set_temp_sensor_enabled(bool);\nvoid adc_select_input(unsigned);\n",
        "hardware/uart.h": "#include <stdbool.h>\n#include <stddef.h>\n#include <stdint.h>\n"
        "typedef struct uart_inst uart_inst_t;\nextern uart_inst_t *const uart0;\n"
        "unsigned uart_init(uart_inst_t *, unsigned);\nchar uart_getc(uart_inst_t *);\n"
        "void uart_write_blocking(uart_inst_t *, const uint8_t *, size_t);\n"
        "bool uart_is_readable_within_us(uart_inst_t *, uint32_t);\n",
        "pico/time.h": "#include <stdint.h>\ntypedef uint64_t absolute_time_t;\n"
        "absolute_time_t get_absolute_time(void);\nuint32_t to_ms_since_boot(absolute_time_t);\n",
        "pico/stdlib.h": "#include <stdint.h>\nenum gpio_function { GPIO_FUNC_UART = 2 };\n"
        "void sleep_ms(uint32_t);\n"
        "void gpio_set_function(unsigned, enum gpio_function);\n",
    },
    "zephyr": {
        "zephyr/kernel.h": "#include <stddef.h>\n#include <stdint.h>\nuint32_t k_uptime_get_32(void);\n"
        "int32_t k_msleep(int32_t);\nvoid k_busy_wait(uint32_t);\n",
        "zephyr/storage/flash_map.h": "#include <stddef.h>\n#include <stdint.h>\n#include <sys/types.h>\n"
        "struct flash_area;\n#define FIXED_PARTITION_ID(label) 1\n"
        "int flash_area_open(uint8_t, const struct flash_area **);\n"
        "int flash_area_read(const struct flash_area *, off_t, void *, size_t);\n"
        "int flash_area_write(const struct flash_area *, off_t, const void *, size_t);\n"
        "int flash_area_erase(const struct flash_area *, off_t, size_t);\n",
        "zephyr/device.h": "struct device;\nextern const struct device the_uart;\n"
        "#define DT_CHOSEN(name) name\n#define DEVICE_DT_GET(node) (&the_uart)\n",
        "zephyr/drivers/uart.h": "struct device;\nvoid uart_poll_out(const struct device *, unsigned char);\n"
        "int uart_poll_in(const struct device *, unsigned char *);\n",
    },
    "esp-idf": {
        "esp_err.h": "typedef int esp_err_t;\n#define ESP_OK 0\n"
        "#define ESP_ERROR_CHECK(call) ((void)(call))\n",
        "esp_partition.h": '#include "esp_err.h"\n#include <stddef.h>\n#include <stdint.h>\n'
        "typedef struct esp_partition esp_partition_t;\n"
        "enum { ESP_PARTITION_TYPE_DATA = 1, ESP_PARTITION_SUBTYPE_ANY = 255 };\n"
        "const esp_partition_t *esp_partition_find_first(int, int, const char *);\n"
        "esp_err_t esp_partition_read(const esp_partition_t *, size_t, void *, size_t);\n"
        "esp_err_t esp_partition_write(const esp_partition_t *, size_t, const void *, size_t);\n"
        "esp_err_t esp_partition_erase_range(const esp_partition_t *, size_t, size_t);\n",
        "esp_timer.h": "#include <stdint.h>\nint64_t esp_timer_get_time(void);\n",
        "esp_event.h": '#include "esp_err.h"\nesp_err_t esp_event_loop_create_default(void);\n',
        "esp_netif.h": '#include "esp_err.h"\nesp_err_t esp_netif_init(void);\n',
        "nvs_flash.h": '#include "esp_err.h"\nesp_err_t nvs_flash_init(void);\n',
        "esp_wifi.h": '#include "esp_err.h"\ntypedef struct { int any; } wifi_init_config_t;\n'
        "#define WIFI_INIT_CONFIG_DEFAULT() {0}\nenum { WIFI_MODE_STA = 1 };\n"
        "typedef enum { WIFI_IF_STA } wifi_interface_t;\n"
        "esp_err_t esp_wifi_init(const wifi_init_config_t *);\nesp_err_t esp_wifi_set_mode(int);\n"
        "esp_err_t esp_wifi_start(void);\n",
        "esp_now.h": '#include "esp_err.h"\n#include "esp_wifi.h"\n#include <stdbool.h>\n'
        "#include <stddef.h>\n"
        "#include <stdint.h>\n#define ESP_NOW_ETH_ALEN 6\n"
        "typedef struct { uint8_t peer_addr[6]; uint8_t channel; wifi_interface_t ifidx; bool encrypt; }\n"
        "    esp_now_peer_info_t;\ntypedef struct { uint8_t *src_addr; } esp_now_recv_info_t;\n"
        "typedef void (*esp_now_recv_cb_t)(const esp_now_recv_info_t *, const uint8_t *, int);\n"
        "esp_err_t esp_now_init(void);\nesp_err_t esp_now_register_recv_cb(esp_now_recv_cb_t);\n"
        "esp_err_t esp_now_add_peer(const esp_now_peer_info_t *);\n"
        "esp_err_t esp_now_send(const uint8_t *, const uint8_t *, size_t);\n",
        "freertos/FreeRTOS.h": "#include <stdint.h>\ntypedef uint32_t TickType_t;\ntypedef int BaseType_t;\n"
        "#define pdTRUE 1\n#define pdMS_TO_TICKS(ms) ((TickType_t)(ms))\n",
        "freertos/queue.h": "typedef struct queue *QueueHandle_t;\n"
        "QueueHandle_t xQueueCreate(unsigned, unsigned);\n"
        "BaseType_t xQueueSend(QueueHandle_t, const void *, TickType_t);\n"
        "BaseType_t xQueueReceive(QueueHandle_t, void *, TickType_t);\n",
        "freertos/task.h": "void vTaskDelay(TickType_t);\n",
    },
    "platformio": {
        "Arduino.h": '#ifdef __cplusplus\nextern "C" {\n#endif\nunsigned long millis(void);\n'
        "#ifdef __cplusplus\n}\n#endif\n",
    },
}
COMPILERS = {
    "pico-sdk": ("pico", ["arm-none-eabi-gcc", "-mcpu=cortex-m0plus", "-mthumb"]),
    "zephyr": ("pico", ["arm-none-eabi-gcc", "-mcpu=cortex-m0plus", "-mthumb"]),
    "esp-idf": (
        "cross",
        ["riscv64-unknown-elf-gcc", "-march=rv32imc", "-mabi=ilp32", "-isystem", "/usr/include/newlib"],
    ),
    "platformio": ("avr", ["avr-gcc", "-mmcu=atmega328p"]),
}


@pytest.mark.parametrize("cipher", CIPHERS)
@pytest.mark.parametrize("name", SDKS)
def test_the_sources_and_the_example_compile_for_the_targets_core(
    name: str, cipher: str, tmp_path: Path
) -> None:
    kit, compiler = COMPILERS[name]
    skip_without(kit)
    made = planned(name, cipher)
    made.write(tmp_path / "lib")
    for header, text in SDKS[name].items():
        (tmp_path / "sdk" / header).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "sdk" / header).write_text(f"#pragma once\n{text}")
    files = [*sorted((tmp_path / "lib").rglob("*.c"))]
    assert any(file.name == "main.c" for file in files) or name == "platformio"
    strict = [flag for flag in STRICT if flag != "-Wconversion" or "avr" not in compiler[0]]  # wrong in GCC 5
    flags = ["-Os", *strict, "-isystem", "sdk", "-Ilib/src"]
    for file in files:
        run([*compiler, *flags, "-c", file, "-o", "made.o"], tmp_path)
