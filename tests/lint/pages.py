"""Pages under docs/ that a command makes are what it makes now."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from lint.sources import ROOT
from made import data, reference

MADE: Mapping[str, tuple[str, Callable[[], str]]] = {
    "docs/reference.md": ("reference", reference.page),
    "docs/data.md": ("data", data.page),
}


def offences() -> Iterator[str]:
    """Each page that is not, with the command that makes it again."""
    for name, (module, page) in MADE.items():
        if (ROOT / name).read_text() != page():
            yield f"{name}: not up to date; run: PYTHONPATH=src:tests python -m made.{module} > {name}"
