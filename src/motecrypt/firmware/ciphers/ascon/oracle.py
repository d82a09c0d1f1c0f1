"""Ascon-AEAD128 in plain Python, written from NIST SP 800-232: slow, whole words, nothing shared with the C.

No package on PyPI gives the final standard (`ascon` 0.0.9 is version 1.2 of the competition).
"""

from __future__ import annotations

MASK = (1 << 64) - 1
ROTATIONS = ((19, 28), (61, 39), (1, 6), (10, 17), (7, 41))  # SP 800-232, equations 8 to 12
IV = 0x00001000808C0001  # SP 800-232, appendix B


def _permute(state: list[int], rounds: int) -> list[int]:
    for i in range(12 - rounds, 12):
        state[2] ^= (0xF - i) << 4 | i
        x0, x1, x2, x3, x4 = state
        # the S-box in algebraic normal form, SP 800-232, equation 7, on all 64 columns in parallel
        after = (
            x4 & x1 ^ x3 ^ x2 & x1 ^ x2 ^ x1 & x0 ^ x1 ^ x0,
            x4 ^ x3 & x2 ^ x3 & x1 ^ x3 ^ x2 & x1 ^ x2 ^ x1 ^ x0,
            x4 & x3 ^ x4 ^ x2 ^ x1 ^ MASK,
            x4 & x0 ^ x4 ^ x3 & x0 ^ x3 ^ x2 ^ x1 ^ x0,
            x4 & x1 ^ x4 ^ x3 ^ x1 & x0 ^ x1,
        )
        state = [
            word ^ (word >> a | word << (64 - a)) & MASK ^ (word >> b | word << (64 - b)) & MASK
            for word, (a, b) in zip(after, ROTATIONS, strict=True)
        ]
    return state


def _words(data: bytes) -> tuple[int, int]:
    return int.from_bytes(data[:8], "little"), int.from_bytes(data[8:], "little")


def encrypt(cipher: str, key: bytes, nonce: bytes, ad: bytes, message: bytes) -> tuple[bytes, bytes]:
    """Encrypt with Ascon-AEAD128: key and nonce of 16 bytes; returns ciphertext and a tag of 16 bytes."""
    if cipher != "ascon-aead128":
        raise ValueError(f"this oracle supports ascon-aead128, not {cipher}")
    key0, key1 = _words(key)
    state = _permute([IV, key0, key1, *_words(nonce)], 12)
    state[3] ^= key0
    state[4] ^= key1
    if ad:
        padded = ad + b"\x01" + bytes(15 - len(ad) % 16)
        for start in range(0, len(padded), 16):
            low, high = _words(padded[start : start + 16])
            state[0] ^= low
            state[1] ^= high
            state = _permute(state, 8)
    state[4] ^= 1 << 63
    ciphertext = b""
    padded = message + b"\x01" + bytes(15 - len(message) % 16)
    for start in range(0, len(padded), 16):
        if start:
            state = _permute(state, 8)
        low, high = _words(padded[start : start + 16])
        state[0] ^= low
        state[1] ^= high
        ciphertext += state[0].to_bytes(8, "little") + state[1].to_bytes(8, "little")
    state[2] ^= key0
    state[3] ^= key1
    state = _permute(state, 12)
    tag = (state[3] ^ key0).to_bytes(8, "little") + (state[4] ^ key1).to_bytes(8, "little")
    return ciphertext[: len(message)], tag
