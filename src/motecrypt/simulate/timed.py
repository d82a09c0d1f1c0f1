"""Builds a user's program with timed regions (firmware/hardware/timed.h) for a device."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from motecrypt.base.model import Device
from motecrypt.build.toolchain import toolchain
from motecrypt.build.toolchain.scripts import link_flags
from motecrypt.build.toolchain.sizes import symbols
from motecrypt.catalog import FIRMWARE

_FOLDER = FIRMWARE / "hardware"
_COMMON = ("-ffunction-sections", "-fdata-sections", "-fno-common", "-fno-lto", "-w")
PLACEMENT = "flash"


@dataclass(frozen=True)
class TimedSources:
    """What is compiled of a user's program, and how.

    Attributes
    ----------
    include : folders, next to those of the sources.
    flags : of the compiler for these sources; empty: the device's own.
    """

    sources: tuple[Path, ...]
    include: tuple[Path, ...] = ()
    defines: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()

    def with_flags(self, device: Device, more: tuple[str, ...]) -> TimedSources:
        """The same with flags added to its own, or to those of the device where it has none."""
        return replace(self, flags=(*(self.flags or device.compiler.flags), *more)) if more else self


@dataclass(frozen=True)
class TimedFirmware:
    """The ELF, its hash, where its data ends, and who compiled it."""

    elf: Path
    sha256: str
    data_end: int
    compiler: str


@contextmanager
def built_timed(device: Device, program: TimedSources) -> Iterator[TimedFirmware]:
    """Build it, for as long as it is used.

    Raises
    ------
    BuildError
        With the compiler's or linker's first error.
    """
    compiler, placement = device.compiler, device.placements[PLACEMENT]
    near = dict.fromkeys(source.parent for source in program.sources)
    include = [f"-I{place}" for place in (*program.include, *near, _FOLDER, FIRMWARE / "include")]
    board = [_FOLDER / "timed.c", *(device.folder / name for name in device.hal)]
    defines = [f"-D{name}" for name in (*placement.defines, *compiler.defines)]
    with tempfile.TemporaryDirectory(prefix="motecrypt-") as scratch:
        work, objects = Path(scratch), []
        for number, source in enumerate((*board, *program.sources)):
            command, own_flags = compiler.compiling(source)
            flags = [*own_flags, *compiler.machine_flags, *_COMMON, *defines, *include]
            if source in board:
                flags += compiler.flags
            else:
                flags += [*(program.flags or compiler.flags), *(f"-D{name}" for name in program.defines)]
            target = work / f"{number}_{source.stem}.o"
            toolchain.compile_object(command, tuple(flags), source, target, work)
            objects.append(target)
        flags = [*compiler.machine_flags, *compiler.flags, "-Wl,--gc-sections"]
        flags += link_flags(device, PLACEMENT)
        elf = work / "timed.elf"
        toolchain.link(compiler.link_command, tuple(flags), objects, elf, work)
        table = symbols(elf)
        yield TimedFirmware(
            elf,
            hashlib.sha256(elf.read_bytes()).hexdigest(),
            table.get("_end", table.get("__bss_end__", table.get("end", 0))),
            toolchain.identity(compiler.command),
        )
