"""The question how long write() to a serial port takes until it returns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from motecrypt.results import Results
from motecrypt.results.experiments import Answer, ExperimentQuestion

KIND = "serial-write"
VERSION = 1


@dataclass(frozen=True)
class SerialWriteTimes(Answer):
    """Microseconds until write() returned, the median by the number of bytes."""

    median_us: Mapping[str, float]

    @property
    def longest_us(self) -> float:
        """Of any number of bytes."""
        return max(self.median_us.values())


@dataclass(frozen=True)
class SerialWriteQuestion(ExperimentQuestion):
    """A raw pseudo-terminal: it takes bytes as a serial port's buffer does, and has no line to
    drain them to."""

    KIND: ClassVar[str] = KIND
    VERSION: ClassVar[int] = VERSION
    ANSWER: ClassVar[type[Answer]] = SerialWriteTimes

    sizes: tuple[int, ...]
    rounds: int = 51

    def asked(self) -> dict[str, Any]:
        """The sizes in bytes, and how often each is written."""
        return {"sizes": list(self.sizes), "rounds": self.rounds}

    def answer(self, results: Results) -> SerialWriteTimes | None:
        """The newest stored answer, or None where there is none of its shape."""
        found = self.find(results)
        return None if found is None else SerialWriteTimes.from_json(found.outcome)
