"""AES-SIV by OpenSSL, through the package cryptography."""

from __future__ import annotations


def encrypt(cipher: str, key: bytes, nonce: bytes, ad: bytes, message: bytes) -> tuple[bytes, bytes]:
    """Encrypt with aes{128,192,256}-siv, whose key is two AES keys; returns ciphertext and synthetic IV.

    Components are (ad, nonce) where there is a nonce (RFC 5297, section 6), else (ad) unless it is empty.
    """
    from cryptography.hazmat.primitives.ciphers.aead import AESSIV

    if cipher != f"aes{4 * len(key)}-siv":
        raise ValueError(f"{cipher} does not take a key of {8 * len(key)} bits")
    components = [ad, nonce] if nonce else [ad] if ad else []
    sealed = AESSIV(key).encrypt(message, components)
    return sealed[16:], sealed[:16]
