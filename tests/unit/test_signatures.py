"""House rules of what functions take: options by name, and what is dangerous only when asked for."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from lint.sources import everything

#: What overwrites, spends, skips a check or lets something through.
DANGEROUS = {"force", "allow_costly", "costly", "full", "insecure", "restored"}


def functions() -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    for source in everything():
        for node in source.nodes:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield f"{source.place.as_posix()}: {node.name}", node


def options(node: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[tuple[str, ast.expr | None]]:
    given = node.args
    ordered = [*given.posonlyargs, *given.args]
    defaults: list[ast.expr | None] = [*[None] * (len(ordered) - len(given.defaults)), *given.defaults]
    for argument, default in (
        *zip(ordered, defaults, strict=True),
        *zip(given.kwonlyargs, given.kw_defaults, strict=True),
    ):
        yield argument.arg, default


def test_every_argument_may_be_given_by_its_name() -> None:
    unnamed = [where for where, node in functions() if node.args.posonlyargs]
    sockets = [
        f"link/gateway/protocols/coap/{name}.py: sendto" for name in ("air", "udp")
    ]  # as a socket's own
    assert unnamed == [
        "air/radios/air.py: value",  # the type of any function of one text
        *sockets,
        "studies/wlan/tables.py: row",  # figures have any name, also those of the arguments
        *(f"studies/words.py: {name}" for name in ("row", "section", "text")),
    ]


def test_what_is_dangerous_is_off_unless_asked_for() -> None:
    on = {
        f"{where}({name})"
        for where, node in functions()
        for name, default in options(node)
        if name in DANGEROUS and default is not None and ast.unparse(default) != "False"
    }
    assert on == set()
