"""Poly1305 alone, in every variant: the reduction at its edges, which no message through the AEAD is sure to
meet, against whole numbers of Python. Variants in C run here, with sanitizers, those in assembly on a
simulated Pico and STM32F4."""

from __future__ import annotations

import random
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

import pytest

from motecrypt.catalog import FIRMWARE, Catalog
from motecrypt.simulate.emulate.images import read_image
from motecrypt.simulate.emulate.run import FreeRun, run_freely
from tool_sets import skip_without

FOLDER = FIRMWARE / "ciphers" / "chacha20-poly1305"
VARIANTS = {
    "words26.h": "poly1305_limbs.c",
    "words13.h": "poly1305_limbs.c",
    "bytes.h": "poly1305_bytes.c",
    "rv32.h": "poly1305_words.c",
}
ON_CHIPS = {"armv6m.h": ("pico", "poly1305_armv6m.S"), "armv7m.h": ("stm32f4", "poly1305_armv7m.S")}
P = 2**130 - 5
CLAMP = 0x0FFFFFFC0FFFFFFC0FFFFFFC0FFFFFFF
FULL = 2**128 - 1
Case = tuple[int, int, list[int]]
"""r, s and blocks."""


def expected(r: int, s: int, blocks: list[int]) -> int:
    """RFC 8439, 2.5.1."""
    total = 0
    for block in blocks:
        total = (total + block + 2**128) * (r & CLAMP) % P
    return (total + s) & FULL


def requests_of(cases: Sequence[Case]) -> bytes:
    return b"".join(
        bytes([len(blocks)]) + b"".join(number.to_bytes(16, "little") for number in (r, s, *blocks))
        for r, s, blocks in cases
    )


class Poly1305(Protocol):
    def wrong(self, cases: Sequence[Case]) -> list[Case]: ...


class Here:
    """A variant compiled with the driver next to this file and the sanitizers."""

    def __init__(self, program: Path) -> None:
        self._program = program

    def wrong(self, cases: Sequence[Case]) -> list[Case]:
        requests = requests_of(cases)
        done = subprocess.run([self._program], input=requests, capture_output=True, timeout=120, check=False)
        assert done.returncode == 0, done.stderr.decode()
        assert len(done.stdout) == 16 * len(cases)
        tags = [int.from_bytes(done.stdout[at : at + 16], "little") for at in range(0, len(done.stdout), 16)]
        return [case for case, tag in zip(cases, tags, strict=True) if tag != expected(*case)]


class OnChip:
    """A variant in assembly, with the requests and what they lead to in the chip's flash."""

    def __init__(self, header: str, folder: Path) -> None:
        self._header, self._folder = header, folder

    def wrong(self, cases: Sequence[Case]) -> list[Case]:
        name, source = ON_CHIPS[self._header]
        chip, program = Catalog.load().device(name), self._folder / "driver.elf"
        given = (requests_of([case]) + expected(*case).to_bytes(16, "little") for case in cases)
        (self._folder / "cases").write_bytes(b"".join(given))
        command = [
            *(chip.compiler.command, *chip.compiler.machine_flags, *chip.compiler.flags, "-std=gnu99"),
            *(f'-DCASES="{self._folder / "cases"}"', f'-DCIPHER_HEADER="{self._header}"'),
            *(f"-I{FOLDER}", f"-I{FIRMWARE / 'include'}", *chip.compiler.link_flags),
            *(flag.replace("{device}", str(chip.folder)) for flag in chip.placements["flash"].link_flags),
            *(str(chip.folder / name) for name in chip.hal),
            *(str(FOLDER / source), str(Path(__file__).with_name("poly1305_on_pico.c"))),
            *("-o", str(program)),
        ]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 0, done.stderr
        output = bytearray()
        ended = run_freely(
            read_image(program, chip), chip, FreeRun(until=".", max_seconds=3600), output.extend
        )
        assert ended.reason == "until", ended
        told = output.decode().removesuffix(".").split()
        assert int(told[0], 16) == len(cases), "cases that it saw"
        return [cases[int(number, 16)] for number in told[1:]]


@pytest.fixture(scope="module", params=sorted([*VARIANTS, *ON_CHIPS]))
def poly1305(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Poly1305:
    target = tmp_path_factory.mktemp("poly1305") / "driver"
    if request.param in ON_CHIPS:
        skip_without("pico")
        return OnChip(request.param, target.parent)
    flags = ["-std=c99", "-O1", "-Wall", "-Wextra", "-Wconversion", "-Werror"]
    flags += ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    flags += [f'-DCIPHER_HEADER="{request.param}"', "-DCIPHER_TAG_BYTES=16"]
    flags += [f"-I{place}" for place in (FOLDER, FIRMWARE / "include")]
    sources = [FOLDER / VARIANTS[request.param], Path(__file__).with_name("poly1305_driver.c")]
    command = ["gcc", *flags, *map(str, sources), "-o", str(target)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return Here(target)


def agree(poly1305: Poly1305, cases: Sequence[Case]) -> None:
    assert not poly1305.wrong(cases)


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
    assert [expected(*case) for case in cases] == [5, 0, FULL ^ 5]
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


def test_sums_of_products_at_their_bounds(poly1305: Poly1305) -> None:
    # Signed parts of a sum and of a factor at the ends of their ranges: sums of four products are then as far
    # from zero as 32 bits allow (poly1305_armv6m.S).
    source = random.Random("bounds")
    lowest = sum(part << 16 * i for i, part in enumerate([0x8000, *[0x7FFF] * 7]))
    highest = sum(part << 16 * i for i, part in enumerate([0x7FFF] * 8))
    words = (0x0FFFC000, 0x0FFFBFFC, 0x0FFF0000, 0x0FFF4000, 0x0FFFFFFC, 0x0001FFFC, 0x00000000)
    cases: list[Case] = []
    for word in words:
        r = sum(word << 32 * i for i in range(4))
        cases += [(r, 0, [block] * count) for block in (lowest, highest, 0, FULL) for count in (1, 2, 5)]
    for _ in range(2000):
        r = sum(source.choice(words) << 32 * i for i in range(4))
        blocks = [source.choice((lowest, highest, 0, FULL, source.getrandbits(128))) for _ in range(3)]
        cases.append((r, source.getrandbits(128), blocks))
    agree(poly1305, cases)


def test_sums_of_signed_parts_that_are_below_zero(poly1305: Poly1305) -> None:
    # With r0 = 0 a product of signed words can be below zero: a sum just below the prime then stays negative.
    source, cases = random.Random("below zero"), []
    for below in (1, 2, 3, 4, 5, 6, 7, 2**10, 2**20):
        for _ in range(40):
            r = source.getrandbits(96) << 32 & CLAMP
            first = (P - below) * pow(r, -1, P) % P
            if first >> 128 == 1:
                cases += [(r, 0, [first & FULL]), (r, 0, [first & FULL, source.getrandbits(128)])]
                assert expected(*cases[-2]) == (P - below) & FULL
    assert len(cases) > 100
    agree(poly1305, cases)
