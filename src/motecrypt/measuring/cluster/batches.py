"""What is sent to a worker and what comes back, and how much is sent at a time. Pure.

All of it names things as a catalog does, so that a worker takes its own files, and proves by a cell's key
that they are the same.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from motecrypt.base.model import Cell, Measurement
from motecrypt.measuring.bench.plan import Job, Run
from motecrypt.results import rows

BATCH_S = 2.0
"""The seconds that a batch should take: long compared with what sending it costs."""
LEAST_S = 0.1
GUESS_S = 0.25
"""Of one run, before any has been timed."""
RECENT = 0.9
"""How much the pace of all batches before counts next to that of the last one."""

Kind = tuple[str, str]
"""What a worker can do or cannot: a device and the name of its toolchain."""
Own = tuple[tuple[str, tuple[str, ...]], ...]
"""The user's own folders, by what they hold: the arguments of `Catalog.load`."""


@dataclass(frozen=True)
class FirmwareRuns:
    """One firmware and some of the lengths it is run at.

    Attributes
    ----------
    body
        Cipher, library, configuration and variant, then the operations.
    build_key, first_key
        What the build's key and that of the first cell are where the sweep was started.
    """

    body: tuple[str, ...]
    placement: str
    flags: tuple[str, ...]
    runs: tuple[Run, ...]
    build_key: str
    first_key: str


@dataclass(frozen=True)
class CellBatch:
    """What one worker does in one go; `compiler` and `runner` are those it should have."""

    kind: Kind
    own: Own
    compiler: str
    runner: str
    parts: tuple[FirmwareRuns, ...]


@dataclass(frozen=True)
class BatchAnswer:
    """The outcome of a batch: measurements as JSON, compressed; or why it cannot do such a one.

    `worker` is the address of the one that answers, as the scheduler knows it.
    """

    worker: str = ""
    seconds: float = 0.0
    packed: bytes = b""
    refused: str = ""


def packed(measured: Iterable[Sequence[Measurement]]) -> bytes:
    """Measurements, by firmware."""
    told = [
        [[json.dumps(dict(m.extra)) if n == "extra" else getattr(m, n) for n in rows.COLUMNS] for m in part]
        for part in measured
    ]
    return zlib.compress(json.dumps(told, ensure_ascii=False, separators=(",", ":")).encode(), 1)


def unpacked(answer: BatchAnswer) -> Iterator[list[Measurement]]:
    """Measurements of an answer, by firmware; InputError for what none are."""
    reader = rows.Reader(f"worker {answer.worker}")
    for part in json.loads(zlib.decompress(answer.packed)):
        yield [reader.measurement(row) for row in part]


def cells_of(job: Job, runs: Iterable[Run]) -> list[Cell]:
    """The cells of some runs, in the order in which a worker gives their measurements."""
    return [cell for run in runs for cell in job.cells(run)]


class Pace:
    """How long a run of one kind takes, by what workers have reported."""

    def __init__(self) -> None:
        self._seconds = 0.0
        self._runs = 0.0

    @property
    def known(self) -> bool:
        """Whether any has been timed."""
        return self._runs > 0

    @property
    def run_s(self) -> float:
        """Seconds of a run with its share of building."""
        return self._seconds / self._runs if self._runs else GUESS_S

    def took(self, runs: int, seconds: float) -> None:
        """Take in a batch."""
        self._seconds = self._seconds * RECENT + seconds
        self._runs = self._runs * RECENT + runs

    def fitting(self, seconds: float) -> int:
        """How many runs take so long; at least one."""
        return max(1, int(seconds / max(self.run_s, 1e-6)))


def batch_s(waiting_s: float, slots: int) -> float:
    """How long the next batch should take: less towards the end, so that all workers end together."""
    return max(LEAST_S, min(BATCH_S, waiting_s / (2 * max(1, slots))))


def split(runs: Sequence[Run], most: int) -> tuple[tuple[Run, ...], tuple[Run, ...]]:
    """The first runs, so many at most, and the others."""
    return tuple(islice(runs, most)), tuple(runs[most:])
