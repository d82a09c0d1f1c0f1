"""The history file: figures of commits, a line each, so that two of them merge line by line.

A line is one benchmark at one commit, as JSON; lines are sorted and unique. Equal figures of one benchmark at
one commit are one line wherever they were made, so a merge is the union of the lines (git: merge=union).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from motecrypt.base.errors import InputError
from motecrypt.base.paths import read_regular, write_atomically
from motecrypt.gate.figures import UNITS, Benchmark

HISTORY_VERSION = 1
BYTES_MAX = 256 << 20


@dataclass(frozen=True, order=True)
class HistoryPoint:
    """One benchmark at one commit. `at` is the commit's time (ISO 8601, UTC); `figures` as sorted pairs."""

    at: str
    commit: str
    benchmark: str
    compiler: str
    figures: tuple[tuple[str, float], ...]
    build: str = ""

    @property
    def line(self) -> str:
        """The point as a line of the file."""
        told = {
            "v": HISTORY_VERSION,
            "at": self.at,
            "commit": self.commit,
            "benchmark": self.benchmark,
            "build": self.build,
            "compiler": self.compiler,
            "figures": dict(self.figures),
        }
        return json.dumps(told, separators=(",", ":"))

    @property
    def as_benchmark(self) -> Benchmark:
        """The benchmark that it was made of."""
        return Benchmark(self.benchmark, self.build, dict(self.figures), compiler=self.compiler)


def points_of(benchmarks: Sequence[Benchmark], commit: str, at: str) -> list[HistoryPoint]:
    """A commit's benchmarks that ran."""
    return [
        HistoryPoint(at, commit, b.name, b.compiler, tuple(sorted(b.figures.items())), b.build)
        for b in benchmarks
        if b.ran and b.figures
    ]


def read_history(path: Path) -> list[HistoryPoint]:
    """The points of a file, in any order and as often as they are there.

    Raises
    ------
    InputError
        It cannot be read, or a line is not a point; the message names the line. A line that git has left in a
        conflict is one of these.
    """
    found = []
    for number, line in enumerate(
        read_regular(path, BYTES_MAX).decode(errors="replace").splitlines(), start=1
    ):
        if not line.strip():
            continue
        point = _point(line)
        if point is None:
            hint = "; resolve the conflict: keep the lines of both sides" if line[:7] in _MARKS else ""
            raise InputError(f"{path}:{number}: not a point of a history{hint}")
        found.append(point)
    return found


_MARKS = ("<<<<<<<", "=======", ">>>>>>>")


def _point(line: str) -> HistoryPoint | None:
    try:
        told: Any = json.loads(line)
        if told["v"] != HISTORY_VERSION:
            return None
        texts = [told[key] for key in ("at", "commit", "benchmark", "compiler", "build")]
        figures = told["figures"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    if not all(isinstance(text, str) for text in texts) or not isinstance(figures, dict):
        return None
    if not all(name in UNITS and _is_number(value) for name, value in figures.items()):
        return None
    at, commit, benchmark, compiler, build = texts
    return HistoryPoint(at, commit, benchmark, compiler, tuple(sorted(figures.items())), build)


def _is_number(value: object) -> bool:
    """Neither NaN nor infinite, and small enough for every reader of the outputs."""
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1 << 63


def merge_histories(*sides: Iterable[HistoryPoint]) -> tuple[list[HistoryPoint], list[str]]:
    """The union of histories, sorted, and the conflicts: two figures of one benchmark at one commit by one
    compiler. Of these the larger is kept, in any order of the sides."""
    kept: dict[tuple[str, str, str], HistoryPoint] = {}
    conflicts: dict[str, None] = {}
    for point in (point for side in sides for point in side):
        key = (point.commit, point.benchmark, point.compiler)
        other = kept.setdefault(key, point)
        if other.figures != point.figures:
            conflicts[f"{point.benchmark} at {point.commit[:12]} has two figures ({point.compiler})"] = None
        kept[key] = max(other, point)
    return sorted(kept.values()), list(conflicts)


def write_history(path: Path, points: Iterable[HistoryPoint]) -> None:
    """Write the points, sorted and each once."""
    lines = [point.line for point in sorted(set(points))]
    write_atomically(path, "".join(f"{line}\n" for line in lines).encode())


def merge_into(path: Path, *others: Iterable[HistoryPoint]) -> tuple[int, list[str]]:
    """Fold other histories into a file, which need not exist; how many points it has, and the conflicts."""
    points, conflicts = merge_histories(read_history(path) if path.exists() else [], *others)
    write_history(path, points)
    return len(points), conflicts


def figures_at(points: Iterable[HistoryPoint], commit: str, compilers: Iterable[str]) -> list[Benchmark]:
    """What there is for a commit, by these compilers: figures of others would not be comparable."""
    known = set(compilers)
    return [p.as_benchmark for p in points if p.commit == commit and p.compiler in known]
