"""Encrypt or decrypt one message with our own C code."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from motecrypt.app.selection import nearest_length, select
from motecrypt.attack.audits.weak_keys import key_warnings
from motecrypt.base.errors import InputError
from motecrypt.base.model import Cipher
from motecrypt.build.setup import need
from motecrypt.build.toolchain.native import open_cipher


@dataclass(frozen=True)
class CryptRequest:
    """A message.

    Attributes
    ----------
    cipher : a name, or the path of a folder of your own, whose known answers are run first.
    message : the plaintext; with `decrypt` the ciphertext and, of an AEAD, the tag.
    ad : associated data. variant : of our implementation.
    """

    cipher: str
    message: bytes
    key: bytes
    nonce: bytes = b""
    ad: bytes = b""
    decrypt: bool = False
    variant: str | None = None


def crypt(request: CryptRequest, warn: Callable[[str], None] = lambda told: None) -> bytes:
    """The ciphertext with its tag, or the plaintext; `warn` gets what is wrong with the key.

    InputError for lengths that the cipher does not take; MotecryptError for a forged message.
    """
    chosen = select([request.cipher])
    cipher, message = chosen.cipher, request.message
    _check(cipher, request)
    body_bytes = len(message) - (cipher.tag_bytes if request.decrypt else 0)
    if body_bytes < 0:
        raise InputError(
            f"{cipher.name}: {len(message)} bytes are too short for its {cipher.tag_bytes}-byte tag"
        )
    if body_bytes < cipher.message.min or body_bytes % cipher.message.multiple:
        takes = nearest_length(cipher, body_bytes)
        raise InputError(f"{cipher.name}: a message of {body_bytes} bytes; it takes {takes}")
    for warning in key_warnings(cipher.name, request.key):
        warn(warning)
    need("host")
    chosen.prove_own()
    engine = open_cipher(cipher.name, request.variant, chosen.catalog)
    engine.setup(request.key)
    if request.decrypt:
        return engine.decrypt(message[:body_bytes], request.nonce, request.ad, message[body_bytes:])
    return b"".join(engine.encrypt(message, request.nonce, request.ad))


def _check(cipher: Cipher, request: CryptRequest) -> None:
    bits = len(request.key) * 8
    if cipher.key_bits_allowed:
        low, high, step = cipher.key_bits_allowed
        fits = low <= bits <= high and (bits - low) % step == 0
        expected = f"{low} to {high} bits"
    else:
        fits = bits in cipher.key_bits
        expected = " or ".join(map(str, cipher.key_bits)) + " bits"
    if not fits:
        raise InputError(f"the key: {bits} bits; {cipher.name} takes {expected}")
    if request.nonce and not cipher.nonce_bytes:
        raise InputError(f"--nonce: {cipher.name} has no nonce")
    if cipher.nonce_bytes and not request.nonce:
        raise InputError(f"--nonce: missing; {cipher.name} needs one of {cipher.nonce_bytes} bytes")
    if request.ad and not cipher.associated_data:
        raise InputError(f"--ad: {cipher.name} does not take associated data")
