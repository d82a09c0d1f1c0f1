"""The cells of an implementation: what can be measured of it. Compiles nothing."""

from __future__ import annotations

from collections.abc import Sequence

from motecrypt.base.model import OPERATIONS, Cell, Device, Implementation, Operation
from motecrypt.catalog import Catalog
from motecrypt.catalog.publickey import ON_A_MESSAGE


def cells_for(
    catalog: Catalog,
    device: Device,
    implementation: Implementation,
    *,
    message_bytes: Sequence[int],
    key_bits: Sequence[int] = (),
    ad_bytes: Sequence[int] = (0,),
    placements: Sequence[str] = (),
    caches: Sequence[str] = (),
    flags: tuple[str, ...] = (),
    operations: Sequence[Operation] = OPERATIONS,
    toolchain: str = "",
) -> list[Cell]:
    """The cells of one implementation on one device, skipping lengths that the cipher cannot take."""
    cipher = catalog.cipher(implementation.cipher)
    wanted = [p for p in device.placements if p in (placements or implementation.placements or ("flash",))]
    cells = []
    for placement in wanted or list(device.placements)[:1]:
        for cache in device.placements[placement].caches:
            if caches and cache not in caches:
                continue
            for bits in key_bits or implementation.key_bits:
                if bits not in implementation.key_bits:
                    continue
                for length in message_bytes:
                    if not cipher.message.allows(length):
                        continue
                    for ad in ad_bytes if cipher.associated_data else (0,):
                        cells += [
                            Cell(
                                device=device.name,
                                implementation=implementation,
                                operation=o,
                                key_bits=bits,
                                message_bytes=length,
                                ad_bytes=ad,
                                placement=placement,
                                cache=cache,
                                flags=flags,
                                toolchain=toolchain,
                            )
                            for o in operations
                            if o in implementation.operations
                        ]
    return cells


def public_key_cells(
    catalog: Catalog,
    device: Device,
    implementation: Implementation,
    *,
    message_bytes: Sequence[int],
    placements: Sequence[str] = (),
    caches: Sequence[str] = (),
    flags: tuple[str, ...] = (),
    toolchain: str = "",
) -> list[Cell]:
    """The cells of one operation of a public-key algorithm; lengths count where a message is signed."""
    algorithm = catalog.public_key(implementation.cipher)
    (operation,) = implementation.operations
    wanted = [p for p in device.placements if p in (placements or implementation.placements or ("flash",))]
    return [
        Cell(
            device=device.name,
            implementation=implementation,
            operation=operation,
            key_bits=algorithm.key_bits,
            message_bytes=length,
            placement=placement,
            cache=cache,
            flags=flags,
            toolchain=toolchain,
        )
        for placement in wanted or list(device.placements)[:1]
        for cache in device.placements[placement].caches
        if not caches or cache in caches
        for length in (message_bytes if operation in ON_A_MESSAGE else (0,))
    ]
