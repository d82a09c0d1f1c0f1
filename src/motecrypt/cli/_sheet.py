"""Standard output as lines of words, of which some have a colour.

Lines are broken here, and not by what colours them: to a pipe or a file they go as they are, and the library
that knows terminals is only imported for one.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import IO, Any, cast

from motecrypt.base.text import Door

PIPED_WIDTH = 160
"""Characters of a line if standard output is not a terminal and COLUMNS is not set."""
STYLES = {
    **dict.fromkeys(("recommended", "acceptable", "matches", "good", "best"), "green"),
    **dict.fromkeys(
        ("legacy", "unrated", "needs hardware", "bring the code", "not measured", "note"), "yellow"
    ),
    **dict.fromkeys(("broken", "differs", "paper is inconsistent", "weak"), "bold red"),
}
"""The colour of a verdict. The word is always printed: the colour adds no information."""
_JUDGED = re.compile(rf"(?:^|, |: )(?:\d+ )?({'|'.join(map(re.escape, STYLES))})(?![\w-])")
_WORD = re.compile(r"\s*\S+\s*")
#: With these, rich takes any stream for a terminal.
_FORCING = ("FORCE_COLOR", "TTY_COMPATIBLE")

Piece = tuple[str, str]
"""A text and its style: "", or words such as "bold red"."""
Line = Sequence[Piece]


def behind(stream: Any) -> IO[str]:
    """The stream itself: a console cleans what it shows and writes its own colours."""
    return cast("IO[str]", stream.behind if isinstance(stream, Door) else stream)


class Sheet:
    """Standard output, as wide as its terminal or COLUMNS says; else wide enough for most tables."""

    def __init__(self) -> None:
        columns, terminal = os.environ.get("COLUMNS", ""), sys.stdout.isatty()
        self.width = int(columns) if columns.isdigit() else PIPED_WIDTH
        self._screen = None
        if terminal or any(map(os.environ.get, _FORCING)):
            from motecrypt.cli._screen import Screen

            width = None if terminal else self.width
            self._screen = Screen(file=behind(sys.stdout), width=width, highlight=False, soft_wrap=False)
            self.width = self._screen.width

    def show(self, *lines: Line) -> None:
        """Print lines, all in one piece. One that is too wide is not broken."""
        if self._screen is None:
            sys.stdout.write("".join("".join(text for text, _ in line) + "\n" for line in lines))
            sys.stdout.flush()
            return
        from rich.text import Text

        self._screen.print(Text("\n").join(Text.assemble(*line) for line in lines), soft_wrap=True)


def coloured(text: str, style: str = "") -> list[Piece]:
    """A text in this style, whose words that judge have their colour, too: at its beginning and after each
    comma or colon."""
    pieces: list[Piece] = []
    end = 0
    for found in _JUDGED.finditer(text):
        pieces += [(text[end : found.start(1)], style), (found[1], f"{style} {STYLES[found[1]]}".strip())]
        end = found.end(1)
    return [piece for piece in (*pieces, (text[end:], style)) if piece[0]]


def broken(text: str, width: int, pieces_of: Callable[[str], Line] = coloured) -> list[list[Piece]]:
    """A text in lines of at most this width, broken between its words. A longer word has its own line."""
    lines = []
    for line in text.expandtabs(8).split("\n"):
        starts, taken = [0], 0
        if cells_wide(line) > width:
            for word in _WORD.finditer(line):
                if taken and taken + cells_wide(word[0].rstrip()) > width:
                    starts.append(word.start())
                    taken = 0
                taken += cells_wide(word[0])
        pieces = pieces_of(line)
        lines += [_cut(pieces, *ends) for ends in pairwise((*starts, len(line)))]
    return lines


def _cut(pieces: Line, start: int, end: int) -> list[Piece]:
    """The pieces between two places of their text, without the spaces at the end."""
    found, at = list[Piece](), 0
    for text, style in pieces:
        part = text[max(0, start - at) : max(0, end - at)]
        found += [(part, style)] if part else []
        at += len(text)
    while found and not found[-1][0].rstrip():
        found.pop()
    return [*found[:-1], (found[-1][0].rstrip(), found[-1][1])] if found else []


def cells_wide(text: str) -> int:
    """How many characters a text takes on the screen."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def _bold(text: str) -> Line:
    return [(text, "bold")]


def in_columns(
    row: Sequence[str], widths: Sequence[int], right: Sequence[bool], gap: int, *, heading: bool = False
) -> list[Line]:
    """The lines of one row of a table: each cell broken for its column, and flush left or right there. Cells
    begin on the first line; those of the heading, which is bold, end on the last."""
    pieces_of = _bold if heading else coloured
    cells = [broken(cell, width, pieces_of) for cell, width in zip(row, widths, strict=True)]
    height = max(map(len, cells), default=0)
    lines: list[Line] = []
    for number in range(height):
        line: list[Piece] = []
        for column, width in enumerate(widths):
            place = number - (height - len(cells[column]) if heading else 0)
            own = cells[column][place] if 0 <= place < len(cells[column]) else []
            rest = (" " * (width - sum(cells_wide(text) for text, _ in own)), "")
            line += [(" " * gap, "")] if column else []
            line += [rest, *own] if right[column] else [*own, rest]
        lines.append(line)
    return lines
