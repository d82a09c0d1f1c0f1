"""What the records need: the cells of ours and of the libraries that package clients bring."""

from __future__ import annotations

from collections.abc import Collection

from motecrypt.adviser.records.plan import LENGTHS, RecordPlan, cache_of
from motecrypt.base.model import Cell, Device, Implementation
from motecrypt.catalog import Catalog
from motecrypt.catalog.cells import cells_for


def cells_of(catalog: Catalog, plan: RecordPlan, device: Device, body: Implementation) -> list[Cell]:
    """The cells of one implementation: code and tables in flash, every operation at every length."""
    if body.placements and "flash" not in body.placements:
        return []
    return cells_for(
        catalog,
        device,
        body,
        message_bytes=LENGTHS,
        placements=["flash"],
        caches=[cache_of(device)],
        toolchain=plan.toolchain_of(device),
    )


def record_cells(
    catalog: Catalog, plan: RecordPlan, devices: Collection[str], ciphers: Collection[str]
) -> list[Cell]:
    """The cells of all implementations in the catalog, on these devices and of these ciphers."""
    return [
        cell
        for device in plan.devices(catalog)
        if device.name in devices
        for name in plan.ciphers
        if name in ciphers
        for body in catalog.implementations_of(name, device.name, [])
        for cell in cells_of(catalog, plan, device, body)
    ]
