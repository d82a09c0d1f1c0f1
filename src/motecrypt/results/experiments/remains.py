"""The question how much of a file's plaintext remains in a Pico's flash after it was encrypted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from motecrypt.results import Results
from motecrypt.results.experiments import Answer, ExperimentQuestion

Step = Literal["encrypted", "emptied", "overwritten", "erased", "refused"]
PIECE_BYTES = 16


@dataclass(frozen=True)
class RemainsRow(Answer):
    """How many pieces of the plaintext, of PIECE_BYTES each, the image of the flash holds after a step.

    Attributes
    ----------
    step
        encrypted: as the source's program leaves it. emptied: the plaintext's file then got no content.
        overwritten: it got zeros of the same length, then no content. erased: every block that held anything
        was erased, and only the ciphertext was written again. refused: a forged ciphertext was decrypted, and
        refused.
    pieces
        How many the file has.
    """

    step: str
    found: int
    pieces: int


@dataclass(frozen=True)
class Remains(Answer):
    """A row for each step."""

    rows: tuple[RemainsRow, ...]
    image_bytes: int


@dataclass(frozen=True)
class RemainsQuestion(ExperimentQuestion):
    """A file of `size` bytes, encrypted by the published program on the Pico's own flash.

    `rounds` of its key derivation are few, as they leave nothing in the flash. `toolchain` compiles the
    firmware.
    """

    KIND: ClassVar[str] = "plaintext-remains"
    VERSION: ClassVar[int] = 1
    ANSWER: ClassVar[type[Answer]] = Remains

    size: int
    rounds: int = 16
    toolchain: str = ""

    def answer(self, results: Results) -> Remains | None:
        """The newest stored answer, or None where there is none of its shape."""
        found = self.find(results)
        return None if found is None else Remains.from_json(found.outcome)

    def asked(self) -> dict[str, Any]:
        """The file's size and the number of hashes."""
        return {"size": self.size, "rounds": self.rounds}
