"""`compare` over many versions: which files are versions, the table, the JSON and the page."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from motecrypt.base.errors import InputError
from motecrypt.base.paths import write_atomically
from motecrypt.cli._output import print_json, print_table, print_words
from motecrypt.gate.history import HistoryPoint, read_history
from motecrypt.present.compare.history import Collector, FigureHistory, FigureStep, History
from motecrypt.results import Results

FILES_MAX = 1000
COMMIT_DIGITS = 12
SHOWN_MAX = 1000
COLUMNS = ("figure of", "figure", "first", "last", "change", "versions that changed it")


def gather_history(history: Path | None, files: Sequence[Path], across_flags: bool) -> History:
    """The versions of a folder of results files, of a history of `motecrypt ci`, or of files in their order.

    Raises
    ------
    InputError
        There are not two versions, a file is not of these, or no figure is in two of them.
    """
    collector = Collector(across_flags)
    if history is not None and history.is_file():
        _add_commits(collector, history)
    else:
        named = _in_folder(history) if history is not None else list(files)
        for label, path in zip(_labels(named), named, strict=True):
            _add_file(collector, label, path)
    made = collector.history()
    if len(made.versions) < 2:
        raise InputError(
            f"{history or named[0]}: has {len(made.versions)} version; a history needs two: more results "
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


def _add_file(collector: Collector, label: str, path: Path) -> None:
    if not path.exists():
        raise InputError(f"{path}: no such file; 'motecrypt measure --db {path}' makes one")
    with Results(path, make=False) as results:
        version = collector.add_measurements(label, str(path), results.each_newest())
    if not version.cells:
        raise InputError(f"{path}: contains no measurements; 'motecrypt measure --db {path}' makes them")


def _add_commits(collector: Collector, history: Path) -> None:
    by_commit: dict[str, list[HistoryPoint]] = {}
    for point in sorted(read_history(history)):
        by_commit.setdefault(point.commit, []).append(point)
    for commit, points in by_commit.items():
        collector.add_points(commit[:COMMIT_DIGITS], f"{points[0].at} {commit}", points)


# --- shown ---------------------------------------------------------------------------------------------


def print_history(made: History, every: bool, threshold: float) -> None:
    """The versions, then the figures that changed, or all."""
    for version in made.versions:
        of = f"{version.cells:,} cells" if version.cells else "no figures"
        print_words(f"{version.label}: {', '.join([of, *version.compilers])}")
    print()
    shown = made.figures if every else made.changed
    if shown:
        left = len(shown) - SHOWN_MAX
        more = f"... and {left:,} more: --json has all" if left > 0 else ""
        rows = [_row(figure) for figure in shown[:SHOWN_MAX]]
        print_table("Figures over versions", COLUMNS, rows, more, ("first", "last"))
    same = len(made.figures) - len(made.changed)
    print_words(
        f"{len(made.versions)} versions, {len(made.figures):,} figures: {len(made.changed):,} changed, "
        f"{same:,} did not; {_worse(made, threshold)}"
    )


def _worse(made: History, threshold: float) -> str:
    count = len(made.worse(threshold))
    last = made.versions[-1].label
    return f"{last} made {count:,} worse by more than {threshold:g} %" if count else f"{last} made none worse"


def _row(figure: FigureHistory) -> list[object]:
    known = figure.known
    return [
        figure.name,
        figure.figure,
        f"{known[0]:,.10g}" if known else "",
        f"{known[-1]:,.10g}" if known else "",
        "" if figure.percent is None else f"{figure.percent:+.1f} %",
        "; ".join(step_in_words(step) for step in figure.steps),
    ]


def step_in_words(step: FigureStep) -> str:
    """A change in a few words, the version first."""
    if step.percent is not None:
        return f"{step.version} {step.percent:+.1f} %"
    return f"{step.version} {step.kind}"


def print_history_json(made: History, threshold: float) -> None:
    """Every version and figure; `first_changed` is the label of the first version that changed it."""
    print_json(
        {
            "versions": [asdict(version) for version in made.versions],
            "figures": list(_told(made)),
            "threshold_percent": threshold,
            "worse": bool(made.worse(threshold)),
        }
    )


def _told(made: History) -> Iterator[dict[str, Any]]:
    for figure in made.figures:
        first = figure.steps[0].version if figure.steps else None
        yield {**asdict(figure), "percent": figure.percent, "first_changed": first}


def write_history_page(page: Path, made: History, threshold: float, command: str) -> None:
    """Write the page with charts and tables."""
    from motecrypt.present.pages.history_page import history_page

    write_atomically(page, history_page(made, threshold, command).encode())
