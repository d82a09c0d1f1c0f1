"""Every constant and every default of the package, as text kept in tests/golden/constants.json.

Limits, deadlines, sizes and seeds are decided, not typed by chance. After a change that is meant:

    PYTHONPATH=src:tests .venv/bin/python tests/golden_constants.py && git diff tests/golden/constants.json
"""

from __future__ import annotations

import ast
import dataclasses
import enum
import hashlib
import importlib
import inspect
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import motecrypt

PLACE = Path(__file__).parent / "golden" / "constants.json"
COMMAND = "PYTHONPATH=src:tests .venv/bin/python tests/golden_constants.py"
PACKAGE = Path(motecrypt.__file__).parent
#: Longer values are kept as hashes.
LONGEST = 300
#: The commands' words are in docs/reference.md; versions change with each release.
LEFT_OUT = ("cli", "setup", "firmware", "__init__.py", "__main__.py")


def modules() -> Iterator[tuple[str, ModuleType]]:
    """Every module of the package by its path."""
    for path in sorted(PACKAGE.rglob("*.py")):
        local = path.relative_to(PACKAGE)
        if local.parts[0] not in LEFT_OUT:
            parts = [part for part in local.with_suffix("").parts if part != "__init__"]
            yield local.as_posix(), importlib.import_module(".".join(("motecrypt", *parts)))


def constants_of(module: ModuleType) -> dict[str, Any]:
    """What a module gives names to at its outermost level, and the defaults of what it defines."""
    source = inspect.getsource(module)
    found = {}
    for node in ast.parse(source).body:
        targets = node.targets if isinstance(node, ast.Assign) else []
        if isinstance(node, ast.AnnAssign) and node.value is not None:
            targets = [node.target]
        names = [n for t in targets for n in (t.elts if isinstance(t, ast.Tuple) else [t])]
        for name in names:
            if isinstance(name, ast.Name) and not name.id.startswith("__"):
                found[name.id] = told(getattr(module, name.id))
    for name, value in vars(module).items():
        if getattr(value, "__module__", None) != module.__name__:
            continue
        value = inspect.unwrap(value) if callable(value) else value
        if isinstance(value, FunctionType):
            found |= _defaults(name, value)
        elif isinstance(value, type):
            found |= _of_class(name, value)
    return found


def _of_class(name: str, kind: type) -> dict[str, Any]:
    found = {}
    for part, value in vars(kind).items():
        function = value.__func__ if isinstance(value, classmethod | staticmethod) else value
        if isinstance(function, FunctionType) and function.__module__ == kind.__module__:
            found |= _defaults(f"{name}.{part}", function)
    if dataclasses.is_dataclass(kind):
        for field in dataclasses.fields(kind):
            if field.default is not dataclasses.MISSING:
                found[f"{name}.{field.name}"] = told(field.default)
    if issubclass(kind, enum.Enum):
        found |= {f"{name}.{member.name}": told(member.value) for member in kind}
    return found


def _defaults(name: str, function: FunctionType) -> dict[str, Any]:
    given = inspect.signature(function).parameters.values()
    if name.endswith("__init__") and "<" in function.__code__.co_filename:
        return {}  # made by dataclass: its fields are told
    return {f"{name}({p.name})": told(p.default) for p in given if p.default is not p.empty}


def told(value: Any) -> Any:
    """A value as text: numbers, words, patterns, and what is made of them; None for anything else."""
    if isinstance(value, enum.Enum):
        return str(value)
    if value is None or isinstance(value, bool | int | float | str | bytes):
        return repr(value)
    if isinstance(value, re.Pattern):
        return [repr(value.pattern), int(value.flags)]
    if isinstance(value, Path):
        return str(value.relative_to(PACKAGE)) if value.is_relative_to(PACKAGE) else str(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: told(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(told(key)): told(entry) for key, entry in value.items()}
    if isinstance(value, set | frozenset):
        return sorted(map(str, map(told, value)))
    if isinstance(value, tuple | list | range):
        return [told(entry) for entry in value]
    return None


def written() -> str:
    """JSON with a line for each name."""
    parts = []
    for path, module in modules():
        told_of = {name: value for name, value in constants_of(module).items() if value is not None}
        entries = [f"  {json.dumps(n)}: {_short(v)}" for n, v in sorted(told_of.items())]
        if entries:
            parts.append(f"{json.dumps(path)}: {{\n" + ",\n".join(entries) + "\n}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def _short(value: Any) -> str:
    """JSON of a value; of a long one its beginning and a hash of the whole."""
    text = json.dumps(value)
    if len(text) <= LONGEST:
        return text
    return json.dumps(f"{text[:60]}... {hashlib.sha256(text.encode()).hexdigest()[:16]}")


def main() -> None:
    """Write the file anew."""
    PLACE.write_text(written())


if __name__ == "__main__":
    main()
