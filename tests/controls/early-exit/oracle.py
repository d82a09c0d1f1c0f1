"""The toy once more, in Python."""

from __future__ import annotations


def _step(state: bytearray, key: bytes) -> None:
    for i in range(8):
        following = state[(i + 1) & 7]
        x = state[i] ^ key[i] ^ (following << 3 & 0xFF) ^ (following >> 5)
        state[i] = x ^ (x << 1 & 0xFF & key[i + 8]) ^ (state[(i + 5) & 7] >> 1)


def encrypt(cipher: str, key: bytes, nonce: bytes, ad: bytes, message: bytes) -> tuple[bytes, bytes]:
    """Ciphertext and tag."""
    stream, mac, out = bytearray(nonce), bytearray(b ^ 0xFF for b in nonce), bytearray()
    for byte in message:
        _step(stream, key)
        out.append(byte ^ stream[0])
        mac[0] ^= byte
        _step(mac, key)
    for _ in range(8):
        _step(mac, key)
    return bytes(out), bytes(mac)
