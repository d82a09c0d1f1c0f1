"""Machine code of a few halfwords as a whole firmware for the ARM driver: no compiler needed."""

from __future__ import annotations

import dataclasses
import struct
import time
from collections.abc import Sequence
from pathlib import Path

from motecrypt.catalog import Catalog
from motecrypt.model import Device
from motecrypt.runners import Options, Region, arm
from motecrypt.runners.session import DriverSession

FLASH = 0x10000000
RAM = 0x20000000
VECTORS = 0x10000100
STACK_TOP = RAM + 0x8000
SCRATCH = RAM + 0x10000  # where r2 points
MARK = 0x4005800C
UART = 0x40034000


def pico() -> Device:
    """The device as its folder describes it."""
    return Catalog.load().device("pico")


def halfwords(text: str) -> list[int]:
    """Halfwords from hexadecimal digits separated by blanks."""
    return [int(word, 16) for word in text.split()]


def firmware(snippet: Sequence[int], data: bytes = b"") -> bytes:
    """An ELF that runs `snippet` between two marks, then reports it on its UART and waits.

    Before it, r0 is 0, r1 2, r2 the address of some RAM, r3 4, and the flags say "equal"; it must leave
    r5 to r7 alone. `data` is at the next multiple of 4 after the code, `FLASH + 0x1000` bytes at most.
    """
    code = [
        0x2000,  # movs r0, #0
        0x2102,  # movs r1, #2
        0x4A00,  # ldr r2, SCRATCH (patched below)
        0x2304,  # movs r3, #4
        0x4F00,  # ldr r7, MARK (patched)
        0x2601,  # movs r6, #1
        0x2500,  # movs r5, #0: sets Z
        0x603E,  # str r6, [r7]
        *snippet,
        0x603D,  # str r5, [r7]
        0x4C00,  # ldr r4, UART (patched)
        0x6026,  # str r6, [r4]
        0x267E,  # movs r6, #0x7e
        0x6026,  # str r6, [r4]
        0x69A6,  # wait: ldr r6, [r4, #0x18]
        0xE7FD,  # b wait
    ]
    if len(code) % 2:
        code.append(0x46C0)
    literals = {2: SCRATCH, 4: MARK, 9 + len(snippet): UART}
    for place, (index, value) in enumerate(literals.items()):
        address, target = index * 2, len(code) * 2 + place * 4
        code[index] |= (target - ((address + 4) & ~3)) // 4
        literals[index] = value
    image = struct.pack("<II", STACK_TOP, VECTORS + 8 + 1)
    image += b"".join(struct.pack("<H", word) for word in code)
    image += b"".join(struct.pack("<I", value) for value in literals.values()) + data
    return elf(VECTORS, image, VECTORS + 8 + 1)


def elf(address: int, image: bytes, entry: int) -> bytes:
    """A minimal ELF executable of one segment."""
    header = b"\x7fELF\x01\x01\x01" + bytes(9)
    header += struct.pack("<HHIIIIIHHHHHH", 2, 40, 1, entry, 52, 0, 0, 52, 32, 1, 40, 0, 0)
    return header + struct.pack("<IIIIIIII", 1, 84, address, address, len(image), len(image), 5, 4) + image


def changed(device: Device, **settings: object) -> Device:
    """The device with other simulator settings."""
    return dataclasses.replace(device, simulator={**device.simulator, **settings})


def run(
    folder: Path, snippet: Sequence[int], options: Options | None = None, device: Device | None = None
) -> Region:
    """Run a snippet once; raises Fault when the driver reports it."""
    path = folder / "snippet.elf"
    path.write_bytes(firmware(snippet))
    options = options or Options()
    with DriverSession(arm.command(device or pico(), path, options)) as session:
        deadline = time.monotonic() + 20
        said = b""
        while not said.endswith(b"\x7e") and time.monotonic() < deadline:
            said += session.read(deadline)
        (region,) = session.regions()
    return region
