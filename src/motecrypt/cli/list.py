"""motecrypt list: the devices, ciphers, radios and all else there is."""

from __future__ import annotations

from collections.abc import Sequence

import click

from motecrypt.app.selection import select
from motecrypt.base.errors import InputError
from motecrypt.catalog import nearest
from motecrypt.cli._output import print_json, show, table_options
from motecrypt.present.terminal.listed import KINDS, list_view, rows_of


@click.command(epilog="Example: motecrypt list ciphers")
@click.argument("kind", metavar="|".join(KINDS))
@click.option("--cipher", "ciphers", multiple=True, help="Also list your own folder.")
@click.option("--public-key", "public_keys", multiple=True, help="Also list your own folder.")
@click.option("--library", "libraries", multiple=True, help="Also list your own folder.")
@click.option("--device", "devices", multiple=True, help="Also list your own folder.")
@click.option("--toolchain", "toolchains", multiple=True, help="Also list your own file.")
@table_options
def command(
    kind: str,
    ciphers: Sequence[str],
    public_keys: Sequence[str],
    libraries: Sequence[str],
    devices: Sequence[str],
    toolchains: Sequence[str],
    as_json: bool,
) -> None:
    """List what there is of one kind."""
    if kind not in KINDS:
        raise InputError(nearest("kind of thing", kind, KINDS))
    columns, rows = rows_of(kind, select(ciphers, libraries, devices, toolchains, public_keys).catalog)
    if as_json:
        print_json([dict(zip(columns, row, strict=True)) for row in rows])
    else:
        show(list_view(kind, columns, rows))
