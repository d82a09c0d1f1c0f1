"""Authenticated and wide-block ciphers: every variant, under the sanitizers, against vectors and oracles.

Prints, for each, how many vectors and differential runs it passed.
"""

from __future__ import annotations

import ctypes
import faulthandler
import json
import os
import random
import resource
import signal
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from motecrypt.base.model import Cipher, Implementation
from motecrypt.build.toolchain.native import _Io, open_cipher
from motecrypt.catalog import Catalog
from motecrypt.catalog.oracles import Vector, oracle, vectors

FAMILIES = ("ascon", "chacha20-poly1305", "aes-ccm", "aes-siv", "aes-hctr2")
FLAGS = ("-std=c99", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-O1", "-g")
SANITIZERS = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all")
RUNS = 400
BAD_KEY, BAD_NONCE, BAD_LENGTH, BAD_TAG = "1", "2", "3", "4"
NONCES = {"aes-ccm": range(7, 14), "aes-siv": range(40), "aes-hctr2": range(70)}


@dataclass(frozen=True)
class Case:
    """One variant as one cipher."""

    cipher: Cipher
    implementation: Implementation

    def __str__(self) -> str:
        return f"{self.cipher.name}/{self.implementation.variant}"

    @property
    def nonces(self) -> Sequence[int]:
        """Nonce lengths that the cipher takes, in bytes."""
        return NONCES.get(self.cipher.family, [self.cipher.nonce_bytes])


def _cases() -> Iterator[Case]:
    catalog = Catalog.load()
    for cipher in catalog.ciphers.values():
        if cipher.family in FAMILIES:
            for implementation in catalog.implementations_of(cipher.name, "host"):
                if implementation.library == "motecrypt":
                    yield Case(cipher, implementation)


CASES = list(_cases())
CIPHERS = {case.cipher.name: case.cipher for case in CASES}


@cache
def _expected(cipher: str, key: bytes, nonce: bytes, ad: bytes, message: bytes) -> tuple[bytes, bytes]:
    """Ciphertext and tag by the oracle, which is slow: kept for the variants of a cipher."""
    return oracle(CIPHERS[cipher])(key, nonce, ad, message)


@pytest.fixture(scope="module", params=CASES, ids=str)
def built(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Case, Path]:
    """A variant compiled with the driver next to this file and the sanitizers."""
    case: Case = request.param
    body = case.implementation
    program = tmp_path_factory.mktemp("sealing") / "driver"
    firmware = case.cipher.folder.parent.parent
    command = [
        "gcc",
        *FLAGS,
        *SANITIZERS,
        *(f"-I{folder}" for folder in (firmware / "include", firmware / "modes", case.cipher.folder)),
        f'-DCIPHER_HEADER="{body.header}"',
        f"-DCIPHER_KEY_BYTES_MAX={case.cipher.key_bits[0] // 8}",
        *(f"-D{define}" for define in body.defines),
        str(Path(__file__).parent / "sealing_driver.c"),
        *(str(case.cipher.folder / source) for source in body.sources),
        "-o",
        str(program),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return case, program


def _run(program: Path, lines: Sequence[str]) -> list[str]:
    text = "".join(line + "\n" for line in lines)
    done = subprocess.run([program], input=text, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    answers = done.stdout.splitlines()
    assert len(answers) == len(lines)
    return answers


def _line(direction: str, *fields: bytes, place: str = "i") -> str:
    return " ".join([direction, place, *(field.hex() or "-" for field in fields)])


def _answer(status: int | str, output: bytes, tag: bytes) -> str:
    return " ".join([str(status), output.hex() or "-", tag.hex() or "-"])


def _refused(answer: str, ciphertext: bytes, tag: bytes) -> bool:
    """Whether a decryption was refused, and left no plaintext behind."""
    return answer in (BAD_KEY, BAD_NONCE, BAD_LENGTH, _answer(BAD_TAG, bytes(len(ciphertext)), tag))


def _flip(data: bytes, rng: random.Random) -> bytes:
    changed = bytearray(data)
    changed[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    return bytes(changed)


@pytest.mark.long
def test_every_vector(built: tuple[Case, Path], capsys: pytest.CaptureFixture[str]) -> None:
    case, program = built
    known = list(vectors(case.cipher))
    # A tag or nonce that the C contract cannot even express is refused by the callers' types.
    expressible = [v for v in known if len(v.tag) == case.cipher.tag_bytes and len(v.nonce) < 256]
    assert sum(v.valid for v in known) == sum(v.valid for v in expressible)
    lines: list[str] = []
    for v in expressible:
        for place in "io":
            lines.append(_line("e", v.key, v.nonce, v.ad, v.message, b"", place=place))
            lines.append(_line("d", v.key, v.nonce, v.ad, v.ciphertext, v.tag, place=place))
    answers = iter(_run(program, lines))
    for v in expressible:
        for _ in "io":
            sealed, opened = next(answers), next(answers)
            if v.valid:
                assert sealed == _answer(0, v.ciphertext, v.tag), v
                assert opened == _answer(0, v.message, v.tag), v
            else:
                assert _refused(opened, v.ciphertext, v.tag), v
    invalid = sum(not v.valid for v in known)
    assert len(expressible) > 10
    with capsys.disabled():
        print(f"\n{case}: {len(known)} vectors, {invalid} of them must fail", end=" ")


def _inputs(case: Case, rng: random.Random) -> tuple[bytes, bytes, bytes, bytes]:
    lengths = [n for n in range(130) if case.cipher.message.allows(n)]
    key = rng.randbytes(case.cipher.key_bits[0] // 8)
    ad = rng.randbytes(rng.choice((0, 0, 1, 15, 16, 17, rng.randrange(70))))
    return (
        key,
        rng.randbytes(rng.choice(case.nonces)),
        ad if case.cipher.associated_data else b"",
        rng.randbytes(rng.choice(lengths)),
    )


@pytest.mark.long
def test_random_inputs_against_the_oracle(
    built: tuple[Case, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    case, program = built
    rng = random.Random(case.cipher.name)
    inputs = [_inputs(case, rng) for _ in range(RUNS)]
    outputs = [_expected(case.cipher.name, *given) for given in inputs]
    places = [rng.choice("io") for _ in inputs]
    sealed = _run(program, [_line("e", *i, b"", place=p) for i, p in zip(inputs, places, strict=True)])
    opened = _run(
        program,
        [
            _line("d", key, nonce, ad, ciphertext, tag, place=place)
            for (key, nonce, ad, _), (ciphertext, tag), place in zip(inputs, outputs, places, strict=True)
        ],
    )
    for given, (ciphertext, tag), seal, plain in zip(inputs, outputs, sealed, opened, strict=True):
        assert seal == _answer(0, ciphertext, tag), given
        assert plain == _answer(0, given[3], tag), given
    with capsys.disabled():
        print(f"\n{case}: {RUNS} differential runs, both directions", end=" ")


@pytest.mark.long
def test_a_change_of_one_bit(built: tuple[Case, Path]) -> None:
    case, program = built
    if case.cipher.tag_bytes > 0:
        _is_refused_and_leaves_no_plaintext(case, program)
    else:
        _garbles_everything_in_both_directions(case, program)


def _is_refused_and_leaves_no_plaintext(case: Case, program: Path) -> None:
    rng = random.Random(f"changes of {case.cipher.name}")
    lines: list[str] = []
    forged: list[tuple[bytes, bytes]] = []
    for _ in range(RUNS // 5):
        key, nonce, ad, message = _inputs(case, rng)
        ciphertext, tag = _expected(case.cipher.name, key, nonce, ad, message)
        fields = [key, nonce, ad, ciphertext, tag]
        for at in (1, 2, 3, 4):
            if fields[at]:
                changed = list(fields)
                changed[at] = _flip(fields[at], rng)
                lines.append(_line("d", *changed, place=rng.choice("io")))
                forged.append((changed[3], changed[4]))
    for answer, (ciphertext, tag) in zip(_run(program, lines), forged, strict=True):
        assert answer == _answer(BAD_TAG, bytes(len(ciphertext)), tag)


def _garbles_everything_in_both_directions(case: Case, program: Path) -> None:
    assert case.cipher.kind == "wide block"
    rng = random.Random(f"garbling of {case}")
    for direction in "ed":
        for length in (16, 17, 33, 64):
            key, nonce = rng.randbytes(case.cipher.key_bits[0] // 8), rng.randbytes(16)
            message = rng.randbytes(length)
            lines = [_line(direction, key, nonce, b"", m, b"") for m in (message, _flip(message, rng))]
            outputs = [bytes.fromhex(answer.split()[1]) for answer in _run(program, lines)]
            flipped = sum((a ^ b).bit_count() for a, b in zip(*outputs, strict=True))
            # 128 bits or more, each changed with probability 1/2: beyond these bounds once in 10^9
            assert 0.22 < flipped / (8 * length) < 0.78, (direction, length)


@pytest.mark.long
def test_lengths_that_a_cipher_does_not_take(built: tuple[Case, Path]) -> None:
    case, program = built
    key, tag = bytes(case.cipher.key_bits[0] // 8), bytes(case.cipher.tag_bytes)
    nonce, message = bytes(case.cipher.nonce_bytes), bytes(16)
    for length in (0, 1, len(key) - 1):
        assert _run(program, [_line("e", key[:length], nonce, b"", message, b"")]) == [BAD_KEY]
    if case.cipher.family not in ("aes-siv", "aes-hctr2"):  # those take any nonce
        for length in (0, 6, 14 if case.cipher.family == "aes-ccm" else 17, 255):
            lines = [_line(d, key, bytes(length), b"", message, tag) for d in "ed"]
            assert _run(program, lines) == [BAD_NONCE, BAD_NONCE]
    if case.cipher.family == "aes-ccm":  # a nonce of 13 bytes leaves 16 bits for the length
        lines = [_line(d, key, nonce, b"", bytes(65536), tag) for d in "ed"]
        assert _run(program, lines) == [BAD_LENGTH, BAD_LENGTH]
    if case.cipher.family == "aes-hctr2":
        lines = [_line(d, key, nonce, b"", bytes(n), tag) for d in "ed" for n in (0, 1, 15)]
        assert set(_run(program, lines)) == {BAD_LENGTH}


@pytest.mark.long
def test_long_messages_and_associated_data(built: tuple[Case, Path]) -> None:
    """Counters beyond one byte; CCM writes lengths from 0xff00 on in another form."""
    case, program = built
    rng = random.Random(f"length of {case.cipher.name}")
    key, nonce = rng.randbytes(case.cipher.key_bits[0] // 8), rng.randbytes(case.cipher.nonce_bytes)
    sizes = [(0, 65535), (0, 4111)]
    if case.cipher.associated_data:
        sizes += [(65279, 5), (65280, 5), (65600, 0)]
    if case.cipher.family == "aes-hctr2":
        sizes = [(0, 4111), (0, 8192)]  # the oracle is slow
    for ad_bytes, message_bytes in sizes:
        ad, message = rng.randbytes(ad_bytes), rng.randbytes(message_bytes)
        if case.cipher.message.allows(message_bytes):
            ciphertext, tag = _expected(case.cipher.name, key, nonce, ad, message)
            lines = [_line("e", key, nonce, ad, message, b""), _line("d", key, nonce, ad, ciphertext, tag)]
            assert _run(program, lines) == [_answer(0, ciphertext, tag), _answer(0, message, tag)]


@pytest.mark.parametrize("family", FAMILIES)
def test_vectors_name_their_source_and_licence(family: str) -> None:
    folder = next(case.cipher.folder for case in CASES if case.cipher.family == family)
    files = sorted((folder / "vectors").glob("*.json"))
    assert files
    for path in files:
        document = json.loads(path.read_text(encoding="utf-8"))
        for group in document if isinstance(document, list) else [document]:
            assert group["source"] and group["licence"] and group["vectors"], path


def test_the_oracle_gives_the_vectors() -> None:
    """The oracles are not trusted either: they are checked with the valid vectors."""
    checked: list[Vector] = []
    for cipher in dict.fromkeys(case.cipher for case in CASES):
        for v in list(vectors(cipher))[::7]:
            if v.valid:
                assert oracle(cipher)(v.key, v.nonce, v.ad, v.message) == (v.ciphertext, v.tag), v
                checked.append(v)
    assert len(checked) > 500


@dataclass(frozen=True)
class Lengths:
    """Bytes of a message that no memory holds: NULL means what is not empty."""

    cipher: str
    nonce: int
    message: int
    ad: int = 0

    def __str__(self) -> str:
        return f"{self.cipher} nonce {self.nonce} message {self.message:#x} ad {self.ad:#x}"


LONGEST = (
    Lengths("aes128-hctr2", 0, 16 << 32),
    Lengths("chacha20-poly1305", 12, 64 * 0xFFFFFFFF),
    Lengths("aes128-ccm8", 7, 0xFFFFFFFF),
    Lengths("aes128-ccm8", 11, 0xFFFFFFFF),
    Lengths("aes128-ccm8", 12, 0xFFFFFF),
    Lengths("aes128-ccm8", 7, 0, 0xFFFFFFFF),
)
TOO_LONG = (
    Lengths("aes128-hctr2", 0, (16 << 32) + 1),
    Lengths("chacha20-poly1305", 12, 64 * 0xFFFFFFFF + 1),
    Lengths("aes128-ccm8", 7, 1 << 32),
    Lengths("aes128-ccm8", 7, 1 << 63),
    Lengths("aes128-ccm8", 11, 1 << 32),
    Lengths("aes128-ccm8", 12, 1 << 24),
    Lengths("aes128-ccm8", 7, 0, 1 << 32),
)


def _ends(function: str, lengths: Lengths) -> int:
    """What the function gives, or minus the number of the signal that ended it, in a process of its own."""
    engine = open_cipher(lengths.cipher)
    engine.setup(bytes(engine.cipher.key_bits[0] // 8))
    tag = ctypes.create_string_buffer(16)
    io = _Io(
        bytes(lengths.nonce),
        None,
        None,
        None,
        ctypes.addressof(tag),
        lengths.message,
        lengths.ad,
        lengths.nonce,
    )
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        faulthandler.disable()
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        os._exit(getattr(engine._library, function)(engine._context, ctypes.byref(io)))
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


# Python warns of locks that other threads may hold: the child calls the cipher alone, and ends.
pytestmark = pytest.mark.filterwarnings("ignore:.*use of fork.. may lead to deadlocks:DeprecationWarning")


@pytest.mark.parametrize("function", ["cipher_encrypt", "cipher_decrypt"])
@pytest.mark.parametrize("lengths", LONGEST, ids=str)
def test_the_longest_message_is_taken(function: str, lengths: Lengths) -> None:
    """It is read, and so ends the process."""
    assert _ends(function, lengths) == -signal.SIGSEGV


@pytest.mark.parametrize("function", ["cipher_encrypt", "cipher_decrypt"])
@pytest.mark.parametrize("lengths", TOO_LONG, ids=str)
def test_a_longer_message_is_refused(function: str, lengths: Lengths) -> None:
    assert _ends(function, lengths) == int(BAD_LENGTH)
