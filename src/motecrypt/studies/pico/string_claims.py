"""What the Pico source says of its strings in words, each claim next to ours."""

from __future__ import annotations

from collections.abc import Sequence

from motecrypt.base.model import Cell, Measurement
from motecrypt.studies.facts import Comparison
from motecrypt.studies.judge import Bound, Evidence, compare
from motecrypt.studies.pico import ciphertexts
from motecrypt.studies.pico.figures import (
    AGAIN,
    CASES,
    MBED,
    OPERATIONS,
    SOURCE,
    CallTiming,
    Sized,
    Timings,
    miss_cycles,
    sizes,
    why_unsized,
)

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
    return [
        _claim(
            "fastest",
            "Mbed TLS is the fastest of the four",
            f"tiny-AES-c takes {min(ratios):.2f} to {max(ratios):.2f} times as long, cold"
            if ratios
            else None,
            min(ratios, default=0.0),
            Bound("above", 1.0),
            "by ours against tiny-AES-c; against the other two by the paper alone"
            if ratios
            else "a library could not be measured",
            Evidence("author's code"),
        ),
        _claim(
            "low-memory",
            "Mbed TLS's flash and RAM are low as well",
            f"{_both(big)}; tiny-AES-c {_both(small)}" if big and small else None,
            float(big.flash_bytes) if big else 0.0,
            Bound("at most", float(small.flash_bytes) if small else 0.0),
            "it takes the most flash of the two measured; the printed sizes do not count the libraries"
            if big and small
            else unsized,
            Evidence(
                "author's code",
                cause="its tables and code are larger than tiny-AES-c's",
                known="shown by experiment",
                command="motecrypt measure --device pico --library mbedtls --library tiny-aes-c "
                "--cipher aes128-cbc --bytes 48",
            ),
        ),
        _claim(
            "mbed-os",
            "over 40 KB of RAM is Mbed OS itself",
            f"{big.ram_bytes:,} and {small.ram_bytes:,} bytes are the libraries'" if big and small else None,
            0.0,
            Bound("above", 40_000.0),
            "Mbed OS is not built here; "
            + ("the libraries' parts leave 40 KB for it" if big and small else unsized),
            Evidence("other", bring=MBED),
            said="40 KB",
        ),
        _claim(
            "same-key",
            "the same key and IV in all libraries",
            f"the sketch's key and IV give {len(same)} of the 8 printed ciphertexts",
            float(len(same)),
            Bound("at least", 8.0),
            "case 2 has the sketch's key and another IV; case 1 at 128 bits has another IV or key",
            Evidence(
                "same algorithm, ours",
                cause=f"{8 - len(same)} of the printed ciphertexts come of another IV or key",
                known="shown by experiment",
                command=AGAIN,
            ),
        ),
    ]


def _both(size: Sized) -> str:
    return f"{size.flash_bytes:,} bytes of flash and {size.ram_bytes:,} of RAM"


def _claim(
    id: str,
    text: str,
    ours: str | None,
    value: float,
    expected: Bound,
    note: str,
    evidence: Evidence,
    said: str = "yes",
) -> Comparison:
    return compare(
        id=f"pico-claim-{id}",
        source=SOURCE,
        table=CLAIMS,
        row=text,
        column="",
        kind="claim",
        published=said,
        measured=ours,
        expected=expected,
        found=value,
        evidence=evidence,
        note=note,
    )
