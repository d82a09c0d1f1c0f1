"""Lines on standard output: where they break, what is coloured, what a pipe and what a terminal gets."""

from __future__ import annotations

import io
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.text import Text

from motecrypt.cli._screen import Screen
from motecrypt.cli._sheet import PIPED_WIDTH, Sheet
from motecrypt.present.terminal.lines import broken, cells_wide, coloured, in_columns

WORD = st.text("ab,.:µ表é", min_size=1, max_size=7)
TEXT = st.lists(st.one_of(WORD, st.sampled_from(["good", "weak:", "  ", "\n"])), max_size=9).map(" ".join)


def plain(text: str, width: int) -> list[str]:
    """The lines without their styles."""
    return ["".join(piece for piece, _ in line) for line in broken(text, width)]


SCREEN = Screen(file=io.StringIO(), width=80)


@settings(max_examples=60, deadline=None)
@given(TEXT, st.integers(15, 40))
def test_a_text_breaks_where_the_library_breaks_it(text: str, width: int) -> None:
    lines = Text(text).wrap(SCREEN, width)
    assert plain(text, width) == [line.plain.rstrip() for line in lines]
    assert all(cells_wide(line) == cell_len(line) <= width for line in plain(text, width))


def test_words_that_judge_are_coloured_at_the_beginning_and_after_a_comma_or_colon() -> None:
    assert coloured("weak, 3 good: a good one, bests, best") == [
        *(("weak", "bold red"), (", 3 ", ""), ("good", "green"), (": a good one, bests, ", "")),
        ("best", "green"),
    ]
    assert coloured("broken x", "bold") == [("broken", "bold bold red"), (" x", "bold")]
    assert coloured("") == []
    assert broken("aa bb, good cc dd", 11) == [[("aa bb, ", ""), ("good", "green")], [("cc dd", "")]]
    assert broken("aa bb , best", 8) == [[("aa bb ,", "")], [("best", "green")]]


def test_a_longer_word_has_a_line_of_its_own() -> None:
    assert plain("a bbbbbbbb c d", 4) == ["a", "bbbbbbbb", "c d"]
    assert plain("a\tb", 40) == ["a       b"]
    assert plain("", 4) == [""] and plain("a\n\nb", 4) == ["a", "", "b"]


def test_cells_are_in_their_columns() -> None:
    def texts(heading: bool) -> list[str]:
        lines = in_columns(["a b", "µ", "7"], [1, 2, 3], [False, False, True], 2, heading=heading)
        return ["".join(text for text, _ in line) for line in lines]

    assert texts(False) == ["a  µ     7", "b         "]
    assert texts(True) == ["a         ", "b  µ     7"]
    (line,) = in_columns(["note"], [4], [False], 2, heading=True)
    assert line == [("note", "bold"), ("", "")]
    assert in_columns(["note"], [4], [False], 2) == [[("note", "yellow"), ("", "")]]
    assert in_columns([], [], [], 2) == []


class Stream(io.StringIO):
    """Standard output that is a terminal or not."""

    def __init__(self, terminal: bool) -> None:
        super().__init__()
        self.terminal = terminal

    def isatty(self) -> bool:
        return self.terminal


@pytest.mark.parametrize("terminal", [True, False])
@pytest.mark.parametrize("columns", ["", "70", "wide"])
def test_only_a_terminal_is_sent_colours(
    terminal: bool, columns: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "COLORTERM"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", columns)
    out = Stream(terminal)
    monkeypatch.setattr("sys.stdout", out)
    sheet = Sheet()
    assert (terminal and columns != "70") or sheet.width == (70 if columns == "70" else PIPED_WIDTH)
    sheet.show(coloured("good, x" * 30, "bold"), [], [("[b]", "cyan")])
    plainly = "good, x" * 30 + "\n\n[b]\n"
    assert re.sub(r"\x1b\[[0-9;]*m", "", out.getvalue()) == plainly
    assert (out.getvalue() == plainly) is not terminal
    assert ("\x1b[1;32mgood\x1b[0m" in out.getvalue()) is ("\x1b[36m[b]" in out.getvalue()) is terminal


def test_colours_can_be_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.delenv("COLUMNS", raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("FORCE_COLOR", "1")
    out = Stream(False)
    monkeypatch.setattr("sys.stdout", out)
    sheet = Sheet()
    sheet.show(coloured("good"))
    assert sheet.width == PIPED_WIDTH and "\x1b[32mgood\x1b[0m" in out.getvalue()
