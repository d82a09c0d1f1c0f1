"""What the columns of a stored measurement mean: the data dictionary. Its texts are data/columns.toml."""

from __future__ import annotations

import difflib
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any, Literal, cast, get_args, get_type_hints

from motecrypt.base.descriptor import Table
from motecrypt.base.errors import InputError
from motecrypt.base.model import Measurement
from motecrypt.catalog.places import DATA

ColumnType = Literal["text", "integer", "number", "boolean", "json"]
About = Literal["identity", "figure", "outcome", "provenance"]

_TYPES: dict[Any, ColumnType] = {str: "text", int: "integer", float: "number", bool: "boolean"}


@dataclass(frozen=True)
class Column:
    """A column of the stored measurements.

    Attributes
    ----------
    empty
        Whether there may be no value: null in JSON and Parquet, an empty cell in CSV.
    unit
        Of a number; "" otherwise.
    """

    name: str
    type: ColumnType
    empty: bool
    about: About
    unit: str
    what: str


@cache
def columns() -> tuple[Column, ...]:
    """Every column of a measurement, in the order of the record."""
    return read_columns(DATA / "columns.toml")


def read_columns(path: Path) -> tuple[Column, ...]:
    """The columns as a file describes them.

    Raises
    ------
    InputError
        It describes other columns than the record has, or not as it should.
    """
    described = Table.read(path).every_table()
    hints = get_type_hints(Measurement)
    made = []
    for name in (field.name for field in fields(Measurement)):
        entry = described.pop(name, None)
        if entry is None:
            near = difflib.get_close_matches(name, described, 1)
            hint = f"; there is '{near[0]}': did you mean '{name}'?" if near else ""
            raise InputError(f"{path}: the column '{name}' is missing{hint}")
        kind, empty = _type(hints[name])
        made.append(
            Column(
                name=name,
                type=kind,
                empty=empty,
                about=cast("About", entry.text("about", choices=get_args(About))),
                unit=entry.text("unit", ""),
                what=entry.text("what"),
            )
        )
        entry.done()
    if described:
        raise InputError(f"{path}: there is no column '{next(iter(described))}'")
    return tuple(made)


def _type(hint: Any) -> tuple[ColumnType, bool]:
    options = get_args(hint)
    if type(None) in options:
        (own,) = (option for option in options if option is not type(None))
        return _TYPES[own], True
    return _TYPES.get(hint, "json"), False
