"""Statistics of what a cipher sends for a message of zeros: its keystream, if it has one. Pure.

A sample of some tens of kilobytes under a handful of keys finds gross faults only; passing says little, and
the sentences report it with the sample's size. The second test, byte values at each early position over many
keys, is the one that finds RC4's second byte (Mantin and Shamir, FSE 2001).

Tests after Knuth (TAOCP 2, 3.3) and NIST SP 800-22: monobit, runs, byte values and pairs by chi-square.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import erfc, exp, lgamma, log, sqrt
from typing import Any

from motecrypt.attack.audits.oracle import Access, Part, Weight, key_bytes, nearest_length, randomness
from motecrypt.base.model import Cipher

NAME = "statistics"
TITLE = "Statistics of the ciphertext of zeros"

SAMPLE_BYTES = 1 << 17
KEYS = 1 << 15
POSITIONS = 16
#: Below this, a p-value counts as found; 20 tests are made, so chance finds one in 50,000 audits.
ALARM = 1e-6


def monobit(data: bytes) -> float:
    """Return the p-value of as many ones as zeros."""
    bits = 8 * len(data)
    ones = sum(value.bit_count() * count for value, count in Counter(data).items())
    return erfc(abs(2 * ones - bits) / sqrt(2 * bits))


def runs(data: bytes) -> float:
    """Return the p-value of as many changes between neighbouring bits as chance gives."""
    bits = 8 * len(data)
    stream = int.from_bytes(data, "big")
    ones = stream.bit_count()
    share = ones / bits
    if share in (0.0, 1.0):
        return 0.0
    changes = ((stream ^ (stream >> 1)) & ((1 << (bits - 1)) - 1)).bit_count()
    expected = 2 * bits * share * (1 - share)
    return erfc(abs(changes + 1 - expected) / (2 * sqrt(2 * bits) * share * (1 - share)))


def byte_values(data: bytes) -> float:
    """Return the p-value of equally frequent byte values."""
    return chi_square(list(Counter(data).values()), 256, len(data))


def pairs(data: bytes) -> float:
    """Return the p-value of equally frequent pairs of half bytes across byte borders (serial test)."""
    nibbles = [part for value in data for part in (value >> 4, value & 15)]
    counts = Counter(zip(nibbles[1:-1:2], nibbles[2::2], strict=True))
    return chi_square(list(counts.values()), 256, sum(counts.values()))


def chi_square(counts: Sequence[int], cells: int, total: int) -> float:
    """Return the p-value of `total` draws over `cells` equally likely cells; cells not listed count 0."""
    expected = total / cells
    statistic = sum((count - expected) ** 2 for count in counts) / expected
    statistic += (cells - len(counts)) * expected
    return _upper_gamma((cells - 1) / 2, statistic / 2)


def poisson_tail(count: int, mean: float) -> float:
    """Return the chance of `count` or more events where `mean` are expected."""
    term = exp(count * log(mean) - mean - lgamma(count + 1))
    total, n = 0.0, count
    while term > total * 1e-12:
        total += term
        n += 1
        term *= mean / n
    return min(1.0, total)


def position_bias(heads: Sequence[bytes]) -> list[dict[str, Any]]:
    """Return for each position the p-value of equal byte values over many keys, and the most frequent one.

    The p-value is the smaller of two (doubled for that): chi-square over all values, and how frequent the
    most frequent one is, which detects a single preferred value earlier.
    """
    found = []
    for position, column in enumerate(zip(*heads, strict=True)):
        counts = Counter(column)
        value, count = max(counts.items(), key=lambda item: (item[1], -item[0]))
        found.append(
            {
                "position": position,
                "p": min(
                    1.0,
                    2 * chi_square(list(counts.values()), 256, len(heads)),
                    2 * 256 * poisson_tail(count, len(heads) / 256),
                ),
                "most_frequent": value,
                "times_chance": count * 256 / len(heads),
            }
        )
    return found


def audit(access: Access, cipher: Cipher, seed: int, quick: bool = False) -> Part:
    """Encrypt zeros: long messages under few keys, short ones under many.

    Parameters
    ----------
    access, cipher
        The cipher under audit and its description.
    seed
        Draws keys and nonces.
    quick
        An eighth of the sample.
    """
    random = randomness(seed, NAME)
    sample_bytes, keys = (SAMPLE_BYTES // 8, KEYS // 8) if quick else (SAMPLE_BYTES, KEYS)
    size = key_bytes(cipher)
    piece = nearest_length(cipher, 1024)
    sample = b"".join(
        access.keyed(random.randbytes(size)).encrypt(bytes(piece), random.randbytes(cipher.nonce_bytes))[0]
        for _ in range(sample_bytes // piece)
    )
    head = nearest_length(cipher, POSITIONS)
    heads = [
        access.keyed(random.randbytes(size)).encrypt(bytes(head), random.randbytes(cipher.nonce_bytes))[0]
        for _ in range(keys)
    ]
    tests = {
        "monobit": monobit(sample),
        "runs": runs(sample),
        "bytes": byte_values(sample),
        "pairs": pairs(sample),
    }
    positions = position_bias(heads)
    pieces = [sample[i : i + 8] for i in range(0, len(sample), 8)]
    repeats = 1 - len(set(pieces)) / len(pieces)
    sentences, weight, verdict = _read(tests, positions, len(sample), keys, repeats)
    data = {
        "sample_bytes": len(sample),
        "sample_keys": sample_bytes // piece,
        "message_bytes": piece,
        "p_values": tests,
        "keys": keys,
        "positions": positions,
        "alarm": ALARM,
    }
    return Part(NAME, TITLE, verdict, weight, tuple(sentences), data)


def _read(
    tests: dict[str, float], positions: list[dict[str, Any]], sample: int, keys: int, repeats: float
) -> tuple[list[str], Weight, str]:
    failed = [name for name, p in tests.items() if p < ALARM]
    biased = [row for row in positions if row["p"] < ALARM]
    sentences = []
    if failed:
        sentences.append(f"{sample:,} bytes of ciphertext of zeros fail: {', '.join(failed)}.")
        if repeats > 0.5:
            sentences.append("The same 8 bytes are repeated: equal blocks of plaintext are visible.")
    else:
        sentences.append(
            f"{sample:,} bytes of ciphertext of zeros show no bias in bits, runs, byte values or pairs. "
            "Such a small sample shows only gross defects."
        )
    for row in biased[:3]:
        sentences.append(
            f"Byte {row['position'] + 1} takes the value {row['most_frequent']} "
            f"{row['times_chance']:.2f} times as often as chance, over {keys:,} keys (p = {row['p']:.1e})."
        )
    if not biased:
        sentences.append(f"Over {keys:,} keys no value is too frequent in the first {len(positions)} bytes.")
    bad = bool(failed or biased)
    return sentences, "bad" if bad else "good", "biased" if bad else "no bias found"


def _upper_gamma(a: float, x: float) -> float:
    """Return the regularised upper incomplete gamma function Q(a, x), by series or continued fraction."""
    if x <= 0:
        return 1.0
    scale = exp(-x + a * log(x) - lgamma(a))
    if x < a + 1:
        term = total = 1 / a
        n = a
        while term > total * 1e-16:
            n += 1
            term *= x / n
            total += term
        return max(0.0, 1 - total * scale)
    tiny = 1e-300
    b = x + 1 - a
    c, d = 1 / tiny, 1 / b
    h = d
    for i in range(1, 10_000):
        an = -i * (i - a)
        b += 2
        d = an * d + b
        d = 1 / (d if abs(d) > tiny else tiny)
        c = b + an / c
        c = c if abs(c) > tiny else tiny
        h *= d * c
        if abs(d * c - 1) < 1e-15:
            break
    return scale * h
