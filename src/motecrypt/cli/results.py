"""motecrypt results: what has been measured so far."""

from __future__ import annotations

import csv
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import click

from motecrypt.catalog import Catalog, nearest
from motecrypt.cli._measurements import print_measurements
from motecrypt.cli._output import compiler_option, db_option, open_results, wide_option
from motecrypt.cli._selection import match_ciphers
from motecrypt.errors import InputError
from motecrypt.model import Measurement
from motecrypt.text import spreadsheet_row


@click.command(epilog="Example: motecrypt results --cipher rc4d --format csv")
@click.option("--device", "devices", multiple=True, help="Only these devices.")
@click.option("--cipher", "ciphers", multiple=True, help="Only these ciphers or families.")
@click.option("--library", "libraries", multiple=True, help="Only these libraries.")
@click.option("--status", default=None, help="Only this status, such as ok or does-not-fit.")
@click.option(
    "--format", "form", type=click.Choice(["table", "csv", "json"]), default="table", show_default=True
)
@click.option("--json", "as_json", is_flag=True, help="The same as --format json.")
@click.option(
    "--all",
    "every",
    is_flag=True,
    help="Also older figures of cells that were measured again, with other code or another compiler.",
)
@compiler_option
@wide_option
@db_option
def command(
    devices: Sequence[str],
    ciphers: Sequence[str],
    libraries: Sequence[str],
    status: str | None,
    form: str,
    as_json: bool,
    every: bool,
    compilers: Sequence[str],
    db: Path | None,
) -> None:
    """Show stored measurements, the newest of each cell. Does not measure."""
    catalog = Catalog.load()
    for device in devices:
        catalog.device(device.removesuffix("-board"))
    with open_results(db, compilers, make=False) as results:
        own = results.distinct("cipher")
        names = [n for c in ciphers for n in ([c] if c in own else match_ciphers(catalog, c))]
        stored = results.distinct("library")
        for library in libraries:
            if library not in stored:
                catalog.library(library)
        statuses = results.distinct("status")
        if status is not None and status not in {"ok", *statuses}:
            raise InputError(nearest("status", status, {"ok", *statuses}))
        read = results.measurements if every else results.newest_measurements
        found = read(device=list(devices) or None, cipher=names or None, library=list(libraries) or None)
        found = [m for m in found if status in (None, m.status)]
        if not found:
            print(
                f"motecrypt: no such measurement in {results.path} yet; 'motecrypt measure'", file=sys.stderr
            )
    if form == "csv":
        _print_csv(found)
    else:
        print_measurements(found, as_json or form == "json", catalog)


def _print_csv(measurements: Sequence[Measurement]) -> None:
    columns = list(Measurement.__dataclass_fields__)
    writer = csv.DictWriter(sys.stdout, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(spreadsheet_row(asdict(m)) for m in measurements)
