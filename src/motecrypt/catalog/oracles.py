"""What an output is compared with: published vectors, and an implementation that is not ours.

Each cipher's folder carries `oracle.py` (encrypt -> ciphertext, tag, from another library or written
from the paper) and `vectors/*.json`. Independent of firmware.
"""

from __future__ import annotations

import importlib.util
import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from motecrypt.base.errors import InputError, MotecryptError
from motecrypt.base.model import Cipher
from motecrypt.base.paths import read_regular

Encrypt = Callable[[str, bytes, bytes, bytes, bytes], tuple[bytes, bytes]]


@dataclass(frozen=True)
class Vector:
    """One known answer. `valid` False: decryption must refuse it."""

    cipher: str
    key: bytes
    nonce: bytes
    ad: bytes
    message: bytes
    ciphertext: bytes
    tag: bytes
    valid: bool
    comment: str
    source: str
    file: Path
    number: int

    @property
    def where(self) -> str:
        """File, number in it from 1 on, and comment: for messages."""
        return f"{self.file}: vector {self.number}{f' ({self.comment})' if self.comment else ''}"


@lru_cache(maxsize=64)
def _oracle_module(path: Path) -> Encrypt:
    name = f"motecrypt_oracle_{path.parent.name.replace('-', '_')}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None or not path.exists():
        raise InputError(f"{path}: missing; a cipher's folder needs an oracle to be checked against")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
        encrypt: Encrypt = module.encrypt
    except Exception as error:  # someone else's code
        raise InputError(f"{path}: cannot be used: {type(error).__name__}: {error}") from error
    return encrypt


def oracle(cipher: Cipher) -> Callable[[bytes, bytes, bytes, bytes], tuple[bytes, bytes]]:
    """encrypt(key, nonce, ad, message) -> (ciphertext, tag), independent of the code under test."""
    path = cipher.folder / cipher.oracle
    encrypt = _oracle_module(path)

    def call(key: bytes, nonce: bytes, ad: bytes, message: bytes) -> tuple[bytes, bytes]:
        try:
            answer = encrypt(cipher.name, key, nonce, ad, message)
        except MotecryptError:
            raise
        except Exception as error:  # someone else's code
            what = f"encrypt() failed for {cipher.name} and {len(message)} bytes"
            raise InputError(f"{path}: {what}: {type(error).__name__}: {error}") from error
        return _checked(answer, cipher, len(message), path)

    return call


def _checked(answer: object, cipher: Cipher, message_bytes: int, path: Path) -> tuple[bytes, bytes]:
    """The oracle's answer, if it is one: an oracle of the wrong shape would make every cell look wrong."""
    if (
        not isinstance(answer, tuple)
        or len(answer) != 2
        or not all(isinstance(part, bytes | bytearray) for part in answer)
    ):
        raise InputError(f"{path}: encrypt() must return (ciphertext, tag), both bytes, for {cipher.name}")
    ciphertext, tag = (bytes(part) for part in answer)
    if (len(ciphertext), len(tag)) != (message_bytes, cipher.tag_bytes):
        raise InputError(
            f"{path}: encrypt() returned {len(ciphertext)} bytes and a tag of {len(tag)} for {cipher.name}; "
            f"{message_bytes} and {cipher.tag_bytes} were expected"
        )
    return ciphertext, tag


_FIELDS = ("key", "nonce", "ad", "message", "ciphertext", "tag")


def vectors(cipher: Cipher) -> Iterator[Vector]:
    """All vectors that the cipher's folder carries for it.

    Raises
    ------
    InputError
        When a file is not as docs/adding.md has it, with file and number.
    """
    for path in sorted((cipher.folder / "vectors").glob("*.json")):
        number = 0
        for group in _groups(path):
            for entry in group["vectors"]:
                number += 1
                if group["cipher"] == cipher.name:
                    yield _vector(path, number, group, entry)


def _groups(path: Path) -> list[dict[str, Any]]:
    try:
        document = json.loads(read_regular(path))
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: not valid JSON: {error}") from error
    groups = document if isinstance(document, list) else [document]
    for group in groups:
        if (
            not isinstance(group, dict)
            or not isinstance(group.get("cipher"), str)
            or not isinstance(group.get("vectors"), list)
        ):
            raise InputError(f'{path}: expected {{"cipher": NAME, "vectors": [...]}}, or a list of them')
    return groups


def _vector(path: Path, number: int, group: dict[str, Any], entry: object) -> Vector:
    where = f"{path}: vector {number}"
    if not isinstance(entry, dict):
        raise InputError(f"{where}: expected an object with key, message, ciphertext and so on")
    unknown = set(entry) - {*_FIELDS, "valid", "comment"}
    if unknown:
        raise InputError(
            f"{where}: unknown '{sorted(unknown)[0]}'; allowed: {', '.join(_FIELDS)}, valid, comment"
        )
    field = {}
    for name in _FIELDS:
        try:
            field[name] = bytes.fromhex(entry.get(name, ""))
        except (TypeError, ValueError):
            raise InputError(f"{where}: '{name}' is not hexadecimal (two digits a byte)") from None
    return Vector(
        cipher=group["cipher"],
        valid=bool(entry.get("valid", True)),
        comment=str(entry.get("comment", "")),
        source=str(group.get("source", path.name)),
        file=path,
        number=number,
        **field,
    )
