"""What changes do to made-up ciphers, and how it is reported."""

from __future__ import annotations

from random import Random
from types import SimpleNamespace
from typing import Any

import audit_toys as toys

from goldens.text import plain
from motecrypt.attack.audits import integrity, oracle
from readings.made_up import KEY, of_lengths


def integrities() -> dict[str, Any]:
    """What changes do to made-up ciphers, and how it is reported."""

    def effects(low: int, high: int, pairs: list[list[int]], nonce: list[list[int]]) -> dict[str, Any]:
        return {
            "message_bytes": 8,
            "plaintext_bytes_moved_min": low,
            "plaintext_bytes_moved_max": high,
            "controlled": {"ciphertext": pairs, "nonce": nonce},
        }

    pairings = ([], [[0, 0]], [[0, 1]], [[0, 2], [1, 3], [2, 4]], [[0, 2], [1, 3], [2, 4], [3, 5]])
    pairings += (
        [[0, 2], [1, 3], [2, 4], [3, 6]],
        [[i, i] for i in range(5)],
        [[i, i] for i in range(4)] + [[4, 5]],
    )

    class Receiver:
        """Accepts what begins with a byte below a bound; XORs the nonce into the first byte."""

        def __init__(self, bound: int) -> None:
            self.bound = bound

        def encrypt(self, message: bytes, nonce: bytes = b"", ad: bytes = b"") -> tuple[bytes, bytes]:
            return bytes([0, *message]), ad

        def decrypt(self, ciphertext: bytes, nonce: bytes = b"", ad: bytes = b"", tag: bytes = b"") -> bytes:
            if ciphertext[0] >= self.bound:
                raise oracle.Rejected
            return ciphertext[1:]

    def received(bound: int) -> Any:
        access = SimpleNamespace(keyed=lambda key: Receiver(bound))
        cipher = of_lengths(4, 8, nonce_bytes=2, associated_data=True)
        return integrity._effects(access, cipher, Random(3), 6)

    sent = integrity.Sent(b"abc", b"non", b"ad", b"tag")
    some = toys.ToyAccess(
        lambda k, m, n, a: (toys.rc4(k + n, m), m[:1]), lambda k, c, n, a, t: toys.rc4(k + n, c)
    )
    return {
        "told": [
            [*span, len(pairs), " ".join(integrity._describe(effects(*span, pairs, nonce), toys.RC4))]
            for span in ((0, 0), (8, 8), (1, 1), (2, 2), (1, 8), (0, 3))
            for pairs, nonce in ((p, [[0, 0], [1, 1]] if n % 2 else []) for n, p in enumerate(pairings))
        ],
        "changed": [plain(integrity._changed(sent, *of)) for of in (("ciphertext", 1, 3), ("nonce", 2, 255))],
        "sent": plain(integrity._send(some.keyed(KEY), of_lengths(0, 9, nonce_bytes=3), Random(1), 5)),
        "sent with data": plain(
            integrity._send(
                some.keyed(KEY), of_lengths(0, 9, nonce_bytes=3, associated_data=True), Random(1), 5
            )
        ),
        "effects": [received(bound) for bound in (0, 1, 200, 256)],
        "audited": plain(integrity.audit(some, of_lengths(0, 12, nonce_bytes=2), 5)),
    }
