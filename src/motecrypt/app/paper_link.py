"""Send and receive in the source paper's modes, to reproduce it; nobody should deploy one."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from motecrypt.air.radios import Radio, costs
from motecrypt.app.link_ends import Notice, SerialRadio
from motecrypt.app.receive import Ending, Inbox, Received, ReceiveResult, Until
from motecrypt.base.errors import InputError, MotecryptError
from motecrypt.base.serial_port import SerialPort
from motecrypt.build.setup import need
from motecrypt.link import metrics, read_key_file
from motecrypt.link.gateway.items import utc
from motecrypt.link.modes import MODES, decode, encode
from motecrypt.link.ports.session import line_empty, listen, pause, write_all
from motecrypt.link.ports.signals import Stop

if TYPE_CHECKING:
    from motecrypt.base.progress import Progress

GATHERED_MAX = 1 << 16


@dataclass(frozen=True)
class PaperLink:
    """A serial port, the radio there, and how it is used.

    Attributes
    ----------
    mode : "T", "C", "P" or "B". key_file : a key for AES, which all but T need.
    pause_s : after each message that is sent; silence that ends one that is received.
    """

    port: str
    line: SerialRadio
    mode: str
    key_file: Path | None = None
    pause_s: float = 0.5

    def key(self) -> bytes:
        """The key that the mode needs; empty for plaintext."""
        return read_key_file(check_key(self.mode, self.key_file)) if MODES[self.mode].keyed else b""


@dataclass(frozen=True)
class PaperSent:
    """`messages` has what was measured of each, and what the radio's model says; `failed` what is missing."""

    mode: str
    items: int
    messages: Sequence[Mapping[str, Any]]
    failed: str


def check_key(mode: str, key_file: Path | None) -> Path:
    """The key file, which all modes but T need."""
    if key_file is None:
        raise InputError(f"--key: missing; mode {mode} needs one ('motecrypt key FILE' makes one)")
    return key_file


def send_paper(
    link: PaperLink,
    messages: Sequence[bytes],
    notice: Notice = lambda told: None,
    progress: Progress = lambda done, total, what: None,
    stop: Stop | None = None,
) -> PaperSent:
    """Send messages in one of the paper's modes. InputError for a key or a port of no use."""
    need("link")
    stop = stop or Stop()
    setup, key = link.line.setup(stop), link.key()
    with SerialPort(link.port, link.line.baud) as port:
        setup(port)
        notice(f"mode {link.mode} ({MODES[link.mode].title}) exists to reproduce a paper; do not deploy it")
        rows = []
        for number, text in enumerate(messages, start=1):
            rows.append(_sent(port, link, key, text, stop))
            progress(number, len(messages), "message")
            cost = costs(link.line.radio, max(rows[-1]["sent_bytes"], 1))
            pause(port, cost.delivery_time_us / 1e6 + link.pause_s, stop)
            if stop.asked:
                break
    unsent = len(messages) - len(rows)
    return PaperSent(
        link.mode, len(messages), rows, f"{unsent} messages not sent (stopped)" if unsent else ""
    )


def _sent(port: SerialPort, link: PaperLink, key: bytes, text: bytes, stop: Stop) -> dict[str, Any]:
    radio, begun = link.line.radio, time.perf_counter()
    data = encode(link.mode, key, text, radio.packet_bytes)
    encryption_ms = 1000 * (time.perf_counter() - begun)
    written = time.time()
    write_s = write_all(port, data, stop)
    rest_s = line_empty(port, stop)
    return {
        "message_bytes": len(text),
        "sent_bytes": len(data),
        "expansion": metrics.expansion(len(data), len(text)) if text else None,
        "encryption_ms": round(encryption_ms, 4),
        "written": utc(written),
        "write_returned_ms": round(1000 * write_s, 4),
        "line_empty_ms": None if rest_s is None else round(1000 * (write_s + rest_s), 4),
        **_modelled(radio, len(data), len(text)),
    }


def _modelled(radio: Radio, sent_bytes: int, message_bytes: int) -> dict[str, float]:
    """What the radio's model says of a message and of its plaintext: nothing here is measured."""
    cost = costs(radio, max(sent_bytes, 1))
    delivery_ms = cost.delivery_time_us / 1000
    plain_ms = costs(radio, max(message_bytes, 1)).delivery_time_us / 1000
    figures = {
        "line_ms": cost.write_time_us / 1000,
        "delivery_ms": delivery_ms,
        "throughput_kb_s": metrics.throughput_kb_s(sent_bytes, delivery_ms),
        "time_difference_ms": metrics.time_difference_ms(delivery_ms, plain_ms),
    }
    return {f"modelled_{name}": round(float(value), 3) for name, value in figures.items()}


def receive_paper(
    link: PaperLink,
    arrived: Callable[[Received], None],
    until: Until,
    notice: Notice = lambda told: None,
    stop: Stop | None = None,
) -> ReceiveResult:
    """Receive messages in one of the paper's modes. InputError for a key or a port of no use."""
    need("link")
    stop = stop or Stop()
    setup, key = link.line.setup(stop), link.key()
    inbox = Inbox(arrived, notice)
    ending = Ending(inbox, until)
    notice(f"mode {link.mode} ({MODES[link.mode].title}): anyone can forge these messages")
    feed = ending.noting(_gathering(link.mode, key, inbox))
    listen(link.port, link.line.baud, feed, stop, ending.over, notice, link.pause_s, setup=setup)
    return ReceiveResult(link.mode, inbox.items, inbox.faults, seconds=inbox.seconds)


def _gathering(mode: str, key: bytes, inbox: Inbox) -> Callable[[bytes, float], bytes]:
    """The paper's modes have no frames: silence ends a message."""
    gathered = bytearray()
    first_us = last_us = last = 0.0

    def feed(data: bytes, at_us: float) -> bytes:
        nonlocal first_us, last_us, last
        if data:
            first_us = at_us if not gathered else first_us
            last_us, last = at_us, inbox.clock()
            gathered.extend(data)
            if len(gathered) > GATHERED_MAX:
                gathered.clear()
                inbox.fault(f"more than {GATHERED_MAX} bytes without a pause; dropped")
        elif gathered:
            received = bytes(gathered)
            gathered.clear()
            receiving_ms = round((last_us - first_us) / 1000, 3)
            try:
                message = decode(mode, key, received)
                inbox.item(message, last, received_bytes=len(received), receiving_ms=receiving_ms)
            except MotecryptError as error:
                inbox.fault(str(error))
        return b""

    return feed
