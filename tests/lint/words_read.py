"""Code decides by kinds and figures, never by the words of a message."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from lint.sources import Source

PROSE = ("reason", "note", "verdict_text", "sentence", "sentences", "verdict", "row", "errors")
#: Words of another program, read to choose what a message says and for nothing else.
ONLY_TELLS = ("_avrdude_reason",)
#: Variables that hold prose: to compare them with a constant is a reading, too.
NAMED = ("reason", "note")
READS_TEXT = ("startswith", "endswith", "partition", "rpartition", "split", "rsplit", "find", "index")
READS_TEXT += ("removeprefix", "removesuffix", "count")
READS_PATTERN = ("search", "match", "fullmatch", "findall", "finditer", "sub", "split")


def _is_prose(node: ast.expr, errors: frozenset[str]) -> bool:
    """`str(error)`, `x.reason`, or either in lower case or cut."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "str":
        return len(node.args) == 1 and isinstance(node.args[0], ast.Name) and node.args[0].id in errors
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return node.func.attr in ("lower", "upper", "strip") and _is_prose(node.func.value, errors)
    if isinstance(node, ast.Subscript):
        return _is_prose(node.value, errors)
    if isinstance(node, ast.Name):
        return node.id in NAMED
    return isinstance(node, ast.Attribute) and node.attr in PROSE


def _compared(node: ast.expr) -> bool:
    """A reason or a note by a name of its own (an attribute may be a code)."""
    return isinstance(node, ast.Name) and node.id in NAMED


def _constant(node: ast.expr) -> bool:
    """Words, or a constant by its name; empty words ask whether there are any."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str) and node.value != ""
    name = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
    return name.isupper()


def _errors(nodes: Sequence[ast.AST]) -> frozenset[str]:
    """Names that an `except ... as NAME` binds, and parameters whose annotation names an error."""
    caught = {n.name for n in nodes if isinstance(n, ast.ExceptHandler) and n.name}
    given = {
        n.arg
        for n in nodes
        if isinstance(n, ast.arg)
        and n.annotation is not None
        and re.search("Error|Exception", ast.unparse(n.annotation))
    }
    return frozenset(caught | given)


def readings(source: Source) -> Iterator[str]:
    """Each place where the text of an error, a reason or a note is searched, as LINE: CODE."""
    telling = [n for n in source.tree.body if isinstance(n, ast.FunctionDef) and n.name in ONLY_TELLS]
    left_out = {id(n) for function in telling for n in ast.walk(function)}
    nodes = [n for n in source.nodes if id(n) not in left_out] if left_out else source.nodes
    errors = _errors(nodes)
    texts = {
        target.id
        for n in nodes
        if isinstance(n, ast.Assign) and _is_prose(n.value, errors)
        for target in n.targets
        if isinstance(target, ast.Name)
    }

    def prose(node: ast.expr) -> bool:
        return _is_prose(node, errors) or (isinstance(node, ast.Name) and node.id in texts)

    for node in nodes:
        found = False
        if isinstance(node, ast.Compare):
            contained = [
                right
                for op, right in zip(node.ops, node.comparators, strict=True)
                if isinstance(op, ast.In | ast.NotIn)
            ]
            found = any(prose(right) for right in contained)
            sides = (node.left, *node.comparators)
            if any(isinstance(op, ast.Eq | ast.NotEq) for op in node.ops):
                found = found or (any(map(_compared, sides)) and any(map(_constant, sides)))
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if node.func.attr in READS_TEXT and (
                node.args or node.func.attr != "split"
            ):  # split(): white space
                found = prose(node.func.value)
            if node.func.attr in READS_PATTERN:
                found = found or any(prose(argument) for argument in node.args)
        if found:
            yield f"{node.lineno}: {ast.unparse(node)}"


def offences(sources: tuple[Source, ...]) -> Iterator[str]:
    """Each such place, with its file."""
    for source in sources:
        for found in readings(source):
            yield f"{source.place}:{found}: decide by a kind or a figure, not by the words of a message"
