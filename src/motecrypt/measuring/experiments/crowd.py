"""Many nodes that send readings to their gateway over the secure link, on one channel in virtual time.

The nodes are the link's core itself and the gateway is the one that `receive` runs, over `RadioNetwork`:
serial lines, packets, collisions, listening, answers, repetitions. Nothing here waits for a clock.
"""

from __future__ import annotations

import hashlib
import math
import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from motecrypt.air.link_timing import answer_ms
from motecrypt.air.radios import Channel, Radio, RadioNetwork, load_radio
from motecrypt.air.radios.levels import Levels
from motecrypt.air.radios.medium import jain
from motecrypt.air.radios.network import percentiles
from motecrypt.base.errors import InputError, MotecryptError
from motecrypt.base.model import ExperimentResult
from motecrypt.link.gateway_end import Gateway
from motecrypt.link.native import (
    BOTH_WAYS,
    BROADCAST,
    CONFIRMED,
    LONG,
    NODE_BITS,
    SPREAD_MS,
    STREAM,
    Event,
    NativeLink,
    link_library,
    open_library,
)
from motecrypt.link.state import MemoryStore
from motecrypt.link.stream import StreamReader
from motecrypt.link.told import OUTCOMES, TAKEN, NodeMessage
from motecrypt.results import Results
from motecrypt.results.experiments.crowd import KIND, VERSION, CrowdQuestion

MASTER = bytes(range(16))
NODES_MAX = BROADCAST - 1
"""A gateway has nodes 1 to 62 here and uses port 0."""
READING_BYTES = 6
LINK_PACKET_MAX = 255
CLOCK_PPM = 5000.0
"""The ceramic resonator of an UNO is accurate to half a percent (Murata CSTCE16M0V53, initial tolerance)."""
RADIOS = ("srf", "nrf24", "802.15.4")
NODES = (1, 2, 5, 10, 20, 35, 50)
SPREAD_MS_MAX = 4000.0


@dataclass(frozen=True)
class CrowdPlan:
    """What is to be sent.

    Attributes
    ----------
    radio : Radio
    nodes : 1 to 62.
    interval_s : between two readings of a node, in its own time.
    seconds : of sending; what is on its way then is waited for.
    confirmed : whether nodes ask for answers, and send again what is not answered.
    channel, levels : what happens on the way; port 0 is the gateway, port n node n.
    clock_ppm : the nodes' clocks go wrong by up to this much, each by its own.
    spread_ms : node n waits n times this longer than an answer may take on that radio; with the link, 7 ms.
    seed : of the clocks and of when each node begins.
    """

    radio: Radio
    nodes: int
    interval_s: float
    seconds: float
    confirmed: bool = True
    channel: Channel | None = None
    levels: Levels | None = None
    clock_ppm: float = CLOCK_PPM
    spread_ms: float = SPREAD_MS
    seed: int = 1

    def __post_init__(self) -> None:
        if not 1 <= self.nodes <= NODES_MAX:
            raise InputError(f"{self.nodes} nodes of a gateway; give 1 to {NODES_MAX}")
        for name in ("interval_s", "seconds"):
            if not 0 < getattr(self, name) < math.inf:
                raise InputError(f"{name} is {getattr(self, name)}; give a time above 0")
        if not 0 <= self.clock_ppm < 1e6:
            raise InputError(f"clock_ppm is {self.clock_ppm}; give 0 or more, and less than 1,000,000")
        if not 0 <= self.spread_ms * self.nodes <= SPREAD_MS_MAX:
            raise InputError(
                f"spread_ms is {self.spread_ms}; give 0 or more, with {SPREAD_MS_MAX:g} ms in all"
            )


@dataclass
class CrowdResult:
    """The outcome of the readings.

    Attributes
    ----------
    plan : CrowdPlan
    readings : that nodes had to send.
    skipped : of those, never begun because the previous one still waited for its answer.
    delivered : that the gateway's application has, each once.
    accepted, unconfirmed : as reported to the nodes; 0 where they do not ask.
    packets, packets_again : of the nodes, and of those, sent again.
    answers : packets of the gateway.
    collided, deaf : packets of nodes that the gateway lost to collisions, or while it sent.
    given_up : packets that radios never sent, since the channel was never free.
    air_share : air time of all, a second.
    node_duty, gateway_duty : the busiest node's and the gateway's own air time, a second.
    by_node : readings delivered, from node 1 on.
    """

    plan: CrowdPlan
    readings: int = 0
    skipped: int = 0
    delivered: int = 0
    accepted: int = 0
    unconfirmed: int = 0
    packets: int = 0
    packets_again: int = 0
    answers: int = 0
    collided: int = 0
    deaf: int = 0
    given_up: int = 0
    air_share: float = field(init=False)
    node_duty: float = field(init=False)
    gateway_duty: float = field(init=False)
    by_node: list[int] = field(default_factory=list)
    latencies_us: list[float] = field(default_factory=list)

    @property
    def share(self) -> float:
        """The share of readings that arrived."""
        return self.delivered / self.readings if self.readings else 1.0

    def row(self) -> dict[str, Any]:
        """The figures as plain numbers: goodput, fairness and latency among them."""
        plan = self.plan
        late = percentiles(self.latencies_us) or {}
        return {
            "radio": plan.radio.name,
            "nodes": plan.nodes,
            "interval_s": plan.interval_s,
            "confirmed": plan.confirmed,
            "spread_ms": plan.spread_ms,
            "readings": self.readings,
            "skipped": self.skipped,
            "delivered": self.delivered,
            "share": round(self.share, 6),
            "accepted": self.accepted,
            "unconfirmed": self.unconfirmed,
            "packets": self.packets,
            "packets_again": self.packets_again,
            "answers": self.answers,
            "collided": self.collided,
            "deaf": self.deaf,
            "given_up": self.given_up,
            "air_share": round(self.air_share, 6),
            "node_duty": round(self.node_duty, 6),
            "gateway_duty": round(self.gateway_duty, 6),
            "goodput_bps": round(8 * READING_BYTES * self.delivered / plan.seconds, 3),
            "fairness": round(jain(self.by_node), 6),
            **{f"latency_{name}_ms": round(value / 1000, 3) for name, value in late.items()},
        }


class _Node:
    """One node: the core, its clock, and when it sends next."""

    def __init__(self, crowd: _Crowd, number: int, storage: bytes) -> None:
        plan = crowd.plan
        chance = random.Random(f"{plan.seed} node {number}")
        self.crowd, self.number = crowd, number
        self.rate = 1 + plan.clock_ppm * 1e-6 * chance.uniform(-1, 1)
        self.phase_ms = chance.uniform(0, 60_000)
        self.first_us = 1e6 * plan.interval_s * chance.random()
        self.patience_ms = crowd.patience_ms + round(plan.spread_ms * number)
        own_ms = self.patience_ms - SPREAD_MS * number  # the core adds its own spread, in 16 bits
        self.link = NativeLink(open_library(link_library("aes128-ccm")), own_ms & 0xFFFF)
        if self.link.begin(storage) is not Event.NOTHING:
            raise MotecryptError(f"node {number}: its link does not start")
        self.reader = StreamReader(crowd.packet_bytes) if crowd.stream else None
        self.counter = 0
        self.waits_since = 0
        self.reading = b""
        self.sent: set[bytes] = set()

    def ms(self, now_us: float) -> int:
        """Its own clock."""
        return int(now_us * self.rate / 1000 + self.phase_ms)

    def out(self) -> None:
        """Put what the core wants to send on the line."""
        told = self.crowd.told
        for packet in self.link.packets():
            told.packets += 1
            told.packets_again += packet in self.sent
            self.sent.add(packet)
            self.crowd.write(self.number, self.link.on_line(packet))

    def take_reading(self, now_us: float) -> None:
        """A reading is due; the next one, too, if there is one."""
        crowd = self.crowd
        next_us = now_us + 1e6 * crowd.plan.interval_s / self.rate
        if next_us < crowd.end_us:
            crowd.network.at(next_us, self.take_reading)
        crowd.told.readings += 1
        if self.link.waiting:
            crowd.told.skipped += 1
            return
        self.reading = self.number.to_bytes(1, "big") + self.counter.to_bytes(READING_BYTES - 1, "big")
        self.counter += 1
        self.sent.clear()
        self.link.at(self.ms(now_us))
        crowd.begun_us[self.reading] = now_us
        event = self.link.send(self.reading, CONFIRMED if crowd.plan.confirmed else 0)
        if event not in (Event.SENT, Event.WAITING):
            raise MotecryptError(f"node {self.number}: a reading was not sent: {event.name}")
        self.out()
        self.look_later(now_us)

    def look_later(self, now_us: float) -> None:
        """Come back when an answer is overdue."""
        if self.link.waiting:
            self.waits_since += 1
            since, due_us = self.waits_since, now_us + (1000 * self.patience_ms + 1000) / self.rate
            self.crowd.network.at(due_us, lambda later_us: self.look(since, later_us))

    def look(self, since: int, now_us: float) -> None:
        """An answer is overdue, unless something came meanwhile."""
        if since == self.waits_since and self.link.waiting:
            self.tell(self.link.poll(self.ms(now_us)))
            self.out()
            self.look_later(now_us)

    def hear(self, data: bytes, now_us: float) -> None:
        """Bytes came from its radio."""
        now_ms = self.ms(now_us)
        for packet in [data] if self.reader is None else self.reader.packets(data, now_ms):
            if packet[0] & NODE_BITS != self.number:
                continue
            self.link.at(now_ms)
            waited = self.link.waiting
            event = self.link.receive(packet)
            if event in TAKEN:
                raise MotecryptError(f"node {self.number}: a message that was not sent")
            self.tell(event)
            self.out()
            if waited:
                self.look_later(now_us)

    def tell(self, event: Event) -> None:
        """The outcome of its reading, if that is what it is."""
        if event not in OUTCOMES:
            return
        told = self.crowd.told
        if event is Event.ACCEPTED:
            told.accepted += 1
            if self.reading not in self.crowd.got:
                raise MotecryptError(
                    f"node {self.number}: a reading was reported as accepted but never arrived"
                )
        else:
            told.unconfirmed += 1


class _Crowd:
    """The nodes, the gateway and the channel between them."""

    def __init__(self, plan: CrowdPlan) -> None:
        self.plan = plan
        self.stream = "serial_baud" in plan.radio.figures
        self.packet_bytes = min(plan.radio.packet_bytes, LINK_PACKET_MAX)
        radio = plan.radio.with_figures(packet_bytes=self.packet_bytes)
        self.patience_ms = answer_ms(radio)
        self.end_us = 1e6 * plan.seconds
        self.network = RadioNetwork(radio, plan.nodes + 1, plan.channel, plan.levels)
        self.told = CrowdResult(plan, by_node=[0] * plan.nodes)
        self.begun_us: dict[bytes, float] = {}
        self.got: set[bytes] = set()
        self.reader = StreamReader(self.packet_bytes) if self.stream else None
        self.gateway = Gateway(MemoryStore(), MASTER, packet_bytes=self.packet_bytes)
        options = BOTH_WAYS | (STREAM if self.stream else 0)
        self.nodes = [
            _Node(self, number, self.gateway.provision(number, options))
            for number in range(1, plan.nodes + 1)
        ]

    def write(self, port: int, packet: bytes) -> None:
        """A program puts a packet on its line."""
        self.network.write(port, packet, self.network.now_us)

    def in_step(self) -> None:
        """Every node's first message, which is a long one, has been and was answered, before all begins."""
        for node in self.nodes:
            node.link.send(b"", CONFIRMED | LONG)
            self.gateway.receive(
                map(node.link.on_line, node.link.packets()), lambda messages: [True] * len(messages)
            )
            for packet in self.gateway.take_packets():
                node.link.receive(packet)
            if node.link.waiting:
                raise MotecryptError(f"node {node.number}: its first message was not answered")

    def hand_over(self, messages: Sequence[NodeMessage]) -> list[bool]:
        """The gateway's application: keeps each reading once."""
        for message in messages:
            begun_us = self.begun_us.get(message.content)
            if begun_us is None or message.content in self.got or message.content[0] != message.node:
                raise MotecryptError(f"node {message.node}: a duplicate reading, or one that was not sent")
            self.got.add(message.content)
            self.told.delivered += 1
            self.told.by_node[message.node - 1] += 1
            self.told.latencies_us.append(self.network.now_us - begun_us)
        return [True] * len(messages)

    def gateway_hears(self, data: bytes, now_us: float) -> None:
        """Bytes came from the gateway's radio."""
        packets: Iterable[bytes] = [data]
        astray: Callable[[], None] = lambda: None  # noqa: E731
        if self.reader is not None:
            packets, astray = self.reader.packets(data, int(now_us / 1000)), self.reader.slip
        self.gateway.receive(packets, self.hand_over, astray)
        for packet in self.gateway.take_packets():
            self.told.answers += 1
            self.write(0, packet)

    def run(self) -> CrowdResult:
        """Let all of it happen."""
        self.in_step()
        for node in self.nodes:
            if node.first_us < self.end_us:
                self.network.at(node.first_us, node.take_reading)
        while (due_us := self.network.next_us()) is not None:
            for arrival in self.network.advance(due_us):
                if arrival.end == 0:
                    self.gateway_hears(arrival.data, arrival.time_us)
                else:
                    self.nodes[arrival.end - 1].hear(arrival.data, arrival.time_us)
        return self._result()

    def _result(self) -> CrowdResult:
        told = self.told
        tallies = [self.network.tally(port) for port in range(self.plan.nodes + 1)]
        told.collided, told.deaf = tallies[0].collided, tallies[0].deaf
        told.given_up = sum(tally.given_up for tally in tallies)
        duties = [tally.air_time_us / self.end_us for tally in tallies]
        told.air_share, told.gateway_duty, told.node_duty = sum(duties), duties[0], max(duties[1:])
        return told


def crowd(plan: CrowdPlan) -> CrowdResult:
    """Let the nodes send their readings; the outcome of them.

    Raises
    ------
    MotecryptError
        The link broke a promise: a reading doubled, made up, or reported as accepted without delivery.
    """
    return _Crowd(plan).run()


class CrowdRun(CrowdQuestion):
    """These networks, run in virtual time."""

    def inputs(self) -> dict[str, Any]:
        """What the outcome depends on: the question, and the code of both ends and of the channel."""
        return {**self.asked(), "code": _code_hash()}

    def ensure(self, results: Results, progress: Callable[[str], None] | None = None) -> ExperimentResult:
        """The result, run now if it is not stored yet."""
        stored = self.kept(results, self.inputs())
        if stored is not None:
            return stored
        rows = []
        for nodes, interval_s in self.networks:
            if progress is not None:
                progress(f"{self.radio}, {nodes} nodes, a reading every {interval_s:g} s")
            rows.append(self.row(nodes, interval_s))
        return results.store_experiment(KIND, VERSION, self.inputs(), {"rows": rows}, self.asked())

    def row(self, nodes: int, interval_s: float) -> dict[str, Any]:
        """The figures of one network."""
        plan = CrowdPlan(
            load_radio(self.radio), nodes, interval_s, self.seconds, self.confirmed, spread_ms=self.spread_ms
        )
        return crowd(plan).row()


@lru_cache(maxsize=1)
def _code_hash() -> str:
    """Of this module, the radios, the link's ends on a computer, and its core."""
    root = Path(__file__).resolve().parents[2]
    files = [Path(__file__), *(root / "air" / "radios").glob("*.py"), *(root / "link").glob("*.py")]
    files += (root / "firmware" / "link").glob("*.[ch]")
    digest = hashlib.sha256()
    for file in sorted(files):
        digest.update(file.name.encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()[:16]
