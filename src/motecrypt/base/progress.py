"""How work reports what is done of it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Protocol, runtime_checkable

Progress = Callable[[int, int, str], None]
"""Takes how many parts are done, how many there are, and what comes next."""


@runtime_checkable
class Stages(Protocol):
    """Progress that shows each stage of the work by its title."""

    def stage(self, title: str) -> AbstractContextManager[Progress]:
        """Begin a stage; its parts are counted while it lasts."""


Watching = Progress | Stages | None
"""What shows progress: one callback for all stages, or each stage by its title; None: nothing."""


def stage(progress: Watching, title: str) -> AbstractContextManager[Progress]:
    """A stage of the work."""
    if isinstance(progress, Stages):
        return progress.stage(title)
    return nullcontext(progress or (lambda *_: None))
