"""From Python to JavaScript, for what a page computes itself: the adviser is written once, in Python.

`javascript(roots)` follows the functions, records and constants that the roots need, and translates
these alone. Of Python it knows what pure functions over records take: dataclasses and named tuples with
properties, numbers, texts, lists, tuples, dictionaries, comprehensions, f-strings, `re.compile`. For
anything else it raises `Untranslatable` with file and line. What JavaScript computes or writes otherwise
(division by zero, rounding, equality, truth) goes through `static/python.js`. Three things are refused,
because the two languages would differ:

- a number in an f-string without a format: `{count:d}` and `{share:.1f}` are the same in both;
- `**` and `math.fsum`, whose last bit depends on the C library or the version; `sum` is for whole numbers;
- `+` between lists: write `[*a, *b]`.
"""

from __future__ import annotations

import ast
from functools import lru_cache

from motecrypt.present.report.translate_code import RESERVED, Translator
from motecrypt.present.report.translate_source import SourceModule, Untranslatable, read_module


@lru_cache(maxsize=8)
def javascript(roots: tuple[str, ...], name: str) -> str:
    """A script that defines `name`: an object with these functions and all that they need.

    Parameters
    ----------
    roots
        Dotted names, such as "motecrypt.adviser.shown.days".

    Raises
    ------
    Untranslatable
        Something that is needed is outside of the translated part of Python.
    """
    program = Translation()
    given = [(root.rpartition(".")[2], program.global_name(root)) for root in roots]
    members = ", ".join(own if own == made else f"{own}: {made}" for own, made in given)
    lines = ['"use strict";', f"const {name} = (($) => {{", *program.lines]
    return "\n".join([*lines, f"return {{ {members} }};", "})(python);", ""])


class Translation:
    """What was translated so far: each definition after those that it needs."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._names: dict[tuple[str, str], str] = {}

    def global_name(self, dotted: str) -> str:
        """How JavaScript names a definition of the project, which is translated if it was not."""
        module, name = self.found(dotted)
        if (module.name, name) not in self._names:
            taken = set(self._names.values()) | RESERVED
            own = name if name not in taken else f"{module.name.rpartition('.')[2]}_{name}"
            self._names[module.name, name] = own
            self.lines += Translator(self, module).definition(module.defined[name], own)
        return self._names[module.name, name]

    def found(self, dotted: str) -> tuple[SourceModule, str]:
        """Where a dotted name is defined."""
        home, _, name = dotted.rpartition(".")
        module = read_module(home)
        if name in module.defined:
            return module, name
        if name in module.imported:
            return self.found(module.imported[name])
        raise Untranslatable(f"{module.path}: '{name}' is not a function, record or constant")

    def definition(self, dotted: str) -> tuple[SourceModule, ast.stmt]:
        """Its module and its source."""
        module, name = self.found(dotted)
        return module, module.defined[name]

    def record_fields(self, dotted: str) -> dict[str, tuple[SourceModule, ast.expr | None]]:
        """The fields of a record and of its bases, each with its default and where that is written."""
        module, node = self.definition(dotted)
        assert isinstance(node, ast.ClassDef)
        fields: dict[str, tuple[SourceModule, ast.expr | None]] = {}
        for base in node.bases:
            if isinstance(base, ast.Name) and base.id != "NamedTuple":
                fields |= self.record_fields(f"{module.name}.{base.id}")
        for one in node.body:
            if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name):
                fields[one.target.id] = module, one.value
        return fields
