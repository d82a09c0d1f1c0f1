"""How work reports what is done of it."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[int, int, str], None]
"""Takes how many parts are done, how many there are, and what comes next."""
