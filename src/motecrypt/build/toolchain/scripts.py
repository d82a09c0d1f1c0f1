"""A device's linker flags with the places that they name, and the linker scripts that devices share."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from motecrypt.base.model import Device
from motecrypt.catalog import FIRMWARE

_SHARED = "-T{shared}/"
SCRIPTS = FIRMWARE / "include"


def link_flags(device: Device, placement: str) -> tuple[str, ...]:
    """What the linker is given for a placement: the device's flags, then the placement's."""
    return tuple(
        flag.replace("{device}", str(device.folder)).replace("{shared}", str(SCRIPTS))
        for flag in _flags(device, placement)
    )


def shared_scripts(device: Device, placement: str) -> list[Path]:
    """The linker scripts outside the device's folder: a build depends on them, too."""
    flags = _flags(device, placement)
    return [SCRIPTS / flag.removeprefix(_SHARED) for flag in flags if flag.startswith(_SHARED)]


def _flags(device: Device, placement: str) -> Iterable[str]:
    return (*device.compiler.link_flags, *device.placements[placement].link_flags)
