"""The link core on a simulated UNO: the same packets as on this computer, and what it takes of the chip."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from link_ports import FaultyLink
from motecrypt.catalog import FIRMWARE, Catalog
from motecrypt.link.native import (
    CONFIRMED,
    DEFINES,
    GATEWAY,
    LISTENS,
    LONG,
    SHORT,
    STREAM,
    Event,
    KeyBlock,
)
from motecrypt.simulate.emulate.images import read_image
from motecrypt.simulate.emulate.run import FreeRun, run_freely
from toolchains import for_compiler

HERE = Path(__file__).parent
OPTIONS, PACKET_BYTES = SHORT | LISTENS | STREAM, 12
KEY = bytes(range(16))
READING = b"21.4 C"
ARDUINO = (
    *("-mmcu=atmega328p", "-Os", "-std=gnu11", "-flto", "-fno-fat-lto-objects", "-fuse-linker-plugin"),
    *("-ffunction-sections", "-fdata-sections", "-Wl,--gc-sections", "-Wall", "-Wextra", "-Werror"),
    *("-DF_CPU=16000000UL", "-DLINK_SUITE=1", "-DLINK_ANSWER_MS=250", '-DCIPHER_HEADER="ccm.h"'),
)
"""What Arduino's own core for AVR is compiled and linked with, and the link's defines."""


MOST_CYCLES_AND_STACK = {
    "5.4": {"tiny": (47_088, 172), "small": (62_800, 335), "fast": (15_696, 329)},
    "14.2": {"tiny": (47_200, 175), "small": (64_500, 340), "fast": (17_600, 330)},
}
"""Of one sealing or opening of a short packet, and of any step; by compiler and AES."""
MOST_CYCLES_TO_REFUSE = {"tiny": 265_000, "small": 315_000, "fast": 190_000}
"""A forged packet, with the record of it, without the time of the cells of an EEPROM; by AES."""
MOST_FLASH_AND_RAM = {
    "5.4": {"both ways": (4_156, 81), "sends only": (2_092, 69)},
    "14.2": {"both ways": (4_160, 81), "sends only": (2_094, 69)},
}
"""Bytes beside the message's buffers."""


def compiled(target: Path, *sources: Path, aes: str = "tiny", flags: tuple[str, ...] = ()) -> Path:
    """A sketch with the link."""
    places = (FIRMWARE / name for name in ("link", "include", "modes", "ciphers/aes"))
    include = [part for place in places for part in ("-I", str(place))]
    names = ("link/link.c", "link/keys.c", "link/store.c", "link/suite_ccm.c")
    own = [FIRMWARE / name for name in (*names, f"ciphers/aes/aes_{aes}.c")]
    command = ["avr-gcc", *ARDUINO, *DEFINES, f'-DBLOCK_HEADER="aes_{aes}.h"', *flags, *include]
    done = subprocess.run(
        [*command, *map(str, (*sources, *own)), "-o", str(target)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return target


def sizes(elf: Path) -> tuple[int, int]:
    """Flash and static RAM in bytes."""
    done = subprocess.run(["avr-size", str(elf)], capture_output=True, text=True, timeout=60, check=True)
    text, data, bss = (int(word) for word in done.stdout.splitlines()[1].split()[:3])
    return text + data, data + bss


@dataclass(frozen=True)
class Step:
    """One step of the scenario, as this computer did it."""

    name: str
    receives: bool
    how: int
    data: bytes
    event: Event
    packets: bytes


def scenario() -> tuple[bytes, list[Step]]:
    """The node's storage at first, and a scenario in which every path comes once its keys are derived."""
    node, gateway = FaultyLink(), FaultyLink()
    node.provision(KeyBlock(5, OPTIONS, PACKET_BYTES, 1, KEY))
    gateway.provision(KeyBlock(5, OPTIONS | GATEWAY, PACKET_BYTES, 1, KEY))
    storage = node.storage
    assert node.begin() == gateway.begin() == Event.NOTHING
    steps: list[Step] = []

    def sends(name: str, message: bytes, how: int = 0) -> list[bytes]:
        event = node.send(message, how)
        packets = node.packets()
        steps.append(Step(name, False, how, message, event, b"".join(packets)))
        return packets

    def receives(name: str, packet: bytes) -> None:
        event = node.receive(packet)
        if event is Event.MESSAGE:
            node.answer(True)
        packets = node.packets()
        steps.append(Step(name, True, 0, packet, event, b"".join(packets)))
        for answer in packets:
            gateway.receive(answer)

    def up(packets: list[bytes]) -> None:
        for packet in packets:
            if gateway.receive(packet) is Event.MESSAGE:
                gateway.answer(True)
        for answer in gateway.packets():
            receives("answer", answer)

    up(sends("first", READING))
    up(sends("derive", READING))
    up(sends("seal", READING))
    gateway.send(READING, CONFIRMED | LONG)
    for packet in gateway.packets():
        receives("long", packet)
    for name in ("derive and open", "open"):
        gateway.send(READING)
        for packet in gateway.packets():
            receives(name, packet)
    gateway.send(READING)
    (packet,) = gateway.packets()
    for name in ("forged", "forged", "forged again"):
        receives(name, packet[:-1] + bytes([packet[-1] ^ 1]))
    up(sends("confirmed", READING, CONFIRMED))
    up(sends("fragments", bytes(range(40)), CONFIRMED))
    return storage, steps


def played(folder: Path, aes: str, *more: str) -> list[tuple[Step, int, int]]:
    """The scenario on the simulated chip: each step with its cycles and its stack."""
    storage, steps = scenario()
    lines = [f"#define IMAGE {', '.join(map(str, storage))}", "#define STEPS \\"]
    for step in steps:
        data = ", ".join(map(str, step.data))
        lines.append(f"    {{{int(step.receives)}, {step.how}, {len(step.data)}, {{{data}}}}}, \\")
    (folder / "steps.h").write_text("\n".join(lines) + "\n\n")
    uno = Catalog.load().device("uno")
    sources = (HERE / "uno_node.c", *(uno.folder / name for name in uno.hal))
    fixed = (f"-DLINK_OPTIONS={OPTIONS}", f"-DLINK_PACKET_BYTES={PACKET_BYTES}")
    elf = compiled(folder / "node.elf", *sources, aes=aes, flags=(f"-I{folder}", *fixed, *more))
    output = bytearray()
    ended = run_freely(read_image(elf, uno), uno, FreeRun(until=".", max_seconds=20), output.extend)
    assert ended.reason == "until", ended
    said = output.decode().split(".")[0].splitlines()
    assert said[0].startswith("00 ") and len(said) == len(steps) + 1
    costs = []
    for step, line in zip(steps, said[1:], strict=True):
        event, cycles, stack, packets = line.split(" ")
        assert (int(event, 16), packets) == (step.event, step.packets.hex()), step
        costs.append((step, 8 * int(cycles, 16), int(stack, 16)))
    return costs


def compiler() -> str:
    """The AVR compiler's name and version."""
    return subprocess.run(
        ["avr-gcc", "--version"], capture_output=True, text=True, timeout=60, check=True
    ).stdout.splitlines()[0]


@pytest.mark.parametrize("aes", ["tiny", "small", "fast"])
def test_an_uno_sends_and_takes_the_same_packets_within_its_cycles_and_stack(
    aes: str, tmp_path: Path
) -> None:
    costs = played(tmp_path, aes)
    for step, cycles, stack in costs:
        print(f"{aes} {step.name}: {cycles:,} cycles, {stack} bytes of stack")
    steady = [cycles for step, cycles, _ in costs if step.name in ("seal", "open")]
    refused = [cycles for step, cycles, _ in costs if step.name == "forged again"]
    assert len(steady) == 2 and len(refused) == 1 and refused[0] <= MOST_CYCLES_TO_REFUSE[aes]
    most_cycles, most_stack = for_compiler(compiler(), MOST_CYCLES_AND_STACK)[aes]
    assert max(steady) <= most_cycles
    assert max(stack for _, _, stack in costs) <= most_stack


def test_the_suite_in_c_does_what_its_assembly_does(tmp_path: Path) -> None:
    played(tmp_path, "tiny", "-DLINK_PLAIN_C")


@pytest.mark.parametrize(
    ("name", "flags"),
    [
        ("both ways", (f"-DLINK_OPTIONS={OPTIONS}", f"-DLINK_PACKET_BYTES={PACKET_BYTES}")),
        ("sends only", (f"-DLINK_OPTIONS={OPTIONS & ~LISTENS}", "-DLINK_PACKET_BYTES=12", "-DSENDS_ONLY")),
    ],
    ids=["both ways", "sends only"],
)
def test_what_the_link_takes_of_an_uno(name: str, flags: tuple[str, ...], tmp_path: Path) -> None:
    with_link = sizes(compiled(tmp_path / "with.elf", HERE / "uno_size.c", flags=flags))
    without = sizes(compiled(tmp_path / "without.elf", HERE / "uno_size.c", flags=("-DWITHOUT_LINK",)))
    buffers = 2 * 80
    takes = with_link[0] - without[0], with_link[1] - without[1] - buffers
    print(f"{takes[0]:,} bytes of flash, {takes[1]} of static RAM")
    most_flash, most_ram = for_compiler(compiler(), MOST_FLASH_AND_RAM)[name]
    assert takes[0] <= most_flash and takes[1] <= most_ram
