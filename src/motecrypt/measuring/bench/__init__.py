"""Measuring cells: `ensure(cells, results)` is the only door to a measurement.

plan (which cells, grouped into jobs), keys (content hashes), crew (threads that do jobs), share (jobs among
processes), task (one job: build, then run), passes (run and check), publickey (the same for a public-key
operation), record (what is stored), measure (all of it), board (the same on a real board), inputs (what is
encrypted).
"""

from motecrypt.catalog.cells import cells_for, public_key_cells
from motecrypt.measuring.bench.keys import cell_keys
from motecrypt.measuring.bench.measure import CrewOf, Watcher, ensure

__all__ = [
    "CrewOf",
    "Watcher",
    "cell_keys",
    "cells_for",
    "ensure",
    "public_key_cells",
]
