"""Standard output as lines of words, of which some have a colour."""

from __future__ import annotations

import os
import sys
from typing import IO, TYPE_CHECKING, Any, cast

from motecrypt.base.text import Door

if TYPE_CHECKING:
    from motecrypt.present.terminal.lines import Line

PIPED_WIDTH = 160
"""Characters of a line if standard output is not a terminal and COLUMNS is not set."""
#: With these, rich takes any stream for a terminal.
_FORCING = ("FORCE_COLOR", "TTY_COMPATIBLE")


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
