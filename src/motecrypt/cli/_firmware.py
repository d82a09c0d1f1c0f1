"""A firmware file that the user names: sketches are built, everything is read and checked."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from motecrypt.emulate.images import Image, read_image
from motecrypt.errors import InputError, MotecryptError
from motecrypt.model import Device
from motecrypt.setup import need

if TYPE_CHECKING:
    from motecrypt.emulate.run import Ended

device_option = click.option(
    "--device", default="uno", show_default=True, help="The chip it is for: uno or pico."
)


def load_firmware(path: Path, device: Device, libraries: Sequence[Path] = ()) -> Image:
    """Build a sketch if it is one, then read the firmware; installs what running it needs."""
    bootloader = str(path) == "optiboot" and device.name == "uno"
    if not path.is_file() and not bootloader:
        raise InputError(f"{path}: no such file")
    if device.runner not in ("simavr", "arm"):
        raise InputError(f"{device.name}: there is no simulator for it; choose --device uno or pico")
    need(device.kit)
    if bootloader:
        need("arduino")
        from motecrypt.toolchain.arduino import build_bootloader

        return read_image(build_bootloader(), device)
    if path.suffix != ".ino":
        return read_image(path, device)
    if device.name != "uno":
        raise InputError(f"{path}: sketches are built for the UNO; for {device.name} give its .elf or .uf2")
    need("arduino")
    from motecrypt.toolchain.arduino import build_sketch

    return read_image(build_sketch(path, libraries), device)


def judge(ended: Ended, until: str | None, max_seconds: float | None) -> None:
    """Raise for an end that is a failure: a crash, a flood, or a text that did not come."""
    if ended.reason == "fault":
        raise MotecryptError(ended.detail)
    if ended.reason == "flood":
        raise MotecryptError(f"the firmware floods its UART: {ended.detail}; --max-output allows more")
    if ended.reason == "gone":
        raise MotecryptError("the port has vanished; plug it in again and repeat the command")
    if until is not None and ended.reason not in ("until", "stopped"):
        over = f"within {max_seconds:g} s of simulated time; --max-seconds allows more"
        raise MotecryptError(
            f"'{until}' did not come {over if ended.reason == 'limit' else f'({ended.detail})'}"
        )
