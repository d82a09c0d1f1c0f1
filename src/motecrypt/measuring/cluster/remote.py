"""The two functions that workers are asked to run, by name.

The scheduler loads what it passes on, so this module imports nothing of ours before it is called, and a batch
arrives as bytes that only a worker reads.
"""

from __future__ import annotations

import pickle
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from motecrypt.build.toolchain.carried import CarriedFirmware
    from motecrypt.measuring.cluster.batches import BatchAnswer


def measure(batch: bytes, *builds: CarriedFirmware | None) -> BatchAnswer:
    """`worker.measure` of a pickled `CellBatch`, with this worker's address."""
    from distributed import get_worker

    from motecrypt.measuring.cluster import worker

    return replace(worker.measure(pickle.loads(batch), *builds), worker=str(get_worker().address))


def make(batch: bytes) -> CarriedFirmware | None:
    """`worker.make` of a pickled `CellBatch`."""
    from motecrypt.measuring.cluster import worker

    return worker.make(pickle.loads(batch))
