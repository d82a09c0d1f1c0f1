"""The question what a Pico's second core gains when it encrypts while the first samples pins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from motecrypt.results import Results
from motecrypt.results.experiments import Answer, ExperimentQuestion

Way = Literal["alone", "core-1", "locked", "between", "interrupt", "masked"]
Work = Literal["strings", "file"]
WAYS: tuple[Way, ...] = ("alone", "core-1", "locked", "between", "interrupt", "masked")
"""In the order of the firmware's numbers (firmware/files/second_core.c)."""


@dataclass(frozen=True)
class CoreRow(Answer):
    """One way to share the chip between the work and samples 1,000 times a second.

    Attributes
    ----------
    work, way
        alone: without samples. core-1: the work on core 1, samples on core 0 from RAM. locked: the same, but
        core 0 waits while the flash is written. between: one core, samples between two strings or after the
        file. interrupt: one core, samples in an interrupt from RAM. masked: the same, but interrupts are off
        while the flash is written.
    time_us
        The whole work, by the board's timer.
    samples, missed
        How many were taken, and milliseconds that got none.
    least_late, most_late, mean_late
        Cycles from the beginning of a sample's millisecond to the sample.
    """

    work: str
    way: str
    time_us: int
    samples: int
    missed: int
    least_late: int
    most_late: int
    mean_late: float


@dataclass(frozen=True)
class SecondCore(Answer):
    """A row for each work and way; "locked" and "masked" have one only for the file, in the flash."""

    rows: tuple[CoreRow, ...]
    clock_hz: int

    def row(self, work: Work, way: Way) -> CoreRow | None:
        """The row of a work and a way, or None."""
        return next((row for row in self.rows if (row.work, row.way) == (work, way)), None)


@dataclass(frozen=True)
class SecondCoreQuestion(ExperimentQuestion):
    """`strings` of 47 characters, and a file of `lines` of 63 bytes whose key is derived in `rounds`.

    `toolchain` compiles the firmware.
    """

    KIND: ClassVar[str] = "second-core"
    VERSION: ClassVar[int] = 1
    ANSWER: ClassVar[type[Answer]] = SecondCore

    strings: int = 1000
    lines: int = 100
    rounds: int = 8192
    toolchain: str = ""

    def answer(self, results: Results) -> SecondCore | None:
        """The newest stored answer, or None where there is none of its shape."""
        found = self.find(results)
        return None if found is None else SecondCore.from_json(found.outcome)

    def asked(self) -> dict[str, Any]:
        """How much is encrypted."""
        return {"strings": self.strings, "lines": self.lines, "rounds": self.rounds}
