"""motecrypt records: the fastest and the smallest implementations, ours and public."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from motecrypt.base.errors import InputError
from motecrypt.cli._choices import completes
from motecrypt.cli._output import (
    db_option,
    print_answer,
    print_json,
    print_next,
    print_table,
    stages,
    table_options,
    typed_with,
)

if TYPE_CHECKING:
    from motecrypt.adviser.records.rows import Lead
    from motecrypt.app.records import RecordsResult

LEAST = ("time", "own", "stack", "RAM", "decrypt 16 B", "set-up", "µJ 64 B", "256 B", "64 B", "front")
CHANGE_COLUMNS = ("device", "cipher", "implementation", "figure", "stored", "measured")


@click.command(epilog="Example: motecrypt records --device uno --cipher ascon-aead128")
@click.option(
    "--device", "devices", multiple=True, shell_complete=completes("devices"), help="Only these devices."
)
@click.option(
    "--cipher",
    "ciphers",
    multiple=True,
    shell_complete=completes("ciphers"),
    help="Only these ciphers or families.",
)
@click.option(
    "--stored", is_flag=True, help="Show the figures that came with motecrypt, and measure nothing."
)
@click.option(
    "--check",
    is_flag=True,
    help="Compare with the figures that came with motecrypt (docs/records.md); exit code 1 if one differs. "
    "Results that are stored for the same firmware are taken; --db with a new file measures all again.",
)
@click.option(
    "--jobs", type=click.IntRange(1, 256), default=None, help="Number of firmwares to run at the same time."
)
@db_option
@table_options
def command(
    devices: Sequence[str],
    ciphers: Sequence[str],
    stored: bool,
    check: bool,
    jobs: int | None,
    db: Path | None,
    as_json: bool,
) -> None:
    """Compare all implementations of a cipher on a device: cycles, flash, RAM, stack and energy.

    Ours and the libraries of package clients are measured. Public code that no package client brings is
    recorded: its rows came with motecrypt, and docs/records.md has the command that repeats each.

    'front' marks an implementation that no other beats in cycles and flash. Ours leads a public
    implementation if it takes at least 2 % fewer cycles at 16, 64 and 256 bytes, and no more flash.
    """
    from motecrypt.app.records import RecordsRequest, records

    if stored and check:
        raise InputError("--stored and --check: --check measures; give one of the two")
    found = records(RecordsRequest(devices, ciphers, stored), db, jobs, stages)
    if check:
        _report(found, as_json)
    elif as_json:
        print_json(found.rows())
    else:
        _print(found)
        print_next(typed_with("--check", without=("--stored",)))


def _report(found: RecordsResult, as_json: bool) -> None:
    """What differs from the stored figures; exit code 1 if anything does."""
    if as_json:
        print_json({"rows": found.measured, "changes": found.changes})
    elif found.changes:
        table = [list(asdict(change).values()) for change in found.changes]
        print_table("Figures that are no longer true", CHANGE_COLUMNS, table, "", ("device",))
        print_next("PYTHONPATH=src:tests python -m made.records")
    else:
        print(f"{found.measured} implementations measured: every stored figure is true")
    click.get_current_context().exit(int(bool(found.changes)))


def _print(records: RecordsResult) -> None:
    from motecrypt.adviser.records.page import COLUMNS, cells, sentence
    from motecrypt.adviser.records.rows import leads, together

    for (device, cipher), members in together(records.implementations).items():
        found = leads(members)
        leading = sum(lead.leads for lead in found)
        failed = [f"{row.implementation}: {row.reason}" for row in members if not row.ran]
        print_table(
            f"{cipher} on {device}", COLUMNS, cells(members, records.catalog.devices.get(device)), "", LEAST
        )
        lines = [("Ours leads", f"{leading} of {len(found)} public implementations")]
        lines += [("Behind" if n == 0 else "", sentence(lead)) for n, lead in enumerate(_behind(found))]
        lines += [("Did not run" if n == 0 else "", text) for n, text in enumerate(failed)]
        print_answer("", lines)
        print()


def _behind(found: Sequence[Lead]) -> list[Lead]:
    return [lead for lead in found if not lead.leads]
