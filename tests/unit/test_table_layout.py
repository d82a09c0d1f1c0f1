"""Tables at every width: what is printed is whole, and what is not printed is counted."""

from __future__ import annotations

import re

import click
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from motecrypt.cli._output import show, table_options
from motecrypt.present.terminal import TextTable
from motecrypt.present.terminal.layout import GAP, PROSE_WIDTH, Layout, lay_out

WORD = st.text("abcdefgh0123456789.,-", min_size=1, max_size=12)
CELL = st.one_of(WORD, st.lists(WORD, min_size=2, max_size=12).map(" ".join), st.just(""))


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[str], list[list[str]]]:
    """Headings, all different, and rows."""
    count = draw(st.integers(1, 8))
    columns = [f"{draw(st.sampled_from(['c', 'some column', 'a1']))} {i}" for i in range(count)]
    row = st.lists(CELL, min_size=count, max_size=count)
    return columns, draw(st.lists(row, min_size=1, max_size=5))


def shown(columns: list[str], rows: list[list[str]], width: str, *arguments: str) -> str:
    """What a command prints that has this table."""

    @click.command()
    @table_options
    def command(as_json: bool) -> None:
        show(TextTable("", columns, rows))

    done = CliRunner().invoke(command, arguments, env={"COLUMNS": width})
    assert done.exit_code == 0, done.output
    return done.output


@settings(max_examples=60, deadline=None)
@given(tables(), st.integers(14, 130))
def test_no_line_is_wider_than_asked_and_no_word_is_cut(
    table: tuple[list[str], list[list[str]]], width: int
) -> None:
    columns, rows = table
    layout = lay_out(columns, rows, width)
    out = shown(columns, rows, str(width))
    assert all(len(line.rstrip()) <= width for line in out.splitlines())
    words = out.split()
    kept = range(len(columns)) if layout.records else layout.columns
    whole = {word for row in rows for i in kept for word in row[i].split()}
    assert whole <= set(words), whole - set(words)
    if layout.left_out:
        assert f"+{layout.left_out} column" in out


@given(tables(), st.integers(14, 130))
def test_every_column_is_somewhere_or_counted(table: tuple[list[str], list[list[str]]], width: int) -> None:
    columns, rows = table
    layout = lay_out(columns, rows, width)
    if layout.records:
        assert (layout.same, layout.left_out) == ((), 0)
        return
    assert len(layout.columns) + len(layout.same) + layout.left_out == len(columns)
    assert not set(layout.columns) & set(layout.same)
    assert 0 in layout.columns
    assert list(layout.columns) == sorted(layout.columns)
    assert sum(layout.widths) + GAP * (len(layout.widths) - 1) <= width


COLUMNS = ("name", "cycles", "flash", "verdict")
CELLS = (("aes", "1,234,567", "uno", "ok"), ("ascon", "765", "uno", "slow"))


@pytest.mark.parametrize(
    ("width", "least", "expected"),
    [
        (None, (), Layout((0, 1, 2, 3), (5, 9, 5, 7))),
        (32, (), Layout((0, 1, 2, 3), (5, 9, 5, 7))),
        (31, (), Layout((0, 1, 3), (5, 9, 7), (2,))),
        (25, (), Layout((0, 1, 3), (5, 9, 7), (2,))),
        (24, (), Layout((0, 3), (5, 7), (2,), 1)),
        (24, ("verdict", "nothing"), Layout((0, 1), (5, 9), (2,), 1)),
        (14, (), Layout((0, 3), (5, 7), (2,), 1)),
        (13, (), Layout((), ())),
    ],
)
def test_what_goes_first(width: int | None, least: tuple[str, ...], expected: Layout) -> None:
    assert lay_out(COLUMNS, CELLS, width, least) == expected


def test_one_row_keeps_its_columns_since_nothing_is_shared() -> None:
    assert lay_out(COLUMNS, CELLS[:1], 29).same == ()


def test_prose_breaks_at_its_spaces_and_a_path_not_at_all() -> None:
    prose = "a sentence that says why it is so and no other"
    assert lay_out(("n", "why"), (("1", prose),), 30) == Layout((0, 1), (1, 27))
    assert lay_out(("n", "why"), (("1", prose),), 1 + GAP + PROSE_WIDTH) == Layout((0, 1), (1, PROSE_WIDTH))
    assert lay_out(("n", "why"), (("1", prose),), GAP + PROSE_WIDTH).records
    path = "/a/path/without/any/space/in/it"
    assert lay_out(("n", "why"), (("1", path),), len(path) + 2).records


def test_the_widest_prose_gives_way_first() -> None:
    rows = (("a " * 30, "b " * 20),)
    assert lay_out(("x", "y"), rows, 70).widths == (34, 34)
    assert lay_out(("x", "y"), rows, 90).widths == (48, 40)


def test_the_words_around_a_table() -> None:
    columns, rows = list(COLUMNS), [list(row) for row in CELLS]
    assert shown(columns, rows, "24") == (
        "In every row: flash uno.\nname   verdict\naes    ok     \nascon  slow   \n+1 column: --wide\n\n"
    )
    assert shown(columns, rows, "13").startswith(
        "name: aes\ncycles:\n1,234,567\nflash: uno\nverdict: ok\n\nname:"
    )
    assert "1,234,567" in shown(columns, rows, "8").split()
    wide = shown(columns, rows, "13", "--wide").splitlines()
    assert [re.split(" +", line.strip()) for line in wide[:3]] == [list(COLUMNS), *map(list, CELLS)]


def test_without_columns_a_pipe_has_160_characters() -> None:
    many = [f"column{i}" for i in range(30)]
    out = shown(many, [["1234"] * 30, ["5678"] * 30], "")
    assert max(len(line.rstrip()) for line in out.splitlines()) in range(150, 161)


def test_a_long_name_is_printed_above_its_row_where_columns_would_go() -> None:
    name = "Print::write(unsigned char const*, unsigned int)"
    columns = ["function", "calls", "cycles", "share"]
    rows = [[name, "4", "1,879", "10.1 %"], ["main", "1", "9,123,456", "0.6 %"], [name, "2", "7", "0.1 %"]]

    def printed(width: str, whole: list[str]) -> list[str]:
        @click.command()
        @table_options
        def command(as_json: bool) -> None:
            show(TextTable("", columns, rows, whole=whole))

        out = CliRunner().invoke(command, [], env={"COLUMNS": width}).output
        return [line.rstrip() for line in out.rstrip().splitlines()]

    narrow = [
        "function  calls     cycles   share",
        name,
        "              4      1,879  10.1 %",
        "main          1  9,123,456   0.6 %",
        name,
        "              2          7   0.1 %",
    ]
    assert printed("60", ["function"]) == narrow
    assert len(printed("80", ["function"])) == 4  # all fits: each row is one line
    assert printed("40", ["function"])[1:3] == ["Print::write(unsigned char const*,", "unsigned int)"]
    assert not any(line == name for line in printed("60", []))
