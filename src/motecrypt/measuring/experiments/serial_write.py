"""How long write() to a serial port takes until it returns: on a raw pseudo-terminal."""

from __future__ import annotations

import os
import select
import statistics
import time
import tty
from collections.abc import Callable
from typing import Any

from motecrypt.base.errors import MotecryptError
from motecrypt.base.model import ExperimentResult
from motecrypt.results import Results
from motecrypt.results.experiments.serial_write import KIND, VERSION, SerialWriteQuestion

ARRIVES_S = 5.0
write = os.write


class SerialWrites(SerialWriteQuestion):
    """Microseconds on this computer."""

    alone = True

    def inputs(self) -> dict[str, Any]:
        """What the outcome depends on."""
        return {**self.asked(), "system": os.uname().release}

    def ensure(self, results: Results, progress: Callable[[str], None] | None = None) -> ExperimentResult:
        """The result, timed now if it is not stored."""
        stored = self.kept(results, self.inputs())
        if stored is not None:
            return stored
        if progress is not None:
            progress("writes to a serial port")
        return results.store_experiment(KIND, VERSION, self.inputs(), self._measure(), self.asked())

    def _measure(self) -> dict[str, Any]:
        far, near = os.openpty()
        try:
            tty.setraw(near)
            return {"median_us": {str(size): self._median_us(near, far, size) for size in self.sizes}}
        finally:
            os.close(near)
            os.close(far)

    def _median_us(self, near: int, far: int, size: int) -> float:
        message, took = bytes(n % 251 for n in range(size)), []
        for _ in range(self.rounds):
            start = time.perf_counter_ns()
            taken = write(near, message)
            took.append((time.perf_counter_ns() - start) / 1000)
            if taken != size or _arrived(far, size) != message:
                raise MotecryptError(f"a pseudo-terminal took {taken} of {size} bytes, or lost some")
        return statistics.median(took)


def _arrived(far: int, size: int) -> bytes:
    """What arrives at the far end, up to a number of bytes."""
    data = b""
    while len(data) < size:
        if not select.select([far], [], [], ARRIVES_S)[0]:
            break
        data += os.read(far, size - len(data))
    return data
