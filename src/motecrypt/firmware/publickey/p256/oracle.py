"""P-256 by OpenSSL, through cryptography."""

from __future__ import annotations

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature, encode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256

ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551  # SP 800-186, 3.2.1.3
CURVE = ec.SECP256R1()


def _secret(secret: bytes) -> ec.EllipticCurvePrivateKey:
    return ec.derive_private_key(int.from_bytes(secret), CURVE)


def _public(public: bytes) -> ec.EllipticCurvePublicKey:
    return ec.EllipticCurvePublicKey.from_encoded_point(CURVE, b"\x04" + public)


def seed(name: str, random: bytes) -> bytes:
    """A seed: a number from 1 to the order less 1."""
    return (int.from_bytes(random) % (ORDER - 1) + 1).to_bytes(32)


def keygen(name: str, seed: bytes) -> tuple[bytes, bytes]:
    """Secret key (the seed) and public key (x and y)."""
    numbers = _secret(seed).public_key().public_numbers()
    return seed, numbers.x.to_bytes(32) + numbers.y.to_bytes(32)


def agree(name: str, secret: bytes, peer: bytes) -> bytes:
    """The x of the shared point."""
    return _secret(secret).exchange(ec.ECDH(), _public(peer))


def sign(name: str, secret: bytes, message: bytes) -> bytes:
    """The numbers r and s."""
    made = _secret(secret).sign(message, ec.ECDSA(SHA256(), deterministic_signing=True))
    r, s = decode_dss_signature(made)
    return r.to_bytes(32) + s.to_bytes(32)


def verify(name: str, public: bytes, signature: bytes, message: bytes) -> bool:
    """Whether the signature is right."""
    r, s = (int.from_bytes(part) for part in (signature[:32], signature[32:]))
    try:
        _public(public).verify(encode_dss_signature(r, s), message, ec.ECDSA(SHA256()))
    except (InvalidSignature, ValueError):
        return False
    return True
