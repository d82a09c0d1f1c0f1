"""Machine code of a few halfwords as a whole firmware for the ARM driver: no compiler needed."""

from __future__ import annotations

import dataclasses
import json
import struct
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

from motecrypt.base.model import Device
from motecrypt.catalog import Catalog
from motecrypt.simulate.runners import Options, Region, arm
from motecrypt.simulate.runners.session import DriverSession

FLASH = 0x10000000
RAM = 0x20000000
VECTORS = 0x10000100
STACK_TOP = RAM + 0x8000
SCRATCH = RAM + 0x10000  # where r2 points
MARK = 0x4005800C
FLASH_L1 = 0x08000000
UART = 0x40034000


def pico() -> Device:
    """The device as its folder describes it."""
    return Catalog.load().device("pico")


@dataclasses.dataclass(frozen=True)
class Chip:
    """Where a chip has what a snippet's firmware needs.

    `sends` is "str r6" to the data register of the UART at r4, `looks` "ldr r6" from its status. `apart` is
    between the marks and the snippet, so that neither changes the other's cycles. `ram` has the top of the
    stack, and where r2 points.
    """

    vectors: int
    mark: int
    uart: int
    sends: int
    looks: int
    apart: tuple[int, ...] = ()
    ram: tuple[int, int] = (STACK_TOP, SCRATCH)


SMALL = (RAM + 0x1000, RAM + 0x1800)
CHIPS = {
    "RP2040": Chip(VECTORS, MARK, UART, sends=0x6026, looks=0x69A6),
    "STM32F407VG": Chip(0x08000000, 0x40023004, 0x40004400, sends=0x6066, looks=0x6826, apart=(0xBF00,)),
    "STM32F051R8": Chip(
        0x08000000, 0x40023004, 0x40013800, sends=0x62A6, looks=0x69E6, apart=(0x46C0,), ram=SMALL
    ),
    "RP2350": Chip(0x10000000, 0x400D800C, 0x40070000, sends=0x6026, looks=0x69A6, apart=(0x46D2,)),
    "STM32L100RC": Chip(
        0x08000000, 0x40023004, 0x40004400, sends=0x6066, looks=0x6826, apart=(0xBF00,), ram=SMALL
    ),
}


def stm32f4() -> Device:
    """The device with a Cortex-M4, as its folder describes it."""
    return Catalog.load().device("stm32f4")


def halfwords(text: str) -> list[int]:
    """Halfwords from hexadecimal digits separated by blanks."""
    return [int(word, 16) for word in text.split()]


def firmware(snippet: Sequence[int], data: bytes = b"", chip: str = "RP2040") -> bytes:
    """An ELF that runs `snippet` between two marks, then reports it on its UART and waits.

    Before it, r0 is 0, r1 2, r2 the address of some RAM, r3 4, and the flags say "equal"; it must leave
    r5 to r7 alone. `data` is at the next multiple of 4 after the code, `FLASH + 0x1000` bytes at most.
    """
    place = CHIPS[chip]
    code = [
        0x2000,  # movs r0, #0
        0x2102,  # movs r1, #2
        0x4A00,  # ldr r2, SCRATCH (patched below)
        0x2304,  # movs r3, #4
        0x4F00,  # ldr r7, MARK (patched)
        0x2601,  # movs r6, #1
        0x2500,  # movs r5, #0: sets Z
        0x603E,  # str r6, [r7]
        *(middle := [*place.apart, *snippet, *place.apart]),
        0x603D,  # str r5, [r7]
        0x4C00,  # ldr r4, UART (patched)
        place.sends,
        0x267E,  # movs r6, #0x7e
        place.sends,
        place.looks,  # wait
        0xE7FD,  # b wait
    ]
    if len(code) % 2:
        code.append(0x46C0)
    literals = {2: place.ram[1], 4: place.mark, 9 + len(middle): place.uart}
    for number, (index, value) in enumerate(literals.items()):
        address, target = index * 2, len(code) * 2 + number * 4
        code[index] |= (target - ((address + 4) & ~3)) // 4
        literals[index] = value
    image = struct.pack("<II", place.ram[0], place.vectors + 8 + 1)
    image += b"".join(struct.pack("<H", word) for word in code)
    image += b"".join(struct.pack("<I", value) for value in literals.values()) + data
    return elf(place.vectors, image, place.vectors + 8 + 1)


def elf(address: int, image: bytes, entry: int) -> bytes:
    """A minimal ELF executable of one segment."""
    header = b"\x7fELF\x01\x01\x01" + bytes(9)
    header += struct.pack("<HHIIIIIHHHHHH", 2, 40, 1, entry, 52, 0, 0, 52, 32, 1, 40, 0, 0)
    return header + struct.pack("<IIIIIIII", 1, 84, address, address, len(image), len(image), 5, 4) + image


def assembled(folder: Path, text: str, core: str = "cortex-m4") -> list[int]:
    """Halfwords of assembly, its lines separated by newlines or semicolons, for the second half of a word."""
    source, made, binary = folder / "snippet.s", folder / "snippet.o", folder / "snippet.bin"
    end = 0xFFFF  # sections are filled up to whole words
    source.write_text(f".syntax unified\n.thumb\n.balign 4\nnop\n{text}\n.hword {end}\n")
    for command in (
        ["arm-none-eabi-as", f"-mcpu={core}", "-mthumb", source, "-o", made],
        ["arm-none-eabi-objcopy", "-O", "binary", "-j", ".text", made, binary],
    ):
        subprocess.run(command, check=True, timeout=60)
    code = [number for (number,) in struct.iter_unpack("<H", binary.read_bytes())]
    return code[1 : len(code) - 1 - code[::-1].index(end)]


def changed(device: Device, **settings: object) -> Device:
    """The device with other simulator settings."""
    return dataclasses.replace(device, simulator={**device.simulator, **settings})


def run(
    folder: Path, snippet: Sequence[int], options: Options | None = None, device: Device | None = None
) -> Region:
    """Run a snippet once; raises Fault when the driver reports it."""
    return _run(folder, snippet, options or Options(), device or pico(), ())


def run_freely(folder: Path, snippet: Sequence[int], device: Device, *more: str | Path) -> Region:
    """Run a snippet once as any firmware is run; `more` are options of the driver."""
    free = ("--free", "--until", "~", "--max-seconds", "1")
    return _run(folder, snippet, Options(), device, (*free, *more))


def notes_of(folder: Path, snippet: Sequence[int], device: Device, *more: str | Path) -> list[str]:
    """What a free run of a snippet notes; `more` as above."""
    path, told = folder / "snippet.elf", folder / "events"
    path.write_bytes(firmware(snippet, chip=device.chip))
    with told.open("wb") as events:
        number = events.fileno()
        command = [
            str(part).replace("{events}", str(number)) for part in arm.command(device, path, Options())
        ]
        command += ["--free", "--until", "~", "--max-seconds", "1", *map(str, more)]
        no = subprocess.DEVNULL
        subprocess.run(command, check=True, timeout=20, pass_fds=(number,), stdin=no, stdout=no)
    lines = [json.loads(line) for line in told.read_text().splitlines()]
    return [line["detail"] for line in lines if line["event"] == "note"]


def _run(
    folder: Path, snippet: Sequence[int], options: Options, device: Device, more: Sequence[str | Path]
) -> Region:
    path = folder / "snippet.elf"
    path.write_bytes(firmware(snippet, chip=device.chip))
    with DriverSession([*arm.command(device, path, options), *more]) as session:
        deadline = time.monotonic() + 20
        said = b""
        while not said.endswith(b"\x7e") and time.monotonic() < deadline:
            said += session.read(deadline)
        (region,) = session.regions()
    return region
