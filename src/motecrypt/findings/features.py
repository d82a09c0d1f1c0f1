"""The question what a cipher takes, and how far it diffuses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from motecrypt.findings import FindingQuestion

KIND = "features"
VERSION = 1


@dataclass(frozen=True)
class FeatureQuestion(FindingQuestion):
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

    cipher: str
    variant: str
    seed: int = 1

    def asked(self) -> dict[str, Any]:
        """Cipher, variant and seed."""
        return {"cipher": self.cipher, "variant": self.variant, "seed": self.seed}
