"""motecrypt audit: what a cipher gives away, shown by experiments."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from motecrypt.adviser.publickey.secrets import DEPENDS
from motecrypt.app.audit import AuditRequest, AuditResult, PublicKeyAudit, audit, audit_public_key
from motecrypt.base.errors import InputError
from motecrypt.base.paths import write_atomically
from motecrypt.catalog import Catalog
from motecrypt.catalog.typed import typed_cipher, typed_device
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
from motecrypt.measuring.audits import not_applicable
from motecrypt.results.findings.audit import SEED, WEIGHTS

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
    if cipher_name in Catalog.load().public_keys:
        if parts or variant or devices:
            raise InputError(
                f"{cipher_name}: a public-key algorithm is audited as a whole; "
                "omit --part, --variant and --device"
            )
        with progress(f"auditing {cipher_name}") as report:
            followed = audit_public_key(cipher_name, report)
        _print_public_key(followed, as_json=as_json)
        return
    request = AuditRequest(cipher_name, devices, parts, variant, quick, seed)
    if "list" in parts:
        for name in request.part_names:
            print(name)
        return
    with open_results(db) as results, progress(f"auditing {request.chosen.cipher.name}") as report:
        found = audit(request, results, report)
    if page is not None:
        write_atomically(page, found.page(typed_with()).encode())
    if as_json:
        print_json(_as_json(found, seed, quick))
    else:
        on = [word for device in found.chosen.devices for word in ("--device", typed_device(device))]
        _print(found, seed, [*on, *([] if db is None else ["--db", str(db)])])


def _print_public_key(found: PublicKeyAudit, *, as_json: bool) -> None:
    algorithm = found.algorithm
    if as_json:
        print_json(
            {
                "algorithm": algorithm.name,
                "standing": algorithm.standing,
                "verdict": found.verdict,
                "on_this_computer": found.rows,
                "without": found.without,
                "on_devices": found.timing,
            }
        )
        return
    print_table(
        f"Secrets of {algorithm.title}, followed on this computer",
        ["operation", "implementation", "verdict", "where"],
        [[row.operation, row.implementation, row.verdict, "; ".join(row.places)] for row in found.rows],
        "valgrind's memcheck, with secret keys, seeds and randomness marked; places that act on public "
        "values alone are not counted",
    )
    print_table(
        "Time on devices, as recorded",
        ["device", "operation", "implementation", "depends on", "by cycles", "cause"],
        [
            [t.device, t.operation, t.implementation, DEPENDS[t.verdict], f"{t.cycles_range:,}", t.cause]
            for t in found.timing
        ],
        "over secrets that are random, of few ones and of many; verification has public inputs",
    )
    lines = [("Verdict", found.verdict), ("Meaning", found.meaning)]
    lines += [("Without", one) for one in found.without]
    print_answer("", lines, f"motecrypt measure --public-key {algorithm.name} --device pico")


def _as_json(found: AuditResult, seed: int, quick: bool) -> dict[str, Any]:
    cipher = found.cipher
    return {
        "cipher": cipher.name,
        "standing": cipher.standing,
        "standing_reason": cipher.standing_reason,
        "seed": seed,
        "quick": quick,
        "verdict": {"weight": found.verdict, **{weight: found.parts_of(weight) for weight in WEIGHTS}},
        "implementation": found.implementation,
        "not_applicable": [{"part": name, "needs": needs} for name, needs in not_applicable(cipher).items()],
        "parts": [
            {"part": finding.inputs["part"], **finding.outcome, "made_at": finding.made_at}
            for finding in found.findings
        ],
    }


def _print(found: AuditResult, seed: int, more: Sequence[str]) -> None:
    cipher, answers = found.cipher, found.answers
    rows = [
        (finding.inputs["part"], READING.get(answer.weight, answer.weight), answer.verdict)
        for finding, answer in zip(found.findings, answers, strict=True)
    ]
    print_table(f"Audit of {cipher.name}", ["part", "reading", "verdict"], rows)
    for answer in answers:
        print_words(f"{answer.title}: {answer.verdict}", "bold")
        for sentence in answer.sentences:
            print_answer("", [("", sentence)])
    if len(answers) > 1:
        others = ", ".join(name.partition(":")[2] for name in not_applicable(cipher))
        print_words(f"Attacks on other ciphers (--json says what each needs): {others}.")
    if not answers:
        return
    print()
    reason = cipher.standing_reason[:1].upper() + cipher.standing_reason[1:]
    said = f". {reason} ({cipher.standing_source})" if reason else ""
    weak = found.parts_of("bad")
    print_answer(
        "",
        (
            ("Audited", f"{found.implementation or 'nothing'}, seed {seed}"),
            ("Security status", f"{cipher.standing}{said}"),
            ("Verdict", f"{READING[found.verdict]}: {_counted(found)}"),
            *([("Weak in", ", ".join(weak))] if weak else []),
        ),
        shlex.join(["motecrypt", "measure", "--cipher", typed_cipher(cipher), *more])
        if not weak
        else "motecrypt list ciphers",
    )


def _counted(found: AuditResult) -> str:
    """How many experiments had which result, those that found a weakness first."""
    words = {
        "bad": ("found a weakness", "found a weakness"),
        "note": ("has a note", "have a note"),
        "good": ("found no weakness", "found no weakness"),
        "skipped": ("was skipped", "were skipped"),
    }
    counts = [(len(found.parts_of(weight)), words[weight]) for weight in words]
    first, *others = [(count, said[count > 1]) for count, said in counts if count]
    experiments = "experiment" if len(found.findings) == 1 else "experiments"
    told = [f"{first[0]} of {len(found.findings)} {experiments} {first[1]}"]
    return "; ".join(told + [f"{count} {said}" for count, said in others])
