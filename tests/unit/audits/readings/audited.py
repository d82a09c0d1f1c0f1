"""Whole audits of quick ciphers with few trials: what they say, and what they asked the cipher."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import shake_256
from typing import Any
from unittest import mock

import audit_toys as toys

from goldens.text import digest, plain
from motecrypt.attack.audits import avalanche, oracle, statistics
from motecrypt.base.model import MessageLengths
from readings.made_up import des


def _hashed(key: bytes, message: bytes, nonce: bytes) -> bytes:
    """All depends on all."""
    return shake_256(b"|".join((key, nonce, message))).digest(len(message))


def _streamed(key: bytes, message: bytes, nonce: bytes) -> bytes:
    return oracle.xor(message, shake_256(key + nonce).digest(len(message)))


Function = Callable[[bytes, bytes, bytes], bytes]


def _access(encrypt: Function, decrypt: Function, tag_bytes: int = 0) -> toys.ToyAccess:
    def sealed(key: bytes, message: bytes, nonce: bytes, ad: bytes) -> tuple[bytes, bytes]:
        tag = shake_256(b"tag" + key + nonce + ad + message).digest(tag_bytes)
        return encrypt(key, message, nonce), tag

    def opened(key: bytes, ciphertext: bytes, nonce: bytes, ad: bytes, tag: bytes) -> bytes:
        message = decrypt(key, ciphertext, nonce)
        if sealed(key, message, nonce, ad)[1] != tag:
            raise oracle.Rejected
        return message

    return toys.ToyAccess(sealed, opened)


CIPHERS: dict[str, tuple[dict[str, Any], toys.ToyAccess]] = {
    "hash one way": ({"nonce_bytes": 2}, _access(_hashed, _streamed)),
    "stream": ({"nonce_bytes": 1}, _access(_streamed, _streamed)),
    "stream with a tag": (
        {"nonce_bytes": 2, "tag_bytes": 4, "associated_data": True},
        _access(_streamed, _streamed, 4),
    ),
    "long messages with a tag": (
        {"message": MessageLengths(60, 64), "tag_bytes": 1},
        _access(_hashed, _streamed, 1),
    ),
    "short messages": ({"message": MessageLengths(1, 5)}, _access(_streamed, _hashed)),
    "pairs of bytes": ({"message": MessageLengths(0, 40, 2), "tag_bytes": 3}, _access(_hashed, _streamed, 3)),
    "DES": ({"message": MessageLengths(0, 99, 8), "key_bits": (64,)}, _access(des, des)),
}


def audited() -> dict[str, Any]:
    """What each part says of each."""
    found: dict[str, Any] = {}
    fewer = (
        mock.patch.multiple(avalanche, TRIALS=2, KEY_TRIALS=1, LENGTHS=(1, 2, 24, 33)),
        mock.patch.multiple(statistics, SAMPLE_BYTES=8192, KEYS=64),
    )
    for patch in fewer:
        patch.start()
    try:
        for name, (changes, access) in CIPHERS.items():
            cipher = toys.described(name, **changes)
            for part, run in (
                ("avalanche", avalanche.audit),
                ("avalanche, quick", lambda a, c, s: avalanche.audit(a, c, s, quick=True)),
                ("statistics", statistics.audit),
                ("statistics, quick", lambda a, c, s: statistics.audit(a, c, s, quick=True)),
            ):
                seen = toys.Told(access)
                told = run(seen, cipher, 3)
                data = {
                    key: value if len(str(value)) < 200 else digest(plain(value))
                    for key, value in told.data.items()
                }
                said = [told.verdict, told.weight, *told.sentences, data, seen.digest()]
                found[f"{part} of {name}"] = plain(said)
    finally:
        for patch in fewer:
            patch.stop()
    return found
