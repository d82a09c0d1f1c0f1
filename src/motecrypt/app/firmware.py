"""A firmware file that the user names: sketches are built, everything is read and checked."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from motecrypt.base.errors import InputError, MotecryptError
from motecrypt.base.model import Device
from motecrypt.build.setup import need
from motecrypt.simulate.emulate.images import Image, read_image

if TYPE_CHECKING:
    from motecrypt.simulate.demos import Demo
    from motecrypt.simulate.emulate.run import Ended

#: The chip that toolchain/arduino.py builds for: an Arduino UNO's.
SKETCH_CHIP = "ATmega328P"


def demo_of(path: Path, device: Device) -> Demo | None:
    """The demo that is named in place of a file, such as aesTest; None where a file of that name is there."""
    from motecrypt.simulate.demos import DEVICE as DEMO_DEVICE
    from motecrypt.simulate.demos import demo

    found = None if path.exists() else demo(str(path))
    if found is not None and device.name != DEMO_DEVICE:
        raise InputError(f"{path}: the demo is for the {DEMO_DEVICE}; add --device {DEMO_DEVICE}")
    return found


def load_firmware(path: Path, device: Device, libraries: Sequence[Path] = ()) -> Image:
    """Build a sketch if it is one, then read the firmware; installs what running it needs."""
    sketches = device.chip == SKETCH_CHIP
    bootloader = str(path) == "optiboot" and sketches
    chosen = None if bootloader else demo_of(path, device)
    if not path.is_file() and not bootloader and chosen is None:
        raise InputError(f"{path}: {'a folder; name the file in it' if path.is_dir() else 'no such file'}")
    if not device.simulated:
        raise InputError(f"{device.name}: it has no simulator; choose another --device")
    need(device.kit)
    if bootloader:
        need("arduino")
        from motecrypt.build.toolchain.arduino import build_bootloader

        return read_image(build_bootloader(), device)
    if chosen is not None:
        from motecrypt.simulate.demos import build_demo

        return read_image(build_demo(chosen), device)
    if path.suffix != ".ino":
        return read_image(path, device)
    if not sketches:
        raise InputError(
            f"{path}: sketches are built for the {SKETCH_CHIP}; for {device.name} give its firmware file"
        )
    need("arduino")
    from motecrypt.build.toolchain.arduino import build_sketch

    return read_image(build_sketch(path, libraries), device)


def judge(ended: Ended, until: str | None, max_seconds: float | None) -> None:
    """Raise for an end that is a failure: a crash, a flood, or a text that did not come."""
    if ended.reason == "fault":
        raise MotecryptError(ended.detail)
    if ended.reason == "flood":
        raise MotecryptError(f"the firmware floods its UART: {ended.detail}; --max-output allows more")
    if ended.reason == "gone":
        raise MotecryptError("the port vanished; plug it in again and repeat the command")
    if until is not None and ended.reason not in ("until", "stopped"):
        over = f"within {max_seconds:g} s of simulated time; --max-seconds allows more"
        raise MotecryptError(
            f"'{until}' did not come {over if ended.reason == 'limit' else f'({ended.detail})'}"
        )
