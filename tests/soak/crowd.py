"""`./test soak --crowd`: many networks on one channel, strangers, and a clock that jumps.

Each network has a gateway of its own (the product's service, spool and sinks, over ports in memory and in
virtual time) and up to 63 nodes with the numbers of all the others. Every gateway receives every packet, and
nodes with one number receive what any gateway sends to it. Strangers send packets of numbers that nobody has,
of other keys, and noise. Counted is what must not happen: a message that another network takes, doubled, made
up, or accepted and not there; and memory that grows with the packets of strangers.
"""

from __future__ import annotations

import argparse
import csv
import gc
import random
import resource
import sqlite3
import sys
import tempfile
import time
from collections import Counter, deque
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from unittest import mock

from link_ends import native
from motecrypt.link.gateway import lines
from motecrypt.link.gateway.clock import LoopClock
from motecrypt.link.gateway.drain import Drain
from motecrypt.link.gateway.operated import OperatedGateway
from motecrypt.link.gateway.service import GatewayService
from motecrypt.link.gateway.sinks.csv_log import CsvLog
from motecrypt.link.gateway.sinks.sqlite_log import SqliteLog
from motecrypt.link.gateway.spool import Spool
from motecrypt.link.native import CONFIRMED, LISTENS, NODE_BITS, SHORT, STREAM, Event, NativeLink
from motecrypt.link.ports.signals import Stop
from motecrypt.link.state import FileStore
from motecrypt.link.stream import StreamReader

PACKET = 12
OPTIONS = SHORT | LISTENS | STREAM
NETWORKS, NODES, MESSAGES, STRANGERS = 16, 63, 3, 1_000_000
BETWEEN_S = 0.025
"""Between two packets on the air: for a line's reader 20 ms of silence end a packet."""
LOSS = 0.02
TRIES = 60
JUMPS_S = (-40 * 365 * 86_400.0, -86_400.0, -1.0, 0.5, 3600.0, 70 * 365 * 86_400.0)
"""Jumps of the clock, to before 1970 and beyond 2038."""
JUMP_EVERY = 20
"""Of so many messages one is followed by a jump."""
PORTS = 16
"""Of the first network: strangers are at all of them."""
BLOCKS_MAX = 2000
RESIDENT_BYTES_MAX = 16 << 20
"""What strangers may cost in objects of Python and in bytes of the process: what is made once, no more."""


class AirPort:
    """In place of a serial port."""

    def __init__(self, path: str = "", baud: int = 0) -> None:
        self.incoming, self.said = bytearray(), bytearray()

    def read(self) -> bytes:
        """What has come."""
        data = bytes(self.incoming)
        self.incoming.clear()
        return data

    def write(self, data: bytes) -> int:
        """Take it all."""
        self.said += data
        return len(data)

    def close(self) -> None:
        """Nothing to give back."""


class AirClock(LoopClock):
    """Virtual time, and the time of day that jumps."""

    def __init__(self) -> None:
        self.passed_s, self.day_s = 1000.0, 1_700_000_000.0

    def now_s(self) -> float:
        """Virtual time, which does not jump."""
        return self.passed_s

    def utc_s(self) -> float:
        """The time of day."""
        return self.day_s + self.passed_s

    def wait(self, readers: Sequence[Any], writers: Sequence[Any], seconds: float) -> list[Any]:
        """Nobody waits here."""
        return [each for each in readers if isinstance(each, AirPort) and each.incoming]


class Network:
    """A gateway and its nodes."""

    def __init__(self, folder: Path, number: int, nodes: int, clock: AirClock, ports: int = 1) -> None:
        self.folder, self.number = folder, number
        folder.mkdir()
        self.spool = Spool(FileStore(folder / "key.gateway"))
        self.gateway = OperatedGateway(self.spool, bytes([number]) * 16, packet_bytes=PACKET, together=True)
        self.gateway.clock = clock.utc_s  # type: ignore[method-assign,assignment]
        self.nodes: list[NativeLink] = []
        for node in range(nodes):
            end = native()
            assert end.begin(self.gateway.provision(node, OPTIONS)) is Event.NOTHING
            self.nodes.append(end)
        with mock.patch.object(lines, "SerialPort", AirPort):
            self.lines = [
                lines.Line(f"{each}", 115200, StreamReader(PACKET), self._told) for each in range(ports)
            ]
        self.notices: list[str] = []
        self.service = GatewayService(
            self.gateway, self.spool, self.lines, None, 100.0, 2.0, self._told, clock
        )
        self.sinks = [SqliteLog(folder / "log.db"), CsvLog(folder / "log.csv", 0)]
        done = self.spool.register([sink.name for sink in self.sinks])
        self.drains = [Drain(sink, self.spool.path, done[sink.name], self._told) for sink in self.sinks]
        self.stop = Stop()

    def _told(self, line: str) -> None:
        self.notices.append(line)

    def hear(self, *packets: bytes) -> bytes:
        """Packets are on the air, one at each port; what the gateway says."""
        ports: list[Any] = [line.port for line in self.lines]
        for port, packet in zip(ports, packets, strict=False):
            port.incoming += packet
        self.service.turn(self.stop)
        said = b"".join(port.said for port in ports)
        for port in ports:
            port.said.clear()
        return said

    def rows(self) -> dict[str, list[tuple[str, int, bytes]]]:
        """Bring all to the sinks; what is there."""
        for drain in self.drains:
            while drain.done < self.spool.last():
                if not drain.attempt():
                    raise AssertionError(f"{drain.sink.name}: {drain.trouble}")
            drain.finish()
        base = sqlite3.connect(self.folder / "log.db")
        kept = list(base.execute("SELECT id, node, content FROM messages ORDER BY rowid"))
        base.close()
        with (self.folder / "log.csv").open(newline="") as file:
            written = [
                (row["id"], int(row["node"]), bytes.fromhex(row["hex"])) for row in csv.DictReader(file)
            ]
        self.spool.close()
        return {"sqlite": kept, "csv": written}


class Crowd:
    """One run, in a folder of its own.

    Attributes
    ----------
    counts, wrong : what happened, and what must not.
    """

    def __init__(self, folder: Path, networks: int = NETWORKS, nodes: int = NODES, seed: int = 0) -> None:
        self.random, self.clock = random.Random(f"crowd {seed}"), AirClock()
        self.counts, self.wrong, self.cases = Counter[str](), Counter[str](), list[str]()
        self.networks = [
            Network(folder / f"{each}", each, nodes, self.clock, 1 if each else PORTS)
            for each in range(networks)
        ]
        self.air: deque[tuple[bytes, bool]] = deque()
        self.accepted: set[bytes] = set()
        self.sent: dict[bytes, tuple[int, int]] = {}

    # --- messages

    def messages(self, each: int, progress: Callable[[str], None] = lambda text: None) -> None:
        """A number of each node, of all networks in any order; the clock jumps in between."""
        order = [(n, node) for n, net in enumerate(self.networks) for node in range(len(net.nodes))] * each
        self.random.shuffle(order)
        for at, (network, node) in enumerate(order):
            self.message(network, node)
            if self.random.random() < 1 / JUMP_EVERY:
                self.clock.day_s += self.random.choice(JUMPS_S)
                self.clock.day_s = min(max(self.clock.day_s, -2e9), 2e10)
                self.counts["jumps of the clock"] += 1
            if at % 500 == 499:
                progress(f"{at + 1:,} of {len(order):,} messages, {self.wrong.total()} wrong")

    def message(self, network: int, node: int) -> None:
        """One, until its node has an outcome; half of them, and those that synchronise, ask for an answer."""
        content = b"%d %d %d" % (network, node, len(self.sent))
        end, how = self.networks[network].nodes[node], self.random.choice((CONFIRMED, 0))
        self.sent[content] = (network, node)
        end.at(self._ms())
        told = end.send(content, how)
        assert told in (Event.WAITING, Event.SENT), told
        sure = told is Event.WAITING
        for _ in range(TRIES if sure else 1):
            self._say(end)
            outcome = self._settle(network, node)
            if outcome is not Event.NOTHING or not sure:
                break
            self.clock.passed_s += 0.5
            outcome = end.poll(self._ms())
            if outcome is not Event.NOTHING:
                break
        else:
            outcome = Event.UNCONFIRMED
        self.counts[f"messages {outcome.name.lower() if sure else 'without an answer'}"] += 1
        if outcome is Event.ACCEPTED:
            self.accepted.add(content)

    def _ms(self) -> int:
        return int(self.clock.passed_s * 1000)

    def _say(self, end: NativeLink) -> None:
        self.air += [(end.on_line(packet), True) for packet in end.packets()]

    def _settle(self, network: int, node: int) -> Event:
        """Everything on the air arrives, and what is said to it; the outcome of a node's message."""
        outcome = Event.NOTHING
        while self.air:
            packet, up = self.air.popleft()
            self.clock.passed_s += BETWEEN_S
            self.counts["packets on the air"] += 1
            if up:
                self._up(packet)
                continue
            for number, each in enumerate(self.networks):
                if self.random.random() < LOSS:
                    continue
                end = each.nodes[packet[0] & NODE_BITS]
                event = end.receive(packet)
                if (number, packet[0] & NODE_BITS) == (network, node) and event in (
                    Event.ACCEPTED,
                    Event.REFUSED,
                    Event.UNCONFIRMED,
                ):
                    outcome = event
                elif event is Event.ACCEPTED:
                    self._note("accepted by a stranger", f"network {number}")
                self._say(end)
        return outcome

    def _up(self, packet: bytes) -> None:
        for each in self.networks:
            if self.random.random() >= LOSS:
                said = each.hear(packet)
                self.air += [(said[at : at + PACKET], False) for at in range(0, len(said), PACKET)]

    # --- strangers

    def strangers(self, count: int, progress: Callable[[str], None] = lambda text: None) -> None:
        """A number of packets of nobody at the first network; its nodes go on, and memory stays as it was."""
        network, foreign = self.networks[0], native()
        other = OperatedGateway(FileStore(network.folder / "other"), b"another key, 16B", packet_bytes=PACKET)
        assert foreign.begin(other.provision(5, OPTIONS)) is Event.NOTHING
        other.close()
        before, begun = (0, 0), count // 4 // PORTS * PORTS  # by then what is made once is there
        for at in range(0, count, PORTS):
            if at == begun:
                before = _memory()
            self.clock.passed_s += BETWEEN_S
            network.hear(*(self._stranger(foreign, len(network.nodes)) for _ in range(PORTS)))
            self.counts["packets of strangers"] += PORTS
            if at % (100 * PORTS) == 0:
                self.clock.passed_s += BETWEEN_S
                self.message(0, self.random.randrange(len(network.nodes)))
            if at % 100_000 < PORTS:
                progress(f"{at:,} of {count:,} packets of strangers")
        blocks, resident = (after - then for after, then in zip(_memory(), before, strict=True))
        self.counts["objects more"], self.counts["bytes more"] = max(blocks, 0), max(resident, 0)
        since = f"after {count - begun:,} packets of strangers"
        if blocks > BLOCKS_MAX:
            self._note("grown", f"{blocks:,} objects more {since}")
        if resident > RESIDENT_BYTES_MAX:
            self._note("grown", f"{resident:,} bytes more {since}")
        if len(network.notices) > 2 * NODES:
            self._note("grown", f"{len(network.notices)} lines for the user")

    def _stranger(self, foreign: NativeLink, nodes: int) -> bytes:
        """A packet of a node of another key, of a number that nobody has, or noise."""
        kind = self.random.randrange(3)
        if kind == 0:
            foreign.poll(self._ms())
            foreign.send(self.random.randbytes(6))
            packets = foreign.packets()
            if packets:
                return foreign.on_line(packets[0])
        first = self.random.randrange(256) if kind == 1 else nodes % 64 | self.random.randrange(4) << 6
        return bytes([first]) + self.random.randbytes(PACKET - 1)

    # --- the end

    def settle(self) -> None:
        """Compare what is at the sinks with what was sent."""
        for number, network in enumerate(self.networks):
            for sink, rows in network.rows().items():
                self.counts[f"messages at {sink}"] += len(rows)
                there = Counter(content for _, _, content in rows)
                ids = Counter(name for name, _, _ in rows)
                for name, times in (*ids.items(), *there.items()):
                    if times > 1:
                        self._note("doubled", f"network {number}, {sink}: {name!r}")
                for name, node, content in rows:
                    if self.sent.get(content) != (number, node):
                        self._note("made up", f"network {number}, {sink}: {name}: {content!r}")
                mine = {content for content in self.accepted if self.sent[content][0] == number}
                for content in mine - set(there):
                    self._note("accepted and lost", f"network {number}, {sink}: {content!r}")

    def _note(self, what: str, case: str) -> None:
        self.wrong[what] += 1
        if len(self.cases) < 10:
            self.cases.append(f"{what}: {case}")


def _memory() -> tuple[int, int]:
    """Objects of Python that are there, and the most bytes that the process has had (getrusage(2))."""
    gc.collect()
    return sys.getallocatedblocks(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def main(arguments: Sequence[str]) -> int:
    """Run one; 0 when nothing happened that must not."""
    parser = argparse.ArgumentParser(prog="./test soak --crowd", description=__doc__.partition("\n\n")[0])
    parser.add_argument("--networks", type=int, default=NETWORKS, help="how many (default: %(default)s)")
    parser.add_argument("--messages", type=int, default=MESSAGES, help="of each node (default: %(default)s)")
    parser.add_argument(
        "--strangers", type=int, default=STRANGERS, help="packets of nobody (default: %(default)s)"
    )
    parser.add_argument("--seed", type=int, default=0, help="equal seeds fail alike (default: 0)")
    chosen = parser.parse_args(arguments)
    if not (1 <= chosen.networks <= 64 and chosen.messages >= 0 and chosen.strangers >= 0):
        parser.exit(2, "test soak --crowd: --networks takes 1 to 64, the others 0 or more\n")

    def progress(text: str) -> None:
        print(f"soak: {text}", file=sys.stderr, flush=True)

    started = time.process_time()
    with tempfile.TemporaryDirectory(prefix="motecrypt-crowd.") as folder:
        crowd = Crowd(Path(folder), chosen.networks, seed=chosen.seed)
        crowd.messages(chosen.messages, progress)
        if chosen.strangers:
            crowd.strangers(chosen.strangers, progress)
        crowd.settle()
    for name, count in sorted(crowd.counts.items()):
        print(f"{name:40} {count:>12,}")
    print(f"{'CPU time':40} {time.process_time() - started:>10,.0f} s")
    for case in crowd.cases:
        print(f"soak: --crowd --seed {chosen.seed}: {case}")
    never = ("doubled", "made up", "accepted and lost", "accepted by a stranger", "grown")
    print(", ".join(f"{crowd.wrong[what]} {what}" for what in never))
    return 1 if crowd.wrong else 0
