"""Divides cells among machines that do not know of each other: one firmware's cells go to one of them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence

from motecrypt.base.model import Cell
from motecrypt.measuring.bench.plan import group_of


def shard(cells: Sequence[Cell], number: int, count: int) -> list[Cell]:
    """The cells of one of several shards.

    Which shard a cell is in depends on its firmware alone, not on the other cells or the machine.

    Parameters
    ----------
    number
        Which shard, from 1 to count.
    """
    return [cell for cell in cells if _place(cell) % count == number - 1]


def _place(cell: Cell) -> int:
    device, body, placement, flags, toolchain = group_of(cell)
    said = json.dumps([device, body.cipher, body.name, placement, flags, toolchain])
    return int.from_bytes(hashlib.sha256(said.encode()).digest()[:8])
