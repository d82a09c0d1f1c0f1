"""The argument and the options of the commands that run a firmware."""

from __future__ import annotations

from pathlib import Path

import click

from motecrypt.catalog import DEVICE

firmware_argument = click.argument(
    "firmware", type=click.Path(path_type=Path, dir_okay=False), metavar="FIRMWARE"
)
device_option = click.option(
    "--device",
    default=DEVICE,
    show_default=True,
    help="Device of the firmware ('motecrypt list devices'), or your own folder.",
)
until_option = click.option("--until", metavar="TEXT", help="End when the UART has sent this text.")
input_option = click.option(
    "--input", "input_file", type=click.File("rb"), help="What the UART receives; - is stdin."
)
eeprom_option = click.option(
    "--eeprom", type=click.Path(path_type=Path, dir_okay=False), help="A file that keeps the EEPROM."
)
libraries_option = click.option(
    "--libraries",
    type=click.Path(path_type=Path, file_okay=False),
    multiple=True,
    help="Folder of Arduino libraries.",
)
