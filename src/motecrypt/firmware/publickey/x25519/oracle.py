"""X25519 by OpenSSL, through cryptography."""

from __future__ import annotations

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey


def keygen(name: str, seed: bytes) -> tuple[bytes, bytes]:
    """Secret and public key; the secret is the seed itself."""
    return seed, X25519PrivateKey.from_private_bytes(seed).public_key().public_bytes_raw()


def agree(name: str, secret: bytes, peer: bytes) -> bytes:
    """The shared secret."""
    return X25519PrivateKey.from_private_bytes(secret).exchange(X25519PublicKey.from_public_bytes(peer))
