"""XTEA in plain Python, from the paper: what every output of the C code is compared with."""

from __future__ import annotations

MASK = 0xFFFFFFFF
DELTA = 0x9E3779B9


def encrypt(cipher: str, key: bytes, nonce: bytes, ad: bytes, message: bytes) -> tuple[bytes, bytes]:
    """Return ciphertext and tag (empty: XTEA has none) under the cipher of that name."""
    words = [int.from_bytes(key[i : i + 4], "big") for i in range(0, 16, 4)]
    done = b""
    for at in range(0, len(message), 8):
        block = message[at : at + 8]
        if cipher == "xtea-cbc":
            block = bytes(a ^ b for a, b in zip(block, done[-8:] or nonce, strict=True))
        done += _block(words, block)
    return done, b""


def _block(words: list[int], block: bytes) -> bytes:
    a, b = int.from_bytes(block[:4], "big"), int.from_bytes(block[4:], "big")
    total = 0
    for _ in range(32):
        a = (a + (((b << 4 ^ b >> 5) + b) ^ (total + words[total & 3]))) & MASK
        total = (total + DELTA) & MASK
        b = (b + (((a << 4 ^ a >> 5) + a) ^ (total + words[total >> 11 & 3]))) & MASK
    return a.to_bytes(4, "big") + b.to_bytes(4, "big")
