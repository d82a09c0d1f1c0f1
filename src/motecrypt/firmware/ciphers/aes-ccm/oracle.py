"""AES-CCM by OpenSSL, through the package cryptography."""

from __future__ import annotations


def encrypt(cipher: str, key: bytes, nonce: bytes, ad: bytes, message: bytes) -> tuple[bytes, bytes]:
    """Encrypt with aes{128,192,256}-ccm{4,8,16}: a nonce of 7 to 13 bytes; returns ciphertext and tag."""
    from cryptography.hazmat.primitives.ciphers.aead import AESCCM

    name, _, tag_bytes = cipher.partition("-ccm")
    if name != f"aes{8 * len(key)}":
        raise ValueError(f"{cipher} does not take a key of {8 * len(key)} bits")
    sealed = AESCCM(key, tag_length=int(tag_bytes)).encrypt(nonce, message, ad or None)
    return sealed[: len(message)], sealed[len(message) :]
