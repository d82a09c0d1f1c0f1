"""Does the type of data change a cipher's time? Our C code on this host over text, JPEG, audio and video.

Each round encrypts every kind once, in a shuffled order, so that a slow moment of the machine falls on
all kinds equally. Stored are the rounds' ratios to text, with the 95 % interval of their median,
and the cipher's speed. Rounds disturbed by other work show as outliers and are counted, not dropped.
"""

from __future__ import annotations

import hashlib
import math
import random
import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

from motecrypt.air.wlan import samples
from motecrypt.base.model import ExperimentResult, Implementation
from motecrypt.build.toolchain import native
from motecrypt.catalog import Catalog
from motecrypt.results import Results
from motecrypt.results.experiments.data_types import KIND, PIECE_BYTES, VERSION, DataTypesQuestion
from motecrypt.simulate.runners.host import machine


class DataTypes(DataTypesQuestion):
    """One cipher at one key length, over all kinds of data, timed on this computer."""

    alone = True

    def implementation(self) -> Implementation:
        """The body that is timed: our variant for hosts where there is one, else our first."""
        bodies = Catalog.load().implementations_of(self.cipher, "host", ["motecrypt"])
        named = {body.variant: body for body in reversed(bodies)}
        return next((named[variant] for variant in ("tables", "fast") if variant in named), bodies[0])

    def inputs(self) -> dict[str, Any]:
        """What the stored outcome depends on: besides the request, the cipher's sources."""
        return {**self.asked(), "sources": self._source_hash()}

    def _source_hash(self) -> str:
        body = self.implementation()
        digest = hashlib.sha256(body.variant.encode())
        for name in (*body.sources, body.header):
            path = body.folder / name
            digest.update(path.read_bytes() if path.is_file() else name.encode())
        return digest.hexdigest()[:16]

    def stored(self, results: Results) -> ExperimentResult | None:
        """The result of these sources if it is there; never runs anything."""
        return self.kept(results, self.inputs())

    def prepare(self, results: Results) -> None:
        """Make the samples and the code that is timed, if it is going to be."""
        if self.stored(results) is None:
            self._pieces()
            self._encryptor()

    def ensure(self, results: Results, progress: Callable[[str], None] | None = None) -> ExperimentResult:
        """The result, timed now if it is not stored."""
        found = self.stored(results)
        if found is not None:
            return found
        if progress is not None:
            progress(f"{self.cipher} over {', '.join(self.kinds)}")
        return results.store_experiment(KIND, VERSION, self.inputs(), self._measure(), self.asked())

    def _encryptor(self) -> tuple[str, Callable[[bytes], object]]:
        """What is timed, and its name."""
        key = hashlib.shake_256(b"data types key").digest(self.key_bits // 8)
        cipher, body = Catalog.load().cipher(self.cipher), self.implementation()
        opened = native.open_implementation(cipher, body)
        opened.setup(key)
        nonce = bytes(cipher.nonce_bytes)
        return body.name, lambda piece: opened.encrypt(piece, nonce)

    def _pieces(self) -> dict[str, bytes]:
        return {kind: _piece(kind) for kind in self.kinds}

    def _measure(self) -> dict[str, Any]:
        name, encrypt = self._encryptor()
        host = machine()
        pieces = self._pieces()
        chance = random.Random(samples.SEED)
        seconds: dict[str, list[float]] = {kind: [] for kind in self.kinds}
        for kind in self.kinds:  # warm up code, tables and clock
            encrypt(pieces[kind])
        for _ in range(self.rounds):
            for kind in chance.sample(self.kinds, len(self.kinds)):
                start = time.thread_time()  # the processor's time: not what other programs took
                encrypt(pieces[kind])
                seconds[kind].append(time.thread_time() - start)
        first = self.kinds[0]
        ratios = {
            kind: [own / text for own, text in zip(seconds[kind], seconds[first], strict=True)]
            for kind in self.kinds
        }
        return {
            "implementation": name,
            "ns_per_byte": {kind: statistics.median(v) * 1e9 / PIECE_BYTES for kind, v in seconds.items()},
            "ratio_to_text": {kind: interval(values) for kind, values in ratios.items()},
            "entropy_bits_per_byte": {kind: samples.bits_per_byte(piece) for kind, piece in pieces.items()},
            "processor": host.processor,
            "aes_instructions": host.aes_instructions,
            "outliers": sum(outliers(values) for values in seconds.values()),
            "timings": self.rounds * len(self.kinds),
        }


def _piece(kind: str) -> bytes:
    """The first bytes of a sample; an image is repeated, as the source's images are smaller."""
    size = samples.KINDS[kind].smallest
    data = samples.sample(kind, size).read_bytes()
    return (data * math.ceil(PIECE_BYTES / len(data)))[:PIECE_BYTES]


def interval(values: Sequence[float]) -> dict[str, float]:
    """Median and its 95 % interval by ranks (the sign test): for any distribution, outliers included."""
    ordered = sorted(values)
    count = len(ordered)
    reach = math.floor(count / 2 - 0.98 * math.sqrt(count))
    return {
        "median": statistics.median(ordered),
        "low": ordered[max(0, reach)],
        "high": ordered[min(count - 1, count - 1 - reach)],
    }


def outliers(values: Sequence[float]) -> int:
    """How many are more than 1.5 interquartile ranges outside the middle half (Tukey's rule)."""
    low, _, high = statistics.quantiles(values, n=4)
    reach = 1.5 * (high - low)
    return sum(not low - reach <= value <= high + reach for value in values)
