"""motecrypt sweep: measure every combination of a plan, whole or in shards."""

from __future__ import annotations

import shlex
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path

import click

from motecrypt.app.plan import prepare
from motecrypt.app.sweep_plan import SweepPlan, read_plan
from motecrypt.base.errors import InputError
from motecrypt.base.model import Cell, Measurement
from motecrypt.base.process import processors
from motecrypt.cli._choices import mirror_option
from motecrypt.cli._cluster import crew_of_cluster, tls_option
from motecrypt.cli._output import db_option, json_option, open_results, print_json, print_next, progress
from motecrypt.cli._progress import duration
from motecrypt.measuring import bench
from motecrypt.measuring.bench.plan import group_of
from motecrypt.measuring.bench.shards import shard
from motecrypt.results import Results

SAMPLES = 2
"""Firmwares of each device that are measured for the estimate."""


@click.command(epilog="Example: motecrypt sweep plan.toml --shard 2/3 --db shard2.db")
@click.argument("plan_file", metavar="PLAN.toml", type=click.Path(path_type=Path))
@click.option("--shard", "part", default=None, metavar="I/N", help="Only part I of N, such as 2/3.")
@click.option(
    "--estimate", is_flag=True, help="Measure a few firmwares of each device, then print how long all take."
)
@click.option(
    "--jobs", type=click.IntRange(1, 256), default=None, help="Number of firmwares to run at the same time."
)
@click.option(
    "--cluster",
    default=None,
    metavar="ADDRESS|local:N",
    help="Measure with the workers of this scheduler, or with N worker processes of this computer.",
)
@tls_option
@mirror_option
@db_option
@json_option
def command(
    plan_file: Path,
    part: str | None,
    estimate: bool,
    jobs: int | None,
    cluster: str | None,
    tls: Path | None,
    mirror: str,
    db: Path | None,
    as_json: bool,
) -> None:
    """Measure every combination that a plan file names, except those that it excludes.

    What is stored already is not measured again, so a stopped sweep continues where it stopped. Shards
    divide the plan by firmware: the same cell is in the same shard on every machine. Join their files with
    'motecrypt results merge'. With --cluster, workers on several computers measure, and the results are
    stored here; workers with another compiler are refused.

    Exit code 1: a cell is wrong, crashed or did not compile. Cells that do not fit are results.
    """
    if cluster is not None and (estimate or jobs is not None):
        raise InputError("--cluster: cannot be combined with --estimate or --jobs")
    if cluster is None and tls is not None:
        raise InputError("--tls: is for --cluster ADDRESS")
    plan = read_plan(plan_file)
    cells = list(plan.cells)
    if part is not None:
        cells = shard(cells, *_numbers(part))
    if not as_json:
        print(_counted(plan, cells, part))
    if not cells:  # a file all the same: a join of all shards needs it
        open_results(db).close()
        if as_json:
            print_json([])
        return
    plan.chosen.prove_own()
    catalog = plan.chosen.catalog
    prepare(catalog, cells, mirror)
    with open_results(db) as results:
        if estimate:
            told = _estimate(plan, cells, results, jobs)
            print_json(told) if as_json else print(_estimated(told))
            return
        with (
            crew_of_cluster(cluster, tls, plan.chosen) if cluster is not None else nullcontext() as crew_of,
            progress("sweeping") as report,
        ):
            measured = bench.ensure(cells, results, catalog, jobs, report, crew_of=crew_of)
    if as_json:
        print_json([asdict(m) for m in measured.values()])
    else:
        print(_summary(measured))
        print_next(
            shlex.join(["motecrypt", "report", "-o", "report.html", *(["--db", str(db)] if db else [])])
        )
    click.get_current_context().exit(int(bool(_wrong(measured))))


def _numbers(text: str) -> tuple[int, int]:
    first, slash, second = text.partition("/")
    if not (slash and first.isascii() and first.isdigit() and second.isascii() and second.isdigit()):
        raise InputError(f"--shard '{text}': write I/N, such as 2/3")
    number, count = int(first), int(second)
    if not 1 <= number <= count <= 10_000:
        raise InputError(f"--shard '{text}': there is no part {number} of {count}; parts count from 1")
    return number, count


def _counted(plan: SweepPlan, cells: Sequence[Cell], part: str | None) -> str:
    firmwares = len({group_of(cell) for cell in cells})
    excluded = f", {plan.left_out:,} more excluded" if plan.left_out else ""
    which = f"shard {part}: " if part else ""
    return f"{plan.title}: {which}{len(cells):,} cells of {firmwares:,} firmwares{excluded}"


def _estimate(
    plan: SweepPlan, cells: Sequence[Cell], results: Results, jobs: int | None
) -> dict[str, object]:
    """Measure the first firmwares of each device that are not stored, and what they take, by device.

    The samples of a device run one after the other in one process, so that their seconds add up.
    """
    catalog = plan.chosen.catalog
    key = bench.cell_keys(catalog, cells)
    missing: dict[str, dict[object, list[Cell]]] = {}
    for cell in cells:
        if (found := results.measurement(key[cell])) is None or found.transient:
            missing.setdefault(cell.device, {}).setdefault(group_of(cell), []).append(cell)
    seconds, left = 0.0, 0
    for device, groups in missing.items():
        samples = list(groups.values())[:SAMPLES]
        begun = time.monotonic()
        with progress(f"sampling {device}") as report:
            bench.ensure([cell for group in samples for cell in group], results, catalog, 1, report)
        each = (time.monotonic() - begun) / sum(map(len, samples))
        rest = sum(map(len, groups.values())) - sum(map(len, samples))
        seconds, left = seconds + each * rest, left + rest
    return {
        "cells": len(cells),
        "cells_left": left,
        "seconds_of_one_process": round(seconds, 1),
        "seconds": round(seconds / (jobs or processors()), 1),
        "processes": jobs or processors(),
    }


def _estimated(told: Mapping[str, object]) -> str:
    if not told["cells_left"]:
        return "nothing left to measure"
    seconds = float(str(told["seconds"]))
    return (
        f"{told['cells_left']:,} cells left: about {duration(seconds)} with {told['processes']} processes, "
        "by the first firmwares of each device"
    )


def _wrong(measured: Mapping[Cell, Measurement]) -> list[Measurement]:
    return [m for m in measured.values() if m.status not in ("ok", "does-not-fit")]


def _summary(measured: Mapping[Cell, Measurement]) -> str:
    counts = Counter(m.status for m in measured.values())
    lines = [
        f"{len(measured):,} cells: " + ", ".join(f"{n:,} {status}" for status, n in counts.most_common())
    ]
    for m in _wrong(measured)[:10]:
        lines.append(f"  {m.status}: {m.device} {m.cipher} {m.implementation}: {m.reason}")
    more = len(_wrong(measured)) - 10
    return "\n".join([*lines, *([f"  and {more:,} more"] if more > 0 else [])])
