"""Text from outside at the terminal and in CSV: nothing of it is obeyed."""

from __future__ import annotations

import csv
import io
import json
import os
import pty
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from motecrypt.base.model import Measurement
from motecrypt.base.text import Door, _numbered, printable, spreadsheet_row
from motecrypt.catalog import Catalog
from motecrypt.cli._output import print_json, print_table
from motecrypt.present.report.content import gather
from motecrypt.present.report.figure import Figure
from motecrypt.present.report.page import render
from motecrypt.results import Results

ROOT = Path(__file__).resolve().parents[2]
CLI = ROOT / "src" / "motecrypt" / "cli"

RED, CLEAR = "\x1b[31m", "\x1b[2J"
LINK = "\x1b]8;;http://evil.example\x07here\x1b]8;;\x07"
C1, OVERRIDE, ISOLATE = "\x9b2J", "\u202etxt.exe", "\u2066x"
HOSTILE = (RED, CLEAR, LINK, C1, OVERRIDE, ISOLATE, "\r", "\b", "\x7f", "\u200f", "\u2028", "\udc9b")


@pytest.mark.parametrize("text", HOSTILE)
def test_what_a_terminal_obeys_is_shown_as_a_number(text: str) -> None:
    shown = printable(f"a{text}b")
    assert all(c.isprintable() for c in shown)
    assert shown.startswith("a\\") or "\\" in shown


@pytest.mark.parametrize(
    ("code", "shown"),
    [
        *((0x1, "\\x01"), (0xFF, "\\xff"), (0x100, "\\u0100"), (0xFFFF, "\\uffff"), (0x10000, "\\U00010000")),
        (0xE007F, "\\U000e007f"),
    ],
)
def test_a_number_has_two_digits_or_four_or_eight(code: int, shown: str) -> None:
    match = re.fullmatch("(?s).", chr(code))
    assert match is not None and _numbered(match) == shown


def test_plain_text_stays() -> None:
    text = "AVR at 16 MHz: 1,234 µs\n\tgrün, 日本語 ✓ C:\\x"
    assert printable(text) == text


@given(st.text())
def test_nothing_but_line_feeds_and_tabs_is_left_to_obey(text: str) -> None:
    shown = printable(text)
    assert not [c for c in shown if (ord(c) < 32 and c not in "\n\t") or 0x7F <= ord(c) <= 0x9F]
    assert not [c for c in shown if 0x202A <= ord(c) <= 0x202E or 0x2066 <= ord(c) <= 0x2069]


def measurement(**fields: object) -> Measurement:
    plain = Measurement(
        **dict.fromkeys(("device", "library", "configuration", "cipher", "variant", "operation"), "x"),
        **dict.fromkeys(("placement", "cache", "status", "reason", "compiler", "flags", "runner"), "x"),
        **dict.fromkeys(("elf_sha256", "measured_at", "motecrypt_version"), "x"),
        **dict.fromkeys(("cycles_min", "cycles_median", "cycles_max", "timing_varies", "time_us"), None),
        **dict.fromkeys(("flash_bytes", "flash_symbol_bytes", "ram_bytes", "eeprom_bytes"), None),
        **dict.fromkeys(("key_bits", "message_bytes", "ad_bytes", "tag_bytes", "inputs"), 1),
        stack_bytes=None,
        cycles_exact=True,
    )
    return replace(plain, **fields)


def at_a_terminal(arguments: list[str], **variables: str) -> bytes:
    """All that a command writes when both streams are a terminal."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-P", "-m", "motecrypt", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "TERM": "xterm-256color", **variables}
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs, env=environment):
        os.close(theirs)
        said = b""
        while True:
            try:
                more = os.read(ours, 65536)
            except OSError:  # the other end is closed
                break
            if not more:
                break
            said += more
    os.close(ours)
    return said


def test_a_hostile_results_file_controls_no_terminal(tmp_path: Path) -> None:
    db = tmp_path / "results.db"
    hostile = f"{CLEAR}{LINK}{C1}{OVERRIDE}[red]brackets[/red]"
    with Results(db) as results:
        results.store({"a": measurement(device=hostile, status="ok", cycles_median=5)})
        results.store({"b": measurement(cipher=hostile, status="failed", reason=hostile)})
    said = at_a_terminal(["results", "--db", str(db)], COLUMNS="200")
    assert b"\\x1b" in said and b"\\x9b" in said and b"\\u202e" in said, said
    assert b"\x1b[1m" in said, "our own bold stays"
    for sequence in (b"\x1b[2J", b"\x1b]8", "\x9b".encode(), "\u202e".encode(), b"\x9b"):
        assert sequence not in said


def test_a_hostile_file_name_controls_no_terminal(tmp_path: Path) -> None:
    name = os.fsencode(str(tmp_path)) + b"/\x1b[2J\x9b2J.elf"
    said = at_a_terminal(["run", os.fsdecode(name)])
    assert b"\x1b" not in said and b"\x9b" not in said
    assert b"\\x1b[2J" in said


def test_a_table_shows_brackets_as_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    print_table("[bold]title[/bold]", ("[red]column[/red]",), [("[link=http://x]cell[/link]",)])
    shown = capsys.readouterr().out
    for part in ("[bold]title[/bold]", "[red]column[/red]", "[link=http://x]cell[/link]"):
        assert part in shown


def test_every_command_prints_through_the_door() -> None:
    """click.echo looks for the stream behind; a raw buffer is only for bytes that were asked for as such."""
    assert [
        p.name for p in CLI.glob("*.py") if "click.echo" in p.read_text() or "secho" in p.read_text()
    ] == []
    raw = {p.name for p in CLI.glob("*.py") if "stdout.buffer" in p.read_text()}
    assert raw == {"file.py", "run.py"}, "a firmware's bytes, and a file's that go to a pipe"


def test_a_door_lets_the_rest_of_the_stream_through() -> None:
    behind = io.StringIO()
    door = Door(behind)
    print("a\x1bb", file=door)
    door.writelines(["c\x9b", "d"])
    assert door.write("e\x1b") == 2
    assert behind.getvalue() == "a\\x1bb\nc\\x9bde\\x1b"
    assert not door.isatty()


FORMULAS = ("=1+1", "+1+cmd", "-Os -flto", "@SUM(A1)", "\t=1", "\r=1")


def test_formulas_reach_no_csv_and_numbers_stay_numbers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    row = dict(enumerate([*FORMULAS, -5, -2.5, "-5", "+1e3", None, "plain", True]))
    made = list(spreadsheet_row({str(k): v for k, v in row.items()}).values())
    assert made == [*(f"'{f}" for f in FORMULAS), -5, -2.5, "-5", "+1e3", None, "plain", True]
    figure = Figure("n", "t", "c", "m", {}, rows=[{"a": "=HYPERLINK(1)", "b": -1.5}])
    assert figure.as_csv() == "a,b\n'=HYPERLINK(1),-1.5\n"
    from motecrypt.cli import main

    with Results(tmp_path / "r.db") as results:
        results.store({"k": measurement(reason="=cmd|' /C calc'!A0", flags="-Os", cycles_median=7)})
    with pytest.raises(SystemExit) as stop:
        main(["results", "--db", str(tmp_path / "r.db"), "--format", "csv"])
    assert stop.value.code == 0
    (stored,) = csv.DictReader(capsys.readouterr().out.splitlines())
    assert (stored["reason"], stored["flags"]) == ("'=cmd|' /C calc'!A0", "'-Os")
    assert stored["cycles_median"] == "7"


def test_the_report_shows_markup_from_a_results_file_as_text(tmp_path: Path) -> None:
    hostile = "</script><img src=x onerror=alert(1)>\x1b]0;owned\x07"
    with Results(tmp_path / "r.db") as results:
        named = {"device": "uno", "cipher": "rc4d", "library": "motecrypt", "variant": hostile}
        results.store(
            {"a": measurement(**named, status="ok", compiler=hostile, flags=hostile, operation="encrypt")}
        )
        results.store({"b": measurement(cipher=hostile, status="failed", reason=hostile, device=hostile)})
        page = render(gather(results, Catalog.load()), bundle="")
    assert "<img src=x" not in page
    assert "onerror=alert" in page, "it is there, as text"
    assert "\\x1b]0;owned\\x07" in page, "so is the terminal's"
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f]", page)


def test_a_long_json_document_is_whole_and_written_in_few_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[str] = []
    stream = io.StringIO()
    monkeypatch.setattr(stream, "write", written.append)
    monkeypatch.setattr(sys, "stdout", stream)
    rows = [
        {"number": number, "path": Path("a\x1bb"), "sizes": (number, None, 0.5)} for number in range(3000)
    ]
    print_json(rows)
    plain = [{**row, "path": "a\x1bb", "sizes": [*row["sizes"]]} for row in rows]
    assert "".join(written) == json.dumps(plain, indent=1) + "\n"
    assert 2 < len(written) < 100
