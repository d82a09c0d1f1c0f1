"""Every public-key algorithm on the host: its oracle and each library's implementation give all vectors."""

from __future__ import annotations

import pytest

from motecrypt.base.errors import FailureKind
from motecrypt.base.model import Implementation
from motecrypt.build.toolchain import BuildError
from motecrypt.build.toolchain.known_answers import WrongAnswer
from motecrypt.build.toolchain.public_key_answers import check, oracle_answer, run_natively
from motecrypt.catalog import Catalog
from motecrypt.catalog.publickey import PublicKeyAlgorithm
from motecrypt.catalog.publickey_oracles import PublicKeyOracle, PublicKeyVector, public_key_vectors

CATALOG = Catalog.load()
ALGORITHMS = sorted(CATALOG.public_keys.values(), key=lambda a: a.name)
BODIES = [body for a in ALGORITHMS for body in CATALOG.public_key_implementations_of(a.name, "host")]


NO_PUBLISHED_VECTORS = {
    "elgamal2048": {"keygen", "encapsulate", "decapsulate"},
}
"""Checked against Python's own numbers alone."""
KNOWN_FAULTS = {
    ("monocypher-ed25519", "verify"): {"tcId 151"},  # the sign of the x of R, where x is 0, is ignored
    ("micro-ecc", "keygen"): {"(1)", "(n - 1)"},  # two secrets, which its ladder cannot begin with
    ("micro-ecc", "agree"): {"tcId 69"},  # the point whose x is 0 is refused
}
"""What a library gets wrong, exactly."""


def _vectors(algorithm: PublicKeyAlgorithm) -> list[PublicKeyVector]:
    return list(public_key_vectors(algorithm))


@pytest.mark.parametrize("algorithm", ALGORITHMS, ids=lambda a: a.name)
def test_the_oracle_gives_all_vectors(algorithm: PublicKeyAlgorithm) -> None:
    known = _vectors(algorithm)
    oracle = PublicKeyOracle(algorithm)
    for vector in known:
        check(vector, "the oracle", oracle_answer(oracle, vector))
    used = {vector.operation for vector in known}
    without = NO_PUBLISHED_VECTORS.get(algorithm.name, {"keygen"})
    assert set(algorithm.operations) - used <= without, "an operation without a published vector"
    assert all(vector.source for vector in known)
    print(f"{algorithm.name}: {len(known)} vectors")


@pytest.mark.parametrize("body", BODIES, ids=lambda b: f"{b.cipher}-{b.name}-{b.operations[0]}")
def test_an_implementation_gives_all_vectors(body: Implementation) -> None:
    algorithm = CATALOG.public_key(body.cipher)
    faults = KNOWN_FAULTS.get((body.library, body.operations[0]), set())
    wrong, checked = set(), 0
    for vector in _vectors(algorithm):
        if vector.operation in body.operations:
            try:
                check(vector, body.name, run_natively(algorithm, body, vector.given, vector.message))
            except BuildError as error:
                if error.kind is FailureKind.MISSING:
                    pytest.skip(str(error))
                raise
            except WrongAnswer as error:
                wrong |= {fault for fault in faults if fault in vector.where} or {str(error)}
            checked += 1
    assert wrong == faults
    print(f"{body.name} {body.cipher} {body.operations[0]}: {checked} vectors")
