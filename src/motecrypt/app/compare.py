"""Compare results files: two of them cell by cell, or the history of each figure over many versions."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from motecrypt.base.errors import InputError
from motecrypt.base.model import Measurement
from motecrypt.gate.history import HistoryPoint, read_history
from motecrypt.present.compare import ComparedFile, Difference
from motecrypt.present.compare import compare as compared
from motecrypt.present.compare.history import Collector, History
from motecrypt.results import Results

FILES_MAX = 1000
COMMIT_DIGITS = 12
THRESHOLD_PERCENT = 2.0


@dataclass(frozen=True)
class CompareRequest:
    """Two results files.

    Attributes
    ----------
    threshold_percent : growth that is accepted.
    across_flags : match cells with different compiler flags.
    """

    before: Path | str
    after: Path | str
    threshold_percent: float = THRESHOLD_PERCENT
    across_flags: bool = False


@dataclass(frozen=True)
class CompareResult:
    """What is different in the second file: `difference.changes`, and `difference.worse`."""

    difference: Difference
    files: tuple[ComparedFile, ComparedFile]


@dataclass(frozen=True)
class HistoryRequest:
    """Several versions.

    Attributes
    ----------
    files : a results file of each version, in their order.
    place : instead, a folder of results files (.db), by name, or the history file of `ci`.
    across_flags : match cells with different compiler flags.
    """

    files: Sequence[Path | str] = ()
    place: Path | str | None = None
    across_flags: bool = False


def compare(request: CompareRequest) -> CompareResult:
    """What became better or worse from one results file to another.

    Raises
    ------
    InputError
        There is no such file, it has no measurements, or the two have no cell in common.
    """
    paths = Path(request.before), Path(request.after)
    seen = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    sides = _counted(paths[0], seen[0]), _counted(paths[1], seen[1])
    difference = compared(sides[0], sides[1], request.threshold_percent, request.across_flags)
    if not difference.cells:
        raise InputError(
            f"{paths[0]} and {paths[1]} have no cell in common: measure the same ciphers, devices, lengths "
            "and flags into both (--across-flags ignores the flags)"
        )
    before, after = (
        ComparedFile(path, kinds.total(), sorted({c for c, _ in kinds} - {""}), sorted({v for _, v in kinds}))
        for path, kinds in zip(paths, seen, strict=True)
    )
    return CompareResult(difference, (before, after))


def _counted(path: Path, kinds: Counter[tuple[str, str]]) -> Iterator[Measurement]:
    """The newest measurements of a file, while their compilers and versions are counted."""
    for m in _newest(path):
        kinds[m.compiler, m.motecrypt_version] += 1
        yield m


def _newest(path: Path) -> Iterator[Measurement]:
    """The newest measurement of each cell; InputError where there is no file, or nothing in it."""
    if not path.exists():
        raise InputError(f"{path}: no such file; 'motecrypt measure --db {path}' makes one")
    there = False
    with Results(path) as results:
        for m in results.each_newest():
            there = True
            yield m
    if not there:
        raise InputError(f"{path}: contains no measurements; 'motecrypt measure --db {path}' makes them")


def compare_history(request: HistoryRequest) -> History:
    """Each figure over the versions, and every version that changed it.

    Raises
    ------
    InputError
        There are not two versions, a file is not of these, or no figure is in two of them.
    """
    collector = Collector(request.across_flags)
    place = None if request.place is None else Path(request.place)
    if place is not None and place.is_file():
        _add_commits(collector, place)
    else:
        named = list(map(Path, request.files)) if place is None else _in_folder(place)
        for label, path in zip(_labels(named), named, strict=True):
            collector.add_measurements(label, str(path), _newest(path))
    made = collector.history()
    if len(made.versions) < 2:
        raise InputError(
            f"{place or named[0]}: has {len(made.versions)} version; a history needs two: more results "
            "files (.db), or more commits"
        )
    if not any(len(figure.known) + len(figure.failed) > 1 for figure in made.figures):
        raise InputError(
            "no figure is in two of these versions: measure the same ciphers, devices and flags into "
            "each (--across-flags ignores the flags)"
        )
    return made


def _in_folder(folder: Path) -> list[Path]:
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder; --history takes a folder of results files (.db)")
    files = sorted(folder.glob("*.db"), key=lambda path: _natural(path.stem))
    if not files:
        raise InputError(f"{folder}: contains no results files (.db); copy one of each version into it")
    if len(files) > FILES_MAX:
        raise InputError(f"{folder}: contains {len(files)} results files; a history has {FILES_MAX} at most")
    return files


def _natural(name: str) -> list[tuple[int, str]]:
    """A name by which v1.9 comes before v1.10."""
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d+)", name) if part]


def _labels(files: Sequence[Path]) -> list[str]:
    """The files' names; as long as two are equal, with their folders."""
    stems = [path.stem for path in files]
    labels = stems if len(set(stems)) == len(stems) else [str(path) for path in files]
    if len(set(labels)) < len(labels):
        twice = next(label for label in labels if labels.count(label) > 1)
        raise InputError(f"{twice}: is given twice; a version is given once")
    return labels


def _add_commits(collector: Collector, history: Path) -> None:
    by_commit: dict[str, list[HistoryPoint]] = {}
    for point in sorted(read_history(history)):
        by_commit.setdefault(point.commit, []).append(point)
    for commit, points in by_commit.items():
        collector.add_points(commit[:COMMIT_DIGITS], f"{points[0].at} {commit}", points)
