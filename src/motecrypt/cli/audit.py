"""motecrypt audit: what a cipher gives away, shown by experiments."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

import click

from motecrypt.app.audit import AuditRequest, AuditResult, audit, audit_public_key
from motecrypt.base.errors import InputError
from motecrypt.base.paths import write_atomically
from motecrypt.catalog import Catalog
from motecrypt.catalog.typed import typed_cipher, typed_device
from motecrypt.cli._choices import completes
from motecrypt.cli._output import (
    db_option,
    open_results,
    print_json,
    progress,
    show,
    table_options,
    typed_with,
)
from motecrypt.cli._request import FILE
from motecrypt.present.terminal.audit import audit_view, secrets_view
from motecrypt.results.experiments.audit import SEED


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
@click.option("--variant", help="Variant of our implementation (default: the first).")
@click.option("--quick", is_flag=True, help="Smaller samples and fewer keys.")
@click.option(
    "--html",
    "page",
    type=FILE,
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
        if as_json:
            print_json(followed.document())
        else:
            lines = [("Verdict", followed.verdict), ("Meaning", followed.meaning)]
            lines += [("Without", one) for one in followed.without]
            show(*secrets_view(followed.algorithm, followed.rows, followed.timing, lines))
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
        print_json(found.document(seed, quick))
    else:
        ran = f"{found.implementation or 'nothing'}, seed {seed}"
        show(*audit_view(found.cipher, found.named, ran, found.verdict, found.others, _next(found, db)))


def _next(found: AuditResult, db: Path | None) -> str:
    """Measure it; where it is weak, choose another."""
    if found.parts_of("bad"):
        return "motecrypt list ciphers"
    on = [word for device in found.chosen.devices for word in ("--device", typed_device(device))]
    more = [*on, *([] if db is None else ["--db", str(db)])]
    return shlex.join(["motecrypt", "measure", "--cipher", typed_cipher(found.cipher), *more])
