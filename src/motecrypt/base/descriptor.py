"""Reads and validates all TOML files: ciphers, libraries, devices, radios, tool sets, batteries and more.

Every complaint is one line that names the file, the key and what was expected there, and for an unknown key
the nearest known one. This module does not depend on what the descriptors mean.
"""

from __future__ import annotations

import contextlib
import difflib
import hashlib
import json
import math
import os
from collections.abc import Collection, Mapping
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from motecrypt.base.errors import InputError
from motecrypt.base.paths import cache_dir, make_dir

FILE_BYTES_MAX = 1 << 20
DEPTH_MAX = 16
INTEGER_MAX = (1 << 63) - 1  # the limit of TOML
SHOWN_CHARACTERS = 60
KEYS_TOLD = 5
_OURS = Path(__file__).resolve().parents[1]

_Number = TypeVar("_Number", int, float)


class Table:
    """One TOML table whose keys are taken one by one; `done` refuses what nobody took."""

    def __init__(self, values: Mapping[str, Any], where: str) -> None:
        self._values = dict(values)
        self._known: list[str] = []
        self.where = where

    @classmethod
    def read(cls, path: Path) -> Table:
        """Parse a file.

        Raises
        ------
        InputError
            When it cannot be read, is not TOML, or holds what no descriptor has: see `parse`.
        """
        try:
            if path.exists() and not path.is_file():
                raise InputError(f"{path}: is not a regular file")
            with path.open("rb") as file:
                content = file.read(FILE_BYTES_MAX + 1)
            text = content.decode()
        except OSError as error:
            raise InputError(f"{path}: cannot be read: {error.strerror}") from error
        except ValueError as error:  # no UTF-8, or a name with a zero byte
            raise InputError(f"{path}: not valid TOML: {error}") from error
        if len(text) <= FILE_BYTES_MAX and _OURS in path.parents:
            return cls(_kept(text, str(path)), str(path))
        return cls.parse(text, str(path))

    @classmethod
    def parse(cls, text: str, where: str) -> Table:
        """Parse text; `where` names it in complaints.

        Raises
        ------
        InputError
            No TOML; longer than a megabyte; nested deeper than 16 tables; a number beyond 64 bits, infinite
            or none at all (nan).
        """
        if len(text) > FILE_BYTES_MAX:
            raise InputError(f"{where}: longer than {FILE_BYTES_MAX:,} bytes: not a descriptor")
        return cls(_parsed(text, where), where)

    def _take(self, key: str, kinds: tuple[type, ...], expected: str, default: Any) -> Any:
        self._known.append(key)
        if key not in self._values:
            if default is ...:
                raise InputError(f"{self.where}: '{key}' is missing; expected {expected}{self._instead(key)}")
            return default
        value = self._values.pop(key)
        if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
            raise self.wrong(key, value, expected)
        return value

    def _instead(self, key: str) -> str:
        """What is there, not taken yet, under a name much like a key that is missing."""
        near = difflib.get_close_matches(key, self._values, n=2, cutoff=0.6)
        if not near:
            return ""
        there = " and ".join(f"'{_short(name)}'" for name in near)
        return f"; there is {there}: did you mean '{key}'?"

    def wrong(self, key: str, value: object, expected: str) -> InputError:
        """The complaint about a value that is not as expected."""
        return InputError(f"{self.where}: '{key}' is {_shown(value)}; expected {expected}")

    def renamed(self, before: str, now: str) -> None:
        """Read a key that the last version called `before` under the name that it has now."""
        if before in self._values and now not in self._values:
            self._values[now] = self._values.pop(before)

    def text(
        self, key: str, default: Any = ..., *, choices: Collection[str] = (), filled: bool = False
    ) -> str:
        """A string; one of `choices` where there are any; not empty where `filled`, or if it is a source."""
        filled = filled or key == "source"
        expected = f"one of {', '.join(choices)}" if choices else "some text" if filled else "a string"
        value: str = self._take(key, (str,), expected, default)
        if value is not default and ((choices and value not in choices) or (filled and not value.strip())):
            raise InputError(f"{self.wrong(key, value, expected)}{_meant(value, choices)}")
        return value

    def integer(
        self, key: str, default: Any = ..., *, low: int | None = None, high: int | None = None
    ) -> int:
        """A whole number, from `low` to `high`."""
        expected = f"a whole number{_range(low, high)}"
        value: int = self._take(key, (int,), expected, default)
        return value if value is default else self._within(key, value, expected, low, high)

    def number(
        self,
        key: str,
        default: Any = ...,
        *,
        low: float | None = None,
        high: float | None = None,
        above: float | None = None,
    ) -> float:
        """Any finite number, from `low` (or more than `above`) to `high`."""
        expected = f"a number{_range(low, high)}" if above is None else f"a number above {above:g}"
        if above is not None and high is not None:
            expected += f", at most {high:g}"
        value = self._take(key, (int, float), expected, default)
        if value is default:
            return value  # type: ignore[no-any-return]
        self._within(key, value, expected, low, high)
        if above is not None and not value > above:
            raise self.wrong(key, value, expected)
        return float(value)

    def _within(
        self, key: str, value: _Number, expected: str, low: float | None, high: float | None
    ) -> _Number:
        if (low is not None and value < low) or (high is not None and value > high):
            raise self.wrong(key, value, expected)
        return value

    def flag(self, key: str, default: Any = ...) -> bool:
        """True or false."""
        return self._take(key, (bool,), "true or false", default)  # type: ignore[no-any-return]

    def texts(self, key: str, default: Any = ..., *, choices: Collection[str] = ()) -> tuple[str, ...]:
        """A list of strings; each one of `choices` where there are any."""
        values: tuple[str, ...] = self._list(key, (str,), "a list of strings", default)
        for value in values if choices else ():
            if value not in choices:
                expected = f"strings of {', '.join(choices)}"
                raise InputError(f"{self.wrong(key, value, expected)}{_meant(value, choices)}")
        return values

    def text_or_texts(self, key: str, default: Any = ...) -> tuple[str, ...]:
        """A string, or a list of strings where more than one will do."""
        expected = "a string or a list of strings"
        value = self._take(key, (str, list), expected, default)
        if value is default:
            return tuple(value)
        values = [value] if isinstance(value, str) else value
        if not values or not all(
            isinstance(each, str) and (each.strip() or key != "source") for each in values
        ):
            raise self.wrong(key, value, expected)
        return tuple(values)

    def integers(self, key: str, default: Any = ...) -> tuple[int, ...]:
        """A list of whole numbers."""
        return self._list(key, (int,), "a list of whole numbers", default)

    def points(self, key: str) -> tuple[tuple[float, float], ...]:
        """A list of pairs of numbers."""
        expected = "a list of pairs of numbers, such as [[1.5, 0.0], [0.9, 1.0]]"
        values = self._take(key, (list,), expected, ...)
        for pair in values:
            if not isinstance(pair, list) or len(pair) != 2 or not all(_is_number(each) for each in pair):
                raise self.wrong(key, values, expected)
        return tuple((float(a), float(b)) for a, b in values)

    def _list(self, key: str, kinds: tuple[type, ...], expected: str, default: Any) -> tuple[Any, ...]:
        values = self._take(key, (list,), expected, default)
        if values is default:
            return tuple(values)
        if not all(isinstance(value, kinds) and not isinstance(value, bool) for value in values):
            raise self.wrong(key, values, expected)
        return tuple(values)

    def table(self, key: str, default: Any = ...) -> Table:
        """A sub-table."""
        return Table(self._take(key, (dict,), "a table", default), f"{self.where}: {key}")

    def tables(self, key: str, default: Any = ...) -> list[Table]:
        """An array of tables."""
        expected = f"an array of tables ([[{key}]])"
        values = self._take(key, (list,), expected, default)
        if not all(isinstance(value, dict) for value in values):
            raise self.wrong(key, values, expected)
        return [Table(value, f"{self.where}: {key}[{i}]") for i, value in enumerate(values)]

    def named_tables(
        self, key: str, default: Any = ..., *, choices: Collection[str] = ()
    ) -> dict[str, Table]:
        """A table of tables; their names are of `choices` where there are any."""
        expected = f"tables such as [{key}.name]"
        values = self._take(key, (dict,), expected, default)
        for name, value in values.items():
            if not isinstance(value, dict):
                raise self.wrong(f"{key}.{_short(name)}", value, expected)
        for name in values if choices else ():
            if name not in choices:
                known = ", ".join(choices)
                meant = _meant(name, choices) or f"; available: {known}"
                raise InputError(f"{self.where}: unknown '{key}.{_short(name)}'{meant}")
        return {name: Table(value, f"{self.where}: {key}.{name}") for name, value in values.items()}

    def every_table(self) -> dict[str, Table]:
        """All that is left, each a table: for files whose tables are named freely."""
        values, self._values = self._values, {}
        for name, value in values.items():
            if not isinstance(value, dict):
                told = _short(name)
                raise InputError(
                    f"{self.where}: '{told}' is outside a table; write [{told}] with its values below"
                )
        return {name: Table(value, f"{self.where}: {name}") for name, value in values.items()}

    def plain(self) -> dict[str, Any]:
        """What is left, as plain data, without taking it."""
        return dict(self._values)

    def done(self) -> None:
        """Refuse keys that nobody asked for: a typing error must not pass in silence."""
        if not self._values:
            return
        known = list(dict.fromkeys(self._known))
        said = [f"'{_short(key)}'{_meant(key, known)}" for key in list(self._values)[:KEYS_TOLD]]
        hint = "" if any(_meant(key, known) for key in self._values) else f"; available: {', '.join(known)}"
        raise InputError(f"{self.where}: unknown {', '.join(said)}{hint}")


def _parsed(text: str, where: str) -> dict[str, Any]:
    import tomllib  # most files are ours, and kept as JSON

    try:
        values = tomllib.loads(text)
    except RecursionError:
        raise InputError(f"{where}: nested too deeply; {DEPTH_MAX} tables are the most") from None
    except ValueError as error:  # TOML's own errors, and an integer of thousands of digits
        raise InputError(f"{where}: not valid TOML: {' '.join(str(error).split())}") from None
    _check_values(values, where)
    return values


@cache
def _this_module() -> bytes:
    return Path(__file__).read_bytes()


def _kept(text: str, where: str) -> dict[str, Any]:
    """What a file of the program holds. Parsing all of them takes longer than many commands, and they never
    change: they are kept in the cache as JSON, by a hash of the text and of this module."""
    name = hashlib.sha256(_this_module() + text.encode()).hexdigest()
    try:
        file = cache_dir() / "descriptors" / f"{name}.json"
    except InputError:  # no place for a cache
        return _parsed(text, where)
    with contextlib.suppress(OSError, ValueError):  # not there yet, or half written when the power failed
        kept: object = json.loads(file.read_bytes())
        if isinstance(kept, dict):
            return kept
    values = _parsed(text, where)
    temporary = file.with_name(f".{name}.{os.getpid()}.{os.urandom(4).hex()}")
    # Nothing is lost if it cannot be kept, such as dates, which JSON has not.
    with contextlib.suppress(OSError, TypeError, InputError):
        content = json.dumps(values, separators=(",", ":"))
        make_dir(file.parent)
        try:
            temporary.write_text(content, encoding="utf-8")
            temporary.replace(file)
        finally:
            temporary.unlink(missing_ok=True)
    return values


def _check_values(value: object, where: str, depth: int = 0) -> None:
    """Refuse numbers that no figure has, and nesting that no descriptor needs, at any place."""
    if depth > DEPTH_MAX:
        raise InputError(
            f"{where[: SHOWN_CHARACTERS * 3]}: nested too deeply; {DEPTH_MAX} tables are the most"
        )
    if isinstance(value, dict):
        for key, inner in value.items():
            _check_values(inner, f"{where}: {_short(key)}", depth + 1)
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            _check_values(inner, f"{where}[{number}]", depth + 1)
    elif isinstance(value, float) and not math.isfinite(value):
        raise InputError(f"{where}: is {value}; expected a finite number")
    elif isinstance(value, int) and abs(value) > INTEGER_MAX:
        raise InputError(f"{where}: a whole number beyond 64 bits")


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _range(low: float | None, high: float | None) -> str:
    if low is not None and high is not None:
        return f" from {low:,} to {high:,}"
    return f" from {low:,} on" if low is not None else f" of at most {high:,}" if high is not None else ""


def _meant(name: str, known: Collection[str]) -> str:
    near = difflib.get_close_matches(name, known, n=2, cutoff=0.6)
    return f" (did you mean {' or '.join(map(repr, near))}?)" if near else ""


def _short(text: str) -> str:
    return text if len(text) <= SHOWN_CHARACTERS else f"{text[:SHOWN_CHARACTERS]}..."


def _shown(value: object) -> str:
    """A value in a complaint: one line, not all of a long one."""
    return _short(repr(value))
