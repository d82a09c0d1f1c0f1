"""motecrypt compare: compare results files, and show what became better or worse."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Iterator, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import click

from motecrypt.base.errors import InputError
from motecrypt.base.model import Measurement
from motecrypt.cli._history import (
    gather_history,
    print_history,
    print_history_json,
    write_history_page,
)
from motecrypt.cli._output import print_json, print_next, print_table, print_words, table_options, typed_with
from motecrypt.present.compare import Change, Difference, compare
from motecrypt.results import Results

COLUMNS = (
    "",
    "device",
    "cipher",
    "implementation",
    "operation",
    "bytes",
    "figure",
    "before",
    "after",
    "change",
)
LEAST = ("bytes", "operation", "before", "after", "implementation", "device")

#: Rows of the table: laying out more takes minutes, and nobody reads them.
SHOWN_MAX = 1000


@click.command(epilog="Example: motecrypt compare main.db branch.db --threshold 2%")
@click.argument("files", type=click.Path(path_type=Path, dir_okay=False), nargs=-1, metavar="A.db B.db ...")
@click.option(
    "--history",
    type=click.Path(path_type=Path),
    default=None,
    metavar="DIR",
    help="In place of files: all results files (.db) of a folder, by name, or the history file of 'ci'.",
)
@click.option(
    "--html",
    "page",
    type=click.Path(path_type=Path, dir_okay=False),
    default=None,
    help="Of a history: write a page with a chart of each figure that changed. One file, offline.",
)
@click.option(
    "--threshold", default="2%", show_default=True, help="Growth that is accepted without exit code 1."
)
@click.option("--across-flags", is_flag=True, help="Match cells with different compiler flags.")
@click.option("--all", "every", is_flag=True, help="Also print changes within the threshold.")
@table_options
def command(
    files: tuple[Path, ...],
    history: Path | None,
    page: Path | None,
    threshold: str,
    across_flags: bool,
    every: bool,
    as_json: bool,
) -> None:
    """Compare two results files, of two commits, compilers or machines: cycles, stack, flash and RAM.

    More files, or --history, give the history of each figure over versions, in the order of the files, with
    every version that changed it.

    Exit code 1 when a figure grew past the threshold, or something that used to run now fails; of a history,
    from the version before the last to the last.
    """
    limit = _percent(threshold)
    if history is not None and files:
        raise InputError("--history: name either a folder or files")
    if history is not None or len(files) > 2 or (page is not None and len(files) == 2):
        _history(history, files, page, limit, across_flags, every, as_json)
        return
    if len(files) != 2:
        raise InputError(f"{len(files)} results files are named: name two, or more for their history")
    before, after = files
    sides = _Side(before), _Side(after)
    difference = compare(sides[0].read(), sides[1].read(), limit, across_flags)
    if not difference.cells:
        raise InputError(
            f"{before} and {after} have no cell in common: measure the same ciphers, devices, lengths and "
            "flags into both (--across-flags ignores the flags)"
        )
    if as_json:
        told = {field.name: getattr(difference, field.name) for field in fields(difference)}
        print_json({**told, "worse": difference.worse, "files": [side.facts for side in sides]})
    else:
        _print(difference, sides, every)
        print_next(_next(difference, after, every))
    if difference.worse:
        sys.exit(1)


def _history(
    history: Path | None,
    files: Sequence[Path],
    page: Path | None,
    limit: float,
    across_flags: bool,
    every: bool,
    as_json: bool,
) -> None:
    made = gather_history(history, files, across_flags)
    if page is not None:
        write_history_page(page, made, limit, typed_with())
    if as_json:
        print_history_json(made, limit)
    else:
        print_history(made, every, limit)
        print_next(typed_with("--html", "history.html") if page is None else typed_with("--json"))
    if made.worse(limit):
        sys.exit(1)


def _next(difference: Difference, after: Path, every: bool) -> str:
    """The same with the changes that are not shown; where there are none, all figures of the second file."""
    if not every and not all(change.beyond for change in difference.changes):
        return typed_with("--all")
    return shlex.join(["motecrypt", "report", "-o", "report.html", "--db", str(after)])


def _percent(text: str) -> float:
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)\s*%", text.strip())
    if match is None:
        raise InputError(f"--threshold '{text}': write per cent, as in 2% or 0.5%")
    return float(match[1])


class _Side:
    """One of the two files, read once; what is reported of it is counted meanwhile."""

    def __init__(self, path: Path) -> None:
        if not path.exists():
            raise InputError(f"{path}: no such file; 'motecrypt measure --db {path}' makes one")
        self.path = path
        self.cells = 0
        self._compilers: set[str] = set()
        self._versions: set[str] = set()

    def read(self) -> Iterator[Measurement]:
        """The newest measurement of each cell."""
        with Results(self.path) as results:
            for m in results.each_newest():
                self.cells += 1
                self._compilers.add(m.compiler)
                self._versions.add(m.motecrypt_version)
                yield m
        if not self.cells:
            path = self.path
            raise InputError(f"{path}: contains no measurements; 'motecrypt measure --db {path}' makes them")

    @property
    def facts(self) -> dict[str, Any]:
        """The file, its number of cells, and who measured them."""
        compilers, versions = sorted(self._compilers - {""}), sorted(self._versions)
        return {"file": self.path, "cells": self.cells, "compilers": compilers, "versions": versions}

    @property
    def about(self) -> str:
        """The file in a line."""
        of = self.facts
        compilers, versions = (", ".join(of[name]) for name in ("compilers", "versions"))
        return f"{self.path}: {self.cells} cells, {compilers}, motecrypt {versions}"


def _print(difference: Difference, sides: Sequence[_Side], every: bool) -> None:
    shown = [c for c in difference.changes if c.beyond or every]
    for label, side in zip("AB", sides, strict=True):
        print_words(f"{label} {side.about}")
    print()
    if shown:
        limit = f"more than {difference.threshold_percent:g} %"
        left = len(shown) - SHOWN_MAX
        more = f"... and {left:,} more: --json has all" if left > 0 else ""
        rows = [_row(c) for c in shown[:SHOWN_MAX]]
        print_table(f"Changes of {limit}" if not every else "Changes", COLUMNS, rows, more, LEAST)
    print_words(_summary(difference))


def _row(change: Change) -> list[object]:
    bits = "" if str(change.key_bits) in change.cipher else f", {change.key_bits} bits"
    place = "" if change.placement == "flash" else f", {change.placement}"
    if change.cache not in ("", "none"):
        place += f", {change.cache}"
    grew = "" if change.percent is None else f"{change.percent:+.1f} %"
    return [
        *(change.kind, change.device, change.cipher + bits, change.implementation + place, change.operation),
        *(change.message_bytes, change.figure.removesuffix("_median").replace("_bytes", "")),
        *(_value(change.before), _value(change.after), grew),
    ]


def _value(value: float | str | None) -> str:
    return "" if value is None else value if isinstance(value, str) else f"{value:,.0f}"


def _summary(difference: Difference) -> str:
    counts: dict[str, int] = {}
    for change in difference.changes:
        small = "" if change.beyond or change.kind not in ("worse", "better") else " within the threshold"
        counts[change.kind + small] = counts.get(change.kind + small, 0) + 1
    said = ", ".join(f"{count} {kind}" for kind, count in counts.items())
    return f"{difference.cells} cells in both, {difference.equal} of them equal" + (f"; {said}" * bool(said))
