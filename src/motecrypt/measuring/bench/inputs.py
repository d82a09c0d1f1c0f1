"""The random inputs of a measurement: the same for every implementation, compiler and device."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

COUNT = 32
VERSION = 1


@dataclass(frozen=True)
class Inputs:
    """One set of inputs, all in bytes."""

    key: bytes
    nonce: bytes
    ad: bytes
    message: bytes


def draw(
    cipher: str, index: int, key_bits: int, nonce_bytes: int, ad_bytes: int, message_bytes: int
) -> Inputs:
    """The inputs number `index`, derived with SHAKE-256 from the cipher's name and the lengths."""
    seed = f"motecrypt inputs {VERSION}|{cipher}|{index}|{key_bits}|{nonce_bytes}|{ad_bytes}|{message_bytes}"
    stream = hashlib.shake_256(seed.encode()).digest(key_bits // 8 + nonce_bytes + ad_bytes + message_bytes)
    a = key_bits // 8
    b = a + nonce_bytes
    c = b + ad_bytes
    return Inputs(stream[:a], stream[a:b], stream[b:c], stream[c:])
