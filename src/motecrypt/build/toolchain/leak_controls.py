"""Builds the controls of leakage assessments (firmware/leakage): one firmware for each."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from motecrypt.base.model import Device
from motecrypt.build.toolchain import toolchain
from motecrypt.catalog import FIRMWARE

FOLDER = FIRMWARE / "leakage"
CONTROLS = ("empty", "constant", "sbox", "masked", "overwrite")
#: By the device's simulator, which knows one architecture.
ASSEMBLY = {"simavr": "avr", "arm": "arm", "riscv": "riscv"}
_FLAGS = ("-std=gnu11", "-Wall", "-Wextra", "-Werror", "-gdwarf-4", "-O2", "-fno-common", "-fno-lto")


@contextmanager
def built_control(device: Device, control: str) -> Iterator[Path]:
    """Build a control, for as long as it is used.

    Parameters
    ----------
    control
        Of `CONTROLS`.

    Raises
    ------
    BuildError
        With the compiler's first error.
    """
    compiler = device.compiler
    own = FOLDER / f"controls_{ASSEMBLY[device.runner]}.S"
    board = [device.folder / name for name in device.hal]
    placement = next(iter(device.placements.values()))
    with tempfile.TemporaryDirectory(prefix="motecrypt-") as scratch:
        work = Path(scratch)
        defines = [f"-D{name}" for name in (*compiler.defines, f"CONTROL_{control.upper()}")]
        include = [f"-I{FOLDER}", f"-I{FIRMWARE / 'include'}"]
        flags = [*compiler.machine_flags, *_FLAGS, *defines, *include]
        outcome = toolchain.run_compiler(
            [compiler.command, *flags, "-c", FOLDER / "controls.c", own, *board], cwd=work
        )
        if outcome.ok:
            linking = (*compiler.link_flags, *placement.link_flags)
            elf = work / "control.elf"
            outcome = toolchain.run_compiler(
                [
                    *(compiler.link_command, *compiler.machine_flags, "-Wl,--gc-sections"),
                    *sorted(work.glob("*.o")),
                    *(flag.replace("{device}", str(device.folder)) for flag in linking),
                    *("-o", elf),
                ]
            )
        if not outcome.ok:
            raise toolchain.failure(outcome, work, f"control {control}: ")
        yield elf
