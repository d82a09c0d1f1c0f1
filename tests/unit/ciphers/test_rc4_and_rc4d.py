"""RC4 and RC4D: every variant, under the sanitizers, against the oracles, at every kind of length."""

from __future__ import annotations

import fnmatch
import importlib.util
import json
import random
import subprocess
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import motecrypt

FIRMWARE = Path(motecrypt.__file__).parent / "firmware"
CIPHERS = FIRMWARE / "ciphers"
FAMILIES = ("rc4", "rc4d")
LENGTHS = (0, 1, 2, 3, 4, 5, 15, 16, 17, 31, 32, 33, 47, 127, 128, 254, 255, 256, 257, 511, 512, 513, 4112)
FLAGS = ("-std=c99", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-O1", "-g")
SANITIZERS = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all")


@dataclass(frozen=True)
class Case:
    """One variant as one cipher: what the descriptor says of it."""

    family: str
    cipher: str
    variant: str
    header: str
    sources: tuple[str, ...]
    defines: tuple[str, ...]
    key_bytes: tuple[int, ...]

    def __str__(self) -> str:
        return f"{self.cipher}/{self.variant}"


def _cases() -> Iterator[Case]:
    for family in FAMILIES:
        descriptor = tomllib.loads((CIPHERS / family / "cipher.toml").read_text())
        ciphers = {entry["name"]: entry for entry in descriptor["cipher"]}
        for implementation in descriptor["implementation"]:
            if not any(fnmatch.fnmatchcase("native", core) for core in implementation.get("cores", ["*"])):
                continue
            for name in implementation["ciphers"]:
                yield _case(family, ciphers[name], implementation)


def _case(family: str, cipher: dict[str, Any], implementation: dict[str, Any]) -> Case:
    if "key_bits" in implementation:
        bits = set(implementation["key_bits"]) & set(cipher["key_bits"])
    else:
        bits = {40, 48, 64, 120, 128, 136, 256, 1016, 2032, 2040, 2048}
    return Case(
        family,
        cipher["name"],
        implementation["variant"],
        implementation["header"],
        tuple(implementation["sources"]),
        (*cipher.get("defines", ()), *implementation.get("defines", ())),
        tuple(sorted(n // 8 for n in bits)),
    )


CASES = list(_cases())


@cache
def _oracle(family: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"oracle_{family}", CIPHERS / family / "oracle.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module", params=CASES, ids=str)
def built(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Case, Path]:
    """A variant compiled with the driver next to this file and the sanitizers."""
    case: Case = request.param
    return case, _build(case, max(case.key_bytes), tmp_path_factory.mktemp("rc4"))


def _build(case: Case, longest: int, place: Path) -> Path:
    folder = CIPHERS / case.family
    program = place / "driver"
    command = [
        "gcc",
        *FLAGS,
        *SANITIZERS,
        f"-I{FIRMWARE / 'include'}",
        f"-I{folder}",
        f'-DCIPHER_HEADER="{case.header}"',
        f"-DCIPHER_KEY_BYTES_MAX={longest}",
        *(f"-D{define}" for define in case.defines),
        str(Path(__file__).parent / "stream_driver.c"),
        *(str(folder / source) for source in case.sources),
        "-o",
        str(program),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return program


def _run(program: Path, lines: Sequence[str]) -> list[str]:
    text = "".join(line + "\n" for line in lines)
    done = subprocess.run([program], input=text, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def _line(direction: str, place: str, key: bytes, message: bytes) -> str:
    return f"{direction} {place} {key.hex() or '-'} {message.hex() or '-'}"


@pytest.mark.long
def test_both_directions_in_place_and_not_at_every_kind_of_length(built: tuple[Case, Path]) -> None:
    case, program = built
    source = random.Random(f"{case}")
    oracle = _oracle(case.family)
    lines: list[str] = []
    wanted: list[str] = []
    for key_bytes in case.key_bytes:
        lengths = LENGTHS if key_bytes in (16, 32) else (1, 33, 300)
        for length in lengths:
            key, message = source.randbytes(key_bytes), source.randbytes(length)
            ciphertext = oracle.encrypt(case.cipher, key, b"", b"", message)[0]
            for place in "io":
                lines += [_line("e", place, key, message), _line("d", place, key, ciphertext)]
                wanted += [ciphertext.hex() or "-", message.hex() or "-"]
    assert _run(program, lines) == wanted


@pytest.mark.long
def test_key_lengths_that_it_does_not_take(built: tuple[Case, Path]) -> None:
    case, program = built
    refused = {0, 1, 4, 15, 17, 31, 33, 255} - set(case.key_bytes)
    if len(case.key_bytes) > 1:
        refused = {n for n in refused if 0 < n < min(case.key_bytes)}  # 0 is a key of 256 bytes
    assert refused
    lines = [_line("e", "o", bytes(n), b"abc") for n in sorted(refused)]
    assert _run(program, lines) == ["status 1"] * len(lines)


@pytest.mark.parametrize("case", [case for case in CASES if len(case.key_bytes) > 1], ids=str)
@pytest.mark.parametrize("longest", [16, 255])
def test_a_build_for_shorter_keys_takes_none_of_256_bytes(case: Case, longest: int, tmp_path: Path) -> None:
    program = _build(case, longest, tmp_path)
    lines = [_line("e", "o", bytes(n), b"abc") for n in (0, 4, 256)]
    assert _run(program, lines) == ["status 1"] * len(lines)


def test_vectors_agree_with_the_oracles() -> None:
    for family in FAMILIES:
        files = sorted((CIPHERS / family / "vectors").glob("*.json"))
        assert files
        for path in files:
            groups = json.loads(path.read_text())
            for group in groups if isinstance(groups, list) else [groups]:
                for vector in group["vectors"]:
                    key, message = bytes.fromhex(vector["key"]), bytes.fromhex(vector["message"])
                    ciphertext, tag = _oracle(family).encrypt(group["cipher"], key, b"", b"", message)
                    assert (ciphertext.hex(), tag) == (vector["ciphertext"], b""), vector["comment"]


@pytest.mark.parametrize("cipher", ["rc4d", "rc4d-two-key"])
def test_the_oracle_of_rc4d_undoes_itself(cipher: str) -> None:
    oracle, source = _oracle("rc4d"), random.Random(7)
    for length in (0, 1, 2, 3, 255, 256, 257, 600):
        key, message = source.randbytes(32), source.randbytes(length)
        ciphertext = oracle.encrypt(cipher, key, b"", b"", message)[0]
        assert oracle.decrypt(cipher, key, b"", b"", ciphertext) == message


def test_rc4d_sends_one_byte_as_itself_and_two_keys_do_not() -> None:
    oracle = _oracle("rc4d")
    for byte in range(256):
        assert oracle.encrypt("rc4d", b"any key", b"", b"", bytes([byte]))[0] == bytes([byte])
    assert oracle.encrypt("rc4d-two-key", bytes(range(32)), b"", b"", b"Z")[0] != b"Z"
