"""What making a key of a password takes on this host: the published format's hashes, and Argon2id."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

from motecrypt.base.model import ExperimentResult
from motecrypt.link.files import container, crypt_and_hash
from motecrypt.results import Results
from motecrypt.results.experiments.passwords import KIND, VERSION, PasswordQuestion
from motecrypt.simulate.runners.host import machine

PASSWORD = b"correct horse battery staple"


class PasswordDerivation(PasswordQuestion):
    """Milliseconds of processor time on this computer."""

    alone = True

    def inputs(self) -> dict[str, Any]:
        """What the outcome depends on."""
        return {**self.asked(), "processor": machine().processor}

    def stored(self, results: Results) -> ExperimentResult | None:
        """The result of this computer if it is there; never runs anything."""
        return self.kept(results, self.inputs())

    def ensure(self, results: Results, progress: Callable[[str], None] | None = None) -> ExperimentResult:
        """The result, timed now if it is not stored."""
        found = self.stored(results)
        if found is not None:
            return found
        if progress is not None:
            progress("passwords to keys")
        return results.store_experiment(KIND, VERSION, self.inputs(), self._measure(), self.asked())

    def _measure(self) -> dict[str, Any]:
        salt = bytes(container.SALT_BYTES)
        header = container.Header(
            cipher="aes256-gcm",
            from_password=True,
            chunk_bytes=65_536,
            argon_kib=container.ARGON_KIB,
            argon_passes=container.ARGON_PASSES,
            argon_lanes=container.ARGON_LANES,
            salt=salt,
        )
        secret = container.Secret(password=PASSWORD)
        ways: dict[str, Callable[[], object]] = {
            "hashes_ms": lambda: crypt_and_hash.derive("sha512", salt[:16], PASSWORD),
            "argon2id_ms": lambda: container.keys_of(header, secret),
        }
        return {name: self._median_ms(way) for name, way in ways.items()}

    def _median_ms(self, way: Callable[[], object]) -> float:
        took = []
        for _ in range(self.rounds):
            start = time.process_time()  # the processor's: not what other programs took
            way()
            took.append(1000 * (time.process_time() - start))
        return statistics.median(took)
