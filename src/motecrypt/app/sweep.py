"""Sweep: measure every combination of a plan, whole or in shards, here or with a cluster."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path

from motecrypt.app.cluster import crew_of_cluster
from motecrypt.app.measure import MeasureResult, measure_plan
from motecrypt.app.sweep_plan import SweepPlan, read_plan
from motecrypt.base.errors import InputError
from motecrypt.base.model import Cell
from motecrypt.base.process import processors
from motecrypt.base.progress import Watching, stage
from motecrypt.measuring import bench
from motecrypt.measuring.bench.plan import group_of
from motecrypt.measuring.bench.shards import shard
from motecrypt.results import Results, Stored, opened

SAMPLES = 2
"""Firmwares of each device that are measured for the estimate."""
SHARDS_MAX = 10_000


@dataclass(frozen=True)
class SweepRequest:
    """What to sweep.

    Attributes
    ----------
    plan : a TOML file of what to measure in every combination, and what to leave out.
    shard : only one part of several, from 1: (2, 3) is the second of three.
    cluster : the address of a scheduler whose workers measure, or local:N for N processes.
    tls : with an address, the folder of this computer's certificate.
    mirror : the Debian archive to fetch a toolchain from; empty: this machine's.
    """

    plan: Path | str
    shard: tuple[int, int] | None = None
    cluster: str | None = None
    tls: Path | None = None
    mirror: str = ""


@dataclass(frozen=True)
class SweepEstimate:
    """How long a sweep takes, by the first firmwares of each device."""

    cells: int
    cells_left: int
    seconds_of_one_process: float
    seconds: float
    processes: int


def plan(request: SweepRequest) -> SweepPlan:
    """The cells of the plan, or of its shard.

    Raises
    ------
    InputError
        The file is not a plan, or there is no such shard.
    """
    if request.tls is not None and request.cluster is None:
        raise InputError("--tls: is for --cluster ADDRESS")
    made = replace(read_plan(Path(request.plan)), mirror=request.mirror)
    if request.shard is None:
        return made
    number, count = request.shard
    if not 1 <= number <= count <= SHARDS_MAX:
        raise InputError(
            f"--shard '{number}/{count}': there is no part {number} of {count}; parts count from 1"
        )
    return replace(made, cells=tuple(shard(made.cells, number, count)))


def sweep(
    request: SweepRequest,
    results: Stored = None,
    jobs: int | None = None,
    progress: Watching = None,
) -> MeasureResult:
    """Measure what is not stored yet of a plan, and give all of it. The parameters are those of `measure`.

    Raises
    ------
    InputError
        As `plan`, a tool is not available, or nobody answers at the cluster's address.
    """
    made = plan(request)
    made.prepare()
    with opened(results) as stored:
        return sweep_plan(made, request, stored, jobs, progress, lambda line: None)


def sweep_plan(
    made: SweepPlan,
    request: SweepRequest,
    results: Results,
    jobs: int | None,
    progress: Watching,
    say: Callable[[str], None],
) -> MeasureResult:
    """As `sweep`; `say` takes lines about workers of a cluster."""
    cluster = request.cluster
    crew = crew_of_cluster(cluster, request.tls, made.chosen, say) if cluster is not None else nullcontext()
    with crew as crew_of, stage(progress, "sweeping") as report:
        return measure_plan(made, results, jobs, report, crew_of)


def estimate(made: SweepPlan, results: Results, jobs: int | None, progress: Watching) -> SweepEstimate:
    """Measure the first firmwares of each device that are not stored, and what they take, by device.

    The samples of a device run one after the other in one process, so that their seconds add up.
    """
    key = bench.cell_keys(made.catalog, made.cells)
    missing: dict[str, dict[object, list[Cell]]] = {}
    for cell in made.cells:
        if (found := results.measurement(key[cell])) is None or found.transient:
            missing.setdefault(cell.device, {}).setdefault(group_of(cell), []).append(cell)
    seconds, left = 0.0, 0
    for device, groups in missing.items():
        samples = list(groups.values())[:SAMPLES]
        begun = time.monotonic()
        with stage(progress, f"sampling {device}") as report:
            bench.ensure([cell for group in samples for cell in group], results, made.catalog, 1, report)
        each = (time.monotonic() - begun) / sum(map(len, samples))
        rest = sum(map(len, groups.values())) - sum(map(len, samples))
        seconds, left = seconds + each * rest, left + rest
    processes = jobs or processors()
    return SweepEstimate(len(made.cells), left, round(seconds, 1), round(seconds / processes, 1), processes)
