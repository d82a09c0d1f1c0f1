"""The figures of the RF study's claims: its own, the line's and the standards'. Their words are in
data/studies/rf.toml. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from motecrypt.air.radios import costs, load_radio
from motecrypt.studies.facts import Comparison, Tolerance
from motecrypt.studies.judge import Between, Bound, Expected
from motecrypt.studies.rf import printed
from motecrypt.studies.words import words

#: What the text calls "about", or not significant, may be off by this share.
ABOUT = 0.2
#: FIPS 197 and section 2 of the paper; CBC (SP 800-38A) has no tag; table 1 has no room for an IV.
AES_BLOCK_BITS, KEY_BITS, CBC_TAG_BYTES, IV_BYTES_SENT = 128, 256, 0, 0
Figures = dict[str, Any]


def claims(source: str) -> list[Comparison]:
    """Every conclusion of the text as a row."""
    finders = words("rf").finders(globals())
    return [words("rf").row(claim, **{"source": source} | find()) for claim, find in finders.items()]


def _about() -> Tolerance:
    return Tolerance(ABOUT, 0.0, 'wording: "approximately", "not significant"')


def _print(said: float | str, expected: Expected, measured: float | str, **figures: Any) -> Figures:
    """Of a claim that only the paper's own figures can bear out: it holds if they do."""
    judged = {"check": (said, expected), "found": said, "expected": expected, "measured": measured}
    return {"like_for_like": "the paper itself", **judged, **figures}


def _counted(names: Sequence[str]) -> Figures:
    """Of a claim that there is no such row: those that there are."""
    return _print(float(len(names)), Bound("at most", 0.0), ", ".join(names))


# --- of the paper's own figures ---------------------------------------------------------------------


def _padding_reduces() -> Figures:
    c, p = printed.mean_time_ms("C"), printed.mean_time_ms("P")
    less = round(100 * (1 - p / c), 2)
    return _print(7.92, less, less, c=c, p=p)


def _delay() -> Figures:
    more = printed.mean_time_ms("P") - printed.mean_time_ms("T")
    room = Tolerance(0.0, printed.HALF_A_DIGIT, "rounding: three decimals are printed")
    return _print(5.5825, more, round(more, 4), tolerance=room)


def _twice_slower() -> Figures:
    ratio = printed.mean_time_ms("P") / printed.mean_time_ms("T")
    return _print(ratio, 2.0, round(ratio, 3), tolerance=_about())


def _lowest_throughput() -> Figures:
    averages = printed.PRINTED_AVERAGE_KB_S
    lowest = min(averages, key=lambda payload: averages[payload])
    return _print("C", lowest, lowest, averages=averages)


def _highest_throughput() -> Figures:
    averages, line_kb_s = printed.PRINTED_AVERAGE_KB_S, 1000 / load_radio("srf").serial_byte_us
    highest = max(averages, key=lambda payload: averages[payload])
    return _print(averages["P"], Between(averages[highest], line_kb_s), highest)


def _time_increases() -> Figures:
    rows = [printed.of(payload) for payload in "TCP"]
    pairs = (pair for of in rows for pair in pairwise(of))
    return _counted([later.name for before, later in pairs if later.time_ms < before.time_ms])


def _equal_payloads() -> Figures:
    c7, p7 = printed.row("C7").time_ms, printed.row("P7").time_ms
    clock = Tolerance(printed.CLOCK_TOLERANCE, 0.0, "clock: a UART may be off by 2 %")
    return _print(p7, c7, p7, published=c7, tolerance=clock)


# --- of the radio -----------------------------------------------------------------------------------


def _delivered() -> Figures:
    """Milliseconds by the model for 32 bytes, which are not whole packets, and for 36, which are."""
    radio = load_radio("srf")
    short, whole = (costs(radio, size).delivery_time_us / 1000 for size in (32, 36))
    return {"short": short, "whole": whole}


def _waits_100() -> Figures:
    slowest = max(row.time_ms for row in printed.rows())
    return _print(slowest, Bound("at least", 100.0), slowest)


def _plaintext_direct() -> Figures:
    return _counted([row.name for row in printed.of("T") if row.size_bytes % 12])


def _ciphertext_incomplete() -> Figures:
    return _counted([row.name for row in printed.of("C") if printed.rule_bytes(row) % 12 == 0])


def _padded_whole() -> Figures:
    return _counted([row.name for row in printed.of("P") if row.size_bytes % 12])


def _spares_timeout() -> Figures:
    times = _delivered()
    return {**times, "found": times["short"] - times["whole"]}


def _padding_faster() -> Figures:
    times = _delivered()
    gains, said = times["short"] - times["whole"], printed.mean_time_ms("C") - printed.mean_time_ms("P")
    shown = {"published": round(said, 3), "measured": round(gains, 1)}
    return {**shown, "found": gains, "expected": said, "tolerance": _about()}


def _not_significant() -> Figures:
    times = _delivered()
    return {**times, "found": times["whole"] / times["short"], "tolerance": _about()}


# --- of the cipher ----------------------------------------------------------------------------------


def _block_256() -> Figures:
    return {"measured": float(AES_BLOCK_BITS)}


def _key_32() -> Figures:
    return _print(32.0, float(KEY_BITS), float(KEY_BITS))


def _integrity() -> Figures:
    return {"found": float(CBC_TAG_BYTES)}


def _no_expansion() -> Figures:
    pairs = zip(printed.of("T"), printed.of("C"), strict=True)
    most = float(max(cipher.size_bytes - plain.size_bytes for plain, cipher in pairs))
    factor = printed.mean([printed.factor(row) for row in printed.of("C")])
    return _print(most, Bound("at most", AES_BLOCK_BITS / 8), f"{factor:.2f}")


def _secures() -> Figures:
    return {"measured": float(IV_BYTES_SENT), "found": float(IV_BYTES_SENT)}
