"""Makes data/public_key/recorded.jsonl, aes.jsonl and docs/public-key.md: all public-key operations, and AES
to compare them with, measured.

`python -m made.public_key [DEVICE]...`; it takes many minutes. With `--only ALGORITHM` (`aes`,
`taint`) it measures that one alone; with `--stored` it records what the results file has, and measures
nothing; with `--page` it writes the page of what is recorded.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from made._public_key_page import page
from motecrypt.adviser.publickey.baseline import (
    CIPHER,
    LENGTHS,
    RECORDED_AES,
    AesRow,
    aes_costs,
    aes_rows,
    aes_text,
)
from motecrypt.adviser.publickey.handshakes import handshakes
from motecrypt.adviser.publickey.page_costs import costs_text
from motecrypt.adviser.publickey.rows import RECORDED, PublicKeyRow, published, recorded, row_of, text
from motecrypt.adviser.publickey.secrets import TAINT, TaintRow, secrets_text, taint_rows, taint_text
from motecrypt.adviser.publickey.slower import slower
from motecrypt.adviser.records.plan import cache_of
from motecrypt.air.radios import load_radio, radio_names
from motecrypt.app.audit import followed
from motecrypt.base.errors import MotecryptError
from motecrypt.base.model import Cell, Measurement
from motecrypt.base.paths import write_atomically
from motecrypt.catalog import Catalog
from motecrypt.catalog.cells import cells_for
from motecrypt.cli._output import open_results, progress
from motecrypt.measuring import bench

DEVICES = ("uno", "pico", "stm32f4", "nrf52840")
MESSAGE_BYTES = 16
PAGE = Path(__file__).resolve().parents[2] / "docs" / "public-key.md"


def main(arguments: Sequence[str]) -> None:
    """Measure, then write the files."""
    parser = argparse.ArgumentParser(prog="python -m made.public_key", description=__doc__)
    parser.add_argument("device", nargs="*")
    parser.add_argument("--only", default="", metavar="ALGORITHM")
    parser.add_argument("--stored", action="store_true")
    parser.add_argument("--page", action="store_true")
    asked = parser.parse_args(arguments)
    catalog, only, stored = Catalog.load(), str(asked.only), bool(asked.stored)
    if only not in ("", "aes", "taint"):
        catalog.public_key(only)
    if not asked.page:
        devices = [catalog.device(name).name for name in asked.device] or list(DEVICES)
        if only in ("", "taint"):
            write_atomically(TAINT, taint_text(_taints(catalog)).encode())
        if only not in ("aes", "taint"):
            wanted = [cell for cell in cells(catalog, devices) if only in ("", cell.implementation.cipher)]
            found = [row_of(m) for m in _measured(catalog, wanted, stored=stored).values()]
            write_atomically(RECORDED, text(_merged(recorded(), found)).encode())
        if only in ("", "aes"):
            found_aes = [row for name in devices for row in _fastest_aes(catalog, name, stored=stored)]
            kept = [row for row in _kept_aes() if row.device not in {row.device for row in found_aes}]
            merged = sorted([*kept, *found_aes], key=lambda row: (_order(row.device), row.message_bytes))
            write_atomically(RECORDED_AES, aes_text(merged).encode())
    write_atomically(PAGE, whole_page(catalog).encode())
    print(f"{RECORDED}, {RECORDED_AES}, {PAGE}", file=sys.stderr)


def _taints(catalog: Catalog) -> list[TaintRow]:
    """The secrets of every operation, followed on this computer."""
    found: list[TaintRow] = []
    with progress("following secrets") as report:
        for name in sorted(catalog.public_keys):
            rows, without = followed(catalog, catalog.public_key(name), report)
            found += rows
            for reason in without:
                print(reason, file=sys.stderr)
    return found


def _order(device: str) -> int:
    return DEVICES.index(device) if device in DEVICES else len(DEVICES)


def _merged(kept: Sequence[PublicKeyRow], found: Sequence[PublicKeyRow]) -> list[PublicKeyRow]:
    """The recorded rows with the new ones in their places; new algorithms come at the end of a device's."""
    by_key = {(r.device, r.algorithm, r.implementation, r.operation): r for r in (*kept, *found)}
    return sorted(by_key.values(), key=lambda row: _order(row.device))


def _kept_aes() -> list[AesRow]:
    return aes_rows() if RECORDED_AES.exists() else []


def _fastest_aes(catalog: Catalog, name: str, *, stored: bool) -> list[AesRow]:
    """Encryption by our implementation that is fastest at the shortest message, at each length that the
    benchmark firmware holds."""
    device, found = catalog.device(name), []
    for body in catalog.implementations_of(CIPHER, name, ("motecrypt",)):
        lengths = [length for length in LENGTHS if length <= device.bench["message"]]
        made = cells_for(
            catalog, device, body, message_bytes=lengths, placements=["flash"], caches=[cache_of(device)]
        )
        measured = _measured(catalog, [c for c in made if c.operation == "encrypt"], stored=stored)
        rows = [_aes_row(m) for m in measured.values() if m.cycles_median is not None]
        found += [sorted(rows, key=lambda row: row.message_bytes)] if rows else []
    return min(found, key=lambda rows: rows[0].cycles, default=[])


def _aes_row(m: Measurement) -> AesRow:
    assert m.cycles_median is not None
    day = m.measured_at[:10]
    return AesRow(m.device, m.cipher, m.implementation, m.message_bytes, m.cycles_median, m.compiler, day)


def cells(catalog: Catalog, devices: Sequence[str]) -> list[Cell]:
    """All operations of all algorithms on these devices, with a warm flash cache where there is one."""
    found = []
    for name in devices:
        device = catalog.device(name)
        for algorithm in sorted(catalog.public_keys):
            for body in catalog.public_key_implementations_of(algorithm, name):
                made = bench.public_key_cells(catalog, device, body, message_bytes=[MESSAGE_BYTES])
                found += [cell for cell in made if cell.cache != "cold"]
    return found


def _measured(catalog: Catalog, wanted: Sequence[Cell], *, stored: bool) -> dict[Cell, Measurement]:
    with open_results(None) as results:
        if stored:
            there = results.newest(wanted)
        else:
            with progress("measuring public-key operations") as report:
                there = bench.ensure(wanted, results, catalog, None, report)
    return {cell: there[cell] for cell in wanted if cell in there}


def whole_page(catalog: Catalog) -> str:
    """docs/public-key.md of what is recorded."""
    rows, aes, shakes = recorded(), aes_costs(), list(handshakes().values())
    kinds = {name: catalog.public_key(name).operations for name in sorted(catalog.public_keys)}
    radios = [load_radio(name) for name in radio_names()]
    compared = costs_text(slower(rows, aes, kinds), shakes, rows, aes, (catalog.devices, radios))
    compared += "\n" + secrets_text(rows, taint_rows())
    return page(rows, catalog.devices, published(), compared)


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except MotecryptError as error:
        print(f"motecrypt: {error}", file=sys.stderr)
        sys.exit(2)
