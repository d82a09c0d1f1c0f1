"""The ends of a soak: nodes whose power goes at any write, and a gateway that dies between any two steps."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

from link_ports import FaultyLink, PowerLostError
from motecrypt.base.errors import MotecryptError
from motecrypt.link.gateway.drain import Drain
from motecrypt.link.gateway.items import Item
from motecrypt.link.gateway.sinks import Sink, SinkError
from motecrypt.link.gateway.sinks.csv_log import CsvLog
from motecrypt.link.gateway.sinks.sqlite_log import SqliteLog
from motecrypt.link.gateway.spool import Spool
from motecrypt.link.gateway_end import Gateway
from motecrypt.link.native import COMMAND, CONFIRMED, Event
from motecrypt.link.state import FileStore
from motecrypt.link.stream import StreamReader
from motecrypt.link.told import NodeMessage

MASTER = bytes(range(16))
PACKET_BYTES = 12
CLOCK = 5e-3
"""Nodes' clocks go wrong by up to this part, as an UNO's resonator may."""
GATEWAY_RESTS_US = 1e6
"""After the spool could not be written, as gateway/service.py does it."""


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

    def close(self) -> None:
        """Let go of the sink's file and of the spool."""
        self.sink.finish()
        if self._reader is not None:
            self._reader.close()


class GatewayEnd:
    """A gateway with its spool and two sinks, which starts again over the same files after each crash."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.fuse = folder, Fuse()
        self.up = False
        self.rests_until_us = 0.0
        self.full = False
        self.away: set[str] = set()
        self.counts = Counter[str]()
        self.handed_over = Counter[int]()
        self.begin()

    def begin(self) -> None:
        """Start the process."""
        self.spool = FragileSpool(FileStore(self.folder / "key.gateway"), self.fuse)
        self.spool.full = self.full
        self.gateway = Gateway(self.spool, MASTER, packet_bytes=PACKET_BYTES, together=True)
        self.reader = StreamReader(PACKET_BYTES)
        sinks: list[Sink] = [
            SqliteLog(self.folder / "log.db"),
            CsvLog(self.folder / "log.csv", self.spool.waiting),
        ]
        done = self.spool.register([sink.name for sink in sinks])
        self.drains = {
            sink.name.partition(":")[0]: FragileDrain(sink, self.spool.path, done[sink.name], self.fuse)
            for sink in sinks
        }
        self.up = True

    def crash(self) -> None:
        """The process is removed, with all that it had not written."""
        self.counts["gateway crashes"] += 1
        self.up = False
        for drain in self.drains.values():
            drain.close()
        self.spool.close()

    def _guarded(self, act: Callable[[], None], now_us: float) -> bool:
        """What cannot be kept is not answered; whether it could."""
        try:
            act()
        except MotecryptError:
            self.spool.undo()
            self.counts["faults of the spool"] += 1
            self.rests_until_us = now_us + GATEWAY_RESTS_US
            return False
        return True

    def hear(self, data: bytes, now_us: float) -> None:
        """Bytes came from its radio."""
        now_ms = int(now_us / 1000)
        packets = list(self.reader.packets(data, now_ms))
        if now_us < self.rests_until_us:
            self.counts["packets dropped, spool at fault"] += len(packets)
            return
        self.gateway.at(now_ms)
        self._guarded(lambda: self.gateway.receive(packets, self._keep, self.reader.slip), now_us)
        self.fuse.step()

    def _keep(self, messages: Sequence[NodeMessage]) -> list[bool]:
        self.spool.put(
            [
                Item(m.node, m.generation, m.epoch, m.counter, "message", 0, m.content, len(m.content))
                for m in messages
            ]
        )
        self.counts["messages taken"] += len(messages)
        return [True] * len(messages)

    def command(self, node: int, content: bytes, now_us: float) -> bool:
        """Send a command; whether it is on its way."""
        told: list[Event] = []
        self.gateway.at(int(now_us / 1000))
        self._guarded(lambda: told.append(self.gateway.send(node, content, CONFIRMED | COMMAND)), now_us)
        return told == [Event.WAITING]

    def poll(self, now_us: float) -> None:
        """Ask again for answers that did not come."""
        if now_us >= self.rests_until_us:
            self._guarded(lambda: self.gateway.poll(int(now_us / 1000)), now_us)

    def drain(self) -> None:
        """Bring what waits to the sinks."""
        for name, drain in self.drains.items():
            drain.away = name in self.away
            drain.take(self.spool.last())
            self.spool.mark(drain.sink.name, drain.done)
        self.spool.full = self.full
        if not self.full:
            self.spool.tidy()


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
