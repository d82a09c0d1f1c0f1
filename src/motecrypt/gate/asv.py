"""Figures as airspeed velocity (asv) keeps them, so that `asv publish` and `asv preview` show their history.

Source: asv 0.6's asv/results.py and asv/benchmarks.py, by the field names that its documentation lists; the
results folder has one file for each commit and environment, machine.json, and benchmarks.json next to these.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from motecrypt.base.errors import InputError
from motecrypt.base.paths import read_regular, write_atomically
from motecrypt.gate.figures import UNITS, Benchmark

MACHINE, ENVIRONMENT = "motecrypt", "simulated"
_COLUMNS = ["result", "params", "version", "started_at", "duration"]


def asv_name(benchmark: str, measure: str) -> str:
    """A benchmark's name as asv takes it: words with dots between them."""
    words = [re.sub(r"[^A-Za-z0-9_+-]", "_", word) for word in benchmark.split("/")]
    return ".".join([*words, f"track_{measure}"])


def write_asv(folder: Path, benchmarks: Sequence[Benchmark], commit: str, made_ms: int) -> None:
    """Add one commit's figures to an asv results folder (`results_dir` of asv.conf.json).

    Parameters
    ----------
    commit
        Its whole hash: asv looks for it in the repository.
    made_ms
        The commit's time, in milliseconds since 1970.

    Raises
    ------
    InputError
        A file there is not asv's, or cannot be written.
    """
    figures = {
        asv_name(benchmark.name, measure): (value, UNITS[measure])
        for benchmark in benchmarks
        for measure, value in benchmark.figures.items()
        if measure in UNITS
    }
    known = _read(folder / "benchmarks.json")
    known |= {name: _described(name, unit) for name, (_, unit) in figures.items()}
    _write(folder / "benchmarks.json", {**known, "version": 2})
    place = folder / MACHINE
    _write(place / "machine.json", {"machine": MACHINE, "arch": "simulated", "version": 1})
    results = {name: [[value], [], _version(name), made_ms, 0] for name, (value, _) in figures.items()}
    document = {
        "commit_hash": commit,
        "env_name": ENVIRONMENT,
        "date": made_ms,
        "params": {"machine": MACHINE, "arch": "simulated", "python": ""},
        "python": "",
        "requirements": {},
        "env_vars": {},
        "result_columns": _COLUMNS,
        "results": results,
        "durations": {},
        "version": 2,
    }
    _write(place / f"{commit[:8]}-{ENVIRONMENT}.json", document)


def _version(name: str) -> str:
    """asv joins points of one version in a line: a benchmark of one name is the same."""
    return hashlib.sha256(name.encode()).hexdigest()


def _described(name: str, unit: str) -> dict[str, Any]:
    return {
        "code": "",
        "name": name,
        "param_names": [],
        "params": [],
        "timeout": 60.0,
        "type": "track",
        "unit": unit or "unit",
        "version": _version(name),
    }


def _read(path: Path) -> dict[str, Any]:
    if not path.exists():
        return {}
    try:
        known = json.loads(read_regular(path))
    except ValueError as error:
        raise InputError(f"{path}: not JSON: {error}; name asv's own results folder") from None
    if not isinstance(known, dict):
        raise InputError(f"{path}: not asv's list of benchmarks; name asv's own results folder")
    return known


def _write(path: Path, document: Mapping[str, Any]) -> None:
    write_atomically(path, (json.dumps(document, indent=1, sort_keys=True) + "\n").encode())
