"""Cells shared with other processes that measure into the same results file."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from motecrypt.bench.keys import CellKeys
from motecrypt.bench.plan import Job, Run
from motecrypt.model import Cell, Measurement
from motecrypt.results import Claims, Results


class Sharing:
    """What this process measures itself, and what others have begun with.

    Parameters
    ----------
    results
        Where claims and measurements are kept.
    keys
        The cells' keys.
    """

    def __init__(self, results: Results, keys: CellKeys) -> None:
        self._results = results
        self._keys = keys
        self._claims = Claims(results)

    def take(self, job: Job) -> tuple[Job | None, dict[Cell, Measurement], Job | None]:
        """Claim a job's runs: those that are to be measured here now, what others have stored of the rest
        since, and the runs that others are at."""
        keys = {run: {self._keys(cell) for cell in job.cells(run)} for run in job.runs}
        free = self._claims.take(set().union(*keys.values()))
        found = {run: self._stored(job, run) for run in job.runs}
        done = [run for run in job.runs if found[run]]
        mine = [run for run in job.runs if not found[run] and keys[run] <= free]
        self._claims.release({key for run in job.runs if run not in mine for key in keys[run] & free})
        theirs = [run for run in job.runs if run not in done and run not in mine]
        return _part(job, mine), {c: m for run in done for c, m in found[run].items()}, _part(job, theirs)

    def _stored(self, job: Job, run: Run) -> dict[Cell, Measurement]:
        """All of a run's measurements; none where one is missing or failed only for the moment."""
        found = {cell: self._results.measurement(self._keys(cell)) for cell in job.cells(run)}
        kept = {cell: m for cell, m in found.items() if m is not None and not m.transient}
        return kept if len(kept) == len(found) else {}

    def release(self, cells: Iterable[Cell] | None = None) -> None:
        """Give back the claims of cells that are stored; without cells, all."""
        self._claims.release(None if cells is None else {self._keys(cell) for cell in cells})

    def renew(self) -> None:
        """Keep the claims from expiring."""
        self._claims.renew()


def _part(job: Job, runs: list[Run]) -> Job | None:
    return replace(job, runs=tuple(runs)) if runs else None
