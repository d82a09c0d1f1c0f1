"""Runs one public-key operation: every output checked against the oracle, then counted and traced."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from motecrypt.base.errors import FailureKind
from motecrypt.base.model import Operation
from motecrypt.catalog.publickey import INPUTS, OUTPUTS, PublicKeyAlgorithm
from motecrypt.catalog.publickey_oracles import PublicKeyOracle
from motecrypt.measuring.bench import inputs
from motecrypt.measuring.bench.passes import (
    CellFigures,
    Stopped,
    WrongOutput,
    client_of,
    difference,
    figures_of,
    overhead_of,
)
from motecrypt.measuring.bench.plan import Job
from motecrypt.simulate.runners import Options, Region, Starts, counts_while_tracing, keeps_lines

RUN = "encrypt"
"""What the firmware calls the operation: bridge.c."""
REFUSED = "bad tag"


@dataclass(frozen=True)
class PublicKeyCase:
    """One run: what goes in, the message that is signed, what has to come out, and whether it is refused."""

    given: bytes
    message: bytes
    expected: bytes
    valid: bool = True


def run_public_key(
    job: Job, algorithm: PublicKeyAlgorithm, starts: Starts, cache: str, message_bytes: int
) -> dict[Operation, CellFigures]:
    """The figures of the firmware's one operation."""
    (operation,) = job.implementation.operations
    cases = cases_of(algorithm, operation, message_bytes)
    counts = counts_while_tracing(job.device)
    traced, painted, exact = _one_pass(job, algorithm, starts, cases, Options(trace=True, cache=cache))
    counted = traced
    if not counts:
        counted, _, exact = _one_pass(job, algorithm, starts, cases, Options(cache=cache))
    first = 1 if cache == "warm" and keeps_lines(job.device) else 0
    cost = overhead_of(job, cache)["encrypt"]
    return {operation: figures_of(counted[first:], traced[first:], painted, cost, exact=exact)}


def _one_pass(
    job: Job, algorithm: PublicKeyAlgorithm, starts: Starts, cases: Sequence[PublicKeyCase], options: Options
) -> tuple[list[Region], list[int], bool]:
    regions: list[Region] = []
    painted: list[int] = []
    (operation,) = job.implementation.operations
    room = bytes(algorithm.output_bytes(operation))
    with starts.start(options) as session:
        board = client_of(session)
        board.wait_ready()
        for case in cases:
            if job.stop.is_set():
                raise Stopped
            if case.message:
                board.set_ad(case.message)
            board.set_message(case.given + room)
            ran = board.run(RUN, 1, 0)
            new = session.regions()
            wanted = "ok" if case.valid else REFUSED
            if ran.status != wanted or len(new) != 1:
                what = f"{operation} answered '{ran.status}', the oracle '{wanted}'"
                kind = FailureKind.WRONG_STATUS if case.valid else FailureKind.WRONG_TAG_ACCEPTED
                raise WrongOutput(what, kind=kind)
            got = ran.output[len(case.given) :]
            if case.valid and got != case.expected:
                raise WrongOutput(f"{operation}: {difference(case.expected, got)}")
            if case.valid:
                regions += new
                painted.append(ran.painted_stack_bytes)
        return regions, painted, session.cycles_exact


@lru_cache(maxsize=64)
def _cases(
    folder: str, algorithm: PublicKeyAlgorithm, operation: Operation, message_bytes: int
) -> tuple[PublicKeyCase, ...]:
    oracle = PublicKeyOracle(algorithm)
    made = [_case(oracle, operation, number, message_bytes) for number in range(algorithm.inputs)]
    if operation == "verify":
        made.append(_flipped(made[-1]))
    return tuple(made)


def cases_of(
    algorithm: PublicKeyAlgorithm, operation: Operation, message_bytes: int
) -> tuple[PublicKeyCase, ...]:
    """The inputs of an operation and the outputs of the oracle: of secrets two that are random, one of
    almost only zeros, one of almost only ones, then again random ones."""
    return _cases(str(algorithm.folder), algorithm, operation, message_bytes)


def _case(oracle: PublicKeyOracle, operation: Operation, number: int, message_bytes: int) -> PublicKeyCase:
    algorithm = oracle.algorithm
    seed = oracle.seed(_edge(_drawn(algorithm, "seed", number, algorithm.sizes["seed"]), number))
    message = _drawn(algorithm, "message", number, message_bytes) if operation in ("sign", "verify") else b""
    known = {"seed": seed}
    known["secret"], known["public"] = oracle.keygen(seed)
    if operation == "agree":
        _, known["public"] = oracle.keygen(oracle.seed(_drawn(algorithm, "peer", number, len(seed))))
        known["shared"] = oracle.agree(known["secret"], known["public"])
    elif operation in ("sign", "verify"):
        known["signature"] = oracle.sign(known["secret"], message)
    elif operation in ("encapsulate", "decapsulate"):
        known["random"] = _drawn(algorithm, "random", number, algorithm.sizes["random"])
        known["ciphertext"], known["shared"] = oracle.encapsulate(known["public"], known["random"])
    return PublicKeyCase(
        given=b"".join(known[name] for name in INPUTS[operation]),
        message=message,
        expected=b"".join(known[name] for name in OUTPUTS[operation]),
    )


def _edge(seed: bytes, number: int) -> bytes:
    """Secrets whose bits are almost all the same show time that depends on their weight."""
    if number == 2:
        return bytes(len(seed) - 1) + b"\1"
    if number == 3:
        return b"\xff" * (len(seed) - 1) + b"\xfe"
    return seed


def _drawn(algorithm: PublicKeyAlgorithm, what: str, number: int, count: int) -> bytes:
    named = f"motecrypt inputs {inputs.VERSION}|{algorithm.name}|{what}|{number}|{count}"
    return hashlib.shake_256(named.encode()).digest(count)


def _flipped(case: PublicKeyCase) -> PublicKeyCase:
    """A signature with a flipped bit in its last byte but one, which has to be refused."""
    given = bytearray(case.given)
    given[-2] ^= 1
    return PublicKeyCase(bytes(given), case.message, b"", valid=False)
