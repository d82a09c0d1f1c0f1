"""Whether secrets steer public-key operations: recorded results of the host's audit, joined with how cycles
vary on devices, and the cause. Pure: it reads its data files.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from motecrypt.adviser.publickey.rows import COMMAND, PublicKeyRow
from motecrypt.base.descriptor import Table
from motecrypt.catalog.places import DATA
from motecrypt.catalog.recorded_rows import recorded_rows

TAINT = DATA / "public_key" / "taint.jsonl"
CAUSES = DATA / "public_key" / "causes.toml"
CLEAN = "no secret dependence"
KINDS = ("compiler", "public")


@dataclass(frozen=True)
class TaintRow:
    """What valgrind saw of one operation on this computer: `verdict` as `audits.taint` words it, the `places`
    where a secret steers, and how many places act on `public_values` alone."""

    algorithm: str
    operation: str
    implementation: str
    verdict: str
    places: tuple[str, ...]
    public_values: int
    measured_on: str


@dataclass(frozen=True)
class VariationCause:
    """Why cycles vary where no secret steers the C source. `kind` is "compiler" or "public"."""

    devices: tuple[str, ...]
    algorithms: tuple[str, ...]
    implementations: tuple[str, ...]
    kind: str
    text: str
    source: str

    def matches(self, row: PublicKeyRow) -> bool:
        """Whether it is the cause for this row."""
        return all(
            any(fnmatchcase(name, pattern) for pattern in patterns)
            for name, patterns in (
                (row.device, self.devices),
                (row.algorithm, self.algorithms),
                (row.implementation, self.implementations),
            )
        )


@dataclass(frozen=True)
class TimingVerdict:
    """How an operation's time depends on its inputs on a device.

    `verdict` is "constant", "public" (inputs or values that everybody may know), "source" (secrets steer
    the C source), "compiler" (the source is clean, the machine code is not) or "unknown".
    """

    device: str
    algorithm: str
    operation: str
    implementation: str
    verdict: str
    cycles_range: int
    cause: str


def taint_rows(path: Path = TAINT) -> list[TaintRow]:
    """The recorded results; InputError where a line is not one."""
    return recorded_rows(path, TaintRow, "not a recorded result", f"{COMMAND} --only taint")


def taint_text(rows: Iterable[TaintRow]) -> str:
    """Rows as `taint_rows` reads them, one a line."""
    lines = [json.dumps(asdict(row), sort_keys=True, separators=(",", ":")) for row in rows]
    return "".join(f"{line}\n" for line in lines)


def causes(path: Path = CAUSES) -> list[VariationCause]:
    """The known causes; InputError where the file is wrong."""
    table, found = Table.read(path), []
    for entry in table.tables("cause"):
        found.append(
            VariationCause(
                devices=entry.texts("devices"),
                algorithms=entry.texts("algorithms"),
                implementations=entry.texts("implementations"),
                kind=entry.text("kind", choices=KINDS),
                text=entry.text("text", filled=True),
                source=entry.text("source"),
            )
        )
        entry.done()
    table.done()
    return found


def timing_verdict(
    row: PublicKeyRow, taints: Mapping[tuple[str, str, str], TaintRow], known: Sequence[VariationCause]
) -> TimingVerdict:
    """The verdict on a row that ran. `taints` by algorithm, operation and implementation."""

    def told(verdict: str, cause: str = "") -> TimingVerdict:
        spread = (row.cycles_max or 0) - (row.cycles_min or 0)
        return TimingVerdict(
            device=row.device,
            algorithm=row.algorithm,
            operation=row.operation,
            implementation=row.implementation,
            verdict=verdict,
            cycles_range=spread,
            cause=cause,
        )

    if not row.timing_varies:
        return told("constant")
    if row.operation == "verify":
        return told("public", "the inputs of a verification are public")
    taint = taints.get((row.algorithm, row.operation, row.implementation))
    if taint is not None and taint.verdict != CLEAN:
        return told("source", "; ".join(taint.places))
    if taint is not None:
        for cause in known:
            if cause.matches(row):
                return told(cause.kind, cause.text)
    return told("unknown", "not found yet")


def by_operation(rows: Iterable[TaintRow]) -> dict[tuple[str, str, str], TaintRow]:
    """Results by algorithm, operation and implementation."""
    return {(row.algorithm, row.operation, row.implementation): row for row in rows}


SECTION = """## Do secrets steer it?

`motecrypt audit x25519` runs each operation on this computer under valgrind, with secret keys, seeds and
randomness marked. It reports each branch and each address that depends on them. The devices' cycles are from
the tables above. A clean source can still take time that depends on secrets, where the compiler or its
library branches.
"""


def secrets_text(rows: Sequence[PublicKeyRow], taints: Sequence[TaintRow]) -> str:
    """The section of docs/public-key.md."""
    known, found = causes(), by_operation(taints)
    lines = [
        SECTION,
        "| algorithm | operation | implementation | on this computer | where |",
        "|---|---|---|---|---|",
    ]
    for one in taints:
        where = "; ".join(one.places) or (
            f"{one.public_values} on public values" if one.public_values else ""
        )
        lines.append(
            f"| {one.algorithm} | {one.operation} | {one.implementation} | {one.verdict} | {where} |"
        )
    lines += ["", "| device | algorithm | operation | implementation | time depends on | by cycles | cause |"]
    lines.append("|---|---|---|---|---|---:|---|")
    for row in rows:
        if row.ran and row.timing_varies:
            told = timing_verdict(row, found, known)
            lines.append(
                f"| {row.device} | {row.algorithm} | {row.operation} | {row.implementation} | "
                f"{DEPENDS[told.verdict]} | {told.cycles_range:,} | {told.cause} |"
            )
    lines += ["", *(f"- {cause.text}: {cause.source}." for cause in known)]
    return "\n".join(lines) + "\n"


DEPENDS = {
    "constant": "nothing",
    "public": "public values",
    "source": "secrets, by the source",
    "compiler": "secrets, by the compiler",
    "unknown": "not known",
}
