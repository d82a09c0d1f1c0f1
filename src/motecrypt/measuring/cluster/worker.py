"""What a worker does with a batch. It runs in a worker's process, and is found there by its name.

A worker takes nothing on trust but the names: with other sources, another compiler or another simulator the
key of the first cell differs, and the batch is refused with the reason. The keys of each batch are computed
again, since sources may change while a worker runs; code that has changed needs a new start.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from motecrypt.base.errors import MotecryptError
from motecrypt.base.model import Implementation
from motecrypt.build.toolchain import BuildError, BuildRequest, build
from motecrypt.build.toolchain.carried import CarriedFirmware, carry, put
from motecrypt.build.toolchain.toolchain import identity
from motecrypt.catalog import Catalog
from motecrypt.measuring.bench.keys import CellKeys
from motecrypt.measuring.bench.plan import Devices, Job
from motecrypt.measuring.bench.task import Task
from motecrypt.measuring.cluster.batches import BatchAnswer, CellBatch, FirmwareRuns, Own, cells_of, packed
from motecrypt.simulate.runners import runner_of


@dataclass(frozen=True)
class _Site:
    """The catalog of this computer."""

    catalog: Catalog
    devices: Devices
    bodies: Mapping[tuple[str, ...], Implementation]


@lru_cache(maxsize=4)
def _site(own: Own) -> _Site:
    catalog = Catalog.load(**{kind: [Path(folder) for folder in folders] for kind, folders in own})
    every = (*catalog.implementations, *catalog.protected, *catalog.public_key_implementations)
    bodies = {(b.cipher, b.library, b.configuration, b.variant, *b.operations): b for b in every}
    return _Site(catalog, Devices(catalog), bodies)


def measure(batch: CellBatch, *builds: CarriedFirmware | None) -> BatchAnswer:
    """Build and run all of a batch; `builds` are firmwares that others have built."""
    begun = time.monotonic()
    try:
        jobs = _jobs(batch)
        if isinstance(jobs, str):
            return BatchAnswer(refused=jobs)
        for carried in builds:
            if carried is not None:
                put(carried)
        made = [(job, Task(job).begin()) for job in jobs]
    except MotecryptError as error:  # a full disk, a tool that is missing: nothing of the cells
        return BatchAnswer(refused=str(error))
    told = packed([found[cell] for cell in cells_of(job, job.runs)] for job, found in made)
    return BatchAnswer(seconds=time.monotonic() - begun, packed=told)


def make(batch: CellBatch) -> CarriedFirmware | None:
    """Build a batch's first firmware, for others to run, too; None where that is impossible here."""
    try:
        jobs = _jobs(batch)
        if isinstance(jobs, str):
            return None
        job = jobs[0]
        build(BuildRequest(job.device, job.implementation, job.placement, job.flags))
        return carry(job.build_key)
    except (BuildError, MotecryptError):
        return None


def _jobs(batch: CellBatch) -> list[Job] | str:
    """The jobs of a batch, or why they cannot be done here."""
    site = _site(batch.own)
    keys = CellKeys(site.catalog)
    jobs = []
    for part in batch.parts:
        body = site.bodies.get(part.body)
        if body is None:
            return f"has no implementation {'/'.join(part.body[:4])}"
        job = _job(site, batch, part, body)
        first = job.cells(part.runs[0])[0]
        if keys(first) != part.first_key:
            return _difference(keys, batch, job)
        jobs.append(job)
    return jobs


def _job(site: _Site, batch: CellBatch, part: FirmwareRuns, body: Implementation) -> Job:
    device, toolchain = batch.kind
    return Job(
        device=site.devices.get(device, toolchain, body),
        cipher=site.catalog.measured(body.cipher),
        implementation=body,
        placement=part.placement,
        flags=part.flags,
        runs=part.runs,
        stop=threading.Event(),
        build_key=part.build_key,
        toolchain=toolchain,
    )


def _difference(keys: CellKeys, batch: CellBatch, job: Job) -> str:
    """Why the keys of a firmware's cells differ here."""
    told = keys.build_key(job)
    if told.startswith("unbuildable"):
        return told.removeprefix("unbuildable: ")
    compiler = identity(job.device.compiler.command)
    if compiler != batch.compiler:
        return f"compiles for {job.device.name} with {compiler}, expected {batch.compiler}"
    runner = runner_of(job.device.runner).identity(job.device)
    if runner != batch.runner:
        return f"runs {job.device.name} with {runner}, expected {batch.runner}"
    return f"has other sources, headers or C libraries for {job.device.name}"
