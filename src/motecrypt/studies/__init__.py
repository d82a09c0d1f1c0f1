"""One folder for each published source: what it printed, next to what we measure.

`studies/NAME/study.py` is a pure view: `TITLE`, `SOURCE`, `comparisons(results)` and `sections(results)` read
what is stored and need no compiler. `studies/NAME/needs.py` has `needs() -> Needs`, what must be measured and
run first; no view imports it. `names()` finds the folders; nothing lists them. A folder of the user's own,
given by its path, counts the same.
"""

from __future__ import annotations

import hashlib
import importlib
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import wraps
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any, Protocol

from motecrypt.base.errors import InputError, MotecryptError
from motecrypt.base.model import Cell, ExperimentResult
from motecrypt.catalog import Catalog
from motecrypt.results import Results
from motecrypt.results.experiments import ExperimentQuestion


class Experiment(Protocol):
    """A request for a result: looks it up, runs what is missing, stores it.

    Experiments run side by side. One that times this computer has `alone = True`, and runs by itself; what it
    can make ready before, next to others, is done by its `prepare(results)`, where it has one.
    """

    def find(self, results: Results) -> ExperimentResult | None:
        """The newest stored answer to the same question; None where there is none, or one of several is
        missing."""

    def ensure(self, results: Results, progress: Callable[[str], None] | None = None) -> ExperimentResult:
        """The result, made now if it is not stored yet."""


@dataclass(frozen=True)
class Long:
    """What takes minutes: `reproduce NAME --full` runs it; else the answers that came with the program are
    shown, with their date. `questions` are all that the experiments answer; `tool_sets` are needed as well as
    the study's own.
    """

    experiments: Sequence[Experiment]
    questions: Sequence[ExperimentQuestion]
    tool_sets: Sequence[str] = ()


@dataclass(frozen=True)
class Needs:
    """What must be in the results before a study's views can be drawn, and the tool sets that make it.

    `toolchains`: by device the one that its cells and experiments name, with which the device's tool set
    comes without a compiler of its own. `catalog`: where the cells are of ciphers, libraries, devices or
    toolchains of one's own.
    """

    tool_sets: Sequence[str] = ()
    toolchains: Mapping[str, str] = field(default_factory=dict)
    cells: Sequence[Cell] = field(default_factory=tuple)
    experiments: Sequence[Experiment] = field(default_factory=tuple)
    catalog: Catalog | None = None
    long: Long | None = None


def folders() -> list[str]:
    """The studies there are, by name; imports none of them."""
    return sorted(file.parent.name for file in Path(__file__).parent.glob("*/study.py"))


def names() -> list[str]:
    """The studies there are, in the order of their modules' ORDER."""
    return sorted(folders(), key=lambda name: (getattr(study(name), "ORDER", 99), name))


def study(name: str) -> ModuleType:
    """The view of a study, by its name or by the path of a folder; InputError when there is none."""
    return _part(name, "study", ("TITLE", "SOURCE", "comparisons", "sections"))


def needs(name: str) -> Needs:
    """What a study needs; InputError when there is no such study."""
    study(name)
    found = _part(name, "needs", ("needs",)).needs()
    if not isinstance(found, Needs):
        raise InputError(f"{name}: needs() gave a {type(found).__name__}; it gives motecrypt.studies.Needs")
    return found


def _part(name: str, part: str, expected: Sequence[str]) -> ModuleType:
    if "/" not in name and name not in (".", ".."):
        known = folders()
        if name not in known:
            there = ", ".join(known)
            hint = f"; the folder here is written ./{name}" if Path(name, "study.py").is_file() else ""
            raise InputError(f"unknown study '{name}'; available: {there}, or your own folder{hint}")
        return importlib.import_module(f"motecrypt.studies.{name}.{part}")
    folder = Path(name).resolve()
    file = folder / f"{part}.py"
    if not file.is_file():
        raise InputError(f"{name}: no {part}.py there; your own study needs one (docs/adding.md)")
    with _someone_elses(file):
        module = importlib.import_module(f"{_package(folder)}.{part}")
    missing = [each for each in expected if not hasattr(module, each)]
    if missing:
        raise InputError(f"{file}: '{missing[0]}' is missing (docs/adding.md)")
    for each, function in list(vars(module).items()):
        if isinstance(function, FunctionType) and function.__module__ == module.__name__:
            setattr(module, each, _guarded(function, file))
    return module


@contextmanager
def _someone_elses(file: Path) -> Iterator[None]:
    """What fails in here is a fault of that file, in one line."""
    try:
        yield
    except MotecryptError:
        raise
    except Exception as error:
        raise InputError(f"{file}: cannot be used: {type(error).__name__}: {error}") from error


def _guarded(function: FunctionType, file: Path) -> Callable[..., Any]:
    """The same function, whose failures are the file's; what it yields is collected, since that runs it."""

    @wraps(function)
    def guarded(*given: Any, **named: Any) -> Any:
        with _someone_elses(file):
            found = function(*given, **named)
            return list(found) if isinstance(found, Iterator) else found

    guarded.__module__ = __name__  # it is guarded once
    return guarded


def _package(folder: Path) -> str:
    """A package of that folder, by a name that no other has, so that its modules can import each other."""
    name = f"motecrypt_study_{hashlib.sha256(str(folder).encode()).hexdigest()[:16]}"
    if name not in sys.modules:
        package = ModuleType(name)
        package.__path__ = [str(folder)]
        sys.modules[name] = package
    return name
