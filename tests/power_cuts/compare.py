"""What the sinks of a gateway have after its power went, compared with what the world has seen."""

from __future__ import annotations

import csv
import sqlite3
from collections import Counter
from pathlib import Path

from power_cuts.facts import Facts, Verdict


def compare(folder: Path, csv_kept: int, facts: Facts, verdict: Verdict) -> None:
    """Note what of the sinks in that folder is not as it is known to be."""
    note = verdict.note
    table = _rows_of_csv(folder / "csv" / "log.csv", csv_kept)
    base = sqlite3.connect(folder / "db" / "log.db")
    stored = base.execute(
        "SELECT id, received, node, kind, text, content, bytes FROM messages ORDER BY rowid"
    )
    rows = [(i, r, str(n), k, t, bytes(c).hex(), str(b)) for i, r, n, k, t, c, b in stored]
    base.close()
    files = {str(folder / "inbox" / name).encode().hex(): name for name in facts.files}
    found = Counter[bytes | str]()
    ids = Counter(row[0] for row in table)
    for name, times in ids.items():
        if times > 1:
            note("doubled", f"CSV: {name} is there {times} times")
    in_csv = [tuple(row[:4]) + tuple(row[5:]) for row in table]
    if in_csv != [row[:4] + row[5:] for row in rows]:
        in_base = [row[:4] + row[5:] for row in rows]
        lost = (
            [row for row in in_csv if row not in in_base],
            [row for row in in_base if row not in in_csv],
        )
        note("lost" if lost[0] or lost[1] else "doubled", f"CSV and SQLite differ: {lost}"[:500])
    for row in rows:
        if row[3] == "file":
            found[files.get(row[5], row[5])] += 1
        else:
            found[bytes.fromhex(row[5])] += 1
            if facts.sent.get(bytes.fromhex(row[5])) != int(row[2]):
                note("made up", f"SQLite: {row}")
    for content, times in found.items():
        if times > 1:
            note("doubled", f"SQLite: {content!r} is there {times} times")
    for content in {*facts.accepted, *facts.arrived} - set(found):
        note("lost", f"{content!r} was reported as accepted")
    known = {row[0]: row[5] for row in rows}
    for sink, took in facts.took.items():
        took = {name: _as_hex(content) for name, content in took.items()}
        for name in took.items() - known.items():
            note("made up", f"{sink}: {name}")
        for name in known.items() - took.items():
            note("lost", f"{sink}: {name}")
    _look_at_files(folder / "inbox", facts, verdict)


def _rows_of_csv(path: Path, kept: int) -> list[list[str]]:
    """Of all files, the oldest first."""
    rows: list[list[str]] = []
    earlier = [each for number in range(1, kept + 1) if (each := Path(f"{path}.{number}")).exists()]
    for each in [*reversed(earlier), path]:
        with each.open(newline="") as file:
            rows += list(csv.reader(file))[1:]
    return rows


def _as_hex(content: str) -> str:
    return content.encode().hex() if content.startswith("/") else content


def _look_at_files(inbox: Path, facts: Facts, verdict: Verdict) -> None:
    names = {path.name for path in inbox.iterdir() if not path.name.startswith(".")}
    for name in names - set(facts.files):
        verdict.note("doubled", f"file {name}")
    for name in facts.arrived:
        path = inbox / name
        if not path.exists() or path.read_bytes() != facts.files[name]:
            verdict.note("lost", f"file {name}")
