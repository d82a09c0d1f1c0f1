"""Made-up ciphers that the audits are tried on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import audit_toys as toys

from motecrypt.base.model import MessageLengths

KEY = bytes(range(1, 17))


def refused(call: Callable[[], Any]) -> Any:
    """What a call gives, or the error that it raises."""
    try:
        return call()
    except ValueError as error:
        return f"{error}"


def of_lengths(low: int, most: int, multiple: int = 1, **more: Any) -> Any:
    """A cipher that takes messages of those lengths."""
    return toys.described("made-up", message=MessageLengths(low, most, multiple), **more)


def made_of(encrypt: Callable[[bytes, bytes, bytes], Any]) -> toys.ToyAccess:
    """A cipher of a function of key, message and nonce, without a tag; decryption gives the ciphertext."""
    return toys.ToyAccess(lambda k, m, n, a: (encrypt(k, m, n), b""), lambda k, c, n, a, t: c)


def des(key: bytes, message: bytes, nonce: bytes) -> bytes:
    """DES, a block for itself each."""
    from Crypto.Cipher import DES

    return DES.new(key[:8], DES.MODE_ECB).encrypt(message)
