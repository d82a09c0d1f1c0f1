"""StoredMeasurements measurements for notebooks and programs: `motecrypt.results.load`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from motecrypt.base.errors import InputError
from motecrypt.base.model import Measurement
from motecrypt.base.paths import default_results
from motecrypt.results.columns import Column, columns
from motecrypt.results.forms import plain
from motecrypt.results.store import Filter, Results

if TYPE_CHECKING:
    import pandas

_PANDAS = {
    "text": "string",
    "json": "object",
    "integer": "Int64",
    "number": "Float64",
    "boolean": "boolean",
}


def select(
    results: Results, *, every: bool = False, status: str | None = None, **filters: Filter
) -> Iterator[Measurement]:
    """The newest measurement of each cell, or with `every` all, one after the other.

    Cells that the system's own compiler made come first, the newest of them at the front. With `every`, all
    come newest first.

    Parameters
    ----------
    status
        Only measurements whose newest has this status, such as "ok".
    filters
        Columns and what they must be: one value or several.
    """
    found = results.each_measurement(**filters) if every else results.each_newest(**filters)
    return (m for m in found if status in (None, m.status))


@dataclass(frozen=True)
class StoredMeasurements:
    """Measurements of a results file. Each look reads the file again and keeps none of it.

    Iteration gives a dictionary for each measurement, so that `pandas.DataFrame(stored)` takes it as it is.
    """

    path: Path
    every: bool = False
    status: str | None = None
    compilers: Sequence[str] = ()
    filters: dict[str, Filter] = field(default_factory=dict)

    def measurements(self) -> Iterator[Measurement]:
        """The records themselves, which have `identity`, `shortfall` and other properties."""
        with Results(self.path, make=False) as opened:
            results = opened.by_compilers(self.compilers) if self.compilers else opened
            yield from select(results, every=self.every, status=self.status, **self.filters)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return map(plain, self.measurements())

    def columns(self) -> dict[str, list[Any]]:
        """Each column's values, by its name; all of one length."""
        values: dict[str, list[Any]] = {column.name: [] for column in columns()}
        for row in self:
            for name, value in row.items():
                values[name].append(value)
        return values

    def dictionary(self) -> tuple[Column, ...]:
        """What the columns mean, with their types and units."""
        return columns()

    def frame(self) -> pandas.DataFrame:
        """A pandas DataFrame whose whole numbers stay whole where some are missing.

        Raises
        ------
        InputError
            If pandas is not installed; all else works without it.
        """
        try:
            import pandas
        except ImportError as error:
            raise InputError(f"a DataFrame needs the Python package pandas: {error}") from error
        values = self.columns()
        return pandas.DataFrame(
            {
                column.name: pandas.Series(values[column.name], dtype=_PANDAS[column.type])
                for column in columns()
            }
        )


def load(
    path: str | Path | None = None,
    *,
    every: bool = False,
    status: str | None = None,
    compilers: Sequence[str] = (),
    **filters: Filter,
) -> StoredMeasurements:
    """The stored measurements of a results file, the newest of each cell. Measures nothing.

    Parameters
    ----------
    path
        The file; None: the one that commands use (MOTECRYPT_DB, or in the data directory).
    every
        Also older figures of cells that were measured again.
    status
        Only this one, such as "ok".
    compilers
        Only figures of these compilers, each a part of its version line.
    filters
        Columns and what they must be, one value or several: `load(device="uno", message_bytes=[16, 64])`.

    Raises
    ------
    InputError
        If there is no such file or no such column. A damaged file is refused when it is read.
    """
    place = default_results() if path is None else Path(path)
    if not place.exists():
        raise InputError(
            f"{place}: no such results file; 'motecrypt measure' or 'motecrypt reproduce' makes one"
        )
    known = {column.name: column.type for column in columns()}
    for name in filters:
        if known.get(name, "json") == "json":
            there = ", ".join(column.name for column in columns() if column.type != "json")
            raise InputError(f"measurements have no column '{name}' to filter by; available: {there}")
    return StoredMeasurements(place, every, status, tuple(compilers), dict(filters))
