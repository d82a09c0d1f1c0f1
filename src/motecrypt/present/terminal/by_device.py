"""Measurements of many devices as one table: a row for each device, a column for each cipher."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from motecrypt.adviser.hardware.bounds import bound_fields
from motecrypt.base.errors import FailureKind
from motecrypt.base.model import Measurement
from motecrypt.catalog import Catalog
from motecrypt.present.terminal import TextBlock, TextTable
from motecrypt.present.terminal.measurements import (
    BOUND,
    MAIN,
    behind_public_code,
    bound_of,
    bounds_told,
    failed_view,
    public_code_fields,
)

_LEGEND = (
    "cycles of the fastest implementation, the call itself subtracted, its median over the inputs; "
    f"{BOUND}: against real chips, where published figures of the device were compared"
)


@dataclass(frozen=True)
class _Row:
    device: str
    cache: str


@dataclass(frozen=True)
class _Column:
    cipher: str
    key_bits: int
    message_bytes: int
    ad_bytes: int


_Best = dict[tuple[_Row, _Column], Measurement]


def by_device_documents(measurements: Sequence[Measurement]) -> list[dict[str, Any]]:
    """The fastest of each device and cipher as JSON."""
    best = _best(measurements)[1].values()
    return [{**asdict(m), **bound_fields(m.device), **public_code_fields(m)} for m in best]


def _best(measurements: Sequence[Measurement]) -> tuple[str, _Best]:
    """The operation that is compared: encryption, where there is any; and the fastest of each place."""
    ran = [m for m in measurements if m.status == "ok" and m.cycles_median is not None]
    operations = {m.operation for m in (ran or measurements)}
    main = next((o for o in MAIN if o in operations), min(operations))
    best: _Best = {}
    for m in (m for m in ran if m.operation == main):
        at = (_row(m), _column(m))
        if at not in best or _cycles(m) < _cycles(best[at]):
            best[at] = m
    return main, best


def by_device_view(measurements: Sequence[Measurement], catalog: Catalog) -> list[TextBlock]:
    """The fastest of each device and cipher, for encryption where there is any, and what failed.

    A device with a flash cache has a row for each of its states, and one without it, such as for code in RAM.
    A cell without a figure says what the implementation that came furthest did: its stack overflowed,
    it failed otherwise, or the firmware does not fit. It is empty where the device has no implementation.
    """
    main, best = _best(measurements)
    asked = [m for m in measurements if m.operation == main]
    columns = list(dict.fromkeys(_column(m) for m in asked))
    measured = {m.device for m in measurements if m.status == "ok" and m.cycles_median is not None}
    rows = dict.fromkeys(_row(m) for m in asked if m.status == "ok" or m.device not in measured)
    failed = _failed(asked)
    cached = {row.device for row in rows if row.cache != "none"}
    table = []
    for row in rows:
        device = catalog.device(row.device)
        cells = [
            _told(best[row, column]) if (row, column) in best else failed.get((row.device, column), "")
            for column in columns
        ]
        state = f", {row.cache}" if row.cache != "none" else ", no cache" if row.device in cached else ""
        name = row.device + state
        table.append([name, device.core, f"{device.clock_hz / 1e6:g}", bound_of(row.device), *cells])
    headings = ("device", "core", "MHz", BOUND, *_headings(columns))
    legend = _LEGEND + bounds_told(row.device for row in rows)
    legend += "".join(f"; {m.device}: {one.text}" for m in best.values() if (one := behind_public_code(m)))
    failed_otherwise = [m for m in measurements if m.status not in ("ok", "does-not-fit")]
    shown = TextTable(f"Cycles to {main}", headings, table, legend, ("core", BOUND))
    return [shown, *failed_view(failed_otherwise)]


def _told(m: Measurement) -> str:
    """Its cycles, and how far they are behind public code."""
    behind = behind_public_code(m)
    return f"{_cycles(m):,}" + (f" ({behind.short})" if behind else "")


def _failed(asked: Sequence[Measurement]) -> dict[tuple[str, _Column], str]:
    """What to say of each device and cipher that has no figure; what was started counts before a misfit."""
    said: dict[tuple[str, _Column], str] = {}
    for m in sorted((m for m in asked if m.status != "ok"), key=lambda m: m.status == "does-not-fit"):
        overflowed = m.extra.get("failure") == FailureKind.STACK
        word = "stack overflow" if overflowed else m.status.replace("-", " ")
        said.setdefault((m.device, _column(m)), word)
    return said


def _row(m: Measurement) -> _Row:
    return _Row(m.device, m.cache)


def _column(m: Measurement) -> _Column:
    return _Column(m.cipher, m.key_bits, m.message_bytes, m.ad_bytes)


def _headings(columns: Sequence[_Column]) -> list[str]:
    """The cipher of each column, with what sets it apart from its neighbours."""
    several_lengths = len({(c.message_bytes, c.ad_bytes) for c in columns}) > 1
    headings = []
    for column in columns:
        keys = {c.key_bits for c in columns if c.cipher == column.cipher}
        key = [f"{column.key_bits} bits"] if len(keys) > 1 else []
        length = f"{column.message_bytes} bytes" + (f" + {column.ad_bytes}" if column.ad_bytes else "")
        headings.append(" ".join([column.cipher, *key, *([length] if several_lengths else [])]))
    return headings


def _cycles(m: Measurement) -> int:
    assert m.cycles_median is not None, "only successful measurements are compared"
    return m.cycles_median
