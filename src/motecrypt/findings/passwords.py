"""The question what making a key of a password takes on a host."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from motecrypt.files import container, crypt_and_hash
from motecrypt.findings import FindingQuestion

KIND = "password-derivation"
VERSION = 1


@dataclass(frozen=True)
class PasswordQuestion(FindingQuestion):
    """Milliseconds of processor time, the median of `rounds`."""

    KIND: ClassVar[str] = KIND
    VERSION: ClassVar[int] = VERSION

    rounds: int = 5

    def asked(self) -> dict[str, Any]:
        """How often, and both ways with their costs."""
        return {
            "rounds": self.rounds,
            "hashes": crypt_and_hash.ROUNDS,
            "argon2id": [container.ARGON_KIB, container.ARGON_PASSES, container.ARGON_LANES],
        }
