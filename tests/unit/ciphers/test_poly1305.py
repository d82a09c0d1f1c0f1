"""Poly1305 alone, in every variant: the reduction at its edges, which no message through the AEAD is sure to
meet, against whole numbers of Python."""

from __future__ import annotations

import random
import subprocess
from collections.abc import Sequence
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
    """A variant compiled with the driver next to this file and the sanitizers."""

    def __init__(self, program: Path) -> None:
        self._program = program

    def tags(self, cases: Sequence[tuple[int, int, list[int]]]) -> list[int]:
        requests = b"".join(
            bytes([len(blocks)]) + b"".join(number.to_bytes(16, "little") for number in (r, s, *blocks))
            for r, s, blocks in cases
        )
        done = subprocess.run([self._program], input=requests, capture_output=True, timeout=120, check=False)
        assert done.returncode == 0, done.stderr.decode()
        assert len(done.stdout) == 16 * len(cases)
        return [int.from_bytes(done.stdout[at : at + 16], "little") for at in range(0, len(done.stdout), 16)]


@pytest.fixture(scope="module", params=sorted(VARIANTS))
def poly1305(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Poly1305:
    target = tmp_path_factory.mktemp("poly1305") / "driver"
    flags = ["-std=c99", "-O1", "-Wall", "-Wextra", "-Wconversion", "-Werror"]
    flags += ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    flags += [f'-DCIPHER_HEADER="{request.param}"', "-DCIPHER_TAG_BYTES=16"]
    flags += [f"-I{place}" for place in (FOLDER, FIRMWARE / "include")]
    sources = [FOLDER / VARIANTS[request.param], Path(__file__).with_name("poly1305_driver.c")]
    command = ["gcc", *flags, *map(str, sources), "-o", str(target)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return Poly1305(target)


def agree(poly1305: Poly1305, cases: Sequence[tuple[int, int, list[int]]]) -> None:
    for case, tag in zip(cases, poly1305.tags(cases), strict=True):
        assert tag == expected(*case), case


def test_around_the_prime(poly1305: Poly1305) -> None:
    # With r = 1 the sum is that of the blocks, each with its 2^128: here 2^130 - 5 and what is around it.
    cases = []
    for above in range(-6, 12):
        whole = P + above - 3 * 2**128
        blocks = [min(whole, FULL), max(0, whole - FULL), 0]
        assert sum(blocks) + 3 * 2**128 == P + above
        assert expected(1, 0, blocks) == (P + above) % P & FULL
        cases += [(1, 0, blocks), (1, FULL, blocks)]
    agree(poly1305, cases)


def test_sums_that_pass_the_prime_more_than_once(poly1305: Poly1305) -> None:
    blocks = (0, 1, 3, 4, 5, FULL - 5, FULL - 4, FULL - 1, FULL)
    agree(
        poly1305,
        [(r, 0, [b] * count) for count in range(12) for b in blocks for r in (1, 2, 4, CLAMP, FULL)],
    )


def test_the_edge_cases_of_rfc_8439(poly1305: Poly1305) -> None:
    # Appendix A.3, vectors 7 to 11.
    cases = [
        (1, 0, [FULL, 0xF0 | (FULL ^ 0xFF), 0x11]),
        (1, 0, [FULL, int.from_bytes(b"\xfb" + b"\xfe" * 15, "little"), int("01" * 16, 16)]),
        (2, 0, [int.from_bytes(b"\xfd" + b"\xff" * 15, "little")]),
    ]
    assert poly1305.tags(cases) == [5, 0, FULL ^ 5]
    agree(poly1305, cases)


def test_random_numbers_and_ones_with_long_carries(poly1305: Poly1305) -> None:
    source = random.Random("poly1305")

    def number() -> int:
        pieces = (source.choice((0, FULL, source.getrandbits(128))) for _ in range(2))
        high, low = pieces
        cut = source.randrange(129)
        return (high >> cut << cut | low & ((1 << cut) - 1)) & FULL

    agree(
        poly1305,
        [(number(), number(), [number() for _ in range(source.randrange(6))]) for _ in range(3000)],
    )


def test_sums_whose_carry_goes_round_twice(poly1305: Poly1305) -> None:
    # With limbs of so many bits such a sum is above 2^130, and its lowest limb overflows once it comes
    # back as fives.
    source, cases = random.Random("twice round"), []
    for total in (low + more for low in (2**14, 2**27) for more in (0, 4)):
        for _ in range(40):
            r = source.getrandbits(128) & CLAMP
            first = total * pow(r, -1, P) % P
            if first >> 128 == 1:
                cases.append((r, 0, [first & FULL]))
                assert expected(*cases[-1]) == total
    assert len(cases) > 20
    agree(poly1305, cases)
