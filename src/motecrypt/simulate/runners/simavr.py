"""AVR devices on libsimavr through drivers/simavr.c: core cycles (docs/fidelity.md)."""

from __future__ import annotations

from pathlib import Path

from motecrypt.base.model import Device
from motecrypt.build.toolchain.drivers import driver, driver_identity
from motecrypt.simulate.runners.session import DriverSession, Options, Session

COUNTS_WHILE_TRACING = True


def identity(device: Device) -> str:
    """Runner name and a hash of its driver: part of what a measurement is keyed by."""
    return f"simavr {driver_identity('simavr')[:12]}"


def open_session(device: Device, elf: Path, data_end: int, options: Options) -> Session:
    """Start a firmware; `data_end` is the link address where its data ends (stack check)."""
    settings = device.simulator
    command: list[str | Path] = [driver("simavr"), "--mcu", settings["mcu"], "--clock", str(device.clock_hz)]
    command += ["--mark", hex(settings["mark_address"]), "--simulated", hex(settings["simulated_address"])]
    command += [
        "--max-cycles",
        str(options.max_cycles or settings["max_cycles"]),
        "--data-end",
        hex(data_end & 0xFFFF),
    ]
    if settings.get("line_address"):
        command += ["--line", hex(settings["line_address"])]
    command += ["--events", "{events}"]
    if options.trace:
        command.append("--trace")
    if options.dump is not None:
        command += ["--dump", str(options.dump)]
    command.append(elf)
    return DriverSession(command, restarts=True)
