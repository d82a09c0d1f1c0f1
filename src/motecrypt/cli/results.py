"""motecrypt results: what has been measured so far."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, fields
from itertools import chain
from pathlib import Path

import click

from motecrypt.catalog import Catalog, nearest
from motecrypt.cli._measurements import print_measurements
from motecrypt.cli._output import (
    compiler_option,
    db_option,
    open_results,
    print_json,
    print_table,
    wide_option,
)
from motecrypt.cli._selection import match_ciphers
from motecrypt.errors import InputError
from motecrypt.model import Measurement
from motecrypt.paths import written_atomically


@click.command(epilog="Example: motecrypt results --cipher rc4d --format csv")
@click.option("--device", "devices", multiple=True, help="Only these devices.")
@click.option("--cipher", "ciphers", multiple=True, help="Only these ciphers or families.")
@click.option("--library", "libraries", multiple=True, help="Only these libraries.")
@click.option("--status", default=None, help="Only this status, such as ok or does-not-fit.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["table", "csv", "json", "parquet"]),
    default="table",
    show_default=True,
    help="Parquet is for a file (-o).",
)
@click.option("--json", "as_json", is_flag=True, help="The same as --format json.")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    default=None,
    help="Write CSV, JSON or Parquet to this file.",
)
@click.option("--columns", "meanings", is_flag=True, help="Print what each column means, and no figures.")
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
    output: Path | None,
    meanings: bool,
    every: bool,
    compilers: Sequence[str],
    db: Path | None,
) -> None:
    """Show stored measurements, the newest of each cell. Does not measure."""
    form = "json" if as_json else form
    if meanings:
        if form == "parquet" or output is not None:
            raise InputError("--columns prints a table, CSV or JSON; omit -o and --format parquet")
        _print_meanings(form)
        return
    if form == "parquet" and output is None:
        raise InputError("--format parquet writes a file: name it with -o, such as -o results.parquet")
    if form == "table" and output is not None:
        raise InputError("-o writes CSV, JSON or Parquet: add --format, such as --format csv")
    catalog = Catalog.load()
    for device in devices:
        catalog.device(device.removesuffix("-board"))
    with open_results(db, compilers, make=False) as results:
        from motecrypt.results.reading import select

        own = results.distinct("cipher")
        names = [n for c in ciphers for n in ([c] if c in own else match_ciphers(catalog, c))]
        stored = results.distinct("library")
        for library in libraries:
            if library not in stored:
                catalog.library(library)
        statuses = results.distinct("status")
        if status is not None and status not in {"ok", *statuses}:
            raise InputError(nearest("status", status, {"ok", *statuses}))
        filters = {
            "device": list(devices) or None,
            "cipher": names or None,
            "library": list(libraries) or None,
        }
        found = select(results, every=every, status=status, **filters)
        first = next(found, None)
        if first is None:
            print(
                f"motecrypt: no such measurement in {results.path} yet; 'motecrypt measure'", file=sys.stderr
            )
        found = found if first is None else chain((first,), found)
        if form == "table":
            newest_first = sorted(found, key=lambda m: m.measured_at, reverse=True)
            print_measurements(newest_first, False, catalog)
        elif output is None:
            for part in _text(form, found):
                sys.stdout.write(part)
        else:
            _write(output, form, found)


def _text(form: str, measurements: Iterable[Measurement]) -> Iterator[str]:
    from motecrypt.results.forms import as_csv, as_json

    return as_csv(measurements) if form == "csv" else as_json(measurements)


def _write(output: Path, form: str, measurements: Iterable[Measurement]) -> None:
    """All measurements in one file, or no file."""
    from motecrypt.results.forms import write_parquet

    with written_atomically(output) as file:
        if form == "parquet":
            write_parquet(measurements, file)
        else:
            for part in _text(form, measurements):
                file.write(part.encode())
    print(f"motecrypt: {output}", file=sys.stderr)


def _print_meanings(form: str) -> None:
    from motecrypt.results.columns import Column, columns

    if form == "json":
        print_json(columns())
        return
    names = [field.name for field in fields(Column)]
    told = [
        [{**asdict(column), "empty": "yes" if column.empty else ""}[name] for name in names]
        for column in columns()
    ]
    if form == "csv":
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows([names, *told])
        print(text.getvalue(), end="")
        return
    print_table("Columns of a measurement", names, told, "empty: there may be no value", ("unit", "empty"))
