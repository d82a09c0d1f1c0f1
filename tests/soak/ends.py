"""The ends of a soak: nodes whose power goes at any write, and a gateway that dies between any two steps."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from unittest import mock

from link_ports import FaultyLink, PowerLostError
from motecrypt.base.errors import MotecryptError
from motecrypt.link.gateway import lines
from motecrypt.link.gateway.drain import Drain
from motecrypt.link.gateway.items import Item
from motecrypt.link.gateway.lines import Line
from motecrypt.link.gateway.operated import OperatedGateway
from motecrypt.link.gateway.orders import Order
from motecrypt.link.gateway.service import GatewayService
from motecrypt.link.gateway.sinks import Sink, SinkError
from motecrypt.link.gateway.sinks.csv_log import CsvLog
from motecrypt.link.gateway.sinks.sqlite_log import SqliteLog
from motecrypt.link.gateway.spool import Spool
from motecrypt.link.native import Event
from motecrypt.link.ports.signals import Stop
from motecrypt.link.state import FileStore
from motecrypt.link.stream import StreamReader
from soak.crowd import AirClock, AirPort

MASTER = bytes(range(16))
PACKET_BYTES = 12
CLOCK = 5e-3
"""Nodes' clocks go wrong by up to this part, as an UNO's resonator may."""
NODE_RATE, OUTCOME_S = 100.0, 15.0


class Crashed(Exception):
    """The gateway's process is removed."""


class Fuse:
    """Ends the gateway's process at one of its next steps, once it is lit."""

    def __init__(self) -> None:
        self.left = -1

    def step(self) -> None:
        """Between two things that the gateway does."""
        if self.left == 0:
            self.left = -1
            raise Crashed
        self.left -= self.left > 0


class FragileSpool(Spool):
    """The gateway's spool; the process may die before and after each step, and the disk may be full."""

    def __init__(self, file: FileStore, fuse: Fuse) -> None:
        self.fuse, self.full = fuse, False
        super().__init__(file)

    def put(self, items: Sequence[Item]) -> None:  # type: ignore[override]  # the service gives a list
        """As the spool does."""
        self.fuse.step()
        super().put(items)
        self.fuse.step()

    def write(self, record: bytes) -> None:
        """As the spool does."""
        self.fuse.step()
        if self.full:
            self.undo()
            raise MotecryptError("no space left on device")
        super().write(record)
        self.fuse.step()

    def tidy(self) -> None:
        """As the spool does."""
        if self.full:
            return
        self.fuse.step()
        super().tidy()
        self.fuse.step()


class FragileDrain(Drain):
    """A sink's drain, turned by hand; the process may die, and the sink may be away."""

    def __init__(self, sink: Sink, spool: Path, done: int, fuse: Fuse) -> None:
        super().__init__(sink, spool, done, lambda text: None)
        self.fuse, self.away = fuse, False
        deliver = sink.deliver

        def delivered(items: Sequence[Item]) -> None:
            fuse.step()
            if self.away:
                raise SinkError("it is away")
            deliver(items)
            fuse.step()

        sink.deliver = delivered  # type: ignore[method-assign]

    def take(self, last: int) -> None:
        """Deliver what waits, up to that place."""
        while self.done < last:
            try:
                self._turn()
            except SinkError as error:
                self._troubled(str(error))
                return

    def start(self) -> None:
        """No thread."""


class GrantedClock(AirClock):
    """The time of the channel."""

    def __init__(self) -> None:
        super().__init__()
        self.passed_s = 0.0


class GatewayEnd:
    """A gateway of the product with its loop, its spool and two sinks, which starts again over the same files
    after each crash. Its port, its clock and the turns of its sinks are here."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.fuse, self.clock = folder, Fuse(), GrantedClock()
        self.up = False
        self.full = False
        self.away: set[str] = set()
        self.counts = Counter[str]()
        self.handed_over = Counter[int]()
        self.begin()

    def begin(self) -> None:
        """Start the process."""
        self.spool = FragileSpool(FileStore(self.folder / "key.gateway"), self.fuse)
        self.spool.full = self.full
        self.gateway = OperatedGateway(self.spool, MASTER, packet_bytes=PACKET_BYTES, together=True)
        self.gateway.clock = self.clock.utc_s  # type: ignore[method-assign,assignment]
        with mock.patch.object(lines, "SerialPort", AirPort):
            self.line = Line("air", 115200, StreamReader(PACKET_BYTES), self._told)
        self.service = GatewayService(
            self.gateway, self.spool, [self.line], None, NODE_RATE, OUTCOME_S, self._told, self.clock
        )
        self.stop = Stop()
        sinks: list[Sink] = [
            SqliteLog(self.folder / "log.db"),
            CsvLog(self.folder / "log.csv", self.spool.waiting),
        ]
        done = self.spool.register([sink.name for sink in sinks])
        self.drains = {
            sink.name.partition(":")[0]: FragileDrain(sink, self.spool.path, done[sink.name], self.fuse)
            for sink in sinks
        }
        self.service.start(list(self.drains.values()))
        self.up = True

    def _told(self, line: str) -> None:
        self.counts["lines for the user"] += 1

    def crash(self) -> None:
        """The process is removed, with all that it had not written."""
        self.counts["gateway crashes"] += 1
        self.end()

    def end(self) -> None:
        """Let go of its files, and keep what it counted."""
        self.up = False
        told = self.service.statistics()
        self.counts["messages taken"] += told["messages"]
        self.counts["faults of the spool"] += told["spool"]["faults"]
        self.counts["packets dropped, spool at fault"] += told["not_taken"]["spool_faulty"]
        for outcome, count in told["orders"].items():
            self.counts[f"commands {outcome}"] += count
        for drain in self.drains.values():
            drain.finish()
        self.spool.close()

    def hear(self, data: bytes, now_us: float) -> None:
        """Bytes came from its radio."""
        self._port.incoming += data
        self.turn(now_us)
        self.fuse.step()

    def turn(self, now_us: float) -> None:
        """A turn of its loop."""
        self.clock.passed_s = now_us / 1e6
        self.service.turn(self.stop)

    def said(self) -> bytes:
        """What it sent since the last call."""
        said = bytes(self._port.said)
        self._port.said.clear()
        return said

    @property
    def _port(self) -> AirPort:
        assert isinstance(self.line.port, AirPort)
        return self.line.port

    def command(self, node: int, content: bytes, now_us: float) -> bool:
        """Send a command; whether it is on its way."""
        order = Order(node, content, "command", 0.0, "", lambda told: None)
        self.service.ordered(order)
        self.turn(now_us)
        return self.service._outbox.flies(node)

    def drain(self, now_us: float) -> None:
        """Bring what waits to the sinks."""
        for name, drain in self.drains.items():
            drain.away = name in self.away
            drain.take(self.spool.last())
        self.spool.full = self.full
        self.turn(now_us)


class NodeEnd:
    """A node on this computer: the core over storage that outlives it, and a clock of its own."""

    def __init__(self, number: int, storage: bytes, answer_ms: int, seed: int, counter: int = 0) -> None:
        chance = random.Random(f"soak {seed} node {number}")
        self.number, self.answer_ms = number, answer_ms
        self.rate = 1 + CLOCK * chance.uniform(-1, 1)
        self.phase_ms = chance.uniform(0, 60_000)
        self.link = FaultyLink(answer_ms=answer_ms)
        self.reader = StreamReader(PACKET_BYTES)
        self.up, self.life, self.waits_since = True, 0, 0
        self.counter = counter
        self.pending: bytes | None = None
        if self.link.begin(storage) is not Event.NOTHING:
            raise AssertionError(f"node {number}: its storage does not begin")

    def ms(self, now_us: float) -> int:
        """Its own clock."""
        return int(now_us * self.rate / 1000 + self.phase_ms)

    def lose_power(self) -> None:
        """What is in RAM is removed."""
        self.up, self.pending = False, None
        self.life += 1

    def restart(self) -> Event:
        """Begin over what the storage holds."""
        self.reader = StreamReader(PACKET_BYTES)
        self.link.tester.writes_left = -1
        event = self.link.begin()
        self.up = event is Event.NOTHING
        return event


__all__ = ["Crashed", "GatewayEnd", "NodeEnd", "PowerLostError"]
