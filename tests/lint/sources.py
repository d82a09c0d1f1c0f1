"""The Python modules of the package, each read and parsed only once."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "motecrypt"


@dataclass(frozen=True)
class Source:
    """A module: where it is, as a path from the package, its text, its syntax, and all nodes of that."""

    place: Path
    text: str
    tree: ast.Module
    nodes: tuple[ast.AST, ...]


def parsed(text: str, place: Path = Path("made.py")) -> Source:
    """A module of this text."""
    tree = ast.parse(text)
    return Source(place, text, tree, tuple(ast.walk(tree)))


@cache
def everything() -> tuple[Source, ...]:
    """All of them, in the order of their paths."""
    paths = [path.relative_to(PACKAGE) for path in sorted(PACKAGE.rglob("*.py"))]
    return tuple(parsed((PACKAGE / path).read_text(), path) for path in paths)


@cache
def modules() -> tuple[Source, ...]:
    """All but those of a cipher's or a library's folder, such as oracles."""
    return tuple(source for source in everything() if "firmware" not in source.place.parts)
