"""motecrypt records: the fastest and the smallest implementations, ours and public."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from motecrypt.base.errors import InputError
from motecrypt.cli._choices import completes
from motecrypt.cli._output import db_option, print_json, print_next, show, stages, table_options, typed_with
from motecrypt.cli._request import jobs_option

AGAIN = "PYTHONPATH=src:tests python -m made.records"
"""What makes the stored figures again, in the folder of the sources."""


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
@jobs_option
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
    from motecrypt.present.terminal.records import changes_view, records_view

    if stored and check:
        raise InputError("--stored and --check: --check measures; give one of the two")
    found = records(RecordsRequest(devices, ciphers, stored), db, jobs, stages)
    if check:
        if as_json:
            print_json({"rows": found.measured, "changes": found.changes})
        elif found.changes:
            show(changes_view(found.changes))
            print_next(AGAIN)
        else:
            print(f"{found.measured} implementations measured: every stored figure is true")
        click.get_current_context().exit(int(bool(found.changes)))
    elif as_json:
        print_json(found.rows())
    else:
        show(*records_view(found.implementations, found.catalog.devices))
        print_next(typed_with("--check", without=("--stored",)))
