"""A firmware file that the user names: sketches are built, everything is read and checked."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from motecrypt.errors import InputError
from motecrypt.images import Image, read_image
from motecrypt.model import Device
from motecrypt.setup import need

device_option = click.option(
    "--device", default="uno", show_default=True, help="The chip it is for: uno or pico."
)


def load_firmware(path: Path, device: Device, libraries: Sequence[Path] = ()) -> Image:
    """Build a sketch if it is one, then read the firmware; installs what running it needs."""
    if not path.is_file():
        raise InputError(f"{path}: no such file")
    if device.runner not in ("simavr", "arm"):
        raise InputError(f"{device.name}: there is no simulator for it; choose --device uno or pico")
    need(device.kit)
    if path.suffix != ".ino":
        return read_image(path, device)
    if device.name != "uno":
        raise InputError(f"{path}: sketches are built for the UNO; for {device.name} give its .elf or .uf2")
    need("arduino")
    from motecrypt.build.arduino import build_sketch

    return read_image(build_sketch(path, libraries), device)
