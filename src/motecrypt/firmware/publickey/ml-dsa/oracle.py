"""ML-DSA-44 by OpenSSL, through cryptography."""

from __future__ import annotations

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.mldsa import MLDSA44PrivateKey, MLDSA44PublicKey


def keygen(name: str, seed: bytes) -> tuple[bytes, bytes]:
    """Secret key (the seed) and public key."""
    return seed, MLDSA44PrivateKey.from_seed_bytes(seed).public_key().public_bytes_raw()


def sign(name: str, secret: bytes, message: bytes) -> bytes:
    """A signature, with an empty context."""
    return MLDSA44PrivateKey.from_seed_bytes(secret).sign(message)


def verify(name: str, public: bytes, signature: bytes, message: bytes) -> bool:
    """Whether the signature is right, with an empty context."""
    try:
        MLDSA44PublicKey.from_public_bytes(public).verify(signature, message)
    except (InvalidSignature, ValueError):
        return False
    return True
