"""Writes a firmware to a board with the tool that its device names: OpenOCD through a debugger, bossac
through the Due's programming port, minichlink through WCH's programmer."""

from __future__ import annotations

import tempfile
from pathlib import Path

from motecrypt.base import process
from motecrypt.base.errors import FailureKind, MotecryptError
from motecrypt.base.model import Device, Flashing
from motecrypt.base.serial_port import SerialPort
from motecrypt.simulate.emulate.images import flat, read_image

TIMEOUT_S = 120.0
BAUD = 115200

WHERE = {
    "openocd": "'motecrypt doctor' shows how to get it",
    "bossac": "'motecrypt doctor' shows how to get it",
    "minichlink": "build it from the sources of ch32fun, and put it in the PATH",
}


class FlashError(MotecryptError):
    """The tool is missing, or did not write the firmware."""

    usual_kind = FailureKind.BOARD


def flash_with_tool(device: Device, elf: Path, port: str) -> None:
    """Write the firmware, verify it where the tool can, and start it.

    Raises
    ------
    FlashError
        One line, with the tool's first error.
    InputError
        There is no such port, or it may not be used.
    """
    chosen = device.flashing
    if chosen is None:
        raise FlashError(f"{device.name}: nothing says how its board is flashed")
    with tempfile.TemporaryDirectory(prefix="motecrypt-flash.") as scratch:
        if chosen.tool == "openocd":
            file = elf.resolve()
        else:
            memory = device.memory["flash"]
            file = Path(scratch) / "firmware.bin"
            file.write_bytes(flat(read_image(elf, device), memory.address, memory.address + memory.span)[1])
        if chosen.tool == "bossac":
            SerialPort(port, BAUD).close()  # gives the best error message
        outcome = process.run(command(chosen, file, port), timeout_s=TIMEOUT_S)
    if not outcome.ok:
        raise FlashError(f"{device.title}: could not be flashed: {_reason(chosen, outcome)}")


def command(chosen: Flashing, file: Path, port: str) -> list[str]:
    """The tool's command line for a file: an ELF for OpenOCD, the flash's bytes for the others."""
    if chosen.tool == "openocd":
        first, *others = chosen.configs
        swd = ["-c", "transport select swd"] if chosen.transport == "swd" else []
        rest = [part for name in others for part in ("-f", name)]
        return ["openocd", "-f", first, *swd, *rest, "-c", f"program {{{file}}} verify reset exit"]
    if chosen.tool == "bossac":
        name = port.removeprefix("/dev/")  # -a: at 1,200 baud the port's controller erases the chip
        return ["bossac", f"--port={name}", "-U", "false", "-a", "-e", "-w", "-v", "-b", str(file), "-R"]
    return ["minichlink", "-w", str(file), "flash", "-b"]


def _reason(chosen: Flashing, outcome: process.Outcome) -> str:
    """The text for the error message; no code decides by it."""
    if outcome.code is None:
        return f"{chosen.tool} is missing or cannot be run; {WHERE[chosen.tool]}"
    said = [line.strip() for line in (outcome.errors + outcome.output).splitlines() if line.strip()]
    errors = [line for line in said if "error" in line.lower()] or said
    return errors[0] if errors else f"{chosen.tool} printed nothing"
