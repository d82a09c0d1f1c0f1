"""What a command prints, set into lines of words, of which some have a colour. Pure.

Lines are broken here, and not by what colours them: to a pipe or a file they go as they are, and the library
that knows terminals is only imported for one.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

from motecrypt.base.text import printable
from motecrypt.present.terminal import TextAnswer, TextBlock, TextCommand, TextTable, TextWords
from motecrypt.present.terminal.layout import GAP, Layout, lay_out

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

Piece = tuple[str, str]
"""A text and its style: "", or words such as "bold red"."""
Line = Sequence[Piece]

#: Before this character each takes one place; the library that knows the others is imported for them alone.
_FIRST_OTHER = "\u0300"
CELL_CHARACTERS_MAX = 1000
NAME_CHARACTERS_MAX = 32
"""A longer name may be printed on a line of its own."""


def lines_of(block: TextBlock, width: int, wide: bool = False) -> list[Line]:
    """The lines of a block at this width in characters; `wide`: a table with all its columns."""
    if isinstance(block, TextTable):
        return _table(block, width, wide)
    if isinstance(block, TextAnswer):
        return _answer(block, width)
    if isinstance(block, TextWords):
        return _in_lines(block.text, width, block.style)
    return [[(block.head, "bold"), (printable(block.command), block.style)]]


def next_line(command: str, margin: int = 0) -> TextCommand:
    """The command that comes next."""
    return TextCommand(command, head="Next:".ljust(max(margin, len("Next: "))))


def _answer(block: TextAnswer, width: int) -> list[Line]:
    lines = _in_lines(block.title, width, "bold")
    margin = max(len(label) for label, _ in (*block.lines, ("Next" if block.command else "", ""))) + 2
    for label, text in block.lines:
        for number, part in enumerate(_wrapped(text, max(20, width - margin))):
            head = (f"{label}:" if label and not number else "").ljust(margin)
            lines.append([(head, "bold"), *coloured(part)])
    return lines + (lines_of(next_line(block.command, margin), width) if block.command else [])


def _in_lines(text: str, width: int, style: str = "") -> list[Line]:
    parts = [part for line in text.splitlines() for part in _wrapped(line, width) or [""]]
    return [coloured(part, style) for part in parts]


def _wrapped(text: str, width: int) -> list[str]:
    return textwrap.wrap(printable(text), max(1, width), break_long_words=False, break_on_hyphens=False)


def _table(block: TextTable, width: int, wide: bool) -> list[Line]:
    columns, cells = block.columns, [[_shown(cell) for cell in row] for row in block.rows]
    layout = lay_out(columns, cells, None if wide else width, block.least, cells_wide, block.whole)
    above: dict[int, str] = {}
    if not wide and columns and columns[0] in block.whole:
        above = {n: row[0] for n, row in enumerate(cells) if cells_wide(row[0]) > NAME_CHARACTERS_MAX}
        beside = [["" if n in above else row[0], *row[1:]] for n, row in enumerate(cells)]
        other = lay_out(columns, beside, width, block.least, cells_wide, block.whole)
        if len(other.columns) > len(layout.columns):
            cells, layout = beside, other
        else:
            above = {}
    lines = _in_lines(block.title, width, "bold")
    same = "; ".join(f"{columns[i]} {cells[0][i]}" for i in layout.same if cells[0][i])
    lines += _in_lines(f"In every row: {same}." if same else "", width)
    if layout.records:
        lines += _records(columns, cells, width)
    else:
        lines += _columns(columns, cells, layout, above, width)
    if layout.left_out:
        plural = "" if layout.left_out == 1 else "s"
        lines += broken(f"+{layout.left_out} column{plural}: --wide", width)
    return [*lines, *_in_lines(block.text, width), []]


def _columns(
    columns: Sequence[str],
    cells: Sequence[Sequence[str]],
    layout: Layout,
    above: Mapping[int, str],
    width: int,
) -> list[Line]:
    """Rows in columns; `above` has the long names, by row, that are printed on a line before their row."""
    right = [all(_numeric(row[index]) for row in cells) for index in layout.columns]
    lines = in_columns([columns[index] for index in layout.columns], layout.widths, right, GAP, heading=True)
    for number, row in enumerate(cells):
        lines += _in_lines(above.get(number, ""), width)
        lines += in_columns([row[index] for index in layout.columns], layout.widths, right, GAP)
    return lines


def _records(columns: Sequence[str], cells: Sequence[Sequence[str]], width: int) -> list[Line]:
    lines: list[Line] = []
    for number, row in enumerate(cells):
        lines += [[]] if number else []
        for column, cell in zip(columns, row, strict=True):
            lines += broken(f"{column}: {cell}" if column else cell, width) if cell else []
    return lines


def _shown(cell: object) -> str:
    """A cell as text; of a longer one only the beginning, since laying out megabytes takes minutes."""
    text = "" if cell is None else str(cell)
    cut = text if len(text) <= CELL_CHARACTERS_MAX else f"{text[:CELL_CHARACTERS_MAX]}..."
    return printable(cut)


def _numeric(cell: str) -> bool:
    return (
        cell in ("", "-", "None")
        or cell.removesuffix(" %").replace(",", "").replace(".", "").replace("-", "").isdigit()
    )


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
    if not text or max(text) < _FIRST_OTHER:
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
