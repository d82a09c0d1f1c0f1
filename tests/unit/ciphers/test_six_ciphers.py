"""DES, triple DES, RC2, Blowfish, RC6 beyond the common vectors: tables, parameters, lengths, sanitizers."""

from __future__ import annotations

import ctypes
import json
import random
import re
import runpy
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from motecrypt.base.errors import InputError
from motecrypt.build.toolchain.native import NativeCipher, open_cipher, open_implementation
from motecrypt.catalog import Catalog
from motecrypt.measuring.experiments.host_speed import library_version
from tool_sets import needs_tool_set

CATALOG = Catalog.load()
CIPHERS = Path(CATALOG.cipher("des-ecb").folder).parent
NAMES = ("des", "3des", "rc2", "blowfish", "rc6")


def _numbers(header: Path, name: str) -> list[int]:
    text = re.sub(r"/\*.*?\*/", "", header.read_text(), flags=re.S)
    body = text.split(f" {name}[", 1)[1].split("=", 1)[1].split("};", 1)[0]
    return [int(number, 0) for number in re.findall(r"0x[0-9a-f]+|\b\d+\b", body)]


# --- tables are what their definitions say ---------------------------------------------------------------


def _pi_words(count: int) -> list[int]:
    """The first words of pi's fraction, by Machin's formula."""
    bits = 32 * count + 64

    def arctangent(inverse: int) -> int:
        term = total = (1 << bits) // inverse
        divisor, sign = 3, -1
        while term:
            term //= inverse * inverse
            total += sign * (term // divisor)
            divisor, sign = divisor + 2, -sign
        return total

    fraction = 4 * (4 * arctangent(5) - arctangent(239)) - (3 << bits)
    return [fraction >> (bits - 32 * (i + 1)) & 0xFFFFFFFF for i in range(count)]


def test_blowfish_begins_with_pi() -> None:
    assert _numbers(CIPHERS / "blowfish" / "blowfish_pi.h", "blowfish_pi") == _pi_words(18 + 1024)


def test_the_fast_des_table_is_the_small_ones() -> None:
    """Each entry is an S-box output sent through P and rotated left by one."""
    boxes = _numbers(CIPHERS / "des" / "des_boxes.h", "des_boxes")
    places = _numbers(CIPHERS / "des" / "des_boxes.h", "des_p")
    joined = _numbers(CIPHERS / "des" / "des_sp.h", "des_sp")
    for box in range(8):
        for index in range(64):
            pair = boxes[32 * box + index // 2]
            bits = pair & 15 if index & 1 else pair >> 4
            word = sum((bits >> (3 - i) & 1) << (31 - places[4 * box + i]) for i in range(4))
            assert joined[64 * box + index] == (word << 1 | word >> 31) & 0xFFFFFFFF


def test_des_tables_are_permutations() -> None:
    header = CIPHERS / "des" / "des_boxes.h"
    assert sorted(_numbers(header, "des_p")) == list(range(32))
    assert sorted(_numbers(header, "des_pc1")) == [i for i in range(64) if i % 8 != 7]
    assert len(set(_numbers(header, "des_pc2"))) == 48
    boxes = _numbers(header, "des_boxes")
    for box in range(8):
        outputs = [nibble for pair in boxes[32 * box : 32 * box + 32] for nibble in (pair >> 4, pair & 15)]
        for outer in (0, 1, 32, 33):  # the two outer bits choose a row; a row is a permutation
            assert sorted(outputs[outer | inner << 1] for inner in range(16)) == list(range(16))


def test_pitable_is_a_permutation() -> None:
    assert sorted(_numbers(CIPHERS / "rc2" / "rc2_pitable.h", "rc2_pitable")) == list(range(256))


# --- parameters ----------------------------------------------------------------------------------------


def _with(name: str, variant: str, *defines: str) -> NativeCipher:
    body = next(b for b in CATALOG.implementations_of(name, "host", ["motecrypt"]) if b.variant == variant)
    return open_implementation(CATALOG.cipher(name), replace(body, defines=(*body.defines, *defines)))


# RFC 2268, section 5: key, effective bits, plaintext, ciphertext.
RFC_2268 = [
    ("0000000000000000", 63, "0000000000000000", "ebb773f993278eff"),
    ("ffffffffffffffff", 64, "ffffffffffffffff", "278b27e42e2f0d49"),
    ("3000000000000000", 64, "1000000000000001", "30649edf9be7d2c2"),
    ("88", 64, "0000000000000000", "61a8a244adacccf0"),
    ("88bca90e90875a", 64, "0000000000000000", "6ccf4308974c267f"),
    ("88bca90e90875a7f0f79c384627bafb2", 64, "0000000000000000", "1a807d272bbe5db1"),
    ("88bca90e90875a7f0f79c384627bafb2", 128, "0000000000000000", "2269552ab0f85ca6"),
    (
        "88bca90e90875a7f0f79c384627bafb216f80a6f85920584c42fceb0be255daf1e",
        129,
        "0000000000000000",
        "5b78d3a43dfff1f1",
    ),
]


@pytest.mark.parametrize(("key", "effective_bits", "plaintext", "ciphertext"), RFC_2268)
def test_rc2_effective_bits(key: str, effective_bits: int, plaintext: str, ciphertext: str) -> None:
    engine = _with("rc2-ecb", "plain", f"RC2_EFFECTIVE_BITS={effective_bits}")
    engine.setup(bytes.fromhex(key))
    assert engine.encrypt(bytes.fromhex(plaintext))[0].hex() == ciphertext
    assert engine.decrypt(bytes.fromhex(ciphertext)).hex() == plaintext


@pytest.mark.parametrize("effective_bits", [40, 41, 127, 1024])
def test_rc2_effective_bits_as_pycryptodome(effective_bits: int) -> None:
    from Crypto.Cipher import ARC2

    engine = _with("rc2-ecb", "plain", f"RC2_EFFECTIVE_BITS={effective_bits}")
    source = random.Random(effective_bits)
    for _ in range(300):
        key, block = source.randbytes(source.randint(5, 128)), source.randbytes(8)
        engine.setup(key)
        other = ARC2.new(key, ARC2.MODE_ECB, effective_keylen=effective_bits)
        assert engine.encrypt(block)[0] == other.encrypt(block)


@pytest.mark.parametrize("variant", ["plain", "fixed-rotate"])
@pytest.mark.parametrize("rounds", [1, 8, 12, 24])
def test_rc6_rounds_as_the_paper(rounds: int, variant: str) -> None:
    paper = runpy.run_path(str(CIPHERS / "rc6" / "oracle.py"))
    engine = _with("rc6-ecb", variant, f"RC6_ROUNDS={rounds}")
    source = random.Random(rounds)
    for _ in range(100):
        key, block = source.randbytes(source.randint(1, 32)), source.randbytes(16)
        engine.setup(key)
        assert engine.encrypt(block)[0] == paper["encrypt_block"](paper["expand"](key, rounds), block)
        assert engine.decrypt(engine.encrypt(block)[0]) == block


class _Io(ctypes.Structure):
    _fields_ = (
        *((name, ctypes.c_char_p) for name in ("nonce", "ad", "input")),
        *((name, ctypes.c_void_p) for name in ("output", "tag")),
        ("bytes", ctypes.c_size_t),
        ("ad_bytes", ctypes.c_size_t),
        ("nonce_bytes", ctypes.c_uint8),
    )


@pytest.mark.crosscheck
@pytest.mark.skipif(
    library_version("cryptopp") is None,
    reason="Crypto++ is not installed (apt-get install libcrypto++-dev g++)",
)
def test_rc6_as_crypto_plus_plus() -> None:
    """10,000 random keys and messages, every variant, against a library that is not ours."""
    from motecrypt.build.toolchain.drivers import driver

    engines = [_with("rc6-ctr", variant) for variant in ("plain", "fixed-rotate")]
    other = ctypes.CDLL(str(driver("adapter_cryptopp")))
    assert other.adapter_select(b"rc6-ctr", 0)
    context = ctypes.create_string_buffer(ctypes.c_size_t.in_dll(other, "cipher_context_bytes").value)
    source = random.Random("rc6 and crypto++")
    for _ in range(10_000):
        key, nonce = source.randbytes(source.choice((16, 24, 32))), source.randbytes(16)
        message = source.randbytes(source.randint(0, 80))
        output = ctypes.create_string_buffer(len(message) or 1)
        io = _Io(nonce, None, message, ctypes.addressof(output), None, len(message), 0, 16)
        assert other.cipher_setup(context, key, len(key)) == 0
        assert other.cipher_encrypt(context, ctypes.byref(io)) == 0
        for engine in engines:
            engine.setup(key)
            assert engine.encrypt(message, nonce)[0] == output.raw[: len(message)]
    print("rc6-ctr: 10000 random inputs against Crypto++, 2 implementations")


# --- lengths that are not taken ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "bad"),
    [
        ("des", (0, 7, 9, 24)),
        ("3des", (8, 16, 23, 25)),
        ("rc2", (0, 129)),
        ("blowfish", (0, 3, 57)),
        ("rc6", (0, 33)),
    ],
)
def test_key_lengths_that_are_refused(name: str, bad: tuple[int, ...]) -> None:
    for body in CATALOG.implementations_of(f"{name}-cbc", "host", ["motecrypt"]):
        engine = open_implementation(CATALOG.cipher(f"{name}-cbc"), body)
        for key_bytes in bad:
            with pytest.raises(InputError, match="key"):
                engine.setup(bytes(range(key_bytes)))


@pytest.mark.parametrize("name", NAMES)
def test_part_of_a_block_is_refused(name: str) -> None:
    cipher = CATALOG.cipher(f"{name}-ecb")
    engine = open_cipher(cipher.name)
    engine.setup(bytes(range(cipher.key_bits[0] // 8)))
    with pytest.raises(InputError, match="length"):
        engine.encrypt(bytes(cipher.message.multiple + 1))


# --- sanitizers ------------------------------------------------------------------------------------------

_DRIVER = """
#include "cipher.h"
#include CIPHER_HEADER
#include <stdio.h>
#include <string.h>
#include <stdlib.h>
static size_t line(char *text, uint8_t *to) {
    size_t n = 0;
    unsigned value;
    while (sscanf(text + 2 * n, "%2x", &value) == 1) {
        to[n++] = (uint8_t)value;
    }
    return n;
}
int main(void) {
    static char text[4096];
    static uint8_t key[256], nonce[16], message[2048];
    while (fgets(text, sizeof text, stdin)) {
        size_t key_bytes = line(text, key), nonce_bytes = 0, bytes = 0;
        if (fgets(text, sizeof text, stdin)) {
            nonce_bytes = line(text, nonce);
        }
        if (fgets(text, sizeof text, stdin)) {
            bytes = line(text, message);
        }
        uint8_t *exact = malloc(bytes ? bytes : 1), *in = malloc(bytes ? bytes : 1);
        struct cipher_context *context = malloc(sizeof *context);
        memcpy(in, message, bytes);
        struct cipher_io io = {nonce, 0, in, exact, 0, bytes, 0, (uint8_t)nonce_bytes};
        unsigned status = cipher_setup(context, key, (uint8_t)key_bytes);
        status |= cipher_encrypt(context, &io);
        for (size_t i = 0; i < bytes; i++) {
            printf("%02x", exact[i]);
        }
        io.input = exact;
        status |= cipher_decrypt(context, &io);
        printf(" %u %d\\n", status, memcmp(exact, in, bytes));
        free(exact);
        free(in);
        free(context);
    }
    return 0;
}
"""


@pytest.mark.long
@needs_tool_set("host")
@pytest.mark.parametrize("mode", ["ecb", "cbc", "ctr"])
@pytest.mark.parametrize("name", NAMES)
def test_under_the_sanitizers(name: str, mode: str, tmp_path: Path) -> None:
    """Every variant, warnings as errors, address and undefined-behaviour checks on, against the oracle."""
    cipher = CATALOG.cipher(f"{name}-{mode}")
    encrypt = runpy.run_path(str(cipher.folder / "oracle.py"))["encrypt"]
    source = random.Random(cipher.name)
    asked, expected = [], []
    shortest = 40 if name == "rc2" else 32
    for number in range(60):
        bits = source.choice(cipher.key_bits)
        if cipher.key_bits_allowed and number % 2:
            bits = 8 * source.randint(
                max(shortest, cipher.key_bits_allowed[0]) // 8, cipher.key_bits_allowed[1] // 8
            )
        key, nonce = source.randbytes(bits // 8), source.randbytes(cipher.nonce_bytes)
        if number < 3 and nonce:
            nonce = b"\xff" * len(nonce)  # the counter wraps
        message = source.randbytes(source.randint(0, 9) * cipher.message.multiple)
        asked.append(f"{key.hex()}\n{nonce.hex()}\n{message.hex()}\n")
        expected.append(f"{encrypt(cipher.name, key, nonce, b'', message)[0].hex()} 0 0")
    program = tmp_path / "driver.c"
    program.write_text(_DRIVER)
    include = CIPHERS.parent
    for body in CATALOG.implementations_of(cipher.name, "host", ["motecrypt"]):
        flags = ["-std=c99", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-O1", "-g"]
        flags += ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
        flags += [f"-I{include / 'include'}", f"-I{include / 'modes'}", f"-I{body.folder}"]
        flags += [f"-D{define}" for define in body.defines]
        flags += [f'-DCIPHER_HEADER="{body.header}"', f"-DCIPHER_KEY_BYTES_MAX={body.key_bytes_allowed}"]
        sources = [s if s.startswith("/") else str(body.folder / s) for s in body.sources]
        binary = tmp_path / f"{body.variant}"
        subprocess.run(["gcc", *flags, str(program), *sources, "-o", str(binary)], check=True, timeout=120)
        done = subprocess.run(
            [str(binary)], input="".join(asked), capture_output=True, text=True, timeout=120, check=False
        )
        assert done.returncode == 0, done.stderr
        assert done.stdout.splitlines() == expected


def test_vectors_name_their_source() -> None:
    for family in ("des", "rc2", "blowfish", "rc6"):
        for path in (CIPHERS / family / "vectors").glob("*.json"):
            for group in json.loads(path.read_text()):
                assert group["source"]
                assert group["licence"]
