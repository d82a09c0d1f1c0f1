"""motecrypt receive: the receiver of messages and files over a serial radio."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click

from motecrypt.cli._link_options import (
    chosen_key,
    chosen_radio,
    link_options,
    module_commands,
    state_path,
)
from motecrypt.errors import InputError, MotecryptError
from motecrypt.link import FileStore, Receiver, Window
from motecrypt.link.files import FileCollector, FileReceived
from motecrypt.link.modes import MODES, decode
from motecrypt.setup import need

LINGER_S = 2.0
"""Longer than the sender's longest deadline for a short message, so that its last question is answered."""

LINGER_MAX_S = 5.0


@dataclass
class _MessagePrinter:
    """Shows what arrives, line by line."""

    as_json: bool
    items: int = 0
    faults: int = 0
    summary: dict[str, Any] = field(default_factory=dict)

    def item(self, content: bytes | FileReceived, **details: Any) -> None:
        self.items += 1
        if isinstance(content, FileReceived):
            record: dict[str, Any] = {"file": str(content.path), "bytes": content.length, **details}
            line = f"{content.path}: {content.length} bytes"
        else:
            line = _readable(content)
            record = {"message": line, "hex": content.hex(), "bytes": len(content), **details}
        print(json.dumps(record) if self.as_json else line, flush=True)

    def fault(self, what: str) -> None:
        self.faults += 1
        print(f"motecrypt: {what}", file=sys.stderr, flush=True)

    def notice(self, what: str) -> None:
        print(f"motecrypt: {what}", file=sys.stderr, flush=True)


class _Ending:
    """When to end by oneself. With --count in the safe mode, only once the sender is quiet: it may not
    have heard that its last message was accepted, and ask again."""

    def __init__(
        self, printer: _MessagePrinter, count: int | None, seconds: float | None, linger_s: float
    ) -> None:
        self._printer, self._count, self._linger_s = printer, count, linger_s
        self._end = None if seconds is None else time.monotonic() + seconds
        self._heard = time.monotonic()
        self._reached: float | None = None
        self._close: Callable[[], None] = lambda: None

    def closing(self, close: Callable[[], None]) -> None:
        """What to call once, when the count is reached."""
        self._close = close

    def noting(self, feed: Callable[[bytes, float], bytes]) -> Callable[[bytes, float], bytes]:
        """The same feed, which also notes when something came."""

        def noted(data: bytes, at_us: float) -> bytes:
            if data:
                self._heard = time.monotonic()
            return feed(data, at_us)

        return noted

    def over(self) -> bool:
        """Whether the end has come."""
        now = time.monotonic()
        if self._count is not None and self._printer.items >= self._count:
            if self._reached is None:
                self._reached = now
                self._close()
            return now - self._heard >= self._linger_s or now - self._reached >= LINGER_MAX_S
        return self._end is not None and now >= self._end


def _readable(content: bytes) -> str:
    """Text as it is; anything that could play tricks with a terminal as hex."""
    try:
        text = content.decode()
    except UnicodeDecodeError:
        return content.hex()
    return text if text.isprintable() else content.hex()


@click.command(
    epilog="Example: motecrypt receive /dev/ttyAMA0 --key link.key --output inbox --count 1",
)
@click.argument("port", metavar="PORT")
@click.option(
    "--output",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path(),
    help="Folder for files that arrive (default: here).",
)
@click.option("--count", type=click.IntRange(1), default=None, help="End after so many messages or files.")
@click.option("--seconds", type=click.FloatRange(0), default=None, help="End after so long.")
@click.option(
    "--gap-ms",
    type=click.FloatRange(1),
    default=250.0,
    show_default=True,
    help="Silence that ends a message (not safe); longer than the radio's timeout.",
)
@link_options
@click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON object a line; the last is the summary."
)
def command(
    port: str,
    output: Path,
    count: int | None,
    seconds: float | None,
    gap_ms: float,
    key_file: Path | None,
    mode: str,
    radio_name: str,
    packet_bytes: int | None,
    baud: int,
    state: Path | None,
    module_key: Path | None,
    as_json: bool,
) -> None:
    """Receive messages and files from the serial radio at PORT until Ctrl-C, --count or --seconds.

    In the safe mode each message is shown once, whatever is lost, repeated or forged on the way; what
    was accepted is remembered over restarts. A port that vanishes is waited for.
    """
    need("link")
    from motecrypt.ports.commands import configure
    from motecrypt.ports.session import listen, receiving
    from motecrypt.ports.signals import Stop

    radio = chosen_radio(radio_name, packet_bytes)
    key = chosen_key(mode, key_file)
    commands = module_commands(module_key)
    printer = _MessagePrinter(as_json)
    ending = _Ending(printer, count, seconds, LINGER_S if mode == "safe" else 0.0)

    with Stop() as stop:
        setup = (lambda opened: configure(opened, commands, stop)) if commands else None
        quiet_s = min(gap_ms / 1000, 0.25) if mode == "safe" else gap_ms / 1000
        if mode == "safe":
            _folder(output)
            window = Window(FileStore(state_path(state, key_file, "window")))
            receiver = _receiver(key, window, radio.packet_bytes, output, printer)
            ending.closing(lambda: setattr(receiver, "closing", True))
            try:
                listen(
                    port,
                    baud,
                    ending.noting(receiving(receiver, window)),
                    stop,
                    ending.over,
                    printer.notice,
                    quiet_s,
                    setup=setup,
                )
            finally:
                window.save()
            printer.summary = {
                "accepted": receiver.tally.accepted,
                "repeats": receiver.tally.repeats,
                "not_genuine": receiver.tally.not_genuine,
                "frames": receiver.tally.frames,
                "skipped_bytes": receiver.skipped_bytes,
            }
        else:
            printer.notice(f"mode {mode} ({MODES[mode].title}): anyone can forge what is shown here")
            listen(
                port,
                baud,
                _gathering(mode, key, printer),
                stop,
                ending.over,
                printer.notice,
                quiet_s,
                setup=setup,
            )
    _summary(printer, mode)


def _folder(output: Path) -> None:
    try:
        output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"--output {output}: {error.strerror}") from None


def _receiver(
    key: bytes, window: Window, packet_bytes: int, output: Path, printer: _MessagePrinter
) -> Receiver:
    collector = FileCollector(output)

    def hand_over(message: bytes, stream: int, counter: int) -> None:
        try:
            content = collector.take(message)
        except MotecryptError as error:
            printer.fault(str(error))
        except OSError as error:
            raise MotecryptError(f"--output {output}: {error.strerror}") from None
        else:
            if content is not None:
                printer.item(content, stream=stream, counter=counter)

    return Receiver(key, window, packet_bytes, hand_over)


def _gathering(mode: str, key: bytes, printer: _MessagePrinter) -> Callable[[bytes, float], bytes]:
    """The paper's modes have no frames: silence ends a message."""
    gathered = bytearray()

    def feed(data: bytes, at_us: float) -> bytes:
        if data:
            gathered.extend(data)
            if len(gathered) > 1 << 16:
                gathered.clear()
                printer.fault("more than 65536 bytes without a pause; dropped")
        elif gathered:
            received = bytes(gathered)
            gathered.clear()
            try:
                printer.item(decode(mode, key, received), received_bytes=len(received))
            except MotecryptError as error:
                printer.fault(str(error))
        return b""

    return feed


def _summary(printer: _MessagePrinter, mode: str) -> None:
    record = {"mode": mode, "items": printer.items, "faults": printer.faults, **printer.summary}
    if printer.as_json:
        print(json.dumps({"summary": record}), flush=True)
    else:
        figures = ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in record.items())
        print(f"motecrypt: {figures}", file=sys.stderr, flush=True)
