"""Pinned toolchains: got before the work begins, with what else the device's tool set holds."""

from __future__ import annotations

import platform
from collections.abc import Iterable

from motecrypt.base.model import Device, ToolchainTarget
from motecrypt.build.setup import need, need_each
from motecrypt.build.toolchain.pinned import is_system, place, target_of
from motecrypt.catalog import Catalog


def need_toolchain(catalog: Catalog, device: Device, name: str, mirror: str = "") -> None:
    """Make sure that a toolchain is there for a device, and all else that its tool set holds.

    The system's own is taken where it is the same; it is installed where this system's release has it. Any
    other is unpacked into the cache, and the tool set comes without a compiler.

    Raises
    ------
    InputError
        The toolchain is not for this device, or a part is not available.
    """
    tool_sets, unpacked = parts(catalog, device, name, mirror)
    need_each(tool_sets)
    if unpacked is not None:
        place(catalog.toolchain(name), unpacked, mirror)


def need_compilers(catalog: Catalog, pairs: Iterable[tuple[str, str]], mirror: str = "") -> None:
    """The same for devices and toolchains by their names; without a toolchain, the device's tool set."""
    for name, toolchain in dict.fromkeys(pairs):
        if toolchain:
            need_toolchain(catalog, catalog.device(name), toolchain, mirror)
        else:
            need(catalog.device(name).tool_set)


def parts(
    catalog: Catalog, device: Device, name: str, mirror: str = ""
) -> tuple[list[tuple[str, bool]], ToolchainTarget | None]:
    """Of a toolchain for a device: tool sets (each with its compiler, or without) and what is unpacked."""
    toolchain = catalog.toolchain(name)
    target = target_of(toolchain, device, catalog.toolchains.values())
    own = target.command == device.compiler.command and toolchain.release == _release() and not mirror
    tool_sets = [(device.tool_set, True)] if is_system(target) or own else []
    return (tool_sets, None) if is_system(target) else ([*tool_sets, (device.tool_set, False)], target)


def _release() -> str:
    """This system's release, such as bookworm; empty where it names none."""
    try:
        return platform.freedesktop_os_release().get("VERSION_CODENAME", "")
    except OSError:
        return ""
