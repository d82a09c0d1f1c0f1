"""Recorded figures: one JSON object a line, checked against the fields of the record that it becomes.

For data files that commands of ours write. It does not know what the figures mean.
"""

from __future__ import annotations

import json
import math
from dataclasses import MISSING, Field, fields
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from motecrypt.base.errors import InputError

_Row = TypeVar("_Row")
SHOWN_CHARACTERS = 60
_NAMES = {str: "a string", int: "a whole number", float: "a number", bool: "true or false"}


def recorded_rows(path: Path, kind: type[_Row], what: str, command: str) -> list[_Row]:
    """The rows of a file, in its order.

    Parameters
    ----------
    kind
        A dataclass whose fields are strings, numbers, booleans, these or None, or tuples of these. No number
        is negative.
    what, command
        What a line should be and what makes the file, for complaints.

    Raises
    ------
    InputError
        The file cannot be read, or a line is not such a row: with the line, the field and what was expected.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read; '{command}' makes it") from error
    return [recorded_row(line, kind, what, f"{path}, line {n}") for n, line in enumerate(lines, start=1)]


def recorded_row(line: str, kind: type[_Row], what: str, where: str) -> _Row:
    """One row; InputError where the line is not one."""
    try:
        values = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{where}: {what} ({error})") from None
    if not isinstance(values, dict):
        raise InputError(f"{where}: {what} (expected an object in braces)")
    known: tuple[Field[Any], ...] = fields(kind)  # type: ignore[arg-type]
    for name in values:
        if name not in {field.name for field in known}:
            raise InputError(f"{where}: {what} (unknown '{name}')")
    hints = _hints(kind)  # type: ignore[arg-type]
    taken = {}
    for field in known:
        if field.name in values:
            taken[field.name] = _checked(values[field.name], hints[field.name], f"{where}: '{field.name}'")
        elif field.default is MISSING and field.default_factory is MISSING:
            raise InputError(f"{where}: {what} ('{field.name}' is missing)")
    return kind(**taken)


@cache
def _hints(kind: type) -> dict[str, Any]:
    """The types of a record's fields, evaluated once for each kind of rows."""
    return get_type_hints(kind)


def _checked(value: Any, hint: Any, where: str) -> Any:
    """A value of the field's type; a list becomes a tuple."""
    if get_origin(hint) is tuple:
        if not isinstance(value, list):
            raise InputError(f"{where} is {_shown(value)}; expected a list")
        return tuple(_checked(each, get_args(hint)[0], where) for each in value)
    kinds = get_args(hint) or (hint,)
    if value is None and type(None) in kinds:
        return None
    if isinstance(value, bool):
        if bool in kinds:
            return value
    elif isinstance(value, str):
        if str in kinds:
            return value
    elif (isinstance(value, int) and {int, float} & {*kinds}) or (
        isinstance(value, float) and float in kinds
    ):
        if math.isfinite(value) and value >= 0:
            return value
        raise InputError(f"{where} is {_shown(value)}; expected a number of at least 0")
    expected = " or ".join("nothing (null)" if one is type(None) else _NAMES[one] for one in kinds)
    raise InputError(f"{where} is {_shown(value)}; expected {expected}")


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= SHOWN_CHARACTERS else f"{text[:SHOWN_CHARACTERS]}..."
