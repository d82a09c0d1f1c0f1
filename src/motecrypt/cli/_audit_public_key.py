"""`motecrypt audit` of a public-key algorithm: secrets followed here, and how cycles vary on devices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from motecrypt.adviser.publickey.rows import recorded
from motecrypt.adviser.publickey.secrets import (
    DEPENDS,
    TaintRow,
    TimingVerdict,
    by_operation,
    causes,
    timing_verdict,
)
from motecrypt.attack.audits.taint import MEANING
from motecrypt.base.errors import InputError
from motecrypt.build.setup import need
from motecrypt.build.toolchain import BuildError
from motecrypt.catalog import Catalog
from motecrypt.catalog.publickey import PublicKeyAlgorithm
from motecrypt.cli._output import print_answer, print_table, progress
from motecrypt.measuring.audits import Unavailable
from motecrypt.measuring.audits.public_keys import follow, secret_parts

if TYPE_CHECKING:
    from motecrypt.base.progress import Progress

PLACES_MOST = 4


def audited(
    catalog: Catalog, algorithm: PublicKeyAlgorithm, report: Progress
) -> tuple[list[TaintRow], list[str]]:
    """The findings of each implementation that runs on this computer, and why others have none."""
    need("host")
    bodies = [
        body
        for body in catalog.public_key_implementations_of(algorithm.name, "host")
        if secret_parts(algorithm, body.operations[0])
    ]
    rows, without = [], []
    for number, body in enumerate(bodies):
        report(number, len(bodies), f"{body.name} {body.operations[0]}")
        try:
            found = follow(catalog, algorithm, body)
        except (Unavailable, BuildError) as reason:
            without.append(f"{body.name} {body.operations[0]}: {reason}")
            continue
        places = [f"{s.kind} in {s.function} ({s.line.rpartition('/')[2]})" for s in found.sightings]
        more = len(places) - PLACES_MOST
        rows.append(
            TaintRow(
                algorithm=algorithm.name,
                operation=found.operation,
                implementation=found.implementation,
                verdict=found.verdict,
                places=(*places[:PLACES_MOST], *([f"{more} more"] if more > 0 else [])),
                public_values=len(found.public),
                measured_on=datetime.now(UTC).date().isoformat(),
            )
        )
    report(len(bodies), len(bodies), "done")
    return rows, without


def audit_public_key(catalog: Catalog, name: str, *, as_json: bool) -> dict[str, Any] | None:
    """Audit one algorithm: print it, or give it as JSON."""
    algorithm = catalog.public_key(name)
    if not any(secret_parts(algorithm, operation) for operation in algorithm.operations):
        raise InputError(f"{name}: nothing to audit: it has no operation with a secret input")
    with progress(f"auditing {name}") as report:
        rows, without = audited(catalog, algorithm, report)
    if not rows:
        told = "; ".join(without) or "no implementation runs on this computer"
        raise InputError(f"{name}: no secrets could be followed: {told}")
    timing = timings(name, rows)
    verdict = _verdict(rows, timing)
    if as_json:
        return {
            "algorithm": name,
            "standing": algorithm.standing,
            "verdict": verdict,
            "on_this_computer": [asdict(row) for row in rows],
            "without": without,
            "on_devices": [asdict(one) for one in timing],
        }
    table = [[row.operation, row.implementation, row.verdict, "; ".join(row.places)] for row in rows]
    print_table(
        f"Secrets of {algorithm.title}, followed on this computer",
        ["operation", "implementation", "verdict", "where"],
        table,
        "valgrind's memcheck, with secret keys, seeds and randomness marked; places that act on public "
        "values alone are not counted",
    )
    print_table(
        "Time on devices, as recorded",
        ["device", "operation", "implementation", "depends on", "by cycles", "cause"],
        [
            [t.device, t.operation, t.implementation, DEPENDS[t.verdict], f"{t.cycles_range:,}", t.cause]
            for t in timing
        ],
        "over secrets that are random, of few ones and of many; verification has public inputs",
    )
    lines = [("Verdict", verdict), ("Meaning", MEANING[_worst(rows)][1])]  # type: ignore[index]
    lines += [("Without", one) for one in without]
    print_answer("", lines, f"motecrypt measure --public-key {name} --device pico")
    return None


def timings(name: str, rows: Sequence[TaintRow]) -> list[TimingVerdict]:
    """The verdict for each recorded operation of this algorithm that ran."""
    found, known = by_operation(rows), causes()
    return [timing_verdict(row, found, known) for row in recorded() if row.algorithm == name and row.ran]


def _worst(rows: Sequence[TaintRow]) -> str:
    order = list(MEANING)
    return max((row.verdict for row in rows), key=lambda verdict: order.index(verdict))  # type: ignore[arg-type]


def _verdict(rows: Sequence[TaintRow], timing: Sequence[TimingVerdict]) -> str:
    clean = sum(not row.places for row in rows)
    by_compiler = sorted({f"{t.implementation} on {t.device}" for t in timing if t.verdict == "compiler"})
    told = f"{clean} of {len(rows)} operations have no branch and no address that depends on a secret"
    return told + (
        f"; but time depends on secrets by the compiler: {', '.join(by_compiler)}" if by_compiler else ""
    )
