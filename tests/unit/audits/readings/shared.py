"""Keys, lengths and bits that all audits share."""

from __future__ import annotations

from typing import Any

import audit_toys as toys

from motecrypt.attack.audits import oracle
from readings.made_up import of_lengths, refused


def shared() -> dict[str, Any]:
    """Keys, lengths, bits."""
    bits = ((40, 128, 256), (40, 64), (192, 256), (127,), (256, 128), (129, 40))
    taken = ((0, 100), (1, 5), (16, 16), (60, 100), (100, 100), (0, 0), (0, 1), (2, 3))
    part = oracle.Part("n", "t", "v", "bad", ("one", "two"), {"a": 1})
    return {
        "drawn": [
            oracle.randomness(*of).randbytes(4).hex() for of in ((1,), (1, "a"), (1, "a", 2), (2, "a"))
        ],
        "key bytes": [oracle.key_bytes(toys.described("k", key_bits=each)) for each in bits],
        "allowed": [
            oracle.lengths_allowed(of_lengths(8, 40, multiple), (24, 8, 8, 9, 0, 40, 48))
            for multiple in (1, 8, 24)
        ],
        "nearest": [
            [
                refused(lambda w=w, t=t, m=m: oracle.nearest_length(of_lengths(*t, m), w))
                for w in (0, 1, 2, 48, 60)
            ]
            for t, m in [*((t, 1) for t in taken), ((0, 100), 16), ((0, 100), 32), ((0, 100), 7)]
        ],
        "flipped": [oracle.flip(bytes(2), bit).hex() for bit in (0, 1, 7, 8, 15)],
        "xor": [
            oracle.xor(*pair).hex() for pair in ((b"abc", b"  "), (b" ", b"abc"), (b"", b"a"), (b"ab", b"ab"))
        ],
        "part": [part.as_json(), oracle.skipped("n", "t", "why").as_json()],
    }
