"""What the output of a public-key operation is compared with: the oracle.py of an algorithm's folder, written
with another library, and published vectors. Independent of firmware."""

from __future__ import annotations

import importlib.util
import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any

from motecrypt.base.errors import InputError, MotecryptError
from motecrypt.base.model import PUBLIC_KEY_OPERATIONS, Operation
from motecrypt.base.paths import read_regular
from motecrypt.catalog.publickey import INPUTS, ON_A_MESSAGE, OUTPUTS, PublicKeyAlgorithm


@lru_cache(maxsize=32)
def _module(path: Path) -> ModuleType:
    name = f"motecrypt_public_key_oracle_{path.parent.name.replace('-', '_')}"
    if not path.exists():
        raise InputError(f"{path}: missing; an algorithm's folder needs an oracle to be checked against")
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:  # someone else's code
        raise InputError(f"{path}: cannot be used: {type(error).__name__}: {error}") from error
    return module


class PublicKeyOracle:
    """An algorithm's operations, independent of the code under test.

    Parameters
    ----------
    algorithm
        Whose folder has the oracle. Its functions take the algorithm's name first.
    """

    def __init__(self, algorithm: PublicKeyAlgorithm) -> None:
        self.algorithm = algorithm
        self._path = algorithm.folder / algorithm.oracle
        self._module = _module(self._path)

    def _call(self, operation: str, *given: bytes) -> Any:
        function: Callable[..., Any] | None = getattr(self._module, operation, None)
        if function is None:
            raise InputError(f"{self._path}: no function '{operation}'")
        try:
            return function(self.algorithm.name, *given)
        except MotecryptError:
            raise
        except Exception as error:  # someone else's code
            what = f"{operation}() failed for {self.algorithm.name}"
            raise InputError(f"{self._path}: {what}: {type(error).__name__}: {error}") from error

    def _bytes(self, operation: str, names: tuple[str, ...], *given: bytes) -> tuple[bytes, ...]:
        answer = self._call(operation, *given)
        parts = answer if isinstance(answer, tuple) else (answer,)
        wanted = [self.algorithm.sizes[name] for name in names]
        if [len(part) if isinstance(part, bytes) else None for part in parts] != wanted:
            told = " and ".join(f"{name} ({self.algorithm.sizes[name]} bytes)" for name in names)
            raise InputError(f"{self._path}: {operation}() must return {told} for {self.algorithm.name}")
        return parts

    def seed(self, random: bytes) -> bytes:
        """A seed that the algorithm takes, of random bytes: the same, unless the oracle has a `seed`."""
        return self._bytes("seed", ("seed",), random)[0] if hasattr(self._module, "seed") else random

    def keygen(self, seed: bytes) -> tuple[bytes, bytes]:
        """Secret and public key of a seed."""
        secret, public = self._bytes("keygen", ("secret", "public"), seed)
        return secret, public

    def agree(self, secret: bytes, peer: bytes) -> bytes:
        """The shared secret."""
        return self._bytes("agree", ("shared",), secret, peer)[0]

    def sign(self, secret: bytes, message: bytes) -> bytes:
        """The signature."""
        return self._bytes("sign", ("signature",), secret, message)[0]

    def verify(self, public: bytes, signature: bytes, message: bytes) -> bool:
        """Whether the signature is right."""
        return bool(self._call("verify", public, signature, message))

    def encapsulate(self, public: bytes, random: bytes) -> tuple[bytes, bytes]:
        """Ciphertext and shared secret."""
        ciphertext, shared = self._bytes("encapsulate", ("ciphertext", "shared"), public, random)
        return ciphertext, shared

    def decapsulate(self, secret: bytes, ciphertext: bytes) -> bytes:
        """The shared secret."""
        return self._bytes("decapsulate", ("shared",), secret, ciphertext)[0]


@dataclass(frozen=True)
class PublicKeyVector:
    """One known answer of an operation; `valid` False: it has to be refused."""

    operation: Operation
    given: bytes
    message: bytes
    expected: bytes
    valid: bool
    where: str
    source: str


def public_key_vectors(algorithm: PublicKeyAlgorithm) -> Iterator[PublicKeyVector]:
    """All vectors that the algorithm's folder has for it.

    A file is {"algorithm": NAME, "operation": NAME, "source": TEXT, "vectors": [...]}, or a list of them. A
    vector has the inputs and outputs by their names, "message" where one is signed, in hexadecimal.

    Raises
    ------
    InputError
        When a file is malformed, with file and number.
    """
    for path in sorted((algorithm.folder / "vectors").glob("*.json")):
        try:
            document = json.loads(read_regular(path))
        except (ValueError, RecursionError) as error:
            raise InputError(f"{path}: not valid JSON: {error}") from error
        number = 0
        for group in document if isinstance(document, list) else [document]:
            if not isinstance(group, dict) or group.get("operation") not in PUBLIC_KEY_OPERATIONS:
                raise InputError(f"{path}: expected 'algorithm', 'operation', 'source' and 'vectors'")
            if not isinstance(group.get("vectors"), list):
                raise InputError(f"{path}: expected 'algorithm', 'operation', 'source' and 'vectors'")
            for entry in group["vectors"]:
                number += 1
                if not isinstance(entry, dict):
                    raise InputError(f"{path}: vector {number}: expected an object")
                if group.get("algorithm") == algorithm.name:
                    yield _vector(algorithm, group, entry, f"{path}: vector {number}")


def _hex(entry: dict[str, Any], name: str, where: str) -> bytes:
    try:
        return bytes.fromhex(entry[name])
    except (KeyError, TypeError, ValueError):
        raise InputError(f"{where}: needs '{name}', in hexadecimal (two digits a byte)") from None


def _vector(
    algorithm: PublicKeyAlgorithm, group: dict[str, Any], entry: dict[str, Any], where: str
) -> PublicKeyVector:
    operation: Operation = group["operation"]
    valid = bool(entry.get("valid", True))

    def joined(names: tuple[str, ...]) -> bytes:
        found = b""
        for name in names:
            part = _hex(entry, name, where)
            if len(part) != algorithm.sizes[name]:
                expected = f"expected {algorithm.sizes[name]}"
                raise InputError(f"{where}: '{name}' has {len(part)} bytes; {expected}")
            found += part
        return found

    return PublicKeyVector(
        operation=operation,
        given=joined(INPUTS[operation]),
        message=_hex(entry, "message", where) if operation in ON_A_MESSAGE else b"",
        expected=joined(OUTPUTS[operation]) if valid else b"",
        valid=valid,
        where=f"{where} ({entry['comment']})" if entry.get("comment") else where,
        source=str(group.get("source", "")),
    )
