"""What `translate` reads of Python's source: modules, and the names and parameters in functions."""

from __future__ import annotations

import ast
import importlib.util
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path


class Untranslatable(Exception):
    """Python that the translator does not know, with its file and line."""


@dataclass
class SourceModule:
    """A module's source: what it defines, and where the names come from that it imports."""

    name: str
    path: Path
    defined: dict[str, ast.stmt] = field(default_factory=dict)
    imported: dict[str, str] = field(default_factory=dict)  # by the name here: the dotted name


@lru_cache(maxsize=64)
def read_module(name: str) -> SourceModule:
    """The module of that dotted name."""
    found = importlib.util.find_spec(name)
    assert found is not None
    assert found.origin is not None
    module = SourceModule(name, Path(found.origin))
    for node in ast.parse(module.path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            module.defined[node.name] = node
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            module.defined[node.targets[0].id] = node
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            module.defined[node.target.id] = node
        elif isinstance(node, ast.ImportFrom):
            module.imported |= {one.asname or one.name: f"{node.module}.{one.name}" for one in node.names}
        elif isinstance(node, ast.Import):
            module.imported |= {one.asname or one.name: one.name for one in node.names}
    return module


def parameters(node: ast.FunctionDef) -> dict[str, ast.expr | None]:
    """The parameters of a function in order, each with its default, if it has one."""
    places = node.args.args
    values: list[ast.expr | None] = [None] * (len(places) - len(node.args.defaults))
    named = zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
    ordered = zip(places, [*values, *node.args.defaults], strict=True)
    return {one.arg: value for one, value in (*ordered, *named)}


def stored(nodes: Iterable[ast.AST]) -> set[str]:
    """The names among these that are assigned."""
    return {one.id for one in nodes if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}


def local_names(body: Sequence[ast.stmt]) -> set[str]:
    """The local names of a function: not those of functions in it, nor of comprehensions but `:=`."""

    def walk(node: ast.AST) -> Iterator[ast.AST]:
        yield node
        inside = ast.iter_child_nodes(node)
        if isinstance(node, ast.comprehension):
            inside = iter((node.iter, *node.ifs))
        for child in inside:
            if not isinstance(child, ast.FunctionDef):
                yield from walk(child)

    return stored(
        one for statement in body if not isinstance(statement, ast.FunctionDef) for one in walk(statement)
    )


@lru_cache(maxsize=256)
def is_module(name: str) -> bool:
    """Whether a dotted name is that of a module."""
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:
        return False


def is_own(dotted: str) -> bool:
    """Whether a name is of a source to translate, neither built in nor of the standard library."""
    home, dot, _ = dotted.partition(".")
    return bool(dot) and home not in sys.stdlib_module_names
