"""The prose check: what it collects, which phrases it refuses, and that one hit fails it."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("proselint")

from prose.main import check, main, read_rules
from prose.texts import Text, collect


def hits_of(kind: str, text: str) -> set[str]:
    words = tuple(text.split())
    return {hit.rule for hit in check([Text("a.md", kind, words, (1,) * len(words))], read_rules())}


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("It holds four published studies beside what it measures.", "beside"),
        ("Everything that there is gets weighed.", "weigh"),
        ("The increase over the same firmware with an empty cipher.", "of-plain"),
        ("The time is over.", "by-itself"),
        ("And to guess would be unsafe.", "to-guess"),
        ("Something that ran does so no more.", "do-so"),
        ("None seen is no proof.", "no-proof"),
        ("64 MB are no mote's.", "mote"),
        ("It runs on a mote.", "mote"),
        ("Which kits are installed?", "kit"),
        ("The ratio to the print.", "the-print"),
        ("A test holds it to the model.", "hold-to"),
        ("A compiler that cannot be had.", "be-had"),
        ("Equal but for one byte.", "but-for"),
        ("The gateway is told the outcome.", "told"),
        ("As the gateway has it.", "has-it"),
        ("A protocol rests for so long.", "so-long"),
    ],
)
def test_odd_phrases_are_refused(text: str, rule: str) -> None:
    assert rule in hits_of("message", text)


def test_plain_text_passes() -> None:
    assert hits_of("page", "motecrypt compares its measurements with four published studies.") == set()
    assert hits_of("page", "There is no network. It is no longer used.") == set()


def test_a_long_sentence_is_refused() -> None:
    assert hits_of("page", " ".join(["word"] * 35) + ".") == set()
    assert hits_of("page", " ".join(["word"] * 36) + ".") == {"sentence"}
    assert hits_of("page", " ".join(["3", "X", "a"] * 12) + ".") == {"sentence"}


def test_a_formula_is_not_a_long_sentence() -> None:
    assert hits_of("comment", "The column is " + " ".join(["p + q0 ="] * 12) + " r.") == set()


def test_pages_docstrings_comments_and_messages_are_collected_with_their_lines(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("# Title\n\nOne `code` two.\n\n```sh\nnot text\n```\n| a b | c |\n")
    source = tmp_path / "src"
    source.mkdir()
    (source / "a.py").write_text(
        '"""What it does."""\n\n# A reason.\nraise ValueError(f"the file {1} is missing here")\nx = "#no"\n'
    )
    (source / "b.c").write_text("/* In C too. */\nint a; // and here\n")
    texts = {(text.path, text.kind, str(text), text.lines[0]) for text in collect(tmp_path)}
    assert texts == {
        ("README.md", "page", "Title", 1),
        ("README.md", "page", "One X two.", 3),
        ("README.md", "page", "a b", 8),
        ("README.md", "page", "c", 8),
        ("src/a.py", "docstring", "What it does.", 1),
        ("src/a.py", "comment", "A reason.", 3),
        ("src/a.py", "message", "the file X is missing here", 4),
        ("src/b.c", "comment", "In C too.", 1),
        ("src/b.c", "comment", "and here", 2),
    }


def test_lists_in_columns_and_definitions_are_one_text_for_each_item(tmp_path: Path) -> None:
    source = tmp_path / "src" / "motecrypt" / "present" / "report" / "templates"
    source.mkdir(parents=True)
    (source / "a.html").write_text("<dl><dt>One</dt><dd>the first</dd>\n<dt>Two</dt><dd>more</dd></dl>\n")
    (tmp_path / "src" / "b.c").write_text("/* Registers:\n *\n *   r1       count\n *   r2, r3   sum\n */\n")
    (tmp_path / "setup.sh").write_text("# What it takes:\n#   a        first\n#   b        second\n")
    texts = {(str(text), text.lines[0]) for text in collect(tmp_path)}
    assert {("What it takes:", 1), ("a first", 2), ("b second", 3)} < texts
    assert {("One", 1), ("the first", 1), ("Two", 2), ("more", 2)} < texts
    assert {("Registers:", 1), ("r1 count", 3), ("r2, r3 sum", 4)} < texts


def test_names_in_docstrings_and_code_in_data_are_not_text(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.py").write_text('"""One.\n\nhears, tells : what is received\n"""\n')
    (tmp_path / "src" / "b.toml").write_text('before = "as beside the other"\nnote = "as the other has it"\n')
    texts = {str(text) for text in collect(tmp_path)}
    assert texts == {"One.", "X : what is received", "as the other has it"}


def test_scripts_and_messages_of_drivers_are_collected(tmp_path: Path) -> None:
    folder = tmp_path / "src" / "drivers"
    folder.mkdir(parents=True)
    (folder / "a.js").write_text('// Why so.\nf(/"/, `it costs ${g({ a: 1 })} bytes more`);\n')
    (folder / "b.c").write_text('fail("is not\\n an option", x, "%s:%d");\n')
    (tmp_path / "src" / "c.c").write_text('fail("is not an option");\n')
    texts = {(text.kind, str(text), text.lines[0]) for text in collect(tmp_path)}
    assert texts == {
        ("comment", "Why so.", 1),
        ("message", "it costs X bytes more", 2),
        ("message", "is not an option", 1),
    }


def test_fonts_of_css_and_lists_of_words_are_not_text(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.py").write_text(
        "font = 'Segoe, DejaVu Sans, Noto Sans, sans-serif'\nW = 'one two three'\nw = W.split()\n"
    )
    assert collect(tmp_path) == []


def test_one_hit_fails_the_check(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "README.md"
    page.write_text("# Title\n\nIt compares figures.\n")
    assert main(tmp_path) == 0
    page.write_text("# Title\n\nIt holds them to the model.\n")
    assert main(tmp_path) == 1
    assert capsys.readouterr().out.splitlines()[1].startswith("README.md:3: hold-to: 'holds them to the'")
