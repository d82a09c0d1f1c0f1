"""motecrypt key: a fresh random key, in a file that only you can read."""

from __future__ import annotations

from pathlib import Path

import click

from motecrypt.link import create_key_file


@click.command(epilog="Example: motecrypt key link.key")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@click.option(
    "--bits", type=click.Choice(["128", "192", "256"]), default="256", show_default=True, help="Key length."
)
def command(file: Path, bits: str) -> None:
    """Write a random AES key to a new FILE, as hex digits, readable by you alone.

    Copy it to the other end over a safe way (scp, a stick), never over the radio. One key for each
    pair of ends; never one key in two motes with the same stream number.
    """
    create_key_file(file, int(bits) // 8)
    print(f"{file}: a new {bits}-bit key; copy it to the other end over a safe way")
