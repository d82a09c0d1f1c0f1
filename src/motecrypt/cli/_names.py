"""Unknown names, answered with the nearest known ones."""

from __future__ import annotations

import difflib
from collections.abc import Sequence


def unknown(kind: str, name: str, known: Sequence[str]) -> str:
    """One line that names what is unknown and the nearest of what is known."""
    near = difflib.get_close_matches(name, known, n=3, cutoff=0.5)
    hint = f"did you mean {' or '.join(near)}?" if near else f"known: {', '.join(sorted(known))}"
    return f"unknown {kind} '{name}'; {hint}"
