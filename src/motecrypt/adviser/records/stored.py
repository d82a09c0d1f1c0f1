"""The rows that ship with the program: data/records/figures.jsonl, one row a line. Measures nothing.

`python -m made.records` writes them. Rows of public code are recorded there, with the day when
they were measured; all others can be measured again, and `motecrypt records --check` compares.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from motecrypt.adviser.records.plan import LENGTHS
from motecrypt.adviser.records.rows import RecordRow
from motecrypt.base.errors import InputError
from motecrypt.catalog.places import DATA
from motecrypt.catalog.recorded_rows import recorded_rows

FIGURES = DATA / "records" / "figures.jsonl"


def read_rows(path: Path = FIGURES) -> list[RecordRow]:
    """The stored rows, in the order of the file.

    Raises
    ------
    InputError
        The file is missing, a line does not hold a row, or a figure is of another type or below 0.
    """
    rows = recorded_rows(path, RecordRow, "no row of records", "python -m made.records")
    for number, row in enumerate(rows, start=1):
        if not len(row.encrypt_cycles) == len(row.decrypt_cycles) == len(LENGTHS):
            raise InputError(f"{path}, line {number}: expected cycles at {len(LENGTHS)} lengths")
    return rows


def text(rows: Iterable[RecordRow]) -> str:
    """The rows as `read_rows` takes them."""
    return "".join(json.dumps(asdict(row), separators=(",", ":")) + "\n" for row in rows)


@dataclass(frozen=True)
class RecordChange:
    """A figure that is not what the stored page says. `stored` or `found` is "nothing" without a row."""

    device: str
    cipher: str
    implementation: str
    figure: str
    stored: str
    found: str


def changes(stored: Sequence[RecordRow], found: Sequence[RecordRow]) -> list[RecordChange]:
    """What differs between stored rows and rows that were measured now; neither has recorded ones."""
    before = {(row.device, row.cipher, row.implementation): row for row in stored}
    after = {(row.device, row.cipher, row.implementation): row for row in found}
    made = []
    for key in dict.fromkeys((*before, *after)):
        old, new = before.get(key), after.get(key)
        if old is None or new is None:
            made.append(_change(key, "row", "a row" if old else "nothing", "a row" if new else "nothing"))
            continue
        for field in fields(RecordRow):
            values = (getattr(old, field.name), getattr(new, field.name))
            if values[0] != values[1]:
                made.append(_change(key, field.name, _shown(values[0]), _shown(values[1])))
    return made


def _change(key: tuple[str, str, str], figure: str, stored: str, found: str) -> RecordChange:
    device, cipher, implementation = key
    return RecordChange(device, cipher, implementation, figure, stored, found)


def _shown(value: object) -> str:
    if isinstance(value, tuple):
        return " / ".join(map(_shown, value))
    return "none" if value in (None, "") else f"{value:,}" if isinstance(value, int) else str(value)


def merged(stored: Iterable[RecordRow], found: Iterable[RecordRow]) -> list[RecordRow]:
    """The measured rows, then the recorded ones of which none was measured now, in a stable order."""
    rows = {(row.device, row.cipher, row.implementation): row for row in stored if row.recorded}
    for row in found:
        rows[row.device, row.cipher, row.implementation] = row
    return sorted(rows.values(), key=lambda r: (r.device, r.cipher, not r.ours, r.implementation))
