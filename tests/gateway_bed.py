"""A gateway's service for tests: pseudo-terminals in place of radios, nodes on this computer behind them."""

from __future__ import annotations

import csv
import fcntl
import os
import select
import sqlite3
import struct
import termios
import time
import tty
import weakref
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import ClassVar

import pytest

from link_ends import begun, native
from motecrypt.link.file_parts import FileCollector
from motecrypt.link.gateway.drain import Drain
from motecrypt.link.gateway.items import Item
from motecrypt.link.gateway.lines import Line
from motecrypt.link.gateway.operated import OperatedGateway
from motecrypt.link.gateway.service import GatewayService
from motecrypt.link.gateway.sinks import Sink, SinkError
from motecrypt.link.gateway.spool import Spool
from motecrypt.link.native import LISTENS, SHORT, STREAM, Event, NativeLink
from motecrypt.link.ports.signals import Stop, close_all
from motecrypt.link.state import FileStore
from motecrypt.link.stored_files import NodeFiles
from motecrypt.link.stream import StreamReader

MASTER = bytes(range(16))
PACKET = 12
OPTIONS = SHORT | LISTENS | STREAM
DEADLINE_S = 60.0
__all__ = ["begun"]


def commits_are_noted(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """From now on, the journal and the level of `PRAGMA synchronous` of each connection that is closed."""
    monkeypatch.setattr(Synced, "levels", [])
    monkeypatch.setattr(sqlite3, "connect", partial(sqlite3.connect, factory=Synced))
    return Synced.levels


WHEN = "2023-11-14T22:13:20.123Z"
"""When `item` was received."""


def csv_rows(path: Path) -> list[dict[str, str]]:
    """Of a file of CSV."""
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def item(counter: int = 0, content: bytes = b"21.4 C", node: int = 5, **given: int) -> Item:
    """A message of node 5."""
    named = {"generation": 1, "epoch": 0, **given}
    return Item(
        node,
        named["generation"],
        named["epoch"],
        counter,
        "message",
        1_700_000_000_123,
        content,
        len(content),
    )


class Collected(Sink):
    """A sink in memory, which can be made to fail."""

    def __init__(self, name: str = "collected", batch: int = 100) -> None:
        self.name, self.batch = name, batch
        self.items: list[Item] = []
        self.down = ""
        self.takes_s = 0.0
        self.hurried = self.finished = False

    def deliver(self, items: Sequence[Item]) -> None:
        """Take them."""
        if self.down:
            raise SinkError(self.down)
        time.sleep(self.takes_s)
        self.items += items

    def hurry(self) -> None:
        """Note it."""
        self.hurried = True

    def finish(self) -> None:
        """Note it."""
        self.finished = True


class Synced(sqlite3.Connection):
    """A connection to SQLite that notes at its end whether its commits waited for the disk (2: they did)."""

    levels: ClassVar[list[tuple[str, int]]] = []

    def close(self) -> None:
        """Note it."""
        with suppress(sqlite3.ProgrammingError):  # it is closed
            (journal,), (level,) = (
                self.execute(f"PRAGMA {name}").fetchone() for name in ("journal_mode", "synchronous")
            )
            self.levels.append((journal, level))
        super().close()


class Radio:
    """A pseudo-terminal: the gateway opens `path`, nodes are at the other end."""

    def __init__(self) -> None:
        self._master, self._slave = os.openpty()
        tty.setraw(self._slave)
        os.set_blocking(self._master, False)
        self.path = os.ttyname(self._slave)
        self.vanish = weakref.finalize(self, close_all, self._master, self._slave)  # nobody has it any more
        self.put_packets = self.said_bytes = self._got_bytes = 0

    def put(self, *packets: bytes) -> None:
        """What nodes send."""
        for packet in packets:
            self.put_packets += 1
            assert os.write(self._master, packet.ljust(PACKET, b"\0")) == max(PACKET, len(packet))

    def wait_until_readable(self, expected_bytes: int) -> None:
        """Until one read of the gateway, which is not reading now, would return them all."""
        deadline = time.monotonic() + DEADLINE_S
        while struct.unpack("i", fcntl.ioctl(self._slave, termios.FIONREAD, bytes(4)))[0] < expected_bytes:
            assert time.monotonic() < deadline
            time.sleep(0.0002)

    def get(self) -> list[bytes]:
        """The packets for nodes that have come."""
        data = b""
        while self._got_bytes < self.said_bytes:  # a pseudo-terminal takes its time
            assert select.select([self._master], [], [], DEADLINE_S)[0]
            new = os.read(self._master, 4096)
            self._got_bytes += len(new)
            data += new
        assert len(data) % PACKET == 0
        return [data[at : at + PACKET] for at in range(0, len(data), PACKET)]


class _Counted(Line):
    """A port that informs its radio what to wait for."""

    def __init__(self, radio: Radio, notice: Callable[[str], None]) -> None:
        super().__init__(radio.path, 115200, StreamReader(PACKET), notice)
        self.radio = radio
        self.packets = radio.put_packets

    def say(self, packet: bytes) -> None:
        """Count it, too."""
        if self.port is not None:
            self.radio.said_bytes += len(packet)
        super().say(packet)


class Field:
    """A gateway with nodes, driven turn by turn."""

    def __init__(
        self,
        folder: Path,
        *nodes: int,
        radios: int = 1,
        queue_max: int = 1000,
        node_rate: float = 1000.0,
        files: bool = False,
        files_share: int = 10**9,
        options: int = OPTIONS,
        outcome_s: float = 2.0,
    ) -> None:
        self._outcome_s = outcome_s
        self.folder, self._queue_max, self._node_rate, self._files = folder, queue_max, node_rate, files
        self._files_share = files_share
        self.radios = [Radio() for _ in range(radios)]
        self.nodes: dict[int, NativeLink] = {}
        self.told: list[str] = []
        self.sink = Collected()
        self.stop = Stop()
        self.drains: list[Drain] = []
        self._begin()
        for node in nodes:
            self.add(node, options)

    def _begin(self) -> None:
        self.spool = Spool(FileStore(self.folder / "key.gateway"), self._queue_max)
        self.gateway = OperatedGateway(self.spool, MASTER, packet_bytes=PACKET, together=True)
        self.lines = [_Counted(radio, self.told.append) for radio in self.radios]
        collector = None
        if self._files:
            (self.folder / "inbox").mkdir(exist_ok=True)
            stored = NodeFiles(self.folder / "inbox", lambda: self._files_share)
            collector = FileCollector(self.folder / "inbox", True, stored)
        self.service = GatewayService(
            self.gateway,
            self.spool,
            self.lines,
            collector,
            self._node_rate,
            self._outcome_s,
            self.told.append,
        )
        self.spool.register([self.sink.name])

    def add(self, node: int, options: int = OPTIONS) -> NativeLink:
        """Provision a node."""
        made = native()
        assert made.begin(self.gateway.provision(node, options)) is Event.NOTHING
        self.nodes[node] = made
        return made

    def drain(self, *sinks: Sink) -> None:
        """Start threads for the sinks, or for the one in memory."""
        given = sinks or (self.sink,)
        done = self.spool.register([sink.name for sink in given])
        self.drains = [
            Drain(sink, self.spool.path, done[sink.name], self.told.append, self.service.end, first_s=0.05)
            for sink in given
        ]
        self.service.start(self.drains)

    def restart(self) -> None:
        """As after a crash: nothing is written, nothing said."""
        self.crash()
        self._begin()

    def crash(self) -> None:
        """Let go of everything as a killed process does."""
        for drain in self.drains:
            drain.stop()
            drain.join(DEADLINE_S)
        self.drains = []
        for line in self.lines:
            line.close()
        self.spool.close()

    def read(self) -> None:
        """A turn of the loop, or more until all has been read."""
        end = time.monotonic() + DEADLINE_S
        self.service.turn(self.stop)
        for line in self.lines:
            while line.port is not None and line.packets < line.radio.put_packets:
                assert time.monotonic() < end, "packets were not read"
                self.service.turn(self.stop)

    def turn(self) -> list[Event]:
        """A turn of the loop, or more until all has been read; and its answers to the nodes."""
        self.read()
        return [told for radio in self.radios for told in self.down(radio)]

    def down(self, radio: Radio) -> list[Event]:
        """What came for nodes."""
        events = []
        for packet in radio.get():
            node = self.nodes.get(packet[0] & 63)
            if node is not None:
                events.append(node.receive(packet))
        return [event for event in events if event is not Event.NOTHING]

    def up(self, node: int, content: bytes, how: int = 0, radio: int = 0) -> list[Event]:
        """A message of a node, and its outcome in the same turn."""
        told = self.nodes[node].send(content, how)
        assert told in (Event.SENT, Event.WAITING), told
        self.radios[radio].put(*self.packets(node))
        return self.turn()

    def packets(self, node: int) -> list[bytes]:
        """What the node sends, on a line."""
        end = self.nodes[node]
        return [end.on_line(packet) for packet in end.packets()]

    def until(self, condition: Callable[[], bool]) -> None:
        """Go on until something is so."""
        end = time.monotonic() + DEADLINE_S
        while not condition():
            assert time.monotonic() < end, "it never came"
            self.turn()

    def waiting(self) -> list[Item]:
        """What is in the spool."""
        from motecrypt.link.gateway.spool import SpoolReader

        reader = SpoolReader(self.spool.path)
        try:
            return reader.after(0, 10_000)
        finally:
            reader.close()
