"""As much of JSON Schema 2020-12 as our own schemas use; an unknown keyword is an error, not a pass."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

_TYPES: Mapping[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
}
_WORDS = {"$schema", "title", "description", "then", "else"}
_RULES = {"type", "enum", "const", "pattern", "minLength", "minimum", "minItems", "maxItems"}
_PARTS = {"required", "additionalProperties", "properties", "items", "allOf", "if"}


def problems(value: Any, schema: Mapping[str, Any], place: str = "$") -> Iterator[str]:
    """What a value has against a schema, each with its place; nothing where it is valid."""
    unknown = set(schema) - _WORDS - _RULES - _PARTS
    if unknown:
        raise ValueError(f"{place}: keywords that are not checked: {sorted(unknown)}")
    for rule in _RULES & set(schema):
        if not _keeps(rule, value, schema[rule]):
            yield f"{place}: {value!r} against {rule} {schema[rule]!r}"
    if isinstance(value, dict):
        yield from _object(value, schema, place)
    if isinstance(value, list) and "items" in schema:
        for number, item in enumerate(value):
            yield from problems(item, schema["items"], f"{place}[{number}]")
    for part in schema.get("allOf", ()):
        yield from problems(value, part, place)
    if "if" in schema:
        holds = not any(problems(value, schema["if"], place))
        yield from problems(value, schema.get("then" if holds else "else", {}), place)


def _object(value: Mapping[str, Any], schema: Mapping[str, Any], place: str) -> Iterator[str]:
    known = schema.get("properties", {})
    yield from (f"{place}: {name} is missing" for name in schema.get("required", ()) if name not in value)
    if schema.get("additionalProperties") is False:
        yield from (f"{place}: {name} is unknown" for name in value if name not in known)
    for name, own in known.items():
        if name in value:
            yield from problems(value[name], own, f"{place}.{name}")


def _keeps(rule: str, value: Any, limit: Any) -> bool:
    if rule == "type":
        named = [limit] if isinstance(limit, str) else limit
        fits = (type_ for name in named for type_ in _TYPES[name])
        return isinstance(value, tuple(fits)) and (not isinstance(value, bool) or "boolean" in named)
    if rule in ("enum", "const"):
        return value in (limit if rule == "enum" else [limit])
    if rule in ("pattern", "minLength"):
        if not isinstance(value, str):
            return True
        return bool(re.search(limit, value)) if rule == "pattern" else len(value) >= limit
    if rule == "minimum":
        return not isinstance(value, int | float) or value >= limit
    return not isinstance(value, list) or (len(value) >= limit if rule == "minItems" else len(value) <= limit)
