"""What the Pico source says of its strings in words, each claim next to ours."""

from __future__ import annotations

from collections.abc import Sequence

from motecrypt.base.model import Cell, Measurement
from motecrypt.studies.facts import Comparison
from motecrypt.studies.judge import Bound
from motecrypt.studies.pico import ciphertexts
from motecrypt.studies.pico.figures import (
    CASES,
    MBED,
    OPERATIONS,
    CallTiming,
    Sized,
    Timings,
    miss_cycles,
    sizes,
    why_unsized,
)
from motecrypt.studies.words import words

CLAIMS = "Strings: claims"


def claims(timed: Timings, found: Sequence[tuple[Cell, Measurement]]) -> list[Comparison]:
    """Every claim of the text about strings, next to ours."""
    fast, other = CASES[2], CASES[3]
    ratios = []
    _, boot2, _ = miss_cycles()
    for bits in (128, 256):
        for operation in OPERATIONS:
            pair = [timed[case.number, bits, operation] for case in (fast, other)]
            if all(isinstance(t, CallTiming) for t in pair):
                a, b = (t.time_us(boot2) for t in pair if isinstance(t, CallTiming))
                ratios.append(b / a)
    known = sizes(found)
    big = known.get((fast.library, fast.configuration or ""))
    small = known.get((other.library, other.configuration or ""))
    unsized = why_unsized(found, fast, other)
    others = ciphertexts.ciphertexts([case for case in CASES if case is not CASES[1]])
    same = [c for c in others if c.verdict == "matches"]
    said = words("pico")
    return [
        said.row(
            "fastest",
            least=min(ratios) if ratios else None,
            most=max(ratios) if ratios else None,
            found=min(ratios, default=0.0),
        ),
        said.row(
            "low-memory",
            big=_both(big) if big and small else None,
            small=_both(small) if big and small else None,
            found=float(big.flash_bytes) if big else 0.0,
            expected=Bound("at most", float(small.flash_bytes) if small else 0.0),
            unsized=unsized,
        ),
        said.row(
            "mbed-os",
            big=big.ram_bytes if big and small else None,
            small=small.ram_bytes if big and small else None,
            sized=big is not None and small is not None,
            found=0.0,
            unsized=unsized,
            bring=MBED,
        ),
        said.row("same-key", found=float(len(same)), others=8 - len(same)),
    ]


def _both(size: Sized) -> str:
    return f"{size.flash_bytes:,} bytes of flash and {size.ram_bytes:,} of RAM"
