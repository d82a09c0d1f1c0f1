"""Run any firmware in the simulator, and give what it took."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from motecrypt.app.selection import select
from motecrypt.base.errors import InputError
from motecrypt.base.model import Device
from motecrypt.build.setup import need
from motecrypt.catalog import DEVICE
from motecrypt.simulate.emulate.images import Image, read_image
from motecrypt.simulate.emulate.run import ChipSettings, Ended, FreeRun, Uart, run_freely

if TYPE_CHECKING:
    from motecrypt.simulate.demos import Demo

#: The chip that toolchain/arduino.py builds for: an Arduino UNO's.
SKETCH_CHIP = "ATmega328P"


@dataclass(frozen=True)
class RunRequest:
    """What to run, and until when.

    Attributes
    ----------
    firmware : an .elf, .hex, .uf2 or .bin, an Arduino .ino, the word optiboot, or the name of a demo.
    device : a name, or the path of a folder.
    libraries : folders of Arduino libraries, for a sketch.
    until : the run ends when the UART has sent this text; it has failed where that did not come.
    max_seconds : it ends after this much simulated time; None: never.
    max_output : bytes from the UART after which it ends; None: any number.
    """

    firmware: Path | str
    device: str = DEVICE
    libraries: Sequence[Path] = ()
    until: str | None = None
    max_seconds: float | None = 10.0
    max_output: int | None = 1 << 20
    uart: Uart = field(default_factory=Uart)
    chip: ChipSettings = field(default_factory=ChipSettings)


@dataclass(frozen=True)
class RunResult:
    """How a run ended.

    Attributes
    ----------
    image : the firmware: bytes of flash, and of RAM where that is known.
    ended : reason, cycles, simulated seconds, bytes of stack, and what was used that is not modelled.
    uart : what the UART has sent; empty where that was given to a function.
    """

    request: RunRequest
    device: Device
    image: Image
    ended: Ended
    uart: bytes

    def document(self) -> dict[str, Any]:
        """The same as JSON; bytes of the UART that are no UTF-8 as their numbers."""
        ended, figures = self.ended, ("reason", "detail", "cycles", "seconds", "stack_bytes", "stack_reason")
        return {
            "device": self.device.name,
            **{name: getattr(ended, name) for name in figures},
            "flash_bytes": self.image.flash_bytes,
            "ram_bytes": self.image.ram_bytes,
            **{name: getattr(ended, name) for name in ("interrupts", "notes", "touched", "unmodelled")},
            "uart": self.uart.decode("utf-8", "backslashreplace"),
        }

    @property
    def failure(self) -> str:
        """Why the run is a failure: a crash, a flood, or a text that did not come; empty where it is none."""
        ended, until, max_seconds = self.ended, self.request.until, self.request.max_seconds
        if ended.reason == "fault":
            return ended.detail
        if ended.reason == "flood":
            return f"the firmware floods its UART: {ended.detail}; --max-output allows more"
        if ended.reason == "gone":
            return "the port vanished; plug it in again and repeat the command"
        if until is None or ended.reason in ("until", "stopped"):
            return ""
        late = ended.reason == "limit"
        over = f"within {max_seconds:g} s of simulated time; --max-seconds allows more" if late else ""
        return f"'{until}' did not come {over or f'({ended.detail})'}"


def run(
    request: RunRequest,
    output: Callable[[bytes], None] | None = None,
    event: Callable[[str, str], None] | None = None,
) -> RunResult:
    """Run a firmware to its end.

    Parameters
    ----------
    output
        Gets what the UART sends as it comes; None: the result has it.
    event
        Gets ("note", text) when something is used that is not modelled, and ("port", name).

    Raises
    ------
    InputError
        A name, a file or a setting that the device does not have, or a tool that is not available.
    """
    image, device, how = started(request)
    sent = bytearray()
    ended = run_freely(image, device, how, output or sent.extend, event)
    return RunResult(request, device, image, ended, bytes(sent))


def started(request: RunRequest) -> tuple[Image, Device, FreeRun]:
    """The firmware, built and read, its device, and how it is run there."""
    device, path = select(devices=[request.device]).device, Path(request.firmware)
    image, demo = load_firmware(path, device, request.libraries), _demo_of(path, device)
    from motecrypt.measuring.experiments.files import flash_times

    how = FreeRun(
        request.until,
        request.max_seconds,
        request.max_output,
        request.uart,
        replace(request.chip, cache=demo.cache) if demo else request.chip,
        flash_times=flash_times(device) if device.chip in ("RP2040", "RP2350") else "",
    )
    return image, device, how


def _demo_of(path: Path, device: Device) -> Demo | None:
    """The demo that is named in place of a file, such as aesTest; None where a file of that name is there."""
    from motecrypt.simulate.demos import DEVICE as DEMO_DEVICE
    from motecrypt.simulate.demos import demo

    found = None if path.exists() else demo(str(path))
    if found is not None and device.name != DEMO_DEVICE:
        raise InputError(f"{path}: the demo is for the {DEMO_DEVICE}; add --device {DEMO_DEVICE}")
    return found


def load_firmware(path: Path, device: Device, libraries: Sequence[Path] = ()) -> Image:
    """Build a sketch if it is one, then read the firmware; installs what running it needs.

    Raises
    ------
    InputError
        No such file or demo, none for this device, or a tool that is not available.
    """
    sketches = device.chip == SKETCH_CHIP
    bootloader = str(path) == "optiboot" and sketches
    demo = None if bootloader else _demo_of(path, device)
    if not path.is_file() and not bootloader and demo is None:
        raise InputError(f"{path}: {'a folder; name the file in it' if path.is_dir() else 'no such file'}")
    if not device.simulated:
        raise InputError(f"{device.name}: it has no simulator; choose another --device")
    sketch = path.suffix == ".ino" and demo is None
    if sketch and not sketches:
        raise InputError(
            f"{path}: sketches are built for the {SKETCH_CHIP}; for {device.name} give its firmware file"
        )
    need(device.tool_set, *(["arduino"] if sketch or bootloader else []))
    if demo is not None:
        from motecrypt.simulate.demos import build_demo

        path = build_demo(demo)
    elif sketch or bootloader:
        from motecrypt.build.toolchain.arduino import build_bootloader, build_sketch

        path = build_bootloader() if bootloader else build_sketch(path, libraries)
    return read_image(path, device)
