"""Sealing: AES-CCM over one message, and the authenticated answers to it.

Nonce (13 bytes): kind 1, stream 4, counter 4, zeros 4. A message, its acceptance and its refusal are
three kinds, so no nonce serves twice; the answers have no content and are the same each time they are
sent. CCM with a 13-byte nonce and an 8-byte tag is the one of RFC 3610 and IEEE 802.15.4.
"""

from __future__ import annotations

import struct

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESCCM

TAG_BYTES = 8
HEADER_BYTES = 8
MESSAGE, ACCEPTANCE, REFUSAL = 1, 2, 3
ASSOCIATED = b"motecrypt1"


def _nonce(kind: int, stream: int, counter: int) -> bytes:
    return struct.pack(">BIIxxxx", kind, stream, counter)


class Sealer:
    """All that is done with the key of a link."""

    def __init__(self, key: bytes) -> None:
        self._ccm = AESCCM(key, tag_length=TAG_BYTES)

    def seal(self, stream: int, counter: int, message: bytes) -> bytes:
        """Stream, counter, ciphertext, tag."""
        nonce = _nonce(MESSAGE, stream, counter)
        return struct.pack(">II", stream, counter) + self._ccm.encrypt(nonce, message, ASSOCIATED)

    def open(self, sealed: bytes) -> bytes | None:
        """The message, or None when it is not genuine."""
        try:
            stream, counter = header(sealed)
            return self._ccm.decrypt(_nonce(MESSAGE, stream, counter), sealed[HEADER_BYTES:], ASSOCIATED)
        except (struct.error, InvalidTag):  # too short for a header, or for a tag
            return None

    def answer(self, kind: int, stream: int, counter: int) -> bytes:
        """The tag that proves an acceptance or a refusal of that message."""
        return self._ccm.encrypt(_nonce(kind, stream, counter), b"", ASSOCIATED)


def header(sealed: bytes) -> tuple[int, int]:
    """Stream and counter of a sealed message; of its first 8 bytes alone, too."""
    stream, counter = struct.unpack_from(">II", sealed)
    return stream, counter
