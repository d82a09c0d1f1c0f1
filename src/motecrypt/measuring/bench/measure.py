"""Ensure: run the cells that are missing, check every output, store every outcome.

`ensure(cells, results)` is the only door to a measurement. A cell that cannot run is a stored result
with its reason; it never stops the others.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from motecrypt.base.model import Cell, Measurement
from motecrypt.base.process import processors
from motecrypt.catalog import Catalog
from motecrypt.measuring.bench.keys import CellKeys
from motecrypt.measuring.bench.plan import Job, group
from motecrypt.results import Results

if TYPE_CHECKING:
    from motecrypt.base.progress import Progress
    from motecrypt.measuring.bench.crew import Workforce

LOOK_S = 0.1  # between two looks at what else a thread without work could do
RENEW_S = 5.0  # between two looks at the claims that this process holds
CrewOf = Callable[[threading.Event, CellKeys], "Workforce"]


@runtime_checkable
class Watcher(Protocol):
    """Progress that also shows what is running."""

    def running(self, titles: Sequence[str]) -> None:
        """The titles of all that is running now."""


# Long: one loop and its callbacks, which share what is wanted, begun and elsewhere.
def ensure(
    cells: Iterable[Cell],
    results: Results,
    catalog: Catalog | None = None,
    jobs: int | None = None,
    progress: Progress | None = None,
    again: bool = False,
    crew_of: CrewOf | None = None,
) -> dict[Cell, Measurement]:
    """Measure what is missing and return every cell's measurement, in the order of the cells.

    Of two processes that want the same cells of one results file, each measures those that the other has not
    begun with, and waits for the rest.

    Parameters
    ----------
    cells
        What is wanted; measurements already stored with the same content are not made again.
    jobs
        Firmwares run side by side; default: one for each processor and, where all are simulated, one more, as
        each waits for an answer now and then.
    progress
        Called with (done, total, title) before the first and as firmwares are finished. One that is a
        `Watcher` receives what is running, too.
    again
        Measure what is stored, too: a board is asked each time.
    crew_of
        Makes those who work, such as the workers of a cluster; default: threads of this process.
    """
    catalog = catalog or Catalog.load()
    keys = CellKeys(catalog)
    by_cell = {cell: keys(cell) for cell in dict.fromkeys(cells)}
    there = results.by_key(by_cell.values())
    stored = {cell: there.get(key) for cell, key in by_cell.items()}
    missing = [cell for cell, found in stored.items() if again or found is None or found.transient]
    if not missing:
        return {cell: m for cell, m in stored.items() if m is not None}
    from motecrypt.measuring.bench.crew import (
        Crew,  # those who work and what they need: most often all is stored
    )
    from motecrypt.measuring.bench.share import Sharing

    stop = threading.Event()
    work = [replace(job, build_key=keys.build_key(job)) for job in group(catalog, missing, stop)]
    left = {job.group: set(job.runs) for job in work}
    share = None if again else Sharing(results, keys)

    def watch() -> None:
        if isinstance(progress, Watcher):
            progress.running(crew.titles)

    def take(job: Job, outcome: Mapping[Cell, Measurement]) -> None:
        stored.update({cell: m for cell, m in outcome.items() if cell in stored})
        left[job.group] -= {(c.cache, c.key_bits, c.message_bytes, c.ad_bytes) for c in outcome}
        watch()
        if outcome and progress is not None and not left[job.group]:
            progress(sum(not runs for runs in left.values()), len(work), job.title)

    def keep(job: Job, outcome: Mapping[Cell, Measurement]) -> None:
        by_key = {keys(cell): m for cell, m in outcome.items()}
        results.store(by_key)
        if share is not None:
            share.release(by_key)
        take(job, outcome)

    queue, elsewhere = deque(work), list[Job]()
    crew = crew_of(stop, keys) if crew_of is not None else Crew(jobs or _threads(work), stop)
    if work and progress is not None:
        progress(0, len(work), "")
    try:
        while queue or elsewhere or crew.busy:
            while queue and crew.has_room:
                job = queue.popleft()
                mine, found, theirs = share.take(job) if share is not None else (job, {}, None)
                take(job, found)
                if mine is not None:
                    crew.begin(mine)
                if theirs is not None:
                    elsewhere.append(theirs)
            if not queue:
                crew.help()
            watch()
            if crew.busy:
                for job, outcome in crew.ended(LOOK_S if crew.has_room else RENEW_S):
                    keep(job, outcome)
            elif elsewhere:
                stop.wait(LOOK_S)
            if share is not None:
                share.renew()
            if crew.has_room and not queue:
                queue.extend(elsewhere)
                elsewhere.clear()
    except BaseException as error:
        for job, outcome in crew.stop():
            if isinstance(error, KeyboardInterrupt):  # what is done is kept
                keep(job, outcome)
        raise
    finally:
        crew.stop()
        if share is not None:
            share.release()
    return {cell: m for cell, m in stored.items() if m is not None}


def _threads(work: Sequence[Job]) -> int:
    """How many jobs to do side by side: what runs on the processor itself has one to itself."""
    count = processors()
    spare = count > 1 and all(job.device.simulated for job in work)
    return count + 1 if spare else count
