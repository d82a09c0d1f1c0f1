"""A cipher's known answers, run: its oracle and every variant of ours on the host must give each of them.

For a folder of the user's own before it is measured or trusted; `./test vectors` does the same for ours.
"""

from __future__ import annotations

from motecrypt.base.errors import InputError, MotecryptError
from motecrypt.base.model import Cipher
from motecrypt.build.toolchain.native import BadTag, NativeCipher, open_implementation
from motecrypt.catalog import Catalog
from motecrypt.catalog.oracles import Vector, oracle, vectors

SHOWN_BYTES = 16


class WrongAnswer(MotecryptError):
    """An implementation or the oracle differs from a published vector."""


def prove(catalog: Catalog, cipher: Cipher) -> int:
    """Run all vectors of a cipher and return how many there are.

    Raises
    ------
    WrongAnswer
        At the first that differs, with file, number, what was expected and what came.
    InputError
        When a vector file is malformed, or a vector is for keys that the cipher does not take.
    """
    known = list(vectors(cipher))
    encrypt = oracle(cipher)
    for vector in known:
        _check_key(cipher, vector)
        if vector.valid:
            answer = encrypt(vector.key, vector.nonce, vector.ad, vector.message)
            _compare(vector, cipher.oracle, *answer)
    for body in catalog.implementations_of(cipher.name, "host", ("motecrypt",)):
        engine = open_implementation(cipher, body)
        for vector in known:
            _run(engine, vector)
    return len(known)


def _check_key(cipher: Cipher, vector: Vector) -> None:
    bits = 8 * len(vector.key)
    allowed = cipher.key_bits_allowed
    fits = bits in cipher.key_bits if allowed is None else allowed[0] <= bits <= allowed[1]
    if vector.valid and not fits:
        raise InputError(f"{vector.where}: a key of {bits} bits; {cipher.name} takes {_taken(cipher)}")


def _taken(cipher: Cipher) -> str:
    allowed = cipher.key_bits_allowed
    return f"{allowed[0]} to {allowed[1]}" if allowed else " or ".join(map(str, cipher.key_bits))


def _run(engine: NativeCipher, vector: Vector) -> None:
    name = f"variant '{engine.implementation.variant}'"
    if not vector.valid:
        _refused(engine, vector, name)
        return
    try:
        engine.setup(vector.key)
    except InputError as error:
        if 8 * len(vector.key) not in engine.implementation.key_bits:
            return  # a variant for fewer key lengths than the cipher has
        raise WrongAnswer(f"{vector.where}: {name} refuses the key: {error}") from None
    ciphertext, tag = engine.encrypt(vector.message, vector.nonce, vector.ad)
    _compare(vector, name, ciphertext, tag)
    try:
        message = engine.decrypt(vector.ciphertext, vector.nonce, vector.ad, vector.tag)
    except BadTag:
        raise WrongAnswer(f"{vector.where}: {name} refuses the tag when it decrypts") from None
    _same(vector, name, "decrypted message", vector.message, message)


def _refused(engine: NativeCipher, vector: Vector, name: str) -> None:
    try:
        engine.setup(vector.key)
        engine.decrypt(vector.ciphertext, vector.nonce, vector.ad, vector.tag)
    except (BadTag, InputError):
        return
    raise WrongAnswer(f"{vector.where}: {name} accepts it, expected to be refused")


def _compare(vector: Vector, name: str, ciphertext: bytes, tag: bytes) -> None:
    _same(vector, name, "ciphertext", vector.ciphertext, ciphertext)
    _same(vector, name, "tag", vector.tag, tag)


def _same(vector: Vector, name: str, what: str, expected: bytes, got: bytes) -> None:
    if expected == got:
        return
    common = min(len(expected), len(got))
    at = next((i for i in range(common) if expected[i] != got[i]), common)
    start = 0 if at < SHOWN_BYTES else at
    where = f"{vector.where}: {what}{f' from byte {start} on' if start else ''}"
    raise WrongAnswer(f"{where}: expected {_shown(expected, start)}, {name} gives {_shown(got, start)}")


def _shown(data: bytes, start: int) -> str:
    cut = data[start : start + SHOWN_BYTES]
    return (cut.hex() or "nothing") + ("..." if start + len(cut) < len(data) else "")
