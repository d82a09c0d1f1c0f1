"""The question whether the type of data changes a cipher's time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from motecrypt.findings import FindingQuestion
from motecrypt.wlan import samples

KIND = "data-types"
VERSION = 1
PIECE_BYTES = 65_536  # of each kind; fits the second-level cache of any host


@dataclass(frozen=True)
class DataTypesQuestion(FindingQuestion):
    """One cipher at one key length, over all kinds of data.

    Attributes
    ----------
    rounds : int
        Repetitions of every kind, at least 5.
    """

    KIND: ClassVar[str] = KIND
    VERSION: ClassVar[int] = VERSION

    cipher: str
    key_bits: int
    rounds: int = 41
    kinds: tuple[str, ...] = ("text", "image", "audio", "video")

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
