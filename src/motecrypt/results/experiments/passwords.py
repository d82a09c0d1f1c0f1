"""The question what making a key of a password takes on a host."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from motecrypt.link.files import container, crypt_and_hash
from motecrypt.results import Results
from motecrypt.results.experiments import Answer, ExperimentQuestion

KIND = "password-derivation"
VERSION = 1


@dataclass(frozen=True)
class PasswordTimes(Answer):
    """Milliseconds of processor time to a key: by the published format's hashes, and by Argon2id."""

    hashes_ms: float
    argon2id_ms: float


@dataclass(frozen=True)
class PasswordQuestion(ExperimentQuestion):
    """Milliseconds of processor time, the median of `rounds`."""

    KIND: ClassVar[str] = KIND
    VERSION: ClassVar[int] = VERSION
    ANSWER: ClassVar[type[Answer]] = PasswordTimes

    rounds: int = 5

    def answer(self, results: Results) -> PasswordTimes | None:
        """The newest stored answer, or None where there is none of its shape."""
        found = self.find(results)
        return None if found is None else PasswordTimes.from_json(found.outcome)

    def asked(self) -> dict[str, Any]:
        """How often, and both ways with their costs."""
        return {
            "rounds": self.rounds,
            "hashes": crypt_and_hash.ROUNDS,
            "argon2id": [container.ARGON_KIB, container.ARGON_PASSES, container.ARGON_LANES],
        }
