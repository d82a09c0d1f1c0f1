"""A results file as a function takes it: by its path, opened, or the default one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from motecrypt.base.paths import default_results
from motecrypt.results.store import Results


@contextmanager
def opened(results: Path | str | Results | None, make: bool = True) -> Iterator[Results]:
    """The file, for as long as it is needed; what is open stays open. None: the default one.
    Without `make` there need not be one."""
    if isinstance(results, Results):
        yield results
    else:
        with Results(Path(results or default_results()), make=make) as store:
            yield store
