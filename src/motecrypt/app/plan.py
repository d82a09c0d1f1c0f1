"""Which cells a choice of devices, ciphers, libraries, lengths and compilers means, and what they need."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from itertools import product

from motecrypt.app.selection import Selection, nearest_length
from motecrypt.app.toolchains import need_compilers
from motecrypt.base.errors import InputError
from motecrypt.base.model import Cell, Device
from motecrypt.build.toolchain.pinned import target_of
from motecrypt.catalog import Catalog
from motecrypt.catalog.flags import checked_flags
from motecrypt.measuring import bench


def flags_of(text: str, where: str = "--flags") -> tuple[str, ...]:
    """One set of compiler flags as words; InputError for what the shell or the compiler could not take, with
    `where` they are given."""
    try:
        flags = tuple(shlex.split(text))
    except ValueError as error:
        raise InputError(f"{where} '{text}': {str(error).lower()}") from error
    if not flags:
        raise InputError(f"{where} '{text}': no flags; omit it to use the device's own flags")
    return checked_flags(flags, where)


def checked_flag_sets(flag_sets: Sequence[Sequence[str]]) -> list[tuple[str, ...]]:
    """Sets of compiler flags; an empty one is the device's own. InputError for flags that are refused."""
    return [checked_flags(tuple(flags), "--flags") if flags else () for flags in flag_sets or [()]]


def toolchains_by_device(chosen: Selection) -> dict[str, list[str]]:
    """Which of the toolchains compile for each device; the system's own where none was chosen.

    Raises
    ------
    InputError
        A toolchain is for none of the devices, or a device has none of the toolchains.
    """
    if not chosen.toolchains:
        return {device.name: [""] for device in chosen.devices}
    fitting = {
        device.name: [t.name for t in chosen.toolchains if t.target_for(device.compiler.command)]
        for device in chosen.devices
    }
    for device in chosen.devices:
        if not fitting[device.name]:
            target_of(chosen.toolchains[0], device, chosen.catalog.toolchains.values())
    for toolchain in chosen.toolchains:
        if not any(toolchain.name in names for names in fitting.values()):
            target_of(toolchain, chosen.device, chosen.catalog.toolchains.values())
    return fitting


def check_placements(device: Device, placements: Sequence[str]) -> None:
    """InputError for a placement that the device does not have."""
    for placement in placements:
        if placement not in device.placements:
            raise InputError(
                f"{device.name} has no placement '{placement}'; it has {', '.join(device.placements)}"
            )


def public_key_cells(
    chosen: Selection,
    variants: Sequence[str],
    message_bytes: Sequence[int],
    placements: Sequence[str],
    flag_sets: Sequence[tuple[str, ...]],
    toolchains: Mapping[str, Sequence[str]],
) -> list[Cell]:
    """The cells of the chosen public-key algorithms, as `planned` makes those of ciphers."""
    catalog = chosen.catalog
    cells: list[Cell] = []
    for device in chosen.devices:
        check_placements(device, placements)
        for name in chosen.public_keys:
            for body in catalog.public_key_implementations_of(name, device.name, chosen.libraries):
                if variants and body.variant not in variants:
                    continue
                for flags, toolchain in product(flag_sets, toolchains[device.name]):
                    cells += bench.public_key_cells(
                        catalog,
                        device,
                        body,
                        message_bytes=message_bytes,
                        placements=placements,
                        flags=flags,
                        toolchain=toolchain,
                    )
    return _some(cells, "device, library and variant")


def _some(cells: list[Cell], choice: str) -> list[Cell]:
    if not cells:
        raise InputError(
            f"nothing to measure: no implementation fits this choice of {choice} "
            "('motecrypt list implementations')"
        )
    return cells


def planned(
    chosen: Selection,
    variants: Sequence[str],
    message_bytes: Sequence[int],
    placements: Sequence[str],
    ad_bytes: Sequence[int],
    key_bits: Sequence[int],
    flag_sets: Sequence[tuple[str, ...]],
    toolchains: Mapping[str, Sequence[str]],
) -> list[Cell]:
    """The cells of every combination that exists.

    Parameters
    ----------
    flag_sets
        The compiler flags of each set; empty: the device's own.
    toolchains
        By device, as `toolchains_by_device` gives them.

    Raises
    ------
    InputError
        A device lacks a placement, a cipher accepts none of the lengths, or nothing is left to measure.
    """
    catalog, libraries = chosen.catalog, chosen.libraries
    cells: list[Cell] = []
    for device in chosen.devices:
        check_placements(device, placements)
        for name in chosen.wanted:
            cipher = catalog.cipher(name)
            if not any(cipher.message.allows(n) for n in message_bytes):
                raise InputError(
                    f"{name} takes {nearest_length(cipher, message_bytes[0])}; no length in --bytes fits"
                )
            for body in catalog.implementations_of(name, device.name, libraries, protected=bool(variants)):
                if variants and body.variant not in variants:
                    continue
                for flags, toolchain in product(flag_sets, toolchains[device.name]):
                    cells += bench.cells_for(
                        catalog,
                        device,
                        body,
                        message_bytes=message_bytes,
                        key_bits=key_bits,
                        ad_bytes=ad_bytes,
                        placements=placements,
                        flags=flags,
                        toolchain=toolchain,
                    )
    return _some(cells, "device, library, variant and key length")


def prepare(catalog: Catalog, cells: Sequence[Cell], mirror: str) -> None:
    """Install what the cells' firmwares are built and run with, where it is missing."""
    need_compilers(catalog, ((cell.device, cell.toolchain) for cell in cells), mirror)
