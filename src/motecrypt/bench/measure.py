"""Ensure: run the cells that are missing, check every output, store every outcome.

`ensure(cells, results)` is the only door to a measurement. A cell that cannot run is a stored result
with its reason; it never stops the others.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor, as_completed, wait
from dataclasses import replace

from motecrypt.bench.keys import CellKeys
from motecrypt.bench.passes import CellFigures, Stopped, WrongOutput, run_passes
from motecrypt.bench.plan import Job, empty_request, group
from motecrypt.bench.record import Trouble, measurement
from motecrypt.catalog import Catalog
from motecrypt.errors import FailureKind
from motecrypt.model import Cell, Device, Measurement, Operation, Shortfall
from motecrypt.process import processors
from motecrypt.results import Results
from motecrypt.runners import Fault
from motecrypt.runners.protocol import ProtocolError
from motecrypt.toolchain import BuildError, BuildRequest, Firmware, build

Progress = Callable[[int, int, str], None]


def ensure(
    cells: Iterable[Cell],
    results: Results,
    catalog: Catalog | None = None,
    jobs: int | None = None,
    progress: Progress | None = None,
    again: bool = False,
) -> dict[Cell, Measurement]:
    """Measure what is missing and return every cell's measurement.

    Parameters
    ----------
    cells
        What is wanted; measurements already stored with the same content are not made again.
    jobs
        Firmwares run side by side; default: the number of processors.
    progress
        Called with (done, total, title) as firmwares are finished.
    again
        Measure what is stored, too: a board is asked each time.
    """
    catalog = catalog or Catalog.load()
    keys = CellKeys(catalog)
    stored = {cell: results.measurement(keys(cell)) for cell in dict.fromkeys(cells)}
    missing = [cell for cell, found in stored.items() if again or found is None or found.transient]
    stop = threading.Event()
    work = [replace(job, build_key=keys.build_key(job)) for job in group(catalog, missing, stop)]

    def take(future: Future[dict[Cell, Measurement]]) -> None:
        outcome = future.result()
        results.store({keys(cell): m for cell, m in outcome.items()})
        stored.update({cell: m for cell, m in outcome.items() if cell in stored})

    with ThreadPoolExecutor(max_workers=jobs or processors()) as pool:
        futures = {pool.submit(_measure_job, job): job for job in work}
        try:
            for done, future in enumerate(as_completed(futures), start=1):
                take(future)
                if progress is not None:
                    progress(done, len(work), futures[future].title)
        except BaseException as error:
            stop.set()
            for future in futures:
                future.cancel()
            if isinstance(error, KeyboardInterrupt):
                for future in wait(futures).done:  # what is done is kept
                    if not future.cancelled() and future.exception() is None:
                        take(future)
            raise
    return {cell: m for cell, m in stored.items() if m is not None}


def _measure_job(job: Job) -> dict[Cell, Measurement]:
    request = BuildRequest(job.device, job.implementation, job.placement, job.flags)
    outcome: dict[Cell, Measurement] = {}
    firmware: Firmware | None = None
    base: Firmware | None = None
    trouble: Trouble | None = None
    try:
        base = build(empty_request(job.device, job.placement, job.cipher.tag_bytes))
        firmware = build(request)
        if firmware.key != job.build_key:
            raise BuildError(
                "a source was changed meanwhile: measure again", kind=FailureKind.INTERRUPTED, transient=True
            )
        trouble = _misfit(job.device, firmware)
    except BuildError as error:
        # Where not even the empty cipher builds, the failure says nothing of this one.
        trouble = Trouble.of("build-failed", error, transient=base is None)
    for run in job.runs:
        if job.stop.is_set():
            break
        cache, key_bits, message_bytes, ad_bytes = run
        failed = trouble or _too_long(job, message_bytes, ad_bytes, key_bits)
        passes: dict[Operation, CellFigures] = {}
        if failed is None and firmware is not None:
            try:
                passes = run_passes(job, firmware, cache, key_bits, message_bytes, ad_bytes)
            except Fault as error:
                failed = Trouble.of("fault", error)
            except WrongOutput as error:
                failed = Trouble.of("wrong-output", error)
            except ProtocolError as error:  # a board's line may have been at fault
                failed = Trouble.of("fault", error, transient=job.device.runner == "board")
            except BuildError as error:
                failed = Trouble.of("build-failed", error)
            except Stopped:
                break
        for operation in job.implementation.operations:
            cell = job.cell(operation, run)
            figures = passes.get(operation)
            outcome[cell] = measurement(job, cell, firmware, base, figures, failed)
    return outcome


def _misfit(device: Device, firmware: Firmware) -> Trouble | None:
    for name, needed in (("flash", firmware.total.flash), ("ram", firmware.total.ram)):
        memory = device.memory.get(name)
        if memory is not None and needed > memory.bytes:
            shortfall = Shortfall(memory=name, needed=needed, available=memory.bytes)
            return _does_not_fit(shortfall, f"does not fit: {shortfall.text}")
    return None


def _too_long(job: Job, message_bytes: int, ad_bytes: int, key_bits: int) -> Trouble | None:
    bench = job.device.bench
    for name, what, needed in (
        ("message", "a message", message_bytes),
        ("ad", "associated data", ad_bytes),
        ("key", "a key", key_bits // 8),
    ):
        if needed > bench[name]:
            told = f"{what} of {needed} bytes: the firmware on {job.device.name} holds {bench[name]}"
            return _does_not_fit(Shortfall(memory=name, needed=needed, available=bench[name]), told)
    return None


def _does_not_fit(shortfall: Shortfall, told: str) -> Trouble:
    return Trouble("does-not-fit", told, FailureKind.DOES_NOT_FIT, shortfall=shortfall)
