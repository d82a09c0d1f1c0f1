"""Packages whose names are imported when they are asked for: all names are there, and nothing else is."""

from __future__ import annotations

import ast
import importlib
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "src" / "motecrypt"
LAZY = sorted(
    path.parent.relative_to(PACKAGE.parent).as_posix().replace("/", ".")
    for path in PACKAGE.rglob("__init__.py")
    if "__getattr__ = on_demand(" in path.read_text()
)


def deferred(name: str) -> dict[str, str]:
    """The names that a package defers, by what its imports for type checkers say: name and module."""
    tree = ast.parse((PACKAGE.parent / name.replace(".", "/") / "__init__.py").read_text())
    checked = [
        node for node in tree.body if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
    ]
    imports = [node for each in checked for node in each.body if isinstance(node, ast.ImportFrom)]
    return {alias.name: str(node.module) for node in imports for alias in node.names}


def test_some_packages_defer_names() -> None:
    assert {"motecrypt.air.radios", "motecrypt.results"} <= set(LAZY)


@pytest.mark.parametrize("name", LAZY)
def test_what_is_deferred_is_what_its_module_defines(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    package = importlib.import_module(name)
    names = deferred(name)
    assert names and set(names) <= set(package.__all__)
    for each, module in names.items():
        monkeypatch.delitem(vars(package), each, raising=False)
        assert getattr(package, each) is getattr(sys.modules[module], each)
        assert vars(package)[each] is getattr(package, each)
    assert all(hasattr(package, each) for each in package.__all__)
    with pytest.raises(AttributeError, match=f"module '{name}' has no attribute 'nothing'"):
        _ = package.nothing
