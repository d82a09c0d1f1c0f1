"""Poly1305 alone, in every variant: the reduction at its edges, which no message through the AEAD is sure to
meet, against whole numbers of Python."""

from __future__ import annotations

import ctypes
import random
import subprocess
from pathlib import Path

import pytest

from motecrypt.catalog import FIRMWARE

FOLDER = FIRMWARE / "ciphers" / "chacha20-poly1305"
VARIANTS = {"words26.h": "poly1305_limbs.c", "words13.h": "poly1305_limbs.c", "bytes.h": "poly1305_bytes.c"}
P = 2**130 - 5
CLAMP = 0x0FFFFFFC0FFFFFFC0FFFFFFC0FFFFFFF
FULL = 2**128 - 1


def expected(r: int, s: int, blocks: list[int]) -> int:
    """RFC 8439, 2.5.1."""
    total = 0
    for block in blocks:
        total = (total + block + 2**128) * (r & CLAMP) % P
    return (total + s) & FULL


class Poly1305:
    def __init__(self, library: Path) -> None:
        self._library = ctypes.CDLL(str(library))

    def tag(self, r: int, s: int, blocks: list[int]) -> int:
        state, tag = ctypes.create_string_buffer(512), ctypes.create_string_buffer(17)
        tag[16] = b"\xa5"
        self._library.poly1305_start(state, r.to_bytes(16, "little") + s.to_bytes(16, "little"))
        for block in blocks:
            self._library.poly1305_block(state, block.to_bytes(16, "little") + b"\xff")  # ends where it ends
        self._library.poly1305_finish(state, tag)
        assert tag.raw[16] == 0xA5
        return int.from_bytes(tag.raw[:16], "little")


@pytest.fixture(scope="module", params=sorted(VARIANTS))
def poly1305(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Poly1305:
    target = tmp_path_factory.mktemp("poly1305") / "poly1305.so"
    flags = ["-std=c99", "-O1", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-shared", "-fPIC"]
    flags += [f'-DCIPHER_HEADER="{request.param}"', "-DCIPHER_TAG_BYTES=16"]
    flags += [f"-I{place}" for place in (FOLDER, FIRMWARE / "include")]
    command = ["gcc", *flags, str(FOLDER / VARIANTS[request.param]), "-o", str(target)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return Poly1305(target)


@pytest.mark.parametrize("above", range(-6, 12))
def test_around_the_prime(poly1305: Poly1305, above: int) -> None:
    # With r = 1 the sum is that of the blocks, each with its 2^128: here 2^130 - 5 and what lies around it.
    whole = P + above - 3 * 2**128
    blocks = [min(whole, FULL), max(0, whole - FULL), 0]
    assert sum(blocks) + 3 * 2**128 == P + above
    assert poly1305.tag(1, 0, blocks) == (P + above) % P & FULL
    assert poly1305.tag(1, FULL, blocks) == expected(1, FULL, blocks)


@pytest.mark.parametrize("count", range(12))
def test_sums_that_pass_the_prime_more_than_once(poly1305: Poly1305, count: int) -> None:
    for block in (0, 1, 3, 4, 5, FULL - 5, FULL - 4, FULL - 1, FULL):
        for r in (1, 2, 4, CLAMP, FULL):
            assert poly1305.tag(r, 0, [block] * count) == expected(r, 0, [block] * count)


def test_the_edge_cases_of_rfc_8439(poly1305: Poly1305) -> None:
    # Appendix A.3, vectors 7 to 11.
    cases = [
        (1, 0, [FULL, 0xF0 | (FULL ^ 0xFF), 0x11], 5),
        (1, 0, [FULL, int.from_bytes(b"\xfb" + b"\xfe" * 15, "little"), int("01" * 16, 16)], 0),
        (2, 0, [int.from_bytes(b"\xfd" + b"\xff" * 15, "little")], FULL ^ 5),
    ]
    for r, s, blocks, tag in cases:
        assert poly1305.tag(r, s, blocks) == tag == expected(r, s, blocks)


def test_random_numbers_and_ones_with_long_carries(poly1305: Poly1305) -> None:
    source = random.Random("poly1305")

    def number() -> int:
        pieces = (source.choice((0, FULL, source.getrandbits(128))) for _ in range(2))
        high, low = pieces
        cut = source.randrange(129)
        return (high >> cut << cut | low & ((1 << cut) - 1)) & FULL

    for _ in range(3000):
        r, s, blocks = number(), number(), [number() for _ in range(source.randrange(6))]
        assert poly1305.tag(r, s, blocks) == expected(r, s, blocks)
