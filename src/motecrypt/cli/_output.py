"""Tables, JSON and progress, the same for every command."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, is_dataclass
from pathlib import Path
from typing import IO, Any, cast

import click
from rich.console import Console, ConsoleOptions, RenderableType
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from motecrypt.model import Section
from motecrypt.paths import default_results
from motecrypt.results import Results
from motecrypt.text import Door, printable

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


def open_results(db: Path | None, compilers: Sequence[str] = ()) -> Results:
    """The results file that the user named, or the default one; read by the chosen compilers, if any."""
    results = Results(db or default_results())
    return results.by_compilers(compilers) if compilers else results


def console() -> Console:
    """Standard output; wide enough for tables when it is not a terminal."""
    width = None if sys.stdout.isatty() else 160
    return _Console(file=_behind(sys.stdout), width=width, highlight=False, soft_wrap=False)


def _behind(stream: Any) -> IO[str]:
    """The stream itself: a console cleans what it shows and writes its own colours."""
    return cast("IO[str]", stream.behind if isinstance(stream, Door) else stream)


class _Console(Console):
    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """What is shown, without control characters but those that the console makes itself."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(printable(segment.text), segment.style)

    def on_broken_pipe(self) -> None:
        """A reader that has seen enough is no failure: main knows what to do."""
        raise BrokenPipeError


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
    columns = (
        *(TextColumn("{task.description}", markup=False), BarColumn()),
        *(MofNCompleteColumn(), TimeRemainingColumn()),
    )
    screen = _Console(file=_behind(sys.stderr))
    # The bar prints above itself what comes to both streams, and would obey the colours in it.
    with Progress(*columns, console=screen, transient=True) as bar, _doors():
        task = bar.add_task(title, total=None)

        def rich(done: int, total: int, what: str) -> None:
            bar.update(task, completed=done, total=total, description=f"{title}: {what}")

        yield rich


@contextmanager
def _doors() -> Iterator[None]:
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = (cast("Any", Door(cast("Any", stream))) for stream in before)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before
