"""A public-key algorithm's known answers, run: its oracle and its implementations on the host must give each.

For a folder of the user's own before it is measured; `./test vectors` does the same for ours.
"""

from __future__ import annotations

from collections.abc import Sequence

from motecrypt.base.errors import InputError
from motecrypt.base.model import Implementation
from motecrypt.build.toolchain.known_answers import SHOWN_BYTES, WrongAnswer
from motecrypt.build.toolchain.native import BadTag, open_implementation
from motecrypt.catalog import Catalog
from motecrypt.catalog.publickey import INPUTS, PublicKeyAlgorithm
from motecrypt.catalog.publickey_oracles import PublicKeyOracle, PublicKeyVector, public_key_vectors


def run_natively(
    algorithm: PublicKeyAlgorithm, body: Implementation, given: bytes, message: bytes = b""
) -> bytes | None:
    """What an implementation's operation gives on this computer; None where it refuses what goes in.

    Raises
    ------
    BuildError
        When the implementation does not build, or its library is not available.
    """
    (operation,) = body.operations
    engine = open_implementation(algorithm, body)
    room = bytes(algorithm.output_bytes(operation))
    try:
        ran, _ = engine.encrypt(given + room, ad=message)
    except BadTag:
        return None
    return ran[len(given) :]


def prove_public_key(
    catalog: Catalog, algorithm: PublicKeyAlgorithm, libraries: Sequence[str] = ("motecrypt",)
) -> int:
    """Run all vectors of an algorithm and return how many there are.

    Raises
    ------
    WrongAnswer
        At the first that differs, with file, number, what was expected and what came.
    InputError
        When a vector file is malformed.
    """
    known = list(public_key_vectors(algorithm))
    if not known:
        raise InputError(f"{algorithm.folder / 'vectors'}: no known answers for {algorithm.name}")
    oracle = PublicKeyOracle(algorithm)
    for vector in known:
        check(vector, algorithm.oracle, oracle_answer(oracle, vector))
    for body in catalog.public_key_implementations_of(algorithm.name, "host", libraries):
        for vector in known:
            if vector.operation in body.operations:
                given = run_natively(algorithm, body, vector.given, vector.message)
                check(vector, f"{body.name} {vector.operation}", given)
    return len(known)


def oracle_answer(oracle: PublicKeyOracle, vector: PublicKeyVector) -> bytes | None:
    """What the oracle gives for a vector; None where it refuses."""
    parts, at = [], 0
    for name in INPUTS[vector.operation]:
        size = oracle.algorithm.sizes[name]
        parts.append(vector.given[at : at + size])
        at += size
    try:
        if vector.operation == "verify":
            return b"" if oracle.verify(parts[0], parts[1], vector.message) else None
        if vector.operation == "sign":
            return oracle.sign(parts[0], vector.message)
        if vector.operation == "keygen":
            return b"".join(oracle.keygen(parts[0]))
        if vector.operation == "agree":
            return oracle.agree(parts[0], parts[1])
        if vector.operation == "encapsulate":
            return b"".join(oracle.encapsulate(parts[0], parts[1]))
        return oracle.decapsulate(parts[0], parts[1])
    except InputError:
        if not vector.valid:
            return None
        raise


def check(vector: PublicKeyVector, who: str, given: bytes | None) -> None:
    """Compare an answer with a vector's.

    Raises
    ------
    WrongAnswer
        When it is another.
    """
    expected = vector.expected if vector.valid else None
    if given != expected:
        raise WrongAnswer(f"{vector.where}: expected {_shown(expected)}, {who} gives {_shown(given)}")


def _shown(data: bytes | None) -> str:
    if data is None:
        return "that it is refused"
    return (data[:SHOWN_BYTES].hex() or "that it is accepted") + ("..." if len(data) > SHOWN_BYTES else "")
