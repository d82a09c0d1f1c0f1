"""Reads and validates the TOML that describes ciphers, libraries, devices and radios.

Every complaint names the file, the key and what was expected there. Knows nothing of what the
descriptors mean.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from motecrypt.errors import InputError


class Table:
    """One TOML table whose keys are taken one by one; `done` refuses what nobody took."""

    def __init__(self, values: Mapping[str, Any], where: str) -> None:
        self._values = dict(values)
        self.where = where

    @classmethod
    def read(cls, path: Path) -> Table:
        """Parse a file; raises InputError with file and line."""
        try:
            return cls(tomllib.loads(path.read_text(encoding="utf-8")), str(path))
        except OSError as error:
            raise InputError(f"{path}: cannot be read: {error.strerror}") from error
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise InputError(f"{path}: not valid TOML: {error}") from error

    def _take(self, key: str, kinds: tuple[type, ...], expected: str, default: Any) -> Any:
        if key not in self._values:
            if default is ...:
                raise InputError(f"{self.where}: '{key}' is missing; expected {expected}")
            return default
        value = self._values.pop(key)
        if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
            raise InputError(f"{self.where}: '{key}' is {value!r}; expected {expected}")
        return value

    def text(self, key: str, default: Any = ...) -> str:
        """A string."""
        return self._take(key, (str,), "a string", default)  # type: ignore[no-any-return]

    def integer(self, key: str, default: Any = ...) -> int:
        """A whole number."""
        return self._take(key, (int,), "a whole number", default)  # type: ignore[no-any-return]

    def number(self, key: str, default: Any = ...) -> float:
        """Any number."""
        value = self._take(key, (int, float), "a number", default)
        return value if value is default else float(value)

    def flag(self, key: str, default: Any = ...) -> bool:
        """True or false."""
        return self._take(key, (bool,), "true or false", default)  # type: ignore[no-any-return]

    def texts(self, key: str, default: Any = ...) -> tuple[str, ...]:
        """A list of strings."""
        return self._list(key, str, "a list of strings", default)

    def text_or_texts(self, key: str, default: Any = ...) -> tuple[str, ...]:
        """A string, or a list of strings where more than one will do."""
        expected = "a string or a list of strings"
        value = self._take(key, (str, list), expected, default)
        if value is default:
            return tuple(value)
        values = [value] if isinstance(value, str) else value
        if not values or not all(isinstance(each, str) for each in values):
            raise InputError(f"{self.where}: '{key}' is {value!r}; expected {expected}")
        return tuple(values)

    def integers(self, key: str, default: Any = ...) -> tuple[int, ...]:
        """A list of whole numbers."""
        return self._list(key, int, "a list of whole numbers", default)

    def _list(self, key: str, kind: type, expected: str, default: Any) -> tuple[Any, ...]:
        values = self._take(key, (list,), expected, default)
        if values is default:
            return tuple(values)
        if not all(isinstance(value, kind) and not isinstance(value, bool) for value in values):
            raise InputError(f"{self.where}: '{key}' is {values!r}; expected {expected}")
        return tuple(values)

    def table(self, key: str, default: Any = ...) -> Table:
        """A sub-table."""
        return Table(self._take(key, (dict,), "a table", default), f"{self.where}: {key}")

    def tables(self, key: str, default: Any = ...) -> list[Table]:
        """An array of tables."""
        values = self._take(key, (list,), "an array of tables", default)
        if not all(isinstance(value, dict) for value in values):
            raise InputError(f"{self.where}: '{key}' is {values!r}; expected an array of tables ([[{key}]])")
        return [Table(value, f"{self.where}: {key}[{i}]") for i, value in enumerate(values)]

    def named_tables(self, key: str, default: Any = ...) -> dict[str, Table]:
        """A table of tables."""
        values = self._take(key, (dict,), "a table of tables", default)
        if not all(isinstance(value, dict) for value in values.values()):
            raise InputError(f"{self.where}: '{key}' is {values!r}; expected tables such as [{key}.name]")
        return {name: Table(value, f"{self.where}: {key}.{name}") for name, value in values.items()}

    def rest(self) -> dict[str, Any]:
        """Everything not yet taken, as plain data."""
        values, self._values = self._values, {}
        return values

    def done(self) -> None:
        """Refuse keys that nobody asked for: a typing error must not pass in silence."""
        if self._values:
            unknown = ", ".join(f"'{key}'" for key in self._values)
            raise InputError(f"{self.where}: unknown {unknown}; see docs for the keys there are")
