"""What executes firmware for a device: a simulator, a real board, the host, or a fake.

`open_session(device, firmware, ...)` finds the runner that the device's descriptor names: a module of
this package with `identity(device)` and `open_session(device, elf, data_end, options)`; where following every
instruction does not change what is counted, it reports it with `COUNTS_WHILE_TRACING = True`.
"""

from __future__ import annotations

import importlib
import pkgutil
from types import ModuleType

from motecrypt.base.errors import InputError
from motecrypt.base.model import Device
from motecrypt.simulate.runners.session import Fault, Options, Region, Session, Starts

__all__ = [
    "Fault",
    "Options",
    "Region",
    "Session",
    "Starts",
    "counts_while_tracing",
    "keeps_lines",
    "runner_of",
]

#: Modules of this package that execute nothing by themselves.
_NO_RUNNERS = ("flashing", "protocol", "session")


def runner_of(name: str) -> ModuleType:
    """The runner module of that name; InputError when there is none."""
    try:
        return importlib.import_module(f"motecrypt.simulate.runners.{name}")
    except ModuleNotFoundError as error:
        found = (module.name for module in pkgutil.iter_modules(__path__))
        there = ", ".join(module for module in found if module not in _NO_RUNNERS)
        raise InputError(f"unknown runner '{name}'; available: {there}") from error


def counts_while_tracing(device: Device) -> bool:
    """Whether one tracing run gives the cycles too; else cycles need a run of their own."""
    return bool(getattr(runner_of(device.runner), "COUNTS_WHILE_TRACING", False))


def keeps_lines(device: Device) -> bool:
    """Whether the first of several equal runs takes longer: it brings lines of the flash into a cache."""
    memory = device.simulator.get("memory", {})
    return bool(memory.get("code_lines") or memory.get("data_lines"))
