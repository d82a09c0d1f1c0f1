"""Tables, JSON and progress, the same for every command.

Every command imports this, and most runs print neither table nor bar: what draws them is imported only then.
"""

from __future__ import annotations

import json
import shlex
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, is_dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click

from motecrypt.base.paths import default_results
from motecrypt.base.text import Door
from motecrypt.cli import TYPED
from motecrypt.cli._request import FILE
from motecrypt.cli._sheet import Sheet, behind
from motecrypt.present.terminal import TextBlock, TextCommand, TextTable, TextWords

if TYPE_CHECKING:
    from motecrypt.base.progress import Progress
    from motecrypt.results import Results

_Command = TypeVar("_Command", bound=Callable[..., Any])

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
db_option = click.option(
    "--db", type=FILE, help="The results file (default: MOTECRYPT_DB, else your data directory)."
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


def show(*blocks: TextBlock) -> None:
    """Print what a view made, laid out for the width of the terminal, or of COLUMNS."""
    from motecrypt.present.terminal.lines import lines_of

    out = Sheet()
    for block in blocks:
        out.show(*lines_of(block, out.width, _wide()))


def print_table(
    title: str,
    columns: Sequence[str],
    rows: Sequence[Sequence[object]],
    text: str = "",
    least: Sequence[str] = (),
) -> None:
    """A table for people."""
    show(TextTable(title, columns, rows, text, least))


def print_words(text: str, style: str = "") -> None:
    """Sentences, set into lines between their words."""
    show(TextWords(text, style))


def print_command(command: str) -> None:
    """A command on a line of its own, to be copied."""
    show(TextCommand(command))


def print_next(command: str) -> None:
    """The command that comes next, on a line of its own, to be copied."""
    show(TextCommand(command, head="Next: "))


def typed_with(*more: str, without: Sequence[str] = ()) -> str:
    """The command that runs, as it was typed, with more words, and without flags that contradict them."""
    context = click.get_current_context()
    typed = [word for word in context.meta.get(TYPED, (context.info_name,)) if word not in without]
    return shlex.join(["motecrypt", *typed, *more])


@contextmanager
def progress(title: str) -> Iterator[Progress]:
    """What is done, running and left, and the time until the end, on standard error from the first second: a
    bar, or plain lines where that is no terminal.

    Yields a function of (done, total, what). Its method `running` takes the titles of what is running.
    """
    if not sys.stderr.isatty():
        from motecrypt.present.terminal.progress import Lines

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
