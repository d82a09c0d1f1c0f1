"""One folder for each published source: what it printed, beside what we measure.

`studies/NAME/study.py` is a pure view: `TITLE`, `SOURCE`, `comparisons(results)` and `sections(results)` read
what is stored and need no compiler. `studies/NAME/needs.py` has `needs() -> Needs`, what must be measured and
run first; no view imports it. `names()` finds the folders; nothing lists them.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import Protocol

from motecrypt.errors import InputError
from motecrypt.model import Cell, Finding
from motecrypt.results import Results


class Experiment(Protocol):
    """A request for a finding: looks it up, runs what is missing, stores it."""

    def find(self, results: Results) -> Finding | None:
        """The newest stored answer to the same question; None where there is none, or one of several is
        missing."""

    def ensure(self, results: Results, progress: Callable[[str], None] | None = None) -> Finding:
        """The finding, made now if it is not stored yet."""


@dataclass(frozen=True)
class Needs:
    """What must be in the results before a study's views can be drawn, and the kits that make it."""

    kits: Sequence[str] = ()
    cells: Sequence[Cell] = field(default_factory=tuple)
    experiments: Sequence[Experiment] = field(default_factory=tuple)


def _known() -> list[str]:
    return [m.name for m in pkgutil.iter_modules(__path__) if m.ispkg]


def names() -> list[str]:
    """The studies there are, in the order of their modules' ORDER."""
    return sorted(_known(), key=lambda name: (getattr(study(name), "ORDER", 99), name))


def study(name: str) -> ModuleType:
    """The module of a study; InputError when there is none."""
    known = _known()
    if name not in known:
        raise InputError(f"unknown study '{name}'; there are: {', '.join(sorted(known))}")
    return importlib.import_module(f"motecrypt.studies.{name}.study")


def needs(name: str) -> Needs:
    """What a study needs; InputError when there is no such study."""
    study(name)
    found: Needs = importlib.import_module(f"motecrypt.studies.{name}.needs").needs()
    return found
