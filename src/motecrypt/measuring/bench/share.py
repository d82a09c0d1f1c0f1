"""Cells shared with other processes that measure into the same results file."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from motecrypt.base.model import Cell, Measurement
from motecrypt.measuring.bench.keys import CellKeys
from motecrypt.measuring.bench.plan import Job, Run
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
        cells = {run: {cell: self._keys(cell) for cell in job.cells(run)} for run in job.runs}
        keys = {run: set(of.values()) for run, of in cells.items()}
        every = set().union(*keys.values())
        free = self._claims.take(every)
        stored = {key: m for key, m in self._results.by_key(every).items() if not m.transient}
        done = [run for run in job.runs if keys[run] <= stored.keys()]
        mine = [run for run in job.runs if run not in done and keys[run] <= free]
        self._claims.release({key for run in {*job.runs} - {*mine} for key in keys[run] & free})
        theirs = [run for run in job.runs if run not in done and run not in mine]
        found = {cell: stored[key] for run in done for cell, key in cells[run].items()}
        return _part(job, mine), found, _part(job, theirs)

    def release(self, keys: Collection[str] | None = None) -> None:
        """Give back the claims of cells that are stored, by their keys; without keys, all."""
        self._claims.release(keys)

    def renew(self) -> None:
        """Keep the claims from expiring."""
        self._claims.renew()


def _part(job: Job, runs: list[Run]) -> Job | None:
    return replace(job, runs=tuple(runs)) if runs else None
