"""Records are made field by field: no starred tuple hides which value goes where. Read from the syntax."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "src" / "motecrypt"
MODULES = [p for p in sorted(PACKAGE.rglob("*.py")) if not {"firmware", "__pycache__"} & set(p.parts)]


def _decorated(node: ast.ClassDef) -> bool:
    names = (d.func if isinstance(d, ast.Call) else d for d in node.decorator_list)
    return any(isinstance(name, ast.Name) and name.id == "dataclass" for name in names)


def dataclasses_of(trees: Iterable[ast.AST]) -> frozenset[str]:
    """Names of the dataclasses that modules define."""
    nodes = (node for tree in trees for node in ast.walk(tree))
    return frozenset(node.name for node in nodes if isinstance(node, ast.ClassDef) and _decorated(node))


def makers_of(tree: ast.AST, records: frozenset[str]) -> frozenset[str]:
    """Names of a module's functions that return one record, and of calls filled in by `partial`."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and isinstance(node.returns, ast.Name):
            found |= {node.name} if node.returns.id in records and not node.args.vararg else set()
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
            made = node.value
            if ast.unparse(made.func) == "partial" and made.args and ast.unparse(made.args[0]) in records:
                found |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    return frozenset(found)


def starred(tree: ast.AST, records: frozenset[str]) -> Iterator[str]:
    """Each construction of a record with a starred argument, as LINE: CODE."""
    names = records | makers_of(tree, records) | {"partial"}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not any(isinstance(a, ast.Starred) for a in node.args):
            continue
        named = isinstance(node.func, ast.Name) and node.func.id in names
        if named or (isinstance(node.func, ast.Attribute) and node.func.attr in records):
            yield f"{node.lineno}: {ast.unparse(node)}"


RECORDS = dataclasses_of(ast.parse(path.read_text()) for path in MODULES)


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_no_record_is_made_of_a_starred_tuple(path: Path) -> None:
    assert list(starred(ast.parse(path.read_text()), RECORDS)) == []


def test_the_model_is_among_the_records() -> None:
    assert {"Cell", "Comparison", "Measurement", "Finding", "Section", "Cipher", "Device"} <= RECORDS


@pytest.mark.parametrize(
    "source",
    [
        "Comparison(*place, None, None)",
        "rows.append(Cell(a, *rest))",
        "model.Cell(*rest)",
        "def row(a) -> Comparison: ...\nrow(*(1, 2), note='x')",
        "at = partial(Comparison, source=1)\nat(*rest)",
        "at = partial(Comparison, *place)",
    ],
)
def test_each_way_to_star_is_seen(source: str) -> None:
    assert len(list(starred(ast.parse(source), RECORDS))) == 1


@pytest.mark.parametrize("source", ["print(*rows)", "Comparison(source=1)", "[*rows, Cell(a)]"])
def test_other_stars_pass(source: str) -> None:
    assert list(starred(ast.parse(source), RECORDS)) == []
