"""Names of a package whose module is imported when one of them is first asked for.

Most commands need a few of the names that a package offers, and importing all of its modules would take
longer than what they do. `from package import name` works as ever.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from typing import Any


def on_demand(package: str, places: Mapping[str, str]) -> Callable[[str], Any]:
    """The `__getattr__` of a package; `places` has for each name the module of the package that defines
    it."""

    def get(name: str) -> Any:
        if name not in places:
            raise AttributeError(f"module '{package}' has no attribute '{name}'")
        value = getattr(importlib.import_module(f"{package}.{places[name]}"), name)
        setattr(sys.modules[package], name, value)
        return value

    return get
