"""The statistical tests' p-values, and how they are reported."""

from __future__ import annotations

from random import Random
from typing import Any

from goldens.text import plain
from motecrypt.attack.audits import statistics


def figures() -> dict[str, Any]:
    """The tests' p-values, and how they are reported."""
    stat = statistics
    noise = Random(5).randbytes(3000)
    samples = [b"\0", b"\xff\xff", b"\x55" * 9, b"\x0f\xf0", bytes(range(256)), noise, noise[:7], b"\x80" * 3]
    positions = [
        {"position": 0, "p": 1e-7, "most_frequent": 9, "times_chance": 2.345, "also": 1},
        {"position": 1, "p": statistics.ALARM, "most_frequent": 8, "times_chance": 1.5},
        *({"position": 2 + n, "p": 1e-9, "most_frequent": n, "times_chance": 3.0} for n in range(4)),
    ]

    def tests(p: float) -> dict[str, float]:
        return {"monobit": p, "runs": 0.5}

    return {
        "p-values": [
            [stat.monobit(s), stat.runs(s), stat.byte_values(s), *([stat.pairs(s)] if len(s) > 1 else [])]
            for s in samples
        ],
        "chi-square": [
            stat.chi_square(counts, cells, total)
            for counts, cells, total in (
                *(([4, 6], 2, 10), ([5, 5], 2, 10), ([10], 4, 10), ([3, 3, 4], 3, 10), ([60, 1], 256, 61)),
                *(([2, 2], 3, 4), ([900, 1100], 2, 2000)),
            )
        ],
        "upper gamma": [
            f"{stat._upper_gamma(a, x):.9g}"
            for a in (0.5, 1.0, 2.5, 127.5)
            for x in (-1.0, 0.0, 0.01, 0.5, a, a + 0.999999, a + 1, a + 1.5, 3 * a + 5, 700.0, 900.0)
        ],
        "poisson": [
            f"{stat.poisson_tail(*of):.9g}" for of in ((1, 0.5), (3, 16.0), (16, 16.0), (40, 16.0), (1, 1e-3))
        ],
        "positions": plain(stat.position_bias([bytes([n % 7, n // 64, 200 - n % 3]) for n in range(256)])),
        "first of equals": plain(stat.position_bias([b"\x09", b"\x02", b"\x09", b"\x02", b"\x01"])),
        "told": [
            stat._read(tests(p), rows, 12345, 4096, repeats)
            for p in (1e-9, stat.ALARM, 0.2)
            for rows in ([], positions[:1], positions[1:2], positions[:4], positions)
            for repeats in (0.5, 0.51)
        ],
    }
