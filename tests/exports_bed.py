"""What tests of exports share: a plan, a command run, a gateway at the far end of a line."""

from __future__ import annotations

import selectors
import time
from collections.abc import Callable
from pathlib import Path

from motecrypt.air.radios import load_radio
from motecrypt.base import process
from motecrypt.base.serial_port import SerialPort
from motecrypt.catalog import Catalog
from motecrypt.exports.commands import LinkRadio
from motecrypt.exports.library import Export, choose
from motecrypt.exports.link import plan_link
from motecrypt.exports.targets import target
from motecrypt.link.gateway_end import Gateway
from motecrypt.link.native import (
    LISTENS,
    SHORT,
    STREAM,
    Event,
    Suite,
)
from motecrypt.link.state import MemoryStore
from motecrypt.link.told import NodeMessage

CATALOG = Catalog.load()
CIPHERS: dict[str, Suite] = {"aes128-ccm8": "aes128-ccm", "ascon-aead128": "ascon-aead128"}
STRICT = ("-std=gnu99", "-Wall", "-Wextra", "-Wconversion", "-Werror")
MASTER = bytes(range(100, 116))
SRF = LinkRadio(load_radio("srf"))
TWO_WAY = SHORT | LISTENS | STREAM
DEADLINE_S = 120  # nothing waits as long, but on a busy machine


def planned(name: str, cipher: str, radio: LinkRadio | None = None, variant: str | None = None) -> Export:
    meant = target(name, CATALOG)
    body = choose(CATALOG, CATALOG.cipher(cipher), meant, variant)
    return plan_link(CATALOG, meant, CATALOG.cipher(cipher), body, radio=radio)


def run(command: list[str | Path], folder: Path) -> str:
    outcome = process.run([str(part) for part in command], cwd=folder, timeout_s=120)
    assert outcome.ok, f"{command}: {outcome.output}{outcome.errors}"
    return outcome.output


class Station:
    """A gateway at the other end of a line, with all that it got.

    A silence of `silence_s` seconds ends a packet. A pipe loses no bytes, and a busy computer makes silences
    of its own: there it is infinite.
    """

    def __init__(
        self, suite: Suite, packet_bytes: int = 12, options: int = TWO_WAY, silence_s: float = 0.02
    ) -> None:
        self._silence_s = silence_s
        self.gateway = Gateway(MemoryStore(), MASTER, suite, packet_bytes)
        self.image = self.gateway.provision(5, options)
        self.packet_bytes = packet_bytes
        self.messages: list[NodeMessage] = []
        self.events: list[Event] = []
        self._have = b""
        self._last = 0.0

    def take(self, data: bytes, now: float) -> bytes:
        """Bytes of the line, cut by silence; the answers to what was whole."""
        if data and now - self._last > self._silence_s:
            self._have = b""
        if data:
            self._last = now
        self._have += data
        whole = len(self._have) // self.packet_bytes * self.packet_bytes
        packets = [self._have[at : at + self.packet_bytes] for at in range(0, whole, self.packet_bytes)]
        self._have = self._have[whole:]
        self.gateway.receive(packets, self._hand_over)
        self.gateway.poll(int(now * 1000))
        self.events += [event.event for event in self.gateway.take_events()]
        return b"".join(self.gateway.take_packets())

    def _hand_over(self, messages: list[NodeMessage]) -> list[bool]:  # type: ignore[misc]
        self.messages += messages
        return [True] * len(messages)


def serve(port: SerialPort, station: Station, done: Callable[[], bool], seconds: float) -> None:
    """The gateway at a port until all is done."""
    end = time.monotonic() + seconds
    with selectors.DefaultSelector() as waiting:
        waiting.register(port, selectors.EVENT_READ)
        while not done() and time.monotonic() < end:
            ready = waiting.select(0.01)
            answers = station.take(port.read() if ready else b"", time.monotonic())
            while answers:
                answers = answers[port.write(answers) :]
