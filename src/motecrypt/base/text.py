"""Text from outside, made harmless: for terminals, which obey control characters, and for spreadsheets,
which compute cells that begin like a formula. It does not depend on where the text comes from."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, TextIO

# C0 without tab and line feed; delete and C1 (U+009B begins a sequence as ESC [ does); zero-width and
# bidirectional marks, embeddings, overrides and isolates; line and paragraph separators; interlinear marks;
# tags; lone surrogates (a byte of a file name that is no UTF-8, which some streams write as that byte).
_CONTROL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def printable(text: str) -> str:
    r"""The text with every character that a terminal would obey written as its number, such as ``\x1b``."""
    return text if text.isprintable() and text.isascii() else _CONTROL.sub(_numbered, text)


def _numbered(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def spreadsheet_row(row: Mapping[str, Any]) -> dict[str, Any]:
    """A CSV row in which no text begins as a formula does: an apostrophe goes before it. Numbers stay."""
    return {column: _cell(value) for column, value in row.items()}


def _cell(value: Any) -> Any:
    if value is None or isinstance(value, bool | int | float):
        return value
    text = str(value)
    if not text.startswith(_FORMULA):
        return value
    try:
        float(text)
    except ValueError:
        return f"'{text}"
    return value


class Door:
    """A text stream that lets only printable text through; all else is the stream's own.

    Parameters
    ----------
    stream
        Where the text goes; `behind` gives access to it, for code that writes control sequences of its own.
    """

    def __init__(self, stream: TextIO) -> None:
        self.behind = stream

    def write(self, text: str) -> int:
        """Write the text as `printable` gives it."""
        self.behind.write(printable(text))
        return len(text)

    def writelines(self, lines: list[str]) -> None:
        """Write each."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.behind, name)
