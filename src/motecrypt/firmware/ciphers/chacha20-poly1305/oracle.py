"""ChaCha20-Poly1305 by OpenSSL, through the package cryptography."""

from __future__ import annotations


def encrypt(cipher: str, key: bytes, nonce: bytes, ad: bytes, message: bytes) -> tuple[bytes, bytes]:
    """Encrypt with a key of 32 and a nonce of 12 bytes; returns ciphertext and a tag of 16 bytes."""
    from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

    if cipher != "chacha20-poly1305":
        raise ValueError(f"this oracle supports chacha20-poly1305, not {cipher}")
    sealed = ChaCha20Poly1305(key).encrypt(nonce, message, ad or None)
    return sealed[:-16], sealed[-16:]
