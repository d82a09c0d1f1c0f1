"""Why a figure grew: the functions and variables of two builds, put side by side. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

WORDS = {
    "flash": "bytes",
    "ram": "bytes",
    "stack": "bytes of stack",
    "stack_worst": "bytes of stack",
    "cycles": "cycles",
}
"""Measures whose growth has a cause in the code, with their units."""


@dataclass(frozen=True)
class PartFacts:
    """A function or a variable of a build, by name.

    Attributes
    ----------
    flash, ram : bytes that it takes of each.
    stack : the frame of a function, in bytes; None where that is not known, or of a variable.
    """

    name: str
    flash: int
    ram: int
    stack: int | None = None


def grown(
    before: Mapping[str, float], after: Mapping[str, float], unit: str, total: float | None = None
) -> list[str]:
    """Each part that takes more than before, largest growth first; then in one line those that take less.

    Parameters
    ----------
    total
        How much the figure grew; where no part grew, the sentence says that it is in none of them.
    """
    changes = {
        name: after.get(name, 0) - before.get(name, 0)
        for name in dict.fromkeys((*after, *before))
        if after.get(name, 0) != before.get(name, 0)
    }
    more = sorted((name for name, change in changes.items() if change > 0), key=lambda n: (-changes[n], n))
    told = [
        f"{name} +{changes[name]:,.0f} {unit}"
        + (f" ({before[name]:,.0f} to {after[name]:,.0f})" if name in before else " (new)")
        for name in more
    ]
    less = -sum(change for change in changes.values() if change < 0)
    if told and less:
        told.append(f"others -{less:,.0f} {unit}")
    if not told and total:
        told.append("in no named function or variable: alignment, start-up code or the linker's choice")
    return told


def sizes(parts: Iterable[PartFacts], measure: str) -> dict[str, float]:
    """What each part takes of "flash", "ram" or "stack"; those of one name together."""
    found: dict[str, float] = {}
    for part in parts:
        taken = {"flash": part.flash, "ram": part.ram, "stack": part.stack}[measure]
        if taken:
            found[part.name] = found.get(part.name, 0) + taken
    return found
