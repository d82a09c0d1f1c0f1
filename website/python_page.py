"""The page of the Python interface, from the code's own signatures and docstrings."""

from __future__ import annotations

import importlib
import inspect
import textwrap

PUBLIC = {
    "motecrypt.adviser.api": (
        "advise",
        "candidates_from",
        "device_part",
        "radio_part",
        "link_facts",
        "battery_part",
        "regulator_part",
        "Question",
        "Candidate",
        "Advice",
        "Entry",
        "Exclusion",
    ),
    "motecrypt.adviser.exported": ("export",),
    "motecrypt.results": ("load", "Results"),
    "motecrypt.catalog": ("Catalog",),
    "motecrypt.base.model": ("Cell", "Section"),
    "motecrypt.studies": ("Needs",),
    "motecrypt.studies.facts": ("Comparison",),
    "motecrypt.studies.judge": ("Evidence", "compare"),
}
"""What the pages and examples use, by module."""
HEAD = """# Python functions

These are the functions and records that the pages and examples use. The text of each has lengths, units and
errors. Everything else can change without notice.
"""


def page() -> str:
    """The whole page as Markdown."""
    parts = [HEAD]
    for module, names in PUBLIC.items():
        found = importlib.import_module(module)
        parts.append(f"## {module}\n")
        for name in names:
            parts.extend(_described(getattr(found, name), name))
    return "\n".join(parts)


def _described(what: object, name: str, level: int = 3) -> list[str]:
    text = inspect.getdoc(what) or ""
    signature = f"{name}{inspect.signature(what)}" if callable(what) else name
    lines = [f"{'#' * level} {name}\n", f"```python\n{_wrapped(signature)}\n```\n", f"```text\n{text}\n```\n"]
    if inspect.isclass(what):
        for method, function in vars(what).items():
            bare = function.__func__ if isinstance(function, (classmethod, staticmethod)) else function
            if not method.startswith("_") and inspect.isfunction(bare) and inspect.getdoc(bare):
                lines += _described(bare, f"{name}.{method}", level + 1)
    return lines


def _wrapped(signature: str, columns: int = 100) -> str:
    if len(signature) <= columns:
        return signature
    return "\n".join(textwrap.wrap(signature, columns, subsequent_indent="    ", break_long_words=False))
