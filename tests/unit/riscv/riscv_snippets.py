"""A few instructions as a whole firmware for the RISC-V driver."""

from __future__ import annotations

import dataclasses
import struct
import subprocess
import time
from pathlib import Path

from motecrypt.base.model import Device
from motecrypt.catalog import Catalog
from motecrypt.simulate.emulate.images import RISCV, Segment, elf_of
from motecrypt.simulate.runners import Options, Region, riscv
from motecrypt.simulate.runners.session import DriverSession


@dataclasses.dataclass(frozen=True)
class Chip:
    """Where a chip has what a snippet's firmware needs; `sent` and `taken` are offsets from `uart`.

    `looks`: what is loaded from `uart` + `taken` while no byte has come.
    """

    march: str
    mabi: str
    uart: int
    sent: int
    looks: int


CHIPS = {
    "hifive1": Chip("rv32imac", "ilp32", 0x10013000, sent=0, looks=4),
    "ch32v003": Chip("rv32ec", "ilp32e", 0x40013800, sent=4, looks=0),
    "esp32c3": Chip("rv32imac", "ilp32", 0x60000000, sent=0, looks=0x1C),
}
CHIPS["ch32v003-24mhz"] = CHIPS["ch32v003"]
SCRATCH = 0x400
"""Where a2 points, from the beginning of RAM; a whole number of lines and pages."""


def device(name: str, **settings: object) -> Device:
    """A device as its folder describes it, with other simulator settings."""
    found = Catalog.load().device(name)
    return dataclasses.replace(found, simulator={**found.simulator, **settings})


def costs(found: Device, **changed: int) -> dict[str, int]:
    """A device's cycles with some of them changed."""
    return {**found.simulator["cycles"], **changed}


def assembled(folder: Path, text: str, chip: Chip, address: int) -> bytes:
    """Machine code of assembly, its lines separated by newlines or semicolons, linked to an address."""
    source, made, linked, binary = (folder / f"snippet.{end}" for end in ("s", "o", "elf", "bin"))
    source.write_text(".option norelax\n.globl _start\n_start:\n" + text.replace(";", "\n") + "\n")
    flags = [f"-march={chip.march}", f"-mabi={chip.mabi}", "-misa-spec=2.2"]
    commands: list[list[str | Path]] = [
        ["riscv64-unknown-elf-as", *flags, source, "-o", made],
        ["riscv64-unknown-elf-ld", "-melf32lriscv", f"-Ttext={address:#x}", made, "-o", linked],
        ["riscv64-unknown-elf-objcopy", "-O", "binary", "-j", ".text", linked, binary],
    ]
    for command in commands:
        subprocess.run(command, check=True, timeout=60)
    return binary.read_bytes()


def around(snippet: str, target: Device) -> str:
    """A firmware that runs a snippet between two marks, reports it on its UART and waits.

    Before it a0 is 0, a1 2, a2 an address in RAM, a3 4; s0 and s1 are the marks' and stay as they are. The
    snippet begins at a multiple of 4.
    """
    chip = CHIPS[target.name]
    ram = target.memory["ram"].address
    return f"""
        li sp, {ram + 0x800:#x}; jal main
    main:
        li s0, {target.simulator["mark_address"]:#x}; li s1, 1
        li a0, 0; li a1, 2; li a2, {ram + SCRATCH:#x}; li a3, 4
        .balign 4
        .option push; .option norvc; nop; nop; nop; nop; nop; nop; sw s1, 0(s0); .option pop
        {snippet}
        .option push; .option norvc; sw zero, 0(s0); .option pop
        li s0, {chip.uart:#x}; li s1, 0x7e
        sw s1, {chip.sent}(s0); sw s1, {chip.sent}(s0)
    wait: lw s1, {chip.looks}(s0); j wait
    """


def firmware(folder: Path, snippet: str, target: Device) -> Path:
    """The ELF of `around` a snippet."""
    flash = target.memory["flash"].address
    return elf(folder, assembled(folder, around(snippet, target), CHIPS[target.name], flash), flash)


def elf(folder: Path, code: bytes, address: int) -> Path:
    """An ELF of machine code that begins at its address."""
    path = folder / "firmware.elf"
    path.write_bytes(elf_of([Segment(address, code)], RISCV, address))
    return path


def ran(path: Path, target: Device, options: Options) -> Region:
    """The one region of a firmware; raises Fault when the driver reports it."""
    with DriverSession(riscv.command(target, path, options)) as session:
        deadline = time.monotonic() + 20
        said = b""
        while not said.endswith(b"\x7e") and time.monotonic() < deadline:
            said += session.read(deadline)
        (region,) = session.regions()
    return region


def run(folder: Path, snippet: str, target: Device, options: Options | None = None) -> Region:
    """Run a snippet once."""
    return ran(firmware(folder, snippet, target), target, options or Options())


def words(*codes: int) -> bytes:
    """Instructions of 32 bits."""
    return b"".join(struct.pack("<I", code) for code in codes)
