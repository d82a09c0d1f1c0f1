"""What an audit sees of a cipher: callables and a seeded source of randomness. No C, no I/O."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from motecrypt.base.model import Cipher

Weight = Literal["good", "note", "bad", "skipped"]


class Rejected(Exception):
    """The receiver refused a message: its tag was wrong."""


class Keyed(Protocol):
    """A cipher under one key that the audit, or the attacker, does not look into."""

    def encrypt(self, message: bytes, nonce: bytes = b"", ad: bytes = b"") -> tuple[bytes, bytes]:
        """Return ciphertext and tag."""

    def decrypt(self, ciphertext: bytes, nonce: bytes = b"", ad: bytes = b"", tag: bytes = b"") -> bytes:
        """Return the message; raises `Rejected` when the tag is wrong."""


class Access(Protocol):
    """Makes keyed instances of one cipher."""

    def keyed(self, key: bytes) -> Keyed:
        """Return the cipher under this key."""


@dataclass(frozen=True)
class Part:
    """The outcome of one part of an audit.

    `weight` says how to read it: good, note (worth knowing), bad, or skipped (`sentences` then hold
    the reason). `data` is plain JSON.
    """

    name: str
    title: str
    verdict: str
    weight: Weight
    sentences: tuple[str, ...]
    data: Mapping[str, Any] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """Return the part as plain JSON values."""
        return {
            "name": self.name,
            "title": self.title,
            "verdict": self.verdict,
            "weight": self.weight,
            "sentences": list(self.sentences),
            "data": dict(self.data),
        }


def skipped(name: str, title: str, reason: str) -> Part:
    """Return a part that could not be run, with the reason."""
    return Part(name, title, "skipped", "skipped", (reason,))


def randomness(seed: int, *labels: object) -> random.Random:
    """Return a generator that depends on the seed and on what it is used for.

    Parts draw from generators of their own, so that adding one changes no other's inputs.
    """
    return random.Random("/".join(str(label) for label in (seed, *labels)))


def key_bytes(cipher: Cipher) -> int:
    """Return the key length in bytes that an audit uses: the shortest measured one of 128 bits or more."""
    long_enough = [bits for bits in cipher.key_bits if bits >= 128]
    return (min(long_enough) if long_enough else max(cipher.key_bits)) // 8


def lengths_allowed(cipher: Cipher, wanted: tuple[int, ...]) -> tuple[int, ...]:
    """Return those of the wanted message lengths in bytes that the cipher takes, ascending."""
    return tuple(sorted({n for n in wanted if cipher.message.allows(n)}))


def nearest_length(cipher: Cipher, wanted: int) -> int:
    """Return the message length in bytes nearest to the wanted one that the cipher takes, not 0."""
    for distance in range(max(wanted, cipher.message.max)):
        for length in (wanted - distance, wanted + distance):
            if length > 0 and cipher.message.allows(length):
                return length
    raise ValueError(f"{cipher.name} does not accept any message")


def flip(data: bytes, bit: int) -> bytes:
    """Return `data` with one bit changed; bit 0 is the lowest of byte 0."""
    changed = bytearray(data)
    changed[bit // 8] ^= 1 << (bit % 8)
    return bytes(changed)


def xor(left: bytes, right: bytes) -> bytes:
    """Return the exclusive or of two strings, as long as the shorter one."""
    n = min(len(left), len(right))
    return (int.from_bytes(left[:n], "big") ^ int.from_bytes(right[:n], "big")).to_bytes(n, "big")
