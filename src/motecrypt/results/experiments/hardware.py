"""What our simulator counts for the code of a published row: one question for each row and device."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from motecrypt.results import Results
from motecrypt.results.experiments import Answer, ExperimentQuestion

KIND = "hardware"
VERSION = 1


@dataclass(frozen=True)
class TimedRun:
    """One firmware: the toolchain that built it, its hash, and the row's cycles.

    `variant`: flags that were added to those of the row, to build as another compiler does (hardware.toml).
    """

    toolchain: str
    compiler: str
    firmware_sha256: str
    cycles: float
    variant: str = ""

    @property
    def name(self) -> str:
        """The toolchain with the flags that were added; the compiler where none was pinned."""
        return f"{self.toolchain or self.compiler} {self.variant}".strip()


@dataclass(frozen=True)
class TimedBuild:
    """What repeats the runs of a row: the command, and what its program was built of.

    Attributes
    ----------
    command
        With the folder's name, as it was brought.
    sources
        File names; the first is the program with the timed regions.
    flags
        Of the compiler; empty: the device's own.
    per
        What the cycles were divided by.
    """

    command: str
    sources: tuple[str, ...]
    flags: tuple[str, ...]
    defines: tuple[str, ...]
    cache: str
    per: int


@dataclass(frozen=True)
class HardwareFigures(Answer):
    """What the code of a row takes here.

    Attributes
    ----------
    runs
        Assembly has one, and so has C code whose compiler is known; other C code has one for each pinned
        toolchain of the device, and each variant.
    code, commit
        Where the code is from.
    runner
        What counted the cycles, with a hash of all that they depend on.
    build
        How to repeat it; None of answers stored before it was kept.
    """

    runs: tuple[TimedRun, ...]
    code: str
    commit: str
    runner: str
    build: TimedBuild | None = None


@dataclass(frozen=True)
class HardwareQuestion(ExperimentQuestion):
    """The cycles of a row's code on the device that models its chip."""

    KIND: ClassVar[str] = KIND
    VERSION: ClassVar[int] = VERSION
    ANSWER: ClassVar[type[Answer]] = HardwareFigures

    row: str
    device: str

    def asked(self) -> dict[str, Any]:
        """The row and the device."""
        return {"row": self.row, "device": self.device}

    def answer(self, results: Results) -> HardwareFigures | None:
        """The newest stored answer, or None where the code was never run."""
        found = self.find(results)
        return None if found is None else HardwareFigures.from_json(found.outcome)
