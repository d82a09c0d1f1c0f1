"""motecrypt compare: compare results files, and show what became better or worse."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path

import click

from motecrypt.app.compare import CompareRequest, HistoryRequest, compare, compare_history
from motecrypt.base.errors import InputError
from motecrypt.base.paths import write_atomically
from motecrypt.cli._output import print_json, print_next, show, table_options, typed_with
from motecrypt.cli._request import FILE, PATH
from motecrypt.present.compare import Difference
from motecrypt.present.terminal.compared import compare_view
from motecrypt.present.terminal.history import history_document, history_view


@click.command(epilog="Example: motecrypt compare main.db branch.db --threshold 2%")
@click.argument("files", type=FILE, nargs=-1, metavar="A.db B.db ...")
@click.option(
    "--history",
    type=PATH,
    metavar="DIR",
    help="In place of files: all results files (.db) of a folder, by name, or the history file of 'ci'.",
)
@click.option(
    "--html",
    "page",
    type=FILE,
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
    found = compare(CompareRequest(files[0], files[1], limit, across_flags))
    difference = found.difference
    if as_json:
        told = {field.name: getattr(difference, field.name) for field in fields(difference)}
        print_json({**told, "worse": difference.worse, "files": found.files})
    else:
        show(*compare_view(difference, found.files, every))
        print_next(_next(difference, files[1], every))
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
    made = compare_history(HistoryRequest(files, history, across_flags))
    if page is not None:
        from motecrypt.present.pages.history_page import history_page

        write_atomically(page, history_page(made, limit, typed_with()).encode())
    if as_json:
        print_json(history_document(made, limit))
    else:
        show(*history_view(made, every, limit))
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
