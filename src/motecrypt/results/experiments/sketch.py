"""The question what somebody's own sketch prints and takes, for one row of a paper."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from motecrypt.results import Results
from motecrypt.results.experiments import Answer, ExperimentQuestion

KIND = "sketch"
VERSION = 1


@dataclass(frozen=True)
class SketchFigures(Answer):
    """The milliseconds that a sketch printed, and the bytes of its whole program."""

    time_ms: float
    flash_bytes: int
    ram_bytes: int


@dataclass(frozen=True)
class SketchQuestion(ExperimentQuestion):
    """The sketch of a study's row.

    Attributes
    ----------
    row
        The row's name in `reproduce --sketch ROW=FILE`.
    prints
        Hexadecimal digits that a right sketch prints before its time; empty where it computes nothing.
    """

    KIND: ClassVar[str] = KIND
    VERSION: ClassVar[int] = VERSION
    ANSWER: ClassVar[type[Answer]] = SketchFigures

    study: str
    row: str
    device: str
    prints: str

    def asked(self) -> dict[str, Any]:
        """The study, the row and the device."""
        return {"study": self.study, "row": self.row, "device": self.device, "prints": self.prints}

    def answer(self, results: Results) -> SketchFigures | None:
        """The newest stored answer, or None where the sketch was never run."""
        found = self.find(results)
        return None if found is None else SketchFigures.from_json(found.outcome)
