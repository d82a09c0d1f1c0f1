"""A function has at most 60 lines of statements, or a comment above it that begins with `# Long:`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from lint.sources import Source

LINES_MAX = 60
MARK = "# Long: "


def offences(sources: tuple[Source, ...]) -> Iterator[str]:
    """Each longer one without a reason, and each reason of one that is no longer long."""
    for source in sources:
        lines = source.text.splitlines()
        marked = {number for number, line in enumerate(lines, 1) if line.lstrip().startswith(MARK)}
        for node in source.nodes:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and _statements(node) > LINES_MAX:
                above = min([node.lineno, *(each.lineno for each in node.decorator_list)]) - 1
                if above not in marked:
                    found = f"{node.name}: {_statements(node)} lines; divide it, or give a reason above it"
                    yield f"{source.place}:{node.lineno}: {found}"
                marked.discard(above)
        yield from (f"{source.place}:{number}: above no long function" for number in sorted(marked))


def _statements(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines of a function without its signature and docstring."""
    body = node.body[1:] if ast.get_docstring(node, clean=False) is not None else node.body
    return (node.end_lineno or 0) - body[0].lineno + 1 if body else 0
