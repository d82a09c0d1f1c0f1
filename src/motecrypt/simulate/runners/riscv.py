"""RISC-V devices through drivers/riscv.c: cycles by the core's manual or public measurements of it.

The driver executes the instructions itself; tests compare every instruction with Unicorn.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from motecrypt.base.errors import InputError
from motecrypt.base.model import Device
from motecrypt.build.toolchain.drivers import driver, driver_identity
from motecrypt.simulate.runners.arm import cache_arguments
from motecrypt.simulate.runners.session import DriverSession, Options, Session

COUNTS_WHILE_TRACING = True


def identity(device: Device) -> str:
    """Runner name and a hash of all that its figures depend on: driver and cycle table."""
    parts = [driver_identity("riscv"), json.dumps(dict(device.simulator), sort_keys=True)]
    return f"riscv {hashlib.sha256(chr(0).join(parts).encode()).hexdigest()[:12]}"


def open_session(device: Device, elf: Path, data_end: int, options: Options) -> Session:
    """Start a firmware. `data_end` limits a stack that begins at the end of RAM (`stack_limit` is 0).

    `options.cache` is "cold" (emptied before every region), "kept" (never emptied), or "warm" or "none"
    (every access hits).
    """
    return DriverSession(command(device, elf, options, data_end), restarts=True)


def command(device: Device, elf: Path, options: Options, data_end: int = 0) -> list[str | Path]:
    """The driver and its arguments, as `DriverSession` takes them.

    Raises
    ------
    InputError
        The device's descriptor lacks a setting.
    """
    try:
        arguments = _arguments(device, device.simulator, options, data_end)
        if options.cache in ("cold", "kept"):
            arguments += cache_arguments(device, device.simulator["flash_cache"])
    except KeyError as error:
        raise InputError(f"{device.folder / 'device.toml'}: simulator lacks {error}") from error
    if options.cache == "cold":
        arguments.append("--cold")
    if options.trace:
        arguments.append("--trace")
    if options.dump is not None:
        arguments += ["--dump", str(options.dump)]
    return [driver("riscv"), *arguments, elf]


def _arguments(device: Device, settings: Mapping[str, Any], options: Options, data_end: int) -> list[str]:
    flash, ram = device.memory["flash"], device.memory["ram"]
    costs = ",".join(f"{name}={cycles}" for name, cycles in settings["cycles"].items())
    arguments = [
        *("--core", device.core),
        *("--chip", device.chip),
        *("--cycles", costs),
        *("--ram", f"{ram.address:#x}:{ram.bytes:#x}"),
        *("--flash", f"{flash.address:#x}:{flash.bytes:#x}"),
        *("--mark", hex(settings["mark_address"])),
        *("--simulated", hex(settings["simulated_address"])),
        *("--stack-limit", hex(settings["stack_limit"] or data_end)),
        *("--max-cycles", str(options.max_cycles or settings["max_cycles"])),
        *("--events", "{events}"),
    ]
    if "predictor" in settings:
        arguments += [
            "--predictor",
            ":".join(str(settings["predictor"][name]) for name in ("btb", "bht", "ras")),
        ]
    return arguments
