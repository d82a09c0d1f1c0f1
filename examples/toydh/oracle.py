"""The same with Python's own numbers."""

from __future__ import annotations

PRIME, BASE = 2**31 - 1, 7


def keygen(name: str, seed: bytes) -> tuple[bytes, bytes]:
    """Secret and public key."""
    return seed, pow(BASE, int.from_bytes(seed), PRIME).to_bytes(4)


def agree(name: str, secret: bytes, peer: bytes) -> bytes:
    """The shared secret; ValueError for a public key that has to be refused."""
    if not 0 < int.from_bytes(peer) < PRIME:
        raise ValueError("no number modulo the prime")
    return pow(int.from_bytes(peer), int.from_bytes(secret), PRIME).to_bytes(4)
