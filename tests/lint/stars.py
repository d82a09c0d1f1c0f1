"""Records are made field by field: no starred tuple hides which value goes where."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from lint.sources import Source


def _decorated(node: ast.ClassDef) -> bool:
    names = (d.func if isinstance(d, ast.Call) else d for d in node.decorator_list)
    return any(isinstance(name, ast.Name) and name.id == "dataclass" for name in names)


def dataclasses_of(sources: Iterable[Source]) -> frozenset[str]:
    """Names of the dataclasses that modules define."""
    nodes = (node for source in sources for node in source.nodes)
    return frozenset(node.name for node in nodes if isinstance(node, ast.ClassDef) and _decorated(node))


def makers_of(source: Source, records: frozenset[str]) -> frozenset[str]:
    """Names of a module's functions that return one record, and of calls filled in by `partial`."""
    found = set()
    for node in source.nodes:
        if isinstance(node, ast.FunctionDef) and isinstance(node.returns, ast.Name):
            found |= {node.name} if node.returns.id in records and not node.args.vararg else set()
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
            made = node.value
            if ast.unparse(made.func) == "partial" and made.args and ast.unparse(made.args[0]) in records:
                found |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    return frozenset(found)


def starred(source: Source, records: frozenset[str]) -> Iterator[str]:
    """Each construction of a record with a starred argument, as LINE: CODE."""
    names = records | makers_of(source, records) | {"partial"}
    for node in source.nodes:
        if not isinstance(node, ast.Call) or not any(isinstance(a, ast.Starred) for a in node.args):
            continue
        named = isinstance(node.func, ast.Name) and node.func.id in names
        if named or (isinstance(node.func, ast.Attribute) and node.func.attr in records):
            yield f"{node.lineno}: {ast.unparse(node)}"


def offences(sources: tuple[Source, ...]) -> Iterator[str]:
    """Each starred construction, with its file."""
    records = dataclasses_of(sources)
    for source in sources:
        for found in starred(source, records):
            yield f"{source.place}:{found}: give the record its fields one by one"
