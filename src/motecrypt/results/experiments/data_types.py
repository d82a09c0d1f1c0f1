"""The question whether the type of data changes a cipher's time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from motecrypt.air.wlan import samples
from motecrypt.results import Results
from motecrypt.results.experiments import Answer, ExperimentQuestion

KIND = "data-types"
VERSION = 1
PIECE_BYTES = 65_536  # of each kind; fits the second-level cache of any host


@dataclass(frozen=True)
class Interval:
    """A median and its 95 % interval."""

    median: float
    low: float
    high: float


@dataclass(frozen=True)
class DataTypeTimes(Answer):
    """What each kind of data took, by its name.

    Attributes
    ----------
    ns_per_byte
        Median nanoseconds of processor time for each byte.
    ratio_to_text
        The rounds' ratios to text.
    outliers, timings
        How many of so many timings were disturbed.
    """

    ns_per_byte: Mapping[str, float]
    ratio_to_text: Mapping[str, Interval]
    outliers: int
    timings: int


@dataclass(frozen=True)
class DataTypesQuestion(ExperimentQuestion):
    """One cipher at one key length, over all kinds of data.

    Attributes
    ----------
    rounds : int
        Repetitions of every kind, at least 5.
    """

    KIND: ClassVar[str] = KIND
    VERSION: ClassVar[int] = VERSION
    ANSWER: ClassVar[type[Answer]] = DataTypeTimes

    cipher: str
    key_bits: int
    rounds: int = 41
    kinds: tuple[str, ...] = ("text", "image", "audio", "video")

    def answer(self, results: Results) -> DataTypeTimes | None:
        """The newest stored answer, or None where there is none of its shape."""
        found = self.find(results)
        return None if found is None else DataTypeTimes.from_json(found.outcome)

    def asked(self) -> dict[str, Any]:
        """The request, and which samples."""
        return {
            "cipher": self.cipher,
            "key_bits": self.key_bits,
            "rounds": self.rounds,
            "kinds": list(self.kinds),
            "piece_bytes": PIECE_BYTES,
            "samples": samples.VERSION,
        }
