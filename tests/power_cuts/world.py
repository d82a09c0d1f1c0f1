"""A gateway of the product, its nodes, senders and sinks in virtual time, whose power may go at any step.

The gateway is what `motecrypt gateway` opens, with its loop, spool, control socket and sinks. Only its clock
and its port are others, the broker and the command are here, and its drains take their turns by hand, so that
equal seeds do the same.
"""

from __future__ import annotations

import errno
import json
import random
import socket
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from io import BytesIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import motecrypt.app.gateway as opening
from motecrypt.air.radios import load_radio
from motecrypt.app.gateway import (
    GatewayNodes,
    GatewayRecord,
    GatewayRequest,
    GatewaySinks,
    Mqtt,
    open_service,
)
from motecrypt.app.link_ends import SerialRadio
from motecrypt.base.errors import MotecryptError
from motecrypt.build.setup import have
from motecrypt.link.gateway import lines
from motecrypt.link.gateway.drain import Drain
from motecrypt.link.gateway.items import Item
from motecrypt.link.gateway.opening import open_gateway
from motecrypt.link.gateway.operated import master_name
from motecrypt.link.gateway.sinks import command
from motecrypt.link.gateway.spool import Spool
from motecrypt.link.keys import create_master_file, read_master_file
from motecrypt.link.native import CONFIRMED, LISTENS, NODE_BITS, SHORT, STREAM, Event
from motecrypt.link.ports.signals import Stop
from motecrypt.link.state import FileStore
from power_cuts.compare import compare
from power_cuts.ends import PACKET_BYTES, Client, Node, Port, Process, Sending, Taker, Time
from power_cuts.facts import Facts, Verdict
from power_cuts.recorder import Calls, Recorder

OPTIONS = SHORT | LISTENS | STREAM
RADIO = SerialRadio(load_radio("srf", PACKET_BYTES))
LOSS = 0.02
FAULT_EVERY = 0.04
WELL = ("works again", "can be written again")
TURNS_MAX = 20_000
"""Turns of the loop after which something waits for ever."""
FIRST_FRAGMENT, EPOCH_TYPE, NUMBER_BITS, TYPE_BITS = 0, 2, 0x0F, 0x30
FAULTS = {
    "full": (Calls.WRITES | Calls.NAMES, errno.ENOSPC),
    "read-only": (Calls.WRITES | Calls.NAMES, errno.EROFS),
    "no sync": (Calls.SYNCS, errno.EIO),
}
BACKLOG_NODE = 9
CSV_MB, CSV_KEPT = 0.004, 60
"""A CSV file is replaced after some 50 rows, and none is removed."""


class HandDrain(Drain):
    """A sink's drain that takes a turn when the world calls it."""

    def start(self) -> None:
        """No thread."""

    def is_alive(self) -> bool:
        """Nobody waits for it at the end: what it has not taken waits in the spool."""
        return False

    def join(self, timeout: float | None = None) -> None:
        """Let go."""
        self.finish()


@contextmanager
def replaced(taker: Taker) -> Iterator[None]:
    """The port, the drains, the broker and the command of this world in place of the computer's."""
    places: list[tuple[Any, str, Any]] = [
        (lines, "SerialPort", Port),
        (opening, "Drain", HandDrain),
        (command, "subprocess", SimpleNamespace(**vars(command.subprocess) | {"Popen": Process})),
        (command, "tempfile", SimpleNamespace(TemporaryFile=BytesIO)),
    ]
    if have("mqtt"):
        from motecrypt.link.gateway.sinks import mqtt

        places.append((mqtt, "paho", SimpleNamespace(**vars(mqtt.paho) | {"Client": Client})))
    before = [(owner, name, getattr(owner, name)) for owner, name, _ in places]
    Client.taker = Process.taker = taker
    for owner, name, new in places:
        setattr(owner, name, new)
    try:
        yield
    finally:
        for owner, name, old in before:
            setattr(owner, name, old)


def prepared(folder: Path, nodes: int, backlog: int = 0) -> Facts:
    """A folder with a master key and a record of nodes, before the first start; the facts on it."""
    facts = Facts()
    for name in ("csv", "db", "inbox"):
        (folder / name).mkdir()
    create_master_file(folder / "key")
    (folder / "password").write_text("secret\n")
    (folder / "password").chmod(0o600)
    gateway = open_gateway(folder / "key", None, PACKET_BYTES, RADIO.answer_ms())
    for number in range(1, nodes + 1):
        node = Node(number, gateway.provision(number, OPTIONS), RADIO.answer_ms())
        facts.nodes[number] = node.state()
    gateway.close()
    if backlog:
        with Spool(FileStore(folder / "key.gateway")) as spool:
            spool.put(_backlog(backlog, facts))
            spool.write(spool.read() or b"")
    return facts


def _backlog(count: int, facts: Facts) -> Iterator[Item]:
    for number in range(count):
        content = b"backlog %06d" % number
        facts.sent[content] = BACKLOG_NODE
        facts.accepted.add(content)
        yield Item(BACKLOG_NODE, 1, 0, number, "message", 1_790_000_000_000, content, len(content))


class World:
    """One life of a gateway over a folder.

    Parameters
    ----------
    left : int
        Messages that nodes have still to send.
    recorder : Recorder, optional
        Records from before the gateway opens; `history` then has what became known, and after which step.
    others : bool
        Whether the broker and the command are sinks, too.
    faults : bool
        Whether the disk is full or read-only now and then, or does not sync.
    """

    def __init__(
        self,
        folder: Path,
        facts: Facts,
        chance: random.Random,
        left: int,
        verdict: Verdict,
        recorder: Recorder | None = None,
        others: bool = True,
        faults: bool = False,
    ) -> None:
        self.folder, self.facts, self.chance, self.left = folder, facts, chance, left
        self.verdict, self.recorder, self.others, self.faults = verdict, recorder, others, faults
        self.fault, self._fault_left, self._told_before = "", 0, 0
        self.history: list[tuple[int, str, tuple[Any, ...]]] = []
        self.time, self.taker = Time(), Taker()
        self.taker.took, self.taker.told = self._took, self._told
        self.told: list[str] = []
        self.counts = Counter[str]()
        self.loss = LOSS
        self.nodes: dict[int, Node] = {}
        for number, state in facts.nodes.items():
            self._join(number, None).resume(state)
        self._clients: list[tuple[socket.socket, str, bytes]] = []
        self._heads: dict[tuple[int, int], int] = {}
        self._ends = ExitStack()
        self.up = False

    # --- the gateway

    def open(self) -> None:
        """Start the gateway. MotecryptError: it cannot."""
        self._ends = ExitStack()
        self._ends.enter_context(replaced(self.taker))
        Port.leaves = self._leaves
        key = self.folder / "key"
        here = have("mqtt") and self.others
        mqtt = Mqtt("mqtt://user@localhost/home", self.folder / "password", commands=True) if here else Mqtt()
        sinks = GatewaySinks(
            sqlite=[self.folder / "db" / "log.db"],
            csv=[self.folder / "csv" / "log.csv"],
            run=["true"] if self.others else [],
            mqtt=mqtt,
            csv_mb=CSV_MB if self.others else None,
            csv_kept=CSV_KEPT if self.others else GatewaySinks.csv_kept,
        )
        record = GatewayRecord(socket=self.folder.parent / "socket")
        request = GatewayRequest(
            ["port"],
            RADIO,
            key,
            record,
            output=self.folder / "inbox",
            sinks=sinks,
            nodes=GatewayNodes(node_rate=1e6),
        )
        try:
            self.service, _ = open_service(request, self._ends, Stop(), self.told.append, clock=self.time)
        except MotecryptError:
            self._ends.close()
            raise
        self.service._gateway.clock = self.time.utc_s  # type: ignore[method-assign,assignment]
        self.stop, self.up = Stop(), True

    def close(self) -> None:
        """A clean end."""
        if self.up:
            self.service.run(self.stop, lambda: True)
            self._hear_senders()
            self.power_off()

    def power_off(self) -> None:
        """Let go of everything."""
        if self.up:
            for drain in self.service._drains:
                drain.finish()
            self._ends.close()
            self.up = False
        for line, _, _ in self._clients:
            line.close()
        self._clients.clear()

    @property
    def gateway(self) -> Any:
        """Its end of the link."""
        return self.service._gateway

    # --- what becomes known

    def _know(self, what: str, *given: Any) -> None:
        self.facts.learn(what, given)
        if self.recorder is not None:
            self.history.append((self.recorder.steps, what, given))

    def _took(self, sink: str, text: str) -> None:
        record = json.loads(text)
        self._know("took", sink, record["id"], record.get("hex", record.get("file")))

    def _told(self, text: str) -> None:
        told = json.loads(text)
        if "id" in told:
            self._outcome(told["id"], told["outcome"])

    def _outcome(self, token: str, outcome: str) -> None:
        self._know("told", token, outcome)
        self.counts[f"orders {outcome}"] += 1
        if outcome == "accepted" and not self.facts.ran[self.facts.asked[token]]:
            self.verdict.note(
                "lost", f"order {token} was reported as accepted, and its node does not have it"
            )

    # --- nodes

    def _join(self, number: int, storage: bytes | None) -> Node:
        self.nodes[number] = Node(number, storage, RADIO.answer_ms())
        return self.nodes[number]

    def _remember(self, node: Node) -> None:
        if self.recorder is not None:  # else nobody resumes it
            self._know("node", node.number, node.state())

    def _leaves(self, data: bytes) -> None:
        """The gateway sends: nodes receive it immediately, unless it is lost."""
        for at in range(0, len(data), PACKET_BYTES):
            packet = data[at : at + PACKET_BYTES]
            self._note_use(packet)
            node = self.nodes.get(packet[0] & NODE_BITS)
            if node is None or self.chance.random() < self.loss:
                continue
            for event in node.hear(packet, self.time.seconds):
                self._happens(node, event)
            self._emit(node)
            self._remember(node)

    def _note_use(self, packet: bytes) -> None:
        """A packet of a message: under its counter nothing else may ever leave."""
        kind, number = packet[0] >> 6, packet[0] & NODE_BITS
        if kind != 2 or (packet[2] & TYPE_BITS) >> 4 == EPOCH_TYPE:
            return
        fragment = packet[2] & NUMBER_BITS
        if fragment == FIRST_FRAGMENT:
            self._heads[number, packet[1]] = packet[1] + (int.from_bytes(packet[3:6], "little") << 8)
        counter = self._heads.get((number, packet[1]), -1)
        use = (number, self.gateway.epoch(number), counter, fragment)
        if self.facts.used.setdefault(use, packet) != packet:
            self.verdict.note("counter used again", f"node {number}: {counter}")
        self._know("used", use, packet)

    def _happens(self, node: Node, event: Event) -> None:
        if event in (Event.COMMANDED, Event.MESSAGE):
            content = node.link.message()
            self._know("ran", node.number, content)
            if self.facts.ran[node.number, content] > 1:
                self.verdict.note("run twice", f"node {node.number}: {content.hex()}")
            if (node.number, content) not in self.facts.asked.values():
                self.verdict.note("made up", f"node {node.number} got {content.hex()}")
            node.link.answer(True)
        elif event is Event.RENEWED:
            node.pending = None
        elif node.is_outcome(event) and node.pending is not None:
            self._over(node, event)

    def _over(self, node: Node, outcome: Event) -> None:
        content, node.pending = node.pending, None
        assert content is not None
        self.counts[f"messages {outcome.name.lower()}"] += 1
        if node.sending is not None and content in node.sending.parts:
            name = node.sending.name
            if node.part_over(outcome):
                self._know("arrived", name)
        elif outcome is Event.ACCEPTED:
            self._know("accepted", content)
        elif outcome is Event.REFUSED:
            self.verdict.note("refused", f"node {node.number}: {content.hex()}")

    def _emit(self, node: Node) -> None:
        for at in range(0, len(data := node.packets()), PACKET_BYTES):
            if self.chance.random() >= self.loss:
                Port.radio.coming += data[at : at + PACKET_BYTES]

    def _act(self, node: Node) -> None:
        """Retransmit, or send the next message."""
        if node.link.waiting:
            event = node.poll(self.time.seconds)
            if node.is_outcome(event) and node.pending is not None:
                self._over(node, event)
        elif node.sending is not None:
            node.send_part(self.time.seconds)
        elif self.left > 0:
            self.left -= 1
            content = self._reading(node.number)
            self._know("sent", content, node.number)
            node.send(content, CONFIRMED if self.chance.random() < 0.9 else 0, self.time.seconds)
        else:
            return
        self._emit(node)
        self._remember(node)

    def _reading(self, number: int) -> bytes:
        content = number.to_bytes(1, "big") + len(self.facts.sent).to_bytes(5, "big")
        return content + b': 21.4 C, =1+2, "x"' if self.chance.random() < 0.2 else content

    def send_file(self, node: Node) -> None:
        """Have a node send one next."""
        if node.sending is None and not node.link.waiting:
            name, content = f"{len(self.facts.files)}.txt", self.chance.randbytes(150)
            self._know("file", name, content)
            node.sending = Sending.of(name, content)
            self._remember(node)

    # --- senders

    def order(self, request: dict[str, Any], token: str = "") -> None:
        """At the socket."""
        line = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        line.connect(str(self.folder.parent / "socket"))
        line.setblocking(False)
        line.sendall(json.dumps(request).encode() + b"\n")
        self._clients.append((line, token, b""))

    def command(self) -> None:
        """A command or a message for some node, at the socket or at the broker."""
        node = self.chance.choice(sorted(self.nodes))
        token = f"order {len(self.facts.asked)}"
        content = len(self.facts.asked).to_bytes(8, "big")
        self._know("asked", token, node, content)
        way = self.chance.choice(("command", "command", "message"))
        fields = {"hex": content.hex(), "as": way, "wait_s": 60, "id": token}
        if self.others and have("mqtt") and self.chance.random() < 0.3:
            self.taker.orders.append((node, json.dumps(fields).encode()))
        else:
            self.order({"node": node, **fields}, token)

    def give_keys(self) -> None:
        """Have the gateway give keys to a new node."""
        number = max(self.nodes) + 1
        fields = {"node": number, "options": OPTIONS, "packet_bytes": PACKET_BYTES, "replace": True}
        self.order({"provision": {"master": self._master(), **fields}}, f"keys {number}")

    def renew(self) -> None:
        """Have a node begin an epoch."""
        fields = {"node": self.chance.choice(sorted(self.nodes)), "wait_s": 1}
        self.order({"renew": {"master": self._master(), **fields}}, "renew")

    def _master(self) -> str:
        suite, master = read_master_file(self.folder / "key")
        return master_name(suite, master)

    def _hear_senders(self) -> None:
        clients, self._clients = self._clients, []
        for line, token, got in clients:
            try:
                got += line.recv(65536)
            except BlockingIOError:
                self._clients.append((line, token, got))
                continue
            except ConnectionResetError:
                got = b""
            line.close()
            if not got.endswith(b"\n"):
                continue  # the gateway has ended: the outcome is unknown
            told = json.loads(got)
            if token.startswith("keys") and "storage" in told:
                node = self._join(int(token.split()[1]), bytes.fromhex(told["storage"]))
                self._remember(node)
                self.counts["nodes that got keys"] += 1
            elif "outcome" in told:
                self._outcome(token, told["outcome"])

    # --- time

    def turn(self) -> None:
        """A turn of the gateway's loop, then the answers at the socket."""
        self.service.turn(self.stop)
        self._hear_senders()

    def step(self) -> None:
        """Something happens."""
        chance = self.chance
        for node in list(self.nodes.values()):
            if node.link.waiting or chance.random() < 0.5:
                self._act(node)
        if chance.random() < 0.06:
            self.command()
        if chance.random() < 0.03:
            self.send_file(chance.choice(list(self.nodes.values())))
        if chance.random() < 0.004 and max(self.nodes) < 8:
            self.give_keys()
        if chance.random() < 0.01:
            self.renew()
        if self.others and chance.random() < 0.02:
            self.taker.away ^= {chance.choice(("mqtt", "run"))}
        self.turn()
        last = self.service._spool.last()
        for drain in self.service._drains:
            if chance.random() < 0.3:
                self.drain(drain, last)
        if self.faults:
            self._fail_now_and_then()
        if not self.fault and chance.random() < 0.005:
            self.close()
            self.open()

    def _fail_now_and_then(self) -> None:
        """Begin or end a fault of the disk. Each line on one is printed once."""
        if self.fault:
            self._fault_left -= 1
            if self._fault_left == 0:
                self.mend()
        elif self.chance.random() < FAULT_EVERY:
            assert self.recorder is not None
            self._look_at_lines()
            self.fault = self.chance.choice(sorted(FAULTS))
            self._fault_left = self.chance.randint(1, 40)
            self.counts[f"disk {self.fault}"] += 1
            self.recorder.fail(*FAULTS[self.fault], self.chance.randrange(12))

    def mend(self) -> None:
        """The disk works again."""
        if self.recorder is not None and self.fault:
            self.counts["calls that failed"] += self.recorder.failed
            self.recorder.fail(Calls(0), 0)
        self.fault = ""

    def _look_at_lines(self) -> None:
        """The lines since the last fault began."""
        told, self._told_before = self.told[self._told_before :], len(self.told)
        for sign in ("state file ", "sink csv:", "sink sqlite:"):
            lines = [line for line in told if line.startswith(sign) and not line.endswith(WELL)]
            self.counts[f"lines on {sign.strip()}"] += len(lines)
            if len(set(lines)) < len(lines):
                self.verdict.note("told often", " / ".join(lines))

    def drain(self, drain: Drain, last: int) -> None:
        """A turn of a sink's thread, if there is something for it."""
        if drain.done < last or drain.sink.name.startswith("mqtt"):
            drain.attempt()

    def run(self) -> None:
        """Until all messages are sent."""
        for _ in range(TURNS_MAX):
            if self.left <= 0:
                return
            self.step()
        self.verdict.note("stuck", "messages were not sent")

    # --- the end

    def settle(self) -> None:
        """Nothing fails any more: go on until nothing waits, and look."""
        self.taker.away.clear()
        self.loss = 0.0
        for _ in range(3):
            self.command()
        for _ in range(TURNS_MAX):
            for node in list(self.nodes.values()):
                self._act(node)
            self.turn()
            last = self.service._spool.last()
            for drain in self.service._drains:
                self.drain(drain, last)
            if self._quiet():
                break
        else:
            self.verdict.note("stuck", f"something waits for ever: {self._waits()}")
        self.close()
        if not any(self.verdict.wrong[what] for what in ("stuck", "not started")):
            self.look()

    def _waits(self) -> list[str]:
        waits = [f"node {node.number}" for node in self.nodes.values() if node.link.waiting or node.sending]
        waits += [token for _, token, _ in self._clients]
        if waits:
            return waits
        last = self.service._spool.last()
        return waits + [f"{d.sink.name} {d.trouble}" for d in self.service._drains if d.done < last]

    def _quiet(self) -> bool:
        return self.left <= 0 and not self.taker.orders and not self._waits()

    def look(self) -> None:
        """Compare the sinks with what is known."""
        compare(self.folder, CSV_KEPT, self.facts, self.verdict)
