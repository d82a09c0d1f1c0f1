"""Verdicts over made-up maps of diffusion, and how they are reported."""

from __future__ import annotations

from itertools import product
from typing import Any

import audit_toys as toys

from goldens.text import plain
from motecrypt.attack.audits import avalanche, diffusion
from readings.made_up import of_lengths, refused


def _map(changed: Any, flips: Any = None, trials: int = 24, **more: Any) -> diffusion.DiffusionMap:
    """A map of whole bytes: changed[input byte][output byte], the same for its eight bits."""
    rows = tuple(tuple(map(float, row)) for row in changed for _ in range(8))
    halves = tuple(tuple(map(float, row)) for row in flips for _ in range(8)) if flips else None
    usual: dict[str, Any] = {"worst_input_bit": 0, "worst_output_bit": 0, "worst_rate": 0.5, "stuck_pairs": 0}
    return diffusion.DiffusionMap(
        input_name="plaintext",
        input_bytes=len(changed),
        output_bytes=len(changed[0]) if changed else 0,
        trials=trials,
        changed=rows,
        flips=halves or tuple(tuple(value / 2 for value in row) for row in rows),
        **{**usual, **more},
    )


def _blocks(n: int, size: int, further: bool = False) -> diffusion.DiffusionMap:
    """Every input byte reaches the block that it is in; the first one all, where asked."""
    rows = [[1 if i // size == j // size else 0 for j in range(n)] for i in range(n)]
    return _map([[1] * n, *rows[1:]] if further else rows)


def diffusions() -> dict[str, Any]:
    """Verdicts over made-up maps, and how they are reported."""
    least = diffusion.least_reached(24)
    full, some = _map([[1] * 5] * 5), _map([[1] * 5] * 4 + [[1, 1, 1, 0, 1]])
    nothing, one = _map([[0] * 3] * 3), _map([[1]])
    stuck = _map(
        [[1] * 5] * 5, trials=32, stuck_pairs=3, worst_rate=0.5, worst_input_bit=7, worst_output_bit=9
    )
    always = _map([[1] * 5] * 5, trials=32, stuck_pairs=1, worst_rate=0.51)
    few = _map([[1] * 5] * 5, trials=31, stuck_pairs=1, worst_rate=1.0)
    edges = [
        _map([[least] * 4] * 4, [[0.5] * 4] * 4),
        _map([[least - 1e-9] * 4] * 4, [[0.5] * 4] * 4),
        *(_map([[1] * 4] * 4, [[share] * 4] * 4) for share in (0.35, 0.349, 0.65, 0.651)),
        *(
            _blocks(n, size, more)
            for n, size in ((8, 4), (9, 4), (10, 5), (6, 3), (5, 4), (12, 6))
            for more in (0, 1)
        ),
        *(full, some, nothing, one, _map([[0]]), _map([])),
        _map([[1, 1, 1, 1, 0, 0, 0, 0]] * 8),
        _map([[0, 1, 1, 1, 1, 0, 0, 0]] * 8),
        _map([[least, 1, 1, 1, 0]] * 5),
    ]
    groups = [
        *([each] for each in edges if each.input_bytes),
        *([one, full], [_map([[0]]), full], [_map([[0]]), nothing], [_map([[0]]), stuck], [one, always]),
        *([full, few], [full, some], [_map([[0]]), _blocks(8, 4)], [_blocks(8, 4), _blocks(12, 6)]),
        *([_blocks(12, 6), _blocks(8, 4, True)], [nothing, full], [_blocks(8, 4), full], [one, nothing]),
        [_map([[0, 1, 0]] * 3), _map([[1, 0, 0]] * 2 + [[1, 1, 1]])],
    ]

    def turned(data: bytes) -> bytes:
        return bytes((value << 1 | value >> 7) & 255 for value in data[1:] + data[:1])

    measured = [
        diffusion.measure(turned, 3, 1, 2),
        diffusion.measure(lambda data: data + b"?", 2, 7, 3, "key"),
        diffusion.measure(lambda data: b"", 1, 1, 1),
        diffusion.measure(lambda data: toys.rc4(b"k", bytes([data[0] & 0xFE])), 1, 1, 255),
        diffusion.measure(lambda data: toys.rc4(data, b"\0\0\0"), 2, 9, 5),
    ]
    calls = ((turned, (0, 1, 3), 1), (lambda data: data, (2, -1), 5), (lambda data: b"", (2,), 5))
    weighed = product(("none", "block", "full"), ("none", "full", None), (0, 8))
    return {
        "least reached": [round(diffusion.least_reached(n) * n) for n in range(1, 256)],
        "verdicts": [[diffusion.verdict(each), diffusion.block_bytes(each)] for each in edges],
        "overall": [diffusion.overall(group) for group in (*groups, [])],
        "told": [avalanche._tell("E", "in", "out", group) for group in groups],
        "weights": [
            [*of, avalanche._weight(of_lengths(0, 9, tag_bytes=of[2]), of[0], of[1])]  # type: ignore[arg-type]
            for of in weighed
        ],
        "summaries": [
            plain(avalanche._summary(maps))
            for maps in (
                measured[:2],
                measured[:1],
                [_blocks(8, 4, True)],
                [_map([[0.555, 1]] * 33), _map([[1] * 34] * 34)],
            )
        ],
        "longest shown": [
            avalanche._summary([_map([[n] * n] * n) for n in lengths])["matrix"]["input_bytes"]
            for lengths in ((1, 32, 33), (33, 34), (31, 2))
        ],
        "measured": plain(measured),
        "seen": plain(
            [
                [
                    each.byte_matrix(),
                    [sorted(reach) for reach in each.reach()],
                    *(each.mean_changed, each.mean_flips, each.idle_bits),
                ]
                for each in (*measured, _blocks(5, 4))
            ]
        ),
        "at lengths": plain([diffusion.diffusion_verdict(*call, trials=3) for call in calls]),
        "usual trials": diffusion.diffusion_verdict(turned, (1,), 1)[1][0].trials,
        "refused": [
            str(refused(lambda n=n: diffusion.measure(turned, 1, 1, n).trials)) for n in (0, 1, 255, 256)
        ],
    }
