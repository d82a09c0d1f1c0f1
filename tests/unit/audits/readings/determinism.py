"""What repetition shows of made-up ciphers, and how it is reported."""

from __future__ import annotations

from itertools import product
from random import Random
from typing import Any

import audit_toys as toys

from goldens.text import digest, plain
from motecrypt.attack.audits import determinism, oracle
from readings.made_up import KEY, des, made_of, of_lengths


def _half(message: bytes, key: bytes, nonce: bytes, at: int) -> bytes:
    """A keystream up to a place, and behind it a hash of all."""
    stream = oracle.xor(message, toys.rc4(key + nonce, bytes(len(message))))
    return stream[:at] + toys.rc4(key + nonce + message, bytes(len(message)))[at:]


def determinisms() -> dict[str, Any]:
    """What repetition shows of made-up ciphers, and how it is reported."""
    told = []
    for nonce, fresh, leak, block, clear in product((0, 12), (0, 3), (0, 1, 48), (0, 8), (False, True)):
        for prefixes in ({"0": 9}, {"0": 0, "8": 7, "1": 0}, {"1": 1, "8": 0}, {"8": 8, "24": 17}, {"24": 7}):
            data = {
                "message_bytes": 48,
                "xor_leak_bytes": leak,
                "equal_block_bytes": block,
                "prefix_leak_bytes": prefixes,
                "equal_with_fresh_nonce": fresh,
                "one_byte_in_clear": clear,
                "overhead_bytes": nonce,
            }
            cipher = of_lengths(0, 99, 2 if clear else 1, nonce_bytes=nonce, tag_bytes=nonce // 3)
            told.append(determinism._read(cipher, data))

    def thrice(key: bytes, message: bytes, nonce: bytes) -> bytes:
        """Equal blocks of 8 except for the third."""
        return bytes(16) + toys.rc4(key + message, message[16:])

    def seldom(key: bytes, message: bytes, nonce: bytes) -> bytes:
        return bytes(len(message)) if message[0] < 250 else toys.rc4(key, message)

    def repeated(encrypt: Any, nonce_bytes: int, n: int = 24) -> Any:
        cipher = of_lengths(0, 99, nonce_bytes=nonce_bytes)
        victim = made_of(encrypt).keyed(KEY)
        return determinism._repeated_nonce(victim, cipher, Random(1), n)

    def grown(lengths: tuple[int, ...], nonce_bytes: int, tag: bytes, encrypt: Any) -> Any:
        victim = toys.Toy(KEY, lambda k, m, n, a: (encrypt(m), tag), lambda k, c, n, a, t: c)
        cipher = of_lengths(*lengths, nonce_bytes=nonce_bytes, tag_bytes=len(tag))
        return determinism._expansion(victim, cipher, Random(1))

    return {
        "told": [[*weight_first[1:], " ".join(weight_first[0])] for weight_first in told[::17]],
        "all told": digest(plain(told)),
        "equal blocks": [
            determinism._equal_blocks(made_of(encrypt).keyed(KEY), of_lengths(low, most, multiple), Random(2))
            for encrypt, low, most, multiple in (
                *((des, 0, 99, 8), (des, 0, 32, 8), (des, 64, 99, 8), (des, 0, 31, 8), (thrice, 0, 99, 8)),
                *((seldom, 0, 99, 8), (seldom, 64, 64, 8)),
                (lambda k, m, n: bytes(len(m)), 64, 64, 1),
                (lambda k, m, n: toys.rc4(k, bytes(16)) * 4, 0, 64, 1),
            )
        ],
        "repeated": [
            repeated(lambda k, m, n, at=at: _half(m, k, n, at), nonce_bytes)
            for at in (0, 1, 5, 24)
            for nonce_bytes in (0, 4)
        ]
        + [repeated(lambda k, m, n: toys.rc4(k + n[:1], m), 1, n) for n in (1, 2, 8, 9, 33)],
        "grown": [
            grown((0, 99), 3, b"tag", lambda m: m),
            grown((0, 99), 0, b"", lambda m: m),
            grown((2, 16), 1, b"", lambda m: m + b"?"),
            grown((0, 99), 0, b"", lambda m: m if m != b"\xff" else b"?"),
            grown((0, 99), 0, b"", lambda m: m if m != b"\0" else b"?"),
            grown((1, 1), 0, b"", lambda m: bytes([m[0] ^ 1])),
        ],
        "leading": [determinism._leading(each) for each in ([], [0, 1], [1, 0, 1], [1, 1], iter([True] * 3))],
    }
