"""AES and the modes ECB, CBC, CTR and CTS: tables, every length under the sanitizers, what is refused.

The sanitizers run over every variant in ECB (also the one that is for AVR alone), and over every mode.
"""

from __future__ import annotations

import json
import random
import re
import runpy
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from motecrypt.build.toolchain.native import open_cipher
from motecrypt.catalog import Catalog
from tool_sets import skip_without

CATALOG = Catalog.load()
FOLDER = Path(CATALOG.cipher("aes128-ecb").folder)
FIRMWARE = FOLDER.parent.parent
FLAGS = ("-std=c99", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-O1", "-g")
SANITIZERS = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all")
MODES = ("ecb", "cbc", "ctr", "cts")
BLOCK_BYTES = 16
OK, BAD_KEY, BAD_NONCE, BAD_LENGTH = "0", "1", "2", "3"

Encrypt = Callable[[str, bytes, bytes, bytes, bytes], tuple[bytes, bytes]]


@dataclass(frozen=True)
class Build:
    """One block cipher under one mode, compiled for keys up to a length."""

    variant: str
    header: str
    source: str
    defines: tuple[str, ...]
    mode: str
    key_bytes_max: int

    def __str__(self) -> str:
        return f"{self.variant}-{self.mode}-{8 * self.key_bytes_max}"


def _builds() -> list[Build]:
    variants = {
        body.variant: (body.defines, next(s for s in body.sources if "/modes/" not in f"/{s}"))
        for device in ("uno", "host")
        for body in CATALOG.implementations_of("aes128-ecb", device, ["motecrypt"])
    }
    builds = []
    for variant, (defines, source) in variants.items():
        name = Path(source).name
        if name.endswith(".S"):  # test_aes_on_uno.py
            continue
        own = tuple(d for d in defines if not d.startswith(("BLOCK_HEADER", "CIPHER_")))
        for key_bytes in (32,) if variant == "sliced" else (16, 24, 32):
            builds.append(Build(variant, name.replace(".c", ".h"), name, own, "ecb", key_bytes))
    tables, sliced = (next(b for b in builds if b.variant == variant) for variant in ("tables", "sliced"))
    return builds + [
        Build(one.variant, one.header, one.source, one.defines, mode, 32)
        for one, modes in ((tables, MODES[1:]), (sliced, ("ctr",)))
        for mode in modes
    ]


BUILDS = _builds()


@pytest.fixture(scope="module", params=BUILDS, ids=str)
def built(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Build, Path]:
    """A build as a program that takes lines of hex (sealing_driver.c), with the sanitizers."""
    build: Build = request.param
    skip_without("host")
    program = tmp_path_factory.mktemp("aes") / "driver"
    command = [
        "gcc",
        *FLAGS,
        *SANITIZERS,
        *(f"-I{folder}" for folder in (FIRMWARE / "include", FIRMWARE / "modes", FOLDER)),
        f'-DCIPHER_HEADER="{build.mode}.h"',
        f'-DBLOCK_HEADER="{build.header}"',
        f"-DCIPHER_KEY_BYTES_MAX={build.key_bytes_max}",
        *(f"-D{define}" for define in build.defines),
        str(Path(__file__).parent / "sealing_driver.c"),
        str(FIRMWARE / "modes" / f"{build.mode}.c"),
        str(FOLDER / build.source),
        "-o",
        str(program),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return build, program


def _run(program: Path, lines: Sequence[str]) -> list[str]:
    text = "".join(line + "\n" for line in lines)
    done = subprocess.run([program], input=text, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def _line(direction: str, key: bytes, nonce: bytes, message: bytes, place: str = "i") -> str:
    return " ".join([direction, place, *(field.hex() or "-" for field in (key, nonce, b"", message, b""))])


def _answer(output: bytes) -> str:
    return f"{OK} {output.hex() or '-'} -"


def _takes(mode: str, length: int) -> bool:
    if mode in ("ecb", "cbc"):
        return length % BLOCK_BYTES == 0
    return mode == "ctr" or length >= BLOCK_BYTES


@pytest.mark.long
def test_every_length_under_the_sanitizers(built: tuple[Build, Path]) -> None:
    """0 to 80 bytes, in place and not, each key length; what a mode does not take is refused."""
    build, program = built
    encrypt: Encrypt = runpy.run_path(str(FOLDER / "oracle.py"))["encrypt"]
    source = random.Random(str(build))
    lines, expected = [], []
    for length in range(81):
        for key_bytes in (size for size in (16, 24, 32) if size <= build.key_bytes_max):
            key, message = source.randbytes(key_bytes), source.randbytes(length)
            nonce = b"" if build.mode == "ecb" else source.randbytes(BLOCK_BYTES)
            if length % 3 == 0 and nonce:
                nonce = b"\xff" * (BLOCK_BYTES - 1) + nonce[-1:]  # the counter carries, or wraps
            if not _takes(build.mode, length):
                lines += [_line(direction, key, nonce, message) for direction in "ed"]
                expected += [BAD_LENGTH] * 2
                continue
            name = f"aes{8 * key_bytes}-{build.mode}"
            sealed, _ = encrypt(name, key, nonce, b"", message)
            for place in "io":
                lines += [_line("e", key, nonce, message, place), _line("d", key, nonce, sealed, place)]
                expected += [_answer(sealed), _answer(message)]
    assert _run(program, lines) == expected


@pytest.mark.long
def test_other_keys_and_nonces_are_refused(built: tuple[Build, Path]) -> None:
    build, program = built
    nonce = b"" if build.mode == "ecb" else bytes(BLOCK_BYTES)
    message = bytes(2 * BLOCK_BYTES)
    taken = [size for size in (16, 24, 32) if size <= build.key_bytes_max]
    answers = _run(program, [_line("e", bytes(size), nonce, message) for size in range(1, 65)])
    for size, answer in enumerate(answers, start=1):
        assert (answer == BAD_KEY) == (size not in taken), size
    wrong = [bytes(size) for size in range(40) if size != len(nonce)]
    lines = [_line(direction, bytes(16), each, message) for each in wrong for direction in "ed"]
    assert set(_run(program, lines)) == {BAD_NONCE}


# --- what the modes promise -----------------------------------------------------------------------------


def test_cts_is_cbc_with_the_last_two_blocks_exchanged() -> None:
    """CS3: one block is plain CBC; whole blocks are CBC's with the last two in the other order."""
    stealing, chaining = open_cipher("aes128-cts"), open_cipher("aes128-cbc")
    source = random.Random("cts")
    for blocks in range(1, 6):
        key, nonce = source.randbytes(16), source.randbytes(BLOCK_BYTES)
        message = source.randbytes(BLOCK_BYTES * blocks)
        stealing.setup(key)
        chaining.setup(key)
        plain = chaining.encrypt(message, nonce)[0]
        if blocks > 1:
            plain = plain[: -2 * BLOCK_BYTES] + plain[-BLOCK_BYTES:] + plain[-2 * BLOCK_BYTES : -BLOCK_BYTES]
        assert stealing.encrypt(message, nonce)[0] == plain


def test_ctr_in_pieces_equals_ctr_at_once() -> None:
    """A message cut at a block's border continues with the counter where the first piece ended."""
    engine = open_cipher("aes256-ctr")
    source = random.Random("ctr")
    for counter in (0, 255, 2**64 - 2, 2**128 - 3):
        key, message = source.randbytes(32), source.randbytes(83)
        engine.setup(key)
        whole = engine.encrypt(message, counter.to_bytes(BLOCK_BYTES, "big"))[0]
        for blocks in range(6):
            cut = BLOCK_BYTES * blocks
            later = ((counter + blocks) % 2**128).to_bytes(BLOCK_BYTES, "big")
            assert engine.encrypt(message[cut:], later)[0] == whole[cut:]


# --- tables are what their definitions say --------------------------------------------------------------


def _times(a: int, b: int) -> int:
    product = 0
    while b:
        product ^= a if b & 1 else 0
        a = a << 1 ^ (0x11B if a & 0x80 else 0)
        b >>= 1
    return product


def _numbers(source: str, name: str) -> list[int]:
    text = re.sub(r"/\*.*?\*/", "", (FOLDER / source).read_text(), flags=re.S)
    body = text.split(f" {name}[", 1)[1].split("=", 1)[1].split("};", 1)[0]
    return [int(number, 16) for number in re.findall(r"0x[0-9a-f]+", body)]


def _tables() -> tuple[list[int], list[int], list[int]]:
    """The inverses, the S-box and its inverse, from FIPS 197, 5.1.1."""
    inverses = [next((y for y in range(256) if _times(x, y) == 1), 0) for x in range(256)]
    sbox = []
    for y in inverses:
        bits = [y >> i & 1 for i in range(8)]
        sums = [bits[i] ^ bits[i - 4] ^ bits[i - 3] ^ bits[i - 2] ^ bits[i - 1] for i in range(8)]
        sbox.append(0x63 ^ sum(bit << i for i, bit in enumerate(sums)))
    return inverses, sbox, [sbox.index(x) for x in range(256)]


def _assembled(name: str) -> list[int]:
    """The bytes behind a label of the assembly for AVR."""
    _, _, behind = (FOLDER / "aes_avr.S").read_text().partition(f"\n{name}:\n")
    rows = re.match(r"(?: +\.byte .*\n)+", behind)
    return [int(number, 16) for number in re.findall(r"0x(\w\w)", rows[0])] if rows else []


def test_tables_follow_from_the_standard() -> None:
    inverses, sbox, back = _tables()
    for source in ("aes_small.c", "aes_low_ram.c"):
        assert _numbers(source, "inverses") == inverses
    assert _numbers("aes_fast.c", "sbox") == sbox + [_times(x, 2) for x in sbox]
    assert _numbers("aes_tiny.c", "sbox") == sbox
    assert _assembled("sbox") == sbox and _assembled("inverse_sbox") == back
    for source in ("aes_fast.c", "aes_tables.c"):
        assert _numbers(source, "inverse_sbox") == back

    def column(x: int, factors: tuple[int, ...]) -> int:
        return sum(_times(x, factor) << 8 * i for i, factor in enumerate(factors))

    assert _numbers("aes_tables.c", "mixed") == [column(x, (2, 1, 1, 3)) for x in sbox]
    assert _numbers("aes_tables.c", "unmixed") == [column(x, (14, 9, 13, 11)) for x in back]


def test_vectors_name_their_source() -> None:
    for path in (FOLDER / "vectors").glob("*.json"):
        for group in json.loads(path.read_text()):
            assert group["source"]
            assert group["licence"]
