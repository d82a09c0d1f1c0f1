"""Any firmware, run freely: its UART as it comes, until a text, a time, or its end; then what it took.

The programs that run it (drivers/avr_run.c, drivers/arm.c) are reported everything on their command lines and
answer with events, one JSON object a line; see docs/formats.md.
"""

from __future__ import annotations

import json
import os
import selectors
import signal
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, BinaryIO

from motecrypt.base.errors import InputError, MotecryptError
from motecrypt.base.model import Device
from motecrypt.build.toolchain.drivers import driver
from motecrypt.catalog.chips import chip_of
from motecrypt.simulate.emulate.avr_names import register_names
from motecrypt.simulate.emulate.blocks import vectors_of
from motecrypt.simulate.emulate.conformance import Unmodelled, watch_list
from motecrypt.simulate.emulate.images import ARM, RISCV, Image, elf_of, flat
from motecrypt.simulate.emulate.symbols import DEMANGLERS, read_symbols
from motecrypt.simulate.runners.arm import command as arm_command
from motecrypt.simulate.runners.riscv import command as riscv_command
from motecrypt.simulate.runners.session import Options

BOOT_SECTIONS = (0x7000, 0x7800, 0x7C00, 0x7E00)
"""Possible starts of the ATmega328P's boot section (DS40002061B, table 27-7)."""


@dataclass(frozen=True)
class Uart:
    """What the UART of a firmware is joined to.

    Attributes
    ----------
    port : a serial port or virtual radio; "pty", or a path where nothing is yet, makes a pseudo-terminal
        (with a link to it at that path); None: nothing.
    resets_on_open : whether opening that pseudo-terminal resets the chip, as on an UNO's USB port.
    real_time : keep simulated time to the wall clock.
    stamps : each line of output begins with its simulated time in seconds.
    input : an open file that it receives from, or its descriptor; None: nothing.
    """

    port: str | None = None
    resets_on_open: bool = False
    real_time: bool = False
    stamps: bool = False
    input: BinaryIO | int | None = None


@dataclass(frozen=True)
class ChipSettings:
    """What can be set of a simulated chip.

    Attributes
    ----------
    eeprom : a file that keeps the EEPROM of an AVR.
    millivolts : at the analogue inputs of an AVR; None: nothing is connected.
    contention : on a chip with two cores, an access to memory waits while the other core has its bank.
    cache : the flash cache of an ARM device: "none", every access hits, or "kept", as on a board.
    """

    eeprom: Path | None = None
    millivolts: int | None = None
    contention: bool = False
    cache: str = "none"


@dataclass(frozen=True)
class FreeRun:
    """How to run.

    Attributes
    ----------
    until : ends when the UART has sent this text.
    max_seconds : ends after this much simulated time; None: never.
    max_output : bytes from the UART after which it ends; None: any number.
    profile : a file for the profile, and one with the functions.
    flash_times : with these (`--nor` of drivers/arm.c) the firmware can erase and program the flash.
    """

    until: str | None = None
    max_seconds: float | None = 10.0
    max_output: int | None = 1 << 20
    uart: Uart = Uart()
    chip: ChipSettings = ChipSettings()
    profile: tuple[Path, Path] | None = None
    bare: bool = False
    flash_times: str = ""


@dataclass(frozen=True)
class Touched:
    """A register that a firmware reached though it is not modelled, with its name where it is known."""

    address: int
    name: str
    reads: int
    writes: int


@dataclass(frozen=True)
class Ended:
    """How a run ended.

    Attributes
    ----------
    reason : "until", "limit", "stop" (it has ended by itself), "sleep", "stopped" (by a signal), "flood",
        "gone" (the port) or "fault".
    stack_bytes : the deepest stack, from where it began; None where that is not known.
    stack_reason : why it is not known: "several stacks", as of tasks, have no common depth.
    touched : registers that are not modelled, in the order of their first access.
    unmodelled : the blocks that they are in, in that order.
    """

    reason: str
    detail: str
    cycles: int
    seconds: float
    stack_bytes: int | None
    interrupts: int
    pc: int
    notes: tuple[str, ...]
    extra: Mapping[str, Any] = field(default_factory=dict)
    touched: tuple[Touched, ...] = ()
    unmodelled: tuple[Unmodelled, ...] = ()
    stack_reason: str = ""


def run_freely(
    image: Image,
    device: Device,
    how: FreeRun,
    output: Callable[[bytes], None] | None = None,
    event: Callable[[str, str], None] | None = None,
) -> Ended:
    """Run a firmware to its end.

    Parameters
    ----------
    output
        Gets the UART's bytes as they come; None leaves them to this process's standard output.
    event
        Gets ("note", text) when something is touched that is not modelled, and ("port", name).
    """
    with tempfile.TemporaryDirectory(prefix="motecrypt-run.") as scratch:
        ended = _drive(command(image, device, how, Path(scratch)), device, how, output, event)
    return with_places(ended, image, device)


def with_places(ended: Ended, image: Image, device: Device) -> Ended:
    """With the names of what is not modelled, and where it was used first."""
    if ended.touched:
        ended = _with_names(ended, device)
    return replace(ended, unmodelled=_with_places(ended.unmodelled, image, device))


def _with_names(ended: Ended, device: Device) -> Ended:
    """With the names of an AVR's registers, or of the blocks of another chip: those of the registers used."""
    touched, blocks = ended.touched, ended.unmodelled
    names: Mapping[int, str] = {}
    if device.runner == "simavr":
        names = register_names(device.simulator["mcu"])
        touched = tuple(replace(t, name=names.get(t.address, "")) for t in touched)
    elif (chip := chip_of(device)) is not None:
        names = chip.names_by_start((b.address for b in blocks), (t.address for t in touched))
    named = tuple(replace(b, name=names.get(b.address) or b.name) for b in blocks)
    return replace(ended, touched=touched, unmodelled=named)


def _with_places(blocks: tuple[Unmodelled, ...], image: Image, device: Device) -> tuple[Unmodelled, ...]:
    """With function and source line of each first use, as far as the file has symbols."""
    if not blocks or image.elf is None:
        return blocks
    try:
        symbols = read_symbols(image.elf, DEMANGLERS[device.runner])
    except InputError:  # damaged, though it runs
        return blocks
    placed = []
    for block in blocks:
        file, line = symbols.line_at(block.pc) or ("", 0)
        function = symbols.function_at(block.pc)
        placed.append(
            replace(block, function="" if function is None else function.name, file=file, line=line)
        )
    return tuple(placed)


def command(image: Image, device: Device, how: FreeRun, scratch: Path) -> list[str | Path]:
    """The driver and its arguments; "{events}" in it becomes a descriptor.

    Parameters
    ----------
    scratch
        A folder for files that the driver reads.
    """
    if device.runner == "simavr":
        words = _avr_command(image, device, scratch)
        (scratch / "notes").write_text(
            watch_list(device.chip, () if how.chip.millivolts is None else ("millivolts",))
        )
        words += ["--notes", scratch / "notes"]
    elif device.runner in ("arm", "riscv"):
        for option, wish in (
            ("--board", how.uart.resets_on_open),
            ("--eeprom", how.chip.eeprom),
            ("--millivolts", how.chip.millivolts is not None),
        ):
            if wish:
                raise InputError(f"{option}: {device.name} does not have it; it is for the UNO")
        make = _arm_command if device.runner == "arm" else _riscv_command
        words = make(image, device, scratch, how)
    else:
        raise InputError(f"{device.name}: it has no simulator; choose another --device")
    if how.chip.contention and device.chip != "RP2040":
        raise InputError(f"--contention: {device.name} has one core; it is for the pico")
    if how.max_seconds is not None:
        limit = ["--max-seconds", str(how.max_seconds)]
        if device.runner == "simavr":
            limit = ["--max-cycles", str(round(how.max_seconds * device.clock_hz))]
        words += limit
    words += ["--until", how.until] if how.until else []
    words += ["--max-output", str(how.max_output)] if how.max_output is not None else []
    words += _uart_options(how.uart)
    words += ["--eeprom", how.chip.eeprom] if how.chip.eeprom else []
    words += ["--adc", str(how.chip.millivolts)] if how.chip.millivolts is not None else []
    if how.profile:
        words += ["--profile", how.profile[0], "--functions", how.profile[1]]
    flags = {
        "--stamps": how.uart.stamps,
        "--real": how.uart.real_time,
        "--input": how.uart.input is not None,
        "--bare": how.bare and device.runner != "riscv",
        "--contention": how.chip.contention,
    }
    return [*words, *(flag for flag, on in flags.items() if on)]


def _uart_options(uart: Uart) -> list[str]:
    if uart.port is None:
        return []
    if uart.port == "pty" or not os.path.lexists(uart.port):
        return ["--pty", uart.port, *(["--board"] if uart.resets_on_open else [])]
    if uart.resets_on_open:
        raise InputError(f"{uart.port}: exists; a board needs a new path, or 'pty'")
    return ["--port", uart.port]


def _avr_command(image: Image, device: Device, scratch: Path) -> list[str | Path]:
    base, code = flat(image, 0, 0x800000)
    _, data = flat(image, 0x810000, 0x820000)
    if not code:
        raise InputError(f"{image.path}: has nothing for the flash")
    (scratch / "flash").write_bytes(code)
    settings = device.simulator
    command: list[str | Path] = [driver("avr_run"), "--mcu", settings["mcu"], "--clock", str(device.clock_hz)]
    command += ["--image", scratch / "flash", "--base", hex(base), "--events", "{events}"]
    command += ["--start", hex(base if base in BOOT_SECTIONS else 0)]
    for register in _stores(device):
        command += ["--store", hex(register)]
    command += ["--data-end", hex(image.data_end & 0xFFFF)] if image.data_end else []
    if data:
        (scratch / "eeprom").write_bytes(data)
        command += ["--data", scratch / "eeprom"]
    return command


def _stores(device: Device) -> list[int]:
    """Registers that only store a value: the mark and what shows the simulator are two of the general-purpose
    ones, of which there are three; on an ATmega8, which has none, they are others.
    """
    mark, simulated = device.simulator["mark_address"], device.simulator["simulated_address"]
    return [mark, simulated, *([simulated + 1] if device.core != "avr4" else [])]


def _arm_command(image: Image, device: Device, scratch: Path, how: FreeRun) -> list[str | Path]:
    elf, vectors = image.elf, device.simulator["vectors"]
    flash = device.memory["flash"]
    if device.chip == "RP2350" and any(
        flash.address <= s.address < flash.address + flash.span for s in image.segments
    ):
        vectors = vectors_of(image, flash.address, flash.address + flash.span)
    reset = next(
        (
            s.data[vectors + 4 - s.address :][:4]
            for s in image.segments
            if s.address <= vectors < s.address + len(s.data)
        ),
        b"",
    )
    begin = int.from_bytes(reset, "little")
    if elf is None:
        if len(reset) < 4:
            boot = device.simulator["vectors"] - flash.address
            where = f", after the {boot} bytes of boot2" if boot else ""
            raise InputError(f"{image.path}: has no vectors at {vectors:#x}{where}")
        elf = scratch / "image.elf"
        elf.write_bytes(elf_of(image.segments, ARM, begin))
    command = [part for part in arm_command(device, elf, Options(cache=how.chip.cache)) if part != elf]
    at = command.index("--max-cycles")
    del command[at : at + 2]
    command[command.index("--vectors") + 1] = hex(vectors)
    command += ["--nor", how.flash_times] if how.flash_times else []
    # Arduino-Pico's loader of updates is data to the sketch's ELF file, and copies code of its own to RAM.
    hidden = bool(image.code and begin) and not any(start <= begin < end for start, end in image.code)
    command += ["--ram-code"] if image.elf is None or hidden else []
    return [*command, elf, "--free"]


def _riscv_command(image: Image, device: Device, scratch: Path, how: FreeRun) -> list[str | Path]:
    """A file without an entry (hex) starts at the beginning of the flash."""
    elf = image.elf
    if elf is None:
        elf = scratch / "image.elf"
        elf.write_bytes(elf_of(image.segments, RISCV, device.memory["flash"].address))
    command = [
        part
        for part in riscv_command(device, elf, Options(cache=how.chip.cache), image.data_end)
        if part != elf
    ]
    at = command.index("--max-cycles")
    del command[at : at + 2]
    return [*command, elf, "--free"]


# --- driving -------------------------------------------------------------------------------------------


def _drive(
    command: list[str | Path],
    device: Device,
    how: FreeRun,
    output: Callable[[bytes], None] | None,
    event: Callable[[str, str], None] | None,
) -> Ended:
    events_out, events_in = os.pipe()
    arguments = [str(part).replace("{events}", str(events_in)) for part in command]
    with tempfile.TemporaryFile() as errors:
        try:
            process = subprocess.Popen(
                arguments,
                stdin=subprocess.DEVNULL if how.uart.input is None else how.uart.input,
                stdout=None if output is None else subprocess.PIPE,
                stderr=errors,
                pass_fds=(events_in,),
            )
        except OSError as error:
            os.close(events_out)
            raise MotecryptError(f"{arguments[0]}: {error.strerror}") from error
        finally:
            os.close(events_in)
        told = _Told(event)
        try:
            with _signals():
                _listen(process, events_out, output, told)
        except BaseException:
            process.kill()
            raise
        finally:
            os.close(events_out)
            if process.stdout is not None:
                process.stdout.close()
            process.wait()
        errors.seek(0)
        said = errors.read().decode(errors="replace").strip().splitlines()
    if told.end is None and process.returncode < 0:  # as libsimavr ends itself where it finds itself wrong
        why = said[-1] if said else signal.Signals(-process.returncode).name
        raise MotecryptError(f"the simulator of {device.name} cannot continue this firmware: {why}")
    if told.end is None:
        raise InputError(said[-1] if said else f"the simulator ended with {process.returncode}")
    return _ended(told, device)


class _Told:
    """Events as they come."""

    def __init__(self, event: Callable[[str, str], None] | None) -> None:
        self._event = event
        self._text = b""
        self.notes: list[str] = []
        self.touched: list[Touched] = []
        self.unmodelled: list[Unmodelled] = []
        self.end: dict[str, Any] | None = None

    def take(self, data: bytes) -> None:
        *lines, self._text = (self._text + data).split(b"\n")
        for line in lines:
            told = json.loads(line)
            if told["event"] in ("note", "port"):
                if told["event"] == "note":
                    self.notes.append(told["detail"])
                if self._event is not None:
                    self._event(told["event"], told["detail"])
            elif told["event"] == "touched":
                self.touched.append(Touched(told["address"], told["name"], told["reads"], told["writes"]))
            elif told["event"] == "unmodelled":
                keys = ("address", "name", "pc", "reads", "writes")
                self.unmodelled.append(Unmodelled(**{key: told[key] for key in keys}))
            elif told["event"] != "region":
                self.end = told


@contextmanager
def _signals() -> Iterator[None]:
    """SIGTERM and SIGHUP end the run as Ctrl-C does: with its figures, however long these take."""
    main = threading.current_thread() is threading.main_thread()
    numbers = [signal.SIGTERM, signal.SIGHUP] if main else []
    if main and signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        numbers.append(signal.SIGINT)
    before = {number: signal.signal(number, signal.default_int_handler) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _listen(
    process: subprocess.Popen[bytes], events: int, output: Callable[[bytes], None] | None, told: _Told
) -> None:
    with selectors.DefaultSelector() as waiting:
        waiting.register(events, selectors.EVENT_READ)
        if process.stdout is not None:
            waiting.register(process.stdout.fileno(), selectors.EVENT_READ)
        while waiting.get_map():
            try:
                for key, _ in waiting.select():
                    data = os.read(key.fd, 65536)
                    if not data:
                        waiting.unregister(key.fd)
                    elif key.fd == events:
                        told.take(data)
                    elif output is not None:
                        output(data)
            except KeyboardInterrupt:  # the driver ends with its figures
                process.send_signal(signal.SIGTERM)


def ended_of(events: bytes, device: Device) -> Ended | None:
    """How a run ended by the events of its driver; None where it did not say."""
    told = _Told(None)
    told.take(events)
    return None if told.end is None else _ended(told, device)


def _ended(told: _Told, device: Device) -> Ended:
    assert told.end is not None
    known = {"event", "detail", "cycle", "pc", "stack", "stack_reason", "interrupts"}
    cycles = int(told.end["cycle"])
    return Ended(
        reason=told.end["event"],
        detail=told.end["detail"],
        cycles=cycles,
        seconds=told.end.get("seconds", cycles / device.clock_hz),
        stack_bytes=told.end.get("stack"),
        interrupts=int(told.end.get("interrupts", 0)),
        pc=int(told.end.get("pc", 0)),
        notes=tuple(told.notes),
        extra={k: v for k, v in told.end.items() if k not in known},
        touched=tuple(told.touched),
        unmodelled=tuple(told.unmodelled),
        stack_reason=told.end.get("stack_reason", ""),
    )
