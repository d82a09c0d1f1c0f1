"""Tables, JSON and progress, the same for every command.

Every command imports this, and most runs print neither table nor bar: what draws them is imported only then.
"""

from __future__ import annotations

import json
import shlex
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, is_dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click

from motecrypt.base.paths import default_results
from motecrypt.base.text import Door, printable
from motecrypt.cli import TYPED
from motecrypt.cli._sheet import Line, Sheet, behind, broken, cells_wide, coloured, in_columns

if TYPE_CHECKING:
    from motecrypt.base.model import Section
    from motecrypt.base.progress import Progress
    from motecrypt.cli._table import Layout
    from motecrypt.results import Results

_Command = TypeVar("_Command", bound=Callable[..., Any])

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
db_option = click.option(
    "--db",
    type=click.Path(path_type=Path, dir_okay=False),
    default=None,
    help="The results file (default: MOTECRYPT_DB, else your data directory).",
)


compiler_option = click.option(
    "--compiler",
    "compilers",
    multiple=True,
    help="Of stored figures, those by this compiler: part of its version line, such as 5.4.0. Default: "
    "the newest figures.",
)


def open_results(db: Path | None, compilers: Sequence[str] = (), *, make: bool = True) -> Results:
    """The results file that the user named, or the default one; read by the chosen compilers, if any.

    A command that only reads does not `make` it."""
    from motecrypt.results import Results

    results = Results(db or default_results(), make=make)
    return results.by_compilers(compilers) if compilers else results


def print_note(line: str) -> None:
    """One line on standard error, next to the answer; nothing for an empty one."""
    if line:
        print(f"motecrypt: {line}", file=sys.stderr)


WRITTEN_TOGETHER = 4096
"""Pieces of JSON."""


def print_json(value: Any) -> None:
    """One JSON document on standard output, in large pieces: the encoder gives one for each value."""
    pieces = json.JSONEncoder(indent=1, default=_plain).iterencode(value)
    while text := "".join(islice(pieces, WRITTEN_TOGETHER)):
        sys.stdout.write(text)
    sys.stdout.write("\n")


def _plain(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, tuple | set | frozenset):
        return list(value)
    raise TypeError(f"{type(value).__name__} is not JSON")


CELL_CHARACTERS_MAX = 1000
NAME_CHARACTERS_MAX = 32
"""A longer name may be printed on a line of its own."""
WIDE = "motecrypt.wide"
"""The name under which the command's context keeps `--wide`."""


def _keep_wide(context: click.Context, _: click.Parameter, value: bool) -> None:
    context.meta[WIDE] = value


wide_option = click.option(
    "--wide",
    is_flag=True,
    expose_value=False,
    callback=_keep_wide,
    help="Print every column of a table, even if it is wider than the terminal.",
)


def table_options(command: _Command) -> _Command:
    """`--json` and `--wide`, of a command that prints tables."""
    return json_option(wide_option(command))


def _wide() -> bool:
    context = click.get_current_context(silent=True)
    return context is not None and bool(context.meta.get(WIDE))


def _shown(cell: object) -> str:
    """A cell as text; of a longer one only the beginning, since laying out megabytes takes minutes."""
    text = "" if cell is None else str(cell)
    cut = text if len(text) <= CELL_CHARACTERS_MAX else f"{text[:CELL_CHARACTERS_MAX]}..."
    return printable(cut)


def print_table(
    title: str,
    columns: Sequence[str],
    rows: Sequence[Sequence[object]],
    text: str = "",
    least: Sequence[str] = (),
    whole: Sequence[str] = (),
) -> None:
    """A table for people, laid out for the width of the terminal, or of COLUMNS.

    Columns whose cells are all numbers are set flush right. `least` names the columns that can go where the
    width is too small, the least useful first; cells of the `whole` columns never break
    (`_table.lay_out`). Where the first of these is too wide, its long names are printed above their rows."""
    from motecrypt.cli._table import lay_out

    out = Sheet()
    cells = [[_shown(cell) for cell in row] for row in rows]
    wide = _wide()
    layout = lay_out(columns, cells, None if wide else out.width, least, cells_wide, whole)
    above: dict[int, str] = {}
    if not wide and columns and columns[0] in whole:
        above = {n: row[0] for n, row in enumerate(cells) if cells_wide(row[0]) > NAME_CHARACTERS_MAX}
        beside = [["" if n in above else row[0], *row[1:]] for n, row in enumerate(cells)]
        other = lay_out(columns, beside, out.width, least, cells_wide, whole)
        if len(other.columns) > len(layout.columns):
            cells, layout = beside, other
        else:
            above = {}
    if title:
        print_words(title, "bold", out)
    if layout.same:
        same = "; ".join(f"{columns[i]} {cells[0][i]}" for i in layout.same if cells[0][i])
        if same:
            print_words(f"In every row: {same}.", out=out)
    if layout.records:
        _print_records(out, columns, cells)
    else:
        _print_columns(out, columns, cells, layout, above)
    if layout.left_out:
        plural = "" if layout.left_out == 1 else "s"
        out.show(*broken(f"+{layout.left_out} column{plural}: --wide", out.width))
    if text:
        print_words(text, out=out)
    out.show([])


def _print_columns(
    out: Sheet,
    columns: Sequence[str],
    cells: Sequence[Sequence[str]],
    layout: Layout,
    above: Mapping[int, str],
) -> None:
    """Rows in columns; `above` has the long names, by row, that are printed on a line before their row."""
    from motecrypt.cli._table import GAP

    right = [all(_numeric(row[index]) for row in cells) for index in layout.columns]
    lines = in_columns([columns[index] for index in layout.columns], layout.widths, right, GAP, heading=True)
    for number, row in enumerate(cells):
        if number in above:
            lines += _in_lines(above[number], out.width)
        lines += in_columns([row[index] for index in layout.columns], layout.widths, right, GAP)
    out.show(*lines)


def _print_records(out: Sheet, columns: Sequence[str], cells: Sequence[Sequence[str]]) -> None:
    for number, row in enumerate(cells):
        if number:
            out.show([])
        for column, cell in zip(columns, row, strict=True):
            if cell:
                out.show(*broken(f"{column}: {cell}" if column else cell, out.width))


def _numeric(cell: str) -> bool:
    return (
        cell in ("", "-", "None")
        or cell.removesuffix(" %").replace(",", "").replace(".", "").replace("-", "").isdigit()
    )


def print_answer(title: str, lines: Sequence[tuple[str, str]], command: str = "") -> None:
    """What the reader came for: a line for each label, a longer one with its rest set below its beginning.

    The last is the command that comes next, if there is one: it stays on one line, to be copied."""
    out = Sheet()
    if title:
        print_words(title, "bold", out)
    margin = max(len(label) for label, _ in (*lines, ("Next" if command else "", ""))) + 2
    for label, text in lines:
        for number, part in enumerate(_lines(text, max(20, out.width - margin))):
            head = (f"{label}:" if label and not number else "").ljust(margin)
            out.show([(head, "bold"), *coloured(part)])
    if command:
        print_next(command, margin)


def print_words(text: str, style: str = "", out: Sheet | None = None) -> None:
    """Sentences, set into lines between their words: a number, a name or a path is never broken."""
    out = out or Sheet()
    out.show(*_in_lines(text, out.width, style))


def print_command(command: str, style: str = "cyan", head: str = "") -> None:
    """A command on a line of its own, to be copied."""
    Sheet().show([(head, "bold"), (printable(command), style)])


def _in_lines(text: str, width: int, style: str = "") -> list[Line]:
    parts = [part for line in text.splitlines() for part in _lines(line, width) or [""]]
    return [coloured(part, style) for part in parts]


def _lines(text: str, width: int) -> list[str]:
    import textwrap

    return textwrap.wrap(printable(text), max(1, width), break_long_words=False, break_on_hyphens=False)


def print_next(command: str, margin: int = 0) -> None:
    """The command that comes next, on a line of its own, to be copied."""
    print_command(command, head="Next:".ljust(max(margin, len("Next: "))))


def print_blank() -> None:
    """An empty line."""
    Sheet().show([])


def typed_with(*more: str, without: Sequence[str] = ()) -> str:
    """The command that runs, as it was typed, with more words, and without flags that contradict them."""
    context = click.get_current_context()
    typed = [word for word in context.meta.get(TYPED, (context.info_name,)) if word not in without]
    return shlex.join(["motecrypt", *typed, *more])


def print_section(section: Section) -> None:
    """A titled table that a view made."""
    print_table(section.title, section.columns, section.rows, section.text)


@contextmanager
def progress(title: str) -> Iterator[Progress]:
    """What is done, running and left, and the time until the end, on standard error from the first second: a
    bar, or plain lines where that is no terminal.

    Yields a function of (done, total, what). Its method `running` takes the titles of what is running.
    """
    if not sys.stderr.isatty():
        from motecrypt.cli._progress import Lines

        def write(line: str) -> None:
            print(f"motecrypt: {line}", file=sys.stderr, flush=True)

        yield Lines(title, time.monotonic, write)
        return
    from motecrypt.cli._bar import bar
    from motecrypt.cli._screen import Screen

    # The bar prints above itself what comes to both streams, and would obey the colours in it.
    with bar(title, Screen(file=behind(sys.stderr))) as told, _doors():
        yield told


class _Stages:
    """Progress of each stage by its title."""

    stage = staticmethod(progress)


stages = _Stages()


@contextmanager
def _doors() -> Iterator[None]:
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = (cast("Any", Door(cast("Any", stream))) for stream in before)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before
