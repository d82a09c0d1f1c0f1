"""The question what a cipher takes, and how far it diffuses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from motecrypt.results import Results
from motecrypt.results.experiments import Answer, ExperimentQuestion

KIND = "features"
VERSION = 1


@dataclass(frozen=True)
class Features(Answer):
    """Which lengths are taken, in bytes and in words, and how far a changed bit reaches.

    Attributes
    ----------
    messages, keys
        Lengths that are taken: "any", "16", "multiples of 16", "5 to 255".
    diffusion
        "none", "block" or "full"; at `diffusion_lengths`, with blocks of `block_bytes`.
    identity_bytes
        Lengths at which a message is sent as itself.
    decrypt_reach_bytes
        The most bytes of plaintext that one changed bit of a ciphertext changes.
    last_byte_passes_through
        Whether XOR into the last byte of the message is XOR into the first of the ciphertext.
    """

    messages: str
    keys: str
    diffusion: str
    diffusion_lengths: tuple[int, ...]
    block_bytes: int
    identity_bytes: tuple[int, ...]
    decrypt_reach_bytes: int
    last_byte_passes_through: bool


@dataclass(frozen=True)
class FeatureQuestion(ExperimentQuestion):
    """Which message and key lengths one variant takes, and its diffusion.

    Attributes
    ----------
    cipher
        Name of a cipher of ours.
    variant
        Name of one of its implementations that runs on the host.
    seed
        All keys and messages are drawn from it.
    """

    KIND: ClassVar[str] = KIND
    VERSION: ClassVar[int] = VERSION
    ANSWER: ClassVar[type[Answer]] = Features

    cipher: str
    variant: str
    seed: int = 1

    def answer(self, results: Results) -> Features | None:
        """The newest stored answer, or None where there is none of its shape."""
        found = self.find(results)
        return None if found is None else Features.from_json(found.outcome)

    def asked(self) -> dict[str, Any]:
        """Cipher, variant and seed."""
        return {"cipher": self.cipher, "variant": self.variant, "seed": self.seed}
