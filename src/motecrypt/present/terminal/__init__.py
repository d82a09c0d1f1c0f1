"""What a command prints, as records: tables, answers in labelled lines, sentences, commands to copy.

Views make them of results and print nothing; `lines` sets them into lines of a width.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class TextTable:
    """A table for people.

    Columns whose cells are all numbers are set flush right. `least` names the columns that can go where the
    width is too small, the least useful first; cells of the `whole` columns never break (`layout.lay_out`).
    Where the first of these is too wide, its long names are printed above their rows.
    """

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[object]]
    text: str = ""
    least: Sequence[str] = ()
    whole: Sequence[str] = ()


@dataclass(frozen=True)
class TextAnswer:
    """What the reader came for: a line for each label, a longer one with its rest set below its beginning.

    The last is the command that comes next, if there is one: it stays on one line, to be copied.
    """

    title: str
    lines: Sequence[tuple[str, str]]
    command: str = ""


@dataclass(frozen=True)
class TextWords:
    """Sentences, set into lines between their words: a number, a name or a path is never broken."""

    text: str
    style: str = ""


@dataclass(frozen=True)
class TextCommand:
    """A command on a line of its own, to be copied, with the words before it."""

    command: str
    style: str = "cyan"
    head: str = ""


BLANK = TextWords("\n")
"""An empty line."""

TextBlock = TextTable | TextAnswer | TextWords | TextCommand


def more_rows(count: int, shown: int) -> str:
    """What is said below a table that has only the first `shown` of all rows; empty where it has all."""
    return f"... and {count - shown:,} more: --json has all" if count > shown else ""
