"""How far a device's cycles are from those of its chips, and how that is written. Pure: it knows neither rows
nor how the figures come about (`residuals`)."""

from __future__ import annotations

import math
from dataclasses import dataclass

CONFIDENCE = 0.95
COVERED = 0.95
"""An error bound covers this share of all rows like the scored ones, with this confidence."""
BOUND, RANGE = "error bound", "range seen"


@dataclass(frozen=True)
class Fidelity:
    """How far a device's cycles are from those of its chips, over scored rows; shares, except `rows`.

    Attributes
    ----------
    difference
        The error bound, or the range seen: the spread of our toolchains is added to each residual.
    coverage
        The share of all rows like these that keep to it, at the least, with 95 % confidence.
    condition
        Of which code the rows are.
    """

    device: str
    memory: str
    rows: int
    median: float
    percentile_95: float
    worst: float
    difference: float
    coverage: float
    condition: str

    @property
    def is_bound(self) -> bool:
        """Whether the rows are enough to cover 95 % of all."""
        return self.coverage >= COVERED

    @property
    def kind(self) -> str:
        """What the difference is: an error bound, or a range."""
        return BOUND if self.is_bound else RANGE

    @property
    def text(self) -> str:
        """The difference as figures show it, rounded up."""
        return f"± {math.ceil(1000 * self.difference - 1e-9) / 10:g} %"

    @property
    def percent_covered(self) -> int:
        """The coverage in per cent, rounded down: it is a least share."""
        return math.floor(100 * self.coverage + 1e-9)

    @property
    def covers(self) -> str:
        """The same as text."""
        return f"{self.percent_covered} %"

    @property
    def named(self) -> str:
        """The difference, what it is, of how many rows, and what it covers."""
        rows = f"{self.rows} row{'' if self.rows == 1 else 's'}"
        return f"{self.text}, {self.kind} of {rows}, covers {self.covers}"

    @property
    def told(self) -> str:
        """The same, and of which code."""
        return f"{self.named} ({self.condition})"
