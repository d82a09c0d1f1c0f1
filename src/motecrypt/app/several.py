"""Several studies together: tool sets and toolchains are fetched first, and the work uses all processors.

A failure here is not an error yet: the study that needs the part asks for it again and reports the reason.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from motecrypt.app.ensure import is_alone
from motecrypt.app.toolchains import parts
from motecrypt.base import process
from motecrypt.base.errors import InputError, MotecryptError
from motecrypt.base.process import processors
from motecrypt.build.setup import need_each
from motecrypt.build.toolchain.pinned import place, stage
from motecrypt.build.toolchain.sources import source_root
from motecrypt.catalog import Catalog
from motecrypt.measuring import bench
from motecrypt.results import Results
from motecrypt.studies import Experiment, Needs

if TYPE_CHECKING:
    from motecrypt.base.progress import Progress

GIVES_WAY = 10  # as `nice` counts


def install(every: Iterable[Needs], also: Sequence[str] = ()) -> None:
    """The tool sets and toolchains of several studies, and tool sets that are needed also.

    Debian's packages come by one call, Python's and each toolchain at the same time. The sources of libraries
    are fetched meanwhile, and are not waited for.
    """
    tool_sets = [(name, True) for name in also]
    unpacked = []
    every = list(every)
    for needs in every:
        catalog = needs.catalog or Catalog.load()
        tool_sets += [(name, True) for name in needs.tool_sets]
        for device, name in needs.toolchains.items():
            with contextlib.suppress(InputError):
                some, target = parts(catalog, catalog.device(device), name)
                tool_sets += some
                if target is not None and all(not compiler for _, compiler in some):
                    unpacked.append((catalog.toolchain(name), target))  # else the tool set brings it
    with ThreadPoolExecutor(max(1, len(unpacked)), initializer=_give_way) as pool:
        meanwhile = [pool.submit(stage, toolchain, target) for toolchain, target in unpacked]
        with contextlib.suppress(InputError):
            need_each(tool_sets)
        for each, (toolchain, target) in zip(meanwhile, unpacked, strict=True):
            with contextlib.suppress(MotecryptError):
                each.result()
                place(toolchain, target)  # finished now that the tool sets' libraries are there
    cells = (cell for needs in every for cell in needs.cells)
    folders = dict.fromkeys(cell.implementation.folder for cell in cells if cell.implementation.fetched)
    threading.Thread(target=_fetch, args=(list(folders),), daemon=True).start()
    if "plots" in also:
        threading.Thread(target=_bundle, daemon=True).start()


def _give_way() -> None:
    """Let apt-get, which takes longest, have the processor first: of this thread and what it starts."""
    thread = threading.get_native_id()
    os.setpriority(os.PRIO_PROCESS, thread, max(os.getpriority(os.PRIO_PROCESS, thread), GIVES_WAY))


def _bundle() -> None:
    """Make the report's script in a process of its own: it takes seconds and lets no other thread run."""
    _give_way()
    process.run(
        [sys.executable, "-P", "-c", "from motecrypt.present.report.vega import javascript; javascript()"]
    )


def _fetch(folders: Sequence[Path]) -> None:
    for folder in folders:
        with contextlib.suppress(MotecryptError):
            source_root(folder)


@dataclass(frozen=True)
class _Passed:
    """Progress that counts what other work adds, and passes on what is running."""

    count: Progress
    to: Progress

    def __call__(self, done: int, total: int, what: str) -> None:
        self.count(done, total, what)

    def running(self, titles: Sequence[str]) -> None:
        if isinstance(self.to, bench.Watcher):
            self.to.running(titles)


def work(every: Iterable[Needs], results: Results, jobs: int | None, report: Progress) -> None:
    """Measure the cells of several studies and run their experiments, all side by side.

    What times this computer is only made ready: its study runs it, as it does what is of its own catalogue.
    """
    shared = [needs for needs in every if needs.catalog is None]
    cells = list(dict.fromkeys(cell for needs in shared for cell in needs.cells))
    # The last first: among these are the longest, at the end of which a processor would have nothing to do.
    experiments = [each for needs in reversed(shared) for each in needs.experiments]
    lock, ended, firmwares = threading.Lock(), 0, (0, 0)

    def measured(done: int, total: int, what: str) -> None:
        nonlocal firmwares
        with lock:
            firmwares = (done, total)
            report(done + ended, total + len(experiments), what)

    def run(experiment: Experiment) -> None:
        nonlocal ended
        said = [""]
        with contextlib.suppress(MotecryptError):
            if not is_alone(experiment):
                experiment.ensure(results, said.append)
            elif hasattr(experiment, "prepare"):
                experiment.prepare(results)
        with lock:
            ended += 1
            report(firmwares[0] + ended, firmwares[1] + len(experiments), said[-1])

    with ThreadPoolExecutor(jobs or processors()) as pool:
        running = [pool.submit(run, each) for each in experiments]
        try:
            with contextlib.suppress(MotecryptError):
                bench.ensure(cells, results, Catalog.load(), jobs, _Passed(measured, report))
            for each in running:
                each.result()
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
