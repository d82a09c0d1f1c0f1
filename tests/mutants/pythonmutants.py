"""Mutants of Python sources, by cosmic-ray's operators."""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Iterator
from dataclasses import dataclass

# The first two need the names of variables, and put random numbers in. Identity in place of a comparison:
# whether equal numbers or strings are one object is the interpreter's affair, and ruff forbids it (F632).
# A power of two large numbers never ends. Exceptions are replaced below (EXCEPTION), since cosmic-ray's own
# operator cuts a dotted name in two.
NOT_USED = re.compile(
    r"core/(VariableReplacer|VariableInserter|ReplaceBinaryOperator_\w+_Pow|ReplaceComparisonOperator_(?!Is)\w+_Is(Not)?|"
    r"ReplaceComparisonOperator_Is(Not)?_(?!Is)\w+)"
)

EXCEPTION = "ExceptionReplacer"
NEVER_RAISED = "CosmicRayTestingException"
"""What a handler catches in place of an exception: a name that is not defined, hence an error when asked."""


@dataclass(frozen=True)
class Place:
    """Where an operator can change something: its name, and the how-manieth of its places this is."""

    line: int
    column: int
    operator: str
    occurrence: int


def places(text: str) -> list[Place]:
    """Every place of a source that some operator changes, except where it alters no outcome: annotations
    and their imports, which nothing runs, and how many answers a cache keeps."""
    from cosmic_ray.ast import ast_nodes, get_ast
    from cosmic_ray.plugins import get_operator, operator_names

    nodes = list(ast_nodes(get_ast(text)))
    silent = _silent(text)
    found = []
    for name in operator_names():
        if NOT_USED.fullmatch(name):
            continue
        if name == f"core/{EXCEPTION}":
            positions = [((type_.lineno, type_.col_offset), None) for type_ in caught(text)]
        else:
            operator = get_operator(name)()
            positions = [position for node in nodes for position in operator.mutation_positions(node)]
        for occurrence, (start, _) in enumerate(positions):
            if not any(first <= start < last for first, last in silent):
                found.append(Place(start[0], start[1], name.removeprefix("core/"), occurrence))
    return found


def mutated(text: str, place: Place) -> str | None:
    """The source with that change; None if the result is not valid Python, or means the same."""
    if place.operator == EXCEPTION:
        changed = _catching_nothing(text, caught(text)[place.occurrence])
    else:
        from cosmic_ray.mutating import mutate_code
        from cosmic_ray.plugins import get_operator

        changed = mutate_code(text, get_operator(f"core/{place.operator}")(), place.occurrence)
    if changed is None:
        return None
    try:
        same = _mean_the_same(ast.parse(text), ast.parse(changed))
        compile(changed, "mutant", "exec")
    except (SyntaxError, ValueError):
        return None
    return None if same else str(changed)


def caught(text: str) -> list[ast.expr]:
    """Every exception that some handler names, in the order of the source."""
    handlers = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.ExceptHandler)]
    types = [handler.type for handler in handlers if handler.type is not None]
    named = [name for type_ in types for name in (type_.elts if isinstance(type_, ast.Tuple) else [type_])]
    return sorted(named, key=lambda name: (name.lineno, name.col_offset))


def _catching_nothing(text: str, name: ast.expr) -> str:
    assert name.end_lineno is not None and name.end_col_offset is not None
    lines = text.encode().splitlines(keepends=True)  # columns are counted in bytes
    before = b"".join(lines[: name.lineno - 1]) + lines[name.lineno - 1][: name.col_offset]
    after = lines[name.end_lineno - 1][name.end_col_offset :] + b"".join(lines[name.end_lineno :])
    return (before + NEVER_RAISED.encode() + after).decode()


CONSTANTS = {name: importlib.import_module(name) for name in ("os", "fcntl", "stat")}


def _mean_the_same(one: ast.AST, other: ast.AST) -> bool:
    """Whether two trees are equal except for constant expressions of equal value: os.O_RDWR | os.O_CREAT is
    os.O_RDWR + os.O_CREAT. A C compiler folds such things, and so finds the same for C."""
    if ast.dump(one) == ast.dump(other):
        return True
    if isinstance(one, ast.expr) and isinstance(other, ast.expr):
        values = [_constant(node) for node in (one, other)]
        if values[0] is not None and values[0] == values[1]:
            return True
    if type(one) is not type(other):
        return False
    parts = [list(ast.iter_child_nodes(node)) for node in (one, other)]
    kept = [{k: v for k, v in ast.iter_fields(node) if not _holds_nodes(v)} for node in (one, other)]
    return (
        kept[0] == kept[1] and len(parts[0]) == len(parts[1]) and all(map(_mean_the_same, parts[0], parts[1]))
    )


def _holds_nodes(value: object) -> bool:
    return isinstance(value, ast.AST) or (
        isinstance(value, list) and any(isinstance(item, ast.AST) for item in value)
    )


def _constant(node: ast.expr) -> int | None:
    """The value of an expression of whole numbers and of the system's constants; None for any other."""
    allowed = (
        ast.BinOp,
        ast.UnaryOp,
        ast.operator,
        ast.unaryop,
        ast.Constant,
        ast.Attribute,
        ast.Name,
        ast.Load,
    )
    if not isinstance(node, (ast.BinOp, ast.UnaryOp)):
        return None
    for part in ast.walk(node):
        if not isinstance(part, allowed) or (isinstance(part, ast.Name) and part.id not in CONSTANTS):
            return None
    try:
        value = eval(compile(ast.Expression(node), "constant", "eval"), {"__builtins__": {}, **CONSTANTS})
    except Exception:
        return None
    return value if isinstance(value, int) else None


def _silent(text: str) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """From where to where each annotation, size of a cache and `TYPE_CHECKING` goes: lines from 1, columns
    from 0, as parso counts."""
    tree = ast.parse(text)
    return [
        ((node.lineno, node.col_offset), (node.end_lineno or node.lineno, node.end_col_offset or 0))
        for node in (*_annotation_nodes(tree), *_cache_sizes(tree), *_hashes(tree), *_type_checks(tree))
    ]


def _type_checks(tree: ast.AST) -> Iterator[ast.expr]:
    """Each `if TYPE_CHECKING`: what is imported below it is for annotations."""
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            yield node.test


def _cache_sizes(tree: ast.AST) -> Iterator[ast.expr]:
    """The number in each lru_cache(maxsize=...): it decides what is computed again, not what results."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("lru_cache", "functools.lru_cache"):
            yield from (given.value for given in node.keywords if given.arg == "maxsize")


def _hashes(tree: ast.AST) -> Iterator[ast.expr]:
    """What `hash=` says of a field of a dataclass: equal records have equal hashes with and without it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("field", "dataclasses.field"):
            yield from (given.value for given in node.keywords if given.arg == "hash")


def _annotation_nodes(tree: ast.AST) -> Iterator[ast.expr]:
    for node in ast.walk(tree):
        if isinstance(node, ast.AnnAssign) or (isinstance(node, ast.arg) and node.annotation is not None):
            yield node.annotation
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.returns is not None:
            yield node.returns
