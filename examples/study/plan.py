"""What is measured: one block under AES, on a chip with a 16-bit program counter and on one with 22 bits."""

from __future__ import annotations

from pathlib import Path

from motecrypt.base.model import Cell
from motecrypt.catalog import Catalog

CIPHER, VARIANT, BLOCK_BYTES = "aes128-cbc", "unrolled", 16
SMALL, LARGE = "uno", "mega"


def catalog() -> Catalog:
    """All that motecrypt ships, and the device that is next to this study."""
    return Catalog.load(devices=[Path(__file__).resolve().parents[1] / LARGE])


def cells() -> dict[str, Cell]:
    """The one cell of each device."""
    known = catalog()
    bodies = known.implementations_of(CIPHER, SMALL, ["motecrypt"])
    body = next(body for body in bodies if body.variant == VARIANT)
    return {device: Cell(device, body, "encrypt", 128, BLOCK_BYTES) for device in (SMALL, LARGE)}
