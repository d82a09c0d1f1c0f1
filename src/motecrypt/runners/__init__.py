"""What executes firmware for a device: a simulator, a real board, the host, or a fake.

`open_session(device, firmware, ...)` finds the runner that the device's descriptor names: a module of
this package with `identity(device)` and `open_session(device, elf, data_end, options)`.
"""

from __future__ import annotations

import importlib
from types import ModuleType

from motecrypt.errors import InputError
from motecrypt.runners.session import Fault, Options, Region, Session

__all__ = ["Fault", "Options", "Region", "Session", "runner_of"]


def runner_of(name: str) -> ModuleType:
    """The runner module of that name; InputError when there is none."""
    try:
        return importlib.import_module(f"motecrypt.runners.{name}")
    except ModuleNotFoundError as error:
        raise InputError(f"there is no runner '{name}'; a device names one of simavr, arm, host") from error
