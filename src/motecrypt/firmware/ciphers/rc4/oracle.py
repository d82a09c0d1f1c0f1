"""RC4 independent of our C: pycryptodome's, checked with OpenSSL's for the keys that `cryptography` takes."""

from __future__ import annotations

# Key lengths in bytes that `cryptography` accepts for ARC4; any other is left to pycryptodome alone.
_SECOND_OPINION_KEY_BYTES = frozenset({5, 7, 8, 10, 16, 20, 24, 32})


def encrypt(cipher: str, key: bytes, nonce: bytes, ad: bytes, message: bytes) -> tuple[bytes, bytes]:
    """Encrypt `message` and return (ciphertext, tag); the tag is empty, RC4 does not authenticate.

    Parameters
    ----------
    cipher
        ``rc4``.
    key
        5 to 256 bytes.
    nonce, ad
        Empty: RC4 has neither.
    message
        Any length, also none.

    Raises
    ------
    ValueError
        If an argument does not suit the cipher, or the two libraries disagree.
    """
    if cipher != "rc4" or nonce or ad or not 5 <= len(key) <= 256:
        raise ValueError(f"{cipher}: takes a key of 5 to 256 bytes, no nonce and no associated data")
    from Crypto.Cipher import ARC4

    ciphertext: bytes = ARC4.new(key).encrypt(message)
    if len(key) in _SECOND_OPINION_KEY_BYTES:
        second = _openssl(key, message)
        if second is not None and second != ciphertext:
            raise ValueError("rc4: pycryptodome and OpenSSL disagree")
    return ciphertext, b""


def _openssl(key: bytes, message: bytes) -> bytes | None:
    """Encrypt with OpenSSL; None where this build of it has left RC4 out (it is in the legacy provider)."""
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.decrepit.ciphers.algorithms import ARC4
    from cryptography.hazmat.primitives.ciphers import Cipher

    try:
        return Cipher(ARC4(key), mode=None).encryptor().update(message)
    except UnsupportedAlgorithm:
        return None
