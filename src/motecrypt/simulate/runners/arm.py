"""Cortex-M devices on Unicorn through drivers/arm.c: cycles by ARM's tables, flash cache by the datasheet's.

What a missed cache line costs is not known here: the device's descriptor lists flash reads, each with its
clocks and clock divider, and the first one counts. From a region's `cache_misses` the cycles under any
other follow without another run.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from motecrypt.base.errors import InputError
from motecrypt.base.model import Device
from motecrypt.build.toolchain.drivers import driver, driver_identity
from motecrypt.simulate.runners.session import DriverSession, Options, Session


@dataclass(frozen=True)
class FlashRead:
    """One way of reading a cache line from the flash.

    `clocks` are flash clocks of one line; `divider` is core clocks for each of them.
    """

    name: str
    clocks: int
    divider: int
    source: str

    @property
    def miss_cycles(self) -> int:
        """Core cycles that a miss costs."""
        return self.clocks * self.divider


def flash_reads(device: Device) -> tuple[FlashRead, ...]:
    """The flash reads that a device's descriptor lists; the first is the one that measurements use."""
    where = f"{device.folder / 'device.toml'}: simulator.flash_read"
    try:
        return tuple(FlashRead(**entry) for entry in device.simulator.get("flash_read", ()))
    except TypeError as error:
        raise InputError(f"{where}: needs name, clocks, divider and source ({error})") from error


COUNTS_WHILE_TRACING = True


def identity(device: Device) -> str:
    """Runner name and a hash of all that its figures depend on: driver, engine, cycle table."""
    parts = [driver_identity("arm"), engine_version(), json.dumps(dict(device.simulator), sort_keys=True)]
    return f"unicorn {hashlib.sha256(chr(0).join(parts).encode()).hexdigest()[:12]}"


def engine_version() -> str:
    """The installed Unicorn's version, or "missing"."""
    try:
        return version("unicorn")
    except PackageNotFoundError:
        return "missing"


def open_session(device: Device, elf: Path, data_end: int, options: Options) -> Session:
    """Start a firmware. `options.cache` is "cold" (emptied before every region), "kept" (never emptied),
    or "warm" or "none" (every access hits). Where the device has a `memory` with wait states, "warm" and
    "none" are as the run before of the same region has left its lines. `data_end` is not used: this
    device's stack is below its data.
    """
    return DriverSession(command(device, elf, options), restarts=True)


def command(device: Device, elf: Path, options: Options) -> list[str | Path]:
    """The driver and its arguments, as `DriverSession` takes them."""
    settings = device.simulator
    try:
        arguments = _arguments(device, settings, options)
        if "memory" in settings:
            arguments += _memory_arguments(settings["memory"])
        elif options.cache in ("cold", "kept"):
            arguments += cache_arguments(device, settings["flash_cache"])
    except KeyError as error:
        raise InputError(f"{device.folder / 'device.toml'}: simulator lacks {error}") from error
    if options.cache == "cold":
        arguments.append("--cold")
    if options.trace:
        arguments.append("--trace")
    if options.dump is not None:
        arguments += ["--dump", str(options.dump)]
    return [driver("arm"), *arguments, elf]


def _arguments(device: Device, settings: Mapping[str, Any], options: Options) -> list[str]:
    flash, ram = device.memory["flash"], device.memory["ram"]
    costs = ",".join(f"{name}={cycles}" for name, cycles in settings["cycles"].items())
    bus = f"{settings['bus_read_extra']}:{settings['bus_write_extra']}:{settings['io_port_saves']}"
    return [
        *("--core", device.core),
        *("--chip", device.chip),
        *("--cycles", costs),
        *("--flash", f"{flash.address:#x}:{flash.bytes:#x}"),
        *("--ram", f"{ram.address:#x}:{ram.bytes:#x}"),
        *("--vectors", hex(settings["vectors"])),
        *("--mark", hex(settings["mark_address"])),
        *("--simulated", hex(settings["simulated_address"])),
        *("--stack-limit", hex(settings["stack_limit"])),
        *("--bus", bus),
        *("--max-cycles", str(options.max_cycles or settings["max_cycles"])),
        *("--events", "{events}"),
    ]


def cache_arguments(device: Device, cache: Mapping[str, int]) -> list[str]:
    """A flash cache as both drivers that have one take it."""
    reads = flash_reads(device)
    if not reads:
        raise InputError(f"{device.folder / 'device.toml'}: a flash cache needs at least one flash_read")
    geometry = f"{cache['bytes']}:{cache['ways']}:{cache['line_bytes']}"
    return ["--cache", geometry, "--miss-cycles", str(reads[0].miss_cycles)]


def _memory_arguments(memory: Mapping[str, int]) -> list[str]:
    """A flash with wait states is a part of the device: no run is without it."""
    return ["--memory", ",".join(f"{name}={value}" for name, value in memory.items())]
