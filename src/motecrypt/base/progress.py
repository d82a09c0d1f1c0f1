"""How work reports what is done of it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

Progress = Callable[[int, int, str], None]
"""Takes how many parts are done, how many there are, and what comes next."""

Stage = Callable[[str], AbstractContextManager[Progress]]
"""Opens a stage of the work by its title; while it lasts, its parts are counted."""


def in_one(progress: Progress | None) -> Stage:
    """All stages by one callback, without their titles; None: no progress is shown."""
    return lambda title: nullcontext(progress or (lambda *_: None))
