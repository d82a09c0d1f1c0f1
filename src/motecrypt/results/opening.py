"""A results file as a function takes it: by its path, opened, or the default one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from motecrypt.base.paths import default_results
from motecrypt.results.store import Results

Stored = Path | str | Results | None
"""A results file: its path, or opened. None: the default one."""


@contextmanager
def opened(results: Stored, compilers: Sequence[str] = (), *, make: bool = True) -> Iterator[Results]:
    """The file, for as long as it is needed, read by the chosen compilers, if any; what is open stays open.
    What only reads does not `make` a file."""
    if isinstance(results, Results):
        yield results.by_compilers(compilers) if compilers else results
    else:
        with Results(Path(results or default_results()), make=make) as store:
            yield store.by_compilers(compilers) if compilers else store
