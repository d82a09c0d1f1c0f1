"""Stored rows as records. The file may come from anyone: every value is checked against its column's type."""

from __future__ import annotations

import json
import math
import operator
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from typing import Any, get_type_hints

from motecrypt.base.errors import InputError
from motecrypt.base.model import CellIdentity, ExperimentResult, Measurement

COLUMNS = tuple(f.name for f in fields(Measurement))
_HINTS = get_type_hints(Measurement)
BOOLEANS = tuple(name for name in COLUMNS if _HINTS[name] in (bool, bool | None))


class Reader:
    """Makes records of one query's rows. Results files repeat texts: each is kept in memory once.

    Parameters
    ----------
    where
        The file, for complaints.
    """

    def __init__(self, where: str) -> None:
        self._where = where
        self._texts: dict[str, str] = {}

    def identity(self, row: Sequence[Any]) -> tuple[Any, ...]:
        """What a row's figures are of, as the values of a `CellIdentity`; their types are not checked yet."""
        one = self._texts
        return tuple([one.setdefault(v, v) if type(v) is str else v for v in _IDENTITY(row)])

    def from_plain(self, told: Mapping[str, Any]) -> Measurement:
        """A measurement from a dictionary of its columns, such as an exported one.

        Raises
        ------
        InputError
            A column is missing or unknown, or a value is not of its column's type.
        """
        if set(told) != set(COLUMNS):
            unlike = ", ".join(sorted(set(told) ^ set(COLUMNS))[:5])
            raise InputError(f"{self._where}: a measurement with other columns: {unlike}")
        return self.measurement([json.dumps(told[n]) if n == "extra" else told[n] for n in COLUMNS])

    def measurement(self, row: Sequence[Any]) -> Measurement:
        """A measurement from the values of its COLUMNS.

        Raises
        ------
        InputError
            A value is not of its column's type.
        """
        one = self._texts
        values: dict[str, Any] = {}
        for name, value, plain in zip(COLUMNS, row, _PLAIN, strict=True):
            if name == "extra":
                values[name] = _extra(value, self._where)
            elif type(value) not in plain:
                values[name] = _checked(name, value, self._where)
            else:
                values[name] = one.setdefault(value, value) if type(value) is str else value
        return Measurement(**values)


def _extra(text: Any, where: str) -> dict[str, Any]:
    if text == "{}":
        return {}
    kept = json_object(text, where, "measurement", "extra")
    return {sys.intern(name): value for name, value in kept.items()}


def experiment(row: Sequence[Any], where: str) -> ExperimentResult:
    """A result from kind, version, inputs, outcome, made_at and motecrypt_version.

    Raises
    ------
    InputError
        As `measurement`.
    """
    kind, version, inputs, outcome, made_at, made_by = row
    for column, value in (("kind", kind), ("made_at", made_at), ("motecrypt_version", made_by)):
        _hold(isinstance(value, str), where, "experiment", column, value, "text")
    _hold(isinstance(version, int), where, "experiment", "version", version, "a whole number")
    return ExperimentResult(
        kind,
        version,
        json_object(inputs, where, "experiment", "inputs"),
        json_object(outcome, where, "experiment", "outcome"),
        made_at,
        made_by,
    )


def key(value: Any, where: str) -> str:
    """A cell key; InputError for what none is."""
    _hold(
        isinstance(value, str) and value.isascii() and value.isalnum(),
        where,
        "measurement",
        "key",
        value,
        "a hash",
    )
    return str(value)


def question(value: Any, where: str) -> str:
    """What a result is found by: a JSON object, as text."""
    json_object(value, where, "experiment", "asked")
    return str(value)


def json_object(text: Any, where: str, table: str, column: str) -> dict[str, Any]:
    """The JSON object in a column of text; what is none, or has numbers that are none, is refused."""
    try:
        value = _DECODER.decode(text)
        if "\\u" in text:  # half a pair of surrogates cannot be written to a file
            json.dumps(value, ensure_ascii=False).encode()
    except (ValueError, TypeError, RecursionError):
        value = None
    _hold(isinstance(value, dict), where, table, column, text, "a JSON object")
    return dict(value)


def _no_number(name: str) -> float:
    raise ValueError(name)


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):  # "1e999"
        raise ValueError(text)
    return value


def _finite_int(text: str) -> int:
    """A whole number that is also one as a float: views divide, and draw."""
    _finite(text)
    return int(text)


_DECODER = json.JSONDecoder(parse_constant=_no_number, parse_int=_finite_int, parse_float=_finite)


def _checked(name: str, value: Any, where: str) -> Any:
    expected, fits = _RULES[_HINTS[name]]
    _hold(fits(value), where, "measurement", name, value, expected)
    return bool(value) if name in BOOLEANS and value is not None else value


def _whole(value: Any) -> bool:
    return isinstance(value, int)


def _flag(value: Any) -> bool:
    return isinstance(value, int) and value in (0, 1)


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and math.isfinite(value)


def _or_nothing(fits: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: value is None or fits(value)


_RULES: dict[Any, tuple[str, Callable[[Any], bool]]] = {
    str: ("text", lambda value: isinstance(value, str)),
    int: ("a whole number", _whole),
    int | None: ("a whole number or nothing", _or_nothing(_whole)),
    float | None: ("a number or nothing", _or_nothing(_number)),
    bool: ("0 or 1", _flag),
    bool | None: ("0, 1 or nothing", _or_nothing(_flag)),
}


_NOT_LOOKED_AT: dict[Any, frozenset[type]] = {
    str: frozenset({str}),
    int: frozenset({int}),
    int | None: frozenset({int, type(None)}),
    float | None: frozenset({int, type(None)}),
}
#: By column the types whose every value is right; any other value is looked at.
_PLAIN = tuple(_NOT_LOOKED_AT.get(_HINTS[name], frozenset()) for name in COLUMNS)
_IDENTITY = operator.itemgetter(*(COLUMNS.index(name) for name in CellIdentity._fields))


def _hold(holds: bool, where: str, table: str, column: str, value: Any, expected: str) -> None:
    if not holds:
        shown = repr(value[:40] if isinstance(value, str | bytes) else value)
        article = "an" if table[:1] in "aeiou" else "a"
        raise InputError(
            f"{where}: damaged: {column} of {article} {table} is {shown}, expected {expected}; "
            "move the file away or choose another with --db"
        )
