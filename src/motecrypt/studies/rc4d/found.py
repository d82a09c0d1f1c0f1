"""What is found of a claim of the RC4D source, before it is judged."""

from __future__ import annotations

from dataclasses import dataclass

from motecrypt.studies.facts import CauseKnown, Tolerance
from motecrypt.studies.judge import EXACT, Check, Expected

#: "About" and "2x" leave this much room, up and down.
ABOUT = Tolerance(0.2, 0.0, 'wording: "about", "up to" and "2x"')


@dataclass(frozen=True)
class Found:
    """What we found of a claim.

    `measured` is shown. Where that is words, or the claim promises no figure, `value` is judged in its place
    against `expected`.
    """

    measured: float | str
    note: str
    brief: str = ""
    value: float | str | None = None
    expected: Expected | None = None
    tolerance: Tolerance = EXACT
    checks: tuple[Check, ...] = ()
    cause: str = ""
    known: CauseKnown = ""
    command: str = ""
