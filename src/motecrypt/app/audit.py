"""Audit a cipher, or a public-key algorithm: what it gives away, shown by experiments."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from motecrypt.adviser.publickey.rows import recorded
from motecrypt.adviser.publickey.secrets import TaintRow, TimingVerdict, by_operation, causes, timing_verdict
from motecrypt.app.selection import Selection, select
from motecrypt.attack.audits.taint import MEANING
from motecrypt.base.errors import InputError
from motecrypt.base.model import Cipher, ExperimentResult
from motecrypt.build.setup import need
from motecrypt.build.toolchain import BuildError
from motecrypt.catalog import Catalog
from motecrypt.catalog.publickey import PublicKeyAlgorithm
from motecrypt.measuring.audits import ON_DEVICES, AuditRun, Unavailable, not_applicable, part_names
from motecrypt.measuring.audits.public_keys import follow, secret_parts
from motecrypt.results import Results, opened
from motecrypt.results.experiments.audit import SEED, WEIGHTS, AuditAnswer

if TYPE_CHECKING:
    from motecrypt.base.progress import Progress

POWER = "power"
PLACES_MOST = 4


@dataclass(frozen=True)
class AuditRequest:
    """What to audit.

    Attributes
    ----------
    cipher : a name, or the path of a folder.
    devices : timing and power on these, names or paths of folders; empty: timing on all simulated ones.
    parts : the names of parts, or kinds such as "timing"; empty: all but power. `part_names` names them.
    variant : of our implementation; None: the first.
    quick : smaller samples and fewer keys.
    seed : of all random inputs.
    """

    cipher: str
    devices: Sequence[str] = ()
    parts: Sequence[str] = ()
    variant: str | None = None
    quick: bool = False
    seed: int = SEED

    @property
    def chosen(self) -> Selection:
        """The cipher and the devices, with the user's own folders."""
        return select((self.cipher,), devices=self.devices)

    @property
    def part_names(self) -> list[str]:
        """The parts that there are of this cipher, on these devices."""
        chosen = self.chosen
        return part_names(chosen.cipher, [device.name for device in chosen.devices] or None)


@dataclass(frozen=True)
class AuditResult:
    """What the parts of an audit came to, in their order."""

    chosen: Selection
    experiments: tuple[ExperimentResult, ...]

    @property
    def cipher(self) -> Cipher:
        """The cipher that was audited."""
        return self.chosen.cipher

    @property
    def answers(self) -> list[AuditAnswer]:
        """One for each part: its verdict, how to read it (`weight`), sentences and data."""
        answers = [AuditAnswer.from_json(experiment.outcome) for experiment in self.experiments]
        assert None not in answers, "an audit gives results of its own shape"
        return [answer for answer in answers if answer is not None]

    @property
    def implementation(self) -> str:
        """The variant that was audited; empty where no part was run."""
        return next((f.inputs["implementation"] for f in self.experiments if f.inputs["implementation"]), "")

    @property
    def verdict(self) -> str:
        """The worst of the parts' weights."""
        weights = [answer.weight for answer in self.answers]
        return next((weight for weight in ("bad", "note", "good") if weight in weights), "skipped")

    def parts_of(self, weight: str) -> list[str]:
        """The names of the parts with this weight."""
        return [name for name, answer in self.named if answer.weight == weight]

    def page(self, command: str = "") -> str:
        """A page as HTML: diffusion maps, histograms of timing, power curves; made with this `command`."""
        from motecrypt.present.pages.audit_page import audit_page

        return audit_page(self.cipher, self.implementation, self.named, command)

    @property
    def named(self) -> list[tuple[str, AuditAnswer]]:
        """The name and the answer of each part."""
        names = [experiment.inputs["part"] for experiment in self.experiments]
        return list(zip(names, self.answers, strict=True))

    @property
    def others(self) -> dict[str, str]:
        """The attacks that the cipher has no use for, and what each needs."""
        return not_applicable(self.cipher)

    def document(self, seed: int = SEED, quick: bool = False) -> dict[str, Any]:
        """The parts and the verdict as JSON, with how the audit was asked for."""
        cipher = self.cipher
        return {
            "cipher": cipher.name,
            "security": cipher.security,
            "security_reason": cipher.security_reason,
            "seed": seed,
            "quick": quick,
            "verdict": {"weight": self.verdict, **{weight: self.parts_of(weight) for weight in WEIGHTS}},
            "implementation": self.implementation,
            "not_applicable": [{"part": name, "needs": needs} for name, needs in self.others.items()],
            "parts": [
                {"part": experiment.inputs["part"], **experiment.outcome, "made_at": experiment.made_at}
                for experiment in self.experiments
            ],
        }


def plan(request: AuditRequest) -> list[AuditRun]:
    """The parts of an audit.

    Raises
    ------
    InputError
        A name that does not exist, of a part, too.
    """
    chosen, known, others = request.chosen, request.part_names, not_applicable(request.chosen.cipher)
    kinds = {kind for kind in ON_DEVICES if any(name.startswith(f"{kind}:") for name in known)}
    cipher, parts = chosen.cipher.name, request.parts
    for part in parts:
        if part not in known and part not in others and part not in kinds:
            raise InputError(f"the audit of {cipher} has no part '{part}'; it has: {', '.join(known)}")
    if parts:
        asked = kinds & {*parts}
        names = [name for name in (*known, *others) if name in parts or name.partition(":")[0] in asked]
    else:  # the power of a device in the attacker's hands is a question of its own
        names = [name for name in known if not name.startswith(f"{POWER}:")]
    folders = tuple(dict.fromkeys(own.folder for own in chosen.own_ciphers))
    boards = tuple(device.folder for device in chosen.devices)
    more = (request.seed, request.quick, request.variant, folders, boards)
    return [AuditRun(cipher, name, *more) for name in names]


def audit(
    request: AuditRequest, results: Path | str | Results | None = None, progress: Progress | None = None
) -> AuditResult:
    """Run the parts of an audit whose answers are not stored yet, and give all of them.

    A part that the cipher has no use for, or whose tool is missing, is skipped with its reason.

    Parameters
    ----------
    results
        The results file: its path, or opened. None: the default one.
    progress
        Called from other threads, too.

    Raises
    ------
    InputError
        As `plan`, or a compiler or a device's tools are not available.
    """
    chosen, parts = request.chosen, plan(request)
    need("host", *(device.tool_set for device in chosen.devices))
    chosen.prove_own()
    with opened(results) as store:
        return AuditResult(chosen, tuple(_run(parts, store, progress or (lambda *_: None))))


def _run(parts: Sequence[AuditRun], results: Results, report: Progress) -> list[ExperimentResult]:
    """Run the parts side by side (simulators and valgrind are programs of their own), in their order."""
    steps = _Steps(parts, report)
    with ThreadPoolExecutor(max_workers=min(4, os.cpu_count() or 1)) as pool:
        futures = {pool.submit(part.ensure, results, told=steps.of(part)): part for part in parts}
        try:
            for future in as_completed(futures):
                future.result()
                steps.end(futures[future])
        except BaseException:
            for future in futures:
                future.cancel()
            raise
    return [future.result() for future in futures]


class _Steps:
    """The steps of all parts together. A part has one until it reports how many there are."""

    def __init__(self, parts: Sequence[AuditRun], report: Progress) -> None:
        self._report, self._lock = report, Lock()
        self._done = {part.part: (0, 1) for part in parts}

    def of(self, part: AuditRun) -> Progress:
        """What a part calls with its own steps."""
        return lambda done, total, what: self._told(part.part, done, total, what)

    def end(self, part: AuditRun) -> None:
        """A part is done."""
        total = self._done[part.part][1]
        self._told(part.part, total, total, part.part)

    def _told(self, part: str, done: int, total: int, what: str) -> None:
        with self._lock:
            self._done[part] = (done, total)
            counted = self._done.values()
            self._report(sum(own for own, _ in counted), sum(own for _, own in counted), what)


# --- public-key algorithms -----------------------------------------------------------------------------


@dataclass(frozen=True)
class PublicKeyAudit:
    """Whether secrets steer the operations of a public-key algorithm.

    Attributes
    ----------
    rows : of each operation that runs on this computer: where a secret chooses a branch or an address.
    without : why others could not be followed.
    timing : how the time of each recorded operation depends on its inputs on a device.
    """

    algorithm: PublicKeyAlgorithm
    rows: tuple[TaintRow, ...]
    without: tuple[str, ...]
    timing: tuple[TimingVerdict, ...]

    def document(self) -> dict[str, Any]:
        """The same as JSON."""
        return {
            "algorithm": self.algorithm.name,
            "security": self.algorithm.security,
            "verdict": self.verdict,
            "on_this_computer": self.rows,
            "without": self.without,
            "on_devices": self.timing,
        }

    @property
    def verdict(self) -> str:
        """One sentence of all operations."""
        clean = sum(not row.places for row in self.rows)
        machine_code = {f"{t.implementation} on {t.device}" for t in self.timing if t.verdict == "compiler"}
        told = (
            f"{clean} of {len(self.rows)} operations have no branch and no address that depends on a secret"
        )
        but = f"; but time depends on secrets by the compiler: {', '.join(sorted(machine_code))}"
        return told + (but if machine_code else "")

    @property
    def meaning(self) -> str:
        """What the worst of the verdicts means."""
        found = {row.verdict for row in self.rows}
        return [text for verdict, (_, text) in MEANING.items() if verdict in found][-1]


def audit_public_key(name: str, progress: Progress | None = None) -> PublicKeyAudit:
    """Follow the secrets of each operation on this computer, next to how its cycles vary on devices.

    Raises
    ------
    InputError
        No such algorithm, it has no secrets, or they could not be followed.
    """
    catalog = Catalog.load()
    algorithm = catalog.public_key(name)
    if not any(secret_parts(algorithm, operation) for operation in algorithm.operations):
        raise InputError(f"{name}: nothing to audit: it has no operation with a secret input")
    rows, without = followed(catalog, algorithm, progress or (lambda *_: None))
    if not rows:
        told = "; ".join(without) or "no implementation runs on this computer"
        raise InputError(f"{name}: no secrets could be followed: {told}")
    found, known = by_operation(rows), causes()
    timing = [timing_verdict(row, found, known) for row in recorded() if row.algorithm == name and row.ran]
    return PublicKeyAudit(algorithm, tuple(rows), tuple(without), tuple(timing))


def followed(
    catalog: Catalog, algorithm: PublicKeyAlgorithm, report: Progress
) -> tuple[list[TaintRow], list[str]]:
    """The results of each implementation that runs on this computer, and why others have none."""
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
