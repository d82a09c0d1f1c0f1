"""What happens to packets on the way: lost, damaged, doubled, overtaken. Seeded, so every run repeats."""

from __future__ import annotations

import random
from dataclasses import dataclass

from motecrypt.base.errors import InputError


@dataclass(frozen=True)
class Channel:
    """How unkind the way is.

    Attributes
    ----------
    loss : probability 0 to 1 that a packet vanishes.
    bit_error_rate : probability 0 to 1 for each payload bit to flip.
    crc : whether the receiving radio drops packets with flipped bits (its CRC), or hands them on.
    duplicate : probability that a packet arrives twice.
    reorder : probability that a packet is overtaken by the one behind it.
    seed : of the random numbers; the same seed gives the same run.
    """

    loss: float = 0.0
    bit_error_rate: float = 0.0
    crc: bool = True
    duplicate: float = 0.0
    reorder: float = 0.0
    seed: int = 1

    def __post_init__(self) -> None:
        for name in ("loss", "bit_error_rate", "duplicate", "reorder"):
            if not 0 <= getattr(self, name) <= 1:
                raise InputError(f"{name} is {getattr(self, name)}; give a probability from 0 to 1")

    def generator(self) -> random.Random:
        """A fresh stream of this channel's random numbers."""
        return random.Random(self.seed)

    def damage(self, generator: random.Random, packet: bytes) -> bytes | None:
        """The packet as it arrives: intact, with flipped bits, or None when it does not arrive."""
        if self.loss and generator.random() < self.loss:
            return None
        if not self.bit_error_rate:
            return packet
        intact = (1 - self.bit_error_rate) ** (8 * len(packet))
        if generator.random() < intact:
            return packet
        if self.crc:
            return None
        damaged = bytearray(packet)
        flips = 1
        while generator.random() < self.bit_error_rate * 8 * len(packet) / 2 and flips < 8 * len(packet):
            flips += 1
        for bit in generator.sample(range(8 * len(packet)), flips):
            damaged[bit // 8] ^= 1 << (bit % 8)
        return bytes(damaged)
