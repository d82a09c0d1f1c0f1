"""Cells on a real board, and the same cells simulated next to them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from motecrypt.base.errors import InputError
from motecrypt.base.model import Cell, Device, Measurement
from motecrypt.catalog import Catalog
from motecrypt.measuring import bench
from motecrypt.results import Results

if TYPE_CHECKING:
    from motecrypt.base.progress import Progress

SUFFIX = "-board"


def board_device(device: Device, port: str) -> Device:
    """The board of a device at a port: the same memories and compiler, run by itself."""
    if not device.simulated:
        raise InputError(f"--board: {device.name} is not a board; choose another --device")
    return replace(device, name=device.name + SUFFIX, runner="board", extra={**device.extra, "port": port})


@dataclass(frozen=True)
class BesideSimulated:
    """One cell's figures from a board, and from the simulator where it has any."""

    board: Measurement
    simulated: Measurement | None

    @property
    def difference(self) -> float | None:
        """Board's median cycles over the simulator's, less one; None where one is missing."""
        there = self.board.cycles_median, self.simulated.cycles_median if self.simulated else None
        if there[0] is None or not there[1]:
            return None
        return there[0] / there[1] - 1


def measure_on_board(
    cells: Sequence[Cell],
    port: str,
    results: Results,
    catalog: Catalog,
    progress: Progress | None = None,
) -> list[BesideSimulated]:
    """Measure cells of one device on the board at a port; simulated figures are looked up, never made.

    Raises
    ------
    InputError
        When the cells are of several devices.
    BoardError
        When the board cannot be flashed or does not answer as it should.
    """
    names = {cell.device for cell in cells}
    if len(names) != 1:
        raise InputError("--board: choose one --device; one board is at the port")
    device = board_device(catalog.device(next(iter(names))), port)
    boards = replace(catalog, devices={**catalog.devices, device.name: device})
    # A board's flash cache is as the runs before have left it: warm, not emptied.
    kept = [cell for cell in cells if cell.cache != "cold"]
    there = {cell: replace(cell, device=device.name) for cell in kept}
    measured = bench.ensure(there.values(), results, boards, jobs=1, progress=progress, again=True)
    simulated = results.newest(there)
    return [BesideSimulated(measured[board], simulated.get(cell)) for cell, board in there.items()]
