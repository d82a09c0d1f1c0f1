"""ElGamal with Python's own numbers, in the group 14 of RFC 3526."""

from __future__ import annotations

PRIME = int(
    "ffffffffffffffffc90fdaa22168c234c4c6628b80dc1cd129024e088a67cc74020bbea63b139b22514a08798e3404dd"
    "ef9519b3cd3a431b302b0a6df25f14374fe1356d6d51c245e485b576625e7ec6f44c42e9a637ed6b0bff5cb6f406b7ed"
    "ee386bfb5a899fa5ae9f24117c4b1fe649286651ece45b3dc2007cb8a163bf0598da48361c55d39a69163fa8fd24cf5f"
    "83655d23dca3ad961c62f356208552bb9ed529077096966d670c354e4abc9804f1746c08ca18217c32905e462e36ce3b"
    "e39e772c180e86039b2783a2ec07a28fb5c55df06f4c52c9de2bcbf6955817183995497cea956ae515d2261898fa0510"
    "15728e5a8aacaa68ffffffffffffffff",
    16,
)
BASE, BYTES = 2, 256


def keygen(name: str, seed: bytes) -> tuple[bytes, bytes]:
    """Secret key (the seed) and public key."""
    return seed, pow(BASE, int.from_bytes(seed), PRIME).to_bytes(BYTES)


def encapsulate(name: str, public: bytes, random: bytes) -> tuple[bytes, bytes]:
    """Ciphertext and shared secret."""
    exponent = int.from_bytes(random)
    shared = pow(int.from_bytes(public), exponent, PRIME)
    return pow(BASE, exponent, PRIME).to_bytes(BYTES), shared.to_bytes(BYTES)


def decapsulate(name: str, secret: bytes, ciphertext: bytes) -> bytes:
    """The shared secret."""
    return pow(int.from_bytes(ciphertext), int.from_bytes(secret), PRIME).to_bytes(BYTES)
