"""Tables, JSON and progress, the same for every command.

Every command imports this, and most runs print neither table nor bar: what draws them is imported only then.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, is_dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, cast

import click

from motecrypt.model import Section
from motecrypt.paths import default_results
from motecrypt.text import Door, printable

if TYPE_CHECKING:
    from rich.console import Console

    from motecrypt.results import Results

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


def console() -> Console:
    """Standard output; wide enough for tables when it is not a terminal."""
    from motecrypt.cli._screen import Screen

    width = None if sys.stdout.isatty() else 160
    return Screen(file=_behind(sys.stdout), width=width, highlight=False, soft_wrap=False)


def _behind(stream: Any) -> IO[str]:
    """The stream itself: a console cleans what it shows and writes its own colours."""
    return cast("IO[str]", stream.behind if isinstance(stream, Door) else stream)


def print_json(value: Any) -> None:
    """One JSON document on standard output."""
    json.dump(value, sys.stdout, indent=1, default=_plain)
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


def _shown(cell: object) -> str:
    """A cell as text; of a longer one only the beginning, since laying out megabytes takes minutes."""
    text = "" if cell is None else str(cell)
    cut = text if len(text) <= CELL_CHARACTERS_MAX else f"{text[:CELL_CHARACTERS_MAX]}..."
    return printable(cut)


def print_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[object]], text: str = "") -> None:
    """A table for people. Columns whose cells are all numbers are set flush right."""
    from rich.table import Table
    from rich.text import Text

    heading = Text(title, style="bold")  # as text: brackets in it are no markup
    table = Table(title=heading, title_justify="left", header_style="bold", box=None, pad_edge=False)
    for index, column in enumerate(columns):
        cells = [_shown(row[index]) for row in rows]
        numeric = all(_numeric(cell) for cell in cells)
        # A number broken over two lines reads as another number.
        table.add_column(
            Text(column), justify="right" if numeric else "left", overflow="fold", no_wrap=numeric
        )
    for row in rows:
        table.add_row(*[Text(_shown(cell)) for cell in row])
    out = console()
    out.print(table)
    if text:
        out.print(text, markup=False)
    out.print()


def fits(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> bool:
    """Whether a table of these rows fits the terminal without breaking a cell."""
    widths = [max([len(c), *(len(str(row[i])) for row in rows)]) for i, c in enumerate(columns)]
    return sum(widths) + 2 * (len(columns) - 1) <= console().width


def _numeric(cell: str) -> bool:
    return cell in ("", "-", "None") or cell.replace(",", "").replace(".", "").replace("-", "").isdigit()


def print_section(section: Section) -> None:
    """A titled table that a view made."""
    print_table(section.title, section.columns, section.rows, section.text)


@contextmanager
def progress(title: str) -> Iterator[Callable[[int, int, str], None]]:
    """Progress with time left, on standard error; plain lines where that is no terminal.

    Yields a function of (done, total, what).
    """
    if not sys.stderr.isatty():
        last = [0]
        begun = [time.monotonic()]

        def plain(done: int, total: int, what: str) -> None:
            step = max(1, total // 10)
            if done < last[0]:  # another stage begins
                last[0], begun[0] = 0, time.monotonic()
            if done == total or done >= last[0] + step:
                last[0] = done
                left_s = (time.monotonic() - begun[0]) / max(1, done) * (total - done)
                left = f", about {left_s / 60:.0f} min left" if left_s >= 60 else ""
                print(f"motecrypt: {title}: {done} of {total} ({what}){left}", file=sys.stderr, flush=True)

        yield plain
        return
    from motecrypt.cli._screen import Screen, bar

    # The bar prints above itself what comes to both streams, and would obey the colours in it.
    with bar(title, Screen(file=_behind(sys.stderr))) as told, _doors():
        yield told


@contextmanager
def _doors() -> Iterator[None]:
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = (cast("Any", Door(cast("Any", stream))) for stream in before)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before
