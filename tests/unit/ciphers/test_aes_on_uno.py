"""AES in assembly on a simulated UNO: chains of blocks and keys against OpenSSL, all in the same time."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from motecrypt.catalog import FIRMWARE, Catalog
from motecrypt.simulate.emulate.images import read_image
from motecrypt.simulate.emulate.run import FreeRun, run_freely

HERE = Path(__file__).parent
BLOCKS = 200
FLAGS = ("-mmcu=atmega328p", "-Os", "-std=gnu99", "-Wall", "-Wextra", "-Werror", "-DF_CPU=16000000UL")


def chained(key_bytes: int, blocks: int) -> bytes:
    """Encrypt a block of zeros again and again, the key changed by each result."""
    key, block = bytes(range(key_bytes)), bytes(16)
    for number in range(blocks):
        encryptor = Cipher(algorithms.AES(key), modes.ECB()).encryptor()
        block = encryptor.update(block) + encryptor.finalize()
        at = number % key_bytes
        key = key[:at] + bytes([key[at] ^ block[0]]) + key[at + 1 :]
    return block


def ran(
    folder: Path,
    key_bytes: int,
    key_bytes_max: int,
    blocks: int,
    source: str = "aes_avr.S",
    header: str = "aes_avr.h",
    defines: Sequence[str] = (),
) -> list[str]:
    """What the chip prints: the last block, whether all came back, the status of keys it must not take, and
    the fewest and the most cycles of a block, there and back, in eights."""
    uno = Catalog.load().device("uno")
    places = (FIRMWARE / name for name in ("include", "ciphers/aes"))
    command = [
        *("avr-gcc", *FLAGS, f'-DBLOCK_HEADER="{header}"', f"-DCIPHER_KEY_BYTES_MAX={key_bytes_max}"),
        *(f"-D{define}" for define in defines),
        *(f"-DKEY_BYTES={key_bytes}", f"-DBLOCKS={blocks}UL", *(f"-I{place}" for place in places)),
        *(str(uno.folder / name) for name in uno.hal),
        *(str(HERE / "aes_chain.c"), str(FIRMWARE / "ciphers/aes" / source), "-o", str(folder / "chain.elf")),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    output = bytearray()
    asked = FreeRun(until=".", max_seconds=3600)
    ended = run_freely(read_image(folder / "chain.elf", uno), uno, asked, output.extend)
    assert ended.reason == "until", ended
    return output.decode().rstrip(".").split()


@pytest.mark.parametrize(
    ("key_bytes", "key_bytes_max"), [(16, 16), (16, 24), (24, 24), (16, 32), (24, 32), (32, 32)]
)
def test_blocks_are_those_of_openssl_and_all_take_the_same_time(
    tmp_path: Path, key_bytes: int, key_bytes_max: int
) -> None:
    block, back, refused, *cycles = ran(tmp_path, key_bytes, key_bytes_max, BLOCKS)
    assert block == chained(key_bytes, BLOCKS).hex()
    assert back == "1"
    # 0, 15, 17, 23, 24, 25, 31, 32, 33 and 255 bytes
    taken = {16: "1111111111", 24: "1111011111", 32: "1111011011"}
    assert refused == taken[key_bytes_max]
    assert cycles[0] == cycles[1] and cycles[2] == cycles[3]


@pytest.mark.parametrize("place", ["flash", "ram"])
def test_the_smallest_code_encrypts_the_same_and_in_one_time(tmp_path: Path, place: str) -> None:
    defines = ("ENCRYPTS_ALONE", *(["TABLES_IN_RAM"] if place == "ram" else []))
    block, _, refused, *cycles = ran(tmp_path, 16, 16, BLOCKS, "aes_tiny.c", "aes_tiny.h", defines)
    assert block == chained(16, BLOCKS).hex()
    assert refused == "1111111111"
    assert cycles[0] == cycles[1]


@pytest.mark.parametrize("key_bytes", [16, 24, 32])
def test_four_rounds_in_a_row_encrypt_the_same(tmp_path: Path, key_bytes: int) -> None:
    block, back, *_ = ran(tmp_path, key_bytes, 32, BLOCKS, "aes_fast.c", "aes_fast.h", ["AES_UNROLLED"])
    assert (block, back) == (chained(key_bytes, BLOCKS).hex(), "1")
