"""Nodes, their gateway and its sinks on one channel in virtual time, all of which fail now and then.

The nodes are the link's core on this computer. At first some are the firmware of `motecrypt node` on
simulated UNOs; they continue on this computer from their EEPROM. The gateway's link, spool and sinks are
those of the product, and so is its loop, in the time of the channel.
"""

from __future__ import annotations

import csv
import random
import re
import sqlite3
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from motecrypt.air.link_timing import answer_ms
from motecrypt.air.radios import Channel, RadioNetwork, load_radio
from motecrypt.air.radios.air import air_time_us
from motecrypt.air.radios.medium import Frame
from motecrypt.link.native import (
    CONFIRMED,
    LISTENS,
    NODE_BITS,
    SHORT,
    STORAGE_BYTES,
    STREAM,
    Event,
)
from motecrypt.link.stream import StreamReader
from soak.ends import CLOCK, PACKET_BYTES, Crashed, GatewayEnd, NodeEnd, PowerLostError
from soak.firmware import GrantedNode, thermometer

HOUR_S = 3600.0
OPTIONS = SHORT | LISTENS | STREAM
READING_BYTES = 6
COMMAND_EVERY_S = 600.0
CONFIRM = b"c"  # the thermometer's command: ask for an answer to each reading
DRAIN_EVERY_S = 10.0
UNCONFIRMED_EVERY = 10
"""Of the readings of a node on this computer, one in so many asks for no answer."""
MISHAPS_PER_HOUR = {
    "node's power lost": 2.0,
    "node's power lost at a write": 2.0,
    "node's radio away": 1.0,
    "gateway killed": 4.0,
    "gateway's radio away": 0.2,
    "gateway's disk full": 0.1,
    "sink away": 0.5,
}
LONGEST_S = {
    "node's power lost": 600.0,
    "node's power lost at a write": 60.0,
    "node's radio away": 600.0,
    "gateway killed": 60.0,
    "gateway's radio away": 120.0,
    "gateway's disk full": 120.0,
    "sink away": 1800.0,
}
FUSE_STEPS = 40
LONG_S = 60.0
"""After all faults have ended: longer than the gateway rests after one."""
LONG_KINDS = 0x80
"""First bytes of packets below this are those of short ones; in long ones the third byte has the fragment."""
ANSWERS, PIECE_NUMBER = 0xC0, 0x3F
EEPROM_BYTES = 1024
TEMPERATURE = re.compile(rb"[+-]\d\d\.\dC")
OUTCOMES = (Event.ACCEPTED, Event.REFUSED, Event.UNCONFIRMED)


@dataclass(frozen=True)
class SoakPlan:
    """What is to be run.

    Attributes
    ----------
    nodes, firmware : how many nodes; how many of them are simulated UNOs at first.
    hours, firmware_hours : of readings, and of the simulated UNOs.
    interval_s : between two readings of a node.
    mishaps : how many times as often as usual things fail.
    """

    nodes: int = 50
    firmware: int = 3
    hours: float = 168.0
    firmware_hours: float = 24.0
    interval_s: float = 60.0
    mishaps: float = 1.0
    seed: int = 0


class Star(RadioNetwork):
    """A network that gives nodes on this computer only what is addressed to them: the link drops the rest."""

    all_ears: frozenset[int] = frozenset()

    def _ended(self, frame: Frame) -> None:
        """A packet is off the air: who has it of those that want it."""
        full_us = float(air_time_us(self.radio(0), PACKET_BYTES))
        to = 0 if frame.sender else frame.data[0] & NODE_BITS
        wanted = {to, *self.all_ears} - {frame.sender}
        for end in range(self.nodes) if frame.others else sorted(wanted & set(range(self.nodes))):
            if end == frame.sender:
                continue
            verdict = self._medium.verdict(
                frame, end
            )  # with others on the air: of each, later ones build on it
            if end in wanted and end < self.nodes:
                self._take(frame, end, verdict, full_us)


class Soak:
    """One run, in a folder of its own."""

    def __init__(
        self, plan: SoakPlan, folder: Path, progress: Callable[[str], None] = lambda text: None
    ) -> None:
        self.plan, self.folder, self.progress = plan, folder, progress
        self.random = random.Random(f"soak {plan.seed}")
        self.counts = Counter[str]()
        self.wrong = Counter[str]()
        self.cases: list[str] = []
        channel = Channel(
            loss=0.02, bit_error_rate=2e-6, crc=False, duplicate=0.001, reorder=0.001, seed=plan.seed
        )
        radio = load_radio("srf")
        self.network = Star(radio, plan.nodes + 1, channel)
        self.answer_ms = answer_ms(radio)
        self.end_us = plan.hours * HOUR_S * 1e6
        self.radio_away_until_us = [0.0] * (plan.nodes + 1)
        self.sent: dict[bytes, int] = {}
        self.accepted: set[bytes] = set()
        self.commands: dict[bytes, int] = {}
        self.commanded: set[bytes] = set()
        self.handed_over: set[tuple[int, bytes]] = set()
        self.gateway = GatewayEnd(folder)
        storages = {node: self.gateway.gateway.provision(node, OPTIONS) for node in range(1, plan.nodes + 1)}
        self.nodes: dict[int, NodeEnd] = {}
        self.simulated: dict[int, _FirmwareNode] = {}
        elf = thermometer(folder, round(1000 * plan.interval_s)) if plan.firmware else folder
        for node, storage in storages.items():
            if node <= plan.firmware:
                self.simulated[node] = _FirmwareNode(node, elf, folder / f"node{node}.eeprom", storage)
            else:
                self.nodes[node] = NodeEnd(node, storage, self.answer_ms, plan.seed)
        self.network.all_ears = frozenset(self.simulated)

    # --- the run

    def stop(self) -> None:
        """No more readings: end soon, and hold to what came about."""
        self.end_us = min(self.end_us, self.network.now_us)

    def run(self) -> None:
        """Run the whole scenario; `wrong` and `counts` have the results."""
        network = self.network
        for node in self.nodes.values():
            self._first_reading(node, 0.0)
        network.at(1e6 * DRAIN_EVERY_S, self._drain)
        network.at(1e6 * COMMAND_EVERY_S, self._command)
        network.at(1e6 * HOUR_S, self._hour)
        self._next_mishap(0.0)
        self._look_at_nodes(0.0)
        try:
            while (due_us := network.next_us()) is not None:
                self._grant(due_us)
        finally:
            for each in self.simulated.values():
                each.cut_power()
        self._settle()

    def _grant(self, due_us: float) -> None:
        """Let the simulated UNOs run up to the next event, and everybody have what comes first."""
        limit_us = due_us
        for each in self.simulated.values():
            limit_us = min(limit_us, each.run(limit_us))
        for arrival in self.network.advance(limit_us):
            if arrival.time_us >= self.radio_away_until_us[arrival.end]:
                self._arrive(arrival.end, arrival.data, arrival.time_us)
        for each in self.simulated.values():
            if each.output and each.output_us <= limit_us:
                data, each.output = each.output, b""
                self._write(each.number, data)

    def _write(self, port: int, data: bytes) -> None:
        if self.network.now_us >= self.radio_away_until_us[port]:
            self.network.write(port, data, self.network.now_us)

    def _arrive(self, port: int, data: bytes, now_us: float) -> None:
        if port == 0:
            self._alive(lambda: self.gateway.hear(data, now_us))
        elif port in self.simulated:
            self.simulated[port].given += data
        else:
            node = self.nodes[port]
            self._powered(node, lambda: self._node_hears(node, data, now_us))

    # --- nodes

    def _powered(self, node: NodeEnd, act: Callable[[], None]) -> None:
        if not node.up:
            return
        try:
            act()
        except PowerLostError:
            self.counts["nodes' power lost at a write"] += 1
            self._power_lost(node, LONGEST_S["node's power lost at a write"])

    def _power_lost(self, node: NodeEnd, longest_s: float) -> None:
        node.lose_power()
        back_us = self.network.now_us + 1e6 * self.random.uniform(0.1, longest_s)

        def back(now_us: float) -> None:
            if node.up:
                return
            self.counts["nodes' restarts"] += 1
            event = node.restart()
            if event is not Event.NOTHING:
                self._note("silenced", f"node {node.number}: {event.name} after a restart")

        self.network.at(back_us, back)

    def _first_reading(self, node: NodeEnd, now_us: float) -> None:
        chance = random.Random(f"soak {self.plan.seed} phase {node.number}")
        self.network.at(
            now_us + 1e6 * self.plan.interval_s * chance.random(), lambda us: self._reading(node, us)
        )

    def _reading(self, node: NodeEnd, now_us: float) -> None:
        next_us = now_us + 1e6 * self.plan.interval_s / node.rate
        if next_us < self.end_us:
            self.network.at(next_us, lambda us: self._reading(node, us))
        self.counts["readings due"] += 1
        if not node.up:
            self.counts["readings while without power"] += 1
        elif node.link.waiting:
            self.counts["readings skipped, one waits"] += 1
        else:
            self._powered(node, lambda: self._send(node, now_us))

    def _send(self, node: NodeEnd, now_us: float) -> None:
        content = node.number.to_bytes(1, "big") + node.counter.to_bytes(READING_BYTES - 1, "big")
        confirmed = node.counter % UNCONFIRMED_EVERY != 0
        node.counter += 1
        self.sent[content] = node.number
        node.link.at(node.ms(now_us))
        node.pending = content
        event = node.link.send(content, CONFIRMED if confirmed else 0)
        self.counts["readings sent"] += 1
        if event not in (Event.SENT, Event.WAITING):
            self._note("not sent", f"node {node.number}: {event.name}")
        if event is Event.SENT:
            node.pending = None
        self._out(node, now_us)

    def _out(self, node: NodeEnd, now_us: float) -> None:
        """Put what the core wants to send on the line, and come back when an answer is overdue."""
        for packet in node.link.packets():
            self.counts["packets of nodes"] += 1
            self._write(node.number, node.link.on_line(packet))
        if not node.link.waiting:
            return
        node.waits_since += 1
        since, life = node.waits_since, node.life

        def look(us: float) -> None:
            if (since, life) == (node.waits_since, node.life) and node.link.waiting:
                self._powered(node, lambda: self._polled(node, us))

        self.network.at(now_us + (1000 * self.answer_ms + 1000) / node.rate, look)

    def _polled(self, node: NodeEnd, now_us: float) -> None:
        self._outcome(node, node.link.poll(node.ms(now_us)))
        self._out(node, now_us)

    def _node_hears(self, node: NodeEnd, data: bytes, now_us: float) -> None:
        now_ms = node.ms(now_us)
        for packet in node.reader.packets(data, now_ms):
            if packet[0] & NODE_BITS != node.number:
                continue
            node.link.at(now_ms)
            event = node.link.receive(packet)
            if event is Event.COMMANDED:
                self._carry_out(node, node.link.message())
                node.link.answer(True)
            elif event is Event.MESSAGE:
                self._note("made up", f"node {node.number}: a message that nobody sent")
                node.link.answer(False)
            elif event is Event.FORGED:
                node.reader.slip()
            self._outcome(node, event)
            self._out(node, now_us)

    def _carry_out(self, node: NodeEnd, content: bytes) -> None:
        if (node.number, content) in self.handed_over:  # given to the firmware, obeyed by who took its place
            self.handed_over.discard((node.number, content))
            return
        self.counts["commands carried out"] += 1
        if self.commands.get(content) != node.number:
            self._note("made up", f"node {node.number}: command {content.hex()}")
        if content in self.commanded:
            self._note("doubled", f"node {node.number}: command {content.hex()}")
        self.commanded.add(content)

    def _outcome(self, node: NodeEnd, event: Event) -> None:
        if event not in OUTCOMES or node.pending is None:
            return
        self.counts[f"readings {event.name.lower()}"] += 1
        if event is Event.ACCEPTED:
            self.accepted.add(node.pending)
        node.pending = None

    # --- the gateway

    def _alive(self, act: Callable[[], None]) -> None:
        """Let the gateway do something, and what it wants to send; it may die meanwhile."""
        if not self.gateway.up:
            return
        try:
            act()
        except Crashed:
            self.gateway.crash()
            self._gateway_back()
            return
        data = self.gateway.said()
        packets = [data[at : at + PACKET_BYTES] for at in range(0, len(data), PACKET_BYTES)]
        self.counts["packets of the gateway"] += len(packets)
        for packet in packets:
            self._write(0, packet)

    def _gateway_back(self) -> None:
        back_us = self.network.now_us + 1e6 * self.random.uniform(1.0, LONGEST_S["gateway killed"])
        self.network.at(back_us, lambda us: self.gateway.begin())

    def _drain(self, now_us: float) -> None:
        self._alive(lambda: self.gateway.drain(now_us))
        if now_us < self.end_us:
            self.network.at(now_us + 1e6 * DRAIN_EVERY_S, self._drain)

    def _command(self, now_us: float) -> None:
        """To a node on this computer a command that no other is like; to a firmware, to ask for answers."""
        if now_us + 1e6 * COMMAND_EVERY_S < self.end_us:
            self.network.at(now_us + 1e6 * COMMAND_EVERY_S, self._command)
        number = self.random.randint(1, self.plan.nodes)
        for node in {number, *self.simulated}:
            content = CONFIRM if node in self.simulated else b"C" + len(self.commands).to_bytes(4, "big")
            if node not in self.simulated:
                self.commands[content] = node
            self.counts["commands sent"] += 1
            self._alive(lambda: self._commanded(node, content, now_us))  # noqa: B023 - called at once

    def _commanded(self, node: int, content: bytes, now_us: float) -> None:
        if self.gateway.command(node, content, now_us):
            self._poll_later(now_us, 30)

    def _poll_later(self, now_us: float, times: int) -> None:
        def poll(us: float) -> None:
            self._alive(lambda: self.gateway.turn(us))
            if times > 1:
                self._poll_later(us, times - 1)

        self.network.at(now_us + 1e5, poll)

    def _hour(self, now_us: float) -> None:
        hours = round(now_us / 1e6 / HOUR_S)
        self.progress(
            f"{hours} h, {self.counts['readings sent']:,} readings sent, {self.wrong.total()} wrong"
        )
        if now_us + 1e6 * HOUR_S <= self.end_us:
            self.network.at(now_us + 1e6 * HOUR_S, self._hour)

    # --- mishaps

    def _next_mishap(self, now_us: float) -> None:
        per_hour = sum(MISHAPS_PER_HOUR.values()) * self.plan.mishaps
        next_us = now_us + 1e6 * HOUR_S * self.random.expovariate(per_hour) if per_hour else self.end_us
        if next_us < self.end_us:
            self.network.at(next_us, self._mishap)

    def _mishap(self, now_us: float) -> None:
        self._next_mishap(now_us)
        kind = self.random.choices(list(MISHAPS_PER_HOUR), list(MISHAPS_PER_HOUR.values()))[0]
        for_us = 1e6 * self.random.uniform(0.1, LONGEST_S[kind])
        number = self.random.randint(1, self.plan.nodes)
        self.counts[f"mishap: {kind}"] += 1
        if kind.endswith("radio away"):
            self.radio_away_until_us[number if kind.startswith("node") else 0] = now_us + for_us
        elif kind == "gateway killed":
            self.gateway.fuse.left = self.random.randrange(FUSE_STEPS)
        elif kind == "gateway's disk full":
            self._full(True)
            self.network.at(now_us + for_us, lambda us: self._full(False))
        elif kind == "sink away":
            sink = self.random.choice(("sqlite", "csv"))
            self.gateway.away.add(sink)
            self.network.at(now_us + for_us, lambda us: self.gateway.away.discard(sink))
        elif number in self.simulated:
            self.simulated[number].cut_power()
            self.simulated[number].begin(now_us)
        elif kind == "node's power lost":
            if self.nodes[number].up:
                self._power_lost(self.nodes[number], LONGEST_S[kind])
        else:
            tester = self.nodes[number].link.tester
            tester.writes_left = self.random.randrange(90)
            tester.garbage = self.random.randrange(256)

    def _full(self, full: bool) -> None:
        self.gateway.full = self.gateway.spool.full = full

    def _look_at_nodes(self, now_us: float) -> None:
        """Once a second: whether the simulated UNOs end."""
        if now_us >= min(1e6 * self.plan.firmware_hours * HOUR_S, self.end_us):
            self._take_over(now_us)
        elif self.simulated:
            self.network.at(now_us + 1e6, self._look_at_nodes)

    def _take_over(self, now_us: float) -> None:
        """The simulated UNOs end; their nodes continue here, from their EEPROM."""
        for number, each in self.simulated.items():
            each.cut_power()
            self.counts["readings sent by firmware"] += len(each.messages)
            storage = each.eeprom.read_bytes()[:STORAGE_BYTES]
            node = self.nodes[number] = NodeEnd(number, storage, self.answer_ms, self.plan.seed)
            if now_us < self.end_us:
                self._first_reading(node, now_us)
            self.handed_over.add((number, CONFIRM))
        self.simulated = {}
        self.network.all_ears = frozenset()

    # --- the end

    def _settle(self) -> None:
        """All faults have ended: bring waiting messages to the sinks, and compare them with the sent ones."""
        gateway = self.gateway
        self.counts["simulated minutes"] = round(self.end_us / 60e6)
        gateway.fuse.left = -1
        gateway.full, gateway.away = False, set()
        if not gateway.up:
            gateway.begin()
        for after_s in (LONG_S, 2 * LONG_S):
            gateway.drain(self.network.now_us + 1e6 * after_s)
        gateway.end()
        self.counts += gateway.counts
        base = sqlite3.connect(self.folder / "log.db")
        self._hold("sqlite", list(base.execute("SELECT id, node, content FROM messages ORDER BY rowid")))
        base.close()
        with (self.folder / "log.csv").open(newline="") as file:
            rows = [(r["id"], int(r["node"]), bytes.fromhex(r["hex"])) for r in csv.DictReader(file)]
        self._hold("csv", rows)

    def _hold(self, sink: str, rows: list[tuple[str, int, bytes]]) -> None:
        """Nothing doubled, nothing made up, nothing accepted and lost."""
        self.counts[f"messages at {sink}"] = len(rows)
        seen: set[bytes] = set()
        ids = Counter(name for name, _, _ in rows)
        for name, times in ids.items():
            if times > 1:
                self._note("doubled", f"{sink}: {name} is there {times} times")
        for name, node, content in rows:
            if TEMPERATURE.fullmatch(content) and node <= self.plan.firmware:
                self.counts[f"messages of firmware at {sink}"] += 1
            elif self.sent.get(content) != node:
                self._note("made up", f"{sink}: {name}: {content.hex()}")
            elif content in seen:
                self._note("doubled", f"{sink}: {name}: {content.hex()}")
            seen.add(content)
        for content in self.accepted - seen:
            self._note("accepted and lost", f"{sink}: node {content[0]}: {content.hex()}")
        of_firmware = self.counts[f"messages of firmware at {sink}"]
        if of_firmware > self.counts["readings sent by firmware"]:
            self._note("made up", f"{sink}: {of_firmware} messages of firmware")

    def _note(self, what: str, case: str) -> None:
        self.wrong[what] += 1
        if len(self.cases) < 10:
            self.cases.append(f"{what}: {case}")


class _FirmwareNode:
    """A simulated UNO: its process, its EEPROM, and what is between it and the channel."""

    def __init__(self, number: int, elf: Path, eeprom: Path, storage: bytes) -> None:
        self.number, self.eeprom, self._elf = number, eeprom, elf
        eeprom.write_bytes(storage.ljust(EEPROM_BYTES, b"\xff"))
        self.output, self.given = b"", b""
        self.output_us = 0.0
        self.messages: set[bytes] = set()
        chance = random.Random(f"firmware {number}")
        self._rate = 1 + CLOCK * chance.uniform(-1, 1)
        self.begin(1e6 * chance.uniform(0, 60))

    def begin(self, now_us: float) -> None:
        """Power on."""
        self._begun_us, self.output, self.given = now_us, b"", b""
        self._reader = StreamReader(PACKET_BYTES)
        self._node: GrantedNode | None = GrantedNode(self._elf, self.eeprom)

    def run(self, until_us: float) -> float:
        """Let it run until then, or until it sends; when that is."""
        each = self._node
        if until_us < self._begun_us:
            self.given = b""
            return until_us
        if each is None or self.output:
            return self.output_us if self.output else until_us
        if self._begun_us + each.time_us / self._rate < until_us:
            given, self.given = self.given, b""
            self.output = each.run((until_us - self._begun_us) * self._rate, given)
            if self.output:
                self.output_us = self._begun_us + each.time_us / self._rate
                for packet in self._reader.packets(self.output, int(self.output_us / 1000)):
                    if packet[0] < LONG_KINDS or (packet[0] < ANSWERS and packet[2] & PIECE_NUMBER == 0):
                        self.messages.add(packet)
                return self.output_us
        return until_us

    def cut_power(self) -> None:
        """Kill it without warning."""
        if self._node is not None:
            self._node.cut_power()
            self._node = None


__all__ = ["Soak", "SoakPlan"]
