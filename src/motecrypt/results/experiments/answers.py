"""How stored answers are read: each kind is a frozen dataclass, and what is not of its shape is not there.

The shape is the dataclass itself: its fields, with their types, are the keys of the stored JSON. Keys that
it does not name are left alone, so that an answer may hold more than views need.
"""

from __future__ import annotations

import math
import types
import typing
from collections.abc import Hashable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import lru_cache
from typing import Any, Self


class _Malformed(Exception):
    """Something stored is not of the shape asked for."""


class Answer:
    """The outcome of an experiment, as views read it. Subclasses are frozen dataclasses."""

    @classmethod
    def from_json(cls, stored: object) -> Self | None:
        """The answer, or None where the stored JSON is not of this shape."""
        try:
            read = _read(cls, stored)
        except (_Malformed, RecursionError):
            return None
        assert isinstance(read, cls)
        return read


def _read(kind: Any, value: object) -> object:
    """A value of a type: a dataclass, number, text, flag, None, or tuples, mappings and unions of these."""
    if kind is Any:
        return value
    if isinstance(kind, type) and is_dataclass(kind):
        return _record(kind, value)
    origin, parts = typing.get_origin(kind), typing.get_args(kind)
    if origin in (typing.Union, types.UnionType):
        return _first(parts, value)
    if origin is tuple and isinstance(value, list):
        if len(parts) == 2 and parts[1] is ...:
            return tuple(_read(parts[0], each) for each in value)
        if len(parts) == len(value):
            return tuple(_read(part, each) for part, each in zip(parts, value, strict=True))
    if origin is Mapping and isinstance(value, dict):
        return {key: _read(parts[1], each) for key, each in value.items()}
    if origin is None and _is(kind, value):
        return float(value) if kind is float else value  # type: ignore[arg-type]
    raise _Malformed


def _is(kind: Any, value: object) -> bool:
    if kind is float:
        return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    if kind is int:
        return isinstance(value, int) and not isinstance(value, bool)
    return isinstance(kind, type) and isinstance(value, kind)


def _first(kinds: tuple[Any, ...], value: object) -> object:
    for kind in kinds:
        try:
            return _read(kind, value)
        except _Malformed:
            continue
    raise _Malformed


def _record(kind: type[Any], value: object) -> object:
    if not isinstance(value, dict):
        raise _Malformed
    hints = _hints(typing.cast(Hashable, kind))
    taken = {}
    for field in fields(kind):
        if field.name in value:
            taken[field.name] = _read(hints[field.name], value[field.name])
        elif field.default is MISSING and field.default_factory is MISSING:
            raise _Malformed
    return kind(**taken)


@lru_cache(maxsize=256)
def _hints(kind: Hashable) -> Mapping[str, Any]:
    """The types of a record's fields; reading them is slow, and they stay."""
    return typing.get_type_hints(kind)
