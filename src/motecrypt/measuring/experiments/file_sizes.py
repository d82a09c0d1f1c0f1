"""Messages and files of all sizes encrypted and decrypted on this computer, and their output encoded.

A size is timed by the driver that times ciphers next to each other (drivers/host.c). Ciphertext is compared
with the oracle's at one size; at every size decryption has to give the message back.
"""

from __future__ import annotations

import binascii
import hashlib
import random
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

from motecrypt.base.errors import MotecryptError
from motecrypt.base.model import ExperimentResult, Implementation
from motecrypt.build.toolchain import BuildRequest, build, key_of
from motecrypt.build.toolchain.drivers import driver_identity
from motecrypt.catalog import Catalog
from motecrypt.measuring.experiments.data_types import DataTypes
from motecrypt.measuring.experiments.host_speed import expected_digest, pattern_digest, run_driver, speed_key
from motecrypt.results import Results
from motecrypt.results.experiments.file_sizes import ENCODINGS, OPERATIONS, EncodingQuestion, SizeQuestion
from motecrypt.results.experiments.host_speed import SpeedPoint
from motecrypt.simulate.runners.host import machine

CHECKED_BYTES = 1504
ENCODED_BYTES = 65_536
#: About as many bytes are timed at each size, so that the largest does not take all the time.
TIMED_BYTES = 2_000_000
MOST_ROUNDS = 31


def rounds_of(size: int) -> int:
    """How often a size is timed: fewer times the larger it is."""
    return max(1, min(MOST_ROUNDS, TIMED_BYTES // size))


class SizeSweep(SizeQuestion):
    """One cipher over all sizes, timed on this computer."""

    alone = True

    def implementation(self) -> Implementation:
        """The body that is timed, the same as for the kinds of data."""
        return DataTypes(self.cipher, self.key_bits).implementation()

    def _request(self) -> BuildRequest:
        return BuildRequest(Catalog.load().device("host"), self.implementation(), "flash")

    def inputs(self) -> dict[str, Any]:
        """What the stored outcome depends on: the request, the code, the driver and the processor."""
        return {
            **self.asked(),
            "build": key_of(self._request())[:16],
            "driver": driver_identity("host")[:16],
            "processor": machine().processor,
        }

    def prepare(self, results: Results) -> None:
        """Build what is timed and what it is compared with, if it is going to be."""
        if self.kept(results, self.inputs()) is None:
            build(self._request())
            expected_digest(SpeedPoint(self.cipher, self.key_bits), "encrypt", CHECKED_BYTES)
            for size in self.sizes:
                pattern_digest(size)

    def ensure(self, results: Results, progress: Callable[[str], None] | None = None) -> ExperimentResult:
        """The result, timed now if it is not stored."""
        inputs = self.inputs()
        found = self.kept(results, inputs)
        if found is not None:
            return found
        if progress is not None:
            progress(f"{self.cipher} for messages of all sizes")
        return results.store_experiment(self.KIND, self.VERSION, inputs, self._measure(), self.asked())

    def _measure(self) -> dict[str, Any]:
        point = SpeedPoint(self.cipher, self.key_bits)
        checked = self._time("encrypt", CHECKED_BYTES)
        if checked["output"] != expected_digest(point, "encrypt", CHECKED_BYTES):
            raise MotecryptError(f"{self.cipher}: its ciphertext differs from the oracle's")
        rows = []
        for size in self.sizes:
            for operation in OPERATIONS:
                timed = self._time(operation, size)
                if operation == "decrypt" and timed["output"] != pattern_digest(size):
                    raise MotecryptError(f"{self.cipher}: {size} bytes were not decrypted to what they were")
                rows.append(
                    {
                        "operation": operation,
                        "bytes": size,
                        "ns": _taken(timed),
                        "rounds": rounds_of(size),
                    }
                )
        return {
            "implementation": self.implementation().name,
            "processor": machine().processor,
            "setup_ns": _taken(self._time("setup", CHECKED_BYTES)),
            "rows": rows,
        }

    def _time(self, operation: str, size: int) -> dict[str, Any]:
        nonce = speed_key(8 * Catalog.load().cipher(self.cipher).nonce_bytes)
        library = str(build(self._request()).elf)
        (timed,) = run_driver(
            operation, speed_key(self.key_bits), nonce, size, rounds_of(size), [library], {}
        )
        return timed


def _taken(timed: dict[str, Any]) -> float:
    """Nanoseconds of one run: the median of the wall times; where other programs took the processor, the mean
    of the processor's own, which holds a call of the clock."""
    return min(float(timed["wall_ns"]), float(timed["processor_ns"]))


_CODERS: dict[str, tuple[Callable[[bytes], bytes], Callable[[bytes], bytes]]] = {
    "base64": (lambda data: binascii.b2a_base64(data, newline=False), binascii.a2b_base64),
    "hex": (binascii.b2a_hex, binascii.a2b_hex),
}


class EncodingTiming(EncodingQuestion):
    """Base64 and hexadecimal of random bytes, as a ciphertext is, by the C code that comes with Python."""

    alone = True

    def ensure(self, results: Results, progress: Callable[[str], None] | None = None) -> ExperimentResult:
        """The result, timed now if it is not stored."""
        inputs = {**self.asked(), "python": sys.version.split()[0], "processor": machine().processor}
        found = self.kept(results, inputs)
        if found is not None:
            return found
        if progress is not None:
            progress("Base64 and hexadecimal")
        return results.store_experiment(self.KIND, self.VERSION, inputs, self._measure(), self.asked())

    def _measure(self) -> dict[str, Any]:
        data = hashlib.shake_256(b"encoded").digest(ENCODED_BYTES)
        chance = random.Random(self.rounds)
        seconds: dict[tuple[str, int], list[float]] = {
            (name, way): [] for name in ENCODINGS for way in (0, 1)
        }
        for _ in range(self.rounds):
            for name in chance.sample(ENCODINGS, len(ENCODINGS)):  # a slow moment falls on both
                encode, decode = _CODERS[name]
                start = time.thread_time()
                encoded = encode(data)
                between = time.thread_time()
                decoded = decode(encoded)
                end = time.thread_time()
                if decoded != data:
                    raise MotecryptError(f"{name}: what was encoded is not decoded to what it was")
                seconds[name, 0].append(between - start)
                seconds[name, 1].append(end - between)
        ns = {key: statistics.median(times) * 1e9 / ENCODED_BYTES for key, times in seconds.items()}
        return {
            "encode_ns_per_byte": {name: ns[name, 0] for name in ENCODINGS},
            "decode_ns_per_byte": {name: ns[name, 1] for name in ENCODINGS},
        }
