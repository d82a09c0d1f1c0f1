"""Keys of an OSCORE security context (RFC 8613, section 3.2), for both of its ends. Pure.

A node gets keys and IV as they are (firmware/coap/oscore.h), so that it needs no SHA-256. The gateway's proxy
passes protected messages on, and has no keys.
"""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass

from motecrypt.base.errors import InputError

ALGORITHM = 10
"""AES-CCM-16-64-128, of COSE."""
KEY_BYTES, IV_BYTES = 16, 13
SECRET_BYTES_MIN = 16
ID_MAX = 7
_SHA256_BYTES = 32


@dataclass(frozen=True)
class OscoreKeys:
    """What one end works with.

    Attributes
    ----------
    sender_key, recipient_key : 16 bytes each; the other end has them the other way round.
    common_iv : 13 bytes.
    """

    sender_key: bytes
    recipient_key: bytes
    common_iv: bytes


def derive_oscore(secret: bytes, salt: bytes, sender_id: bytes, recipient_id: bytes) -> OscoreKeys:
    """The keys of an end, with AES-CCM-16-64-128 and HKDF-SHA-256.

    Parameters
    ----------
    secret : bytes
        The master secret, 16 bytes or more, for this pair of ends alone.
    salt : bytes
        The master salt; may be empty.
    sender_id, recipient_id : bytes
        Up to 7 bytes each, and not the same.

    Raises
    ------
    InputError
        A length is not allowed, or the identifiers are equal.
    """
    if len(secret) < SECRET_BYTES_MIN:
        raise InputError(f"a master secret of {len(secret)} bytes; OSCORE takes {SECRET_BYTES_MIN} or more")
    for name in (sender_id, recipient_id):
        if len(name) > ID_MAX:
            raise InputError(f"an OSCORE identifier of {len(name)} bytes; it takes 0 to {ID_MAX}")
    if sender_id == recipient_id:
        raise InputError("both OSCORE identifiers are the same: both ends would use one key")
    extracted = hmac.digest(salt or bytes(_SHA256_BYTES), secret, "sha256")

    def expand(name: bytes, kind: bytes, length: int) -> bytes:
        info = bytes([0x85, 0x40 | len(name)]) + name + bytes([0xF6, ALGORITHM, 0x60 | len(kind)])
        info += kind + bytes([length])
        return hmac.digest(extracted, info + b"\1", hashlib.sha256)[:length]

    return OscoreKeys(
        sender_key=expand(sender_id, b"Key", KEY_BYTES),
        recipient_key=expand(recipient_id, b"Key", KEY_BYTES),
        common_iv=expand(b"", b"IV", IV_BYTES),
    )
