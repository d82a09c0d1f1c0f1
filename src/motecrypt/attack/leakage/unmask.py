"""Attacks on the masked AES: what its masks and its random order cost an attacker with its source code.

Masks of first order make each sample alone independent of the key. Two attackers go around that:

- of pairs: the centred product of a sample that shows the S-box's output mask with one that shows an output
  correlates with the output (Chari et al., CRYPTO 1999; Prouff, Rivain, Bevan, IEEE Trans. Computers 58,
  2009);
- of the table: the 256 entries of the masked S-box all show the same mask, which one trace therefore reveals
  (Tunstall, Whitnall, Oswald, FSE 2013). Outputs are then predicted with their mask.

Where S-boxes come in random order, both add up the sixteen samples in which a byte can be.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from motecrypt.attack.leakage import cpa
from motecrypt.attack.leakage.bench_firmware import bench_recorder
from motecrypt.attack.leakage.noise import noise_sd_of
from motecrypt.attack.leakage.recording import CHANNELS, Recorder
from motecrypt.attack.leakage.targets import aes_sbox, target_named
from motecrypt.attack.leakage.traces import Bytes
from motecrypt.base.errors import MotecryptError
from motecrypt.base.model import Cipher, Device, Implementation

ATTACKERS = ("pairs", "table")
PARTS, ENTRIES = 16, 256
_WEIGHTS = np.array([value.bit_count() for value in range(256)], np.uint8)


@dataclass(frozen=True)
class MaskedPlaces:
    """Instructions of the rounds that show something, from the first one.

    Attributes
    ----------
    table
        (256,): those that show entry k of the S-box XOR the output mask.
    slots
        (16,): those that show an output of the first round XOR the output mask.
    """

    table: NDArray[np.intp]
    slots: NDArray[np.intp]


@dataclass(frozen=True)
class Masked:
    """A protected AES-128 in counter mode on a device, and the seed of all that is drawn."""

    device: Device
    cipher: Cipher
    implementation: Implementation
    seed: int

    def key(self, experiment: int) -> bytes:
        """The key of one experiment; -1 is the one that the layout is found with."""
        return self.random("key", experiment).bytes(16)

    def random(self, what: str, experiment: int) -> np.random.Generator:
        """A generator for one purpose in one experiment."""
        return np.random.default_rng([self.seed, experiment % (1 << 32), *what.encode()])

    def layout(self) -> MaskedPlaces:
        """Find the instructions by the values that they write under a known key.

        Raises
        ------
        MotecryptError
            When there are none: this is not that code.
        """
        recorder = self._recorder(-1, 0, None)
        inputs = self._inputs(-1, 1)
        _, detail = recorder.details(inputs)[0]
        written = (detail["meetings"][:, CHANNELS.index("result")]["after"] & 0xFF).astype(np.uint8)
        places = {int(pc): np.flatnonzero(detail["pc"] == pc) for pc in np.unique(detail["pc"])}
        sbox = aes_sbox()
        for table in places.values():
            masks = set((written[table] ^ sbox).tolist()) if len(table) == ENTRIES else set()
            if len(masks) != 1 or 0 in masks:
                continue
            outputs = sbox[inputs[0, :16] ^ np.frombuffer(self.key(-1), np.uint8)] ^ masks.pop()
            for found in places.values():
                slots = found[found > table[-1]][:PARTS]
                if np.array_equal(np.sort(written[slots]), np.sort(outputs)):
                    return MaskedPlaces(table, slots)
        raise MotecryptError(
            f"{self.implementation.name}: no table and no S-boxes of a masked AES were found"
        )

    def samples(
        self, experiment: int, traces: int, places: NDArray[np.intp]
    ) -> tuple[NDArray[np.uint8], Bytes]:
        """Weights at some instructions (traces, places), without noise; and counter blocks (traces, 16)."""
        first, count = int(places.min()), int(np.ptp(places)) + 1
        inputs = self._inputs(experiment, traces)
        recorder = self._recorder(experiment, first, count)
        batches = recorder.record(inputs, count, ("result",))
        found = [batch.samples[:, 0, places - first] for batch in batches]
        return np.concatenate(found), inputs[:, :16]

    def _inputs(self, experiment: int, traces: int) -> Bytes:
        """A counter block and the generator's state for each trace."""
        return self.random("inputs", experiment).integers(0, 256, (traces, 56), np.uint8)

    def _recorder(self, experiment: int, skip: int, instructions: int | None) -> Recorder:
        return bench_recorder(
            self.device,
            self.implementation,
            self.cipher,
            "encrypt",
            self.key(experiment),
            bytes(16),
            bytes(16),
            vary="nonce",
            skip=skip,
            instructions=instructions,
        )


def pair_products(mask: NDArray[np.float64], outputs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Centred products of one sample (n,) with some others (n, s): (n, s)."""
    products: NDArray[np.float64] = (mask - mask.mean())[:, None] * (outputs - outputs.mean(axis=0))
    return products


def masks_of(entries: NDArray[np.float64]) -> Bytes:
    """The mask that fits the entries of a masked S-box best, (n,), from samples of their weights (n, 256)."""
    weights = _WEIGHTS[aes_sbox()[:, None] ^ np.arange(256, dtype=np.uint8)].astype(np.float64)
    centred = weights - weights.mean(axis=0)
    scores = entries @ (centred / np.sqrt(np.square(centred).sum(axis=0)))
    best: Bytes = scores.argmax(axis=1).astype(np.uint8)
    return best


def known_mask_scores(outputs: NDArray[np.float64], known: Bytes, masks: Bytes) -> NDArray[np.float64]:
    """The greatest correlation of each guess with a sample (n, s), if outputs have these masks: (16, 256)."""
    centred = outputs - outputs.mean(axis=0)
    centred /= np.maximum(np.sqrt(np.square(centred).sum(axis=0)), 1e-9)
    guesses = np.arange(256, dtype=np.uint8)
    found = np.zeros((PARTS, 256))
    for part in range(PARTS):
        weights = _WEIGHTS[aes_sbox()[known[:, part, None] ^ guesses] ^ masks[:, None]].astype(np.float64)
        weights -= weights.mean(axis=0)
        weights /= np.maximum(np.sqrt(np.square(weights).sum(axis=0)), 1e-9)
        found[part] = (weights.T @ centred).max(axis=1)
    return found


def found_key(
    masked: Masked, layout: MaskedPlaces, attacker: str, snr: float, counts: Sequence[int], experiment: int
) -> list[bool]:
    """Whether an attacker of `ATTACKERS` finds the whole key, with each of these numbers of traces."""
    whole = attacker == "table"
    places = np.concatenate([layout.table if whole else layout.table[-1:], layout.slots])
    clean, known = masked.samples(experiment, counts[-1], places)
    noise = masked.random("noise", experiment).normal(0, noise_sd_of(snr), clean.shape)
    traces = clean + noise
    outputs = traces[:, -PARTS:]
    if "AES_MASKED_IN_ORDER" not in masked.implementation.defines:
        outputs = outputs.sum(axis=1, keepdims=True)
    key = np.frombuffer(masked.key(experiment), np.uint8)
    if whole:
        masks = masks_of(traces[:, :ENTRIES])
        scores = [known_mask_scores(outputs[:count], known[:count], masks[:count]) for count in counts]
        return [bool((each.argmax(axis=1) == key).all()) for each in scores]
    # The last entry has the mask XOR a constant: that much of the output correlates with the product.
    usual, last = target_named("aes-encrypt-first"), aes_sbox()[-1]
    target = replace(usual, values=lambda part: usual.values(part) ^ last)
    found = cpa.scores_of(pair_products(traces[:, 0], outputs), known, target, counts)
    return [bool((each.argmax(axis=1) == key).all()) for each in found]
