"""Measurements as a table or as JSON, the same for `measure` and `results`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from motecrypt.catalog import Catalog
from motecrypt.cli._output import fits, print_json, print_table
from motecrypt.model import Measurement

COLUMNS = (
    "device",
    "cipher",
    "standing",
    "implementation",
    "key",
    "operation",
    "bytes",
    "placement",
    "cycles",
    "µs",
    "varies",
    "flash",
    "RAM",
    "stack",
    "note",
)

COMPARED_COLUMNS = (
    *("device", "cipher", "implementation", "key", "operation", "bytes", "placement", "toolchain"),
    *("cycles", "cycles %", "flash", "flash %", "RAM", "stack", "note"),
)

FAILED_COLUMNS = (
    *("device", "cipher", "implementation", "key", "operations", "bytes", "placement", "flash", "RAM"),
    "reason",
)


def print_measurements(measurements: Sequence[Measurement], as_json: bool, catalog: Catalog) -> None:
    """Print what was measured, and below it what did not run and why: one row for all cells of one reason."""
    if as_json:
        print_json([asdict(m) for m in measurements])
        return
    ran = [m for m in measurements if m.status == "ok"]
    failed = [m for m in measurements if m.status != "ok"]
    if ran or not failed:
        _print_figures([_row(m, catalog) for m in ran])
    if failed:
        print_table("Did not run", FAILED_COLUMNS, _failed_rows(failed), f"{len(failed)} cells did not run")


def print_compared(measurements: Sequence[Measurement]) -> None:
    """One table with the toolchains of each cell below each other, each beside the first in per cent."""
    cells: dict[object, list[Measurement]] = {}
    for m in measurements:
        cells.setdefault(m.identity, []).append(m)
    rows = [row for same in cells.values() for row in _compared_rows(same)]
    who = dict.fromkeys(f"{m.toolchain}: {m.compiler}" for m in measurements)
    print_table("Toolchains compared", COMPARED_COLUMNS, rows, "; ".join((_COMPARED_LEGEND, *who)))


def _compared_rows(same: Sequence[Measurement]) -> list[list[object]]:
    first = same[0]
    rows: list[list[object]] = []
    for m in same:
        flags = " ".join(f for f in m.flags.split() if f.startswith(("-O", "-flto")))
        place = m.placement if m.cache == "none" else f"{m.placement}, {m.cache}"
        rows.append(
            [
                *(m.device, m.cipher, m.implementation, m.key_bits, m.operation, m.message_bytes, place),
                *(m.toolchain, _number(m.cycles_median), _percent(first.cycles_median, m.cycles_median)),
                *(_number(m.flash_bytes), _percent(first.flash_bytes, m.flash_bytes)),
                *(_number(m.ram_bytes), _number(m.stack_bytes), m.reason or flags),
            ]
        )
    return rows


def _percent(before: int | None, after: int | None) -> str:
    """How much more or less it is; empty where nothing can be said."""
    return f"{100 * (after / before - 1):+.1f}" if before and after is not None else ""


def _print_figures(rows: list[list[object]]) -> None:
    """One table or, where that is too wide, one for each device, cipher, key, length and flags."""
    if fits(COLUMNS, rows):
        print_table("Measurements", COLUMNS, rows, _LEGEND)
        return
    shared = [COLUMNS.index(name) for name in ("device", "cipher", "standing", "key", "bytes", "note")]
    rest = [i for i in range(len(COLUMNS)) if i not in shared]
    groups: dict[tuple[object, ...], list[list[object]]] = {}
    for row in rows:
        groups.setdefault(tuple(row[i] for i in shared), []).append([row[i] for i in rest])
    for number, ((device, cipher, standing, key, length, note), some) in enumerate(groups.items(), start=1):
        title = f"{device}, {cipher} ({standing}), {key}-bit key, {length} bytes, {note}"
        print_table(title, [COLUMNS[i] for i in rest], some, _LEGEND if number == len(groups) else "")


def varies(m: Measurement) -> str:
    """Whether timing varies: the trace of branches and addresses over the inputs, and the cycles."""
    if m.timing_varies is None:
        return "?" if m.status == "ok" else ""
    if not m.timing_varies:
        return f"none seen in {m.inputs}"
    if m.cycles_min == m.cycles_max:
        return "addresses"
    return f"cycles {m.cycles_min:,}-{m.cycles_max:,}"


def _row(m: Measurement, catalog: Catalog) -> list[object]:
    standing = catalog.ciphers[m.cipher].standing if m.cipher in catalog.ciphers else ""
    place = m.placement if m.cache == "none" else f"{m.placement}, {m.cache}"
    own_flags = " ".join(f for f in m.flags.split() if f.startswith(("-O", "-flto")))
    return [
        *(m.device, m.cipher, standing, m.implementation, m.key_bits, m.operation, m.message_bytes),
        *(place, _number(m.cycles_median), _time(m.time_us), varies(m)),
        *(_number(m.flash_bytes), _number(m.ram_bytes), _number(m.stack_bytes), own_flags),
    ]


def _failed_rows(measurements: Sequence[Measurement]) -> list[list[object]]:
    groups: dict[tuple[object, ...], list[Measurement]] = {}
    for m in measurements:
        what = (m.device, m.cipher, m.implementation, m.key_bits, m.placement, m.flags, m.reason)
        groups.setdefault(what, []).append(m)
    rows = []
    for (device, cipher, name, key_bits, placement, _, reason), cells in groups.items():
        operations = ", ".join(dict.fromkeys(m.operation for m in cells))
        lengths = ", ".join(dict.fromkeys(str(m.message_bytes) for m in cells))
        some = cells[0]
        sizes = (_number(some.flash_bytes), _number(some.ram_bytes))
        rows.append([device, cipher, name, key_bits, operations, lengths, placement, *sizes, reason])
    return rows


def _number(value: int | None) -> str:
    return "" if value is None else f"{value:,}"


def _time(time_us: float | None) -> str:
    return "" if time_us is None else f"{time_us:,.1f}"


_COMPARED_LEGEND = "cycles: median over the inputs; %: against the first toolchain that was named"
_LEGEND = (
    "cycles: median over the inputs, the call itself subtracted; flash, RAM: difference to the same "
    "firmware with an empty cipher; varies: branches and memory addresses over the inputs"
)
