"""The argument and the options of the commands that run a firmware."""

from __future__ import annotations

import click

from motecrypt.catalog import DEVICE
from motecrypt.cli._request import FILE, FOLDER

firmware_argument = click.argument("firmware", type=FILE, metavar="FIRMWARE")
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
eeprom_option = click.option("--eeprom", type=FILE, help="A file that keeps the EEPROM.")
libraries_option = click.option(
    "--libraries", type=FOLDER, multiple=True, help="Folder of Arduino libraries."
)
