"""Stored measurements as CSV, JSON and Parquet, row by row: however many there are, few are in memory."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import islice
from typing import Any, BinaryIO

from motecrypt import __version__
from motecrypt.base.errors import InputError
from motecrypt.base.model import Measurement
from motecrypt.base.text import spreadsheet_row
from motecrypt.results import rows
from motecrypt.results.columns import ColumnType, columns
from motecrypt.results.parquet import ParquetColumn, ParquetFile, Physical

ROWS_AT_ONCE = 5000  # of a row group of Parquet


def plain(measurement: Measurement) -> dict[str, Any]:
    """A measurement as a dictionary of its columns."""
    return {name: getattr(measurement, name) for name in rows.COLUMNS}


def as_json(
    measurements: Iterable[Measurement], further: Callable[[str], Mapping[str, Any]]
) -> Iterator[str]:
    """The parts of one JSON array with an object for each measurement, each on a line of its own.

    `further` gives more fields for a device by its name; they come last in each object.
    """
    separator = "[\n "
    for measurement in measurements:
        yield separator + _json({**plain(measurement), **further(measurement.device)})
        separator = ",\n "
    yield "[]\n" if separator.startswith("[") else "\n]\n"


def as_csv(measurements: Iterable[Measurement]) -> Iterator[str]:
    """The lines of CSV with a heading. `extra` is a JSON object; an empty cell is nothing."""
    text = io.StringIO()
    writer = csv.DictWriter(text, rows.COLUMNS, lineterminator="\n")
    writer.writeheader()
    for measurement in measurements:
        row = plain(measurement)
        writer.writerow(spreadsheet_row({**row, "extra": _json(row["extra"])}))
        yield text.getvalue()
        text.seek(0)
        text.truncate()
    yield text.getvalue()


def answer_as_csv(names: Sequence[str], answer: Iterable[Sequence[object]]) -> Iterator[str]:
    """Lines of CSV with these headings, each row as it comes."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(names)
    for row in answer:
        writer.writerow(spreadsheet_row({str(at): value for at, value in enumerate(row)}).values())
        yield text.getvalue()
        text.seek(0)
        text.truncate()
    yield text.getvalue()


def answer_as_json(names: Sequence[str], answer: Iterable[Sequence[object]]) -> Iterator[str]:
    """A JSON object on each line; InputError where two columns have one name."""
    if len(set(names)) < len(names):
        raise InputError(f"two columns have one name ({', '.join(names)}); name them with AS, or choose CSV")
    for row in answer:
        finite = (None if isinstance(v, float) and not math.isfinite(v) else v for v in row)
        yield json.dumps(dict(zip(names, finite, strict=True)), default=str) + "\n"


_PHYSICAL: dict[ColumnType, Physical] = {
    "text": Physical.BYTE_ARRAY,
    "json": Physical.BYTE_ARRAY,
    "integer": Physical.INT64,
    "number": Physical.DOUBLE,
    "boolean": Physical.BOOLEAN,
}


def write_parquet(measurements: Iterable[Measurement], file: BinaryIO) -> None:
    """Write Parquet with the types of `columns()`; `extra` is text that is a JSON object.

    The file's metadata has motecrypt's version and, as JSON, what each column means.
    """
    told = {
        "motecrypt.version": __version__,
        "motecrypt.columns": json.dumps([asdict(column) for column in columns()]),
    }
    schema = [ParquetColumn(c.name, _PHYSICAL[c.type], c.empty) for c in columns()]
    written = ParquetFile(file, schema, told)
    found = iter(measurements)
    while some := list(islice(found, ROWS_AT_ONCE)):
        values = {name: [getattr(m, name) for m in some] for name in rows.COLUMNS if name != "extra"}
        written.add({**values, "extra": [_json(m.extra) for m in some]})
    written.finish()


def _json(value: Mapping[str, Any]) -> str:
    return json.dumps(value, allow_nan=False)
