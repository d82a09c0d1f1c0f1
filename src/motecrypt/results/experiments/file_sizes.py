"""The questions what a cipher takes for messages of all sizes, and what encoding its output adds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from motecrypt.results import Results
from motecrypt.results.experiments import Answer, ExperimentQuestion

OPERATIONS = ("encrypt", "decrypt")
ENCODINGS = ("base64", "hex")


@dataclass(frozen=True)
class SizeRow(Answer):
    """One size in one direction.

    Attributes
    ----------
    bytes
        Whole blocks: what a file has with its padding.
    ns
        Nanoseconds of the processor for one run, without the key's set-up.
    """

    operation: str
    bytes: int
    ns: float


@dataclass(frozen=True)
class SizeTimes(Answer):
    """Every size, and what the key's set-up takes in nanoseconds."""

    implementation: str
    processor: str
    setup_ns: float
    rows: tuple[SizeRow, ...]

    def ns(self, size: int, operation: str = "encrypt") -> float | None:
        """Nanoseconds for a message and its key's set-up; None where that size was not timed."""
        found = self.row(size, operation)
        return None if found is None else self.setup_ns + found.ns

    def row(self, size: int, operation: str) -> SizeRow | None:
        """One timing, or None."""
        return next((row for row in self.rows if (row.bytes, row.operation) == (size, operation)), None)


@dataclass(frozen=True)
class SizeQuestion(ExperimentQuestion):
    """One cipher at one key length, over messages of all sizes, on this computer.

    Attributes
    ----------
    sizes
        Bytes, multiples of 16.
    """

    KIND: ClassVar[str] = "file-sizes"
    VERSION: ClassVar[int] = 1
    ANSWER: ClassVar[type[Answer]] = SizeTimes

    cipher: str
    key_bits: int
    sizes: tuple[int, ...]

    def answer(self, results: Results) -> SizeTimes | None:
        """The newest stored answer, or None where there is none of its shape."""
        found = self.find(results)
        return None if found is None else SizeTimes.from_json(found.outcome)

    def asked(self) -> dict[str, Any]:
        """Cipher, key length and sizes."""
        return {"cipher": self.cipher, "key_bits": self.key_bits, "sizes": list(self.sizes)}


@dataclass(frozen=True)
class EncodingTimes(Answer):
    """Nanoseconds for each byte that is encoded, and for each byte that decoding gives back, by encoding."""

    encode_ns_per_byte: Mapping[str, float]
    decode_ns_per_byte: Mapping[str, float]


@dataclass(frozen=True)
class EncodingQuestion(ExperimentQuestion):
    """What Base64 and hexadecimal take on this computer; `rounds` timings of each."""

    KIND: ClassVar[str] = "encoding-times"
    VERSION: ClassVar[int] = 1
    ANSWER: ClassVar[type[Answer]] = EncodingTimes

    rounds: int = 41

    def answer(self, results: Results) -> EncodingTimes | None:
        """The newest stored answer, or None where there is none of its shape."""
        found = self.find(results)
        return None if found is None else EncodingTimes.from_json(found.outcome)

    def asked(self) -> dict[str, Any]:
        """The number of timings."""
        return {"rounds": self.rounds}
