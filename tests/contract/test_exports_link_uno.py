"""Exports of the link for Arduino: built by arduino-builder, run on a simulated UNO, received by the
gateway."""

from __future__ import annotations

import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from arduino_sketchbook import Sketchbook
from exports_bed import (
    CATALOG,
    CIPHERS,
    DEADLINE_S,
    MASTER,
    SRF,
    TWO_WAY,
    Station,
    planned,
    run,
    serve,
)
from motecrypt.base.serial_port import PortError, SerialPort
from motecrypt.exports.commands import LinkRadio
from motecrypt.exports.library import Export
from motecrypt.link.gateway_end import Gateway
from motecrypt.link.native import (
    BROADCAST,
    COMMAND,
    CONFIRMED,
    Event,
    NativeLink,
    link_library,
    open_library,
)
from motecrypt.link.provisioning import block_text, eeprom_hex
from motecrypt.link.state import MemoryStore
from motecrypt.simulate.emulate.images import read_image
from motecrypt.simulate.emulate.run import ChipSettings, FreeRun, Uart, run_freely
from tool_sets import needs_tool_set


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


@needs_tool_set("arduino-builder", "avr")
@pytest.mark.long
@pytest.mark.crosscheck
@pytest.mark.parametrize("board", ["uno", "mega:cpu=atmega2560", "leonardo"])
def test_the_sketches_compile_for_the_boards(sketchbook: Sketchbook, board: str) -> None:
    any_radio = library(sketchbook, "aes128-ccm8", None)
    one_radio = library(sketchbook, "ascon-aead128", SRF)
    for example in ("Sensor", "Command", "Group", "KeyChange", "Oscore", "Thermometer", "Uart"):
        assert sketchbook.build(any_radio, example, board).is_file()
    for example in ("Sensor", "KeyChange"):
        assert sketchbook.build(one_radio, example, board).is_file()


def on_uno(elf: Path, eeprom: Path, uart: Path, seconds: float) -> threading.Thread:
    """A simulated UNO that keeps to the clock, with its serial line at a pseudo-terminal."""
    uno = CATALOG.device("uno")
    how = FreeRun(
        max_seconds=seconds,
        max_output=None,
        uart=Uart(port=str(uart), real_time=True),
        chip=ChipSettings(eeprom=eeprom),
    )
    made = threading.Thread(target=lambda: run_freely(read_image(elf, uno), uno, how, lambda data: None))
    made.start()
    end = time.monotonic() + DEADLINE_S
    while not uart.exists() and time.monotonic() < end:
        time.sleep(0.02)
    return made


@needs_tool_set("arduino-builder", "avr")
@pytest.mark.long
@pytest.mark.crosscheck
def test_a_simulated_unos_readings_arrive_at_the_gateway(sketchbook: Sketchbook, tmp_path: Path) -> None:
    """The sketch with sleep, at full speed and received only: its first message goes again, then the next."""
    elf = sketchbook.build(library(sketchbook, "aes128-ccm8", SRF, "small"), "Sensor", "uno")
    station, heard = Station("aes128-ccm"), bytearray()
    uno = CATALOG.device("uno")
    eeprom = eeprom_of(station.image, tmp_path)
    how = FreeRun(max_seconds=15, chip=ChipSettings(eeprom=eeprom))
    run_freely(read_image(elf, uno), uno, how, heard.extend)
    assert heard.startswith(b"+++ATSM2\rATDN\r")
    packets = bytes(heard[len(b"+++ATSM2\rATDN\r") :])
    assert len(packets) % 12 == 0 and len(packets) > 10 * 24  # two packets, ten times, and the next reading
    station.gateway.receive([packets[at : at + 12] for at in range(0, len(packets), 12)], station._hand_over)
    numbers = [int.from_bytes(message.content[:2], "little") for message in station.messages]
    assert numbers == [0, 1] and all(message.node == 5 for message in station.messages)
    assert {event.event for event in station.gateway.take_events()} == set()
    assert eeprom.read_bytes()[:188] != station.image and eeprom.read_bytes()[188:] == b"\xff" * 836


@needs_tool_set("arduino-builder", "avr")
@pytest.mark.long
@pytest.mark.crosscheck
def test_an_unkeyed_uno_says_so_and_sends_nothing(sketchbook: Sketchbook, tmp_path: Path) -> None:
    elf = sketchbook.build(library(sketchbook, "aes128-ccm8", SRF, "small"), "Sensor", "uno")
    heard = bytearray()
    uno = CATALOG.device("uno")
    run_freely(read_image(elf, uno), uno, FreeRun(max_seconds=12), heard.extend)
    words = "--radio srf --packet-bytes 12 --eep node.eep"
    told = f"Sensor: no keys for this sketch: motecrypt provision NUMBER --key gateway.key {words}"
    assert heard.decode() == f"+++ATSM2\rATDN\r{told}\r\n"


@needs_tool_set("arduino-builder", "avr")
@pytest.mark.long
@pytest.mark.crosscheck
def test_a_simulated_uno_hears_what_its_group_is_told(sketchbook: Sketchbook, tmp_path: Path) -> None:
    """Two storages in one EEPROM: what the group's end has taken, it never takes again."""
    elf = sketchbook.build(library(sketchbook, "aes128-ccm8", SRF), "Group", "uno")
    station = Station("aes128-ccm")
    group = station.gateway.provision(BROADCAST, TWO_WAY)
    eeprom = eeprom_of(station.image, tmp_path)
    eeprom.write_bytes((station.image + group).ljust(1024, b"\xff"))
    uart = tmp_path / "uart"
    station.gateway.send(BROADCAST, b"\x80")
    told = station.gateway.take_packets()
    running = on_uno(elf, eeprom, uart, 4)
    with SerialPort(str(uart), 115200) as port:
        time.sleep(0.5)
        for packet in told:
            port.write(packet)
        end = time.monotonic() + DEADLINE_S
        with suppress(PortError):  # the line goes away as the simulated chip ends
            while running.is_alive() and time.monotonic() < end:
                port.read()
                time.sleep(0.05)
    running.join(DEADLINE_S)
    kept = eeprom.read_bytes()
    assert kept[:188] != station.image and kept[376:] == b"\xff" * 648  # it has said hello
    library_of = open_library(link_library("aes128-ccm"))
    before, after = NativeLink(library_of), NativeLink(library_of)
    assert before.begin(group) is after.begin(kept[188:376]) is Event.NOTHING
    assert [before.receive(packet) for packet in told][-1] is Event.MESSAGE
    assert {after.receive(packet) for packet in told} == {Event.NOTHING}


@needs_tool_set("arduino-builder", "avr")
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


@needs_tool_set("arduino-builder", "avr")
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
    group = second.provision(BROADCAST, TWO_WAY)
    again = "which is here; provision the node again"
    version = "version of motecrypt; export and provision with the same one"
    for lines, said in (
        ([], ["no keys"]),
        (["MC2:00", block + "0", "MC3" + block[3:], block[:-1] + "G"], ["no keys", *["not a key block"] * 4]),
        ([block], ["no keys", "node 5, generation 1"]),
        ([block], ["node 5, generation 1", f"refused: generation 1 is not later than 1, {again}"]),
        ([], ["node 5, generation 1"]),
        ([newer], ["node 5, generation 1", "node 5, generation 2"]),
        ([block], ["node 5, generation 2", f"refused: generation 1 is not later than 2, {again}"]),
        ([block_text(group)], ["node 5, generation 2", "node 63, generation 1"]),
        (
            [block_text(group)],
            ["node 5, generation 2", f"refused: generation 1 is not later than 1, {again}"],
        ),
        (["MC2:04" + block[6:]], ["node 5, generation 2", f"refused: a key block of another {version}"]),
    ):
        given, heard = tmp_path / "input", bytearray()
        given.write_bytes("".join(f"{line}\r\n" for line in lines).encode())
        with given.open("rb") as file:
            how = FreeRun(max_seconds=4, chip=ChipSettings(eeprom=eeprom), uart=Uart(input=file.fileno()))
            run_freely(read_image(elf, uno), uno, how, heard.extend)
        assert heard.decode().split("\r\n")[:-1] == said
    assert eeprom.read_bytes()[:376] == images[1] + group
