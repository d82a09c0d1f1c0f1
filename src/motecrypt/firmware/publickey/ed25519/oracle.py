"""Ed25519 by OpenSSL, through cryptography."""

from __future__ import annotations

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey


def keygen(name: str, seed: bytes) -> tuple[bytes, bytes]:
    """Secret key (the seed, then the public key) and public key."""
    public = Ed25519PrivateKey.from_private_bytes(seed).public_key().public_bytes_raw()
    return seed + public, public


def sign(name: str, secret: bytes, message: bytes) -> bytes:
    """The signature."""
    return Ed25519PrivateKey.from_private_bytes(secret[:32]).sign(message)


def verify(name: str, public: bytes, signature: bytes, message: bytes) -> bool:
    """Whether the signature is right."""
    try:
        Ed25519PublicKey.from_public_bytes(public).verify(signature, message)
    except (InvalidSignature, ValueError):
        return False
    return True
