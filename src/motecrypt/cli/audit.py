"""motecrypt audit: what a cipher gives away, shown by experiments."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

import click

from motecrypt.app.selection import Selection, select
from motecrypt.base.errors import InputError
from motecrypt.base.model import Cipher, Finding
from motecrypt.base.paths import write_atomically
from motecrypt.build.setup import need
from motecrypt.catalog import Catalog
from motecrypt.catalog.typed import typed_cipher, typed_device
from motecrypt.cli._audit_public_key import audit_public_key
from motecrypt.cli._choices import completes
from motecrypt.cli._output import (
    db_option,
    open_results,
    print_answer,
    print_json,
    print_table,
    print_words,
    progress,
    table_options,
    typed_with,
)
from motecrypt.measuring.audits import ON_DEVICES, AuditRun, not_applicable, part_names
from motecrypt.results import Results
from motecrypt.results.findings.audit import SEED, WEIGHTS, AuditAnswer

if TYPE_CHECKING:
    from motecrypt.base.progress import Progress

POWER = "power"
READING = {"good": "good", "note": "note", "bad": "weak", "skipped": "skipped"}


@click.command(epilog="Example: motecrypt audit rc4d")
@click.argument("cipher_name", metavar="CIPHER", shell_complete=completes("ciphers"))
@click.option(
    "--seed", type=click.IntRange(0), default=SEED, show_default=True, help="Seed of all random inputs."
)
@click.option(
    "--device",
    "devices",
    shell_complete=completes("devices"),
    multiple=True,
    help="Timing and power on this device, or your own folder; may be repeated (default: all simulated).",
)
@click.option(
    "--part",
    "parts",
    multiple=True,
    help="Only these parts; --part list names them. power is run only when named.",
)
@click.option("--variant", default=None, help="Variant of our implementation (default: the first).")
@click.option("--quick", is_flag=True, help="Smaller samples and fewer keys.")
@click.option(
    "--html",
    "page",
    type=click.Path(path_type=Path, dir_okay=False),
    default=None,
    help="Write a page: diffusion maps, timing histograms, traces where they part, power curves. One file.",
)
@db_option
@table_options
def command(
    cipher_name: str,
    seed: int,
    devices: Sequence[str],
    parts: Sequence[str],
    variant: str | None,
    quick: bool,
    page: Path | None,
    db: Path | None,
    as_json: bool,
) -> None:
    """Audit a cipher: diffusion, repetition, integrity, statistics, timing, and known attacks run live.

    What was found before with the same code and seed is not run again. A part that the cipher has no use
    for, or whose tool is missing, is skipped with its reason. CIPHER may be a folder of your own.

    CIPHER may also be a public-key algorithm ('motecrypt list public-keys'): then the secrets of each
    operation are followed on this computer, next to how its cycles vary on devices, with the cause.
    """
    if cipher_name in (catalog := Catalog.load()).public_keys:
        if parts or variant or devices:
            raise InputError(
                f"{cipher_name}: a public-key algorithm is audited as a whole; "
                "omit --part, --variant and --device"
            )
        document = audit_public_key(catalog, cipher_name, as_json=as_json)
        if document is not None:
            print_json(document)
        return
    chosen = select((cipher_name,), devices=devices)
    cipher = chosen.cipher
    folders = tuple(dict.fromkeys(own.folder for own in chosen.own_ciphers))
    boards = tuple(device.folder for device in chosen.devices)
    names = _choose(chosen, parts)
    if names is None:
        return
    need("host")
    chosen.prove_own()
    with open_results(db) as results, progress(f"auditing {cipher.name}") as report:
        findings = _run(
            [AuditRun(cipher.name, name, seed, quick, variant, folders, boards) for name in names],
            results,
            report,
        )
    if page is not None:
        _write_page(page, cipher, findings)
    if as_json:
        print_json(_as_json(cipher, seed, quick, findings))
    else:
        on = [word for device in chosen.devices for word in ("--device", typed_device(device))]
        _print(cipher, findings, [*on, *([] if db is None else ["--db", str(db)])])


def _write_page(page: Path, cipher: Cipher, findings: Sequence[Finding]) -> None:
    from motecrypt.present.pages.audit_page import audit_page

    body = next((f.inputs["implementation"] for f in findings if f.inputs["implementation"]), "")
    parts = [(finding.inputs["part"], _answer(finding)) for finding in findings]
    write_atomically(page, audit_page(cipher, body, parts, typed_with()).encode())


def _run(parts: Sequence[AuditRun], results: Results, report: Progress) -> list[Finding]:
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


def _choose(chosen: Selection, parts: Sequence[str]) -> list[str] | None:
    cipher = chosen.cipher
    for device in chosen.devices:
        need(device.kit)
    known = part_names(cipher, [device.name for device in chosen.devices] or None)
    if "list" in parts:
        for name in known:
            print(name)
        return None
    others = not_applicable(cipher)
    kinds = {kind for kind in ON_DEVICES if any(name.startswith(f"{kind}:") for name in known)}
    for part in parts:
        if part not in known and part not in others and part not in kinds:
            raise InputError(f"the audit of {cipher.name} has no part '{part}'; it has: {', '.join(known)}")
    if not parts:  # the power of a device in the attacker's hands is a question of its own
        return [name for name in known if not name.startswith(f"{POWER}:")]
    return [name for name in (*known, *others) if name in parts or name.partition(":")[0] in kinds & {*parts}]


def _as_json(cipher: Cipher, seed: int, quick: bool, findings: Sequence[Finding]) -> dict[str, Any]:
    return {
        "cipher": cipher.name,
        "standing": cipher.standing,
        "standing_reason": cipher.standing_reason,
        "seed": seed,
        "quick": quick,
        "verdict": {
            "weight": _verdict(findings),
            **{weight: _parts_of(findings, weight) for weight in WEIGHTS},
        },
        "implementation": findings[0].inputs.get("implementation", "") if findings else "",
        "not_applicable": [{"part": name, "needs": needs} for name, needs in not_applicable(cipher).items()],
        "parts": [
            {"part": finding.inputs["part"], **finding.outcome, "made_at": finding.made_at}
            for finding in findings
        ],
    }


def _answer(finding: Finding) -> AuditAnswer:
    answer = AuditAnswer.from_json(finding.outcome)
    assert answer is not None, "an audit gives findings of its own shape"
    return answer


def _print(cipher: Cipher, findings: Sequence[Finding], more: Sequence[str]) -> None:
    answers = [_answer(finding) for finding in findings]
    rows = [
        (finding.inputs["part"], READING.get(answer.weight, answer.weight), answer.verdict)
        for finding, answer in zip(findings, answers, strict=True)
    ]
    print_table(f"Audit of {cipher.name}", ["part", "reading", "verdict"], rows)
    for answer in answers:
        title = f"{answer.title}: {answer.verdict}"
        print_words(title, "bold")
        for sentence in answer.sentences:
            print_answer("", [("", sentence)])
    if len(findings) > 1:
        others = ", ".join(name.partition(":")[2] for name in not_applicable(cipher))
        print_words(f"Attacks on other ciphers (--json says what each needs): {others}.")
    if not findings:
        return
    print()
    body = next((f.inputs["implementation"] for f in findings if f.inputs["implementation"]), "nothing")
    reason = cipher.standing_reason[:1].upper() + cipher.standing_reason[1:]
    said = f". {reason} ({cipher.standing_source})" if reason else ""
    weak = _parts_of(findings, "bad")
    print_answer(
        "",
        (
            ("Audited", f"{body}, seed {findings[0].inputs['seed']}"),
            ("Security status", f"{cipher.standing}{said}"),
            ("Verdict", f"{READING[_verdict(findings)]}: {_counted(findings)}"),
            *([("Weak in", ", ".join(weak))] if weak else []),
        ),
        shlex.join(["motecrypt", "measure", "--cipher", typed_cipher(cipher), *more])
        if not weak
        else "motecrypt list ciphers",
    )


def _verdict(findings: Sequence[Finding]) -> str:
    """The worst of the parts' weights."""
    weights = [_answer(finding).weight for finding in findings]
    return next((weight for weight in ("bad", "note", "good") if weight in weights), "skipped")


def _parts_of(findings: Sequence[Finding], weight: str) -> list[str]:
    """The parts with this result."""
    return [finding.inputs["part"] for finding in findings if _answer(finding).weight == weight]


def _counted(findings: Sequence[Finding]) -> str:
    """How many experiments had which result, those that found a weakness first."""
    words = {
        "bad": ("found a weakness", "found a weakness"),
        "note": ("has a note", "have a note"),
        "good": ("found no weakness", "found no weakness"),
        "skipped": ("was skipped", "were skipped"),
    }
    counts = [(len(_parts_of(findings, weight)), words[weight]) for weight in words]
    first, *others = [(count, said[count > 1]) for count, said in counts if count]
    experiments = "experiment" if len(findings) == 1 else "experiments"
    told = [f"{first[0]} of {len(findings)} {experiments} {first[1]}"]
    return "; ".join(told + [f"{count} {said}" for count, said in others])
