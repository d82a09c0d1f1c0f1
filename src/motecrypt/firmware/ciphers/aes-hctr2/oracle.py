"""AES-HCTR2 in plain Python from the paper (ePrint 2021/1441, section 3), over OpenSSL's AES.

Polynomials are Python integers; POLYVAL is computed by its definition in RFC 8452, section 3.
"""

from __future__ import annotations

MODULUS = 1 << 128 | 1 << 127 | 1 << 126 | 1 << 121 | 1
INVERSE = 1 << 127 | 1 << 124 | 1 << 121 | 1 << 114 | 1  # x^-128, RFC 8452, section 3


def _multiply(a: int, b: int) -> int:
    product = 0
    while b:
        low = b & -b
        product ^= a * low
        b ^= low
    for bit in range(product.bit_length() - 1, 127, -1):
        if product >> bit & 1:
            product ^= MODULUS << (bit - 128)
    return product


def _polyval(key: int, data: bytes) -> int:
    """POLYVAL with `key` already multiplied by x^-128."""
    total = 0
    for start in range(0, len(data), 16):
        total = _multiply(total ^ int.from_bytes(data[start : start + 16], "little"), key)
    return total


def encrypt(cipher: str, key: bytes, nonce: bytes, ad: bytes, message: bytes) -> tuple[bytes, bytes]:
    """Encrypt 16 bytes or more with aes{128,192,256}-hctr2; the nonce is the tweak; there is no tag."""
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

    if cipher != f"aes{8 * len(key)}-hctr2" or ad or len(message) < 16:
        raise ValueError(
            f"{cipher} does not take a key of {8 * len(key)} bits, {len(ad)} bytes of "
            f"associated data and {len(message)} bytes of message"
        )
    aes = Cipher(algorithms.AES(key), modes.ECB()).encryptor()

    def block(number: int) -> int:
        return int.from_bytes(aes.update(number.to_bytes(16, "little")), "little")

    hash_key = _multiply(block(0), INVERSE)
    tweak = nonce + bytes(-len(nonce) % 16)
    bulk = message[16:]

    def hashed(data: bytes) -> int:
        bits = 8 * len(nonce)
        if len(data) % 16 == 0:
            return _polyval(hash_key, (2 * bits + 2).to_bytes(16, "little") + tweak + data)
        padded = data + b"\x01" + bytes(15 - len(data) % 16)
        return _polyval(hash_key, (2 * bits + 3).to_bytes(16, "little") + tweak + padded)

    middle_in = int.from_bytes(message[:16], "little") ^ hashed(bulk)
    middle_out = block(middle_in)
    seed = middle_in ^ middle_out ^ block(1)
    stream = b"".join(block(seed ^ i).to_bytes(16, "little") for i in range(1, len(bulk) // 16 + 2))
    ciphertext = bytes(a ^ b for a, b in zip(bulk, stream, strict=False))
    return (middle_out ^ hashed(ciphertext)).to_bytes(16, "little") + ciphertext, b""
