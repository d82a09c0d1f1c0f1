"""Mutants of Python sources, by cosmic-ray's operators."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator, operator_names

# The first two need the names of variables, and put random numbers in. Identity in place of a comparison:
# whether equal numbers or strings are one object is the interpreter's affair, and ruff forbids it (F632).
NOT_USED = re.compile(
    r"core/(VariableReplacer|VariableInserter|ReplaceComparisonOperator_(?!Is)\w+_Is(Not)?|"
    r"ReplaceComparisonOperator_Is(Not)?_(?!Is)\w+)"
)


@dataclass(frozen=True)
class Place:
    """Where an operator can change something: its name, and the how-manieth of its places this is."""

    line: int
    column: int
    operator: str
    occurrence: int


def places(text: str) -> list[Place]:
    """Every place of a source that some operator changes, but for annotations, which nothing runs."""
    nodes = list(ast_nodes(get_ast(text)))
    silent = _annotations(text)
    found = []
    for name in operator_names():
        if NOT_USED.fullmatch(name):
            continue
        operator = get_operator(name)()
        positions = [position for node in nodes for position in operator.mutation_positions(node)]
        for occurrence, (start, _) in enumerate(positions):
            if not any(first <= start < last for first, last in silent):
                found.append(Place(start[0], start[1], name.removeprefix("core/"), occurrence))
    return found


def mutated(text: str, place: Place) -> str | None:
    """The source with that change; None when it is no Python then, or means the same."""
    changed = mutate_code(text, get_operator(f"core/{place.operator}")(), place.occurrence)
    if changed is None:
        return None
    try:
        same = ast.dump(ast.parse(changed)) == ast.dump(ast.parse(text))
        compile(changed, "mutant", "exec")
    except (SyntaxError, ValueError):
        return None
    return None if same else str(changed)


def _annotations(text: str) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """From where to where each annotation goes: lines from 1, columns from 0, as parso counts."""
    return [
        ((node.lineno, node.col_offset), (node.end_lineno or node.lineno, node.end_col_offset or 0))
        for node in _annotation_nodes(ast.parse(text))
    ]


def _annotation_nodes(tree: ast.AST) -> Iterator[ast.expr]:
    for node in ast.walk(tree):
        if isinstance(node, ast.AnnAssign) or (isinstance(node, ast.arg) and node.annotation is not None):
            yield node.annotation
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.returns is not None:
            yield node.returns
