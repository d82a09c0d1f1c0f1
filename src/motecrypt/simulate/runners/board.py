"""A real board on a serial port: flashed, asked over its UART, its own timer's cycles.

The firmware is the one that the simulators run. A board's figures are stored under a device of their own,
`uno-board`, so that no view takes them for simulated ones (`boards.board_device` makes it).

What goes wrong with a port, or with anyone who answers there, is a BoardError: one line, nothing stored.
"""

from __future__ import annotations

import hashlib
import os
import select
import shutil
import struct
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType

from motecrypt.base import process
from motecrypt.base.errors import FailureKind, MotecryptError
from motecrypt.base.frames import END, VERSION, Frames, ProtocolError, decode, encode
from motecrypt.base.model import Device
from motecrypt.base.serial_port import SerialPort
from motecrypt.simulate.emulate.images import RP2350_FAMILY, Segment, flat, intel_hex, read_image, uf2
from motecrypt.simulate.runners.flashing import flash_with_tool
from motecrypt.simulate.runners.protocol import WALL
from motecrypt.simulate.runners.session import Options, Region, Session

BAUD = 115200
GREETING_S = 8.0
"""Seconds that a board may take from being reset to its greeting; the UNO's bootloader takes one of them."""
ASK_AFTER_S = 2.0
QUIET_S = 0.1
VOLUME_WAIT_S = FLASH_S = 120.0
VOLUME, VOLUME_2 = "RPI-RP2", "RP2350"
"""Of a Pico, and of a Pico 2."""
_MOUNTS = ("/media", "/run/media", "/mnt", "/Volumes")

_flashed: dict[str, str] = {}
"""The firmware that this process has put on the board at a port, so that it is flashed once."""


class BoardError(MotecryptError):
    """The board, its port, or whatever answers there is not what it should be."""

    usual_kind = FailureKind.BOARD


def identity(device: Device) -> str:
    """Runner name and chip: a board counts with its own timer, and nothing of ours is between."""
    return f"board {device.chip}, own timer"


def open_session(device: Device, elf: Path, data_end: int, options: Options) -> Session:
    """Flash a firmware to the board at `device.extra["port"]`, unless it is there, and greet it."""
    port = str(device.extra["port"])
    digest = hashlib.sha256(elf.read_bytes()).hexdigest()
    if _flashed.get(port) != digest:
        _flashed.pop(port, None)
        flasher_of(device)(device, elf, port)
        _flashed[port] = digest
    return BoardSession(port)


class BoardSession:
    """A started firmware on a board.

    Parameters
    ----------
    port
        The serial port; opening it resets an UNO.
    greeting_s
        Seconds to wait for the firmware's greeting.
    """

    cycles_exact = False
    clock = WALL
    holds_input = False  # a board's UART has room for a byte or two

    def __init__(self, port: str, greeting_s: float = GREETING_S) -> None:
        self._name = port
        self._port = SerialPort(port, BAUD)
        self._frames = Frames()
        self._regions: list[Region] = []
        try:
            self._pending = self._greet(greeting_s)
        except BaseException:
            self._port.close()
            raise

    # --- the greeting ------------------------------------------------------------------------------

    def _greet(self, greeting_s: float) -> bytes:
        """Wait for the greeting, asking for it in between; returns it as a frame for the client."""
        started = time.monotonic()
        frames, heard, asked = Frames(), b"", 0
        trouble: FailureKind | None = None
        while (passed := time.monotonic() - started) < greeting_s:
            if passed > ASK_AFTER_S * (asked + 1):
                asked += 1
                self._port.write(bytes([END]) + encode(asked, "H"))
            data = self._receive(time.monotonic() + 0.05)
            heard += data
            try:
                bodies = frames.feed(data)
            except ProtocolError:
                frames, bodies = Frames(), []
            for body in bodies:
                try:
                    _, kind, payload = decode(body)
                except ProtocolError as error:
                    trouble = error.kind if body[0] == VERSION or trouble is None else trouble
                    if trouble is FailureKind.PROTOCOL_VERSION:
                        raise BoardError(f"{self._name}: {error}", kind=error.kind) from None
                    continue
                if kind == "h":
                    self._drain()
                    return encode(0, "h", payload)
        raise BoardError(f"{self._name}: {_no_greeting(heard, trouble, greeting_s)}")

    def _drain(self) -> None:
        """Let what else was asked for go by, so that the client's stream begins with a frame."""
        started = quiet = time.monotonic()
        while (now := time.monotonic()) - quiet < QUIET_S and now - started < 2.0:
            if self._receive(now + QUIET_S):
                quiet = time.monotonic()

    def _receive(self, deadline: float) -> bytes:
        left = max(0.0, deadline - time.monotonic())
        ready, _, _ = select.select([self._port.fileno()], [], [], left)
        return self._port.read() if ready else b""

    # --- the runners' contract ---------------------------------------------------------------------

    def write(self, data: bytes) -> None:
        """Send all of it, in at most ten seconds."""
        deadline = time.monotonic() + 10
        while data:
            written = self._port.write(data)
            data = data[written:]
            if data:
                if time.monotonic() > deadline:
                    raise BoardError(f"{self._name}: takes no more bytes; unplug it and plug it in again")
                select.select([], [self._port.fileno()], [], 0.1)

    def read(self, deadline: float) -> bytes:
        """What has come; notes the cycles and the stack that each answer to a run carries."""
        data, self._pending = self._pending, b""
        data = data or self._receive(deadline)
        for body in self._frames.feed(data):
            try:
                _, kind, payload = decode(body)
            except ProtocolError:
                continue  # the client gets the same frame and reports it
            if kind == "r" and len(payload) >= 9:
                _, cycles, stack = struct.unpack_from("<BII", payload)
                self._regions.append(Region(cycles, stack))
        return data

    def regions(self) -> list[Region]:
        """One for each run answered since the last call: the timer's cycles, the painted stack."""
        new, self._regions = self._regions, []
        return new

    restartable = False

    def restart(self) -> bool:
        """Never: another session starts it."""
        return False

    def close(self) -> None:
        """Give the port back."""
        self._port.close()

    def __enter__(self) -> BoardSession:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _no_greeting(heard: bytes, trouble: FailureKind | None, waited_s: float) -> str:
    if not heard:
        return (
            f"nothing answers within {waited_s:g} s; is this the board's port, and is it powered "
            "(Pico: adapter at GPIO0 and GPIO1)?"
        )
    begun = bytes([END, VERSION]) in heard
    if begun and (heard.count(END) == 1 or trouble is FailureKind.HALF_FRAME):
        return (
            f"only half a frame arrived ({len(heard)} bytes); check the cable, and other programs "
            "that use the port"
        )
    if begun and trouble is FailureKind.CHECKSUM:
        return "frames arrive damaged; check the cable, and that the board runs at its usual clock"
    return (
        f"something else answers there: {len(heard)} bytes that are not a frame of protocol {VERSION} "
        f"({heard[:12].hex(' ')}...); is it another board or sketch?"
    )


# --- flashing ----------------------------------------------------------------------------------------


def flasher_of(device: Device) -> Callable[[Device, Path, str], None]:
    """How a firmware gets onto a board of this kind."""
    flashers = {
        "ATmega328P": flash_uno,
        "RP2040": flash_pico,
        "RP2350": flash_pico2,
        "ESP32-C3": flash_esp32c3,
    }
    if device.flashing is not None:
        return flash_with_tool
    if device.chip not in flashers:
        raise BoardError(f"{device.chip}: such a board cannot be flashed; supported: {', '.join(flashers)}")
    return flashers[device.chip]


def flash_uno(device: Device, elf: Path, port: str) -> None:
    """Through the UNO's own bootloader, with avrdude, verified."""
    _check_port(port)
    with tempfile.TemporaryDirectory(prefix="motecrypt-flash.") as scratch:
        file = Path(scratch) / "firmware.hex"
        base, code = flat(read_image(elf, device), 0, 0x800000)
        file.write_text(intel_hex([Segment(base, code)]))
        command = ["avrdude", "-q", "-q", "-D", "-p", "atmega328p", "-c", "arduino", "-x", "attempts=3"]
        outcome = process.run(
            [*command, "-P", port, "-b", str(BAUD), "-U", f"flash:w:{file}:i"], timeout_s=FLASH_S
        )
    if not outcome.ok:
        raise BoardError(f"{port}: could not be flashed: {_avrdude_reason(outcome)}")


def _avrdude_reason(outcome: process.Outcome) -> str:
    """The text for its error message; no code decides by it."""
    said = outcome.errors
    if outcome.code is None:
        return "avrdude is missing; 'motecrypt doctor' shows how to get it"
    if "not in sync" in said or "not responding" in said:
        return "no bootloader answers; is it an UNO, and does nothing else use the port?"
    lines = [line.strip() for line in said.splitlines() if "error" in line.lower()] or said.splitlines()
    return lines[0].strip() if lines else "avrdude printed nothing"


def _check_port(port: str) -> None:
    """Opening a port gives the best error message, and resets the board as flashing will."""
    SerialPort(port, BAUD).close()


def flash_pico(device: Device, elf: Path, port: str) -> None:
    """As a UF2 file: copied to the Pico's volume, or with picotool where that sees one.

    A Pico takes a firmware only in BOOTSEL mode, and ours has no USB: somebody has to press the button.
    """
    image = read_image(elf, device)
    content = uf2(image.segments)
    volume = find_volume()
    if volume is None and _picotool(content):
        return
    if volume is None:
        print(
            f"motecrypt: hold BOOTSEL while you plug the Pico in: waiting for its volume {VOLUME}",
            file=sys.stderr,
        )
        volume = _wait_for_volume(VOLUME_WAIT_S)
    copy_uf2(content, volume)


def flash_pico2(device: Device, elf: Path, port: str) -> None:
    """As `flash_pico`: the file names the Arm cores of the RP2350, and the volume has another name."""
    content = uf2(read_image(elf, device).segments, RP2350_FAMILY)
    volume = find_volume(name=VOLUME_2)
    if volume is None and _picotool(content):
        return
    if volume is None:
        print(
            f"motecrypt: hold BOOTSEL while you plug the Pico 2 in: waiting for its volume {VOLUME_2}",
            file=sys.stderr,
        )
        volume = _wait_for_volume(VOLUME_WAIT_S, VOLUME_2)
    copy_uf2(content, volume)


def flash_esp32c3(device: Device, elf: Path, port: str) -> None:
    """With esptool, from the flash's first byte: the boot ROM starts it from there without a boot loader."""
    _check_port(port)
    flash = device.memory["flash"]
    with tempfile.TemporaryDirectory(prefix="motecrypt-flash.") as scratch:
        file = Path(scratch) / "firmware.bin"
        base, code = flat(read_image(elf, device), flash.address, flash.address + flash.bytes)
        file.write_bytes(code)
        command = ["esptool", "--chip", "esp32c3", "--port", port, "write_flash", hex(base - flash.address)]
        outcome = process.run([*command, file], timeout_s=FLASH_S)
    if outcome.code is None:
        raise BoardError(f"{port}: esptool is missing; 'motecrypt doctor' shows how to get it")
    if not outcome.ok:
        raise BoardError(f"{port}: could not be flashed: {_esptool_reason(outcome)}")


def _esptool_reason(outcome: process.Outcome) -> str:
    """Its fatal error, which a link follows; the text for people, no code decides by it."""
    said = [line.strip() for line in (outcome.errors + "\n" + outcome.output).splitlines() if line.strip()]
    errors = [line for line in said if "error" in line.lower()] or said[-1:] or ["esptool printed nothing"]
    return errors[0].removeprefix("A fatal error occurred: ")


def find_volume(mounts: Sequence[str] = _MOUNTS, name: str = VOLUME) -> Path | None:
    """Where the volume of a Pico in BOOTSEL mode is mounted; None where there is none."""
    for mount in mounts:
        root = Path(mount)
        for place in (*root.glob("*"), *root.glob("*/*")):
            info = place / "INFO_UF2.TXT"
            if place.name == name and info.is_file() and name in info.read_text(errors="replace"):
                return place
    return None


def _wait_for_volume(seconds: float, name: str = VOLUME) -> Path:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        volume = find_volume(name=name)
        if volume is not None:
            return volume
        time.sleep(0.5)
    raise BoardError(
        f"no Pico in BOOTSEL mode within {seconds:g} s: hold BOOTSEL while plugging it in, and mount {name}"
    )


def copy_uf2(content: bytes, volume: Path) -> None:
    """Write the file; the Pico takes it, restarts, and its volume goes away: an error at the end is none."""
    target = volume / "motecrypt.uf2"
    try:
        with target.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        if volume.is_dir() and (volume / "INFO_UF2.TXT").exists():
            raise BoardError(f"{target}: cannot be written: {error.strerror}") from error
    time.sleep(0.5)


def _picotool(content: bytes) -> bool:
    if shutil.which("picotool") is None:
        return False
    with tempfile.TemporaryDirectory(prefix="motecrypt-flash.") as scratch:
        file = Path(scratch) / "firmware.uf2"
        file.write_bytes(content)
        return process.run(["picotool", "load", "-x", file], timeout_s=FLASH_S).ok
