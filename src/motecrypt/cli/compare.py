"""motecrypt compare: two results files, what became better or worse, cell by cell."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import click

from motecrypt.cli._output import console, json_option, print_json, print_table
from motecrypt.compare import Change, Difference, compare
from motecrypt.errors import InputError
from motecrypt.model import Measurement
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


@click.command(epilog="Example: motecrypt compare main.db branch.db --threshold 2%")
@click.argument("before", type=click.Path(path_type=Path, dir_okay=False), metavar="A.db")
@click.argument("after", type=click.Path(path_type=Path, dir_okay=False), metavar="B.db")
@click.option("--threshold", default="2%", show_default=True, help="What may grow without exit code 1.")
@click.option("--across-flags", is_flag=True, help="Match cells whatever their compiler flags.")
@click.option("--all", "every", is_flag=True, help="Also print what stays within the threshold.")
@json_option
def command(
    before: Path, after: Path, threshold: str, across_flags: bool, every: bool, as_json: bool
) -> None:
    """Compare two results files, of two commits, compilers or machines: cycles, stack, flash and RAM.

    Exit code 1 when a figure grew past the threshold, or a cell that ran does so no more.
    """
    limit = _percent(threshold)
    old, new = _read(before), _read(after)
    difference = compare(old, new, limit, across_flags)
    if not difference.cells:
        raise InputError(
            f"{before} and {after} have no cell in common: measure the same ciphers, devices, lengths and "
            "flags into both (--across-flags compares whatever the flags)"
        )
    if as_json:
        print_json({**asdict(difference), "worse": difference.worse})
    else:
        _print(difference, (before, old), (after, new), every)
    if difference.worse:
        sys.exit(1)


def _percent(text: str) -> float:
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)\s*%", text.strip())
    if match is None:
        raise InputError(f"--threshold '{text}': write per cent, as in 2% or 0.5%")
    return float(match[1])


def _read(path: Path) -> list[Measurement]:
    if not path.exists():
        raise InputError(f"{path}: there is no such file; 'motecrypt measure --db {path}' makes one")
    with Results(path) as results:
        found = results.newest_measurements()
    if not found:
        raise InputError(f"{path}: holds no measurements; 'motecrypt measure --db {path}' makes them")
    return found


def _print(
    difference: Difference,
    before: tuple[Path, Sequence[Measurement]],
    after: tuple[Path, Sequence[Measurement]],
    every: bool,
) -> None:
    shown = [c for c in difference.changes if c.beyond or every]
    out = console()
    for label, (path, measurements) in (("A", before), ("B", after)):
        compilers = ", ".join(sorted({m.compiler for m in measurements if m.compiler}))
        versions = ", ".join(sorted({m.motecrypt_version for m in measurements}))
        about = f"{len(measurements)} cells, {compilers}, motecrypt {versions}"
        out.print(f"{label} {path}: {about}", markup=False)
    out.print()
    if shown:
        limit = f"more than {difference.threshold_percent:g} %"
        print_table(f"Changes of {limit}" if not every else "Changes", COLUMNS, [_row(c) for c in shown])
    print(_summary(difference))


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
