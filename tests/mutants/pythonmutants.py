"""Mutants of Python sources, by cosmic-ray's operators."""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

# The first two need the names of variables, and put random numbers in. Identity in place of a comparison:
# whether equal numbers or strings are one object is the interpreter's affair, and ruff forbids it (F632).
# A power of two large numbers never ends. Exceptions are replaced below (EXCEPTION), since cosmic-ray's own
# operator cuts a dotted name in two.
NOT_USED = re.compile(
    r"core/(VariableReplacer|VariableInserter|ReplaceBinaryOperator_\w+_Pow|ReplaceComparisonOperator_(?!Is)\w+_Is(Not)?|"
    r"ReplaceComparisonOperator_Is(Not)?_(?!Is)\w+)"
)

Names = Callable[[], Mapping[str, int]]
_CAPITALS = re.compile(r"_?[A-Z][A-Z0-9_]*").fullmatch

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
        same = _mean_the_same(ast.parse(text), ast.parse(changed), lambda: named(text))
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


CONSTANTS = {name: importlib.import_module(name) for name in ("os", "fcntl", "re", "stat")}
SET_BITS = (ast.BitOr, ast.BitXor, ast.Add)
"""Operators that do the same with numbers that have no bit in common: nothing is carried."""


def _mean_the_same(one: ast.AST, other: ast.AST, names: Names = dict) -> bool:
    """Whether two trees are equal except for what has the same value for all inputs: a C compiler folds
    such things, and so finds the same for C.

    - Constant expressions: os.O_RDWR | os.O_CREAT is os.O_RDWR + os.O_CREAT.
    - Sums of numbers without a common bit: x << 4 | y & 15 is x << 4 ^ y & 15.
    - Comparisons with the least or the greatest number that there can be: x & 15 == 0 is x & 15 <= 0.

    `names` gives the values of the module's constants; it is asked only where it may matter.
    """
    if ast.dump(one) == ast.dump(other):
        return True
    if isinstance(one, ast.expr) and isinstance(other, ast.expr):
        values = [_constant(node, names) for node in (one, other)]
        if values[0] is not None and values[0] == values[1]:
            return True
    if isinstance(one, ast.BinOp) and isinstance(other, ast.BinOp) and _same_sum(one, other):
        return True
    if isinstance(one, ast.Compare) and isinstance(other, ast.Compare) and _same_comparison(one, other):
        return True
    if type(one) is not type(other):
        return False
    parts = [list(ast.iter_child_nodes(node)) for node in (one, other)]
    kept = [{k: v for k, v in ast.iter_fields(node) if not _holds_nodes(v)} for node in (one, other)]
    return (
        kept[0] == kept[1]
        and len(parts[0]) == len(parts[1])
        and all(_mean_the_same(*pair, names) for pair in zip(*parts, strict=True))
    )


def _holds_nodes(value: object) -> bool:
    return isinstance(value, ast.AST) or (
        isinstance(value, list) and any(isinstance(item, ast.AST) for item in value)
    )


def _same_sum(one: ast.BinOp, other: ast.BinOp) -> bool:
    parts = [[ast.dump(node.left), ast.dump(node.right)] for node in (one, other)]
    sums = isinstance(one.op, SET_BITS) and isinstance(other.op, SET_BITS)
    return sums and parts[0] == parts[1] and not _bits(one.left) & _bits(one.right)


def _same_comparison(one: ast.Compare, other: ast.Compare) -> bool:
    compared = [[ast.dump(part) for part in (node.left, *node.comparators)] for node in (one, other)]
    limit = one.comparators[0]
    if compared[0] != compared[1] or len(one.ops) > 1 or not isinstance(limit, ast.Constant):
        return False
    ops, bits = {type(one.ops[0]), type(other.ops[0])}, _bits(one.left)
    if limit.value == 0 and limit.value is not False and (bits >= 0 or _counts(one.left)):
        return ops in ({ast.Eq, ast.LtE}, {ast.NotEq, ast.Gt})
    return limit.value == bits >= 0 and ops in ({ast.Eq, ast.GtE}, {ast.NotEq, ast.Lt})


def _counts(node: ast.expr) -> bool:
    """Whether it is a length, or what is left of a division by a positive number: never below 0."""
    if isinstance(node, ast.Call):
        return ast.unparse(node.func) == "len"
    by = node.right if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod) else None
    return isinstance(by, ast.Constant) and isinstance(by.value, int) and by.value > 0


def _bits(node: ast.expr) -> int:
    """The bits that may be set in a whole number, as a number; -1 (all, and the sign) where unknown."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, int) and not isinstance(node.value, bool) else -1
    if not isinstance(node, ast.BinOp):
        return -1
    left, right = _bits(node.left), _bits(node.right)
    by = node.right.value if isinstance(node.right, ast.Constant) else None
    if isinstance(node.op, ast.BitAnd):
        return left & right
    if isinstance(node.op, ast.BitOr | ast.BitXor):
        return left | right
    if isinstance(node.op, ast.LShift | ast.RShift) and isinstance(by, int) and 0 <= by <= 64:
        return left << by if isinstance(node.op, ast.LShift) else left >> by
    return -1


def _constant(node: ast.expr, names: Names) -> int | None:
    """The value of an expression of whole numbers and of constants; None for any other."""
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
    parts = list(ast.walk(node))
    used = {part.id for part in parts if isinstance(part, ast.Name)}
    if not all(isinstance(part, allowed) for part in parts) or not all(map(_CAPITALS, used - {*CONSTANTS})):
        return None
    known = {**CONSTANTS, **(names() if used - {*CONSTANTS} else {})}
    if not used <= {*known}:
        return None
    try:
        value = eval(compile(ast.Expression(node), "constant", "eval"), {"__builtins__": {}, **known})
    except Exception:
        return None
    return value if isinstance(value, int) else None


@lru_cache(maxsize=64)
def named(text: str) -> dict[str, int]:
    """The whole numbers that a module has under names in capitals: its own, and those that it imports."""
    tree = ast.parse(text)
    found: dict[str, int] = {}
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("motecrypt."):
            wanted = [
                (alias.name, alias.asname or alias.name) for alias in node.names if _CAPITALS(alias.name)
            ]
            module = importlib.import_module(str(node.module)) if wanted else None
            found |= {own: getattr(module, name, None) for name, own in wanted}
        elif isinstance(node, ast.Assign) and len(node.targets) == 1:
            names, values = (
                part.elts if isinstance(part, ast.Tuple) else [part] for part in (node.targets[0], node.value)
            )
            for name, value in zip(names, values, strict=False):
                if isinstance(name, ast.Name) and isinstance(value, ast.Constant) and _CAPITALS(name.id):
                    found[name.id] = value.value
    return {name: value for name, value in found.items() if isinstance(value, int)}


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
